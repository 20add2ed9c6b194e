"""Kinematics of a tree: every joint as rotation, arm, motion subspace and bias, and every body from the root outward.

The frame of a body sits at the joint that carries it; with data in one world frame it is parallel to the world in the
reference configuration, so that a fixed transform between two joints is a constant arm (Müller and Terze, sec. 2.3.3).
The frame of a body that nothing holds is its own: about another point, or in other axes, a thin body's inertia would be
lost in the rounding of what its mass adds to it.

    R_c = R_p E,     o_c = o_p + R_p d                     pose of a child, (E, d) from the joint's H(q)      (1)
    ω_c = Eᵀ ω_p + S_ω v                                                                                     (2)
    α_c = Eᵀ α_p + S_ω v̇ + b_ω,      b_ω = (Eᵀ ω_p) × S_ω v + Ṡ_ω v                                           (3)
    a_c = Eᵀ (a_p + α_p × d) + S_v v̇ + b_v                                                                   (4)
          b_v = Eᵀ ω_p × (ω_p × d) + 2 Eᵀ ω_p × S_v v + S_ω v × S_v v + Ṡ_v v

with the true acceleration a of the origin: no linear velocity is needed.

Coordinates are canonical ones of the second kind, H = exp(ξ₁ q₁) exp(ξ₂ q₂) …, or, for joints whose motions form a group,
on demand of the first kind, H = exp(ξ₁ q₁ + ξ₂ q₂ + …) (5): Müller and Terze, sec. 2.3.2 [mueller2009].
"""

from functools import cached_property

import casadi as ca
import numpy as np

from ..describe import quantity
from ..joints.free import Free
from ..lie import SE3, SO3, Rn, Turning, se3, so3
from . import spatial
from .tracing import traced

SUBGROUPS = (
    "cylindrical",
    "planar",
    "schoenflies",
)  # besides rotations and rigid motions: joints whose motions form a group


class Link:
    """One body of the tree with its joint, as expressions of the joint's own coordinates x and velocities v.

    fixed       pose from the parent's frame to the joint's: that of the model, or any other
    rotations   whether a joint that turns about one axis has its rotation for a coordinate, and not the angle
    """

    def __init__(self, branch, parent, first_kind=False, fixed=None, rotations=False):
        self.branch, self.parent = branch, parent
        self.body, self.joint = branch.body, branch.joint
        self.group = _turning(self.joint) if rotations else _group(self.joint)
        self.first_kind = first_kind and (self.joint.key in SUBGROUPS or not isinstance(self.group, Rn))
        self.group = Rn(self.joint.dof) if self.first_kind else self.group
        name = self.joint.name if fixed is None else "joint"
        self.x = ca.SX.sym(f"{name}.x", self.group.size)
        self.v = ca.SX.sym(f"{name}.v", self.group.dimension)
        # frames: `inner` on the body, `outer` on its parent; both from the respective centre of mass
        self.outer, self.inner = self.joint.placed[::-1] if branch.reversed else self.joint.placed
        self.inner = ca.SX.eye(4) if isinstance(self.group, SE3) else self.inner
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
        """H(x) and S(x) of the body's frame in its parent's, whichever way the joint was drawn."""
        joint, group, x = self.joint, self.group, self.x
        if isinstance(group, SE3):
            self.declared = True
            return group.matrix(x), ca.SX.eye(6)
        if self.first_kind:
            H = se3.exp(self.screws() @ x)  # (5)
            S, self.declared = _traced_motion(x, H), False
        elif isinstance(group, Rn):
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
        near = self.joint.second if self.branch.reversed else self.joint.first
        frames = Free(self.joint.name, near, self.body, placed=(self.outer, self.inner))
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


_KINDS: dict = {}


def _kind(joint):
    """H and S of a joint as a function of its coordinates, whether S is the declared one, and its free motions in the reference
    position: derived once for all joints that are alike."""
    trace = joint.traced()
    if id(trace) not in _KINDS:
        x = ca.SX.sym("x", joint.dof)
        H = joint.pose(x)
        S, declared = _true_motion(joint, x, H)
        own = ca.Function("geometry", [x], [H, S])
        _KINDS[id(trace)] = trace, own, declared, joint.motion(ca.SX.zeros(joint.dof))
    return _KINDS[id(trace)][1:]


def pose(joint, x):
    """H(x) of a joint."""
    return joint.pose(x) if joint.traced() is None else _kind(joint)[0](x)[0]


