"""Kinematics of a tree: every joint as rotation, arm, motion subspace and bias, and every body from the root outward.

The frame of a link sits at the joint that connects its body to the parent. It is parallel to the world in the reference
configuration, so that the transform between two joints is a constant arm (Müller and Terze, sec. 2.3.3). The frame of a body
with a free joint is its own frame: about another point or in other axes, the inertia of a thin body would be lost in the
rounding of the terms that its mass adds.

    R_c = R_p E,     o_c = o_p + R_p d                     pose of a child, (E, d) from the joint's H(q)      (1)
    ω_c = Eᵀ ω_p + S_ω v                                                                                     (2)
    α_c = Eᵀ α_p + S_ω v̇ + b_ω,      b_ω = (Eᵀ ω_p) × S_ω v + Ṡ_ω v                                           (3)
    a_c = Eᵀ (a_p + α_p × d) + S_v v̇ + b_v                                                                   (4)
          b_v = Eᵀ ω_p × (ω_p × d) + 2 Eᵀ ω_p × S_v v + S_ω v × S_v v + Ṡ_v v

with the true acceleration a of the origin: no linear velocity is needed.

Coordinates are canonical ones of the second kind, H = exp(ξ₁ q₁) exp(ξ₂ q₂) …. For joints whose motions form a group they are
optionally of the first kind, H = exp(ξ₁ q₁ + ξ₂ q₂ + …) (5): Müller and Terze, sec. 2.3.2 [mueller2009].
"""

from functools import cached_property

import casadi as ca
import numpy as np

from ...elements import quantity
from ...joints.free import Free
from ...lie import SE3, SO3, Rn, Turning, se3, so3
from . import spatial_algebra
from .trace_cache import trace_once

AXIS_LENGTH_EQUAL = 1e-14  # |squared length of an axis − 1|, below which it is a unit vector
MOTION_EQUAL = 1e-12  # largest difference of two motion subspaces, below which they are equal


class Link:
    """One body of the tree with its joint, as expressions of the joint's own coordinates x and velocities v.

    fixed       pose of the joint's frame in the parent's frame; by default that of the model
    rotations   True if the coordinate of a joint that turns about one axis is a rotation matrix, not the angle
    declared    True if v are the velocities that the joint declares
    armature    inertia of a rotor along each coordinate, as one column in a tuple; empty if there is none
    """

    armature: tuple = ()

    def __init__(self, branch, parent, first_kind=False, fixed=None, rotations=False):
        self.branch, self.parent = branch, parent
        self.body, self.joint = branch.body, branch.joint
        self.group = _axis_group(self.joint) if rotations else motion_group(self.joint)
        self.first_kind = first_kind and (self.joint.forms_group or not self.group.additive)
        self.group = Rn(self.joint.dof) if self.first_kind else self.group
        name = self.joint.name if fixed is None else "joint"
        self.x = ca.SX.sym(f"{name}.x", self.group.size)
        self.v = ca.SX.sym(f"{name}.v", self.group.dimension)
        # frames: `inner` on the body, `outer` on its parent; both from the respective centre of mass
        self.outer, self.inner = self.joint.placed[::-1] if branch.reversed else self.joint.placed
        self.inner = ca.SX.eye(4) if self.group.free else self.inner
        if fixed is None:
            fixed = self.outer if parent is None else se3.inverse(parent.inner) @ self.outer
        self.fixed = fixed
        H, S = self._joint_motion()
        whole = ca.sparsify(fixed @ H)
        self.E, self.d = (ca.sparsify(x) for x in se3.split_pose(whole))  # (1)
        self.S_w, self.S_v = (ca.sparsify(x) for x in se3.split(S))
        self.spin, self.slide = self.S_w @ self.v, self.S_v @ self.v
        self.spin_bias, self.slide_bias = self._bias()

    def _joint_motion(self):
        """H(x) and S(x) of the link's frame in its parent's, for a joint of either direction. Sets `declared`."""
        joint, group, x = self.joint, self.group, self.x
        if group.free:
            self.declared = True
            return group.matrix(x), ca.SX.eye(6)
        if self.first_kind:
            H = se3.exp(self.screws() @ x)  # (5)
            S, self.declared = _motion_from_pose(x, H), False
        elif group.additive:
            H, S, self.declared = geometry(joint, x)
        else:
            H = se3.pose(group.matrix(x), ca.SX.zeros(3))
            S, self.declared = joint.motion(ca.SX.zeros(group.dimension)), True
        if self.branch.reversed:
            S = -(se3.Ad(H) @ S)
            H = se3.inverse(H)
        return H, S

    def motion_on_parent(self):
        """Pose and twist of the link's frame relative to the joint's frame on its parent, in the bodies' symbols."""
        parent = self.joint.second if self.branch.reversed else self.joint.first
        frames = Free(self.joint.name, parent, self.body, placed=(self.outer, self.inner))
        return frames.relative_pose(), frames.relative_twist()

    def screws(self):
        """The joint's free motions in its reference position."""
        return screws(self.joint)

    def _bias(self):
        """Ṡ_ω v and Ṡ_v v."""
        S = se3.twist(angular=self.S_w, linear=self.S_v)
        if not ca.depends_on(S, self.x):
            return ca.SX(3, 1), ca.SX(3, 1)
        angular, linear = se3.split(ca.jtimes(S @ self.v, self.x, self.rates))
        return ca.sparsify(angular), ca.sparsify(linear)

    @cached_property
    def rates(self):
        """ẋ of the stored coordinates, from v."""
        return _rates(self.group, self.x, self.v)


