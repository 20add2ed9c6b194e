"""Joint coordinates on a spanning tree, loops closed by the constraints of cut joints (Müller and Terze [mueller2009]).

Without constraints the accelerations come from the articulated-body recursion, which grows linearly with the tree. With
constraints (cut joints, imposed motions, constraints of a user)

    M v̇ + h = τ + Gᵀ λ,     G v̇ = γ                                                               (1)
    S λ = γ − G M⁻¹ (τ − h),    S = G M⁻¹ Gᵀ,     M = Lᵀ D L without fill                         (2)

with M from the composite-body algorithm, factored in the order tips before roots, and h from the recursive Newton–Euler
algorithm (eq. 49 to 52 there). The coordinates of spherical and free joints are elements of SO(3) and SE(3), so that no
position is singular.
"""

import casadi as ca
import numpy as np

from ..elements.quantity import time
from ..errors import ModelError
from ..lie import Product, se3, so3
from ..lookup.lookup_calls import plain
from ..model.topology import spanning_tree
from ..registry import register
from .absolute import Absolute
from .algebra import recursions
from .algebra.constraint_rows import Block
from .algebra.factorisation import Factor, mass_solver, spreading
from .algebra.lie_derivative import split_linear_angular, stack_linear_angular
from .algebra.loads import Loads
from .algebra.rotor_inertia import RotorInertia, armature_of
from .algebra.substitution import Substitution
from .algebra.to_joint_coordinates import joint_state_function
from .algebra.tree_kinematics import Link, Motion, Root
from .base import Solvers
from .graphs.outputs import joint_motion_of_bodies
from .graphs.run_kernels import active_jacobian, replace_conditioning
from .tables import tree_schedule
from .transmission import Transmission


class TreeSubstitution(Substitution):
    """Substitution of signals in which the coordinates of tree joints are state, not functions of the bodies' poses."""

    def __init__(self, model, links):
        super().__init__(model)
        self.links = {link.joint.name: link for link in links}
        for joint in model.joints:
            link = self.links.get(joint.name)
            if link is not None and link.group.additive and link.declared:
                for symbol, state in ((joint.coordinate, link.x), (joint.rate, link.v)):
                    for s, x in zip(ca.vertsplit(symbol), ca.vertsplit(state)):
                        self.of_joints.pop(s.name(), None)
                        self.fixed[s.name()] = (s, x)


