"""Numeric access to the constraints of a formulation: residuals, Jacobian, assembly by Newton's method."""

import numpy as np

from ..errors import AssemblyError


class Examiner:
    """Evaluates the rows that hold at present with NumPy; used before a run and where its structure changes.

    places   where these rows stand among all declared ones; residuals and G of others are had by naming their places
    """

    def __init__(self, formulation, length):
        self.name = formulation.model.name
        self.places = formulation.active_rows()
        self.rows = [formulation.rows[k] for k in self.places]
        self.length = length  # size of the model: what a small residual is measured against
        self._f = formulation.examined
        self.holonomic = np.array([row.holonomic for row in self.rows], bool)

    def g(self, t, q, p, places=None):
        return self._f["g"](t, q, p).full().ravel()[self.places if places is None else places]

    def psi(self, t, q, v, p, places=None):
        return self._f["psi"](t, q, v, p).full().ravel()[self.places if places is None else places]

    def gamma(self, t, q, v, p, places=None):
        return self._f["gamma"](t, q, v, p).full().ravel()[self.places if places is None else places]

    def G(self, t, q, p, places=None):
        return self._f["G"](t, q, p).full()[self.places if places is None else places]

    def Minv(self, q, p):
        known = self._f.get("Minv")
        return np.linalg.inv(self._f["M"](q, p).full()) if known is None else known(q, p).full()

    def move(self, q, u):
        return self._f["move"](q, u).full().ravel()

    def speed(self, v):
        """A speed that velocity residuals are measured against."""
        return max(1.0, np.abs(v).max(initial=0.0))

    def assemble(self, t, q, p):
        """Newton on g = 0, each step the least change in the mass metric. Returns q, and how far it moved; None if it fails."""
        Minv = self.Minv(q, p)
        weight = np.where(self.holonomic, 1.0, 0.0)
        residual = np.abs(self.g(t, q, p)).max(initial=0.0)
        moved = 0.0
        if not len(weight):
            return q, moved
        for _ in range(60):
            if not np.isfinite(residual):
                return None, moved
            if residual <= 1e-13 * self.length:
                return q, moved
            G = self.G(t, q, p) * weight[:, None]
            S = G @ Minv @ G.T
            damping = 1e-14 * np.trace(S) / len(S)
            try:
                step = -Minv @ G.T @ np.linalg.solve(S + damping * np.eye(len(S)), self.g(t, q, p))
            except np.linalg.LinAlgError:  # no direction helps: two points in one place that shall be apart
                return None, moved
            scale = 1.0
            while scale > 1e-3:  # shorten steps that do not help
                trial = self.move(q, scale * step)
                new = np.abs(self.g(t, trial, p)).max()
                if new < residual * (1 - 0.2 * scale) or new <= 1e-13 * self.length:
                    break
                scale /= 2
            else:
                return (q, moved) if residual <= 1e-11 * self.length else (None, moved)
            q, residual = trial, new
            moved += np.abs(scale * step).max()
        return (q, moved) if residual <= 1e-11 * self.length else (None, moved)

    def assembled(self, t, q, p):
        """The assembled configuration, or an error that names the residuals that stay."""
        found, moved = self.assemble(t, q, p)
        if found is not None:
            return found, moved
        g = self.g(t, q, p)
        worst = np.argsort(-np.abs(g))[:5]
        names = "; ".join(f"{self.rows[k]} ({g[k]:.3g})" for k in worst if abs(g[k]) > 1e-9 * self.length)
        raise AssemblyError(
            f"model {self.name!r}: the start cannot be assembled: no configuration near the given one satisfies all "
            f"constraints. Residuals at the given start: {names}. Check the points, axes and drives of these elements, or "
            "start closer to an assembled configuration."
        )

    def wander(self, t, q, p, random, far):
        """A nearby assembled configuration in a random admissible direction, or None."""
        G, Minv = self.G(t, q, p), self.Minv(q, p)
        r = random.standard_normal(G.shape[1])
        if len(G):
            S = G @ Minv @ G.T
            S += 1e-12 * np.trace(S) / len(S) * np.eye(len(S))
            r -= Minv @ G.T @ np.linalg.solve(S, G @ r)
        size = np.abs(r).max()
        if size < 1e-9:
            return None
        found, _ = self.assemble(t, self.move(q, r * far / size), p)
        return found
