"""Functions of joins of parts by classes: joins of one class share their code.

A part is represented at its border by v̇ = D τ + r (`formulations/components.py`, eq. 1); a single body has D = M⁻¹. A join
connects parts by the rows of one constraint. It is eq. (2) to (4) there, where E selects the bodies that stay in the border:

    X = E D̂ Gᵀ,     S = G D̂ Gᵀ = L Δ Lᵀ,     D = E D̂ Eᵀ − X S⁻¹ Xᵀ                                      (1)
    up      λ₀ = S⁻¹ (γ − G r̂),     r = E r̂ + X λ₀                                                    (2)
    down    λ = λ₀ − S⁻¹ Xᵀ τ,      τ̂ = Gᵀ λ + Eᵀ τ                                                   (3)

A pivot is treated as zero if it is negligible compared with its value for free bodies; then Δ⁻¹ is zero there. If some rows of a
join depend on others in all configurations (`start/loop_rows.py`), S has a generalised inverse with as many rows as are
independent, those with the largest pivots. The multipliers of the others are zero:

    S⁻ = Q Δ⁻¹ Qᵀ,     Qᵀ S Q = Δ,      Q has rows − dropped columns                                    (4)

Rows that are not active, f = 0 instead of 1, become rows of the identity:

    G → f G,           S → f G D̂ Gᵀ f + (1 − f)                                                       (5)
"""

import casadi as ca

from ..algebra.factorisation import PIVOT_RATIO_SINGULAR
from ..algebra.lie_derivative import stack_linear_angular
from .recursion_classes import function, pack_dependent_entries, symmetric_3x3

SIX = 6
PIVOT_WEIGHT_DECREASE = 0.05  # decrease of the weight of a pivot from one row to the next
BODY_NUMBERS = 7  # numbers of M⁻¹ of a body: 1/m, and the upper triangle of J⁻¹


def triangle_size(n):
    """Number of entries in the upper triangle of a symmetric matrix of n rows."""
    return n * (n + 1) // 2


def upper_triangle(A):
    """The upper triangle of a symmetric matrix with its diagonal, column by column."""
    n = A.shape[0]
    return ca.vertcat(*[A[i, j] for j in range(n) for i in range(j + 1)], ca.SX(0, 1))


def symmetric_matrix(column, n):
    """A symmetric matrix from the column of its upper triangle."""
    A = ca.SX(n, n)
    at = 0
    for j in range(n):
        for i in range(j + 1):
            A[i, j] = A[j, i] = column[at]
            at += 1
    return A


def inverse_mass_matrix(column):
    """M⁻¹ of a body from its numbers."""
    return ca.sparsify(ca.diagcat(column[0] * ca.SX.eye(3), symmetric_3x3(column[1:])))


