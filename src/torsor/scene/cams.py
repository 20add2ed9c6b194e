"""A cam and its follower, as they are drawn."""

import numpy as np

from . import outlines
from .made_shapes import turn_to
from .members import Places, members_of, solid

LEAST_BASE = 0.06  # radius of the base circle / size of the mechanism
LARGE_LIFT = 0.6  # lift of a follower that turns / radius of the base circle
THICK = 0.35  # thickness of the disc / radius of the base circle
TIP = 0.35  # length of the tip of a follower / radius of the base circle
SILVER, STEEL = [0.72, 0.75, 0.8, 1.0], [0.45, 0.5, 0.57, 1.0]
ACROSS = 1e-6  # |cosine| of axis and line of the follower


def cam(details: dict, places: Places, size: float, joint: float) -> list:
    """A disc with the radius r₀ + s(φ), with r₀ chosen, and an edge on the follower that touches it exactly where q' = s(φ):

        under the edge is the point of the disc at the angle −φ from the follower's line, when the cam has turned by φ.       (1)

    Of a follower that turns, or slides along the axis of the cam, the disc alone.
    """
    wheel, follower = members_of([details["cam"], details["follower"]], places)
    lift = np.asarray(details["lift"], float)
    slides = not follower.turns and abs(follower.axis @ wheel.axis) < ACROSS
    spread = float(np.ptp(lift))
    base = max(0.8 * spread, LEAST_BASE * size) - min(float(lift.min()), 0.0)
    scaled = lift if slides else (lift - lift.min()) * (LARGE_LIFT * base / max(spread, 1e-300))
    line = follower.axis * follower.sense if slides else turn_to(wheel.axis)[:, 0]
    frame = np.column_stack([line, np.cross(wheel.axis, line), wheel.axis])
    angles = -wheel.sense * 2 * np.pi * np.arange(len(lift)) / len(lift)  # (1)
    place = places.inside(wheel.body, wheel.center, frame)
    outline, bore = outlines.polar(angles, base + scaled), outlines.circle(0.15 * base)
    disc = solid(wheel.body, "extrusion", [THICK * base], place, SILVER, outline, [bore])
    if not slides:
        return [disc]
    tip, low = TIP * base, wheel.center + base * line
    reach = max(float((follower.center - low) @ line), 2 * tip) - tip
    cone = solid(
        follower.body,
        "cone",
        [tip / 3, tip],
        places.inside(follower.body, low + tip / 2 * line, turn_to(-line)),
        STEEL,
    )
    at = low + (tip + reach / 2) * line
    return [
        disc,
        cone,
        solid(follower.body, "cylinder", [tip / 3, reach], places.inside(follower.body, at, turn_to(line)), STEEL),
    ]
