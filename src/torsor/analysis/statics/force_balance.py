"""The balance of forces at a configuration at rest, and its derivative with respect to the configuration.

N are the virtual displacements that all rows in use permit, G N = 0. A configuration is in equilibrium if

    r = Nᵀ h(q) = 0,       ż = 0                                                                        (1)

Steps are along these displacements as well. Their stiffness includes the curvature of the constraints:

    Nᵀ K δq = −r,          K = ∂(h − Gᵀ λ)/∂q at fixed λ                                                (2)

Multipliers, and efforts y that depend on them, are those of least residual. All quantities are scaled, see
`analysis/mechanism.py`.

Light and heavy parts of a mechanism must be balanced equally well. Therefore accelerations, not forces or stiffnesses, decide what
is small. With displacements of unit mass, Nᵀ M N = 1,

    a = N r,          K̂ = Nᵀ K N                                                                        (3)

where a spring has K̂ = ω², independent of the mass that it carries. The least residual is that of accelerations, too.

Far from an equilibrium K̂ depends on the choice of coordinates. The second covariant derivative of the energy in the metric of the
masses does not; it is taken along motions without forces, M v̇ + c(q, v) = 0:

    K̃ = K̂ − Nᵀ (½ ∂²(a·c)/∂v²) N                                                                       (4)

The damped search uses it instead of K̂: with curved coordinates K̂ shows instabilities that do not exist.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..equations import FORCE_RESIDUALS, Unknown
from ..linear.equal_eigenvalues import readable_basis
from .equilibrium_tolerances import (
    ACCELERATION_NOISE,
    FIRM_RESISTANCE_ABOVE,
    MASS_MIN,
    RESISTANCE_ABOVE,
    STIFFNESS_NEGATIVE,
)

EFFORT_ITERATIONS = 12  # Newton steps for efforts that depend on reactions


@dataclass(frozen=True)
class Balance:
    """Balance of forces at an operating point.

    point        operating point with the velocities that moving grounds and drives impose; all others are zero
    rows         constraint rows in use
    unknown      multipliers and efforts; accelerations are zero
    unbalanced   residual of the balance of forces, of the efforts, and −ż
    applied      the same without multipliers and efforts: the forces to be balanced
    reactions    the linear map from forces to multipliers and efforts
    """

    mechanism: Any
    point: Any
    rows: Any
    unknown: Unknown
    unbalanced: np.ndarray
    applied: np.ndarray
    reactions: Any = None

    @property
    def size(self):
        """The largest force that is to be balanced."""
        return float(np.abs(self.applied).max(initial=0.0))

    @cached_property
    def multiplier_terms(self):
        """Size of the terms that sum to each multiplier, for comparison with rounding errors: (6)."""
        reactions, keep, result = self.reactions, self.rows.keep, np.zeros_like(self.unknown.lam)
        scaled = np.abs(reactions.scale_by_mass(self.applied[: reactions.from_forces.shape[1]]))
        scaled = np.maximum(scaled, ACCELERATION_NOISE * scaled.max(initial=0.0))
        units = self.mechanism.energy / self.mechanism.row_units(self.point, keep)
        result[keep] = units * (np.abs(reactions.from_scaled_forces) @ scaled)[: len(keep)]
        return result

    @property
    def residual(self):
        """The largest unbalanced component."""
        return float(np.abs(self.unbalanced).max(initial=0.0))

    @cached_property
    def free_displacements(self):
        """Displacements of unit mass that all rows permit, then unit changes of the user's states, one column each."""
        m, e, M, keep = self.mechanism, self.mechanism.equations, self.reactions.masses, self.rows.keep
        A = m.examiner(self.point).matrix(self.point.t, self.point.q, self.point.p, keep)
        N = np.linalg.qr(A.T, mode="complete")[0][:, len(keep) :] if keep else np.eye(len(M))
        return _append_identity(np.linalg.solve(_cholesky_factor(N.T @ M @ N), N.T).T, e.sizes["states"])

    @cached_property
    def _changes(self):
        """Derivatives of all forces with respect to all coordinates and the user's states."""
        e = self.mechanism.equations
        n, k = e.sizes["v"], e.sizes["states"]
        q, p = np.zeros((n, n + k)), np.zeros((e.sizes["p"], n + k))
        q[:, :n], p[e.states, n:] = np.diag(self.mechanism.columns), np.eye(k)
        return self._force_changes({"q": q, "p": p})

    @cached_property
    def stiffness(self):
        """K̂ of (3): derivatives of the reduced residual along `free_displacements`."""
        return self.reactions.residual_map @ self._changes @ self.free_displacements

    @cached_property
    def covariant_stiffness(self):
        """K̃ of (4)."""
        m, e, point, result = self.mechanism, self.mechanism.equations, self.point, np.array(self.stiffness)
        displacements, columns, n = self.reactions.displacements, m.columns[:, None], e.sizes["v"]
        count = displacements.shape[1]
        a = m.columns * (displacements @ self.reduced_residual[:count])
        bending = e.bending(point.t, point.q, point.v, point.p, a, columns * self.free_displacements[:n, :count])
        result[:count, :count] -= displacements.T @ (columns * bending) / m.energy
        return result

    @cached_property
    def inertia(self):
        """Derivatives of the reduced residual with respect to accelerations along `free_displacements`; 1 for the user's states."""
        n = self.mechanism.equations.sizes["v"]
        result = self.reactions.residual_map @ self._force_changes(
            {"a": self.mechanism.columns[:, None] * self.free_displacements[:n]}
        )
        states = self.free_displacements[n:]
        result[len(result) - len(states) :] += states
        return result

    def _force_changes(self, directions):
        """Derivatives of forces, efforts and −ż along directions, one column each."""
        point = self.point
        slopes = self.mechanism.equations.slopes(
            point.t, point.q, point.v, point.p, self.unknown, directions, FORCE_RESIDUALS
        )
        return stack_residuals(self.mechanism, slopes)

    @property
    def reduced_residual(self):
        """r of (1), and −ż."""
        return self.reactions.residual_map @ self.unbalanced

    @cached_property
    def _decomposition(self):
        """Singular value decomposition U, s, Vᵀ of K̂, the number of directions with resistance, and the size of the terms of K̂."""
        self.mechanism.require_finite(self.point, "forces, or their slopes,", self.stiffness)
        U, s, Vt = np.linalg.svd(self.stiffness)
        terms = np.abs(self.reactions.residual_map) @ np.abs(self._changes) @ np.abs(self.free_displacements)
        scale = max(terms.max(initial=0.0), self.mechanism.system.scales["rate"] ** 2)
        return U, s, Vt, int((s > RESISTANCE_ABOVE * scale).sum()), scale

    @property
    def stiffness_scale(self):
        """The largest terms of K̂, at least those of a pendulum of the size of the model [1/s²]."""
        return self._decomposition[4]

    def accelerations(self, unresisted=False):
        """a of (3) and −ż; unresisted: only their parts in directions without resistance."""
        residual = self.reduced_residual
        if unresisted:
            U, _, _, r, _ = self._decomposition
            residual = residual - U[:, :r] @ (U[:, :r].T @ residual)
        return _append_identity(self.reactions.displacements, self.mechanism.equations.sizes["states"]) @ residual

    @cached_property
    def max_acceleration(self):
        """The largest acceleration."""
        return float(np.abs(self.accelerations()).max(initial=0.0))

    def step(self, damping=0.0, firm_only=False):
        """Newton step of least norm, or with damping a step of the damped search.

        firm_only   only in directions whose resistance cannot be an effect of the remaining unbalanced forces
        """
        if damping:
            result = np.linalg.lstsq(
                self.covariant_stiffness + damping * self.inertia, -self.reduced_residual, rcond=1e-13
            )[0]
        else:
            U, s, Vt, r, scale = self._decomposition
            r = int((s > FIRM_RESISTANCE_ABOVE * scale).sum()) if firm_only else r
            result = Vt[:r].T @ ((U[:, :r].T @ -self.reduced_residual) / s[:r])
        return self.coordinate_step(result)

    def damped_displacement(self, damping):
        """δ along `free_displacements` that reduces the residual: (K̂ᵀ K̂ + μ²) δ = −K̂ᵀ r, in directions with resistance."""
        U, s, Vt, r, _ = self._decomposition
        return Vt[:r].T @ (s[:r] / (s[:r] ** 2 + damping**2) * (U[:, :r].T @ -self.reduced_residual))

    def random_step(self, random):
        """A step in a random direction."""
        return self.coordinate_step(random.standard_normal(self.free_displacements.shape[1]))

    def coordinate_step(self, step):
        """δq and the changes of the user's states for a step along `free_displacements`."""
        n, whole = self.mechanism.equations.sizes["v"], self.free_displacements @ step
        return self.mechanism.columns * whole[:n], whole[n:]

    @cached_property
    def lowest_stiffness(self):
        """The lowest ratio of stiffness to inertia if it is negative (unstable), else 0."""
        K, M = self.covariant_stiffness, self.inertia
        if not K.size:
            return 0.0
        result = np.linalg.eigvals(np.linalg.lstsq(M, K, rcond=1e-13)[0])
        low = float(result.real.min())
        return low if low < -STIFFNESS_NEGATIVE * np.abs(result).max() else 0.0

    def neutral(self):
        """Directions without resistance, one column each: scaled coordinates and the user's states."""
        _, _, Vt, r, _ = self._decomposition
        result = self.free_displacements @ Vt[r:].T
        return result if self.mechanism.equations.sizes["states"] else readable_basis(result)


