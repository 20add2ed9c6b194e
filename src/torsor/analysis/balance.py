"""The balance of forces at a configuration at rest, and how it changes with the configuration.

With the virtual displacements N that all rows in use permit, G N = 0, a configuration is in equilibrium where

    r = Nᵀ h(q) = 0,       ż = 0                                                                        (1)

Steps are along these displacements, too; the stiffness that they meet has the constraints' curvature in it:

    Nᵀ K δq = −r,          K = ∂(h − Gᵀ λ)/∂q at held λ                                                 (2)

Multipliers and efforts y that depend on them are those that leave the least residual. All of it without units: `mechanism.py`.

A feather that hangs on a machine of a ton finds its place as the machine does: neither forces nor stiffnesses tell what is small,
but accelerations, which a mechanism at rest does not have. With displacements of unit mass, Nᵀ M N = 1,

    a = N r,          K̂ = Nᵀ K N                                                                        (3)

in which a spring of K̂ = ω² is stiff or soft whatever hangs on it. The least residual is that of accelerations, too.

Far from an equilibrium K̂ depends on the coordinates. What does not is the second derivative of the energy along motions without
forces, M v̇ + c(q, v) = 0, the covariant one in the metric of the masses:

    K̃ = K̂ − Nᵀ (½ ∂²(a·c)/∂v²) N                                                                       (4)

The way down takes it for K̂: where coordinates bend, K̂ itself tells of instabilities that there are not.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .equations import FORCES, Unknown
from .repeated import readable

NEUTRAL = 1e-12  # singular value of K̂ over the largest of its terms, from which on a direction meets resistance
FIRM = 1e-7  # the same for steps that take away what is left at last
SOFT = 1e-12  # negative stiffness over the largest one, from which on it is none that rounding makes
LIGHT = 1e-14  # mass over the largest one that is taken for the least
NOISE = 1e-4  # acceleration over the largest one, from which on it counts in (6)
ITERATIONS = 12  # for efforts that depend on reactions


@dataclass(frozen=True)
class Balance:
    """Forces at a place.

    place      with the velocities that motions of its grounds and drives impose, all others zero
    rows       in use there
    unknown    multipliers and efforts, no accelerations
    off        residual of the balance of forces, of efforts, and ż: what cannot be balanced
    applied    the same without multipliers and efforts: the forces that are to be balanced
    bearing    what multipliers and efforts do to all that
    """

    mechanism: Any
    place: Any
    rows: Any
    unknown: Unknown
    off: np.ndarray
    applied: np.ndarray
    bearing: Any = None

    @property
    def size(self):
        """Of the forces that are to be balanced."""
        return float(np.abs(self.applied).max(initial=0.0))

    @cached_property
    def borne(self):
        """The size of what each multiplier is the sum of, beside which it may be rounding of zero: (6)."""
        bearing, keep, found = self.bearing, self.rows.keep, np.zeros_like(self.unknown.lam)
        caused = np.abs(bearing.caused(self.applied[: bearing.answer.shape[1]]))
        caused = np.maximum(caused, NOISE * caused.max(initial=0.0))
        units = self.mechanism.energy / self.mechanism.row_units(self.place, keep)
        found[keep] = units * (np.abs(bearing.asked) @ caused)[: len(keep)]
        return found

    @property
    def residual(self):
        """The largest component of what is not in balance."""
        return float(np.abs(self.off).max(initial=0.0))

    @cached_property
    def free(self):
        """Displacements of unit mass that all rows permit, a column each, then changes of the user's states."""
        m, e, M, keep = self.mechanism, self.mechanism.equations, self.bearing.masses, self.rows.keep
        A = m.examiner(self.place).matrix(self.place.t, self.place.q, self.place.p, keep)
        N = np.linalg.qr(A.T, mode="complete")[0][:, len(keep) :] if keep else np.eye(len(M))
        return _beside(np.linalg.solve(_root(N.T @ M @ N), N.T).T, e.sizes["states"])

    @cached_property
    def _changes(self):
        """Derivatives of all forces by all coordinates and by the user's states."""
        e = self.mechanism.equations
        n, k = e.sizes["v"], e.sizes["states"]
        q, p = np.zeros((n, n + k)), np.zeros((e.sizes["p"], n + k))
        q[:, :n], p[e.states, n:] = np.diag(self.mechanism.columns), np.eye(k)
        return self._along({"q": q, "p": p})

    @cached_property
    def stiffness(self):
        """Derivatives of what is not in balance along `free`: (2)."""
        return self.bearing.rest @ self._changes @ self.free

    @cached_property
    def bent(self):
        """(2) along free motions, which bend where forces are not in balance: (4)."""
        m, e, place, found = self.mechanism, self.mechanism.equations, self.place, np.array(self.stiffness)
        ways, columns, n = self.bearing.ways, m.columns[:, None], e.sizes["v"]
        count = ways.shape[1]
        a = m.columns * (ways @ self.reduced[:count])
        bending = e.bending(place.t, place.q, place.v, place.p, a, columns * self.free[:n, :count])
        found[:count, :count] -= ways.T @ (columns * bending) / m.energy
        return found

    @cached_property
    def inertia(self):
        """The same of masses: what resists a quick step; 1 for states of the user."""
        n = self.mechanism.equations.sizes["v"]
        found = self.bearing.rest @ self._along({"a": self.mechanism.columns[:, None] * self.free[:n]})
        states = self.free[n:]
        found[len(found) - len(states) :] += states
        return found

    def _along(self, ways):
        place = self.place
        slopes = self.mechanism.equations.slopes(place.t, place.q, place.v, place.p, self.unknown, ways, FORCES)
        return stacked(self.mechanism, slopes)

    @property
    def reduced(self):
        """r of (1), and −ż."""
        return self.bearing.rest @ self.off

    @cached_property
    def _decomposed(self):
        """Singular values and vectors of K̂, how many of them meet resistance, and the size of what K̂ is the sum of."""
        self.mechanism.refuse_no_numbers(self.place, "forces, or their slopes,", self.stiffness)
        U, s, Vt = np.linalg.svd(self.stiffness)
        terms = np.abs(self.bearing.rest) @ np.abs(self._changes) @ np.abs(self.free)
        most = max(terms.max(initial=0.0), self.mechanism.system.scales["rate"] ** 2)
        return U, s, Vt, int((s > NEUTRAL * most).sum()), most

    @property
    def pace(self):
        """The largest terms of K̂, or what it would be of a pendulum of the size of the model."""
        return self._decomposed[4]

    def accelerations(self, loose=False):
        """a of (3) and −ż; loose: those in directions that meet no resistance."""
        told = self.reduced
        if loose:
            U, _, _, r, _ = self._decomposed
            told = told - U[:, :r] @ (U[:, :r].T @ told)
        return _beside(self.bearing.ways, self.mechanism.equations.sizes["states"]) @ told

    @cached_property
    def unrest(self):
        """The largest of the accelerations."""
        return float(np.abs(self.accelerations()).max(initial=0.0))

    def step(self, damping=0.0, firm=False):
        """The least step of Newton's method, or with damping a part of the way down.

        firm   only in directions whose resistance is more than what forces out of balance may make of none
        """
        if damping:
            found = np.linalg.lstsq(self.bent + damping * self.inertia, -self.reduced, rcond=1e-13)[0]
        else:
            U, s, Vt, r, most = self._decomposed
            r = int((s > FIRM * most).sum()) if firm else r
            found = Vt[:r].T @ ((U[:, :r].T @ -self.reduced) / s[:r])
        return self._moves(found)

    def less(self, damping):
        """A step after which less is left, damped in the manner of Levenberg and Marquardt: (K̂ᵀ K̂ + μ²) δ = −K̂ᵀ r."""
        U, s, Vt, r, _ = self._decomposed
        return self._moves(Vt[:r].T @ (s[:r] / (s[:r] ** 2 + damping**2) * (U[:, :r].T @ -self.reduced)))

    def anywhere(self, random):
        """A step in a random direction."""
        return self._moves(random.standard_normal(self.free.shape[1]))

    def _moves(self, found):
        """Coordinates δq and changes of states of a column of steps along `free`."""
        n, whole = self.mechanism.equations.sizes["v"], self.free @ found
        return self.mechanism.columns * whole[:n], whole[n:]

    @cached_property
    def softest(self):
        """The lowest stiffness over inertia of any displacement, negative where forces push away; 0 for what is rounding of it."""
        K, M = self.bent, self.inertia
        if not K.size:
            return 0.0
        found = np.linalg.eigvals(np.linalg.lstsq(M, K, rcond=1e-13)[0])
        low = float(found.real.min())
        return low if low < -SOFT * np.abs(found).max() else 0.0

    def neutral(self):
        """Displacements that meet no resistance, a column each: all coordinates, without units, and the user's states."""
        _, _, Vt, r, _ = self._decomposed
        found = self.free @ Vt[r:].T
        return found if self.mechanism.equations.sizes["states"] else readable(found)


