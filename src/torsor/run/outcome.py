"""Is a run that came to its end what it seems? Constraints may hold in positions that they do not mean, or contradict others."""

import casadi as ca
import numpy as np

from ..describe.topology import spanning_tree
from ..joints import Joint
from ..start.examiner import Examiner
from ..start.impostors import JUMPED, impostors, misaligned
from ..start.plain import departed
from ..start.singular import singular_elements
from . import large

AGREES = 1e-7  # of the size of the model: how far constraints that say the same may disagree
SHOWN = 8  # elements of a singular position that are named
LOOKED_AT = 9  # outputs: what has jumped does not jump back


def jumped(task, system, data):
    """The first joint of a loop, or other constraint, whose residual vanishes in a position that it does not mean, and when."""
    model = task.model
    switched = {id(element) for element in model.switched}  # these may be anywhere while they are released
    cut = {id(joint) for joint in spanning_tree(model).cut if id(joint) not in switched}
    if not cut and all(isinstance(c, Joint) for c in model.constraints):
        return None
    some = np.unique(np.linspace(0, data.sizes["time"] - 1, LOOKED_AT).astype(int))
    if (plain := _plain(task)) is not None:
        return departed(plain, JUMPED, system.length, *_poses(data, some))
    absolute = task.derived().face().absolute
    for t, q, p in _states(task, system, data, some):
        joints = [model.joints[k] for k in impostors(absolute, system.length, JUMPED, t, q, p)]
        others = [c for c, _ in misaligned(absolute, t, q, p) if id(c) not in switched and lasts(model, c)]
        found = [joint for joint in joints if id(joint) in cut] + others
        if found:
            return found[0], float(t)
    return None


def contradicted(task, system, data):
    """Redundant constraints that are violated although all others hold, by name, and by how much; None where there are none.

    Outputs within steps near a singular position may be off the constraints in use as well: that is no contradiction.
    """
    drift, limit = data["position_drift"].values, AGREES * system.length
    if not (task.projection.projects and system.redundant and drift.max(initial=0.0) > limit):
        return None
    names = "; ".join(system.rows[k][1] for k in system.redundant[:5])
    if _plain(task) is not None:
        return names, drift.max()
    absolute, switched = task.derived().face().absolute, {id(element) for element in task.model.switched}
    left_out = {system.rows[k][0] for k in system.redundant}
    doubled = np.array([row.label in left_out for row in absolute.rows], bool)
    held = np.array([id(row.constraint) not in switched for row in absolute.rows], bool) & ~doubled
    worst = 0.0
    for t, q, p in _states(task, system, data, np.flatnonzero(drift > limit)):
        off = np.abs(absolute.examined["g"](t, q, p).ravel())
        others, own = off[held].max(initial=0.0), off[doubled].max(initial=0.0)
        worst = max(worst, own if own > limit and own > others else 0.0)
    return (names, worst) if worst > 0 else None


def singular_start(task, data):
    """What to say of a run that started in a singular position; empty: it did not, or came to no output."""
    if data.sizes["time"] == 0:
        return ""
    x, R = (data[what].values[0] for what in ("position", "rotation"))
    p = task.model.input_values(task.values())
    return singular(task, float(data["time"].values[0]), x, R.swapaxes(1, 2).reshape(len(x), 9), p)


def singular(task, t, x, R, p):
    """What to say of a position that is singular; empty: it is regular, or of a large model.

    x, R   positions and rotations of the bodies, column by column;   p   parameters and memories
    """
    model = task.model
    if _plain(task) is not None or not (np.isfinite(x).all() and np.isfinite(R).all()):
        return ""
    absolute = task.derived().face().absolute
    q = np.concatenate([a if body.particle else np.r_[a, b] for body, a, b in zip(model.bodies, x, R)])
    p = np.concatenate([p, np.zeros(len(absolute.turns))])
    length = np.linalg.norm(np.ptp(x, axis=0)) or 1.0
    if not (names := singular_elements(Examiner(absolute, length), t, q, p)):
        return ""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    at = "the start" if t == 0.0 else f"the position at t = {t:.6g} s"
    return (
        f"{at} is singular: {', '.join(names[:SHOWN])}{more} permit motions here to first order that they forbid to second order, "
        "as bars do that are taut or lie in one plane. Start in another position, or leave one of these constraints out"
    )


def lasts(model, constraint):
    """Whether a constraint means the same throughout a run: nothing that events remember occurs in its positions."""
    if (position := constraint.equations().position) is None:
        return True
    own = {m.symbol.element_hash() for m in constraint.memories()}
    changing = {m.symbol.element_hash() for m in model.memories} - own
    return not any(s.element_hash() in changing for s in ca.symvar(position))


def _plain(task):
    """The large model in numbers that was run, where it was one."""
    bare, signals = large.fixed(task.model, dict(task.model.signals) | task.signals, task.values())
    return large.system_of(bare, task.formulation, signals)


def _poses(data, some):
    return tuple(data[what][some].values for what in ("time", "position", "rotation"))


def _states(task, system, data, some):
    """Times, coordinates of all bodies and inputs at some outputs."""
    times, x, R = _poses(data, some)
    p = np.concatenate([system.p[: len(task.model.inputs)], np.zeros(len(task.derived().face().absolute.turns))])
    whole = np.concatenate([x, R.swapaxes(2, 3).reshape(*x.shape[:2], 9)], axis=2)
    keep = np.concatenate([np.arange(12) < (3 if body.particle else 12) for body in task.model.bodies])
    return [(t, q, p) for t, q in zip(times, whole.reshape(len(some), -1)[:, keep])]
