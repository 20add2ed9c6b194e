"""The graphs of a run's kernels, from what a formulation defines: written once for all formulations."""

import casadi as ca
import numpy as np

from ..describe.quantity import time
from . import momenta
from .factor import conditioning, correction, inverse, inverse_metrics, pseudoinverse
from .folding import length
from .implicit import closed


def functions(f, baumgarte=False, accelerations=True):
    """The kernels of a run, by name, as CasADi functions of flat vectors.

    factor         (t, q, p) → F               accelerations   (t, q, v, p, F) → v̇, λ and implicit efforts, power
    impulse        (t, q, p, F, r) → δv, Λ     with G δv = −r
    positions      (t, q, p, F) → q, g         one step of Newton's method towards the constraints
    velocities     (t, q, v, p, F) → v, ψ      likewise
    tangent        (p, F, e) → e               the part of an error that a projection leaves
    turns, spin    angles that are counted, and their rates

    baumgarte: G v̇ = γ − 2α ψ − β² g, with (α, β), and (α, β) of rows that stop rotations, as a further argument.
    accelerations: whether they are wanted; they take longest to derive
    """
    t, q, v, p, n = time, f.q, f.v, f.p, f.v.shape[0]
    G = f.jacobian()[f.keep, :]
    g, psi, gamma = (f.stacked(what)[f.keep, :] for what in ("g", "psi", "gamma"))
    factor, read = f.factored(G)
    found = {"factor": ca.Function("factor", [t, q, p], [factor])}
    F = ca.SX.sym("F", factor.shape[0])
    solvers, inputs = read(F), [t, q, v, p, F]
    if baumgarte:
        gains = ca.SX.sym("gains", 4)
        inputs.append(gains)
        alpha, beta = (ca.vertcat(*[gains[k + 2 * turning] for turning in f.turning()], ca.SX(0, 1)) for k in range(2))
        gamma = gamma - 2 * alpha * psi - beta**2 * g
    if accelerations:
        a, lam = solvers.accelerations(gamma)
        a, lam, power, efforts = closed(f, a, lam, f.power(lam, a))
        lam = lam if solvers.hands_on else ca.SX.zeros(lam.shape)
        results = [ca.densify(x) for x in (a, ca.vertcat(lam, efforts), power)]
        found["accelerations"] = ca.Function("accelerations", inputs, results)
        found |= momenta.functions(f, solvers, inputs, gamma) if f.conjugate else {}
    r, e = ca.SX.sym("r", len(f.keep)), ca.SX.sym("e", n)
    found["impulse"] = ca.Function("impulse", [t, q, p, F, r], [ca.densify(x) for x in solvers.restored(-r)])
    step = lambda residual: ca.densify(-solvers.restored(residual)[0])
    left = solvers.tangent(e) if solvers.tangent else e + step(solvers.G @ e) if f.keep else e
    found["tangent"] = ca.Function("tangent", [p, F, e], [left])
    at_position, at_velocity = _corrections(f, step, G, g, psi)
    shifted = f.manifold.retract(q, at_position, "cayley") if f.keep else q  # any map leads to the same place
    found["positions"] = ca.Function("positions", [t, q, p, F], [shifted, _with_size(f, g)])
    found["velocities"] = ca.Function("velocities", [t, q, v, p, F], [v + at_velocity, _with_size(f, psi)])
    found |= counting(f) | _along(f)
    return {name: shared(graph) for name, graph in found.items()}


def _corrections(f, step, G, g, psi):
    """How positions and velocities are corrected: both by `step` in the mass metric, or in a metric of their own,
    factored inside their kernels. Returns the two corrections, of g and of ψ."""
    if not f.keep:
        return (ca.SX.zeros(f.v.shape[0]),) * 2
    if f.metric == "mass":
        return step(g), step(psi)
    held, columns, nothing = f.held(), f.column_units(), ca.SX.zeros(f.v.shape[0])
    if f.metric == "pseudoinverse":
        onto = lambda rows: pseudoinverse(G[rows, :], np.array(f.row_units())[rows], columns)
        return onto(held)(g[held]) if held else nothing, onto(list(range(len(f.keep))))(psi)
    W_q, W_v = inverse_metrics(f.metric, columns)
    return correction(G[held, :], W_q)(g[held]) if held else nothing, correction(G, W_v)(psi)