_GEOMETRIES: dict = {}  # results of `_kind` by the identity of the joint's trace


def traced_geometry(joint):
    """The geometry of a kind of joint, derived once for all joints with the same trace.

    Returns the function x → (H, S), True if S is the declared one, and the free motions in the reference position.
    """
    trace = joint.trace()
    if id(trace) not in _GEOMETRIES:
        x = ca.SX.sym("x", joint.dof)
        H = joint.pose(x)
        S, declared = _motion_subspace(joint, x, H)
        function = ca.Function("geometry", [x], [H, S])
        _GEOMETRIES[id(trace)] = trace, function, declared, joint.motion(ca.SX.zeros(joint.dof))
    return _GEOMETRIES[id(trace)][1:]


def pose(joint, x):
    """H(x) of a joint."""
    return joint.pose(x) if joint.trace() is None else traced_geometry(joint)[0](x)[0]


def geometry(joint, x):
    """H(x) and S(x) of a joint, and True if S is the declared one."""
    if joint.trace() is None:
        H = joint.pose(x)
        return H, *_motion_subspace(joint, x, H)
    function, declared, _ = traced_geometry(joint)
    return *function(x), declared


def screws(joint):
    """The free motions of a joint in its reference position."""
    return joint.motion(ca.SX.zeros(joint.dof)) if joint.trace() is None else traced_geometry(joint)[2]


def motion_group(joint):
    """The group of a joint's motions: SO(3), SE(3), or Rᵏ of its coordinates.

    SO(3) and SE(3) are recognised by their constant motion subspace, also in joints of users.
    """
    subspaces = {3: se3.twist(angular=ca.SX.eye(3), linear=ca.SX.zeros(3, 3)), 6: ca.SX.eye(6)}
    if joint.dof in subspaces:
        S = joint.motion(ca.SX.sym("q", joint.dof))
        if S.is_constant() and not ca.sparsify(S - subspaces[joint.dof]).nnz():
            return SO3() if joint.dof == 3 else SE3()
    return Rn(joint.dof)


def _axis_group(joint):
    """The group of a joint's motions, with the group of rotations about an axis for a joint that turns about one axis."""
    S = joint.motion(ca.SX.sym("q", joint.dof)) if joint.dof == 1 else ca.SX(6, 0)
    if joint.dof != 1 or not S.is_constant():
        return motion_group(joint)
    w, v = (ca.DM(x).full().ravel() for x in se3.split(S))
    return Turning(tuple(w.tolist())) if not v.any() and abs(w @ w - 1) < AXIS_LENGTH_EQUAL else motion_group(joint)


def _rates(group, x, v):
    """ẋ for a group element x and its body velocity v: derivative of x · exp(s v) at s = 0."""
    s = ca.SX.sym("s")
    return ca.substitute(ca.jacobian(group.retract(x, s * v, "cayley"), s), s, 0)


def _motion_from_pose(x, H):
    """S with V = S ẋ, from the derivative of the pose."""
    R, p = se3.split_pose(H)
    columns = []
    for k in range(x.shape[0]):
        W = R.T @ ca.reshape(ca.jacobian(ca.vec(R), x[k]), 3, 3)
        columns.append(se3.twist(angular=so3.vee(W), linear=R.T @ ca.jacobian(p, x[k])))
    return ca.horzcat(*columns)


