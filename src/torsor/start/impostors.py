"""Is a constraint assembled as what it is, or does its residual vanish somewhere else?

A residual is a local statement: 0 = n·R a holds for a hinge whose axis points the other way too, and 0 = vee(R − Rᵀ) for any
rotation by π (Müller and Terze, remark 4 [mueller2009]). What a joint can reach is what its coordinates describe:

    H = pose(coordinates(H))                                                                                  (1)

A joint for which (1) fails although its residual vanishes is an impostor, and so is any other constraint (an imposed motion, no
rotation, a user's own) where cos θ of its equations of sines is −1 and not 1. A start is assembled with strict forms
(`joints/alignment.py`) where such a constraint is far from holding; what is an impostor then is refused, and a run that jumps to
one is stopped.
"""

from dataclasses import replace

import numpy as np

from ..errors import AssemblyError
from ..formulations.lie_derivative import TURNING
from ..joints.alignment import strictly
from ..registry import lookup
from .examiner import Examiner

ASSEMBLED = 1e-6  # (1) at an assembled start, where residuals are below 1e-11; lengths over the size of the model
JUMPED = 0.5  # (1) in a run, which may drift; an impostor is off by more than 1
ALIGNED = 0.5  # cos θ: what is less aligned is on its way to the impostor, or there
ASIDE = 1e-5  # rad: how far something that is turned by exactly π is turned before it is turned back


def impostors(formulation, length, limit, t, q, p):
    """Places of the joints for which (1) fails by more than a limit; q in absolute coordinates."""
    angle, shift = formulation.examined["departures"](t, q, p).T
    return np.flatnonzero(np.maximum(angle, shift / length) > limit)


def misaligned(formulation, t, q, p):
    """Constraints other than joints that stand the wrong way round, with their cos θ; q in absolute coordinates."""
    cosines = formulation.examined["alignments"](t, q, p).ravel()
    every = [(c, x) for c, x in zip(formulation.model.constraints, cosines) if id(c) not in formulation.released]
    return [(c, x) for c, x in every if x < ALIGNED]


def assembled(formulation, examiner, t, q, p):
    """The assembled configuration in absolute coordinates, every constraint as what it is, and how far something moved."""
    given, wrong = q, misaligned(formulation, t, q, p)
    if not wrong:
        q, moved = examiner.assembled(t, given, p)
        wrong = misaligned(formulation, t, q, p)
    if wrong:
        names = {c.name for c, _ in wrong}
        near = {row.label: 1.0 for row in formulation.rows if row.constraint.name in names}  # rows may vanish at π
        strict = Examiner(_strict(formulation), replace(examiner.scales, rows=examiner.scales.rows | near))
        q, moved = strict.assembled(t, _aside(formulation, strict, misaligned(formulation, t, given, p), given), p)
        examiner.scales.rows = examiner.row_units(t, q, p)
    joints = formulation.model.joints
    found = [joints[k] for k in impostors(formulation, examiner.length, ASSEMBLED, t, q, p)]
    found = [joint for joint in found if id(joint) not in formulation.released]
    _refuse(formulation.model, found + [c for c, _ in misaligned(formulation, t, q, p)])
    return q, moved


def _strict(formulation):
    """The absolute formulation of the same model, in strict forms, derived once where it is needed."""
    kept = formulation.model.derived
    if "strict" not in kept:
        with strictly():
            kept["strict"] = lookup("formulation", "absolute")(formulation.model)
    twin = kept["strict"]
    twin.released = formulation.released
    return twin


def _aside(formulation, examiner, wrong, q):
    """The given configuration; what is turned by π, where a strict form has no value, is turned a little."""
    u, twin = np.zeros(sum(3 if b.particle else 6 for b in formulation.model.bodies)), _strict(formulation)
    for constraint, cosine in wrong:
        if cosine < ASIDE**2 - 1:
            block = twin.block_of(constraint)
            at = twin.offset[id(block.bodies[-1])]
            u[at + TURNING : at + TURNING + 3] = ASIDE * np.array([0.6, -0.3, 0.7])
    return examiner.move(q, u) if u.any() else q


def _refuse(model, found):
    """Refuse a start in which a residual vanishes although the constraint is not assembled."""
    if not found:
        return
    ends = lambda c: [getattr(c, k).name for k in ("first", "second") if hasattr(getattr(c, k, None), "name")]
    joined = lambda c: f" between {' and '.join(map(repr, ends(c)))}" if len(ends(c)) == 2 else ""
    names = "; ".join(f"{c.owner}{joined(c)}" for c in found[:5])
    raise AssemblyError(
        f"model {model.name!r}: assembled the wrong way round: {names}. Its constraints hold, but it does not mean this "
        "position: an axis points the other way, or a part is turned by 180 degrees. Start closer to the position that is "
        "meant, or turn the axis or the frame round."
    )
