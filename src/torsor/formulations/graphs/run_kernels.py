"""The kernels of a run as graphs, derived from a formulation: written once for all formulations."""

import casadi as ca
import numpy as np

from ...elements.quantity import time
from ..algebra import momenta
from ..algebra.algebraic_loops import solve_implicit_efforts
from ..algebra.balanced_sums import length
from ..algebra.factorisation import (
    conditioning,
    correction,
    inverse_metrics,
    is_partition,
    mass_solver,
    pseudoinverse,
    zero_inactive,
)


def functions(f, baumgarte=False, accelerations=True):
    """The kernels of a run, by name, as CasADi functions of flat vectors.

    factor         (t, q, p) → F               accelerations   (t, q, v, p, F) → v̇, λ and implicit efforts, power
    impulse        (t, q, p, F, r) → δv, Λ     with G δv = −r
    positions      (t, q, p, F) → q, g         one step of Newton's method towards the constraints
    velocities     (t, q, v, p, F) → v, ψ      the same for velocities
    tangent        (p, F, e) → e               the part of an error that a projection leaves
    along          (t, q, p, e) → e            the same for positions, if it differs from `tangent`
    turns, spin    angles that are counted over full turns, and their rates

    baumgarte: G v̇ = γ − 2α ψ − β² g; a further argument contains (α, β), and (α, β) of the rows that contain rotations only.
    accelerations: False leaves them out; their derivation takes longest
    """
    t, q, v, p = time, f.q, f.v, f.p
    G = active_jacobian(f, f.keep)
    g, psi, gamma = (active_part(f, f.stack_rows(what)[f.keep, :], f.keep) for what in ("g", "psi", "gamma"))
    factor, read = f.factorise(G)
    kernels = {"factor": ca.Function("factor", [t, q, p], [factor])}
    F = ca.SX.sym("F", factor.shape[0])
    solvers = read(F)
    inputs = [t, q, v, p, F]
    if baumgarte:
        gains = ca.SX.sym("gains", 4)
        inputs.append(gains)
        rotational = f.rotational_rows()
        alpha, beta = (ca.vertcat(*[gains[k + 2 * flag] for flag in rotational], ca.SX(0, 1)) for k in range(2))
        gamma = gamma - 2 * alpha * psi - beta**2 * g  # inactive rows stay zero
    if accelerations:
        a, lam = solvers.accelerations(gamma)
        a, lam, power, efforts = solve_implicit_efforts(f, a, lam, f.power(lam, a))
        lam = lam if solvers.returns_multipliers else ca.SX.zeros(lam.shape)
        results = [ca.densify(x) for x in (a, ca.vertcat(lam, efforts), power)]
        kernels["accelerations"] = ca.Function("accelerations", inputs, results)
        kernels |= momenta.functions(f, solvers, inputs, gamma) if f.conjugate else {}
    kernels |= _projection_kernels(f, solvers, F, G, g, psi) | turn_kernels(f) | _along(f)
    return {name: eliminate_common_subexpressions(graph) for name, graph in kernels.items()}


def active_part(f, column, rows):
    """A column of residuals or other values of some rows, with zeros for the rows that are not active."""
    return zero_inactive(column, f.activity(rows))


def active_jacobian(f, rows):
    """G of some declared rows, with zeros for the rows that are not active."""
    return zero_inactive(f.jacobian()[rows, :], f.activity(rows))


def _projection_kernels(f, solvers, F, G, g, psi):
    """The kernels `impulse`, `tangent`, `positions` and `velocities` of `functions`."""
    t, q, v, p = time, f.q, f.v, f.p
    r = ca.SX.sym("r", len(f.keep))
    e = ca.SX.sym("e", f.v.shape[0])

    def mass_correction(residual):
        return ca.densify(-solvers.velocity_change(residual)[0])

    remaining = solvers.tangent(e) if solvers.tangent else e + mass_correction(solvers.G @ e) if f.keep else e
    dq, dv = _corrections(f, mass_correction, G, g, psi)
    corrected = f.manifold.retract(q, dq, "cayley") if f.keep else q  # all maps converge to the same point
    impulse = [ca.densify(x) for x in solvers.velocity_change(-r)]
    return {
        "impulse": ca.Function("impulse", [t, q, p, F, r], impulse),
        "tangent": ca.Function("tangent", [p, F, e], [remaining]),
        "positions": ca.Function("positions", [t, q, p, F], [corrected, _with_norm(f, g)]),
        "velocities": ca.Function("velocities", [t, q, v, p, F], [v + dv, _with_norm(f, psi)]),
    }


def _corrections(f, mass_correction, G, g, psi):
    """The corrections of positions for g and of velocities for ψ.

    In the mass metric both use `mass_correction`; in other metrics the factorisation is part of the returned expressions.
    """
    if not f.keep:
        return (ca.SX.zeros(f.v.shape[0]),) * 2
    if f.metric == "mass":
        return mass_correction(g), mass_correction(psi)
    positional = f.position_rows()
    columns = f.column_units()
    zero = ca.SX.zeros(f.v.shape[0])
    if f.metric == "pseudoinverse":
        units = np.array(f.row_units())
        dq = pseudoinverse(G[positional, :], units[positional], columns)(g[positional]) if positional else zero
        every = list(range(len(f.keep)))
        return dq, pseudoinverse(G[every, :], units[every], columns)(psi)
    W_q, W_v = inverse_metrics(f, columns)
    of_positions = f.activity([f.keep[k] for k in positional])
    dq = correction(G[positional, :], W_q, of_positions)(g[positional]) if positional else zero
    return dq, correction(G, W_v, f.activity(f.keep))(psi)


