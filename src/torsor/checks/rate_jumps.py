"""Find forces that jump with a rate, as sign(v) does: if such a force keeps a body at rest, no step is short enough.

A force f jumps with a rate s if a condition φ in it (`time_switches.py`, (1)) contains s, and

    f(s* − ε) − f(s* + ε)  does not vanish with ε,    φ(s*) = 0,  all other variables arbitrary           (1)

Elements of dry friction, which stick by events, are left out.
"""

import casadi as ca
import numpy as np

from .time_switches import conditions

STATES = 3  # number of states at which a condition is evaluated
LARGER_EPSILON = 1e-6  # ε of (1)
SMALLER_EPSILON = 1e-9  # ε of (1)
ADVICE = (
    "jumps where a rate passes zero, as sign(v) does, and no step is short enough if it keeps a body at rest: use "
    "ts.Friction or ts.Clutch, or a smooth law such as tanh(v / v0)"
)


def forces_that_jump(model) -> list:
    """Forces of a model that jump with a rate; the result is cached."""
    if "forces that jump" not in model.derived:
        model.derived["forces that jump"] = [f for f in model.forces if not f.dry_friction and _jumps(model, f)]
    return model.derived["forces that jump"]


def name_forces_that_jump(model) -> str:
    """The end of a message that names the forces that jump with a rate; empty if there are none."""
    forces = forces_that_jump(model)
    names = ", ".join(force.owner for force in forces[:5])
    return f"; {names} {ADVICE}" if forces else ""


def _jumps(model, force):
    """True if an effort of a force jumps with a rate."""
    efforts = [ca.SX(effort) for _, effort in force.typical_efforts()]
    D = force.dissipation()
    rates = [] if D is None else [s for s in ca.symvar(D) if model.kind_of(s) == "velocity"]
    efforts += [ca.gradient(D, ca.vertcat(*rates))] if rates else []
    return any(_jumps_with_a_rate(model, ca.vec(ca.densify(x))) for x in efforts if not x.is_constant())


def _jumps_with_a_rate(model, effort):
    """True if an effort contains a condition on a rate, and jumps there."""
    symbols = ca.symvar(effort)
    rates = [s for s in symbols if model.kind_of(s) == "velocity"]
    if not rates:
        return False
    for phi, _, _ in conditions(effort, {s.element_hash() for s in symbols}):
        for s in rates:
            if ca.depends_on(phi, s) and _jumps_at(effort, phi, s, symbols):
                return True
    return False


def _jumps_at(effort, phi, s, symbols):
    """True if an effort jumps where φ passes zero with s: (1)."""
    f = ca.Function("f", [ca.vertcat(*symbols)], [effort, phi, ca.jacobian(phi, s)])
    index = next(k for k, x in enumerate(symbols) if x.element_hash() == s.element_hash())
    for seed in range(STATES):
        at = np.random.default_rng(seed).uniform(0.3, 0.9, len(symbols))
        for _ in range(20):
            _, value, slope = (x.full().ravel() for x in f(at))
            if not np.isfinite([value[0], slope[0]]).all() or slope[0] == 0:
                break
            at[index] -= value[0] / slope[0]
        if not (np.isfinite(at).all() and abs(float(f(at)[1])) < SMALLER_EPSILON):
            continue
        far, near = (_difference(f, at, index, step) for step in (LARGER_EPSILON, SMALLER_EPSILON))
        if near > 0.5 * far and near > 0:
            return True
    return False


def _difference(f, at, index, step):
    """Largest difference of an effort between both sides of a state."""
    below, above = at.copy(), at.copy()
    below[index] -= step
    above[index] += step
    differences = np.abs(f(above)[0].full() - f(below)[0].full())
    return float(differences.max()) if np.isfinite(differences).all() else 0.0
