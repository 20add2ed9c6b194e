"""Recursive algorithms over a tree: articulated bodies, composite bodies, Newton–Euler.

All take wrenches (n, f) on the links, in their frames, and generalised forces τ along the joints' velocities.

Articulated-body algorithm (Featherstone), from the tips to the roots and back:

    U = I_A S,   D = Sᵀ U,   μ = τ − Sᵀ p_A                                                          (1)
    I_a = I_A − U D⁻¹ Uᵀ,    p_a = p_A + I_a b + U D⁻¹ μ                                             (2)
    v̇ = D⁻¹ (μ − Uᵀ a'),     a' = X a_p + b,   a = a' + S v̇                                          (3)

A rotor that turns with the coordinates of a joint alone adds its inertia A to D, and A v̇ to τ.
"""

import casadi as ca

from . import spatial_algebra
from .trace_cache import trace_once
from .tree_kinematics import body_inertia


def velocity_wrench(inertia, center, mass, w):
    """Velocity-dependent inertia wrench of a rigid body: (ω × J ω, m ω × (ω × c))."""
    return spatial_algebra.cross(w, inertia.J @ w), mass * spatial_algebra.cross(w, spatial_algebra.cross(w, center))


def to_parent(link, n, f):
    """Transform a wrench on a link to its parent's origin and axes."""
    f = link.E @ f
    return link.E @ n + spatial_algebra.cross(link.d, f), f


def from_parent(link, alpha, a):
    """Transform a motion (α, a) of the parent to a link's origin and axes: X (α, a)."""
    return link.E.T @ alpha, link.E.T @ (a + spatial_algebra.cross(alpha, link.d))


def subspace_product(link, n, f):
    """Sᵀ (n, f)."""
    return link.S_w.T @ n + link.S_v.T @ f


def inverse_of(D):
    """D⁻¹ of a small symmetric positive definite matrix, by D = Lᵀ E L. The accuracy does not depend on the units of rows."""
    n = D.shape[0]
    if n == 1:
        return 1 / D
    E, LT, _ = ca.ldl(ca.densify(D), False)
    X = ca.solve(ca.densify(LT) + ca.SX.eye(n), ca.SX.eye(n))  # L⁻ᵀ
    return spatial_algebra.symmetric(X @ (ca.repmat(1 / E, 1, n) * X.T))


@trace_once
def bias_wrench(J, center, mass, w, n, f):
    """Bias wrench of a rigid body: its velocity-dependent inertia wrench less the applied wrench (n, f)."""
    velocity = velocity_wrench(spatial_algebra.Inertia(J, ca.SX(3, 3), ca.SX(3, 3)), center, mass, w)
    return velocity[0] - n, velocity[1] - f


@trace_once
def eliminate_joint(J, H, M, n, f, S_w, S_v, tau, armature=None):
    """Eliminate a joint: articulated inertia I_a and bias of its link, then U D⁻¹ and D⁻¹ μ for the acceleration.

    armature   A, one entry for each coordinate; None: no rotor
    """
    I = spatial_algebra.Inertia(J, H, M)
    U = I.times((S_w, S_v))  # (1)
    D = spatial_algebra.symmetric(S_w.T @ U[0] + S_v.T @ U[1])
    Dinv = inverse_of(D if armature is None else D + ca.diag(armature))
    free = Dinv @ (tau - (S_w.T @ n + S_v.T @ f))
    ns, fs = (x @ Dinv for x in U)
    inertia = spatial_algebra.subtract_joint_inertia(I, U, (ns, fs))
    return *inertia, n + U[0] @ free, f + U[1] @ free, ns, fs, free  # (2)


@trace_once
def transform_to_parent(J, H, M, n, f, b_w, b_v, E, d):
    """Transform the articulated inertia and bias of a link to its parent's origin and axes, with the bias acceleration b."""
    I = spatial_algebra.Inertia(J, H, M)
    bn, bf = I.times((b_w, b_v))
    n = E @ (n + bn)
    f = E @ (f + bf)
    return *spatial_algebra.shift(spatial_algebra.rotate(I, E), d), n + spatial_algebra.cross(d, f), f


@trace_once
def acceleration_from_parent(alpha, a, b_w, b_v, E, d):
    """The acceleration of a link with v̇ = 0 in its joint: a' of (3)."""
    return E.T @ alpha + b_w, E.T @ (a + spatial_algebra.cross(alpha, d)) + b_v


@trace_once
def joint_acceleration(alpha, a, ns, fs, free, S_w, S_v):
    """v̇ of a joint, and the acceleration of its link: (3)."""
    rate = free - ns.T @ alpha - fs.T @ a
    return rate, alpha + S_w @ rate, a + S_v @ rate