def _motion_subspace(joint, x, H):
    """S with V = S ẋ, and True if it is the declared one; otherwise it is the derivative of the pose.

    The two are compared at three random positions.
    """
    if joint.dof == 0:
        return ca.SX(6, 0), True
    derived, declared = _motion_from_pose(x, H), joint.motion(x)
    random = np.random.default_rng(1)
    coordinates = {s.name() for s in ca.symvar(x)}
    free = [s for s in ca.symvar(ca.horzcat(derived, declared)) if s.name() not in coordinates]
    f = ca.Function("S", [x, ca.vertcat(*free) if free else ca.SX(0, 1)], [derived - declared])
    error = max(np.abs(f(random.standard_normal(joint.dof), random.random(len(free))).full()).max() for _ in range(3))
    return (declared, True) if error < MOTION_EQUAL else (derived, False)


def body_inertia(link):
    """Inertia of a link's body about the origin of the link's frame, and its centre of mass there, in the frame's axes."""
    body = link.body
    R, p = se3.split_pose(link.inner)  # the link's frame in the body
    center = ca.sparsify(-(R.T @ p))
    tensor = ca.SX.zeros(3, 3) if body.particle else body.inertia
    return spatial_algebra.rigid_body_inertia(body.mass, center, ca.sparsify(R.T @ tensor @ R)), center


@trace_once
def velocity_terms(E, d, wp, spin, slide, spin_bias, slide_bias):
    """b_ω, b_v of a link: (3), (4)."""
    parent_w = E.T @ wp
    centripetal = spatial_algebra.cross(wp, spatial_algebra.cross(wp, d))
    b_w = spatial_algebra.cross(parent_w, spin) + spin_bias
    return b_w, E.T @ centripetal + spatial_algebra.cross(2 * parent_w + spin, slide) + slide_bias


class Root:
    """A ground as the start of a recursion: its pose and motion as functions of time, and gravity as an acceleration.

    An acceleration −g of the ground replaces the gravity forces on all bodies.
    """

    def __init__(self, ground, gravity):
        t = quantity.time
        self.moves = ground.moves
        self.position, self.rotation, velocity, w = ground.motion()
        self.w = ca.sparsify(w)
        self.alpha = ca.sparsify(ca.jacobian(w, t))
        self.velocity = ca.sparsify(velocity)
        self.a = ca.sparsify(self.rotation.T @ (ca.jacobian(velocity, t) - gravity))


class Motion:
    """Poses and velocities of all links, from the roots outward: (1), (2). All are dictionaries by the identity of the link.

    w      angular velocity, link axes
    R, o   rotation and origin of the link's frame in the world
    u      velocity of the origin, world axes
    """

    def __init__(self, links, roots):
        self.links, self.roots = links, roots
        self.w: dict = {}
        self.R: dict = {}
        self.o: dict = {}
        self.u: dict = {}
        self._biases: dict = {}
        for link in links:
            base = self.base(link)
            wp = base.w if link.parent is None else self.w[id(link.parent)]
            Rp = base.rotation if link.parent is None else self.R[id(link.parent)]
            op = base.position if link.parent is None else self.o[id(link.parent)]
            up = base.velocity if link.parent is None else self.u[id(link.parent)]
            k = id(link)
            self.w[k] = link.E.T @ wp + link.spin  # (2)
            self.R[k] = Rp @ link.E  # (1)
            self.o[k] = op + Rp @ link.d
            self.u[k] = up + Rp @ spatial_algebra.cross(wp, link.d) + self.R[k] @ link.slide

    def base(self, link):
        """The root of a link without a parent; None for other links."""
        joint = link.joint
        return self.roots[id(joint.second if link.branch.reversed else joint.first)] if link.parent is None else None

    def biases(self, link):
        """b_ω, b_v of a link: (3), (4)."""
        wp = self.base(link).w if link.parent is None else self.w[id(link.parent)]
        if id(link) not in self._biases:
            own = (link.spin, link.slide, link.spin_bias, link.slide_bias)
            self._biases[id(link)] = velocity_terms(link.E, link.d, wp, *own)
        return self._biases[id(link)]

    def body(self, link):
        """Pose and velocity of a link's body at its centre of mass: x, R, ẋ (world axes), ω (body axes)."""
        k, inner = id(link), link.inner
        Q, p = se3.split_pose(inner)  # link axes in body axes
        c = -(Q.T @ p)  # centre of mass in the link's frame
        x = self.o[k] + self.R[k] @ c
        velocity = self.u[k] + self.R[k] @ spatial_algebra.cross(self.w[k], c)
        return x, self.R[k] @ Q.T, velocity, Q @ self.w[k]