def _root(M):
    """L of M = L Lᵀ, where nothing is quite without mass."""
    return np.linalg.cholesky((M + M.T) / 2 + LIGHT * np.diag(M).max(initial=0.0) * np.eye(len(M)))


def _beside(A, count):
    """A matrix, and beside it ones for so many states of the user."""
    n, m = A.shape
    whole = np.zeros((n + count, m + count))
    whole[:n, :m], whole[n:, m:] = A, np.eye(count)
    return whole


def stacked(mechanism, found):
    """Balance of forces, efforts and −ż, in the units of the mechanism."""
    forces = found["balance"] * mechanism.columns[:, None] / mechanism.energy
    return np.vstack([forces, found["efforts"], -found["states"]])


class Bearing:
    """What multipliers λ of the rows in use and efforts y do to the balance of forces b, to the equations e of efforts and to ż:

        b' = b − b_y e_y⁻¹ e,      λ: least b'ᵀ M⁻¹ b' of b' + b'_λ λ,      y = −e_y⁻¹ (e + e_λ λ)            (5)

    With M = L Lᵀ, forces as large as those applied ask multipliers for as much as

        |λ| ≤ |λ_b L| |L⁻¹ b|                                                                               (6)

    answer   (b, e) → the multipliers and efforts that balance it, but for the sign
    asked    the same from forces over the roots of masses, L⁻¹ b
    ways     N of (3), a column each: virtual displacements, in which no multiplier does work
    rest     (b, e, −ż) → what they leave: Nᵀ b', and −ż as it follows λ and y
    masses   M, without units
    """

    def __init__(self, mechanism, place, keep, unknown):
        n, m, k = mechanism.equations.sizes["v"], len(keep), mechanism.equations.sizes["efforts"]
        ways = mechanism.directions(place, keep)
        at = (place.t, place.q, place.v, place.p)
        L = stacked(mechanism, mechanism.equations.slopes(*at, unknown, ways, FORCES))
        self.masses, L = L[:n, :n], L[:, n:]
        b, e, states = L[:n], L[n : n + k], L[n + k :]
        told = np.linalg.solve(e[:, m:], np.hstack([np.zeros((k, n)), np.eye(k)]))  # e_y⁻¹ e
        left = np.eye(n, n + k) - b[:, m:] @ told  # b'
        self._root = root = _root(self.masses)
        U, s, Vt = np.linalg.svd(np.linalg.solve(root, left @ L[: n + k, :m]))
        r = int((s > 1e-12 * s.max(initial=0.0)).sum())
        lam = Vt[:r].T @ (U[:, :r].T @ np.linalg.solve(root, left) / s[:r, None])
        follow = np.linalg.solve(e[:, m:], e[:, :m] @ lam)
        self.answer = np.vstack([lam, told - follow])  # (5)
        self.asked = np.hstack([self.answer[:, :n] @ root, self.answer[:, n:]])
        self.ways = np.linalg.solve(root.T, U[:, r:])
        z = len(states)
        self.rest = np.block([[self.ways.T @ left, np.zeros((n - r, z))], [-states @ self.answer, np.eye(z)]])

    def caused(self, forces):
        """L⁻¹ b of forces, one below the other with whatever else."""
        n = len(self._root)
        return np.concatenate([np.linalg.solve(self._root, forces[:n]), forces[n:]])


def balanced(mechanism, place, rows=None):
    """The balance at a place: multipliers and efforts such that as little as possible is left."""
    e = mechanism.equations
    rows = mechanism.rows(place) if rows is None else rows
    place = place.moved(v=mechanism.imposed(place, rows.keep))
    at, unknown = (place.t, place.q, place.v, place.p), mechanism.nothing()
    first = off = stacked(mechanism, e.residuals(*at, unknown))[:, 0]
    bearing = Bearing(mechanism, place, rows.keep, unknown)
    for _ in range(ITERATIONS if rows.keep or e.sizes["efforts"] else 0):
        step = -bearing.answer @ off[: bearing.answer.shape[1]]
        unknown = mechanism.changed(place, rows.keep, unknown, np.concatenate([np.zeros(e.sizes["v"]), step]))
        before, off = off, stacked(mechanism, e.residuals(*at, unknown))[:, 0]
        if not e.sizes["efforts"]:  # all is linear in multipliers
            break
        bearing = Bearing(mechanism, place, rows.keep, unknown)
        if np.abs(off - before).max() <= 1e-15 * np.abs(first).max():
            break
    return Balance(mechanism, place, rows, unknown, off, first, bearing)
