"""Motions near a motion: the equations of a mechanism, linear in small deviations, in as many coordinates as it has freedoms.

A deviation of the state is an element u of the algebra, a change of velocities, and changes of the user's states z. With the
equations solved for v̇ (`equations.py`), it follows the variational equations

    u̇ = δv − ad(v) u,        δv̇ = ∂v̇/∂q u + ∂v̇/∂v δv + ∂v̇/∂z δz,        δż = …                          (1)

Accelerations are differentiated as what they are, the solution of equations that hold also beside the constraints:

    ∂R/∂w δw = −∂R/∂x δx,       R(x, w) = 0 the equations, w = (v̇, λ, y)                                (2)

in which ∂(Gᵀ λ)/∂q, the curvature of the constraints under load, is one of the terms. Deviations that the constraints permit
stay so. They follow from the independent ones, x̃ = T ξ, by the derivatives of g and ψ:

    G u + g_z δz = 0,      ψ_q u + G δv + ψ_z δz = 0                                                   (3)

so that P, which picks the independent ones from (1), makes the linear model

    ξ̇ = A ξ + B δp,     A = P (1) T                                                                   (4)

Rotations are taken in axes that stay, not in those of the turning body: u' = S u (`Group.axes`). The wheel of a bicycle that runs
straight ahead then has a constant A. Dependent coordinates are chosen by `formulations/partition.py`. The same linear model, by
other ways, in [negrut2006] for loops and in [peterson2015] with nonholonomic constraints.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..describe.quantity import show
from ..errors import OptionError
from ..formulations.partition import best
from ..start.dependent import forced


class Linear(NamedTuple):
    """A linear model in numbers.

    A, B, C, D     ξ̇ = A ξ + B u,  η = C ξ + D u
    tangent        T: deviations of all coordinates, all velocities and the user's states from those of ξ
    masses         M of all coordinates, in axes that stay
    coordinates, velocities   places of the independent ones
    rates          ẋ of the independent ones at the place itself: 0 at an equilibrium
    values         of the outputs there
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


def linearised(mechanism, place, inputs=(), column=None, wanted=None):
    """The linear model at a place.

    inputs   places in p of what is varied;  column: signals of the outputs
    wanted   names of the independent coordinates; None: they are chosen
    """
    e, at, rows = mechanism.equations, (place.t, place.q, place.v, place.p), mechanism.rows(place)
    w = mechanism.solved(place, rows.keep)
    n, k = e.sizes["v"], e.sizes["states"]
    S, Sdot, ad = np.split(e.evaluated("axes")(place.q, place.v), 3, axis=1)
    ways = _deviations(e, S, inputs)
    slopes = e.slopes(*at, w, ways)
    mechanism.refuse_no_numbers(place, "slopes of forces or constraints", *slopes.values())
    J = mechanism.matrix(place, rows.keep, w)
    masses = S @ e.slopes(*at, w, {"a": S.T})["balance"]
    tangent, coordinates, velocities = _tangent(mechanism, rows, slopes, np.linalg.inv(masses), wanted)
    mechanism.refuse_in_constraints(rows, slopes, inputs, 2 * n + k)
    # deviations that are permitted, then inputs
    d, count = tangent.shape[1], len(inputs)
    basis = np.zeros((2 * n + k + count, d + count))
    basis[: 2 * n + k, :d], basis[2 * n + k :, d:] = tangent, np.eye(count)
    off = mechanism.weighed(place, rows.keep, slopes) @ basis
    moves = mechanism.directions(place, rows.keep)
    follow = {name: moves[name] @ np.linalg.solve(J, -off) for name in moves}  # (2)
    total = {name: way @ basis for name, way in ways.items()} | follow
    states = e.slopes(*at, w, total, ("states",))["states"]
    u, dv = (x @ basis for x in np.split(np.eye(2 * n, 2 * n + k + count), 2))
    first = dv + (Sdot @ S.T - S @ ad @ S.T) @ u  # (1), in axes that stay
    second = S @ follow["a"] + Sdot @ S.T @ dv
    whole = np.vstack([first[coordinates], second[velocities], states])
    C = np.zeros((0, d + count)) if column is None else e.outputs(column, *at, w, total)
    mechanism.refuse_no_numbers(place, "slopes of rates or outputs", states, C)
    rates = np.concatenate([(S @ place.v)[coordinates], (S @ w.a)[velocities], e.residuals(*at, w)["states"][:, 0]])
    values = np.zeros(0) if column is None else e.outputs(column, *at, w)
    matrices = (whole[:, :d], whole[:, d:], C[:, :d], C[:, d:])
    return Linear(*matrices, tangent, masses, coordinates, velocities, rates, values)


def _deviations(e, S, inputs):
    """Unit deviations of all coordinates and velocities in axes that stay, of the user's states, and of inputs."""
    n, k = e.sizes["v"], e.sizes["states"]
    q, v, p = (np.zeros((e.sizes[x], 2 * n + k + len(inputs))) for x in ("v", "v", "p"))
    q[:, :n], v[:, n : 2 * n] = S.T, S.T
    for column, place in enumerate([*e.states, *inputs], 2 * n):
        p[place, column] = 1.0
    return {"q": q, "v": v, "p": p}


def _tangent(mechanism, rows, slopes, over_mass, wanted):
    """T of (3), and places of the independent coordinates and velocities."""
    e = mechanism.equations
    n, k = e.sizes["v"], e.sizes["states"]
    g, psi = slopes["g"][rows.held], slopes["psi"][rows.keep]
    choose = lambda G: best(G, (over_mass + over_mass.T) / 2) if len(G) else []
    by_position = choose(g[:, :n]) if wanted is None else _others(mechanism, wanted, g[:, :n])
    by_velocity = by_position if rows.held == rows.keep else choose(psi[:, n : 2 * n])
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


def _others(mechanism, wanted, G):
    """Dependent coordinates where the independent ones are given by name."""
    names, wanted = mechanism.names, [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(wanted, Sequence):
        raise OptionError(f"coordinates must be names, got {show(wanted)}")
    for name in wanted:
        if name not in names:
            raise OptionError(f"coordinates: unknown coordinate {name!r}. Known: {', '.join(names)}.")
    if len(set(wanted)) != len(names) - len(G):
        raise OptionError(
            f"coordinates: {len(names) - len(G)} independent coordinates are needed, got {len(set(wanted))}"
        )
    return forced([name for name in names if name not in wanted], names, len(G), G, "coordinates")
