"""What a join of parts computes, by classes: those that are alike share their code.

A part is seen from its border as v̇ = D τ + r (`components.py`, eq. 1); a body alone has D = M⁻¹. A join of parts by the rows of
one constraint is eq. (2) to (4) there, with E for the bodies that stay in the border:

    X = E D̂ Gᵀ,     S = G D̂ Gᵀ = L Δ Lᵀ,     D = E D̂ Eᵀ − X S⁻¹ Xᵀ                                      (1)
    up      λ₀ = S⁻¹ (γ − G r̂),     r = E r̂ + X λ₀                                                    (2)
    down    λ = λ₀ − S⁻¹ Xᵀ τ,      τ̂ = Gᵀ λ + Eᵀ τ                                                   (3)

A pivot that vanishes against what it would be if the bodies were free is not divided through: Δ⁻¹ is zero there. Where some rows
of a join are known to depend on others in all configurations (`start/loops.py`), S has a generalised inverse of as many rows as are
independent, those with the largest pivots. The multipliers of the others are zero:

    S⁻ = Q Δ⁻¹ Qᵀ,     Qᵀ S Q = Δ,      Q has rows − dropped columns                                    (4)
"""

import casadi as ca

from .classes import function, stored, symmetric_of
from .factor import SINGULAR
from .lie_derivative import together

SIX = 6
PREFERENCE = 0.05  # by how much of its pivot a row counts less than the row before it
BODY = 7  # numbers of M⁻¹ of a body: 1/m, and the upper half of J⁻¹


def triangle(n):
    """Numbers of a symmetric matrix of n rows."""
    return n * (n + 1) // 2


def upper(A):
    """A symmetric matrix on and above its diagonal, column by column."""
    n = A.shape[0]
    return ca.vertcat(*[A[i, j] for j in range(n) for i in range(j + 1)], ca.SX(0, 1))


def filled(column, n):
    """The symmetric matrix of such a column."""
    A, at = ca.SX(n, n), 0
    for j in range(n):
        for i in range(j + 1):
            A[i, j] = A[j, i] = column[at]
            at += 1
    return A


def over_mass(column):
    """M⁻¹ of a body from its numbers."""
    return ca.sparsify(ca.diagcat(column[0] * ca.SX.eye(3), symmetric_of(column[1:])))


class JoinClass:
    """Functions of joins with rows of one class, of one form (`merging.Form`) and with as many rows that depend on others.

    reduce   (motions, data, D̂ of the parts, M⁻¹ of the ends) → D, what is stored
    up       (stored, data, γ, r̂ of the parts) → r, λ₀
    down     (stored, data, λ₀, τ) → λ, τ̂ of the parts
    """

    def __init__(self, rows, form, dropped=0):
        self.rows, self.size, self.dropped = rows, rows.size, dropped
        alone, counts = form.alone, [SIX * size for size in form.sizes]
        starts = [0, counts[0]] if len(counts) > 1 else [0]
        place = lambda at: [starts[at[0]] + SIX * at[1] + k for k in range(SIX)]
        self.kept, whole = [k for at in form.kept for k in place(at)], sum(counts)
        sizes = [BODY if a else triangle(n) for a, n in zip(alone, counts)] + [0] * (2 - len(counts))
        packed = [ca.SX.sym("D", size) for size in sizes]
        D = ca.diagcat(*[over_mass(x) if a else filled(x, n) for a, n, x in zip(alone, counts, packed)])
        masses = [ca.SX.sym("M", BODY if J is not None else 0) for J in rows.G]
        G, free = ca.SX(self.size, whole), ca.SX.zeros(self.size)
        for J, at, own in zip(rows.G, form.ends, masses):
            if J is not None:
                G[:, place(at)] += J
                free += ca.sum2((J @ over_mass(own)) * J)
        G = ca.sparsify(G)
        motions = [end.motion for end in rows.ends]
        self._factored(G, D, free)
        kept, self.rebuilt = stored([G, *self.inverse, self.X], ca.vertcat(*motions, *packed, *masses))
        self.stored, self.border = kept.shape[0], len(self.kept)
        self.reduce = function("reduce", [*motions, rows.c, *packed, *masses], [upper(self.D), kept, self.ratio])
        self.counts = [*counts, 0][:2]
        self._solving(starts)

    def _factored(self, G, D, free):
        """What S⁻¹ is made of (L or Q, and Δ⁻¹), X and D of (1), and the smallest pivot against free bodies."""
        GD = ca.sparsify(G @ D)
        self.X = ca.sparsify(GD[:, self.kept].T)
        S = ca.densify(GD @ G.T)
        if self.dropped:
            Q, inverse, self.ratio = conjugate_directions(S, free, self.size - self.dropped)
            self.inverse = [Q, inverse]
            Y = ca.densify(Q.T @ self.X.T)
            self.D = ca.densify(D[self.kept, self.kept]) - Y.T @ (ca.repmat(inverse, 1, Y.shape[1]) * Y)
            return
        L, inverse, pivots = _guarded(S, free)
        self.inverse = [L, inverse]
        self.ratio = ca.mmin(ca.if_else(inverse > 0, pivots / free, 1))
        Y = ca.solve(ca.densify(L) + ca.SX.eye(self.size), ca.densify(self.X.T))
        self.D = ca.densify(D[self.kept, self.kept]) - Y.T @ (ca.repmat(inverse, 1, Y.shape[1]) * Y)

    def _solving(self, starts):
        known, c = ca.SX.sym("stored", self.stored), self.rows.c
        G, *inverse, X = self.rebuilt(known)
        solve = self._solver(*inverse)
        gamma, rest = ca.SX.sym("gamma", self.size), [ca.SX.sym("r", n) for n in self.counts]
        every = ca.vertcat(*rest)
        first = solve(gamma - G @ every)
        self.up = function("up", [known, c, gamma, *rest], [every[self.kept] + X @ first, first])  # (2)
        first, tau = ca.SX.sym("lam", self.size), ca.SX.sym("tau", self.border)
        lam = first - solve(X.T @ tau) if self.border else first
        outside = ca.SX.zeros(every.shape[0])
        outside[self.kept] = tau
        forces = G.T @ lam + outside  # (3)
        parts = [forces[: self.counts[0]], forces[self.counts[0] :]]
        self.down = function("down", [known, c, first, tau], [lam, *parts])

    def _solver(self, L, pivots):
        """S⁻¹ of a column."""
        if self.dropped:
            return lambda b: ca.densify(L @ (pivots * (L.T @ ca.densify(b))))
        unit = ca.densify(L) + ca.SX.eye(self.size)
        return lambda b: ca.solve(unit.T, pivots * ca.solve(unit, ca.densify(b)))


