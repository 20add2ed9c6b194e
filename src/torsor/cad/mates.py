"""Joints that faces suggest: cylinders that share an axis, planes that touch, balls in sockets.

Each pair of faces that belong together leaves the relative twist V = (ω, v) at a point c of the second body some directions:

    cylinder with axis a through c      n₁·ω = n₂·ω = 0,  n₁·v = n₂·v = 0                       (1)
    plane with normal n through c       n₁·ω = n₂·ω = 0,  n·v = 0                               (2)
    ball about c                        v = 0                                                   (3)

What all pairs of two bodies together leave is the null space N of these rows; its dimension, and whether it has rotations, say
which joint it is. Nothing of this is ever in a model unless somebody writes it into the table of joints.
"""

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from .contacts import boxes_meet, coaxial, overlap, touch
from .parts import Part
from .solids import Feature

RANK = 1e-6  # singular value of (1)–(3), lengths divided by the size of the bodies, below which a direction is free
HOLES_ONLY = 0.5  # confidence of two holes on one axis, with nothing in them
LOOSE = 0.05  # difference of radii / radius, at which a fit has lost half of its confidence


@dataclass(eq=False)
class Mate:
    """A joint that faces suggest between two bodies.

    type         key of the joint
    first, second   labels of the parts, "ground" for a part that does not move
    point, axis  where it is, in the world                       [m, -]
    confidence   from 0 to 1: how well the faces fit, and how many say the same
    reason       which faces
    """

    type: str
    first: str
    second: str
    point: np.ndarray
    axis: np.ndarray | None
    confidence: float
    reason: str

    @property
    def name(self) -> str:
        """A name for the joint, of the names of both parts."""
        return f"{self.first.rpartition('/')[2]}_{self.second.rpartition('/')[2]}".replace(" ", "_")

    def row(self) -> dict[str, Any]:
        """The joint as a row of the table; lengths in millimetres."""
        found: dict[str, Any] = {"type": self.type, "first": self.first, "second": self.second}
        if self.type != "fixed":
            found["point"] = [round(float(x), 9) for x in 1e3 * self.point]
        if self.axis is not None:
            found["axis"] = [float(x) for x in self.axis]
        return found

    def __str__(self):
        return f"{self.confidence:.2f}  {self.type:11} {self.first} – {self.second}: {self.reason}"


@dataclass(eq=False)
class _Pair:
    """Two faces that belong together."""

    a: Feature
    b: Feature
    confidence: float

    @property
    def point(self):
        return self.a.point

    @property
    def reason(self):
        if self.a.kind == "cylinder":
            words = "holes on one axis" if self.a.hollow and self.b.hollow else "shaft in hole"
            return f"{words}, d={2e3 * self.a.radius:.6g} mm"
        return "planes that touch" if self.a.kind == "plane" else f"ball in socket, d={2e3 * self.a.radius:.6g} mm"

    def rows(self, centre, size):
        """The rows (1) to (3) for the twist at `centre`, lengths divided by `size`."""
        d = (self.point - centre) / size
        cross = np.array([[0, d[2], -d[1]], [-d[2], 0, d[0]], [d[1], -d[0], 0]])  # v at the point = v + ω × d
        at_point = np.hstack([cross, np.eye(3)])
        turning = np.hstack([np.eye(3), np.zeros((3, 3))])
        n = self.a.direction
        if self.a.kind == "sphere":
            return at_point  # (3)
        across = np.linalg.svd(n[None, :])[2][1:]
        if self.a.kind == "cylinder":
            return np.vstack([across @ turning, across @ at_point])  # (1)
        return np.vstack([across @ turning, n[None, :] @ at_point])  # (2)


@dataclass(eq=False)
class _Bodies:
    """The pairs of faces of two bodies."""

    parts: tuple[Part, Part]
    pairs: list[_Pair] = field(default_factory=list)


def propose(parts: Any, groups: Any) -> list[Mate]:
    """The joints that the faces of all parts suggest, the most certain first."""
    found: dict[tuple[int, int], _Bodies] = {}
    for a, b in combinations(parts.all, 2):
        ends = groups.of(a), groups.of(b)
        both_fixed = ends[0] in groups.ground and ends[1] in groups.ground
        if ends[0] == ends[1] or both_fixed or not boxes_meet(a, b):
            continue
        pairs = pairs_of(a, b)
        if pairs:
            swap = ends[0] > ends[1]
            key = (ends[1], ends[0]) if swap else ends
            found.setdefault(key, _Bodies((b, a) if swap else (a, b))).pairs += pairs
    mates = [_mate(key, entry, groups) for key, entry in found.items()]
    return sorted((m for m in mates if m is not None), key=lambda m: -m.confidence)


