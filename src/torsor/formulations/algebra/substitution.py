"""Substitution of signals: those of joints by those of bodies, those of grounds by functions of time."""

import casadi as ca

from ...errors import ModelError
from .joint_momentum import momentum_of


class Substitution:
    """Expresses signals by the symbols of the moving bodies, time and parameters."""

    def __init__(self, model):
        self.model = model
        self.owners = {}  # name of a scalar symbol -> body
        for body in model.bodies:
            for s in [s for block in body.symbols for s in ca.symvar(block)]:
                self.owners[s.name()] = body
        self.fixed = {}  # name of a scalar symbol -> expression of time
        for ground in model.grounds:
            self._fix(ground.symbols, ground.motion())
        for body in model.bodies:
            if body.particle:
                self._fix([ca.vec(body.rotation), body.angular_velocity], [ca.SX.eye(3), ca.SX.zeros(3)])
        self.of_joints = {}
        for joint in model.joints:
            for k, s in enumerate(ca.symvar(joint.coordinate)):
                self.of_joints[s.name()] = (s, joint, "coordinates", k)
            for k, s in enumerate(ca.symvar(joint.rate)):
                self.of_joints[s.name()] = (s, joint, "rates", k)
            if "momentum" in joint._signals:
                for k, s in enumerate(ca.symvar(joint.momentum)):
                    self.of_joints[s.name()] = (s, joint, "momentum", k)
        self._equations = {}
        self._momenta = {}

    def _fix(self, symbols, values):
        """Record the values that replace some symbols."""
        for block, value in zip(symbols, values):
            for s, x in zip(ca.vertsplit(ca.vec(block)), ca.vertsplit(ca.densify(ca.vec(value)))):
                self.fixed[s.name()] = (s, x)

    def of(self, expression):
        """The expression in symbols of moving bodies, time, parameters and turns."""
        expression = ca.SX(expression)
        free = ca.symvar(expression)
        joint_parts = [self.of_joints[s.name()] for s in free if s.name() in self.of_joints]
        if joint_parts:
            values = [self._joint_quantity(joint, what)[k] for _, joint, what, k in joint_parts]
            expression = ca.substitute(expression, ca.vertcat(*[p[0] for p in joint_parts]), ca.vertcat(*values))
            free = ca.symvar(expression)
        fixed = [self.fixed[s.name()] for s in free if s.name() in self.fixed]
        if fixed:
            symbols = ca.vertcat(*[symbol for symbol, _ in fixed])
            expression = ca.substitute(expression, symbols, ca.vertcat(*[value for _, value in fixed]))
        return expression

    def states(self, expression):
        """The user's states in an expression, each with its rate."""
        states = [state for state in self.model.states if ca.depends_on(expression, state.symbol)]
        return [(state.symbol, self.of(state.rate)) for state in states]

    def equations(self, joint):
        """The equations of a joint, derived once."""
        if joint.name not in self._equations:
            self._equations[joint.name] = joint.equations()
        return self._equations[joint.name]

    def _joint_quantity(self, joint, what):
        """Coordinates, rates or momentum of a joint, in symbols of bodies and grounds."""
        if what != "momentum":
            return getattr(self.equations(joint), what)
        if joint.name not in self._momenta:
            self._momenta[joint.name] = momentum_of(joint, self.model)
        return self._momenta[joint.name]

    def coordinates(self, joint):
        return self.of(self.equations(joint).coordinates)

    def rates(self, joint):
        return self.of(self.equations(joint).rates)

    def bodies(self, expression):
        """The moving bodies that occur in an expression, in the order of the model."""
        owners = {id(self.owners[s.name()]) for s in ca.symvar(expression) if s.name() in self.owners}
        return [body for body in self.model.bodies if id(body) in owners]

    def require_orientation(self, element, raw):
        """Raise a ModelError if the equations of a constraint use the orientation of a particle."""
        for s in ca.symvar(raw):
            body = self.owners.get(s.name())
            if body is not None and body.particle and s.name() in self.fixed:
                if not _orientation_matters(raw, body):
                    continue
                raise ModelError(
                    f"{element.owner}: needs the orientation of {body.name!r}, which is a particle (inertia 0); "
                    "give it an inertia, or connect its centre with a distance or a spherical joint"
                )


def _orientation_matters(raw, body):
    return ca.jacobian(raw, ca.vec(body.rotation)).nnz() > 0 or ca.jacobian(raw, body.angular_velocity).nnz() > 0
