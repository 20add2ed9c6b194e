"""Search for potential energies that may jump while nothing moves.

It does where an input changes that gravity or a spring depends on, and at breakpoints of a law of time:

    E⁺ − E⁻ = U(x, t⁺, p⁺) − U(x, t⁻, p⁻)                                                               (1)

This is the work of whoever changes the potential, as ∫ ∂U/∂t dt is where it changes smoothly
(`formulations/algebra/loads.py`, (2)).
"""

import casadi as ca

from ..elements.quantity import time
from .table_breakpoints import breakpoints_of


def potential_may_jump(model):
    """True if the potential of some force depends on inputs, or on time in a model with breakpoints."""
    if "potential_may_jump" not in model.derived:
        symbols = [p.symbol for p in model.declared_inputs.values()] + ([time] if breakpoints_of(model).any else [])
        every = [force.potential() for force in model.all_forces] if symbols else []
        given = ca.vertcat(*[ca.SX(U) for U in every if U is not None], ca.SX(0, 1))
        model.derived["potential_may_jump"] = bool(symbols) and ca.depends_on(given, ca.vertcat(*symbols))
    return model.derived["potential_may_jump"]