def pairs_of(a: Part, b: Part) -> list[_Pair]:
    """The faces of two parts that belong together."""
    found = []
    for f in a.features:
        for g in b.features:
            if f.kind != g.kind:
                continue
            if f.kind == "cylinder" and f.hollow and g.hollow:
                if _aligned_holes(f, g):
                    found.append(_Pair(f, g, HOLES_ONLY))
            elif touch(f, a, g, b):
                found.append(_Pair(f, g, _confidence(f, g)))
    return found


def _aligned_holes(f, g):
    """Whether two holes have equal radii and one axis, one behind the other."""
    if abs(f.radius - g.radius) > 1e-3 * f.radius or not _same_axis(f, g):
        return False
    along = abs(float((g.point - f.point) @ f.direction))
    return along < (f.length + g.length) * 0.75 and not coaxial(f, g)


def _same_axis(f, g):
    if f.kind != "cylinder" or g.kind != "cylinder":
        return False
    d = g.point - f.point
    across = np.linalg.norm(d - (d @ f.direction) * f.direction)
    return bool(np.linalg.norm(np.cross(f.direction, g.direction)) < 1e-5 and across < 1e-3 * f.radius)


def _confidence(f, g):
    """How well two faces fit."""
    if f.kind == "plane":
        return 0.8
    radius = max(f.radius, g.radius)
    fit = 1.0 / (1.0 + abs(f.radius - g.radius) / (LOOSE * radius))
    return fit * (0.7 + 0.3 * overlap(f, g)) if f.kind == "cylinder" else fit


def _mate(key, entry, groups):
    """The joint that all pairs of two bodies leave, by the null space of their rows."""
    shafts = [p for p in entry.pairs if not (p.a.hollow and p.b.hollow)]
    pairs = [p for p in entry.pairs if p in shafts or not any(_same_axis(p.a, q.a) for q in shafts)]
    main = max(pairs, key=lambda p: (p.a.kind == "cylinder", p.a.kind == "sphere", p.confidence, p.a.area))
    centre = main.point
    size = max(float((high - low).max()) for low, high in (p.bounds for p in entry.parts))
    _, s, V = np.linalg.svd(np.vstack([p.rows(centre, size) for p in pairs]))
    free = V[int(np.sum(s > RANK)) :]
    kind, axis = classify(free, main)
    if kind is None:
        return None
    confidence = float(np.mean([p.confidence for p in pairs]))
    if kind == "fixed":
        confidence *= 0.6  # parts that touch on all sides are as drawn, and may still be meant to move
    elif kind in ("cylindrical", "planar"):
        confidence *= 0.75  # what ends the free motion may just not have been drawn
    labels = ["ground" if k in groups.ground else p.label for k, p in zip(key, entry.parts)]
    if labels[1] == "ground":
        labels.reverse()
    reasons = ", ".join(dict.fromkeys(p.reason for p in pairs))
    return Mate(kind, labels[0], labels[1], centre, axis, confidence, reasons)


def classify(free: np.ndarray, main: Any) -> tuple[str | None, np.ndarray | None]:
    """The key of the joint whose free twists (ω, v), the rows of `free`, are given, and its axis."""
    turns = np.linalg.matrix_rank(free[:, :3], 1e-6) if len(free) else 0
    slides = len(free) - turns  # pure translations: the null space of the rotations
    unit = lambda x: np.round(x / np.linalg.norm(x), 12) + 0.0
    if len(free) == 0:
        return "fixed", None
    if len(free) == 1:
        w, v = free[0, :3], free[0, 3:]
        if turns == 0:
            return "prismatic", unit(v)
        return ("revolute", unit(w)) if abs(w @ v) < 1e-6 * (w @ w) else (None, None)
    turning = np.linalg.svd(free[:, :3])[2][0] if turns == 1 else None
    if turns == 1 and slides == 1:
        return "cylindrical", unit(turning)
    if turns == 1 and slides == 2:
        return "planar", unit(turning)
    if turns == 3 and slides == 0:
        return "spherical", None
    return None, None
