"""Detect constraints whose residual vanishes although they are not assembled as intended.

A residual is a local statement: 0 = n·R a also holds for a hinge whose axis points the other way, and 0 = vee(R − Rᵀ) for any
rotation by π (Müller and Terze, remark 4 [mueller2009]). The poses that a joint can reach are those its coordinates describe:

    H = pose(coordinates(H))                                                                                  (1)

A joint for which (1) fails although its residual vanishes is an impostor. Any other constraint (an imposed motion, no rotation, a
user's own) is an impostor if cos θ of its equations in sines is −1 instead of 1. If such a constraint is far from satisfied, a
start is assembled with strict forms (`joints/alignment.py`). Impostors that remain are refused, and a run that jumps to one is
stopped.
"""

from dataclasses import replace

import numpy as np

from ..errors import AssemblyError
from ..formulations.algebra.lie_derivative import ANGULAR_START
from ..joints.alignment import strict_equations
from ..registry import lookup
from .constraints import Examiner

IMPOSTOR_AT_START = (
    1e-6  # error of (1) at an assembled start, where residuals are below 1e-11; lengths / size of the model
)
IMPOSTOR_IN_RUN = 0.5  # error of (1) in a run, which may drift; that of an impostor is more than 1
ALIGNED_COSINE = 0.5  # cos θ, below which a constraint is an impostor or on its way to one
DISTURBANCE = 1e-5  # rad: rotation that moves a part away from an angle of exactly π before assembly


def impostors(formulation, length, limit, t, q, p):
    """Indices of the joints for which (1) fails by more than a limit; q in absolute coordinates."""
    angle, shift = formulation.start_functions["departures"](t, q, p).T
    return np.flatnonzero(np.maximum(angle, shift / length) > limit)


def misaligned_constraints(formulation, t, q, p):
    """Active constraints other than joints that are not aligned, with their cos θ; q in absolute coordinates."""
    cosines = formulation.start_functions["alignments"](t, q, p).ravel()
    active = [(c, x) for c, x in zip(formulation.model.constraints, cosines) if id(c) not in formulation.released]
    return [(c, x) for c, x in active if x < ALIGNED_COSINE]


def assemble_without_impostors(formulation, examiner, t, q, p):
    """Assemble a configuration in absolute coordinates without impostors. Returns it and the distance it moved."""
    given, wrong = q, misaligned_constraints(formulation, t, q, p)
    if not wrong:
        q, moved = examiner.assemble_or_refuse(t, given, p)
        wrong = misaligned_constraints(formulation, t, q, p)
    if wrong:
        names = {c.name for c, _ in wrong}
        units = {row.label: 1.0 for row in formulation.rows if row.constraint.name in names}  # rows may vanish at π
        strict = Examiner(_strict_formulation(formulation), replace(examiner.scales, rows=examiner.scales.rows | units))
        disturbed = _disturb(formulation, strict, misaligned_constraints(formulation, t, given, p), given)
        q, moved = strict.assemble_or_refuse(t, disturbed, p)
        examiner.scales.rows = examiner.row_units(t, q, p)
    joints = formulation.model.joints
    wrong_joints = [joints[k] for k in impostors(formulation, examiner.length, IMPOSTOR_AT_START, t, q, p)]
    wrong_joints = [joint for joint in wrong_joints if id(joint) not in formulation.released]
    _refuse(formulation.model, wrong_joints + [c for c, _ in misaligned_constraints(formulation, t, q, p)])
    return q, moved


def _strict_formulation(formulation):
    """The absolute formulation of the same model in strict forms, derived once if needed."""
    cache = formulation.model.derived
    if "strict" not in cache:
        with strict_equations():
            cache["strict"] = lookup("formulation", "absolute")(formulation.model)
    strict = cache["strict"]
    strict.released = formulation.released
    return strict


def _disturb(formulation, examiner, wrong, q):
    """The given configuration, with parts turned a little that are turned by π, where a strict form has no value."""
    u = np.zeros(sum(3 if b.particle else 6 for b in formulation.model.bodies))
    strict = _strict_formulation(formulation)
    for constraint, cosine in wrong:
        if cosine < DISTURBANCE**2 - 1:
            block = strict.block_of(constraint)
            at = strict.offset[id(block.bodies[-1])]
            u[at + ANGULAR_START : at + ANGULAR_START + 3] = DISTURBANCE * np.array([0.6, -0.3, 0.7])
    return examiner.move(q, u) if u.any() else q


def _refuse(model, wrong):
    """Refuse a start in which these constraints are impostors."""
    if not wrong:
        return

    def describe_ends(c):
        ends = [getattr(c, k).name for k in ("first", "second") if hasattr(getattr(c, k, None), "name")]
        return f" between {' and '.join(map(repr, ends))}" if len(ends) == 2 else ""

    names = "; ".join(f"{c.owner}{describe_ends(c)}" for c in wrong[:5])
    raise AssemblyError(
        f"model {model.name!r}: assembled the wrong way round: {names}. The constraints hold, but not in the intended "
        "position: an axis points the other way, or a part is turned by 180 degrees. Start closer to the intended position, "
        "or reverse the axis or the frame."
    )
