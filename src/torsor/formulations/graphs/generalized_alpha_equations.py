"""The equations of a step of generalised-α on the group of a formulation.

The accelerations w = v̇₁ and multipliers λ at the end of a step are the unknowns. The increment Δ of the configuration and the
velocities at the end are affine in w,

    q₁ = q₀ · τ(h Δ),     Δ = Δ̄ + b w,     v₁ = v̄ + c w                                                     (1)

with b, c, Δ̄ and v̄ from the method and the state at the start (`methods/integrators/generalized_alpha.py`), and the equations of
motion and the constraints hold at the end:

    M(q₁) w + bias(t₁, q₁, v₁) = G(q₁)ᵀ λ,     g(t₁, q₁) = 0                                    index 3     (2)
    ψ(t₁, q₁, v₁) = 0 as well, with     Δ = Δ̄ + b w + b M(q₀)⁻¹ G(q₀)ᵀ η                          index 2     (3)

η are the multipliers of Gear, Gupta and Leimkuhler, which vanish with the step. Rows at velocity level have ψ = 0 in both. Rows are
divided by b h and by c, so that the matrices of Newton's equations tend to M and G for every step length. [arnold2007];
[bruels2012]; [arnold2015]

The user's states z at the end are unknowns, too. They follow from their rates as velocities follow from accelerations:

    z₁ = z̄ + c ż(t₁, q₁, v₁, z₁, w, λ)                                                                       (5)

One Newton iteration solves for the states and the motion together. Neither a stiff state nor a stiff coupling of the two limits the
step. [bruels2006]
"""

import casadi as ca

from ...elements.quantity import split_column, time
from ..algebra.factorisation import column, mass_solver, sparse_ldl
from ..algebra.unsymmetric_factorisation import SparseLU
from .newton_equations import newton_equations
from .run_kernels import named_function