def _cholesky_factor(M):
    """L of M = L Lᵀ, with a small mass added so that M is positive definite."""
    return np.linalg.cholesky((M + M.T) / 2 + MASS_MIN * np.diag(M).max(initial=0.0) * np.eye(len(M)))


def _append_identity(A, count):
    """The block diagonal matrix of A and a unit matrix of size `count`, for the user's states."""
    n, m = A.shape
    whole = np.zeros((n + count, m + count))
    whole[:n, :m], whole[n:, m:] = A, np.eye(count)
    return whole


def stack_residuals(mechanism, residuals):
    """Residuals of forces, efforts and −ż in one column, scaled by (1) of `mechanism.py`."""
    forces = residuals["balance"] * mechanism.columns[:, None] / mechanism.energy
    return np.vstack([forces, residuals["efforts"], -residuals["states"]])


class ReactionMap:
    """The linear map from forces to multipliers λ of the rows in use and efforts y.

    b is the balance of forces, e the residual of the efforts:

        b' = b − b_y e_y⁻¹ e,      λ: least b'ᵀ M⁻¹ b' of b' + b'_λ λ,      y = −e_y⁻¹ (e + e_λ λ)            (5)

    With M = L Lᵀ, multipliers are bounded by

        |λ| ≤ |λ_b L| |L⁻¹ b|                                                                               (6)

    from_forces          (b, e) → multipliers and efforts that balance it, with opposite sign
    from_scaled_forces   the same from mass-scaled forces L⁻¹ b
    displacements        N of (3), one column each: virtual displacements in which no multiplier does work
    residual_map         (b, e, −ż) → the reduced residual: Nᵀ b', and −ż with the effect of λ and y
    masses               M, scaled
    """

    def __init__(self, mechanism, point, keep, unknown):
        n, m, k = mechanism.equations.sizes["v"], len(keep), mechanism.equations.sizes["efforts"]
        directions = mechanism.directions(point, keep)
        at = (point.t, point.q, point.v, point.p)
        L = stack_residuals(mechanism, mechanism.equations.slopes(*at, unknown, directions, FORCE_RESIDUALS))
        self.masses, L = L[:n, :n], L[:, n:]
        b, e, states = L[:n], L[n : n + k], L[n + k :]
        efforts_from_forces = np.linalg.solve(e[:, m:], np.hstack([np.zeros((k, n)), np.eye(k)]))  # e_y⁻¹ e
        forces_without_efforts = np.eye(n, n + k) - b[:, m:] @ efforts_from_forces  # b'
        self._cholesky_factor = factor = _cholesky_factor(self.masses)
        U, s, Vt = np.linalg.svd(np.linalg.solve(factor, forces_without_efforts @ L[: n + k, :m]))
        r = int((s > 1e-12 * s.max(initial=0.0)).sum())
        lam = Vt[:r].T @ (U[:, :r].T @ np.linalg.solve(factor, forces_without_efforts) / s[:r, None])
        follow = np.linalg.solve(e[:, m:], e[:, :m] @ lam)
        self.from_forces = np.vstack([lam, efforts_from_forces - follow])  # (5)
        self.from_scaled_forces = np.hstack([self.from_forces[:, :n] @ factor, self.from_forces[:, n:]])
        self.displacements = np.linalg.solve(factor.T, U[:, r:])
        z = len(states)
        self.residual_map = np.block(
            [
                [self.displacements.T @ forces_without_efforts, np.zeros((n - r, z))],
                [-states @ self.from_forces, np.eye(z)],
            ]
        )

    def scale_by_mass(self, forces):
        """L⁻¹ b for the forces b in the first rows; further rows are unchanged."""
        n = len(self._cholesky_factor)
        return np.concatenate([np.linalg.solve(self._cholesky_factor, forces[:n]), forces[n:]])


