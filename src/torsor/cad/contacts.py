"""Which faces of two parts belong together: shafts in holes, planes that touch, balls in sockets."""

from typing import Any

import numpy as np

from .open_cascade import METRES, module
from .parts import Part
from .solids import Feature

PARALLEL = 1e-5  # sine of the angle between directions that are parallel
DISTANCE_RATIO = 1e-4  # distance of two axes or planes / size of the faces, below which they are one
RADIUS_RATIO = 0.12  # difference of the radii of a shaft and its hole / radius, at most


def coaxial(a: Feature, b: Feature) -> bool:
    """Whether two cylinders share an axis, with ends that overlap and radii of a shaft and its hole."""
    if np.linalg.norm(np.cross(a.direction, b.direction)) > PARALLEL:
        return False
    d = b.point - a.point
    across = np.linalg.norm(d - (d @ a.direction) * a.direction)
    size = max(a.radius, b.radius)
    if across > DISTANCE_RATIO * max(size, a.length, b.length) or abs(a.radius - b.radius) > RADIUS_RATIO * size:
        return False
    return overlap(a, b) > 0


def overlap(a: Feature, b: Feature) -> float:
    """The length that two coaxial cylinders have in common / the length of the shorter one."""
    along = abs(float((b.point - a.point) @ a.direction))
    common = min(a.length, b.length, (a.length + b.length) / 2 - along)
    return max(common, 0.0) / max(min(a.length, b.length), 1e-12)


def touch(a: Feature, part: Part, b: Feature, other: Part) -> bool:
    """Whether two faces of two parts lie on each other."""
    if a.kind != b.kind:
        return False
    size = max(a.area, b.area) ** 0.5
    if a.kind == "cylinder":
        return a.hollow != b.hollow and coaxial(a, b)
    if a.kind == "sphere":
        near = np.linalg.norm(a.point - b.point) < DISTANCE_RATIO * max(a.radius, b.radius)
        return bool(near) and a.hollow != b.hollow and abs(a.radius - b.radius) < RADIUS_RATIO * max(a.radius, b.radius)
    if a.direction @ b.direction > -1 + PARALLEL**2 or abs((b.point - a.point) @ a.direction) > DISTANCE_RATIO * size:
        return False
    return common_area(a, part, b, other) > 1e-6 * min(a.area, b.area)


def common_area(a: Feature, part: Part, b: Feature, other: Part) -> float:
    """The area that two plane faces have in common [m²]."""
    common = module("BRepAlgoAPI").BRepAlgoAPI_Common(_move_shape(a.face, part.pose), _move_shape(b.face, other.pose))
    if not common.IsDone():
        return 0.0
    properties = module("GProp").GProp_GProps()
    module("BRepGProp").BRepGProp.SurfaceProperties_s(common.Shape(), properties)
    return properties.Mass() * METRES**2


def distance_of_faces(face: Any, pose: np.ndarray, shape: Any, other: np.ndarray) -> float:
    """The smallest distance of a face from a shape, both placed in the world [m]."""
    found = module("BRepExtrema").BRepExtrema_DistShapeShape(_move_shape(face, pose), _move_shape(shape, other))
    return float(found.Value()) * METRES


def _move_shape(shape, pose):
    transformation = module("gp").gp_Trsf()
    numbers = [x for row in pose[:3] for x in (*row[:3], row[3] / METRES)]
    transformation.SetValues(*numbers)
    return shape.Moved(module("TopLoc").TopLoc_Location(transformation))


def boxes_meet(a: Part, b: Part) -> bool:
    """Whether the boxes around two parts overlap or touch."""
    (low, high), (low2, high2) = a.bounds, b.bounds
    margin = 1e-3 * max(float((high - low).max()), float((high2 - low2).max()))
    return bool(np.all(low <= high2 + margin) and np.all(low2 <= high + margin))
