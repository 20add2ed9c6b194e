"""Kernels of a Hamiltonian form of a formulation, whose state contains momenta instead of velocities.

With T(t, q, v) = ½ vᵀ M v + vᵀ m + …, where m(t, q) comes from grounds that move,

    π = M v + m,      v = M⁻¹ (π − m)                                                                (1)
    π̇ = ad(v)ᵀ π + ∂T/∂q + Q + Gᵀ λ                                                                 (2)
    v̇ = M⁻¹ (π̇ − π̇ at constant v)                    only where accelerations are requested         (3)

(2) is derived in `lagrangian.py`. Without constraints it needs no accelerations. With constraints λ is solved as in every other
formulation, S λ = γ − G M⁻¹ f.
"""

import casadi as ca

from .algebraic_loops import solve_implicit_efforts
from .lagrangian import Lagrangian


def functions(f, solvers, inputs, gamma):
    """The kernels of a run with momenta, in addition to those of `graphs/run_kernels.py`, by name.

    momenta    (t, q, v, p) → π                  speeds    (t, q, π, p, F) → v
    forces     (t, q, v, p, F) → π̇, λ and implicit efforts, power
    later      (t, q, v, p, F, π̇) → v̇
    weighed    (t, q, p, δv) → δπ                slowed    (q, p, F, δπ) → δv
    inertias   p → κ

    solvers    solvers with `over_mass`
    inputs     (t, q, v, p, F), followed by the gains of Baumgarte if they are used
    """
    L = Lagrangian(f)
    n = f.v.shape[0]
    t, q, v, p, F = inputs[:5]
    pi = ca.SX.sym("pi", n)
    change = ca.SX.sym("more", n)  # δπ, δv or π̇
    m = ca.substitute(L.momenta, v, ca.SX.zeros(n))  # m of (1)
    over_mass = solvers.over_mass
    rate, lam, power = _momentum_rate(f, L, solvers, gamma)
    rate_at_constant_v = L.rate(L.momenta, ca.SX.zeros(n))
    graphs = {
        "momenta": ([t, q, v, p], [L.momenta]),
        "speeds": ([t, q, pi, p, F], [over_mass(pi - m)]),  # (1)
        "forces": (inputs, [rate, lam, power]),
        "later": ([t, q, v, p, F, change], [over_mass(change - rate_at_constant_v)]),  # (3)
        "weighed": ([t, q, p, change], [ca.substitute(ca.jtimes(L.momenta, v, change), v, ca.SX.zeros(n))]),
        "slowed": ([q, p, F, change], [over_mass(change)]),
        "inertias": ([p], [f.inertias()]),
    }
    return {
        name: ca.Function(name, arguments, [ca.densify(x) for x in results])
        for name, (arguments, results) in graphs.items()
    }


def _momentum_rate(f, L, solvers, gamma):
    """π̇, multipliers followed by implicit efforts, and power: (2).

    With implicit efforts π̇ is computed from the accelerations.
    """
    a, lam = solvers.accelerations(gamma)
    a, lam, power, efforts = solve_implicit_efforts(f, a, lam, f.power(lam, a))
    if f.implicit:
        return L.rate(L.momenta, a), ca.vertcat(lam, efforts), power
    G = solvers.G if f.keep else ca.SX(0, f.v.shape[0])
    return L.coadjoint_term + L.energy_gradient + L.applied_forces + G.T @ lam, lam, power