@register("relative")
class Relative(Transmission):
    """Joint coordinates: fewer unknowns, no constraints in trees, the fastest choice for open chains and robots."""

    coordinates = "joint"
    tables = "tree"
    switches = "dependent"
    first_kind = False  # True: canonical coordinates of the first kind, also for joints on SO(3) and SE(3)
    rotations = False  # True: a joint that turns about one axis has a rotation matrix as coordinate, not an angle

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
        self._place_rotors()
        self.motion = Motion(self.links, {id(g): Root(g, model.gravity) for g in model.grounds})
        self.substitution = TreeSubstitution(model, self.links)
        self.manifold = Product(*[link.group for link in self.links])
        self.q = ca.vertcat(*[link.x for link in self.links])
        self.v = ca.vertcat(*[link.v for link in self.links])
        sizes = [link.v.shape[0] for link in self.links]
        self.offset = dict(zip([id(link) for link in self.links], np.cumsum([0, *sizes])))
        tree = {id(link.joint) for link in self.links if link.group.additive and link.declared}
        self.turns = [(j, k) for j in model.joints for k in range(j.dof) if j.angular[k] and id(j) not in tree]
        self.p = ca.vertcat(*model.inputs, *[j.turn[k] for j, k in self.turns])
        self._express_bodies()
        self.declare(map(self._derive, self._other_constraints()))
        self.loads = Loads(model, self.substitution, along=self.links, weight=False, like=self.absolute.loads)

    def _place_rotors(self):
        """Set the armature of links whose velocities are those of their joint, and `coupled`, the rotors of all other joints."""
        own = {}
        for link in self.links:
            A = armature_of(link.joint)
            if A is not None and link.declared and not link.group.free:
                link.armature = (A,)
                own[id(link.joint)] = link
        others = [j for j in self.absolute.rotors.joints if id(j) not in own]
        self.coupled = RotorInertia(self.model, self.absolute.substitution, others)

    @staticmethod
    def estimated_cost(count):
        operations = count.relative()
        return operations, count.run_cost(operations, bool(count.closing)) * count.step_ratio()

    def measure(self, scales):
        super().measure(scales)
        self.absolute.measure(scales)

    def release(self, constraints):
        super().release(constraints)
        self.absolute.release(constraints)
        self._wrenches = None

    # from bodies to joints

    def _express_bodies(self):
        """Set the symbols of the bodies and their values in joint coordinates."""
        self.body_symbols = []
        self.body_values = []
        for link in self.links:
            for symbol, value in zip(link.body.symbols, self.motion.body(link)):
                self.body_symbols.append(ca.vec(symbol))
                self.body_values.append(ca.vec(ca.densify(value)))
            if link.joint.dof and link.group.additive and link.declared:  # its coordinate counts full turns
                self.body_symbols.append(link.joint.turn)
                self.body_values.append(link.x)

    def to_state_symbols(self, expression):
        """An expression of the bodies' symbols as one of the joint coordinates and velocities."""
        return ca.substitute([expression], self.body_symbols, self.body_values)[0]

    def rate_of(self, expression):
        states = [(z, self.to_state_symbols(rate)) for z, rate in self.substitution.states(expression)]
        rates = ca.vertcat(*[link.rates for link in self.links], 1, *[rate for _, rate in states])
        return ca.jtimes(expression, ca.vertcat(self.q, time, *[z for z, _ in states]), rates)

    def _other_constraints(self):
        """The constraints that are not tree joints."""
        tree = {id(link.joint) for link in self.links}
        return [c for c in self.model.constraints if id(c) not in tree]

    def _derive(self, constraint):
        """The block of rows of one constraint in joint coordinates, or None if it has no rows."""
        equations = constraint.equations()
        holonomic = equations.position is not None
        raw = equations.position if holonomic else equations.velocity
        if raw.shape[0] == 0:
            return None
        declared = self.to_state_symbols(self.substitution.of(raw))
        psi = self.rate_of(declared) if holonomic else declared
        G = plain(ca.jacobian(psi, self.v))
        g = declared if holonomic else ca.SX.zeros(raw.shape[0])
        return Block(constraint, holonomic, [], equations.directions, g, psi, [G], self.rate_of)

    def jacobian(self):
        if not self.blocks:
            return ca.SX(0, self.v.shape[0])
        return ca.sparsify(ca.vertcat(*[block.G[0] for block in self.blocks]))

    # dynamics

    def wrenches(self):
        """Applied wrenches (torque, force) on the links, in their frames, by link; links without forces are left out."""
        wrenches = {}
        for link in self.links:
            f = self.loads.on[id(link.body)]
            if not ca.sparsify(f).nnz():
                continue
            Q, p = se3.split_pose(link.inner)
            force, torque = split_linear_angular(f)
            force = self.motion.R[id(link)].T @ force
            wrenches[id(link)] = (Q.T @ torque + ca.cross(-(Q.T @ p), force), force)
        return wrenches

    def driving(self):
        """Generalised forces τ along the joints."""
        return {id(link): self.loads.along[id(link)] for link in self.links}

    def free_accelerations(self):
        """v̇ without constraints, by the articulated-body algorithm; with the whole mass matrix if rotors couple joints."""
        if self.coupled:
            return mass_solver(self.mass_matrix())(-self.bias())
        rates = recursions.articulated_body_accelerations(self.motion, self.wrenches(), self.driving())
        return self.to_state_symbols(ca.vertcat(*[rates[id(link)] for link in self.links]))

    def applied_forces(self):
        """Generalised forces on the bodies and along the joints. Gravity is a force here, not an acceleration of the roots."""
        body_velocities = ca.vertcat(*[ca.vertcat(*self.motion.body(link)[2:]) for link in self.links])
        weights = [stack_linear_angular(link.body.mass * self.model.gravity, ca.SX.zeros(3)) for link in self.links]
        forces = [self.loads.on[id(link.body)] + weight for link, weight in zip(self.links, weights)]
        along = ca.vertcat(*[self.loads.along[id(link)] for link in self.links])
        return self.to_state_symbols(along + ca.jtimes(body_velocities, self.v, ca.vertcat(*forces), True))

    def mass_matrix(self):
        return self.add_coupled_rotors(recursions.mass_matrix(self.motion))

    def add_coupled_rotors(self, M):
        """M + Jᵀ A J of the rotors that are not in links."""
        if not self.coupled:
            return M
        J = self._jacobian_of_coupled()
        return ca.sparsify(M + J.T @ ca.diag(self.coupled.A) @ J)

    def _jacobian_of_coupled(self):
        return ca.sparsify(ca.jacobian(self.to_state_symbols(self.coupled.u), self.v))

    def coriolis_of_coupled_rotors(self):
        """Jᵀ A (J̇ + K J), the part of the Coriolis matrix of the rotors that are not in links."""
        if not self.coupled:
            return ca.SX(self.v.shape[0], self.v.shape[0])
        J = self._jacobian_of_coupled()
        q_dot = ca.vertcat(*[link.rates for link in self.links])
        rate = ca.reshape(ca.jtimes(ca.vec(ca.densify(J)), self.q, q_dot), *J.shape)
        return J.T @ ca.diag(self.coupled.A) @ (rate + self.to_state_symbols(self.coupled.turning_matrix()) @ J)

    def forces_of_coupled_rotors(self, a):
        """Jᵀ A (u̇ + k) of the rotors that are not in links, for v̇ = a."""
        if not self.coupled:
            return ca.SX.zeros(self.v.shape)
        efforts = self.in_state(self.coupled.efforts(), a)
        return -(self._jacobian_of_coupled().T @ efforts)

    def bias(self):
        return self.inverse_dynamics(ca.SX.zeros(self.v.shape))

    def inverse_dynamics(self, a):
        """Inverse dynamics by the recursive Newton–Euler algorithm."""
        ends = [*(self.offset[id(link)] for link in self.links), self.v.shape[0]]
        rates = dict(zip(map(id, self.links), ca.vertsplit(a, [int(k) for k in ends])))
        h = recursions.inverse_dynamics(self.motion, rates, self.wrenches())
        tau = self.driving()
        along = self.to_state_symbols(ca.vertcat(*[h[id(link)] - tau[id(link)] for link in self.links]))
        return along + self.forces_of_coupled_rotors(a) if self.coupled else along

    def _imposed_velocities(self):
        """g_t of G v = −g_t: the constraints at velocity level with all bodies at rest."""
        psi = {id(block.constraint): block.psi for block in self.absolute.blocks}
        rows = ca.vertcat(*[psi[id(block.constraint)] for block in self.blocks], ca.SX(0, 1))
        at_rest = ca.substitute(rows, self.absolute.v, ca.SX.zeros(self.absolute.v.shape))
        return self.to_state_symbols(at_rest)

    def power(self, lam, a):
        """Power that changes the energy: of forces without potential, of imposed motions and of moving grounds.

        A moving ground acts through the reactions (F, T), about the world's origin, of the joints attached to it:

            P = Σ F·(ẋ − Ω × x) + T·Ω,      Ω = R ω                                                       (3)
        """
        total = self.to_state_symbols(self.absolute.loads.power) - ca.dot(lam, self._imposed_velocities()[self.keep, :])
        total += self._power_of_rotors(a)
        on_moving_grounds = [link for link in self.links if link.parent is None and self.motion.base(link).moves]
        if not on_moving_grounds:
            return total
        power_of_grounds = ca.SX(0)
        for link in on_moving_grounds:
            base = self.motion.base(link)
            F, T = self._joint_wrenches(lam)[id(link)]
            Omega = base.rotation @ base.w
            power_of_grounds += ca.dot(F, base.velocity - ca.cross(Omega, base.position)) + ca.dot(T, Omega)  # (3)
        return total + self.in_state(power_of_grounds, a)

    def _power_of_rotors(self, a):
        """Power of the rotors in joints on moving grounds."""
        rotors = self.absolute.rotors
        imposed = rotors.imposed_rates(self.absolute.v)
        return -self.in_state(ca.dot(rotors.efforts(), imposed), a) if imposed.nnz() else 0

    # kernels

    def schedules(self, layout):
        schedule = tree_schedule.rate_of_tree(self, layout) if tree_schedule.is_supported(self) else None
        return {} if schedule is None else {"rate": schedule}

    def factorise(self, G):
        """The factors of M and of S as one column, and a function that makes the solvers: (2)."""
        if not self.keep:

            def free(gamma):
                return self.free_accelerations(), ca.SX(0, 1)

            return ca.SX.ones(1), lambda F: Solvers(free, lambda b: (ca.SX.zeros(self.v.shape[0]), b))
        factor = Factor(G, self.mass_matrix(), self.row_units(), self.activity(self.keep), self.softness(self.keep))

        def read(F):
            stored_G, solve, over_mass = factor.read(F)

            def accelerations(gamma):
                free = -over_mass(self.bias())
                lam = solve(gamma - stored_G @ free)  # (2)
                return free + over_mass(stored_G.T @ lam), lam

            def spread(lam):
                return over_mass(stored_G.T @ lam)

            return Solvers(accelerations, spreading(solve, spread), G=stored_G, over_mass=over_mass)

        return replace_conditioning(self, factor.vector(), G), read

    def least_change(self, rows):
        factor = Factor(
            active_jacobian(self, rows),
            self.mass_matrix(),
            self.row_units(rows),
            self.activity(rows),
            self.softness(rows),
        )
        G, solve, over_mass = factor.read(factor.vector())
        return lambda residual: ca.densify(-over_mass(G.T @ solve(residual)))

    # start and results

    def examination(self):
        return super().examination() | {
            "M": lambda: ca.Function("M", [self.q, self.p], [self.mass_matrix()]),
            "adopt": lambda: joint_state_function(self),
        }

    @property
    def all_rows(self):
        """The absolute formulation, in which tree joints have rows."""
        return self.absolute

    def in_state(self, expression, a):
        velocities = [x for link in self.links for x in self.motion.body(link)[2:]]
        accelerations = [x for link in self.links for x in (link.body.acceleration, link.body.angular_acceleration)]
        rates = ca.vertcat(*[link.rates for link in self.links])
        values = ca.jtimes(ca.vertcat(*velocities), ca.vertcat(self.q, self.v, time), ca.vertcat(rates, a, 1))
        symbols = [*self.body_symbols, ca.vertcat(*accelerations)]
        return ca.substitute([expression], symbols, [*self.body_values, ca.densify(values)])[0]

    def joint_motion(self, joint, a):
        link = self.substitution.links.get(joint.name)
        if link is None or not link.declared or link.group.free or (link.group.rotations and link.group.dimension == 1):
            return joint_motion_of_bodies(joint, self.absolute.substitution)
        start = self.offset[id(link)]
        q = link.x if link.group.additive else so3.log(link.group.matrix(link.x))
        return q, link.v, a[start : start + link.v.shape[0]]

    def coordinate_names(self):
        """One name per velocity: the joint, with an index if it has several."""
        names = [(link.joint.name, link.v.shape[0]) for link in self.links]
        return [name if n == 1 else f"{name}[{k}]" for name, n in names for k in range(n)]

    def moved_bodies(self):
        return [link.body.name for link in self.links for _ in range(link.v.shape[0])]

    def linear(self):
        return [
            1 if not ca.sparsify(link.S_w[:, k]).nnz() else 0 for link in self.links for k in range(link.v.shape[0])
        ]


@register("relative-first")
class RelativeFirstKind(Relative):
    """As relative, with canonical coordinates of the first kind for joints of several motions: spherical and free joints by
    their rotation vector, which is singular after a full turn. For comparison; [mueller2009], sec. 2.3.2."""

    switches = "dependent"
    first_kind = True
