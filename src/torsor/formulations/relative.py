"""Joint coordinates on a spanning tree, loops closed by the constraints of cut joints (Müller and Terze [mueller2009]).

Without constraints the accelerations come from the articulated-body recursion, which grows linearly with the tree. With
constraints (cut joints, imposed motions, constraints of a user)

    M v̇ + h = τ + Gᵀ λ,     G v̇ = γ                                                               (1)
    S λ = γ − G M⁻¹ (τ − h),    S = G M⁻¹ Gᵀ,     M = Lᵀ D L without fill                         (2)

with M from composite bodies, factored in the order tips before roots, and h from the recursion of Newton and Euler
(eq. 49 to 52 there). Spherical and free joints are rotations and rigid motions as such, so that no position is singular.
"""

import casadi as ca
import numpy as np

from ..describe.quantity import time
from ..describe.topology import spanning_tree
from ..errors import ModelError
from ..lie import SE3, Product, Rn, Turning, se3, so3
from ..registry import register
from ..tables.calls import plain
from . import recursions, tree_schedule
from .absolute import Absolute
from .adoption import adopting
from .base import Solvers
from .factor import Factor, spreading
from .graphs import conditioned
from .lie_derivative import parts, together
from .loads import Loads
from .outputs import joint_motion_of_bodies
from .rows import Block
from .substitution import Substitution
from .transmission import Transmission
from .tree import Link, Motion, Root


class TreeSubstitution(Substitution):
    """As in absolute coordinates, but the coordinates of tree joints are state, not functions of the bodies' poses."""

    def __init__(self, model, links):
        super().__init__(model)
        self.links = {link.joint.name: link for link in links}
        for joint in model.joints:
            link = self.links.get(joint.name)
            if link is not None and isinstance(link.group, Rn) and link.declared:
                for symbol, state in ((joint.coordinate, link.x), (joint.rate, link.v)):
                    for s, x in zip(ca.vertsplit(symbol), ca.vertsplit(state)):
                        self.of_joints.pop(s.name(), None)
                        self.fixed[s.name()] = (s, x)


