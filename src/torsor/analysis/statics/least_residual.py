"""The least residual near the start, and the error of a search that finds no equilibrium.

From the start, steps (3) of `start/levenberg_marquardt.py` are taken along the displacements δ that the constraints leave free,

    min |K̂ δ + r|² + μ |δ|²,        |L⁻¹ b| falls                                                       (1)

They end where no small displacement changes the residual to first order, K̂ᵀ r = 0, and have no part in directions without
resistance. b are the unbalanced forces, M = L Lᵀ the masses at the start. The masses must not change: otherwise a residual would
look small where masses are far from their axes.
"""

import numpy as np

from ...errors import ModelError
from ...start.levenberg_marquardt import LeastSquares, minimise

FIRST_DAMPING = 1e-3  # damping of the first step / stiffness scale
FARTHER_POINT_RATIO = 0.5  # a point farther away is reported if its imbalance / that of the nearest one is smaller


class LeastImbalance(LeastSquares):
    """The problem of (1), as the only row of its kind: configurations are balances; None: none can be reached."""

    def __init__(self, search, origin):
        self.search = search
        self.first_damping = FIRST_DAMPING * origin.stiffness_scale

    def select(self, which):
        return self

    def move(self, balances, u):
        balance, search = balances[0], self.search
        step = balance.coordinate_step(u[0])
        point = None if search.part(step) < 1 else search.apply_step(balance, step)
        return as_row(None if point is None else search.balance_with_contacts(point))

    def restore_constraints(self, balances):
        return balances, np.array([np.inf if balances[0] is None else 0.0])

    def evaluate(self, balances):
        return (balances.copy(),)

    def cost(self, balances):
        return np.array([np.inf if balances[0] is None else self.search.imbalance(balances[0]) ** 2])

    def step(self, _, nu, balances):
        balance = balances[0]
        u = balance.damped_displacement(np.sqrt(nu[0]) * self.first_damping)
        slope = np.abs(balance.stiffness.T @ balance.reduced_residual).max(initial=0.0)
        return u[None], np.array([slope])


def as_row(thing):
    """One thing of any kind as an array with one entry."""
    row = np.empty(1, object)
    row[0] = thing
    return row


def nearest_balance(search):
    """The balance at the end of (1) from the origin of a search, or the best one of the search if its imbalance is much smaller."""
    best = search.best
    origin = search.balance_with_contacts(search.origin)
    balances, _ = minimise(LeastImbalance(search, origin), as_row(origin), exactly=False)
    current = search.newton(balances[0].point)
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