def conditioned(f, factor, G):
    """A factor vector whose last entry tells how well a partition is conditioned, where one is in use; where the formulation
    watches a choice of its own that is another one, the worse of the two."""
    if not isinstance(f.metric, tuple) or not f.keep:
        return factor
    own = set(f.dependent[0]) if f.dependent else None
    if own is not None and all(set(part) == own for part in f.metric):
        return factor  # the last entry tells of the same choice already
    W_q, W_v = inverse_metrics(f.metric, f.column_units())
    held, units, columns = f.held(), np.array(f.row_units()), f.column_units()
    worst = conditioning(G, W_v, units, columns)
    if held:
        worst = ca.fmin(worst, conditioning(G[held, :], W_q, units[held], columns))
    return ca.vertcat(factor[:-1], worst if own is None else ca.fmin(worst, factor[-1]))


def _with_size(f, residuals):
    """Residuals of the rows in use, and last the length of the vector of all of them in their units."""
    sizes = [x / unit for x, unit in zip(ca.vertsplit(ca.densify(residuals)), f.row_units())]
    return ca.densify(ca.vertcat(residuals, length(ca.vertcat(*sizes)) if sizes else 0))


def counting(f):
    """Kernels of the angles that are counted over full turns: their values, continued from those in p, and their rates.

    A joint whose velocities are no rates of its coordinates has its angles differentiated along the motion.
    """
    angle = lambda j, k: f.placed(f.substitution.coordinates(j)[k])
    rate = lambda j, k: f.rate_of(angle(j, k)) if j.quasi else f.placed(f.substitution.rates(j)[k])
    found = [ca.vertcat(*[what(j, k) for j, k in f.turns], ca.SX(0, 1)) for what in (angle, rate)]
    return {
        "turns": ca.Function("turns", [time, f.q, f.p], [ca.densify(found[0])]),
        "spin": ca.Function("spin", [time, f.q, f.v, f.p], [ca.densify(found[1])]),
    }


def _along(f):
    """Kernel (t, q, p, e): the part of an error in positions that a projection leaves, where some of the rows in use are at
    velocity level and restore no position; none where `tangent` serves."""
    held = f.held()
    if len(held) == len(f.keep):
        return {}
    e, rows = ca.SX.sym("e", f.v.shape[0]), [f.keep[k] for k in held]
    left = e + f.least_change(rows)(f.jacobian()[rows, :] @ e) if held else e
    return {"along": ca.Function("along", [time, f.q, f.p, e], [ca.densify(left)])}


def retractions(f, map):
    """The manifold's own kernels: a step along a group direction, plain and tidied, and the correction dexp⁻¹."""
    q, u = ca.SX.sym("q", f.manifold.size), ca.SX.sym("u", f.manifold.dimension)
    w = ca.SX.sym("w", f.manifold.dimension)
    moved, end = f.manifold.retract(q, u, map), ca.SX.sym("end", f.manifold.size)
    return {
        "retract": ca.Function("retract", [q, u], [moved]),
        "advance": ca.Function("advance", [q, u], [f.manifold.tidy(moved)]),
        "differential": ca.Function("differential", [u, w], [f.manifold.dexp_inverse(u, w, map)]),
        "local": ca.Function("local", [q, end], [f.manifold.local(q, end, map)]),
    }


def moving(f):
    """A tidied step along a group direction, as assembly takes it."""
    q, u = ca.SX.sym("q", f.manifold.size), ca.SX.sym("u", f.manifold.dimension)
    return ca.Function("move", [q, u], [f.manifold.tidy(f.manifold.retract(q, u))])


def meeting(f):
    """What impulses at all rows of contacts and friction do, as a function (t, q, v, p): A = G B, the velocities B that
    impulses of 1 bring about while everything else holds, and ψ of these rows."""
    met = [k for k, row in enumerate(f.rows) if row.constraint.rank > 0]
    held = [k for k in f.keep if f.rows[k].constraint.rank == 0]
    G, H, over_mass = f.jacobian()[met, :], f.jacobian()[held, :], inverse(f.mass_matrix())
    back = f.least_change(held) if held else None
    free = [over_mass(G[row, :].T) for row in range(len(met))]
    B = ca.horzcat(*[x + back(H @ x) if back else x for x in free])
    psi = f.stacked("psi")[met, :]
    results = [ca.densify(ca.vec(x)) for x in (G @ B, B, psi)]
    return shared(ca.Function("meeting", [time, f.q, f.v, f.p], results))


def shared(f):
    """The same function with common subexpressions computed once."""
    return ca.Function(f.name(), f.sx_in(), ca.cse(f.call(f.sx_in())))


def named(name, inputs, *results):
    """A function that tells the names of its inputs, with common subexpressions computed once."""
    outputs = [f"{name}{k}" for k in range(len(results))]
    return ca.Function(name, list(inputs.values()), ca.cse([ca.densify(x) for x in results]), list(inputs), outputs)
