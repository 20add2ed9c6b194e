"""The lines of cables and belts over pulleys, as they are in one moment; `viewer/src/paths.ts` draws the same in the page.

t = (l D − (ρ₂ − ρ₁) n × D)/D·D,   D = C₂ − C₁,   l² = D·D − (ρ₂ − ρ₁)²                               (1)
x = C + ρ t × n                                          where the rope touches a pulley              (2)
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

ARC = 16  # straight pieces of an arc


def rope_lines(force: dict[str, Any], pose_of: Callable[[int], tuple]) -> Iterator[np.ndarray]:
    """The rope of a force with stops, as one line; none where its pulleys overlap."""
    stops = force["stops"]
    centers, normals = [], []
    for stop in stops:
        x, R = pose_of(stop["body"])
        centers.append(x + R @ np.asarray(stop["p"], float))
        normals.append(R @ np.asarray(stop["normal"], float))
    rho, count, closed = [stop["rho"] for stop in stops], len(stops), force.get("closed", False)
    pairs = [(k, (k + 1) % count) for k in range(count if closed else count - 1)]
    along = [_tangent(centers[j] - centers[i], normals[i], rho[j] - rho[i]) for i, j in pairs]
    if any(t is None for t in along):
        return
    points: list = []
    for k in range(count):
        before = along[k - 1] if k or closed else None
        after = along[k] if k < len(along) else None
        points += _points_at(centers[k], normals[k], rho[k], before, after)
    yield np.array(points + points[:1] if closed else points)


def _tangent(D, n, step):
    """(1); None where one pulley is inside the other."""
    square = D @ D
    return None if not square > step**2 else (np.sqrt(square - step**2) * D - step * np.cross(n, D)) / square


def _points_at(center, normal, rho, before, after):
    """Points of the rope at a stop; on a drum at an end, one turn."""
    if not rho:
        return [center]
    axis, first = normal * np.sign(rho), before if before is not None else after
    angle = 2 * np.pi
    if before is not None and after is not None:
        angle = float(np.arctan2(axis @ np.cross(before, after), before @ after))
        angle = angle % (2 * np.pi) if angle < -1e-6 else max(angle, 0.0)
    across = np.cross(axis, first)
    angles = angle * np.arange(ARC + 1) / ARC
    return [center + rho * np.cross(np.cos(a) * first + np.sin(a) * across, normal) for a in angles]  # (2)
