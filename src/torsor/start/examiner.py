"""Numeric access to the constraints of a formulation: residuals, Jacobian, assembly by Newton's method.

Lengths and angles, and rows of any kind, are compared as `formulations/scales.py` says:

    ĝ = g / unit,     Ĝ = G C / unit,     v = C v̂                                                     (1)
"""

from copy import copy

import numpy as np

from ..errors import AssemblyError
from ..formulations.scales import Scales

ROUNDING = 1e-13  # (1) of an assembled start
CLOSED = 1e-7  # (1) by which constraints that depend on each other may disagree
WELL = 0.1  # sine of the angle between a row and the rows before it, from which on rows stand well to each other
NEGLIGIBLE = 1e-14  # damping of Newton's steps over the mean square of the rows


class Examiner:
    """Evaluates the rows that hold at present with NumPy; used before a run and where its structure changes.

    places   where these rows stand among all declared ones; residuals and G of others are had by naming their places
    scales   of the model, or its length alone
    """

    def __init__(self, formulation, scales):
        scales = scales if isinstance(scales, Scales) else Scales(float(scales))
        self.name = formulation.model.name
        self.places = formulation.active_rows()
        self.rows = [formulation.rows[k] for k in self.places]
        self.scales, self.length = scales, scales.length
        self._f = formulation.examined
        self.holonomic = np.array([row.holonomic for row in self.rows], bool)
        self.columns = scales.columns(formulation)  # C
        self.plain = scales.plain(formulation)
        self._labels = [row.label for row in formulation.rows]
        self._known = (None, np.ones(0))  # units of the rows that hold, and what they follow from

    def without(self, constraints):
        """One that leaves out the rows of these."""
        found, left = copy(self), {c.name for c in constraints}
        kept = [k for k, row in enumerate(self.rows) if row.constraint.name not in left]
        found.places, found.rows = [self.places[k] for k in kept], [self.rows[k] for k in kept]
        found.holonomic, found._known = self.holonomic[kept], (None, np.ones(0))
        return found

    def g(self, t, q, p, places=None):
        return self._f["g"](t, q, p).ravel()[self.places if places is None else places]

    def psi(self, t, q, v, p, places=None):
        return self._f["psi"](t, q, v, p).ravel()[self.places if places is None else places]

    def gamma(self, t, q, v, p, places=None):
        return self._f["gamma"](t, q, v, p).ravel()[self.places if places is None else places]

    def G(self, t, q, p, places=None):
        return self._f["G"](t, q, p)[self.places if places is None else places]

    def Minv(self, q, p):
        known = self._f.get("Minv")
        return np.linalg.inv(self._f["M"](q, p)) if known is None else known(q, p)

    def move(self, q, u):
        return self._f["move"](q, u).ravel()

    # without units

    def units(self, t, q, p, places=None):
        """What the residuals of rows are measured in: known ones, or the length of the row itself."""
        if not self.scales.rows:
            lengths = np.linalg.norm(self.G(t, q, p, places) * self.plain, axis=1)
            return np.where(lengths > 0, lengths, 1.0)
        of = lambda places: np.array([self.scales.rows.get(self._labels[k], 1.0) for k in places], float)
        if places is not None and places is not self.places:
            return of(places)
        if self._known[0] is not self.scales.rows:
            self._known = self.scales.rows, of(self.places)
        return self._known[1]

    def row_units(self, t, q, p):
        """Units of all declared rows, by label, from the rows at a configuration."""
        lengths = np.linalg.norm(self._f["G"](t, q, p) * self.plain, axis=1)
        return {label: float(x) for label, x in zip(self._labels, lengths) if x > 0}

    def matrix(self, t, q, p, places=None):
        """Ĝ: (1)."""
        return self.G(t, q, p, places) * self.columns / self.units(t, q, p, places)[:, None]

    def rate(self, v):
        """Size of velocities [1/s]: lengths per time over the size of the model, rates of turning as they are."""
        return np.abs(v / self.plain).max(initial=0.0)

    def speed(self, v):
        """A rate that residuals of velocities are measured against [1/s]."""
        return max(self.rate(v), self.scales.rate)

    def onto(self, t, q, v, p, places):
        """The nearest velocities that satisfy these rows."""
        off = self.psi(t, q, v, p, places) / self.units(t, q, p, places)
        return v - self.columns * least(self.matrix(t, q, p, places), off)

    # assembly

    def assemble(self, t, q, p, places=None, more=None, limit=ROUNDING):
        """Newton on ĝ = 0, each step the least change v̂. Returns q, and how far it moved over its size; None if it fails.

        Rows that depend on others may stay apart by as much as `CLOSED`. more: what else is to hold, as functions of q that give
        residuals, and derivatives of them by v̂. limit: residual that is small enough
        """
        places = self.places if places is None else places
        moved, units = 0.0, self.units(t, q, p, places)
        off = lambda q: self.g(t, q, p, places) / units
        rows = lambda q: self.matrix(t, q, p, places)
        if more is not None:
            (own, own_rows), (also, also_rows) = (off, rows), more
            off, rows = lambda q: np.concatenate([own(q), also(q)]), lambda q: np.vstack([own_rows(q), also_rows(q)])
        here = off(q)
        residual = np.abs(here).max(initial=0.0)
        for _ in range(60):
            if not np.isfinite(residual):
                return None, moved
            if residual <= limit:
                return q, moved
            step = self.columns * -_damped(rows(q), here)
            scale = 1.0
            while scale > 1e-3:  # shorten steps that do not help
                trial = self.move(q, scale * step)
                there = off(trial)
                new = np.abs(there).max()
                if new < residual * (1 - 0.2 * scale) or new <= ROUNDING:
                    break
                scale /= 2
            else:
                break
            q, here, residual = trial, there, new
            moved += self.rate(scale * step)
        return (q if residual <= CLOSED else None), moved

    def disagreement(self, t, q, p):
        """The largest residual ĝ at an assembled configuration, where it is more than rounding; and which row has it."""
        off = np.abs(self.g(t, q, p) / self.units(t, q, p))
        worst = int(np.argmax(off)) if len(off) else 0
        return (off[worst], self.rows[worst]) if len(off) and off[worst] > 100 * ROUNDING else (0.0, None)

    def assembled(self, t, q, p):
        """The assembled configuration, or an error that names the residuals that stay."""
        found, moved = self.assemble(t, q, p)
        if found is not None:
            return found, moved
        g = self.g(t, q, p)
        off = np.abs(g / self.units(t, q, p))
        names = "; ".join(
            f"{self.rows[k]} ({g[k]:.3g}){self.rows[k].between}" for k in np.argsort(-off)[:5] if not off[k] <= 1e-9
        )
        raise AssemblyError(
            f"model {self.name!r}: the start cannot be assembled: no configuration near the given one satisfies all "
            f"constraints. Residuals at the given start: {names}. Check the points, axes and drives of these elements, or "
            "start closer to an assembled configuration."
        )

    def wander(self, t, q, p, random, far, A=None):
        """A nearby assembled configuration in a random admissible direction, or None; A: Ĝ at q, where it is known.

        Assembled to rounding: where constraints touch, a residual ε leaves something turned by √ε, and rows that depend on each
        other no longer do.
        """
        A = self.matrix(t, q, p) if A is None else A
        r = random.standard_normal(A.shape[1])
        if len(A):
            r -= _damped(A, A @ r)
        r = r * self.columns
        size = self.rate(r)
        if size < 1e-9:
            return None
        found, _ = self.assemble(t, self.move(q, r * far / size), p)
        return found


