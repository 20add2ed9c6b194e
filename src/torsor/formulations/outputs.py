"""What a result holds besides the state: coordinates, reactions, energies, drift and a user's signals."""

import casadi as ca

from ..joints import Joint
from ..joints.base import Connection
from ..lie import se3
from ..quantity import time
from .lie_derivative import rate, velocities


class Outputs:
    """One function (t, q, v, p, a, λ) → a flat vector, and `layout`, which names its parts: (name, size).

    Everything is written in the bodies' symbols, accelerations included; the formulation then says what they are in its
    state (`in_state`), what a joint's motion is (`joint_motion`), and which wrench a connection transmits (`reaction`).
    """

    def __init__(self, formulation, signals):
        self.f = formulation
        self.model, self.meaning = formulation.model, formulation.meaning
        self.a = ca.SX.sym("a", formulation.v.shape[0])
        self.lam = ca.SX.sym("lam", len(formulation.keep))
        self.joints = [j for j in self.model.joints if j.dof]
        self.connections = [c for c in self.model.constraints if isinstance(c, Connection)]
        self.parts = dict(self._bodies())
        self.parts.update(self._motion())
        self.forces = formulation.multipliers(self.lam, self.a)
        self.parts["multiplier"] = ca.densify(self.forces)
        self.parts.update(self._reactions())
        self.parts.update(self._scalars())
        self.parts["signals"] = self._signals(signals)
        self.layout = [(name, expression.shape[0]) for name, expression in self.parts.items()]

    def function(self):
        f = self.f
        flat = f.in_state(ca.densify(ca.vertcat(*self.parts.values())), self.a)
        return ca.Function("outputs", [time, f.q, f.v, f.p, self.a, self.lam], [ca.cse(ca.densify(flat))])

    def _bodies(self):
        of = self.meaning.of
        for what in ("position", "rotation", "velocity", "angular_velocity"):
            yield what, ca.vertcat(*[of(ca.vec(getattr(body, what))) for body in self.model.bodies])
        for what in ("acceleration", "angular_acceleration"):
            yield what, ca.vertcat(*[getattr(body, what) for body in self.model.bodies])

    def _motion(self):
        """Joint coordinates, velocities and accelerations."""
        motions = [self.f.joint_motion(joint, self.a) for joint in self.joints]
        for k, what in enumerate(("coordinate", "rate", "coordinate_acceleration")):
            yield what, ca.vertcat(*[motion[k] for motion in motions], ca.SX(0, 1))

    def _reactions(self):
        """Force and torque that each connection exerts on its second body, at its frame there, in world axes."""
        found = [self.f.reaction(c, self.forces, self.a) for c in self.connections]
        self.reactions = dict(zip([c.name for c in self.connections], found))
        yield "reaction_force", ca.vertcat(*[ca.densify(F) for F, _ in found], ca.SX(0, 1))
        yield "reaction_torque", ca.vertcat(*[ca.densify(T) for _, T in found], ca.SX(0, 1))

    def _scalars(self):
        largest = lambda column: ca.mmax(ca.fabs(ca.densify(column))) if column.shape[0] else ca.SX(0)
        T, U = self.f.kinetic_energy(), self.f.all_rows.loads.potential
        yield "kinetic_energy", T
        yield "potential_energy", U
        yield "position_drift", largest(self.f.all_rows.stacked("g"))
        yield "velocity_drift", largest(self.f.all_rows.stacked("psi"))

    def _signals(self, signals):
        """A user's signals, with reactions filled in."""
        old = [x for c in self.connections for x in (c.reaction_force, c.reaction_torque)]
        new = [ca.densify(x) for c in self.connections for x in self.reactions[c.name]]
        rows = []
        for expression in signals.values():
            expression = ca.substitute([ca.SX(expression)], old, new)[0] if old else expression
            rows.append(self.meaning.of(expression))
        return ca.vertcat(*rows, ca.SX(0, 1))


def joint_motion_of_bodies(joint, meaning):
    """q, v and v̇ = ∂v/∂(ẋ, ω) a + (rate of v at held velocities) of a joint, in symbols of its bodies."""
    speed = meaning.rates(joint)
    bodies = meaning.bodies(speed)
    total = rate(speed, bodies) if bodies else ca.SX.zeros(speed.shape[0])
    for body in bodies:
        total += ca.jacobian(speed, velocities(body)) @ accelerations(body)
    return meaning.coordinates(joint), speed, total


def accelerations(body):
    """(ẍ, ω̇) of a body, ẍ of a particle."""
    return body.acceleration if body.particle else ca.vertcat(body.acceleration, body.angular_acceleration)


def coordinate_labels(joints):
    """One label per joint coordinate: the joint's name, with [k] where it has several."""
    return [j.name if j.dof == 1 else f"{j.name}[{k}]" for j in joints if isinstance(j, Joint) for k in range(j.dof)]


def coordinate_units(joint):
    """Unit of each joint coordinate: "rad" where its motion turns something, else "m"."""
    angular, _ = se3.split(joint.motion(ca.SX.zeros(joint.dof)))
    return ["m" if all(x.is_zero() for x in ca.vertsplit(angular[:, k])) else "rad" for k in range(joint.dof)]