def conjugate_directions(S, free, rank):
    """Q and Δ⁻¹ of (4), with `rank` columns, and the smallest pivot against `free`.

    Each time the row e with the largest pivot is taken, what it says beyond the rows before it:

        c = S e − Σ c_j (c_j·e) / p_j,     q = e − Σ q_j (c_j·e) / p_j,     p = c·e

    Of rows with nearly the same pivot the first is taken, so that rounding does not decide.
    """
    n = S.shape[0]
    S = ca.triu2symm(ca.triu(S))
    left, used, least = ca.diag(S), ca.SX.zeros(n), ca.SX(1)
    preference = 1 - PREFERENCE * ca.DM(range(n))
    found: list = []
    for _ in range(rank):
        ratios = ca.if_else(free > 0, left / free, 0)
        e = _largest(ca.if_else(used > 0, -1, ratios * preference))
        c, q = S @ e, e
        for other, direction, inverse in found:
            share = ca.dot(other, e) * inverse
            c, q = c - other * share, q - direction * share
        ratio = ca.dot(e, ratios)
        inverse = ca.if_else(ratio > SINGULAR, 1 / ca.dot(c, e), 0)
        least = ca.fmin(least, ca.if_else(ratio > SINGULAR, ratio, 1))
        found.append((c, q, inverse))
        left, used = left - c * c * inverse, used + e
    columns = [q for _, q, _ in found]
    return ca.horzcat(ca.SX(n, 0), *columns), ca.vertcat(ca.SX(0, 1), *[inverse for _, _, inverse in found]), least


def _largest(scores):
    """1 at the first of the largest numbers of a column, else 0."""
    best, left, chosen = ca.mmax(scores), ca.SX(1), []
    for score in ca.vertsplit(scores):
        chosen.append(left * (score >= best))
        left = left - chosen[-1]
    return ca.vertcat(*chosen)


def _guarded(S, free):
    """S = L Δ Lᵀ: L below its diagonal, Δ⁻¹ with zeros for pivots that vanish against `free`, and Δ."""
    n = S.shape[0]
    rows: list = [[ca.SX(0)] * n for _ in range(n)]
    inverse: list = []
    pivots: list = []
    for k in range(n):
        less = lambda i, k=k: sum((rows[i][j] * pivots[j] * rows[k][j] for j in range(k)), ca.SX(0))
        pivots.append(S[k, k] - less(k))
        inverse.append(ca.if_else(pivots[k] > SINGULAR * free[k], 1 / pivots[k], 0))
        for i in range(k + 1, n):
            rows[i][k] = (S[i, k] - less(i)) * inverse[k]
    L = ca.vertcat(*[ca.horzcat(*row) for row in rows]) if n else ca.SX(0, 0)
    return ca.sparsify(L), ca.vertcat(*inverse, ca.SX(0, 1)), ca.vertcat(*pivots, ca.SX(0, 1))


def accelerated():
    """v̇ = r + M⁻¹ τ of a body, as a function of its numbers."""
    own, rest, tau = ca.SX.sym("M", BODY), ca.SX.sym("r", SIX), ca.SX.sym("tau", SIX)
    return function("accelerated", [own, rest, tau], [rest + over_mass(own) @ tau])


def bordered(count):
    """v̇ = D τ + r of so many bodies in a border, as a function of the numbers of D, r and τ."""
    D, rest, tau = ca.SX.sym("D", triangle(SIX * count)), ca.SX.sym("r", SIX * count), ca.SX.sym("tau", SIX * count)
    return function("bordered", [D, rest, tau], [filled(D, SIX * count) @ tau + rest])


def falling(gravity, numbers):
    """r = M⁻¹ (f + m g − ω × J ω) of a body, with its motion, what is applied to it, M⁻¹ and J.

    numbers   of J, its upper half
    """
    motion, applied = ca.SX.sym("motion", 18), ca.SX.sym("applied", SIX)
    own, J = ca.SX.sym("M", BODY), ca.SX.sym("J", numbers)
    w = motion[15:]
    gyration = together(ca.SX.zeros(3), ca.cross(w, symmetric_of(J) @ w))
    weight = together(ca.SX(gravity), ca.SX.zeros(3))
    return function("falling", [motion, applied, own, J], [weight + over_mass(own) @ (applied - gyration)])
