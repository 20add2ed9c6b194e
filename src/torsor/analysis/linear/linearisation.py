"""Linearisation about an operating point, in independent coordinates.

A deviation of the state is an element u of the algebra, a change of velocities, and changes of the user's states z. With the
equations solved for v̇ (`analysis/equations.py`), it follows the variational equations

    u̇ = δv − ad(v) u,        δv̇ = ∂v̇/∂q u + ∂v̇/∂v δv + ∂v̇/∂z δz,        δż = …                          (1)

Accelerations are differentiated as the solution of equations that are defined off the constraints, too:

    ∂R/∂w δw = −∂R/∂x δx,       R(x, w) = 0 the equations, w = (v̇, λ, y)                                (2)

One of the terms is ∂(Gᵀ λ)/∂q, the curvature of the constraints under load. Deviations that satisfy the constraints continue to
satisfy them. They follow from the independent ones, x̃ = T ξ, by the derivatives of g and ψ:

    G u + g_z δz = 0,      ψ_q u + G δv + ψ_z δz = 0                                                   (3)

P selects the independent rows of (1). The linear model is

    ξ̇ = A ξ + B δp,     A = P (1) T                                                                   (4)

Rotations are expressed in axes fixed in space, not in those of the rotating body: u' = S u (`Group.axes`). A bicycle that runs
straight ahead then has a constant A. Dependent coordinates are chosen by `formulations/algebra/partition.py`. Other
derivations of the same linear model: [negrut2006] for loops and in [peterson2015] with nonholonomic constraints.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...elements.quantity import show
from ...errors import OptionError
from ...formulations.algebra.partition import choose_dependent
from ...start.dependent_coordinates import validate_dependent


class Linear(NamedTuple):
    """A linear model in numbers.

    A, B, C, D     ξ̇ = A ξ + B u,  η = C ξ + D u
    tangent        T: deviations of all coordinates, all velocities and the user's states from those of ξ
    masses         M of all coordinates, in axes fixed in space
    coordinates, velocities   indices of the independent ones
    rates          ξ̇ at the operating point: 0 at an equilibrium
    values         outputs at the operating point
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    tangent: np.ndarray
    masses: np.ndarray
    coordinates: list
    velocities: list
    rates: np.ndarray
    values: np.ndarray


def linearise_at(mechanism, point, inputs=(), column=None, independent=None):
    """Linearise a mechanism at an operating point.

    inputs        indices in p of the inputs
    column        expressions of the outputs, or None
    independent   names of the independent coordinates; None: they are chosen by the constraints
    """
    e, at, rows = mechanism.equations, (point.t, point.q, point.v, point.p), mechanism.rows(point)
    w = mechanism.solve_accelerations(point, rows.keep)
    n, k = e.sizes["v"], e.sizes["states"]
    S, Sdot, ad = np.split(e.numeric_function("axes")(point.q, point.v), 3, axis=1)
    deviations = _deviations(e, S, inputs)
    slopes = e.slopes(*at, w, deviations)
    mechanism.require_finite(point, "slopes of forces or constraints", *slopes.values())
    J = mechanism.matrix(point, rows.keep, w)
    masses = S @ e.slopes(*at, w, {"a": S.T})["balance"]
    tangent, coordinates, velocities = _tangent(mechanism, rows, slopes, np.linalg.inv(masses), independent)
    mechanism.refuse_constraint_inputs(rows, slopes, inputs, 2 * n + k)
    # permitted deviations, then inputs
    d, count = tangent.shape[1], len(inputs)
    basis = np.zeros((2 * n + k + count, d + count))
    basis[: 2 * n + k, :d], basis[2 * n + k :, d:] = tangent, np.eye(count)
    residuals = mechanism.scaled_equations(point, rows.keep, slopes) @ basis
    moves = mechanism.directions(point, rows.keep)
    induced = {name: moves[name] @ np.linalg.solve(J, -residuals) for name in moves}  # (2)
    total = {name: change @ basis for name, change in deviations.items()} | induced
    states = e.slopes(*at, w, total, ("states",))["states"]
    u, dv = (x @ basis for x in np.split(np.eye(2 * n, 2 * n + k + count), 2))
    first = dv + (Sdot @ S.T - S @ ad @ S.T) @ u  # (1), in axes fixed in space
    second = S @ induced["a"] + Sdot @ S.T @ dv
    whole = np.vstack([first[coordinates], second[velocities], states])
    C = np.zeros((0, d + count)) if column is None else e.outputs(column, *at, w, total)
    mechanism.require_finite(point, "slopes of rates or outputs", states, C)
    rates = np.concatenate([(S @ point.v)[coordinates], (S @ w.a)[velocities], e.residuals(*at, w)["states"][:, 0]])
    values = np.zeros(0) if column is None else e.outputs(column, *at, w)
    matrices = (whole[:, :d], whole[:, d:], C[:, :d], C[:, d:])
    return Linear(*matrices, tangent, masses, coordinates, velocities, rates, values)


def _deviations(e, S, inputs):
    """Unit deviations of all coordinates and velocities in axes fixed in space, of the user's states, and of the inputs."""
    n, k = e.sizes["v"], e.sizes["states"]
    q, v, p = (np.zeros((e.sizes[x], 2 * n + k + len(inputs))) for x in ("v", "v", "p"))
    q[:, :n], v[:, n : 2 * n] = S.T, S.T
    for column, index in enumerate([*e.states, *inputs], 2 * n):
        p[index, column] = 1.0
    return {"q": q, "v": v, "p": p}


def _tangent(mechanism, rows, slopes, inverse_mass, independent):
    """T of (3), and the indices of the independent coordinates and velocities."""
    e = mechanism.equations
    n, k = e.sizes["v"], e.sizes["states"]
    g, psi = slopes["g"][rows.position_rows], slopes["psi"][rows.keep]

    def choose(G):
        return choose_dependent(G, (inverse_mass + inverse_mass.T) / 2) if len(G) else []

    by_position = choose(g[:, :n]) if independent is None else _dependent_coordinates(mechanism, independent, g[:, :n])
    by_velocity = by_position if rows.position_rows == rows.keep else choose(psi[:, n : 2 * n])
    I, J = ([j for j in range(n) if j not in set(D)] for D in (by_position, by_velocity))
    d = len(I) + len(J) + k
    T = np.zeros((2 * n + k, d))
    T[I, : len(I)] = np.eye(len(I))
    T[[n + j for j in J], len(I) : len(I) + len(J)] = np.eye(len(J))
    T[2 * n :, len(I) + len(J) :] = np.eye(k)
    D, E = by_position, [n + j for j in by_velocity]
    if D:
        T[D] = np.linalg.solve(g[:, D], -(g[:, : 2 * n + k] @ T))  # (3)
    if E:
        T[E] = np.linalg.solve(psi[:, E], -(psi[:, : 2 * n + k] @ T))
    return T, I, J


def _dependent_coordinates(mechanism, independent, G):
    """Indices of the dependent coordinates for given names of the independent ones."""
    names, independent = mechanism.names, [independent] if isinstance(independent, str) else independent
    if not isinstance(independent, Sequence):
        raise OptionError(f"coordinates must be names, got {show(independent)}")
    for name in independent:
        if name not in names:
            raise OptionError(f"coordinates: unknown coordinate {name!r}. Known: {', '.join(names)}.")
    if len(set(independent)) != len(names) - len(G):
        raise OptionError(
            f"coordinates: {len(names) - len(G)} independent coordinates are needed, got {len(set(independent))}"
        )
    return validate_dependent([name for name in names if name not in independent], names, len(G), G, "coordinates")
