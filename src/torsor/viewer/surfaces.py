"""Surfaces of shapes as flat faces, for pictures that are drawn without a browser."""

from typing import Any

import numpy as np

from .meshes import READ_ERRORS, mesh_parts, simplify

ROUND, RINGS = 18, 8  # faces around, and from pole to pole
MOST_FACES = 1200  # of a mesh in a picture


def faces_of(shape: dict[str, Any], size: float) -> list[np.ndarray]:
    """Faces of a shape in its own axes, each an array of corners (n, 3); size: of the scene, for meshes that are missing."""
    kind, s = shape["kind"], shape["size"]
    if kind == "box":
        return _box(np.array(s) / 2)
    if kind == "plane":
        x, y = s[0] / 2, s[1] / 2
        return [np.array([(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)])]
    if kind in ("sphere", "ellipsoid"):
        return _surface_of_revolution(
            _arc(1.0, -np.pi / 2, np.pi / 2), np.array(s) if kind == "ellipsoid" else np.full(3, s[0])
        )
    if kind == "mesh":
        return _mesh(shape, size)
    if kind == "extrusion":
        return _extrusion(s[0] / 2, shape["outline"], shape.get("holes", ()))
    radius, half = s[0], s[1] / 2
    if kind in ("cylinder", "thread"):
        profile = [(0, -half), (radius, -half), (radius, half), (0, half)]
    elif kind == "cone":
        profile = [(0, -half), (radius, -half), (0, half)]
    else:
        low = [(r, z - half) for r, z in _arc(radius, -np.pi / 2, 0)]
        profile = low + [(r, z + half) for r, z in _arc(radius, 0, np.pi / 2)]
    return _surface_of_revolution(profile, np.ones(3))


def _box(h):
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * h
    return [corners[k] for k in ([0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3])]


def _extrusion(half, outline, holes):
    """Sides of a flat solid, and its two ends; an end with holes is one polygon that goes to each hole and back."""
    curves = [np.asarray(curve, float) for curve in (outline, *holes)]
    at = lambda curve, z: np.column_stack([curve, np.full(len(curve), z)])
    found = []
    for curve in curves:
        low, high, on = at(curve, -half), at(curve, half), np.roll(np.arange(len(curve)), -1)
        found += [np.array([low[k], low[j], high[j], high[k]]) for k, j in enumerate(on)]
    end = np.concatenate([curves[0], curves[0][:1]])
    for hole in curves[1:]:
        end = np.concatenate([end, hole[::-1], hole[-1:], end[:1]])
    return [*found, at(end, half), at(end, -half)]


def _arc(radius, first, last):
    angles = np.linspace(first, last, RINGS if first * last < 0 else RINGS // 2)
    return [(radius * np.cos(a), radius * np.sin(a)) for a in angles]


def _surface_of_revolution(profile, scale):
    """The surface of a profile (r, z) that turns about z."""
    angles = np.linspace(0, 2 * np.pi, ROUND + 1)
    rings = [
        np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(ROUND + 1, z)]) * scale for r, z in profile
    ]
    found = []
    for (r, z), (s, w), low, high in zip(profile, profile[1:], rings, rings[1:]):
        if z == w and 0 in (r, s):  # an end, as one face
            found.append((high if r == 0 else low)[:-1])
        else:
            found += [np.array([low[k], low[k + 1], high[k + 1], high[k]]) for k in range(ROUND)]
    return found


def _mesh(shape, size):
    try:
        parts = mesh_parts(shape.get("file"), tuple(shape["size"]))
    except READ_ERRORS:
        return _box(np.full(3, 0.025 * size))
    every, found = sum(len(part.faces) for part in parts), []
    for part in parts:
        most = max(12, MOST_FACES * len(part.faces) // every)
        corners, faces = simplify(part.corners.astype(float), part.faces.astype(np.int64), most)
        found += list(corners[faces])
    return found
