"""Convex polyhedra, for contacts of shapes: the hull of points."""

from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from ...elements.conversion import reals, show
from ...errors import ModelError

MOST_CORNERS = 32  # of a hull; of more points those are kept that are farthest in evenly spread directions
DIRECTIONS = (2000, 500, 200, 100, 50, 26)  # how many directions, until there are few enough corners
ON_FACE = 1e-9  # distance from a face / size, below which a corner is on it


@dataclass(frozen=True, eq=False)
class ConvexPolyhedron:
    """The convex hull of points of a body, as a shape of `CompliantContact`; a mesh touches with its hull.

    points    at least four points that are not in one plane, in the frame of the body    [m]
    """

    points: Any
    at: tuple = (0.0, 0.0, 0.0)
    rotation: tuple = (1.0, 0.0, 0.0, 0.0)
    kind: str = field(default="polyhedron", init=False)

    def __post_init__(self):
        try:
            found = np.array(reals(self.points), float)
        except (TypeError, ValueError):
            found = np.zeros(0)
        if found.ndim != 2 or found.shape[1] != 3 or len(found) < 4 or not np.isfinite(found).all():
            raise ModelError(
                f"ConvexPolyhedron: points must be at least four points of three numbers, got {show(self.points)}"
            )
        spread = np.linalg.svd(found - found.mean(axis=0), compute_uv=False)
        if spread[2] <= ON_FACE * spread[0]:
            raise ModelError("ConvexPolyhedron: points must not be in one plane")
        object.__setattr__(self, "points", corners_of(found))

    @property
    def size(self) -> tuple[float, ...]:
        """Coordinates of all corners, one after the other."""
        return tuple(float(x) for x in self.points.ravel())


def corners_of(points):
    """Corners of the hull, at most so many as a contact computes."""
    for count in DIRECTIONS:
        k = np.arange(count) + 0.5
        z, turn = 1 - 2 * k / count, np.pi * (1 + 5**0.5) * k  # points of a spiral on a sphere
        spread = np.column_stack([np.sqrt(1 - z**2) * np.cos(turn), np.sqrt(1 - z**2) * np.sin(turn), z])
        outwards = [points - points.mean(axis=0)] if count == DIRECTIONS[0] and len(points) < count else []
        every = np.vstack([spread, np.eye(3), -np.eye(3), *outwards])
        farthest = np.unique(np.argmax(points @ every.T, axis=0))
        if len(farthest) <= MOST_CORNERS:
            break
    return points[farthest]


@cache
def faces_of(size):
    """Outward normals and distances from the origin of all faces, of corners one after the other."""
    corners = np.array(size).reshape(-1, 3)
    triples = np.array(list(combinations(range(len(corners)), 3)))
    a, b, c = (corners[triples[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    lengths, scale = np.linalg.norm(normals, axis=1), float(np.ptp(corners, axis=0).max())
    wide = lengths > ON_FACE * scale**2
    normals, a = normals[wide] / lengths[wide, None], a[wide]
    heights = normals @ corners.T - np.einsum("ij,ij->i", normals, a)[:, None]
    below, above = heights.max(axis=1) <= ON_FACE * scale, heights.min(axis=1) >= -ON_FACE * scale
    outward = np.vstack([normals[below], -normals[above]])
    distances = np.einsum("ij,ij->i", outward, np.vstack([a[below], a[above]]))
    _, first = np.unique(np.round(np.column_stack([outward, distances / scale]), 7), axis=0, return_index=True)
    return outward[np.sort(first)], distances[np.sort(first)]
