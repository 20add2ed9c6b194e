"""Checks of a finished run: joints that jumped to a wrong assembly, contradictory constraints, singular positions."""

import casadi as ca
import numpy as np

from ..kernels.derivation_lock import DERIVING
from ..model.topology import spanning_tree
from ..prepare import large_systems
from ..start.constraints import Examiner
from ..start.impostors import ALIGNED_COSINE, IMPOSTOR_IN_RUN
from ..start.large_start import first_impostor
from ..start.singular_positions import singular_elements
from .run_tolerances import REDUNDANT_ROWS_AGREE

MOST_NAMED = 8  # elements of a singular position that a message names
OUTPUTS_CHECKED = 9  # a joint that has jumped does not jump back, so that a few outputs suffice


class LoopElements:
    """Elements of a model that may jump to a wrong assembly in a run.

    joints   for each joint, whether it closes a loop
    others   for each constraint, whether it has no coordinates and is permanent
    needed   True if there are any
    """

    def __init__(self, model):
        self.model = model
        switched = {id(element) for element in model.switched_elements}  # released, they may have any position
        cut = {id(joint) for joint in spanning_tree(model).cut} - switched
        closes = bool(cut) or not all(c.has_coordinates for c in model.constraints)
        self.joints = np.array([id(joint) in cut for joint in model.joints], bool)
        self.others = np.array(
            [closes and id(c) not in switched and is_permanent(model, c) for c in model.constraints], bool
        )
        self.needed = bool(self.joints.any() or self.others.any())

    def elements(self):
        """The elements themselves: joints, then other constraints."""
        parts = (self.model.joints, self.joints), (self.model.constraints, self.others)
        return [element for several, chosen in parts for element, one in zip(several, chosen) if one]

    def are_wrong(self, absolute, t, x, R, inputs, length):
        """True, for each state and element, where the element is satisfied in a wrong assembly.

        absolute   numeric formulation in absolute coordinates
        t, x, R    times, positions and rotations of the bodies of each state;   inputs   of the kernels
        length     size of the model in each state
        """
        q = absolute_coordinates(self.model, x, R)
        p = np.concatenate([inputs, np.zeros((len(q), len(absolute.turns)))], axis=1)
        functions = absolute.start_functions
        with DERIVING:
            angle, shift = np.moveaxis(functions["departures"].over(t[:, None], q, p)[:, self.joints], 2, 0)
            cosines = functions["alignments"].over(t[:, None], q, p)[:, self.others, 0]
        departure = np.maximum(angle, shift / length[:, None])
        return np.concatenate([~(departure <= IMPOSTOR_IN_RUN), ~(cosines >= ALIGNED_COSINE)], axis=1)


def checked_outputs(count):
    """Indices of the outputs, of so many, at which assemblies are checked."""
    return np.unique(np.linspace(0, count - 1, OUTPUTS_CHECKED).astype(int))


def find_jumped_element(task, system, data):
    """The first joint of a loop, or other constraint, that is satisfied in a wrong assembly, and the time of the output.

    Returns None if there is none.
    """
    loops = LoopElements(task.model)
    if not loops.needed:
        return None
    some = checked_outputs(data.sizes["time"])
    t, x, R = _poses(data, some)
    if (large := _large_system(task)) is not None:
        return first_impostor(large, IMPOSTOR_IN_RUN, system.length, t, x, R)
    inputs = np.tile(np.array(system.p)[task.model.input_layout.model_inputs], (len(some), 1))
    absolute = task.derivation().numeric().absolute
    wrong = np.argwhere(loops.are_wrong(absolute, t, x, R, inputs, np.full(len(some), system.length)))
    return (loops.elements()[wrong[0][1]], float(t[wrong[0][0]])) if len(wrong) else None


