"""A joint as hinges and slides one after the other, as other programs describe it."""

from typing import Any, NamedTuple

ORIGIN = (0.0, 0.0, 0.0)


class ElementaryMotion(NamedTuple):
    """One motion of a sequence, in the frame of the joint, from its first body to its second.

    kind    "hinge", "slide", "screw", "ball" or "free"; a ball joint has the coordinates of `Spherical`, a free one those of `Free`
    axis    three numbers or expressions; of no meaning for "ball" and "free"
    point   of the axis of a hinge or screw, or the centre of a ball
    pitch   of a screw: displacement in one turn
    """

    kind: str
    axis: Any = (0.0, 0.0, 1.0)
    point: Any = ORIGIN
    pitch: Any = 0.0
