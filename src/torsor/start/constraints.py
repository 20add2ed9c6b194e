"""Numeric access to the constraints of a formulation: residuals, Jacobian, assembly by Newton's method.

Residuals, rows and velocities are made dimensionless as defined in `formulations/algebra/scales.py`:

    ĝ = g / unit,     Ĝ = G C / unit,     v = C v̂                                                     (1)
"""

from copy import copy

import numpy as np

from ..errors import AssemblyError
from ..formulations.algebra.scales import Scales
from .start_tolerances import DAMPING

ASSEMBLY_RESIDUAL = 1e-13  # residual ĝ of an assembled start
REDUNDANT_RESIDUAL = 1e-7  # residual ĝ that redundant constraints may keep at an assembled start
WELL_CONDITIONED_SINE = (
    0.1  # sine of the angle between a row and the rows before it, above which rows count as well conditioned
)


class Examiner:
    """Evaluates the active constraint rows with NumPy, before a run and where the set of active constraints changes.

    places   indices of the active rows among all declared rows; methods evaluate other rows if their indices are given
    rows     the active rows
    scales   scales of the model; a number is taken as its length L
    columns  C of (1), one number per velocity
    plain    units of the velocities: L for velocities along an axis, 1 for angular velocities
    """

    def __init__(self, formulation, scales):
        scales = scales if isinstance(scales, Scales) else Scales(float(scales))
        self.name = formulation.model.name
        self.places = formulation.active_rows()
        self.rows = [formulation.rows[k] for k in self.places]
        self.scales = scales
        self.length = scales.length
        self._functions = formulation.start_functions
        self.holonomic = np.array([row.holonomic for row in self.rows], bool)
        self.columns = scales.columns(formulation)  # C
        self.plain = scales.plain(formulation)
        self._labels = [row.label for row in formulation.rows]
        self._cached_units = (None, np.ones(0))  # the `scales.rows` that were used, and the units of the active rows

    def without_constraints(self, constraints):
        """A copy that leaves out the rows of these constraints."""
        result = copy(self)
        names = {c.name for c in constraints}
        kept = [k for k, row in enumerate(self.rows) if row.constraint.name not in names]
        result.places = [self.places[k] for k in kept]
        result.rows = [self.rows[k] for k in kept]
        result.holonomic = self.holonomic[kept]
        result._cached_units = (None, np.ones(0))
        return result

    def g(self, t, q, p, indices=None):
        """Position-level residuals."""
        return self._functions["g"](t, q, p).ravel()[self.places if indices is None else indices]

    def psi(self, t, q, v, p, indices=None):
        """Velocity-level residuals."""
        return self._functions["psi"](t, q, v, p).ravel()[self.places if indices is None else indices]

    def gamma(self, t, q, v, p, indices=None):
        """Right-hand side of G v̇ = γ."""
        return self._functions["gamma"](t, q, v, p).ravel()[self.places if indices is None else indices]

    def G(self, t, q, p, indices=None):
        """Constraint Jacobian."""
        return self._functions["G"](t, q, p)[self.places if indices is None else indices]

    def Minv(self, q, p):
        """Inverse of the mass matrix."""
        inverse = self._functions.get("Minv")
        return np.linalg.inv(self._functions["M"](q, p)) if inverse is None else inverse(q, p)

    def move(self, q, u):
        """Retraction: the configuration q after the displacement u."""
        return self._functions["move"](q, u).ravel()

    # dimensionless quantities

    def units(self, t, q, p, indices=None):
        """Units of the residuals of rows: from `scales`, or the lengths of the rows themselves if it has none."""
        if not self.scales.rows:
            lengths = np.linalg.norm(self.G(t, q, p, indices) * self.plain, axis=1)
            return np.where(lengths > 0, lengths, 1.0)
        if indices is not None and indices is not self.places:
            return self._units_by_label(indices)
        if self._cached_units[0] is not self.scales.rows:
            self._cached_units = self.scales.rows, self._units_by_label(self.places)
        return self._cached_units[1]

    def _units_by_label(self, indices):
        return np.array([self.scales.rows.get(self._labels[k], 1.0) for k in indices], float)

    def row_units(self, t, q, p):
        """Units of all declared rows, by label, computed from G at a configuration."""
        lengths = np.linalg.norm(self._functions["G"](t, q, p) * self.plain, axis=1)
        return {label: float(x) for label, x in zip(self._labels, lengths) if x > 0}

    def matrix(self, t, q, p, indices=None):
        """Dimensionless constraint Jacobian Ĝ: (1)."""
        return self.G(t, q, p, indices) * self.columns / self.units(t, q, p, indices)[:, None]

    def rate(self, v):
        """Largest velocity [1/s]: linear velocities divided by the size of the model, angular velocities as they are."""
        return np.abs(v / self.plain).max(initial=0.0)

    def speed(self, v):
        """Rate to which residuals of velocities are compared [1/s]."""
        return max(self.rate(v), self.scales.rate)

    def onto(self, t, q, v, p, indices):
        """The velocities nearest to v that satisfy the rows with these indices."""
        residual = self.psi(t, q, v, p, indices) / self.units(t, q, p, indices)
        return v - self.columns * minimum_norm_solution(self.matrix(t, q, p, indices), residual)

    # assembly

    def assemble(self, t, q, p, indices=None, extra=None, limit=ASSEMBLY_RESIDUAL):
        """Solve ĝ = 0 by Newton's method, each step the least change v̂.

        Returns q and the distance it moved, as in `rate`; None instead of q if the method fails. Redundant rows may keep a small
        residual.

        extra   two functions of q: residuals of further equations, and their derivatives with respect to v̂
        limit   residual at which the iteration stops
        """
        indices = self.places if indices is None else indices
        units = self.units(t, q, p, indices)

        def residuals(q):
            g = self.g(t, q, p, indices) / units
            return g if extra is None else np.concatenate([g, extra[0](q)])

        def jacobian(q):
            A = self.matrix(t, q, p, indices)
            return A if extra is None else np.vstack([A, extra[1](q)])

        moved = 0.0
        here = residuals(q)
        residual = np.abs(here).max(initial=0.0)
        for _ in range(60):
            if not np.isfinite(residual):
                return None, moved
            if residual <= limit:
                return q, moved
            step = self.columns * -_solve_damped(jacobian(q), here)
            scale = 1.0
            while scale > 1e-3:  # shorten steps that do not reduce the residual
                trial = self.move(q, scale * step)
                there = residuals(trial)
                new = np.abs(there).max()
                if new < residual * (1 - 0.2 * scale) or new <= ASSEMBLY_RESIDUAL:
                    break
                scale /= 2
            else:
                break
            q, here, residual = trial, there, new
            moved += self.rate(scale * step)
        return (q if residual <= REDUNDANT_RESIDUAL else None), moved

    def disagreement(self, t, q, p):
        """The largest residual ĝ at an assembled configuration and its row; zero and None if it is rounding only."""
        residuals = np.abs(self.g(t, q, p) / self.units(t, q, p))
        worst = int(np.argmax(residuals)) if len(residuals) else 0
        if len(residuals) and residuals[worst] > 100 * ASSEMBLY_RESIDUAL:
            return residuals[worst], self.rows[worst]
        return 0.0, None

    def assemble_or_refuse(self, t, q, p):
        """`assemble`, with an error that names the largest residuals if it fails."""
        result, moved = self.assemble(t, q, p)
        if result is not None:
            return result, moved
        g = self.g(t, q, p)
        residuals = np.abs(g / self.units(t, q, p))
        names = "; ".join(
            f"{self.rows[k]} ({g[k]:.3g}){self.rows[k].between}"
            for k in np.argsort(-residuals)[:5]
            if not residuals[k] <= 1e-9
        )
        raise AssemblyError(
            f"model {self.name!r}: the start cannot be assembled: no configuration near the given one satisfies all "
            f"constraints. Residuals at the given start: {names}. Check the points, axes and drives of these elements, or "
            "start closer to an assembled configuration."
        )

    def sample_nearby(self, t, q, p, random, distance, A=None):
        """An assembled configuration at about this distance in a random admissible direction; None if there is none.

        It is assembled to rounding: at a singular position a residual ε leaves an angle of √ε, and redundant rows would look
        independent there.

        A   Ĝ at q, if it is known
        """
        A = self.matrix(t, q, p) if A is None else A
        r = random.standard_normal(A.shape[1])
        if len(A):
            r -= _solve_damped(A, A @ r)
        r = r * self.columns
        size = self.rate(r)
        if size < 1e-9:
            return None
        result, _ = self.assemble(t, self.move(q, r * distance / size), p)
        return result


