"""Recursions over a tree: articulated bodies, composite bodies, inverse dynamics.

All take wrenches (n, f) on the links, in their frames, and generalised forces τ along the joints' velocities.

Articulated-body recursion (Featherstone), from the tips to the roots and back:

    U = I_A S,   D = Sᵀ U,   μ = τ − Sᵀ p_A                                                          (1)
    I_a = I_A − U D⁻¹ Uᵀ,    p_a = p_A + I_a b + U D⁻¹ μ                                             (2)
    v̇ = D⁻¹ (μ − Uᵀ a'),     a' = X a_p + b,   a = a' + S v̇                                          (3)
"""

import casadi as ca

from . import spatial
from .tree import body_inertia


def velocity_wrench(inertia, center, mass, w):
    """Wrench that a rigid body needs to keep turning: (ω × J ω, m ω × (ω × c))."""
    return spatial.cross(w, inertia.J @ w), mass * spatial.cross(w, spatial.cross(w, center))


def to_parent(link, n, f):
    """A wrench on a link, about its parent's origin in the parent's axes."""
    f = link.E @ f
    return link.E @ n + spatial.cross(link.d, f), f


def from_parent(link, alpha, a):
    """The motion that a link inherits: X (α, a)."""
    return link.E.T @ alpha, link.E.T @ (a + spatial.cross(alpha, link.d))


def subspace_product(link, n, f):
    """Sᵀ (n, f)."""
    return link.S_w.T @ n + link.S_v.T @ f


def inverse_of(D):
    """D⁻¹ of a small symmetric, positive definite matrix, by D = Lᵀ E L: as exact in any units of its rows."""
    n = D.shape[0]
    if n == 1:
        return 1 / D
    E, LT, _ = ca.ldl(ca.densify(D), False)
    X = ca.solve(ca.densify(LT) + ca.SX.eye(n), ca.SX.eye(n))  # L⁻ᵀ
    return spatial.symmetric(X @ (ca.repmat(1 / E, 1, n) * X.T))


def articulated(motion, wrenches, tau):
    """v̇ of all links by the articulated-body recursion, as a dictionary by link."""
    inertia, bias = {}, {}
    for link in motion.links:
        I, c = body_inertia(link)
        n, f = velocity_wrench(I, c, link.body.mass, motion.w[id(link)])
        n0, f0 = wrenches.get(id(link), (ca.SX(3, 1), ca.SX(3, 1)))
        inertia[id(link)], bias[id(link)] = I, (n - n0, f - f0)
    solved = {}
    for link in reversed(motion.links):
        k = id(link)
        I, (n, f) = inertia[k], bias[k]
        b_w, b_v = motion.biases(link)
        if link.v.shape[0]:
            U = I.times((link.S_w, link.S_v))  # (1)
            D = spatial.symmetric(subspace_product(link, *U))
            mu = tau[k] - subspace_product(link, n, f)
            Dinv = inverse_of(D)
            scaled = tuple(x @ Dinv for x in U)
            solved[k] = (scaled, Dinv @ mu)
            I = spatial.less(I, U, scaled)  # (2)
            n, f = n + U[0] @ solved[k][1], f + U[1] @ solved[k][1]
        if link.parent is not None:
            bn, bf = I.times((b_w, b_v))
            n, f = to_parent(link, n + bn, f + bf)
            p = id(link.parent)
            inertia[p] = inertia[p] + spatial.shifted(spatial.turned(I, link.E), link.d)
            bias[p] = (bias[p][0] + n, bias[p][1] + f)
    rates, motions = {}, {}
    for link in motion.links:
        k = id(link)
        base = motion.base(link)
        above = (base.alpha, base.a) if link.parent is None else motions[id(link.parent)]
        b_w, b_v = motion.biases(link)
        alpha, a = from_parent(link, *above)
        alpha, a = alpha + b_w, a + b_v
        if link.v.shape[0]:
            (ns, fs), free = solved[k]
            rates[k] = free - ns.T @ alpha - fs.T @ a  # (3)
            alpha, a = alpha + link.S_w @ rates[k], a + link.S_v @ rates[k]
        else:
            rates[k] = ca.SX(0, 1)
        motions[k] = (alpha, a)
    return rates


def accelerations(motion, rates):
    """(α, a) of all links for given v̇, gravity still in it as an acceleration of the roots."""
    motions = {}
    for link in motion.links:
        k = id(link)
        base = motion.base(link)
        above = (base.alpha, base.a) if link.parent is None else motions[id(link.parent)]
        alpha, a = from_parent(link, *above)
        b_w, b_v = motion.biases(link)
        motions[k] = (alpha + b_w + link.S_w @ rates[k], a + b_v + link.S_v @ rates[k])
    return motions


def inverse_dynamics(motion, rates, wrenches):
    """τ that produces given v̇ (recursive Newton–Euler), by link."""
    motions = accelerations(motion, rates)
    load = {}
    for link in motion.links:
        I, c = body_inertia(link)
        n, f = I.times(motions[id(link)])
        bn, bf = velocity_wrench(I, c, link.body.mass, motion.w[id(link)])
        n0, f0 = wrenches.get(id(link), (ca.SX(3, 1), ca.SX(3, 1)))
        load[id(link)] = (n + bn - n0, f + bf - f0)
    tau = {}
    for link in reversed(motion.links):
        n, f = load[id(link)]
        tau[id(link)] = subspace_product(link, n, f)
        if link.parent is not None:
            n, f = to_parent(link, n, f)
            p = id(link.parent)
            load[p] = (load[p][0] + n, load[p][1] + f)
    return tau


def mass_matrix(motion):
    """M(q) by composite bodies, with the zeros of the tree's branches."""
    composite = {id(link): body_inertia(link)[0] for link in motion.links}
    for link in reversed(motion.links):
        if link.parent is not None:
            p = id(link.parent)
            composite[p] = composite[p] + spatial.shifted(spatial.turned(composite[id(link)], link.E), link.d)
    sizes = [link.v.shape[0] for link in motion.links]
    places = {id(link): sum(sizes[:i]) for i, link in enumerate(motion.links)}
    M = ca.SX(sum(sizes), sum(sizes))
    for link in motion.links:
        i, d = places[id(link)], link.v.shape[0]
        if not d:
            continue
        n, f = composite[id(link)].times((link.S_w, link.S_v))
        M[i : i + d, i : i + d] = spatial.symmetric(subspace_product(link, n, f))
        below, above = link, link.parent
        while above is not None:
            n, f = (ca.horzcat(*x) for x in zip(*[to_parent(below, n[:, k], f[:, k]) for k in range(d)]))
            j, e = places[id(above)], above.v.shape[0]
            if e:
                block = subspace_product(above, n, f)
                M[j : j + e, i : i + d] = block
                M[i : i + d, j : j + e] = block.T
            below, above = above, above.parent
    return ca.sparsify(M)
