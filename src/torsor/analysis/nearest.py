"""The nearest point to an equilibrium, and what is told where nothing balances: the forces that are left there.

From the start, steps are taken as long as less is left by each,

    (K̂ᵀ K̂ + μ²) δ = −K̂ᵀ r,        |L⁻¹ b| falls                                                       (1)

as in [marquardt1963]. They end where no small displacement changes what is left to first order, K̂ᵀ r = 0, and never go along
directions that meet no resistance. b are the forces that are not in balance, M = L Lᵀ the masses at the start: with those of
other places a point would look near where masses are far out.
"""

import numpy as np

from ..errors import ModelError

STEPS = 100
LESS = 1e-12  # part by which less has to be left after a step for another one to be taken
ROUNDING = 1e-14  # part by which more is left that may be rounding
SHORT = 1e-10  # step that is not worth taking: over the size of the model, or in rad
FARTHER = 0.5  # of what is left at the nearest point has to be left at a farther one for this to be told instead


def nearest(search):
    """The balance that (1) leads to from the origin of a search, or the best one of the search where much less is left."""
    best, now = search.best, search.met(search.origin)
    damping = 1e-3 * now.pace
    for _ in range(STEPS):
        step = now.less(damping)
        if not np.isfinite(step[0]).all() or search.length(step) < SHORT:
            break
        there = None if search.part(step) < 1 else search.moved(now, step)
        then = None if there is None else search.met(there)
        gain = -np.inf if then is None else 1 - search.left(then) / search.left(now)
        now, damping = (then, damping / 5) if gain > -ROUNDING else (now, 4 * damping)
        if abs(gain) < LESS:
            break
    now = search.newton(now.place)
    return best if search.left(best) < FARTHER * search.left(now) else now


def refusal(search, best, what):
    """The error for a search that has found none: the nearest point, and what is left there."""
    m = search.mechanism
    n = m.equations.sizes["v"]
    forces = best.off[:n] * m.energy / m.columns
    small, linear = 1e-9 * best.residual, m.system.linear
    order = [k for k in np.argsort(-np.abs(best.off[:n]))[:4] if abs(best.off[k]) > small]
    left = [f"{m.names[k]} {-forces[k]:.6g} {'N' if linear[k] else 'N m'}" for k in order]
    rates = best.off[len(best.off) - len(m.states) :]
    left += [f"rate of {name} {-x:.6g}" for name, x in zip(m.states, rates) if abs(x) > small]
    where = m.coordinates(best.place)
    shown = ", ".join(f"{name} = {x:.6g}" for name, x in list(where.items())[:6])
    return ModelError(
        f"model {m.model.name!r}: no {what} was found. Nearest to one is {shown or 'the start'}"
        f"{' …' if len(where) > 6 else ''}, where these forces are not in balance: {', '.join(left)}.{search.slid} Add what "
        "holds them, give a `start` nearer to an equilibrium, or simulate with dampers until the model rests"
    )