class JoinClass:
    """Functions of joins whose rows are of one class, with the same form (`elimination_order.Form`) and number of dependent rows.

    reduce   (motions, data, further values, D̂ of the parts, M⁻¹ of the ends) → D, stored entries, smallest pivot ratio
    up       (stored, data, γ, r̂ of the parts) → r, λ₀
    down     (stored, data, λ₀, τ) → λ, τ̂ of the parts
    """

    def __init__(self, rows, form, dropped=0):
        self.rows = rows
        self.size = rows.size
        self.dropped = dropped
        single = form.alone
        counts = [SIX * size for size in form.sizes]
        starts = [0, counts[0]] if len(counts) > 1 else [0]

        def columns(end):
            """Indices of the velocities of a body, given by its part and its position in the border of the part."""
            return [starts[end[0]] + SIX * end[1] + k for k in range(SIX)]

        self.kept = [k for end in form.kept for k in columns(end)]
        total = sum(counts)
        sizes = [BODY_NUMBERS if s else triangle_size(n) for s, n in zip(single, counts)] + [0] * (2 - len(counts))
        packed = [ca.SX.sym("D", size) for size in sizes]
        D = ca.diagcat(
            *[inverse_mass_matrix(x) if s else symmetric_matrix(x, n) for s, n, x in zip(single, counts, packed)]
        )
        masses = [ca.SX.sym("M", BODY_NUMBERS if J is not None else 0) for J in rows.G]
        G = ca.SX(self.size, total)
        free = ca.SX.zeros(self.size)  # diagonal of G M⁻¹ Gᵀ for free bodies
        for J, end, mass in zip(rows.G, form.ends, masses):
            if J is not None:
                G[:, columns(end)] += J
                free += ca.sum2((J @ inverse_mass_matrix(mass)) * J)
        if rows.active is not None:
            G *= rows.active
            free = rows.active * free + (1 - rows.active)
        G = ca.sparsify(G)
        motions = [end.motion for end in rows.ends]
        self._factorise(G, D, free)
        variables = ca.vertcat(*motions, rows.further, *packed, *masses)
        entries, self.rebuild = pack_dependent_entries([G, *self.inverse, self.X], variables)
        self.stored = entries.shape[0]
        self.border = len(self.kept)
        results = [upper_triangle(self.D), entries, self.ratio]
        self.reduce = function("reduce", [*motions, rows.c, rows.further, *packed, *masses], results)
        self.counts = [*counts, 0][:2]
        self._build_solvers()

    def _factorise(self, G, D, free):
        """Compute the factors of S⁻¹ (L or Q, and Δ⁻¹), X and D of (1), and the smallest ratio of a pivot to `free`."""
        GD = ca.sparsify(G @ D)
        self.X = ca.sparsify(GD[:, self.kept].T)
        S = ca.densify(GD @ G.T)
        if self.rows.active is not None:
            S += (1 - self.rows.active) * ca.SX.eye(self.size)  # (5)
        if self.dropped:
            Q, inverse, self.ratio = conjugate_directions(S, free, self.size - self.dropped)
            self.inverse = [Q, inverse]
            Y = ca.densify(Q.T @ self.X.T)
        else:
            L, inverse, pivots = _guarded_ldl(S, free)
            self.inverse = [L, inverse]
            self.ratio = ca.mmin(ca.if_else(inverse > 0, pivots / free, 1))
            Y = ca.solve(ca.densify(L) + ca.SX.eye(self.size), ca.densify(self.X.T))
        self.D = ca.densify(D[self.kept, self.kept]) - Y.T @ (ca.repmat(inverse, 1, Y.shape[1]) * Y)

    def _build_solvers(self):
        """Build the functions `up` and `down`."""
        stored = ca.SX.sym("stored", self.stored)
        c = self.rows.c
        G, *inverse, X = self.rebuild(stored)
        solve = self._solver(*inverse)
        gamma = ca.SX.sym("gamma", self.size)
        r_parts = [ca.SX.sym("r", n) for n in self.counts]
        r = ca.vertcat(*r_parts)
        lam_0 = solve(gamma - G @ r)
        self.up = function("up", [stored, c, gamma, *r_parts], [r[self.kept] + X @ lam_0, lam_0])  # (2)
        lam_0 = ca.SX.sym("lam", self.size)
        tau = ca.SX.sym("tau", self.border)
        lam = lam_0 - solve(X.T @ tau) if self.border else lam_0
        at_border = ca.SX.zeros(r.shape[0])
        at_border[self.kept] = tau
        forces = G.T @ lam + at_border  # (3)
        parts = [forces[: self.counts[0]], forces[self.counts[0] :]]
        self.down = function("down", [stored, c, lam_0, tau], [lam, *parts])

    def _solver(self, L, inverse_pivots):
        """A function that multiplies a column by S⁻¹; L: the factor L of (1), or Q of (4)."""
        if self.dropped:
            return lambda b: ca.densify(L @ (inverse_pivots * (L.T @ ca.densify(b))))
        unit = ca.densify(L) + ca.SX.eye(self.size)
        return lambda b: ca.solve(unit.T, inverse_pivots * ca.solve(unit, ca.densify(b)))


