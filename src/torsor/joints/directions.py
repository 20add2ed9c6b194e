"""Names of the rows of constraints: directions in which motion is kept at zero."""

from ..elements import quantity
from .alignment import normals

X = ("x", "y", "z")
TRANSLATIONS = [f"translation along {x}" for x in X]


def rotation_rows(axis):
    """Rotations about two normals of an axis."""
    names = [direction(n) for n in normals(axis)]
    return [f"rotation about {names[1]}", f"rotation about {names[0]}"]


def direction(axis):
    """A short name of a direction: x, y, z or its components."""
    if not axis.is_constant():
        return "a normal of the axis"
    values = quantity.numbers(axis).ravel()
    for k, x in enumerate(X):
        if abs(abs(values[k]) - 1) < 1e-12:
            return x
    return "(" + ", ".join(f"{v:.3g}" for v in values) + ")"