@register("relative")
class Relative(Transmission):
    """Joint coordinates: fewer unknowns, no constraints in trees, the fastest choice for open chains and robots."""

    first_kind = False  # canonical coordinates of the second kind; joints on SO(3) and SE(3) as such
    rotations = False  # joints that turn about one axis by their angle

    def __init__(self, model):
        super().__init__(model)
        particle = next((b for b in model.bodies if b.particle), None)
        if particle is not None:
            raise ModelError(
                f"body {particle.name!r} is a particle (inertia 0); formulation {self.key!r} needs bodies with an "
                "orientation: give it an inertia, or use formulation='absolute'"
            )
        self.absolute = Absolute(model)
        self.topology = spanning_tree(model)
        self.links: list[Link] = []
        by_body: dict[int, Link] = {}
        for branch in self.topology.branches:
            above = None if branch.parent is None else by_body[id(branch.parent)]
            link = Link(branch, above, self.first_kind, rotations=self.rotations)
            by_body[id(branch.body)] = link
            self.links.append(link)
        self.link_of = by_body
        self.motion = Motion(self.links, {id(g): Root(g, model.gravity) for g in model.grounds})
        self.substitution = TreeSubstitution(model, self.links)
        self.manifold = Product(*[link.group for link in self.links])
        self.q = ca.vertcat(*[link.x for link in self.links])
        self.v = ca.vertcat(*[link.v for link in self.links])
        sizes = [link.v.shape[0] for link in self.links]
        self.offset = dict(zip([id(link) for link in self.links], np.cumsum([0, *sizes])))
        tree = {id(link.joint) for link in self.links if isinstance(link.group, Rn) and link.declared}
        self.turns = [(j, k) for j in model.joints for k in range(j.dof) if j.angular[k] and id(j) not in tree]
        self.p = ca.vertcat(*model.inputs, *[j.turn[k] for j, k in self.turns])
        self._bodies()
        self.declare(map(self._derive, self._constraints()))
        self.loads = Loads(model, self.substitution, along=self.links, weight=False, like=self.absolute.loads)

    def measure(self, scales):
        super().measure(scales)
        self.absolute.measure(scales)

    def release(self, constraints):
        super().release(constraints)
        self.absolute.release(constraints)
        self._wrenches = None

    # from bodies to joints

    def _bodies(self):
        """What the bodies' symbols are in joint coordinates."""
        self.body_symbols, self.body_values = [], []
        for link in self.links:
            for symbol, value in zip(link.body.symbols, self.motion.body(link)):
                self.body_symbols.append(ca.vec(symbol))
                self.body_values.append(ca.vec(ca.densify(value)))
            if link.joint.dof and isinstance(link.group, Rn) and link.declared:  # its turns are in its own coordinate
                self.body_symbols.append(link.joint.turn)
                self.body_values.append(link.x)

    def placed(self, expression):
        """An expression of the bodies' symbols as one of the joint coordinates and velocities."""
        return ca.substitute([expression], self.body_symbols, self.body_values)[0]

    def rate_of(self, expression):
        """ė along the motion, velocities held, and with time."""
        states = [(z, self.placed(speed)) for z, speed in self.substitution.states(expression)]
        along = ca.vertcat(*[link.rates for link in self.links], 1, *[speed for _, speed in states])
        return ca.jtimes(expression, ca.vertcat(self.q, time, *[z for z, _ in states]), along)

    def _constraints(self):
        tree = {id(link.joint) for link in self.links}
        return [c for c in self.model.constraints if id(c) not in tree]

    def _derive(self, constraint):
        """All levels of one constraint in joint coordinates, or None if it has no rows."""
        stated = constraint.equations()
        holonomic = stated.position is not None
        raw = stated.position if holonomic else stated.velocity
        if raw.shape[0] == 0:
            return None
        first = self.placed(self.substitution.of(raw))
        psi = self.rate_of(first) if holonomic else first
        G = plain(ca.jacobian(psi, self.v))
        g = first if holonomic else ca.SX.zeros(raw.shape[0])
        return Block(constraint, holonomic, [], stated.directions, g, psi, [G], self.rate_of)

    def jacobian(self):
        if not self.blocks:
            return ca.SX(0, self.v.shape[0])
        return ca.sparsify(ca.vertcat(*[block.G[0] for block in self.blocks]))

    # dynamics

    def wrenches(self):
        """Applied forces on the links, in their frames, from what acts on the bodies."""
        found = {}
        for link in self.links:
            f = self.loads.on[id(link.body)]
            if not ca.sparsify(f).nnz():
                continue
            (Q, p), (force, torque) = se3.split_pose(link.inner), parts(f)
            force = self.motion.R[id(link)].T @ force
            found[id(link)] = (Q.T @ torque + ca.cross(-(Q.T @ p), force), force)
        return found

    def driving(self):
        """Generalised forces τ along the joints."""
        return {id(link): self.loads.along[id(link)] for link in self.links}

    def free_accelerations(self):
        """v̇ without constraints, by the articulated-body recursion."""
        rates = recursions.articulated(self.motion, self.wrenches(), self.driving())
        return self.placed(ca.vertcat(*[rates[id(link)] for link in self.links]))

    def applied(self):
        """What acts on the bodies and along the joints; gravity pulls here, since no root falls."""
        moving = ca.vertcat(*[ca.vertcat(*self.motion.body(link)[2:]) for link in self.links])
        weights = [together(link.body.mass * self.model.gravity, ca.SX.zeros(3)) for link in self.links]
        acting = [self.loads.on[id(link.body)] + weight for link, weight in zip(self.links, weights)]
        along = ca.vertcat(*[self.loads.along[id(link)] for link in self.links])
        return self.placed(along + ca.jtimes(moving, self.v, ca.vertcat(*acting), True))

    def mass_matrix(self):
        return recursions.mass_matrix(self.motion)

    def bias(self):
        return self.needed(ca.SX.zeros(self.v.shape))

    def needed(self, a):
        """By the recursion of Newton and Euler."""
        ends = [*(self.offset[id(link)] for link in self.links), self.v.shape[0]]
        rates = dict(zip(map(id, self.links), ca.vertsplit(a, [int(k) for k in ends])))
        h, tau = recursions.inverse_dynamics(self.motion, rates, self.wrenches()), self.driving()
        return self.placed(ca.vertcat(*[h[id(link)] - tau[id(link)] for link in self.links]))

    def _imposed(self):
        """Velocities that the constraints prescribe with all bodies at rest: g_t of G v = −g_t, bodies' velocities in v."""
        known = {id(block.constraint): block.psi for block in self.absolute.blocks}
        rows = ca.vertcat(*[known[id(block.constraint)] for block in self.blocks], ca.SX(0, 1))
        rest = ca.substitute(rows, self.absolute.v, ca.SX.zeros(self.absolute.v.shape))
        return self.placed(rest)

    def power(self, lam, a):
        """Power of what changes the energy: of forces without potential, each on the bodies only, of imposed motions, and of
        moving grounds through the reactions (F, T) of the joints that they carry, about the world's origin:

            P = Σ F·(ẋ − Ω × x) + T·Ω,      Ω = R ω                                                       (3)
        """
        total = self.placed(self.absolute.loads.power) - ca.dot(lam, self._imposed()[self.keep, :])
        moving = [link for link in self.links if link.parent is None and self.motion.base(link).moves]
        if not moving:
            return total
        carried = ca.SX(0)
        for link in moving:
            base, (F, T) = self.motion.base(link), self._transmitted(lam)[id(link)]
            turning = base.rotation @ base.w
            carried += ca.dot(F, base.velocity - ca.cross(turning, base.position)) + ca.dot(T, turning)  # (3)
        return total + self.in_state(carried, a)

    # kernels

    def schedules(self, layout):
        found = tree_schedule.rate_of_tree(self, layout) if tree_schedule.fits(self) else None
        return {} if found is None else {"rate": found}

    def factored(self, G):
        """The factors of M and of S as one column: (2)."""
        if not self.keep:
            free = lambda gamma: (self.free_accelerations(), ca.SX(0, 1))
            return ca.SX.ones(1), lambda F: Solvers(free, lambda b: (ca.SX.zeros(self.v.shape[0]), b))
        mass = Factor(G, self.mass_matrix(), self.row_units())

        def read(F):
            kept, solve, over_mass = mass.read(F)

            def accelerations(gamma):
                free = -over_mass(self.bias())
                lam = solve(gamma - kept @ free)  # (2)
                return free + over_mass(kept.T @ lam), lam

            spread = lambda lam: over_mass(kept.T @ lam)
            return Solvers(accelerations, spreading(solve, spread), G=kept, over_mass=over_mass)

        return conditioned(self, mass.vector(), G), read

    def least_change(self, rows):
        mass = Factor(self.jacobian()[rows, :], self.mass_matrix(), self.row_units(rows))
        G, solve, over_mass = mass.read(mass.vector())
        return lambda residual: ca.densify(-over_mass(G.T @ solve(residual)))

    # start and results

    def examination(self):
        mass = lambda: ca.Function("M", [self.q, self.p], [self.mass_matrix()])
        return super().examination() | {"M": mass, "adopt": lambda: adopting(self)}

    @property
    def all_rows(self):
        """The absolute formulation: tree joints have rows there."""
        return self.absolute

    def in_state(self, expression, a):
        moving = [x for link in self.links for x in self.motion.body(link)[2:]]
        symbols = [x for link in self.links for x in (link.body.acceleration, link.body.angular_acceleration)]
        along = ca.vertcat(*[link.rates for link in self.links])
        total = ca.jtimes(ca.vertcat(*moving), ca.vertcat(self.q, self.v, time), ca.vertcat(along, a, 1))
        old = [*self.body_symbols, ca.vertcat(*symbols)]
        return ca.substitute([expression], old, [*self.body_values, ca.densify(total)])[0]

    def joint_motion(self, joint, a):
        link = self.substitution.links.get(joint.name)
        if link is None or not link.declared or isinstance(link.group, (SE3, Turning)):
            return joint_motion_of_bodies(joint, self.absolute.substitution)
        at = self.offset[id(link)]
        q = link.x if isinstance(link.group, Rn) else so3.log(link.group.matrix(link.x))
        return q, link.v, a[at : at + link.v.shape[0]]

    def coordinate_names(self):
        """One name per velocity: the joint, with its place where it has several."""
        names = [(link.joint.name, link.v.shape[0]) for link in self.links]
        return [name if n == 1 else f"{name}[{k}]" for name, n in names for k in range(n)]

    def carried(self):
        return [link.body.name for link in self.links for _ in range(link.v.shape[0])]

    def linear(self):
        return [
            1 if not ca.sparsify(link.S_w[:, k]).nnz() else 0 for link in self.links for k in range(link.v.shape[0])
        ]


@register("relative-first")
class RelativeFirstKind(Relative):
    """As relative, with canonical coordinates of the first kind for joints of several motions: spherical and free joints by
    their rotation vector, which is singular after a full turn. For comparison; [mueller2009], sec. 2.3.2."""

    first_kind = True