def balance_forces(mechanism, point, rows=None):
    """The balance at an operating point, with multipliers and efforts of least residual."""
    e = mechanism.equations
    rows = mechanism.rows(point) if rows is None else rows
    point = point.with_changes(v=mechanism.imposed_velocities(point, rows.keep))
    at, unknown = (point.t, point.q, point.v, point.p), mechanism.zero_unknowns()
    first = unbalanced = stack_residuals(mechanism, e.residuals(*at, unknown))[:, 0]
    reactions = ReactionMap(mechanism, point, rows.keep, unknown)
    for _ in range(EFFORT_ITERATIONS if rows.keep or e.sizes["efforts"] else 0):
        step = -reactions.from_forces @ unbalanced[: reactions.from_forces.shape[1]]
        unknown = mechanism.add_step(point, rows.keep, unknown, np.concatenate([np.zeros(e.sizes["v"]), step]))
        before, unbalanced = unbalanced, stack_residuals(mechanism, e.residuals(*at, unknown))[:, 0]
        if not e.sizes["efforts"]:  # the equations are linear in the multipliers
            break
        reactions = ReactionMap(mechanism, point, rows.keep, unknown)
        if np.abs(unbalanced - before).max() <= 1e-15 * np.abs(first).max():
            break
    return Balance(mechanism, point, rows, unknown, unbalanced, first, reactions)
