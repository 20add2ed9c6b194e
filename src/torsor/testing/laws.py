"""Laws that every mechanism obeys, as assertions: energy, constraints, momentum."""

from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity
from ..errors import OptionError
from .results_of import fraction, model_of, run_of, scales, where

AXIS_NAMES = "xyz"


def assert_energy_balance(source: Any, until: float | None = None, within: float = 1e-6, **options: Any):
    """The energy changes by the work that is done, and by what events do: E − E₀ = W − W₀ + changes by events, to a fraction
    `within` of the energy that is turned over (largest kinetic energy, range of the potential energy).

    A force whose law says another power than its potential or its effort, and a joint whose free motions are not those that it
    leaves free, break this. source: a model, a case, or a result; options: of `simulate`.
    """
    data, allowed = run_of(source, until, options), fraction(within)
    gained = data.energy.values - data.work.values
    gained = gained - data.energy_by_events.values if "energy_by_events" in data else gained
    off, time, _ = where(np.abs(gained - gained[0]), data.time.values)
    kinetic, potential = data.kinetic_energy.values, data.potential_energy.values
    turnover = max(float(kinetic.max()) * scales(data)[-1] ** 2, float(np.ptp(potential)), np.finfo(float).tiny)
    rounding = 1e-13 * max(float(np.abs(x.values).max()) for x in (data.energy, data.work, data.potential_energy))
    if not off <= allowed * turnover + rounding:
        raise AssertionError(
            f"energy balance of {data.attrs['model']!r}: the energy and the work done differ by {off:.3g} J at t = {time:.4g} s, "
            f"{off / turnover:.1e} of the {turnover:.3g} J that are turned over; allowed {allowed:.0e}. A force does not say the "
            "power that it has, or the run is too coarse: try a smaller tolerance"
        )
    return data


def assert_no_drift(source: Any, until: float | None = None, within: float = 1e-9, **options: Any):
    """All constraints hold at every output: positions to a fraction `within` of the size of the model (and rad), velocities to
    that fraction of the largest speed. source: a model, a case, or a result; options: of `simulate`."""
    data, allowed = run_of(source, until, options), fraction(within)
    length, speed, spin, _ = scales(data)
    bounds = {"position": max(length, 1.0), "velocity": max(speed, spin)}
    for what, bound in bounds.items():
        off, time, _ = where(data[f"{what}_drift"].values, data.time.values)
        if not off <= allowed * bound:
            raise AssertionError(
                f"drift of {data.attrs['model']!r}: {what}s are off their constraints by {off:.3g} at t = {time:.4g} s, "
                f"{off / bound:.1e} of what they are measured against ({bound:.3g}); allowed {allowed:.0e}. Use a projection that "
                "keeps them, or a smaller tolerance"
            )
    return data


def assert_momentum(
    source: Any,
    until: float | None = None,
    linear: str = AXIS_NAMES,
    angular: str = AXIS_NAMES,
    about: Any = None,
    within: float = 1e-6,
    parameters: dict | None = None,
    **options: Any,
):
    """Nothing but gravity acts from outside: momentum grows by m g t, and the angular momentum about the centre of mass stays.
    So it is with every component that hangs on nothing, whatever its inner forces do: action and reaction cancel.

    linear, angular   axes of the world that are looked at, as in "xy"; "" for none
    about             a fixed point instead of the centre of mass; then gravity must not turn about the axes that are named
    within            fraction of the largest momentum of all bodies, each by itself
    source            a model or a case; parameters and options: of `simulate`
    """
    model, ends = model_of(source)
    along, turning = (_axes(given, name) for given, name in ((linear, "linear"), (angular, "angular")))
    allowed = fraction(within)
    data = run_of(model, ends if until is None else until, {"parameters": parameters, **options})
    m, J, g = _weights(model, model.values(parameters))
    t, x, v = (data[name].values for name in ("time", "position", "velocity"))
    R, w = data.rotation.values, data.angular_velocity.values
    P = np.einsum("b,tbi->tbi", m, v)
    centre = np.einsum("b,tbi->ti", m, x) / m.sum()
    start = (
        np.asarray(quantity.numbers(quantity.vector(about, "about", "momentum"))).ravel() if about is not None else None
    )
    arm = x - (centre[:, None] if start is None else start)
    H = np.cross(arm, P) + np.einsum("tbij,bjk,tbk->tbi", R, J, w)
    rounding = 1e-13 * float(np.linalg.norm(P, axis=-1).sum(1).max())
    _stays("momentum", "kg m/s", data, P, P.sum(1) - m.sum() * np.outer(t, g), along, allowed, rounding)
    rounding *= float(np.linalg.norm(arm, axis=-1).max())  # of moments of momenta, which may all be zero
    _stays("angular momentum", "kg m²/s", data, H, H.sum(1), turning, allowed, rounding)
    return data


def _axes(given, name):
    if not isinstance(given, str) or set(given) - set(AXIS_NAMES):
        raise OptionError(f'{name} must name axes, as in "xy", got {quantity.show(given)}')
    return [AXIS_NAMES.index(axis) for axis in given]


def _weights(model, values):
    """Masses, inertias and gravity in numbers."""
    symbols = ca.vertcat(*[x.symbol for x in model.parameters.values()], ca.SX(0, 1))
    columns = [ca.vertcat(*[b.mass for b in model.bodies])]
    columns += [ca.SX.zeros(3, 3) if b.particle else b.inertia for b in model.bodies]
    if ca.depends_on(model.gravity, quantity.time):
        raise OptionError(
            f"momentum of {model.name!r}: gravity depends on time; only a constant one is taken into account"
        )
    f = ca.Function("weights", [symbols], [ca.densify(x) for x in (*columns, model.gravity)])
    m, *J, g = f.call([ca.DM(list(values.values()))])
    return m.full().ravel(), np.array([x.full() for x in J]), g.full().ravel()


def _stays(what, unit, data, parts, whole, axes, allowed, rounding):
    """Refuse a sum that changes, against the largest of its parts."""
    if not axes:
        return
    size = max(float(np.linalg.norm(parts, axis=-1).sum(1).max()) * scales(data)[-1], np.finfo(float).tiny)
    change = np.abs(whole - whole[0])[:, axes]
    off, time, (axis,) = where(change, data.time.values, [AXIS_NAMES[k] for k in axes])
    if not off <= allowed * size + rounding:
        raise AssertionError(
            f"{what} of {data.attrs['model']!r}: along {axis} it has changed by {off:.3g} {unit} at t = {time:.4g} s, "
            f"{off / size:.1e} of that of all bodies ({size:.3g}); allowed {allowed:.0e}. Something acts from outside, or a force "
            "has no reaction"
        )
