"""Efforts that depend on reactions or accelerations, such as dry friction: an algebraic loop, closed by Newton's method.

Each of these efforts is an unknown y with its definition y = e(r), where r are the reactions and accelerations in it.
Accelerations, multipliers and therefore r are affine in y, so that the loop is as small as there are such efforts:

    r(y) = r₀ + R y                                                                                   (1)
    ρ(y) = y − e(r₀ + R y) = 0,     (1 − ∂e/∂r R) Δy = −ρ                                             (2)

One step solves (2) where e is affine in r; else a fixed number of steps from y = e(r₀). A loop without a solution (a guide
that jams: the friction grows faster than what it holds back) makes the accelerations NaN. Whether (2) is solved is judged by
what its residual ρ does to accelerations and multipliers, as forces, beside what y does to them and what is rounded anyway,
so that mechanisms of any size and mass jam alike.
"""

import casadi as ca

from ..describe.quantity import parted
from .signal_values import REACTIONS, SignalValues

STEPS = 6  # of Newton's method, which doubles the correct digits with each
CLOSED = 1e-8  # effect of the residual of (2) over that of y, above which there is no solution
JAMMED = 1e10  # effect of y over that of e(r₀), above which there is none but for rounding
ROUNDED = 1e-4  # share of all forces, below which efforts are judged as if they were so large
FINITE = 1e300  # a slope beyond this is none: that of a length at zero


def loaded_symbols(model):
    """Identities of the scalar symbols that make an effort implicit: reactions, multipliers, accelerations."""
    blocks = [getattr(c, what, None) for c in model.constraints for what in REACTIONS]
    blocks += [x for body in model.bodies for x in (body.acceleration, body.angular_acceleration)]
    return {s.element_hash() for block in blocks if block is not None for s in block.nonzeros()}


def closed(f, a, lam, power):
    """Accelerations, multipliers and power with the implicit efforts solved for, and these efforts."""
    if not f.implicit:
        return a, lam, power, ca.SX(0, 1)
    y, e = f.loads.unknown(), f.loads.definitions()
    # what the definitions contain, as functions of y
    loaded = loaded_symbols(f.model)
    symbols = ca.vertcat(*[s for s in ca.symvar(e) if s.element_hash() in loaded])
    r = ca.SX.sym("r", symbols.shape[0])
    e = f.in_state(f.substitution.of(ca.substitute(e, symbols, r)), ca.SX.zeros(a.shape))
    values = f.in_state(SignalValues(f, a, lam, shared=False).of(symbols), a)  # affine in y: (1)
    everything = ca.densify(ca.vertcat(a, lam, power, values))
    offset, slope = ca.substitute(everything, y, ca.SX.zeros(y.shape)), ca.sparsify(ca.jacobian(everything, y))
    n = everything.shape[0] - r.shape[0]
    r0, R = ca.densify(parted(offset, n)[1]), slope[n:, :]  # (1)
    found, first = _solution(e, r, r0, R), ca.substitute(e, r, r0)
    residual = found - ca.substitute(e, r, ca.densify(r0 + R @ found))
    effect = _effects(f, a.shape[0], lam.shape[0])
    anyway = ROUNDED * effect(offset)
    size, beside = (ca.fmax(effect(slope @ x), anyway) for x in (found, first))
    good = ca.logic_and(effect(slope @ residual) <= CLOSED * size, size <= JAMMED * beside)
    a, lam, power = parted(parted(offset, n)[0] + slope[:n, :] @ found, a.shape[0], lam.shape[0])
    return a + ca.if_else(good, 0, ca.SX.nan()), lam, power, found


def _effects(f, accelerations, multipliers):
    """The largest force among accelerations and multipliers: a function of a column that begins with them."""
    masses = ca.SX(sum(body.mass for body in f.model.bodies))
    heavy = f.in_state(f.substitution.of(masses), ca.SX.zeros(accelerations)) * f.scales.unit
    units = [heavy / unit for unit in f.column_units()] + [ca.SX(unit / f.scales.unit) for unit in f.row_units()]
    weights = ca.vertcat(*units, ca.SX(0, 1))
    return lambda x: ca.mmax(ca.fabs(ca.densify(ca.vertcat(x[: accelerations + multipliers] * weights, 0))))


def _solution(e, r, r0, R):
    """y by Newton's method: (2)."""
    slope = ca.jacobian(e, r)
    affine = not ca.depends_on(slope, r)
    if not affine:
        slope = ca.if_else(ca.fabs(slope) < FINITE, slope, 0)
    y = ca.substitute(e, r, r0)
    for _ in range(1 if affine else STEPS):
        at = ca.densify(r0 + R @ y)
        J = ca.SX.eye(y.shape[0]) - ca.substitute(slope, r, at) @ R
        y = y - ca.solve(ca.densify(J), y - ca.substitute(e, r, at))
    return y
