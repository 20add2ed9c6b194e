"""A sequence of elementary motions with nothing heavy between them, as one joint.

    hinge, hinge              crossing at right angles                            universal
    hinge, hinge              else, unless both turn about the same line          two hinges (`HingePair`)
    hinge, slide              along one line, in either order                     cylindrical
    slide, slide, hinge       the slides at right angles, the hinge across both   planar
    hinge, hinge, hinge       meeting in a point, all at right angles             three-hinge ball (`Gimbal`)
    hinge, hinge, hinge       meeting in a point, the first along the third       spherical
    hinges and slides         any other sequence, three of each at most           sequence (`HingeSlideSequence`)

All but the spherical joint keep the coordinates: each motion's own is a linear function of the joint's, q_k = L_k q. The
spherical joint starts where the first and the third hinge turn about one line. It moves in the same way, but has no angles; the
file's are turned into a rotation at the start and are not known afterwards.
"""

from dataclasses import dataclass

import numpy as np

from ..elements.quantity import numbers, unit
from ..errors import ModelError
from ..joints.alignment import normals
from ..joints.cylindrical import Cylindrical
from ..joints.free import Free
from ..joints.planar import Planar
from ..joints.prismatic import Prismatic
from ..joints.revolute import Revolute
from ..joints.screw import Screw
from ..joints.spherical import Spherical
from ..joints.universal import Universal
from ..lie import so3
from .hinge_slide_sequence import HingeSlideSequence, sequence_arguments
from .massless_hinges import PARALLEL, Gimbal, HingePair

SMALL = 1e-9  # sines of angles between axes; the same bound as that of the universal joint
SINGLE = {"hinge": Revolute, "slide": Prismatic, "screw": Screw, "ball": Spherical, "free": Free, "planar": Planar}


@dataclass(frozen=True, eq=False)
class Combined:
    """A kind of joint, its arguments, and L with (coordinates of the file) = L q; None where there is no such L."""

    kind: type
    arguments: dict
    L: np.ndarray | None

    def start(self, motions, attribute):
        """The joint's coordinates (or rates) at the start from those of the file, None where none are given."""
        given = [getattr(m, attribute) for m in motions]
        if all(x is None for x in given):
            return None
        if len(motions) == 1:
            return tuple(given[0])
        values = np.array([0.0 if x is None else x[0] for x in given])
        if self.L is not None:
            return tuple(np.linalg.solve(self.L, values))
        angles = [0.0 if m.start is None else m.start[0] for m in motions]
        turns = [np.asarray(so3.exp(a * m.axis)) for a, m in zip(angles, motions)]
        if attribute == "start":
            return tuple(so3.log(turns[0] @ turns[1] @ turns[2]))
        a, b, c = (m.axis for m in motions)
        axes = [turns[2].T @ turns[1].T @ a, turns[2].T @ b, c]  # in axes of the second body
        return tuple(sum(rate * axis for rate, axis in zip(values, axes)))


def combine(motions, size):
    """The joint that moves as the sequence does; a ModelError where torsor has none. `size`: a length of the model."""
    kinds = tuple(m.kind for m in motions)
    axes, points = [m.axis for m in motions], [m.point for m in motions]
    if len(motions) == 1:
        axial = kinds[0] in ("hinge", "slide", "screw", "planar")
        arguments = {"point": points[0], **({"axis": axes[0]} if axial else {})}
        if kinds[0] == "screw":
            arguments["pitch"] = motions[0].pitch
        return Combined(SINGLE[kinds[0]], arguments, np.eye(motions[0].dof))
    if kinds == ("hinge", "hinge") and _square(*axes):
        where = _meeting(axes, points, size)
        if where is not None:
            return Combined(Universal, {"point": where, "axis": axes[0], "second_axis": axes[1]}, np.eye(2))
    if kinds == ("hinge", "hinge") and (found := _pair(axes, points, size)) is not None:
        return Combined(HingePair, found, np.eye(2))
    if set(kinds) == {"hinge", "slide"} and len(kinds) == 2 and np.linalg.norm(np.cross(*axes)) < SMALL:
        h = kinds.index("hinge")
        L = np.zeros((2, 2))
        L[h, 0], L[1 - h, 1] = 1.0, axes[0] @ axes[1]
        return Combined(Cylindrical, {"point": points[h], "axis": axes[h]}, L)
    if kinds == ("slide", "slide", "hinge") and _square(axes[0], axes[1], axes[2]) and _square(axes[0], axes[2]):
        n1, n2 = (numbers(n).ravel() for n in normals(unit(axes[2], "axis", "sequence")))
        L = np.array([[axes[0] @ n1, axes[0] @ n2, 0], [axes[1] @ n1, axes[1] @ n2, 0], [0, 0, 1]])
        return Combined(Planar, {"point": points[2], "axis": axes[2]}, L)
    if kinds == ("hinge",) * 3 and _square(*axes):
        where = _meeting(axes, points, size)
        if where is not None and _square(axes[0], axes[2]):
            given = dict(zip(("axis", "second_axis", "third_axis"), axes))
            return Combined(Gimbal, {"point": where, **given}, np.eye(3))
        if where is not None:
            return Combined(Spherical, {"point": where}, None)
    arguments = sequence_arguments(motions)
    if arguments is not None:
        return Combined(HingeSlideSequence, arguments, np.eye(len(motions)))
    names = ", ".join(f"{m.name!r} ({m.kind})" for m in motions)
    raise ModelError(
        f"{motions[0].where}: joints {names} follow each other without mass in between, and some of them move "
        "the body in the same way: hinges that follow each other about parallel axes, slides in one direction or plane, more than "
        "three hinges or slides. Give the body between them a mass."
    )


def _pair(axes, points, size):
    """Arguments of a pair of hinges: the feet of the common normal of their lines; None for one and the same line."""
    (a, b), across = axes, points[1] - points[0]
    normal = np.cross(a, b)
    if np.linalg.norm(normal) < PARALLEL:
        foot, offset = points[0], across - (a @ across) * a
        if np.linalg.norm(offset) < SMALL * size:
            return None
    else:
        foot = points[0] + a * (np.cross(across, b) @ normal) / (normal @ normal)
        offset = normal * (across @ normal) / (normal @ normal)
    return {"point": foot, "axis": a, "second_axis": b, "offset": offset}


def _square(*axes):
    """True if each axis is perpendicular to the next."""
    return all(abs(a @ b) < SMALL for a, b in zip(axes, axes[1:]))


def _meeting(axes, points, size):
    """The point in which all lines meet, None where they do not."""
    across = [np.eye(3) - np.outer(a, a) for a in axes]
    A, b = np.vstack(across), np.concatenate([P @ p for P, p in zip(across, points)])
    where = np.linalg.lstsq(A, b, rcond=None)[0]
    return where if np.abs(A @ where - b).max() < SMALL * size else None
