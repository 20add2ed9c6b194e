"""Hints for likely mistakes in a description: one warning each, of the category `torsor.HintWarning`.

`warnings.filterwarnings("ignore", category=torsor.HintWarning)` silences all of them, `torsor.Model(name, hints=False)` those of
one model.
"""

import math
import sys
import warnings
from functools import cache
from itertools import islice
from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.lazy_attributes import storage_of
from ..errors import HintWarning
from ..joints import Joint

DEGREES = 2 * math.pi * (1 + 1e-9)  # rad: an angle beyond a full turn may have been meant in degrees
PART_OF_TURN = math.pi / 12  # a multiple of it was surely meant in radians


def warn(model: Any, message: str) -> None:
    """Give a hint, as a warning at the line outside this package that led to it."""
    if not model.hints:
        return
    frame: Any = sys._getframe(1)
    own, level, outermost = __name__.partition(".")[0], 2, 2
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == own:
            outermost = level + 1
        frame, level = frame.f_back, level + 1
    warnings.warn(f"{message} (a hint: ts.Model(…, hints=False) silences it)", HintWarning, stacklevel=outermost)


def looks_like_degrees(angles: Any) -> float | None:
    """The first number that may be an angle in degrees; None where there is none."""
    for x in np.atleast_1d(np.asarray(angles, float)).tolist():
        part = x / PART_OF_TURN
        if abs(x) > DEGREES and abs(part - round(part)) > 1e-6 * abs(part):
            return x
    return None


def hint_at_angles(model: Any, owner: str, what: str, value: Any) -> None:
    """Hint at a rotation vector that is longer than a full turn."""
    if model.hints and value is not None and quantity.shape_of(value) == (3, 1):
        try:
            length = float(np.linalg.norm(np.asarray(value, float).ravel()))
        except Exception:  # an expression
            return
        if looks_like_degrees(length) is not None:
            warn(
                model,
                f"{owner}: {what} is a rotation vector of {length:.6g} rad, more than a full turn; angles are in radians "
                "(numpy.radians converts degrees)",
            )


def hint_at_joint(model: Any, joint: Any) -> None:
    """Hint at a start in degrees, and at an axis that was not given."""
    if not (model.hints and isinstance(joint, Joint)):
        return
    start = storage_of(joint, "start")
    if isinstance(start, np.ndarray):
        turning = [x for x, angular in zip(start.tolist(), joint.angular) if angular]
        turning += (
            [float(np.linalg.norm(list(islice(start, 3))))] if joint.quasi else []
        )  # a rotation vector comes first
        if (x := looks_like_degrees(turning)) is not None:
            warn(
                model,
                f"{joint.owner}: its start turns it by {x:.6g} rad, more than a full turn; angles are in radians, "
                f"numpy.radians({x:.6g}) converts degrees",
            )
    kind: Any = type(joint)
    for what, default in _axes_left_out(kind):
        if getattr(joint, what) is default:
            chosen = f"{what}={default}"
            warn(model, f"{joint.owner}: {what} was not given, {chosen} is taken; write {chosen} where that is meant")


@cache
def _axes_left_out(cls: Any):
    """Axes that joints of this package take where none is given, by argument; those of other joints are their authors' choice."""
    if cls.__module__.partition(".")[0] != __name__.partition(".")[0]:
        return []
    fields = [(what, cls.__dataclass_fields__.get(what)) for what in ("axis", "second_axis")]
    return [(what, field.default) for what, field in fields if field is not None and isinstance(field.default, tuple)]


def hint_at_description(model: Any) -> None:
    """Hints at what was forgotten, when a model is complete: before its first run."""
    for name, key in vars(model).get("_made", {}).items():
        if name not in model._names and "." not in name:  # others are made by torsor itself
            warn(
                model,
                f"{key} {name!r} was made for model {model.name!r} and never added: write model.add(…) around it, or leave it out",
            )
    idle = [body.name for body in _unconnected_bodies(model)]
    if idle:
        several = f"bodies {', '.join(map(repr, idle[:5]))}" if len(idle) > 1 else f"body {idle[0]!r}"
        warn(
            model,
            f"{several} of model {model.name!r}: nothing connects it, neither joint nor constraint, force, event or signal, unlike "
            "the other bodies; is a joint missing? A start velocity, or ts.Free, says that it is meant to be free",
        )


def _unconnected_bodies(model):
    """Bodies that no element, expression or given velocity refers to, where other bodies are connected."""
    every = {id(e): e for e in [*model.constraints, *model.forces, *model.rules]}.values()
    named: set[int] = set()
    for element in every:
        for value in vars(element).values():
            for x in value if isinstance(value, (tuple, list)) else (value,):
                named.add(id(getattr(x, "body", x)))
    alone = [b for b in model.bodies if id(b) not in named and not b._signals]
    at_rest = [b for b in alone if b._start_velocity is None and b._start_angular_velocity is None]
    exposed = {id(getattr(x, "body", x)) for x in model.ports.values()}
    found = [b for b in at_rest if id(b) not in exposed]
    return found if any(isinstance(e, Joint) for e in every) and len(alone) < len(model.bodies) else []


def hint_at_rigidity(model: Any, freedom: int) -> None:
    """Hint at a model that cannot move: no degree of freedom is left, although nothing imposes a motion."""
    known = model.derived
    if (
        known.get("rigid")
        or not model.hints
        or freedom
        or not model.bodies
        or model.switched_elements
        or model.states
        or model.events
    ):
        return
    known["rigid"] = True  # this is said once
    if any(ground.moves for ground in model.grounds) or any(_is_driven(c) for c in model.constraints):
        return
    warn(
        model,
        f"model {model.name!r} has no degree of freedom left, so that nothing moves: ts.info(model) lists what its "
        f"{len(model.constraints)} joints and constraints keep",
    )


def _is_driven(constraint):
    stated = constraint.equations()
    rows = stated.velocity if stated.position is None else stated.position
    return rows is not None and bool(ca.depends_on(rows, quantity.time))
