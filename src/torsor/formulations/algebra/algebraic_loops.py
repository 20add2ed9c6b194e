"""Algebraic loops of efforts that depend on reactions or accelerations, such as dry friction, solved by Newton's method.

Each of these efforts is an unknown y with its definition y = e(r), where r are the reactions and accelerations in it.
Accelerations, multipliers and therefore r are affine in y, so that the number of unknowns is the number of such efforts:

    r(y) = r₀ + R y                                                                                   (1)
    ρ(y) = y − e(r₀ + R y) = 0,     (1 − ∂e/∂r R) Δy = −ρ                                             (2)

If e is affine in r, one step solves (2); otherwise a fixed number of steps starts from y = e(r₀). If there is no solution (a
guide that jams: the friction grows faster than the load), the accelerations are NaN. The test compares the effect of the
residual ρ on accelerations and multipliers, as forces, with the effect of y and with the rounding of all forces. The result
therefore does not depend on the size and mass of the mechanism.
"""

import casadi as ca

from ...elements.quantity import split_column
from ..graphs.signal_values import REACTIONS, SignalValues

NEWTON_STEPS = 6  # for e that is not affine; each step doubles the number of correct digits
RESIDUAL_UNSOLVED = 1e-8  # effect of the residual of (2) / effect of y, above which there is no solution
EFFORT_JAMMED = 1e10  # effect of y / effect of e(r₀), above which y is a product of rounding
EFFORT_NEGLIGIBLE = 1e-4  # effect of efforts / effect of all forces; smaller efforts are compared with this share
SLOPE_INFINITE = 1e300  # a slope of e above this is replaced by 0: that of a length at zero


def reaction_symbols(model):
    """Identities of the scalar symbols that make an effort implicit: reactions, multipliers, accelerations."""
    blocks = [getattr(c, what, None) for c in model.constraints for what in REACTIONS]
    blocks += [x for body in model.bodies for x in (body.acceleration, body.angular_acceleration)]
    return {s.element_hash() for block in blocks if block is not None for s in block.nonzeros()}


def solve_implicit_efforts(f, a, lam, power):
    """Accelerations, multipliers and power with the solution of the implicit efforts, and these efforts."""
    if not f.implicit:
        return a, lam, power, ca.SX(0, 1)
    y = f.loads.unknown()
    e = f.loads.definitions()
    # reactions and accelerations in the definitions, as functions of y
    implicit = reaction_symbols(f.model)
    symbols = ca.vertcat(*[s for s in ca.symvar(e) if s.element_hash() in implicit])
    r = ca.SX.sym("r", symbols.shape[0])
    e = f.in_state(f.substitution.of(ca.substitute(e, symbols, r)), ca.SX.zeros(a.shape))
    values = f.in_state(SignalValues(f, a, lam, shared=False).of(symbols), a)  # affine in y: (1)
    everything = ca.densify(ca.vertcat(a, lam, power, values))
    offset = ca.substitute(everything, y, ca.SX.zeros(y.shape))
    slope = ca.sparsify(ca.jacobian(everything, y))
    n = everything.shape[0] - r.shape[0]
    r0, R = ca.densify(split_column(offset, n)[1]), slope[n:, :]  # (1)
    efforts = _newton_solution(e, r, r0, R)
    first = ca.substitute(e, r, r0)
    # test of the solution
    residual = efforts - ca.substitute(e, r, ca.densify(r0 + R @ efforts))
    effect = _force_norm(f, a.shape[0], lam.shape[0])
    least = EFFORT_NEGLIGIBLE * effect(offset)
    size, first_size = (ca.fmax(effect(slope @ x), least) for x in (efforts, first))
    solved = ca.logic_and(effect(slope @ residual) <= RESIDUAL_UNSOLVED * size, size <= EFFORT_JAMMED * first_size)
    a, lam, power = split_column(split_column(offset, n)[0] + slope[:n, :] @ efforts, a.shape[0], lam.shape[0])
    return a + ca.if_else(solved, 0, ca.SX.nan()), lam, power, efforts


def _force_norm(f, accelerations, multipliers):
    """A function of a column that begins with accelerations and multipliers: the largest of them, as a force.

    accelerations, multipliers   their numbers
    """
    masses = ca.SX(sum(body.mass for body in f.model.bodies))
    total_mass = f.in_state(f.substitution.of(masses), ca.SX.zeros(accelerations)) * f.scales.unit
    units = [total_mass / unit for unit in f.column_units()] + [ca.SX(unit / f.scales.unit) for unit in f.row_units()]
    weights = ca.vertcat(*units, ca.SX(0, 1))
    return lambda x: ca.mmax(ca.fabs(ca.densify(ca.vertcat(x[: accelerations + multipliers] * weights, 0))))


def _newton_solution(e, r, r0, R):
    """y by Newton's method: (2)."""
    slope = ca.jacobian(e, r)
    affine = not ca.depends_on(slope, r)
    if not affine:
        slope = ca.if_else(ca.fabs(slope) < SLOPE_INFINITE, slope, 0)
    y = ca.substitute(e, r, r0)
    for _ in range(1 if affine else NEWTON_STEPS):
        r_of_y = ca.densify(r0 + R @ y)
        J = ca.SX.eye(y.shape[0]) - ca.substitute(slope, r, r_of_y) @ R
        y = y - ca.solve(ca.densify(J), y - ca.substitute(e, r, r_of_y))
    return y