def replace_conditioning(f, factor, G):
    """Replace the last entry of a factor vector by the conditioning of the partition of projections, if one is in use.

    If the formulation has dependent velocities of its own that differ from the partition, the entry is the smaller of both.
    """
    if not is_partition(f.metric) or not f.keep:
        return factor
    own = set(f.dependent[0]) if f.dependent else None
    if own is not None and all(set(dependent) == own for dependent in f.metric):
        return factor  # the last entry is already the conditioning of this choice
    W_q, W_v = inverse_metrics(f, f.column_units())
    positional = f.position_rows()
    units = np.array(f.row_units())
    columns = f.column_units()
    worst = conditioning(G, W_v, units, columns)
    if positional:
        worst = ca.fmin(worst, conditioning(G[positional, :], W_q, units[positional], columns))
    return ca.vertcat(factor[:-1], worst if own is None else ca.fmin(worst, factor[-1]))


def _with_norm(f, residuals):
    """Residuals of the rows in use, and last their Euclidean norm in units of the rows."""
    scaled = [x / unit for x, unit in zip(ca.vertsplit(ca.densify(residuals)), f.row_units())]
    return ca.densify(ca.vertcat(residuals, length(ca.vertcat(*scaled)) if scaled else 0))


def turn_kernels(f):
    """Kernels of the angles that are counted over full turns: their values, continued from those in p, and their rates.

    If the velocities of a joint are not the rates of its coordinates, the angles are differentiated along the motion.
    """

    def angle(joint, k):
        return f.to_state_symbols(f.substitution.coordinates(joint)[k])

    def rate(joint, k):
        return f.rate_of(angle(joint, k)) if joint.quasi else f.to_state_symbols(f.substitution.rates(joint)[k])

    angles, rates = (ca.vertcat(*[of(j, k) for j, k in f.turns], ca.SX(0, 1)) for of in (angle, rate))
    return {
        "turns": ca.Function("turns", [time, f.q, f.p], [ca.densify(angles)]),
        "spin": ca.Function("spin", [time, f.q, f.v, f.p], [ca.densify(rates)]),
    }


def _along(f):
    """The kernel (t, q, p, e) → the part of an error in positions that a projection leaves.

    It is needed if some of the rows in use are at velocity level, since these do not correct positions; otherwise `tangent` is
    the same, and the result is empty.
    """
    positional = f.position_rows()
    if len(positional) == len(f.keep):
        return {}
    e = ca.SX.sym("e", f.v.shape[0])
    rows = [f.keep[k] for k in positional]
    remaining = e + f.least_change(rows)(active_jacobian(f, rows) @ e) if positional else e
    return {"along": ca.Function("along", [time, f.q, f.p, e], [ca.densify(remaining)])}


def retractions(f, map):
    """The kernels of the manifold: the retraction, without and with renormalisation, dexp⁻¹, and local coordinates."""
    q, u = ca.SX.sym("q", f.manifold.size), ca.SX.sym("u", f.manifold.dimension)
    w = ca.SX.sym("w", f.manifold.dimension)
    q1 = f.manifold.retract(q, u, map)
    end = ca.SX.sym("end", f.manifold.size)
    return {
        "retract": ca.Function("retract", [q, u], [q1]),
        "advance": ca.Function("advance", [q, u], [f.manifold.tidy(q1)]),
        "differential": ca.Function("differential", [u, w], [f.manifold.dexp_inverse(u, w, map)]),
        "local": ca.Function("local", [q, end], [f.manifold.local(q, end, map)]),
    }


def assembly_step(f):
    """The retraction with renormalisation, as a function (q, u), for the assembly."""
    q, u = ca.SX.sym("q", f.manifold.size), ca.SX.sym("u", f.manifold.dimension)
    return ca.Function("move", [q, u], [f.manifold.tidy(f.manifold.retract(q, u))])


def contact_response(f):
    """Response to impulses at all rows of contacts and friction, as a function (t, q, v, p) → A, B, ψ.

    B are the changes of velocity by unit impulses while all other rows in use hold, A = G B, and ψ is that of these rows.
    """
    contacts = [k for k, row in enumerate(f.rows) if row.constraint.intermittent]
    others = [k for k in f.keep if not f.rows[k].constraint.intermittent]
    G = f.jacobian()[contacts, :]
    H = active_jacobian(f, others)
    over_mass = mass_solver(f.mass_matrix())
    correct = f.least_change(others) if others else None
    free = [over_mass(G[row, :].T) for row in range(len(contacts))]
    B = ca.horzcat(*[x + correct(H @ x) if correct else x for x in free])
    psi = f.stack_rows("psi")[contacts, :]
    results = [ca.densify(ca.vec(x)) for x in (G @ B, B, psi)]
    return eliminate_common_subexpressions(ca.Function("meeting", [time, f.q, f.v, f.p], results))


def eliminate_common_subexpressions(f):
    """The same function with common subexpressions computed once."""
    return ca.Function(f.name(), f.sx_in(), ca.cse(f.call(f.sx_in())))


def named_function(name, inputs, *results):
    """A function with named inputs, in which common subexpressions are computed once."""
    outputs = [f"{name}{k}" for k in range(len(results))]
    return ca.Function(name, list(inputs.values()), ca.cse([ca.densify(x) for x in results]), list(inputs), outputs)
