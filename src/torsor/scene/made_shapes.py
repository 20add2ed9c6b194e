"""Shapes for bodies that have none: from the points where something is attached to them, and from their inertia."""

import numpy as np

from ..lie import pose_stacks

THIN, THICK = 0.008, 0.022  # radii of rods / size of the mechanism, at least and at most
SLENDER = 0.05  # radius of a rod / its length
POINT = 0.03  # radius of a particle / size of the mechanism
NEAR = 0.02  # distance of two points / size of the mechanism, below which they are one
SMALL_JOINT, LARGE_JOINT = 0.015, 0.08  # size of a joint / size of the mechanism, at least and at most
JOINT_SHARE = 0.4  # size of a joint / distance to the next point on its bodies
LARGE_BOX = 0.15  # half axis of an inertia / size of the mechanism, above which it says little about the body's shape
FLOOR = 3.0  # edge of a floor / size of the mechanism


def made_shapes(points, half, axes, size):
    """Shapes of a body in body axes from its centre of mass.

    points   where joints and forces are attached
    half     half axes of the ellipsoid with its inertia; axes: their directions, as columns
    size     of the mechanism
    """
    places = _distinct(points, NEAR * size)
    reach = max((np.linalg.norm(p) for p in places), default=0.0)
    shapes = _rods(places, size)
    largest = half.max()
    if places and largest > LARGE_BOX * size:
        half = half * (LARGE_BOX * size / largest)
    thickness = max(THIN * size, 0.02 * half.max())
    if half.max() <= NEAR * size / 4 and not shapes:  # a particle
        return [_shape("sphere", [POINT * size], np.zeros(3), np.eye(3))]
    nominal = shapes and np.ptp(half) < 1e-6 * largest  # the same moment about every axis: nobody measured it
    if nominal and len(places) > 1:
        return shapes
    slender = half.min() < 0.2 * half.max() and shapes and half.max() < 1.5 * reach
    if not shapes or (half.max() > 0.25 * reach and not slender):
        edges = np.maximum(2 * half * (3 / 5) ** 0.5, thickness)  # a cuboid with the same inertia
        shapes.append(_shape("box", edges, np.zeros(3), axes))
    elif len(places) == 1:
        shapes.append(_shape("sphere", [max(half.max() * 0.5, 2 * thickness)], np.zeros(3), np.eye(3)))
    return shapes


def joint_size(joint, attached, size):
    """How large a joint is drawn: a share of the distance to the next point on its bodies."""
    distances = [LARGE_JOINT * size / JOINT_SHARE]
    for k, frame in zip((joint["first"], joint["second"]), joint["frames"]):
        others = [np.zeros(3), *attached.get(k, ())] if k >= 0 else []
        apart = [np.linalg.norm(x - frame["p"]) for x in others]
        distances += [d for d in apart if d > NEAR * size]
    return max(JOINT_SHARE * min(distances), SMALL_JOINT * size)


def made_ground(joints, size):
    """Floors and walls: the planes that something on the ground touches."""
    found: list = []
    seen: list = []
    for joint in joints:
        if joint["draw"] != "contact" or joint["first"] != -1 or "radius" not in joint:
            continue
        p, q = (np.asarray(joint["frames"][0][what], float) for what in ("p", "q"))
        normal = pose_stacks.rotations(q)[:, 2]
        if not any(abs(normal @ n - 1) < 1e-6 and abs(normal @ (p - x)) < 1e-6 * size for n, x in seen):
            seen.append((normal, p))
            found.append(_shape("plane", [FLOOR * size] * 2, p, pose_stacks.rotations(q)))
    return found


def _distinct(points, near):
    found: list = []
    for p in points:
        if all(np.linalg.norm(p - x) > near for x in found):
            found.append(np.asarray(p, float))
    return found


def _rods(places, size):
    """Rods that connect the points of a body, two of them with each other, others with their middle."""
    if not places:
        return []
    if len(places) == 1:
        pairs = [(np.zeros(3), places[0])]
    elif len(places) == 2:
        one, two = places
        along = (two - one) / np.linalg.norm(two - one)
        off = np.linalg.norm(np.cross(one, along))  # distance of the centre of mass from the line
        straight = off < 0.15 * np.linalg.norm(two - one)
        pairs = [(one, two)] if straight else [(one, np.zeros(3)), (np.zeros(3), two)]
    else:
        middle = np.mean(places, axis=0)
        pairs = [(middle, p) for p in places]
    found = []
    for a, b in pairs:
        length = float(np.linalg.norm(b - a))
        if length > NEAR * size:
            radius = min(max(SLENDER * length, THIN * size), THICK * size)
            found.append(_shape("capsule", [radius, length], (a + b) / 2, turn_to((b - a) / length)))
    return found


def turn_to(direction):
    """A rotation that turns the third axis to a direction."""
    x, y, z = direction
    n = (x * x + y * y + z * z) ** 0.5
    x, y, z = x / n, y / n, z / n
    if z < -0.5:  # a half turn about the first axis before
        a = 1 / (1 - z)
        return np.array([[1 - x * x * a, x * y * a, x], [-x * y * a, y * y * a - 1, y], [x, -y, z]])
    a = 1 / (1 + z)
    return np.array([[1 - x * x * a, -x * y * a, x], [-x * y * a, 1 - y * y * a, y], [-x, -y, z]])


def quaternion(R):
    """Unit quaternion, scalar first, of one rotation matrix: as `pose_stacks.quaternions`, quicker for one."""
    (a, u, v), (w, b, x), (y, z, c) = R.tolist()
    rows = (
        (1 + a + b + c, z - x, v - y, w - u), (z - x, 1 + a - b - c, u + w, v + y),
        (v - y, u + w, 1 - a + b - c, x + z), (w - u, v + y, x + z, 1 - a - b + c),
    )  # fmt: skip
    k = max(range(4), key=lambda k: rows[k][k])
    n = sum(q * q for q in rows[k]) ** 0.5
    return [q / n for q in rows[k]]


def _shape(kind, size, at, R):
    return {
        "kind": kind, "size": [float(x) for x in size], "p": at, "q": quaternion(R), "colour": None,
        "made": True,
    }  # fmt: skip


def round_numbers(data, digits):
    """Plain data with arrays as lists and numbers rounded to so many digits."""
    if isinstance(data, dict):
        return {key: round_numbers(x, digits) for key, x in data.items()}
    if isinstance(data, (list, tuple)):
        return [round_numbers(x, digits) for x in data]
    if isinstance(data, np.ndarray):
        return round_numbers(data.tolist(), digits)
    if isinstance(data, (float, np.floating)):
        x = float(f"{data:.{digits}g}")
        return 0.0 if x == 0 else x
    return data