def limit_row_lengths(A, *columns):
    """Scale rows longer than 1 to length 1, with their right-hand sides; shorter rows keep their length."""
    lengths = np.maximum(np.linalg.norm(A, axis=1), 1.0)
    return (A / lengths[:, None], *((b.T / lengths).T for b in columns))


def _solve_damped(A, b):
    """The minimum-norm x with A x = b, damped where rows of A depend on each other."""
    A, b = limit_row_lengths(A, b)
    S = A @ A.T
    S.flat[:: len(S) + 1] += DAMPING * max(np.trace(S) / len(S), DAMPING)
    return A.T @ np.linalg.solve(S, b)


def minimum_norm_solution(A, b, threshold=1e-9):
    """The minimum-norm least-squares solution of A x = b, column by column if b has several columns."""
    A, b = limit_row_lengths(A, b)
    if (factors := _well_conditioned_qr(A, "reduced")) is not None:
        return factors[0] @ np.linalg.solve(factors[1].T, b)
    if (factors := _well_conditioned_qr(A.T, "reduced")) is not None:  # A = Q R: more equations than unknowns
        return np.linalg.solve(factors[1], factors[0].T @ b)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    r = int((s > threshold * max(1.0, s.max(initial=0.0))).sum())
    return Vt[:r].T @ ((U[:, :r].T @ b).T / s[:r]).T


def solve_with_null_space(A, b, threshold):
    """The minimum-norm least-squares solution of A x = b, and a basis of the null space of A."""
    if (factors := _well_conditioned_qr(A, "complete")) is not None:
        Q, R = factors
        return Q[:, : len(A)] @ np.linalg.solve(R[: len(A)].T, b), Q[:, len(A) :]
    U, s, Vt = np.linalg.svd(A, full_matrices=True)
    r = int((s > threshold).sum())
    return Vt[:r].T @ ((U[:, :r].T @ b) / s[:r]), Vt[r:].T


def _well_conditioned_qr(A, mode):
    """Q and R with Aᵀ = Q R if the rows of A are well conditioned; None if singular values have to decide about rank."""
    if not 0 < len(A) <= A.shape[1]:
        return None
    Q, R = np.linalg.qr(A.T, mode=mode)
    return (Q, R) if np.abs(np.diag(R)).min() > WELL_CONDITIONED_SINE else None
