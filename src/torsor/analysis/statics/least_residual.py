"""Descent to the least residual, and the error of a search that finds no equilibrium.

From the start, steps are taken while each reduces the residual,

    (K̂ᵀ K̂ + μ²) δ = −K̂ᵀ r,        |L⁻¹ b| falls                                                       (1)

as in [marquardt1963]. They end where no small displacement changes the residual to first order, K̂ᵀ r = 0, and have no part in
directions without resistance. b are the unbalanced forces, M = L Lᵀ the masses at the start. The masses must not change: otherwise
a residual would look small where masses are far from their axes.
"""

import numpy as np

from ...errors import ModelError
from .equilibrium_tolerances import RESIDUAL_GAIN_MIN, RESIDUAL_LOSS_ROUNDING, STEP_NEGLIGIBLE

MARQUARDT_STEPS = 100
FARTHER_POINT_RATIO = 0.5  # a point farther away is reported if its imbalance / that of the nearest one is smaller


def nearest_balance(search):
    """The balance at the end of (1) from the origin of a search, or the best one of the search if its imbalance is much smaller."""
    best, current = search.best, search.balance_with_contacts(search.origin)
    damping = 1e-3 * current.stiffness_scale
    for _ in range(MARQUARDT_STEPS):
        step = current.marquardt_step(damping)
        if not np.isfinite(step[0]).all() or search.length(step) < STEP_NEGLIGIBLE:
            break
        next_point = None if search.part(step) < 1 else search.apply_step(current, step)
        next_balance = None if next_point is None else search.balance_with_contacts(next_point)
        gain = -np.inf if next_balance is None else 1 - search.imbalance(next_balance) / search.imbalance(current)
        current, damping = (next_balance, damping / 5) if gain > -RESIDUAL_LOSS_ROUNDING else (current, 4 * damping)
        if abs(gain) < RESIDUAL_GAIN_MIN:
            break
    current = search.newton(current.point)
    return best if search.imbalance(best) < FARTHER_POINT_RATIO * search.imbalance(current) else current


def no_equilibrium_error(search, best, what):
    """The error of a search without success: the nearest point, and the unbalanced forces there."""
    m = search.mechanism
    n = m.equations.sizes["v"]
    forces = best.unbalanced[:n] * m.energy / m.columns
    small, linear = 1e-9 * best.residual, m.system.linear
    order = [k for k in np.argsort(-np.abs(best.unbalanced[:n]))[:4] if abs(best.unbalanced[k]) > small]
    remaining = [f"{m.names[k]} {-forces[k]:.6g} {'N' if linear[k] else 'N m'}" for k in order]
    rates = best.unbalanced[len(best.unbalanced) - len(m.states) :]
    remaining += [f"rate of {name} {-x:.6g}" for name, x in zip(m.states, rates) if abs(x) > small]
    coordinates = m.coordinates(best.point)
    shown = ", ".join(f"{name} = {x:.6g}" for name, x in list(coordinates.items())[:6])
    return ModelError(
        f"model {m.model.name!r}: no {what} was found. The nearest point is {shown or 'the start'}"
        f"{' …' if len(coordinates) > 6 else ''}, where these forces are not in balance: {', '.join(remaining)}."
        f"{search.friction_text} Add elements that balance them, give a `start` nearer to an equilibrium, or simulate with dampers "
        "until the model rests"
    )