def violated_redundant_constraints(task, system, data):
    """Names of redundant constraints that are violated although all others hold, and the largest violation; None: no violation.

    Dense outputs near a singular position may violate the constraints in use as well: that is no contradiction.
    """
    drift, limit = data["position_drift"].values, REDUNDANT_ROWS_AGREE * system.length
    if not (task.projection.projects and system.redundant and drift.max(initial=0.0) > limit):
        return None
    names = "; ".join(system.rows[k][1] for k in system.redundant[:5])
    if _large_system(task) is not None:
        return names, drift.max()
    absolute, switched = task.derivation().numeric().absolute, {id(element) for element in task.model.switched_elements}
    left_out = {system.rows[k][0] for k in system.redundant}
    redundant = np.array([row.label in left_out for row in absolute.rows], bool)
    in_use = np.array([id(row.constraint) not in switched for row in absolute.rows], bool) & ~redundant
    worst = 0.0
    for t, q, p in _states(task, system, data, np.flatnonzero(drift > limit)):
        residual = np.abs(absolute.start_functions["g"](t, q, p).ravel())
        others, own = residual[in_use].max(initial=0.0), residual[redundant].max(initial=0.0)
        worst = max(worst, own if own > limit and own > others else 0.0)
    return (names, worst) if worst > 0 else None


def singular_start(task, data):
    """Message about a run that started in a singular position; empty if it did not, or has no output."""
    if data.sizes["time"] == 0:
        return ""
    x, R = (data[what].values[0] for what in ("position", "rotation"))
    p = task.model.input_values(task.values())
    return singular(task, float(data["time"].values[0]), x, R.swapaxes(1, 2).reshape(len(x), 9), p)


def singular(task, t, x, R, p):
    """Message about a singular position; empty if the position is regular, or the model is a large one.

    x, R   positions and rotations of the bodies, column by column;   p   parameters and memories
    """
    model = task.model
    if _large_system(task) is not None or not (np.isfinite(x).all() and np.isfinite(R).all()):
        return ""
    absolute = task.derivation().numeric().absolute
    q = np.concatenate([a if body.particle else np.r_[a, b] for body, a, b in zip(model.bodies, x, R)])
    p = np.concatenate([p, np.zeros(len(absolute.turns))])
    length = np.linalg.norm(np.ptp(x, axis=0)) or 1.0
    if not (names := singular_elements(Examiner(absolute, length), t, q, p)):
        return ""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    at = "the start" if t == 0.0 else f"the position at t = {t:.6g} s"
    return (
        f"{at} is singular: {', '.join(names[:MOST_NAMED])}{more} permit motions here to first order that they forbid to second "
        "order, as bars do that are taut or lie in one plane. Start in another position, or leave one of these constraints out"
    )


def is_permanent(model, constraint):
    """True if the position-level equations of a constraint depend on no memory of events but its own."""
    if (position := constraint.equations().position) is None:
        return True
    own = {m.symbol.element_hash() for m in constraint.memories()}
    changing = {m.symbol.element_hash() for m in model.memories} - own
    return not any(s.element_hash() in changing for s in ca.symvar(position))


def _large_system(task):
    """The numeric system of a large model; None if the model is not run as one."""
    bare, signals = large_systems.fix_parameters(task.model, dict(task.model.signals) | task.signals, task.values())
    return large_systems.system_of(bare, task.formulation, signals)


def _poses(data, some):
    return tuple(data[what][some].values for what in ("time", "position", "rotation"))


def _states(task, system, data, some):
    """Times, absolute coordinates and inputs at some outputs."""
    times, x, R = _poses(data, some)
    p = np.concatenate(
        [system.p[task.model.input_layout.model_inputs], np.zeros(len(task.derivation().numeric().absolute.turns))]
    )
    return list(zip(times, absolute_coordinates(task.model, x, R), np.tile(p, (len(some), 1))))


def absolute_coordinates(model, x, R):
    """Absolute coordinates of states, from positions and rotations of the bodies."""
    every = np.concatenate([x, R.swapaxes(2, 3).reshape(*x.shape[:2], 9)], axis=2)
    keep = np.concatenate([np.arange(12) < (3 if body.particle else 12) for body in model.bodies])
    return every.reshape(len(x), -1)[:, keep]