def articulated_body_accelerations(motion, wrenches, tau):
    """v̇ of all links by the articulated-body algorithm, as a dictionary by link."""
    zero = ca.SX(3, 1)
    inertia = {}
    bias = {}
    for link in motion.links:
        I, c = body_inertia(link)
        applied = wrenches.get(id(link), (zero, zero))
        inertia[id(link)] = I
        bias[id(link)] = bias_wrench(I.J, c, link.body.mass, motion.w[id(link)], *applied)
    eliminations = {}
    for link in reversed(motion.links):
        k = id(link)
        own = (*inertia[k], *bias[k])
        if link.v.shape[0]:
            *own, ns, fs, free = eliminate_joint(*own, link.S_w, link.S_v, tau[k], *link.armature)
            eliminations[k] = ns, fs, free
        if link.parent is not None:
            J, H, M, n, f = transform_to_parent(*own, *motion.biases(link), link.E, link.d)
            p = id(link.parent)
            inertia[p] = inertia[p] + spatial_algebra.Inertia(J, H, M)
            bias[p] = (bias[p][0] + n, bias[p][1] + f)
    rates: dict = {}
    motions: dict = {}
    for link in motion.links:
        k = id(link)
        base = motion.base(link)
        above = (base.alpha, base.a) if link.parent is None else motions[id(link.parent)]
        motions[k] = acceleration_from_parent(*above, *motion.biases(link), link.E, link.d)
        rates[k] = ca.SX(0, 1)
        if link.v.shape[0]:
            rates[k], *motions[k] = joint_acceleration(*motions[k], *eliminations[k], link.S_w, link.S_v)
    return rates


def inverse_mass_product(links, tau):
    """M⁻¹ τ by link, for τ by link, and the articulated inertia D of each joint: (1) to (3) without velocities and gravity."""
    zero = ca.SX(3, 1)
    joint_inertias: dict = {}
    eliminations: dict = {}
    rates: dict = {}
    inertia = {id(link): body_inertia(link)[0] for link in links}
    bias = {id(link): (zero, zero) for link in links}
    for link in reversed(links):
        k = id(link)
        own = (*inertia[k], *bias[k])
        joint_inertias[k] = subspace_product(link, *inertia[k].times((link.S_w, link.S_v)))
        joint_inertias[k] = sum(map(ca.diag, link.armature), joint_inertias[k])
        if link.v.shape[0]:
            *own, ns, fs, free = eliminate_joint(*own, link.S_w, link.S_v, tau[k], *link.armature)
            eliminations[k] = ns, fs, free
        if link.parent is not None:
            J, H, M, n, f = transform_to_parent(*own, zero, zero, link.E, link.d)
            p = id(link.parent)
            inertia[p] = inertia[p] + spatial_algebra.Inertia(J, H, M)
            bias[p] = (bias[p][0] + n, bias[p][1] + f)
    motions: dict = {}
    for link in links:
        k = id(link)
        above = (zero, zero) if link.parent is None else motions[id(link.parent)]
        motions[k] = acceleration_from_parent(*above, zero, zero, link.E, link.d)
        rates[k] = ca.SX(0, 1)
        if link.v.shape[0]:
            rates[k], *motions[k] = joint_acceleration(*motions[k], *eliminations[k], link.S_w, link.S_v)
    return rates, joint_inertias


def accelerations(motion, rates):
    """(α, a) of all links for given v̇, relative to free fall: gravity is an acceleration −g of the roots."""
    motions: dict = {}
    for link in motion.links:
        k = id(link)
        base = motion.base(link)
        above = (base.alpha, base.a) if link.parent is None else motions[id(link.parent)]
        alpha, a = from_parent(link, *above)
        b_w, b_v = motion.biases(link)
        motions[k] = (alpha + b_w + link.S_w @ rates[k], a + b_v + link.S_v @ rates[k])
    return motions


def inverse_dynamics(motion, rates, wrenches):
    """τ that produces given v̇, by the recursive Newton–Euler algorithm, by link."""
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
        tau[id(link)] = sum((A * rates[id(link)] for A in link.armature), subspace_product(link, n, f))
        if link.parent is not None:
            n, f = to_parent(link, n, f)
            p = id(link.parent)
            load[p] = (load[p][0] + n, load[p][1] + f)
    return tau


def mass_matrix(motion):
    """M(q) by the composite-body algorithm, with structural zeros between branches of the tree."""
    composite = {id(link): body_inertia(link)[0] for link in motion.links}
    for link in reversed(motion.links):
        if link.parent is not None:
            p = id(link.parent)
            own = spatial_algebra.rotate(composite[id(link)], link.E)
            composite[p] = composite[p] + spatial_algebra.shift(own, link.d)
    sizes = [link.v.shape[0] for link in motion.links]
    starts = {id(link): sum(sizes[:i]) for i, link in enumerate(motion.links)}
    M = ca.SX(sum(sizes), sum(sizes))
    for link in motion.links:
        i, d = starts[id(link)], link.v.shape[0]
        if not d:
            continue
        n, f = composite[id(link)].times((link.S_w, link.S_v))
        own_block = spatial_algebra.symmetric(subspace_product(link, n, f))
        M[i : i + d, i : i + d] = sum(map(ca.diag, link.armature), own_block)
        below, above = link, link.parent
        while above is not None:
            n, f = (ca.horzcat(*x) for x in zip(*[to_parent(below, n[:, k], f[:, k]) for k in range(d)]))
            j, e = starts[id(above)], above.v.shape[0]
            if e:
                block = subspace_product(above, n, f)
                M[j : j + e, i : i + d] = block
                M[i : i + d, j : j + e] = block.T
            below, above = above, above.parent
    return ca.sparsify(M)
