"""What a result holds besides the state: coordinates, reactions, energies, drift and a user's signals."""

import casadi as ca

from ..describe.quantity import time
from ..joints import Joint
from ..joints.base import Connection
from ..lie import se3
from .lie_derivative import rate, together, velocities
from .signal_values import SignalValues
from .tree import screws


class Given:
    """What functions of signals are given besides the state: symbols of v̇, and of λ followed by the implicit efforts."""

    def __init__(self, formulation):
        self.f = formulation
        self.a = ca.SX.sym("a", formulation.v.shape[0])
        self.lam = ca.SX.sym("lam", len(formulation.keep) + formulation.implicit)
        self.values = SignalValues(formulation, self.a, formulation.multipliers(self.lam, self.a))

    def function(self, name, column):
        """A column in symbols of the bodies as a function (t, q, v, p, a, λ)."""
        f, inputs = self.f, [time, self.f.q, self.f.v, self.f.p, self.a, self.lam]
        flat = f.in_state(ca.densify(column), self.a)
        if f.implicit:
            flat = ca.substitute(flat, f.loads.unknown(), self.lam[len(f.keep) :])
        return ca.Function(name, inputs, [ca.cse(ca.densify(flat))])


def watching(formulation, name, column):
    """A column of signals as a function (t, q, v, p, a, λ) of that name."""
    given = Given(formulation)
    return given.function(name, given.values.of(column))


class Outputs:
    """One function (t, q, v, p, a, λ) → a flat vector, and `layout`, which names its parts: (name, size).

    Everything is written in the bodies' symbols, accelerations included; the formulation then says what they are in its
    state (`in_state`), what a joint's motion is (`joint_motion`), and which wrench a connection transmits (`reaction`).
    """

    def __init__(self, formulation, signals):
        self.f = formulation
        self.model, self.substitution = formulation.model, formulation.substitution
        self.given = Given(formulation)
        self.values = self.given.values
        self.joints = [j for j in self.model.joints if j.dof]
        self.connections = [c for c in self.model.constraints if isinstance(c, Connection)]
        self.parts = dict(self._bodies())
        self.parts.update(self._motion())
        lam = [self.values.multiplier(row.constraint)[row.index] for row in formulation.all_rows.rows]
        self.parts["multiplier"] = ca.densify(ca.vertcat(*lam, ca.SX(0, 1)))
        self.parts.update(self._reactions())
        self.parts.update(self._scalars())
        self.parts["signals"] = self.values.of(ca.vertcat(*signals.values(), ca.SX(0, 1)))
        self.layout = [(name, expression.shape[0]) for name, expression in self.parts.items()]

    def function(self):
        return self.given.function("outputs", ca.vertcat(*self.parts.values()))

    def _bodies(self):
        of = self.substitution.of
        for what in ("position", "rotation", "velocity", "angular_velocity"):
            yield what, ca.vertcat(*[of(ca.vec(getattr(body, what))) for body in self.model.bodies])
        for what in ("acceleration", "angular_acceleration"):
            yield what, ca.vertcat(*[getattr(body, what) for body in self.model.bodies])

    def _motion(self):
        """Joint coordinates, velocities and accelerations."""
        motions = [self.f.joint_motion(joint, self.given.a) for joint in self.joints]
        for k, what in enumerate(("coordinate", "rate", "coordinate_acceleration")):
            yield what, ca.vertcat(*[motion[k] for motion in motions], ca.SX(0, 1))

    def _reactions(self):
        """Force and torque that each connection exerts on its second body, at its frame there, in world axes."""
        found = [self.values.reaction(c) for c in self.connections]
        yield "reaction_force", ca.vertcat(*[F for F, _ in found], ca.SX(0, 1))
        yield "reaction_torque", ca.vertcat(*[T for _, T in found], ca.SX(0, 1))

    def _scalars(self):
        largest = lambda column: ca.mmax(ca.fabs(ca.densify(column))) if column.shape[0] else ca.SX(0)
        T, U = self.f.kinetic_energy(), self.f.all_rows.loads.potential
        every = self.f.all_rows
        units = ca.DM(every.scales.row_units([row.label for row in every.rows])) / every.scales.unit
        holding = lambda what: (every.stacked(what) / units)[every.active_rows(), :]  # angles times the unit of length
        yield "kinetic_energy", T
        yield "potential_energy", U
        yield "position_drift", largest(holding("g"))
        yield "velocity_drift", largest(holding("psi"))


def layout(model, rows, signals):
    """Names and sizes of the outputs of a model, or of what is shown of it, with so many multipliers, before any of them is
    derived."""
    bodies = len(model.bodies)
    dof, connections = sum(j.dof for j in model.joints), sum(isinstance(c, Connection) for c in model.constraints)
    sizes = {
        "position": 3,
        "rotation": 9,
        "velocity": 3,
        "angular_velocity": 3,
        "acceleration": 3,
        "angular_acceleration": 3,
    }
    found = {what: size * bodies for what, size in sizes.items()}
    found |= dict.fromkeys(("coordinate", "rate", "coordinate_acceleration"), dof)
    found |= {"multiplier": rows, "reaction_force": 3 * connections, "reaction_torque": 3 * connections}
    found |= dict.fromkeys(("kinetic_energy", "potential_energy", "position_drift", "velocity_drift"), 1)
    return [*found.items(), ("signals", len(signals))]


def time_derivative(formulation, signal):
    """ė of a signal of time, poses, velocities and states of the user, in symbols of the bodies: ∂e/∂(ẋ, ω) a + ∂e/∂z ż +
    (rate at held velocities)."""
    substitution = formulation.all_rows.substitution
    e = substitution.of(signal)
    bodies = substitution.bodies(e)
    total = rate(e, bodies)
    for state in formulation.model.states:
        if ca.depends_on(e, state.symbol):
            total += ca.jacobian(e, state.symbol) * substitution.of(state.rate)
    for body in bodies:
        total += ca.jacobian(e, velocities(body)) @ accelerations(body)
    return total


def joint_motion_of_bodies(joint, substitution):
    """q, v and v̇ = ∂v/∂(ẋ, ω) a + (rate of v at held velocities) of a joint, in symbols of its bodies."""
    speed = substitution.rates(joint)
    bodies = substitution.bodies(speed)
    total = rate(speed, bodies) if bodies else ca.SX.zeros(speed.shape[0])
    for body in bodies:
        total += ca.jacobian(speed, velocities(body)) @ accelerations(body)
    return substitution.coordinates(joint), speed, total


def accelerations(body):
    """(ẍ, ω̇) of a body, ẍ of a particle."""
    return body.acceleration if body.particle else together(body.acceleration, body.angular_acceleration)


def coordinate_labels(joints):
    """One label per joint coordinate: the joint's name, with [k] where it has several."""
    return [j.name if j.dof == 1 else f"{j.name}[{k}]" for j in joints if isinstance(j, Joint) for k in range(j.dof)]


_UNITS: dict = {}


def coordinate_units(joint):
    """Unit of each joint coordinate: "rad" where its motion turns something, else "m"."""
    trace = joint.traced()
    if trace is None:
        return _units(joint)
    if id(trace) not in _UNITS:
        _UNITS[id(trace)] = trace, _units(joint)
    return _UNITS[id(trace)][1]


def _units(joint):
    angular, _ = se3.split(screws(joint))
    return ["m" if all(x.is_zero() for x in ca.vertsplit(angular[:, k])) else "rad" for k in range(joint.dof)]
