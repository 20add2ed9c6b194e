"""Solids: exact mass properties, triangles for the viewer, and the cylinders, planes and spheres among their faces.

    m = ρ V,   c = ∫ x dV / V,   J = ρ ∫ |x − c|² 1 − (x − c)(x − c)ᵀ dV                    (1)

The integrals are taken over the surfaces of the solid (divergence theorem), never over triangles.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import ModelError
from .open_cascade import METRES, module, sub_shapes, vector

COARSENESS = 0.02  # largest distance of the triangles for the viewer from the solid / size of the solid
ANGLE = 0.35  # largest angle between neighbouring triangles of a curved face [rad]


@dataclass(frozen=True, eq=False)
class Geometry:
    """Volume [m³], centre [m] and second moments ∫ |x|² 1 − x xᵀ dV about the centre [m⁵] of a solid of density 1."""

    volume: float
    centre: np.ndarray
    moments: np.ndarray


@dataclass(frozen=True, eq=False)
class Feature:
    """A face that joints refer to, in metres.

    kind        "cylinder", "plane" or "sphere"
    point       middle of the axis of a cylinder, centroid of a plane, centre of a sphere
    direction   axis of a cylinder, outward normal of a plane; zero of a sphere
    radius      of a cylinder or a sphere, 0 of a plane
    length      of a cylinder along its axis
    area        of the face
    hollow      whether it is the wall of a hole
    face        the face itself, in the frame of the part
    """

    kind: str
    point: np.ndarray
    direction: np.ndarray
    radius: float
    length: float
    area: float
    hollow: bool
    face: Any = None

    def move(self, H: np.ndarray) -> "Feature":
        """The same feature of a part that is placed by H."""
        return replace(self, point=H[:3, :3] @ self.point + H[:3, 3], direction=H[:3, :3] @ self.direction)

    def __str__(self):
        if self.kind == "plane":
            return f"plane with normal ({_show(self.direction)}) at ({_show(1e3 * self.point)}) mm"
        size = f"{self.kind} d={2e3 * self.radius:.6g} mm"
        along = f", axis ({_show(self.direction)})" if self.kind == "cylinder" else ""
        return f"{size} at ({_show(1e3 * self.point)}) mm{along}"


def _show(x):
    return ", ".join(f"{v:.4g}" for v in np.where(np.abs(x) < 1e-9, 0.0, x))


def geometry_of(shape: Any) -> Geometry:
    """Volume, centre and second moments of the solids of a shape (1)."""
    properties = _properties(shape, np.zeros(3))
    if not properties.Mass() > 0:
        raise ModelError(f"its volume is {properties.Mass() * METRES**3:g} m³: the solid is open or inside out")
    properties = _properties(shape, vector(properties.CentreOfMass()))  # about its centre, where little cancels
    moments = properties.MatrixOfInertia()
    J = np.array([[moments.Value(i, j) for j in (1, 2, 3)] for i in (1, 2, 3)])
    centre = vector(properties.CentreOfMass())
    return Geometry(properties.Mass() * METRES**3, centre * METRES, (J + J.T) / 2 * METRES**5)


def _properties(shape, about):
    total = module("GProp").GProp_GProps(module("gp").gp_Pnt(*about))
    for solid in sub_shapes(shape, "SOLID"):
        properties = module("GProp").GProp_GProps(module("gp").gp_Pnt(*about))
        module("BRepGProp").BRepGProp.VolumeProperties_s(solid, properties, True, False, False)
        total.Add(properties)
    return total


def triangles_of(shape: Any) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 3) [m] and triangles (m, 3), turning left seen from outside."""
    low, high = bounds_of(shape)
    size = float((high - low).max()) / METRES
    module("BRepMesh").BRepMesh_IncrementalMesh(shape, COARSENESS * size, False, ANGLE, False)
    corners: list = []
    faces: list = []
    for face in sub_shapes(shape, "FACE"):
        location = module("TopLoc").TopLoc_Location()
        mesh = module("BRep").BRep_Tool.Triangulation_s(face, location)
        if mesh is None:
            continue
        first = len(corners)
        place = location.Transformation()
        corners += [vector(mesh.Node(k).Transformed(place)) * METRES for k in range(1, mesh.NbNodes() + 1)]
        reverse = face.Orientation() == module("TopAbs").TopAbs_Orientation.TopAbs_REVERSED
        for k in range(1, mesh.NbTriangles() + 1):
            a, b, c = (mesh.Triangle(k).Value(i) - 1 + first for i in (1, 2, 3))
            faces.append((a, c, b) if reverse else (a, b, c))
    return np.array(corners, float).reshape(-1, 3), np.array(faces, int).reshape(-1, 3)


