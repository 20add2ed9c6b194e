"""Recursions over a tree: articulated bodies, composite bodies, inverse dynamics.

All take wrenches (n, f) on the links, in their frames, and generalised forces τ along the joints' velocities.

Articulated-body recursion (Featherstone), from the tips to the roots and back:

    U = I_A S,   D = Sᵀ U,   μ = τ − Sᵀ p_A                                                          (1)
    I_a = I_A − U D⁻¹ Uᵀ,    p_a = p_A + I_a b + U D⁻¹ μ                                             (2)
    v̇ = D⁻¹ (μ − Uᵀ a'),     a' = X a_p + b,   a = a' + S v̇                                          (3)
"""

import casadi as ca

from . import spatial
from .tracing import traced
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


@traced
def at_velocity(J, center, mass, w, n, f):
    """Wrench that a rigid body needs to keep turning, less what is applied to it."""
    velocity = velocity_wrench(spatial.Inertia(J, ca.SX(3, 3), ca.SX(3, 3)), center, mass, w)
    return velocity[0] - n, velocity[1] - f


@traced
def eliminated(J, H, M, n, f, S_w, S_v, tau):
    """Articulated inertia and bias of a link and all beyond it, as its joint hands them on, and what v̇ follows from."""
    I = spatial.Inertia(J, H, M)
    U = I.times((S_w, S_v))  # (1)
    Dinv = inverse_of(spatial.symmetric(S_w.T @ U[0] + S_v.T @ U[1]))
    free = Dinv @ (tau - (S_w.T @ n + S_v.T @ f))
    ns, fs = (x @ Dinv for x in U)
    return *spatial.less(I, U, (ns, fs)), n + U[0] @ free, f + U[1] @ free, ns, fs, free  # (2)


@traced
def handed_on(J, H, M, n, f, b_w, b_v, E, d):
    """The same about the origin of the parent, in its axes."""
    I = spatial.Inertia(J, H, M)
    bn, bf = I.times((b_w, b_v))
    n, f = E @ (n + bn), E @ (f + bf)
    return *spatial.shifted(spatial.turned(I, E), d), n + spatial.cross(d, f), f


@traced
def inherited(alpha, a, b_w, b_v, E, d):
    """The acceleration of a link whose joint does not accelerate: a' of (3)."""
    return E.T @ alpha + b_w, E.T @ (a + spatial.cross(alpha, d)) + b_v


@traced
def moved(alpha, a, ns, fs, free, S_w, S_v):
    """v̇ of a joint, and the acceleration of its link: (3)."""
    rate = free - ns.T @ alpha - fs.T @ a
    return rate, alpha + S_w @ rate, a + S_v @ rate


def articulated(motion, wrenches, tau):
    """v̇ of all links by the articulated-body recursion, as a dictionary by link."""
    none, inertia, bias = ca.SX(3, 1), {}, {}
    for link in motion.links:
        I, c = body_inertia(link)
        applied = wrenches.get(id(link), (none, none))
        inertia[id(link)], bias[id(link)] = I, at_velocity(I.J, c, link.body.mass, motion.w[id(link)], *applied)
    solved = {}
    for link in reversed(motion.links):
        k = id(link)
        own = (*inertia[k], *bias[k])
        if link.v.shape[0]:
            *own, ns, fs, free = eliminated(*own, link.S_w, link.S_v, tau[k])
            solved[k] = ns, fs, free
        if link.parent is not None:
            J, H, M, n, f = handed_on(*own, *motion.biases(link), link.E, link.d)
            p = id(link.parent)
            inertia[p] = inertia[p] + spatial.Inertia(J, H, M)
            bias[p] = (bias[p][0] + n, bias[p][1] + f)
    rates: dict = {}
    motions: dict = {}
    for link in motion.links:
        k, base = id(link), motion.base(link)
        above = (base.alpha, base.a) if link.parent is None else motions[id(link.parent)]
        motions[k] = inherited(*above, *motion.biases(link), link.E, link.d)
        rates[k] = ca.SX(0, 1)
        if link.v.shape[0]:
            rates[k], *motions[k] = moved(*motions[k], *solved[k], link.S_w, link.S_v)
    return rates


def over_mass(links, tau):
    """M⁻¹ τ by link, for τ by link: what joints at rest would gain without gravity; (1) to (3) with nothing but τ. Also the
    inertia D that each joint feels while all joints beyond it are free."""
    none, felt, solved, rates = ca.SX(3, 1), {}, {}, {}
    inertia = {id(link): body_inertia(link)[0] for link in links}
    push = {id(link): (none, none) for link in links}
    for link in reversed(links):
        k = id(link)
        own = (*inertia[k], *push[k])
        felt[k] = subspace_product(link, *inertia[k].times((link.S_w, link.S_v)))
        if link.v.shape[0]:
            *own, ns, fs, free = eliminated(*own, link.S_w, link.S_v, tau[k])
            solved[k] = ns, fs, free
        if link.parent is not None:
            J, H, M, n, f = handed_on(*own, none, none, link.E, link.d)
            p = id(link.parent)
            inertia[p] = inertia[p] + spatial.Inertia(J, H, M)
            push[p] = (push[p][0] + n, push[p][1] + f)
    motions: dict = {}
    for link in links:
        k, above = id(link), (none, none) if link.parent is None else motions[id(link.parent)]
        motions[k] = inherited(*above, none, none, link.E, link.d)
        rates[k] = ca.SX(0, 1)
        if link.v.shape[0]:
            rates[k], *motions[k] = moved(*motions[k], *solved[k], link.S_w, link.S_v)
    return rates, felt


def accelerations(motion, rates):
    """(α, a) of all links for given v̇, gravity still in it as an acceleration of the roots."""
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
