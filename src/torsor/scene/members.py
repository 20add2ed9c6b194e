"""Places of the solids that show an element, and the joint coordinates that it relates."""

from typing import Any

import numpy as np

from ..lie import pose_stacks
from .made_shapes import quaternion

WIDER = 1.06  # width of a wheel / width of the disc in it
THIN_DISC = 1.2  # width of a disc / radius of the wheel on it


class Places:
    """Poses and shapes of bodies in the reference configuration, by number; −1 is the ground, whose places are in world axes."""

    def __init__(self, poses: list, bodies: list):
        self.poses, self.bodies = poses, bodies

    def thickness(self, body: int, at: np.ndarray, axis: np.ndarray) -> float:
        """The extent along an axis, both in axes of the body, of those of its shapes that enclose a point; 0 where none does."""
        found = 0.0
        for shape in self.bodies[body]["shapes"] if body >= 0 else ():
            turn = pose_stacks.rotations(np.asarray(shape["q"], float)).T
            p, a = turn @ (at - np.asarray(shape["p"], float)), np.abs(turn @ axis)
            half = _half_edges(shape)
            if half is not None and (np.abs(p) <= half + 1e-9 * half.max()).all():
                found = max(found, 2 * float(a @ half))
        return found

    def pose(self, body: int) -> tuple[np.ndarray, np.ndarray]:
        return (np.zeros(3), np.eye(3)) if body < 0 else self.poses[body]

    def inside(self, body: int, at: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Position and rotation in the axes of a body of what is at a place in the world."""
        x, turn = self.pose(body)
        return turn.T @ (at - x), turn.T @ R


def solid(
    body: int, kind: str, size: list, place: tuple, colour: Any = None, outline: Any = None, holes: Any = None
) -> dict[str, Any]:
    """A shape that is fixed in a body."""
    found = {"body": body, "kind": kind, "size": [float(x) for x in size], "p": np.asarray(place[0], float)}
    found |= {"q": quaternion(np.asarray(place[1], float)), "colour": colour}
    return found if outline is None else {**found, "outline": outline, "holes": holes or []}


class Member:
    """One joint coordinate of a relation.

    body      that turns or slides; if the other members share it, it carries them, and the body is the other one of the joint
    center    of the joint in the world;   axis: unit vector in the world
    sense     +1 where the coordinate is that of the body, −1 where it is that of what carries it
    turns     True for an angle;   c: coefficient of the relation, of the body's own coordinate
    """

    def __init__(self, given: dict, places: Places, every: list):
        ends, (a, b) = given["ends"], given["frames"]
        others = [end for one in every if one is not given for end in one["ends"]]
        first = ends[1] in others and ends[0] not in others
        self.body, frame = (ends[0], a) if first else (ends[1], b)
        x, R = places.pose(self.body)
        self.center = x + R @ frame[:3, 3]
        along = R @ frame[:3, :3] @ np.asarray(given["along"], float)
        self.axis = along / np.linalg.norm(along)
        self.sense, self.turns = (-1.0 if first else 1.0), bool(given["turns"])
        self.c = self.sense * float(given.get("coefficient", 1.0))


def face_width(body: int, place: tuple, radius: float, least: float, places: Places) -> float:
    """Width of a wheel along z of its frame: a little more than that of a disc that the body is drawn as."""
    disc = places.thickness(body, place[0], place[1][:, 2])
    return max(least, WIDER * disc) if disc < THIN_DISC * radius else least


def _half_edges(shape):
    """Half the edges of the box around a shape, in its axes; None for a mesh or a plane."""
    kind, size = shape["kind"], shape["size"]
    if kind in ("box", "ellipsoid"):
        return np.asarray(size, float) * (0.5 if kind == "box" else 1.0)
    if kind == "sphere":
        return np.full(3, float(size[0]))
    if kind in ("cylinder", "cone", "capsule"):
        return np.array([size[0], size[0], size[1] / 2 + (size[0] if kind == "capsule" else 0.0)], float)
    return None


def members_of(every: list, places: Places) -> list[Member]:
    return [Member(one, places, every) for one in every]
