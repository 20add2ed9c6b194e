"""Solids that show what an element is, each fixed in a body: wheels with teeth, cams, motors, bushings, wings, magnets, liquids.

An element says by `drawing` what it is drawn as, and by `drawn_details` with which numbers; SOLIDS makes the solids.
"""

from typing import Any

import numpy as np

from . import outlines
from .cams import cam
from .made_shapes import turn_to
from .members import Places, face_width, members_of, solid
from .wheels import wheels

DARK, BLUE, RUBBER, BRIGHT = (
    [0.16, 0.18, 0.22, 1.0],
    [0.18, 0.42, 0.72, 1.0],
    [0.13, 0.13, 0.14, 1.0],
    [0.7, 0.73, 0.78, 1.0],
)
STEEL, PALE = [0.45, 0.5, 0.57, 1.0], [0.83, 0.87, 0.93, 0.9]
NORTH, SOUTH, WATER = [0.82, 0.2, 0.18, 1.0], [0.2, 0.35, 0.8, 1.0], [0.2, 0.5, 0.8, 0.35]
BUSHING, MAGNET = 0.045, 0.05  # radius, half length / size of the mechanism
WIDE_AS_LONG = 4.0  # span / chord of a wing, of which only the area is known
RIM, PULLEY = 0.97, 0.25  # radius of a rim / radius of the rope on it; its thickness / its radius
SEA = 3.0  # edge of a surface of a liquid / size of the mechanism


def element_solids(draw: str, details: dict, places: Places, size: float, joint: float) -> list[dict[str, Any]]:
    """Solids of an element; joint: size of the joint that it acts in."""
    make = SOLIDS.get(draw)
    return [] if make is None or not details else make(details, places, size, joint)


def _motor(details, places, size, joint):
    """A housing with a lid on the axis, behind the joint, on its first body; along a line of sliding a box."""
    body, H, along = details["body"], details["frame"], np.asarray(details["along"], float)
    R, at = H[:3, :3] @ turn_to(along), H[:3, 3]
    if not details["turns"]:
        return [solid(body, "box", [0.7 * joint, 0.7 * joint, 1.4 * joint], (at - 1.2 * joint * R[:, 2], R), BLUE)]
    pieces = ((0.62, 1.1, -1.0, BLUE), (0.64, 0.16, -0.5, DARK), (0.64, 0.16, -1.55, DARK), (0.2, 0.25, -0.35, BRIGHT))
    return [
        solid(body, "cylinder", [r * joint, h * joint], (at + z * joint * R[:, 2], R), colour)
        for r, h, z, colour in pieces
    ]


def _bushing(details, places, size, joint):
    (outer, inner), r = details["ends"], BUSHING * size
    hole, middle, place = outlines.circle(0.85 * r), outlines.circle(0.45 * r), _split(outer["frame"])
    around = max(places.thickness(end["body"], end["frame"][:3, 3], end["frame"][:3, 2]) for end in details["ends"])
    long = max(0.9 * r, min(1.15 * around, 5 * r))
    ring = solid(outer["body"], "extrusion", [long], place, STEEL, outlines.circle(r), [hole])
    rubber = solid(outer["body"], "extrusion", [0.98 * long], place, RUBBER, hole, [middle])
    pin = solid(inner["body"], "cylinder", [0.42 * r, 1.4 * long], _split(inner["frame"]), BRIGHT)
    return [ring, rubber, pin]


def _wing(details, places, size, joint):
    area = abs(float(details["area"])) or (0.1 * size) ** 2
    span = min((WIDE_AS_LONG * area) ** 0.5, 4 * size)
    chord = area / span
    c, s = (np.asarray(details[what], float) for what in ("chord", "span"))
    R = np.column_stack([c, np.cross(s, c), s])
    return [solid(details["body"], "extrusion", [span], (details["p"], R), PALE, outlines.aerofoil(chord))]


def _magnets(details, places, size, joint):
    found = []
    for one in details["ends"]:
        m = np.asarray(one["moment"], float)
        if not np.linalg.norm(m):
            continue
        R = turn_to(m / np.linalg.norm(m))
        around = places.thickness(one["body"], one["p"], R[:, 2])
        half = max(MAGNET * size, min(0.75 * around, 4 * MAGNET * size))
        for colour, side in ((NORTH, 1), (SOUTH, -1)):
            at = one["p"] + side * half / 2 * R[:, 2]
            found.append(solid(one["body"], "box", [0.5 * half, 0.5 * half, half], (at, R), colour))
    return found


def _liquid(details, places, size, joint):
    up = _unit(np.asarray(details["up"], float))
    x = places.pose(details["body"])[0]
    height = float(details["level"])
    at = x - (x @ up) * up + height * up
    return [solid(-1, "plane", [SEA * size, SEA * size], (at, turn_to(up)), WATER)]


def _pulleys(details, places, size, joint):
    """A rim with spokes for each pulley, within the rope."""
    found = []
    for stop in [stop for stop in details["stops"] if "hub" in stop]:
        (wheel,) = members_of([stop["hub"]], places)
        r = RIM * abs(stop["rho"])
        bores = [outlines.circle(0.12 * r), *outlines.circles(0.22 * r, 0.55 * r, 5)]
        place = places.inside(wheel.body, wheel.center, turn_to(wheel.axis))
        width = face_width(wheel.body, place, r, PULLEY * r, places)
        found.append(solid(wheel.body, "extrusion", [width], place, PALE, outlines.circle(r), bores))
    return found


SOLIDS = {
    "gear": wheels, "path": _pulleys, "cam": cam, "motor": _motor, "bushing": _bushing, "wing": _wing, "magnets": _magnets,
    "liquid": _liquid,
}  # fmt: skip


def _split(H):
    return H[:3, 3], H[:3, :3]


def _unit(v):
    return v / np.linalg.norm(v)
