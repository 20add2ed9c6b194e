"""What a result holds besides the state: coordinates, reactions, energies, drift and a user's signals."""

import casadi as ca

from ..joints import Joint
from ..joints.base import Connection
from ..lie import se3
from ..quantity import time
from .lie_derivative import rate, velocities


class Outputs:
    """One function (t, q, v, p, a, λ) → a flat vector, and `layout`, which names its parts: (name, size)."""

    def __init__(self, formulation, signals):
        self.f = formulation
        self.model, self.meaning = formulation.model, formulation.meaning
        self.a = ca.SX.sym("a", formulation.v.shape[0])
        self.lam = ca.SX.sym("lam", len(formulation.keep))
        self.joints = [j for j in self.model.joints if j.dof]
        self.connections = [c for c in self.model.constraints if isinstance(c, Connection)]
        self.parts = dict(self._motion())
        self.parts.update(self._reactions())
        self.parts.update(self._scalars())
        self.parts["signals"] = self._signals(signals)
        self.layout = [(name, expression.shape[0]) for name, expression in self.parts.items()]

    def function(self):
        f = self.f
        flat = ca.densify(ca.vertcat(*self.parts.values()))
        return ca.Function("outputs", [time, f.q, f.v, f.p, self.a, self.lam], [ca.cse(flat)])

    def _motion(self):
        """Joint coordinates q, velocities v and accelerations v̇ = ∂v/∂(ẋ, ω) a + (rate of v at held velocities)."""
        q = ca.vertcat(*[self.meaning.coordinates(j) for j in self.joints], ca.SX(0, 1))
        v, a = [], []
        for joint in self.joints:
            speed = self.meaning.rates(joint)
            bodies = self.meaning.bodies(speed)
            total = rate(speed, bodies) if bodies else ca.SX.zeros(speed.shape[0])
            for body in bodies:
                at = self.f.offset[id(body)]
                n = velocities(body).shape[0]
                total += ca.jacobian(speed, velocities(body)) @ self.a[at : at + n]
            v.append(speed)
            a.append(total)
        yield "coordinate", q
        yield "rate", ca.vertcat(*v, ca.SX(0, 1))
        yield "coordinate_acceleration", ca.vertcat(*a, ca.SX(0, 1))

    def _reactions(self):
        """Force and torque that each connection exerts on its second body, at its frame there, in world axes.

        F = G_xᵀ λ,    T = R G_θᵀ λ − (p − x) × F                       (1)
        """
        kept = {row: k for k, row in enumerate(self.f.keep)}
        start = 0
        found = {}
        for block in self.f.blocks:
            found[block.constraint.name] = (block, start)
            start += block.psi.shape[0]
        forces, torques = [], []
        for c in self.connections:
            F, T = ca.SX.zeros(3), ca.SX.zeros(3)
            if c.name in found:
                block, start = found[c.name]
                lam = ca.vertcat(
                    *[self.lam[kept[start + k]] if start + k in kept else 0 for k in range(block.psi.shape[0])]
                )
                sign, body = (1, c.second) if c.second in block.bodies else (-1, c.first)
                W = sign * (block.G[block.bodies.index(body)].T @ lam)
                p = self.meaning.of(c.ends()[1][1])
                F = W[:3]
                about_center = ca.SX.zeros(3) if body.particle else body.rotation @ W[3:]
                T = about_center - ca.cross(p - body.position, F)  # (1)
            forces.append(F)
            torques.append(T)
        self.reactions = dict(zip([c.name for c in self.connections], zip(forces, torques)))
        yield "reaction_force", ca.vertcat(*forces, ca.SX(0, 1))
        yield "reaction_torque", ca.vertcat(*torques, ca.SX(0, 1))

    def _scalars(self):
        largest = lambda column: ca.mmax(ca.fabs(ca.densify(column))) if column.shape[0] else ca.SX(0)
        T, U = self.f.kinetic_energy(), self.f.loads.potential
        yield "kinetic_energy", T
        yield "potential_energy", U
        yield "position_drift", largest(self.f.stacked("g"))
        yield "velocity_drift", largest(self.f.stacked("psi"))

    def _signals(self, signals):
        """A user's signals, with accelerations and reactions filled in."""
        old, new = [], []
        for body in self.model.bodies:
            at = self.f.offset[id(body)]
            old += [body.acceleration, body.angular_acceleration]
            new += [self.a[at : at + 3], ca.SX.zeros(3) if body.particle else self.a[at + 3 : at + 6]]
        for c in self.connections:
            old += [c.reaction_force, c.reaction_torque]
            new += [ca.densify(x) for x in self.reactions[c.name]]
        rows = []
        for expression in signals.values():
            expression = ca.substitute([ca.SX(expression)], old, new)[0] if old else expression
            rows.append(self.meaning.of(expression))
        return ca.vertcat(*rows, ca.SX(0, 1))


def coordinate_labels(joints):
    """One label per joint coordinate: the joint's name, with [k] where it has several."""
    return [j.name if j.dof == 1 else f"{j.name}[{k}]" for j in joints if isinstance(j, Joint) for k in range(j.dof)]


def coordinate_units(joint):
    """Unit of each joint coordinate: "rad" where its motion turns something, else "m"."""
    angular, _ = se3.split(joint.motion(ca.SX.zeros(joint.dof)))
    return ["m" if all(x.is_zero() for x in ca.vertsplit(angular[:, k])) else "rad" for k in range(joint.dof)]