def shortened(A, *columns):
    """Rows at most of length 1, and what stands beside them: a row that (nearly) vanishes is not stretched."""
    lengths = np.maximum(np.linalg.norm(A, axis=1), 1.0)
    return (A / lengths[:, None], *((b.T / lengths).T for b in columns))


def _damped(A, b):
    """The least x with A x = b, damped where rows of A depend on each other."""
    A, b = shortened(A, b)
    S = A @ A.T
    S.flat[:: len(S) + 1] += NEGLIGIBLE * max(np.trace(S) / len(S), NEGLIGIBLE)
    return A.T @ np.linalg.solve(S, b)


def least(A, b, threshold=1e-9):
    """The least x that fits A x = b best; of each column where b has several."""
    A, b = shortened(A, b)
    if (well := _standing(A, "reduced")) is not None:
        return well[0] @ np.linalg.solve(well[1].T, b)
    if (well := _standing(A.T, "reduced")) is not None:  # A = Q R: more equations than unknowns
        return np.linalg.solve(well[1], well[0].T @ b)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    r = int((s > threshold * max(1.0, s.max(initial=0.0))).sum())
    return Vt[:r].T @ ((U[:, :r].T @ b).T / s[:r]).T


def solved(A, b, threshold):
    """The least x that fits A x = b best, and a basis of all changes of x that A does not see."""
    if (well := _standing(A, "complete")) is not None:
        Q, R = well
        return Q[:, : len(A)] @ np.linalg.solve(R[: len(A)].T, b), Q[:, len(A) :]
    U, s, Vt = np.linalg.svd(A, full_matrices=True)
    r = int((s > threshold).sum())
    return Vt[:r].T @ ((U[:, :r].T @ b) / s[:r]), Vt[r:].T


def _standing(A, mode):
    """Q and R with Aᵀ = Q R, where the rows of A stand well to each other; None where they do not, and singular values have to
    decide."""
    if not 0 < len(A) <= A.shape[1]:
        return None
    Q, R = np.linalg.qr(A.T, mode=mode)
    return (Q, R) if np.abs(np.diag(R)).min() > WELL else None
