"""The claim that energy stays, for models that can keep it."""

from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity
from ..errors import OptionError
from .results_of import fraction, model_of, run_of, scales, where


def assert_energy_conserved(source: Any, until: float | None = None, within: float = 1e-6, **options: Any):
    """The energy stays as it is, to a fraction `within` of what is turned over, in a model whose forces all have a potential.

    A model in which something dissipates, acts without a potential, or moves as given is refused, since no method conserves its
    energy: `assert_energy_balance` counts what these do. source: a model or a case; options: of `simulate`, as in
    `method="variational", step=1e-3` for long runs.
    """
    model, ends = model_of(source)
    allowed, changing = fraction(within), list(_changing(model))
    if changing:
        raise OptionError(
            f"energy of {model.name!r} cannot stay: {'; '.join(changing[:5])}. assert_energy_balance counts what is done"
        )
    data = run_of(model, ends if until is None else until, options)
    off, time, _ = where(np.abs(data.energy.values - data.energy.values[0]), data.time.values)
    kinetic, potential = data.kinetic_energy.values, data.potential_energy.values
    turnover = max(float(kinetic.max()) * scales(data)[-1] ** 2, float(np.ptp(potential)), np.finfo(float).tiny)
    if not off <= allowed * turnover + 1e-13 * float(np.abs(data.energy.values).max()):
        raise AssertionError(
            f"energy of {model.name!r}: it has changed by {off:.3g} J at t = {time:.4g} s, {off / turnover:.1e} of the "
            f"{turnover:.3g} J that are turned over; allowed {allowed:.0e}. Take a smaller tolerance or step, or, for a long run, "
            "method='variational'"
        )
    return data


def _changing(model):
    """What changes the energy of a model, in words."""
    timed = lambda expression: expression is not None and ca.depends_on(ca.SX(expression), quantity.time)
    for force in model.forces:
        D = force.dissipation()
        if D is not None and ca.sparsify(ca.SX(D)).nnz():
            yield f"{force.owner} dissipates"
        if force.efforts():
            yield f"{force.owner} acts without a potential"
        if timed(force.potential()):
            yield f"{force.owner} has a potential that changes with time"
    for constraint in model.constraints:
        stated = constraint.equations()
        if timed(stated.position) or timed(stated.velocity):
            yield f"{constraint.owner} moves as given"
    yield from (f"ground {ground.name!r} moves as given" for ground in model.grounds if ground.moves)
    yield from (f"event {event.name!r} may change it" for event in model.events)
