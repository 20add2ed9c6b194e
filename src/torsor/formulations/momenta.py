"""Momenta in the place of velocities: what a formulation adds to its equations to be a Hamiltonian form of them.

With T(t, q, v) = ½ vᵀ M v + vᵀ m + …, where m(t, q) comes from grounds that move,

    π = M v + m,      v = M⁻¹ (π − m)                                                                (1)
    π̇ = ad(v)ᵀ π + ∂T/∂q + Q + Gᵀ λ                                                                 (2)
    v̇ = M⁻¹ (π̇ − π̇ at held v)                        only where accelerations are asked for         (3)

(2) is the derivative of the Lagrangian (`lagrangian.py`). Without constraints it needs no accelerations; with them λ is found as in
every other formulation, S λ = γ − G M⁻¹ f.
"""

import casadi as ca

from .implicit import closed
from .lagrangian import Lagrangian


def functions(f, solvers, inputs, gamma):
    """What a run on momenta needs besides the functions of `graphs`, by name.

    momenta    (t, q, v, p) → π                  speeds    (t, q, π, p, F) → v
    forces     (t, q, v, p, F) → π̇, λ and implicit efforts, power
    later      (t, q, v, p, F, π̇) → v̇
    weighed    (t, q, p, δv) → δπ                slowed    (q, p, F, δπ) → δv
    inertias   p → κ

    solvers    with `over_mass`;  inputs: (t, q, v, p, F), and gains of Baumgarte where they are used
    """
    L, n = Lagrangian(f), f.v.shape[0]
    t, q, v, p, F = inputs[:5]
    pi, more = ca.SX.sym("pi", n), ca.SX.sym("more", n)
    carried = ca.substitute(L.momenta, v, ca.SX.zeros(n))  # m of (1)
    over = solvers.over_mass
    rate, lam, power = changing(f, L, solvers, gamma)
    held = L.rate(L.momenta, ca.SX.zeros(n))
    graphs = {
        "momenta": ([t, q, v, p], [L.momenta]),
        "speeds": ([t, q, pi, p, F], [over(pi - carried)]),  # (1)
        "forces": (inputs, [rate, lam, power]),
        "later": ([t, q, v, p, F, more], [over(more - held)]),  # (3)
        "weighed": ([t, q, p, more], [ca.substitute(ca.jtimes(L.momenta, v, more), v, ca.SX.zeros(n))]),
        "slowed": ([q, p, F, more], [over(more)]),
        "inertias": ([p], [f.inertias()]),
    }
    return {name: ca.Function(name, given, [ca.densify(x) for x in found]) for name, (given, found) in graphs.items()}


def changing(f, L, solvers, gamma):
    """π̇, multipliers followed by implicit efforts, and power: (2). Efforts that depend on reactions ask for accelerations, too."""
    a, lam = solvers.accelerations(gamma)
    a, lam, power, efforts = closed(f, a, lam, f.power(lam, a))
    if f.implicit:
        return L.rate(L.momenta, a), ca.vertcat(lam, efforts), power
    G = solvers.G if f.keep else ca.SX(0, f.v.shape[0])
    return L.transported + L.carried + L.applied + G.T @ lam, lam, power