def conjugate_directions(S, free, rank):
    """Q and Δ⁻¹ of (4), with `rank` columns, and the smallest ratio of a pivot to `free`.

    In each step the unit vector e of the row with the largest pivot is made conjugate to the rows before it:

        c = S e − Σ c_j (c_j·e) / p_j,     q = e − Σ q_j (c_j·e) / p_j,     p = c·e

    Of rows with nearly the same pivot the first is taken, so that the choice does not depend on rounding.
    """
    n = S.shape[0]
    S = ca.triu2symm(ca.triu(S))
    pivots = ca.diag(S)
    used = ca.SX.zeros(n)
    smallest = ca.SX(1)
    weights = 1 - PIVOT_WEIGHT_DECREASE * ca.DM(range(n))
    done: list = []
    for _ in range(rank):
        ratios = ca.if_else(free > 0, pivots / free, 0)
        e = _first_largest(ca.if_else(used > 0, -1, ratios * weights))
        c = S @ e
        q = e
        for c_j, q_j, inverse_j in done:
            factor = ca.dot(c_j, e) * inverse_j
            c = c - c_j * factor
            q = q - q_j * factor
        ratio = ca.dot(e, ratios)
        inverse = ca.if_else(ratio > PIVOT_RATIO_SINGULAR, 1 / ca.dot(c, e), 0)
        smallest = ca.fmin(smallest, ca.if_else(ratio > PIVOT_RATIO_SINGULAR, ratio, 1))
        done.append((c, q, inverse))
        pivots = pivots - c * c * inverse
        used = used + e
    columns = [q for _, q, _ in done]
    return ca.horzcat(ca.SX(n, 0), *columns), ca.vertcat(ca.SX(0, 1), *[inverse for _, _, inverse in done]), smallest


def _first_largest(scores):
    """A column with 1 at the first of the largest scores and 0 elsewhere."""
    largest = ca.mmax(scores)
    remaining = ca.SX(1)
    selected: list = []
    for score in ca.vertsplit(scores):
        selected.append(remaining * (score >= largest))
        remaining = remaining - selected[-1]
    return ca.vertcat(*selected)


def _guarded_ldl(S, free):
    """S = L Δ Lᵀ: L below its diagonal, Δ⁻¹ with zeros for pivots that are negligible compared with `free`, and Δ."""
    n = S.shape[0]
    rows: list = [[ca.SX(0)] * n for _ in range(n)]
    inverse: list = []
    pivots: list = []

    def products(i, k):
        return sum((rows[i][j] * pivots[j] * rows[k][j] for j in range(k)), ca.SX(0))

    for k in range(n):
        pivots.append(S[k, k] - products(k, k))
        inverse.append(ca.if_else(pivots[k] > PIVOT_RATIO_SINGULAR * free[k], 1 / pivots[k], 0))
        for i in range(k + 1, n):
            rows[i][k] = (S[i, k] - products(i, k)) * inverse[k]
    L = ca.vertcat(*[ca.horzcat(*row) for row in rows]) if n else ca.SX(0, 0)
    return ca.sparsify(L), ca.vertcat(*inverse, ca.SX(0, 1)), ca.vertcat(*pivots, ca.SX(0, 1))


def body_acceleration():
    """The function (M⁻¹, r, τ) → v̇ = r + M⁻¹ τ of a body."""
    mass = ca.SX.sym("M", BODY_NUMBERS)
    r = ca.SX.sym("r", SIX)
    tau = ca.SX.sym("tau", SIX)
    return function("body_acceleration", [mass, r, tau], [r + inverse_mass_matrix(mass) @ tau])


def border_acceleration(count):
    """The function (D, r, τ) → v̇ = D τ + r of the `count` bodies in a border."""
    D = ca.SX.sym("D", triangle_size(SIX * count))
    r = ca.SX.sym("r", SIX * count)
    tau = ca.SX.sym("tau", SIX * count)
    return function("border_acceleration", [D, r, tau], [symmetric_matrix(D, SIX * count) @ tau + r])


def free_acceleration(gravity, numbers):
    """The function (motion, applied wrench, M⁻¹, J) → r = M⁻¹ (f + m g − ω × J ω) of a body.

    numbers   how many numbers of J there are: those of its upper triangle
    """
    motion = ca.SX.sym("motion", 18)
    applied = ca.SX.sym("applied", SIX)
    mass = ca.SX.sym("M", BODY_NUMBERS)
    J = ca.SX.sym("J", numbers)
    w = motion[15:]
    gyroscopic = stack_linear_angular(ca.SX.zeros(3), ca.cross(w, symmetric_3x3(J) @ w))
    weight = stack_linear_angular(ca.SX(gravity), ca.SX.zeros(3))
    return function(
        "free_acceleration", [motion, applied, mass, J], [weight + inverse_mass_matrix(mass) @ (applied - gyroscopic)]
    )