def bounds_of(shape: Any) -> tuple[np.ndarray, np.ndarray]:
    """The corners of a box around a shape [m]."""
    box = module("Bnd").Bnd_Box()
    module("BRepBndLib").BRepBndLib.Add_s(shape, box, False)
    return vector(box.CornerMin()) * METRES, vector(box.CornerMax()) * METRES


def stl(corners: np.ndarray, faces: np.ndarray) -> bytes:
    """Triangles as a binary STL file."""
    p = corners[faces]
    normals = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    records = np.zeros(len(faces), [("numbers", "<f4", 12), ("attribute", "<u2")])
    unit = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0)
    records["numbers"] = np.concatenate([unit, p.reshape(-1, 9)], axis=1)
    return b"torsor".ljust(80, b" ") + np.uint32(len(faces)).tobytes() + records.tobytes()


def features_of(shape: Any) -> list[Feature]:
    """Cylinders, planes and spheres among the faces of a shape; a cylinder that a file cuts into parts is one."""
    found = [feature for face in sub_shapes(shape, "FACE") if (feature := _feature(face)) is not None]
    merged: list[Feature] = []
    for feature in found:
        twin = next((k for k, other in enumerate(merged) if _same_cylinder(feature, other)), None)
        if twin is None:
            merged.append(feature)
        else:
            merged[twin] = replace(merged[twin], area=merged[twin].area + feature.area)
    return merged


def _same_cylinder(a, b):
    """Whether two faces are parts of one cylinder: half shells, as most files have them."""
    size = max(a.radius, a.length, 1e-9)
    return (
        a.kind == b.kind != "plane"
        and a.hollow == b.hollow
        and abs(a.radius - b.radius) + abs(a.length - b.length) < 1e-6 * size
        and np.abs(a.point - b.point).max() < 1e-6 * size
        and np.linalg.norm(np.cross(a.direction, b.direction)) < 1e-6
    )


def _feature(face):
    surface = module("BRepAdaptor").BRepAdaptor_Surface(face, True)
    kinds = module("GeomAbs").GeomAbs_SurfaceType
    kind = surface.GetType()
    area_of = module("GProp").GProp_GProps()
    module("BRepGProp").BRepGProp.SurfaceProperties_s(face, area_of)
    area = area_of.Mass() * METRES**2
    reverse = face.Orientation() == module("TopAbs").TopAbs_Orientation.TopAbs_REVERSED
    if kind == kinds.GeomAbs_Plane:
        frame = surface.Plane().Position()
        normal = vector(frame.Direction()) * (1 if frame.Direct() else -1) * (-1 if reverse else 1)
        return Feature("plane", vector(area_of.CentreOfMass()) * METRES, normal, 0.0, 0.0, area, False, face)
    if kind == kinds.GeomAbs_Cylinder:
        cylinder = surface.Cylinder()
        frame = cylinder.Position()
        low, high = surface.FirstVParameter(), surface.LastVParameter()
        axis = vector(frame.Direction())
        point = vector(frame.Location()) + axis * (low + high) / 2
        hollow = reverse == frame.Direct()  # the natural normal of a cylinder points away from its axis
        length = (high - low) * METRES
        return Feature("cylinder", point * METRES, axis, cylinder.Radius() * METRES, length, area, hollow, face)
    if kind == kinds.GeomAbs_Sphere:
        sphere = surface.Sphere()
        centre = vector(sphere.Position().Location()) * METRES
        hollow = reverse == sphere.Position().Direct()
        return Feature("sphere", centre, np.zeros(3), sphere.Radius() * METRES, 0.0, area, hollow, face)
    return None
