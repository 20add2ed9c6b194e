"""Forces that jump with a rate, as sign(v) does: where such a force holds a body at rest no step is short enough.

A force f jumps with a rate s if a condition φ in it (`time_switches.py`, (1)) contains s, and

    f(s* − ε) − f(s* + ε)  does not vanish with ε,    φ(s*) = 0,  all else somewhere                      (1)
"""

import casadi as ca
import numpy as np

from .time_switches import conditions

TRIES = 3  # states at which a condition is looked at
NEAR, NEARER = 1e-6, 1e-9  # ε of (1)
INSTEAD = (
    "jumps where a rate passes zero, as sign(v) does, and no step is short enough where it holds something at rest: take "
    "ts.Friction or ts.Clutch, or a smooth law such as tanh(v / v0)"
)


def forces_that_jump(model) -> list:
    """Forces of a model that jump with a rate; found once."""
    if "forces that jump" not in model.derived:
        model.derived["forces that jump"] = [force for force in model.forces if _jumps(model, force)]
    return model.derived["forces that jump"]


def name_forces_that_jump(model) -> str:
    """The forces that jump with a rate, as the end of a message; empty where there is none."""
    found = forces_that_jump(model)
    names = ", ".join(force.owner for force in found[:5])
    return f"; {names} {INSTEAD}" if found else ""


def _jumps(model, force):
    efforts = [ca.SX(effort) for _, effort in force.efforts()]
    D = force.dissipation()
    rates = [] if D is None else [s for s in ca.symvar(D) if model.kind_of(s) == "velocity"]
    efforts += [ca.gradient(D, ca.vertcat(*rates))] if rates else []
    return any(_jumps_with_a_rate(model, ca.vec(ca.densify(x))) for x in efforts if not x.is_constant())


def _jumps_with_a_rate(model, effort):
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
    place = next(k for k, x in enumerate(symbols) if x.element_hash() == s.element_hash())
    for seed in range(TRIES):
        at = np.random.default_rng(seed).uniform(0.3, 0.9, len(symbols))
        for _ in range(20):
            _, value, slope = (x.full().ravel() for x in f(at))
            if not np.isfinite([value[0], slope[0]]).all() or slope[0] == 0:
                break
            at[place] -= value[0] / slope[0]
        if not (np.isfinite(at).all() and abs(float(f(at)[1])) < NEARER):
            continue
        far, near = (_difference(f, at, place, step) for step in (NEAR, NEARER))
        if near > 0.5 * far and near > 0:
            return True
    return False


def _difference(f, at, place, step):
    """Largest difference of an effort between two sides."""
    below, above = at.copy(), at.copy()
    below[place] -= step
    above[place] += step
    found = np.abs(f(above)[0].full() - f(below)[0].full())
    return float(found.max()) if np.isfinite(found).all() else 0.0