class Alpha:
    """The equations of a step, in symbols.

    t, q         time and configuration at the start
    p, efforts   inputs and implicit efforts at the end, which are numbers here
    affine       (b, c, Δ̄, v̄, z̄)
    d            unknowns (w, z, λ, η); η is empty unless `stabilised`, which selects index 2
    states       indices of the user's states in p
    rates        ż as a function (t, q, v, p, v̇, λ and efforts)
    """

    def __init__(self, formulation, map, stabilised, states=(), rates=None):
        n = formulation.v.shape[0]
        self.f, self.map, self.stabilised = formulation, map, stabilised
        self.t, self.q, self.p = time, formulation.q, formulation.p
        self.h = ca.SX.sym("h")
        self.efforts = formulation.loads.unknown()
        self.states, self.rates = list(states), rates
        self.affine = ca.SX.sym("affine", 2 + 2 * n + len(states))
        self.b, self.c, self.Delta_bar, self.v_bar, self.z_bar = split_column(self.affine, 1, 1, n, n)
        self.w = ca.SX.sym("w", n)
        self.lam = ca.SX.sym("lam", len(formulation.keep))
        self.z = ca.SX.sym("z", len(states))
        self.eta = ca.SX.sym("eta", len(formulation.position_rows()) if stabilised else 0)
        self.d = ca.vertcat(self.w, self.z, self.lam, self.eta)

    def increment(self):
        """Δ: (1), (3)."""
        f = self.f
        increment = self.Delta_bar + self.b * self.w
        if self.eta.shape[0]:
            rows = [f.keep[k] for k in f.position_rows()]
            increment += self.b * mass_solver(f.mass_matrix())(f.jacobian()[rows, :].T @ self.eta)  # (3)
        return ca.densify(increment)

    def residuals(self):
        """Residuals of the equations of motion, of the rows in use at position level and at velocity level, and of (5)."""
        f = self.f
        q1 = ca.densify(f.manifold.retract(self.q, self.h * self.increment(), self.map))
        v1 = self.v_bar + self.c * self.w
        start = ca.vertcat(self.t, self.q, f.v)
        end = ca.vertcat(self.t + self.h, q1, v1)
        if self.states:
            start = ca.vertcat(start, f.p[self.states])
            end = ca.vertcat(end, self.z)
        motion = f.mass_matrix() @ self.w + f.bias() - f.jacobian()[f.keep, :].T @ self.lam  # (2)
        g, psi = f.stack_rows("g")[f.keep, :], f.stack_rows("psi")[f.keep, :]
        motion, g, psi = (ca.densify(ca.substitute(x, start, end)) for x in (motion, g, psi))
        return motion, g / (self.b * self.h), psi / self.c, self._state_residual(q1, v1)

    def _state_residual(self, q1, v1):
        """The residual of (5)."""
        if not self.states:
            return ca.SX(0, 1)
        p = ca.SX(self.p)
        p[self.states] = self.z
        zdot = self.rates(self.t + self.h, q1, v1, p, self.w, ca.vertcat(self.lam, self.efforts))
        return ca.densify(self.z - self.z_bar - self.c * zdot)

    def newton_step(self):
        """Factors of Newton's equations as one column, and a function that maps such a column L to the step Δd."""
        motion, g, psi, states = self.residuals()
        positional = self.f.position_rows()
        rows = psi
        if not self.stabilised:
            levels = [g[k] if k in set(positional) else psi[k] for k in range(len(self.f.keep))]
            rows = ca.vertcat(*levels, ca.SX(0, 1))
        residual = motion, ca.vertcat(states, rows)
        factor, solve = newton_equations(residual, self.w, self.lam, self.z if self.states else None)
        if not (self.stabilised and positional):
            return factor, lambda L: solve(L, residual)
        eta_factor, solve_eta = self._eta_equations(g[positional])

        def solve_both(L):
            first, second = split_column(L, factor.shape[0])
            change = solve(first, residual)
            motion_change = split_column(change, self.w.shape[0] + self.z.shape[0])[0]
            return ca.vertcat(change, solve_eta(second, g[positional], motion_change))

        return ca.vertcat(factor, eta_factor), solve_both

    def _eta_equations(self, g):
        """Factors of ∂g/∂η as one column, and a function that solves for Δη with such a column.

        The effect of η on the other equations is smaller by the order of h², and is neglected in the Newton matrix:

            ∂g/∂η Δη = −g − ∂g/∂(w, z) (Δw, Δz)                                                              (4)
        """
        C, X = (ca.sparsify(ca.jacobian(g, x)) for x in (ca.vertcat(self.w, self.z), self.eta))
        order = sparse_ldl(X + X.T)[2]
        lu = SparseLU(X, order, order)
        lower, upper = lu.nonzeros()

        def solve(L, g, motion_change):
            rows, *factors = split_column(L, C.nnz(), lower.shape[0])
            return -lu.from_nonzeros(factors).solve(g + ca.SX(C.sparsity(), rows) @ motion_change)  # (4)

        return ca.densify(ca.vertcat(column(C), lower, upper)), solve


def has_mixed_rows(f):
    """True if position-level rows are in use in a model that also has velocity-level rows: rolling, dry friction.

    With equations at position level alone (index 3) the velocities of the former oscillate against the latter. The oscillation
    grows where bodies rotate and where steps become short, as they do before friction sticks.
    """
    return bool(f.position_rows()) and any(not row.holonomic for row in f.rows)


def functions(f, map, stabilised, states=(), rates=None):
    """The kernels of a step, as functions of flat vectors; d = (w, z, λ, η). `states` and `rates`: see `Alpha`.

    newton_factor   (t, h, q, p, efforts, known, d) → L              factors of Newton's equations
    newton_step     (t, h, q, p, efforts, known, d, L) → Δd, ΔΔ      a step of Newton's method
    newton_way      (t, h, q, p, efforts, known, d) → Δ

    known contains the numbers of (1) and (5).
    """
    step = Alpha(f, map, stabilised, states, rates)
    factor, solve = step.newton_step()
    L = ca.SX.sym("L", factor.shape[0])
    change = solve(L)
    inputs = {
        "t": step.t,
        "h": step.h,
        "q": step.q,
        "p": step.p,
        "efforts": step.efforts,
        "known": step.affine,
        "d": step.d,
    }
    return {
        "newton_factor": named_function("newton_factor", inputs, factor),
        "newton_step": named_function(
            "newton_step", inputs | {"L": L}, change, ca.jtimes(step.increment(), step.d, change)
        ),
        "newton_way": named_function("newton_way", inputs, step.increment()),
    }