def geometry(joint, x):
    """H(x) and S(x) of a joint, and whether S is the declared one."""
    if joint.traced() is None:
        H = joint.pose(x)
        return H, *_true_motion(joint, x, H)
    own, declared, _ = _kind(joint)
    return *own(x), declared


def screws(joint):
    """The free motions of a joint in its reference position."""
    return joint.motion(ca.SX.zeros(joint.dof)) if joint.traced() is None else _kind(joint)[2]


def _group(joint):
    """The group of a joint's motions: rotations and rigid motions as such, recognised by their constant motion subspace,
    whoever wrote the joint; all others by their coordinates."""
    whole = {3: se3.twist(angular=ca.SX.eye(3), linear=ca.SX.zeros(3, 3)), 6: ca.SX.eye(6)}
    if joint.dof in whole:
        S = joint.motion(ca.SX.sym("q", joint.dof))
        if S.is_constant() and not ca.sparsify(S - whole[joint.dof]).nnz():
            return SO3() if joint.dof == 3 else SE3()
    return Rn(joint.dof)


def _turning(joint):
    """The group of a joint's motions, with rotations about one axis as such."""
    S = joint.motion(ca.SX.sym("q", joint.dof)) if joint.dof == 1 else ca.SX(6, 0)
    if joint.dof != 1 or not S.is_constant():
        return _group(joint)
    w, v = (ca.DM(x).full().ravel() for x in se3.split(S))
    return Turning(tuple(w.tolist())) if not v.any() and abs(w @ w - 1) < 1e-14 else _group(joint)


def _rates(group, x, v):
    """ẋ for a group element x and its body velocity v: derivative of x · exp(s v) at s = 0."""
    s = ca.SX.sym("s")
    return ca.substitute(ca.jacobian(group.retract(x, s * v, "cayley"), s), s, 0)


def _traced_motion(x, H):
    """S with V = S ẋ, from the derivative of the pose."""
    R, p = se3.split_pose(H)
    columns = []
    for k in range(x.shape[0]):
        W = R.T @ ca.reshape(ca.jacobian(ca.vec(R), x[k]), 3, 3)
        columns.append(se3.twist(angular=so3.vee(W), linear=R.T @ ca.jacobian(p, x[k])))
    return ca.horzcat(*columns)


def _true_motion(joint, x, H):
    """S with V = S ẋ: the declared one where it is that, else the derivative of the pose."""
    if joint.dof == 0:
        return ca.SX(6, 0), True
    traced, declared = _traced_motion(x, H), joint.motion(x)
    random = np.random.default_rng(1)
    free = [s for s in ca.symvar(ca.horzcat(traced, declared)) if s.name() not in {e.name() for e in ca.symvar(x)}]
    f = ca.Function("S", [x, ca.vertcat(*free) if free else ca.SX(0, 1)], [traced - declared])
    off = max(np.abs(f(random.standard_normal(joint.dof), random.random(len(free))).full()).max() for _ in range(3))
    return (declared, True) if off < 1e-12 else (traced, False)


def body_inertia(link):
    """Inertia of a link's body about the origin of its frame, in its axes."""
    body = link.body
    R, p = se3.split_pose(link.inner)  # frame in the body: centre of mass in the frame is −Rᵀ p
    tensor = ca.SX.zeros(3, 3) if body.particle else body.inertia
    return spatial.rigid(body.mass, ca.sparsify(-(R.T @ p)), ca.sparsify(R.T @ tensor @ R)), ca.sparsify(-(R.T @ p))


@traced
def velocity_terms(E, d, wp, spin, slide, spin_bias, slide_bias):
    """b_ω, b_v of a link: (3), (4)."""
    carried = E.T @ wp
    swing = spatial.cross(wp, spatial.cross(wp, d))
    b_w = spatial.cross(carried, spin) + spin_bias
    return b_w, E.T @ swing + spatial.cross(2 * carried + spin, slide) + slide_bias


class Root:
    """A ground as the start of a recursion: its pose and motion as functions of time, and gravity as an acceleration.

    Falling with −g instead of pulling every body saves the gravity forces.
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
    """Positions and velocities of all links, from the roots outward: (1), (2), and world poses where they are asked for."""

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
            self.u[k] = up + Rp @ spatial.cross(wp, link.d) + self.R[k] @ link.slide

    def base(self, link):
        """The root that a first link hangs on."""
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
        velocity = self.u[k] + self.R[k] @ spatial.cross(self.w[k], c)
        return x, self.R[k] @ Q.T, velocity, Q @ self.w[k]
