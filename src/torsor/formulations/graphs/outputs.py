"""The outputs of a result besides the state: coordinates, reactions, energies, drift and the user's signals."""

import casadi as ca

from ...elements.quantity import time
from ...joints import Joint
from ...lie import se3
from ..algebra.lie_derivative import rate, stack_linear_angular, velocities
from ..algebra.tree_kinematics import screws
from .run_kernels import active_part
from .signal_values import SignalValues


class SignalInputs:
    """Arguments of functions of signals, besides the state: symbols of v̇, and of λ followed by the implicit efforts."""

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


def signal_function(formulation, name, column):
    """A column of signals as a function (t, q, v, p, a, λ) of that name."""
    inputs = SignalInputs(formulation)
    return inputs.function(name, inputs.values.of(column))


class Outputs:
    """All outputs as one function (t, q, v, p, a, λ) → flat vector, with its `layout`, a list of (name, size).

    The outputs are expressions of the bodies' symbols, accelerations included. The formulation expresses these symbols in its
    state (`in_state`), and gives the motion of joints (`joint_motion`) and the reactions of connections (`reaction`).
    """

    def __init__(self, formulation, signals):
        self.f = formulation
        self.model, self.substitution = formulation.model, formulation.substitution
        self.inputs = SignalInputs(formulation)
        self.values = self.inputs.values
        self.joints = [j for j in self.model.joints if j.dof]
        self.connections = [c for c in self.model.constraints if c.connects_bodies]
        self.parts = dict(self._bodies())
        self.parts.update(self._motion())
        lam = [self.values.multiplier(row.constraint)[row.index] for row in formulation.all_rows.rows]
        self.parts["multiplier"] = ca.densify(ca.vertcat(*lam, ca.SX(0, 1)))
        self.parts.update(self._reactions())
        self.parts.update(self._scalars())
        self.parts["signals"] = self.values.of(ca.vertcat(*signals.values(), ca.SX(0, 1)))
        self.layout = [(name, expression.shape[0]) for name, expression in self.parts.items()]

    def function(self):
        return self.inputs.function("outputs", ca.vertcat(*self.parts.values()))

    def _bodies(self):
        """Poses, velocities and accelerations of the bodies."""
        of = self.substitution.of
        for name in ("position", "rotation", "velocity", "angular_velocity"):
            yield name, ca.vertcat(*[of(ca.vec(getattr(body, name))) for body in self.model.bodies])
        for name in ("acceleration", "angular_acceleration"):
            yield name, ca.vertcat(*[getattr(body, name) for body in self.model.bodies])

    def _motion(self):
        """Joint coordinates, velocities and accelerations."""
        motions = [self.f.joint_motion(joint, self.inputs.a) for joint in self.joints]
        for k, name in enumerate(("coordinate", "rate", "coordinate_acceleration")):
            yield name, ca.vertcat(*[motion[k] for motion in motions], ca.SX(0, 1))

    def _reactions(self):
        """Force and torque that each connection exerts on its second body, at its frame there, in world axes."""
        reactions = [self.values.reaction(c) for c in self.connections]
        yield "reaction_force", ca.vertcat(*[F for F, _ in reactions], ca.SX(0, 1))
        yield "reaction_torque", ca.vertcat(*[T for _, T in reactions], ca.SX(0, 1))

    def _scalars(self):
        """Energies, and the largest residual of an active constraint; that of an angle is multiplied by the unit of length."""
        f = self.f.all_rows
        units = ca.DM(f.scales.row_units([row.label for row in f.rows])) / f.scales.unit

        def drift(level):
            residuals = active_part(f, f.stack_rows(level) / units, list(range(len(f.rows))))[f.active_rows(), :]
            return ca.mmax(ca.fabs(ca.densify(residuals))) if residuals.shape[0] else ca.SX(0)

        yield "kinetic_energy", self.f.kinetic_energy()
        yield "potential_energy", f.loads.potential
        yield "position_drift", drift("g")
        yield "velocity_drift", drift("psi")


def layout(model, rows, signals):
    """Names and sizes of the outputs of a model, without their derivation.

    rows   number of multipliers
    """
    bodies = len(model.bodies)
    dof = sum(j.dof for j in model.joints)
    connections = sum(c.connects_bodies for c in model.constraints)
    body_sizes = {
        "position": 3,
        "rotation": 9,
        "velocity": 3,
        "angular_velocity": 3,
        "acceleration": 3,
        "angular_acceleration": 3,
    }
    sizes = {name: size * bodies for name, size in body_sizes.items()}
    sizes |= dict.fromkeys(("coordinate", "rate", "coordinate_acceleration"), dof)
    sizes |= {"multiplier": rows, "reaction_force": 3 * connections, "reaction_torque": 3 * connections}
    sizes |= dict.fromkeys(("kinetic_energy", "potential_energy", "position_drift", "velocity_drift"), 1)
    return [*sizes.items(), ("signals", len(signals))]


def time_derivative(formulation, signal):
    """ė of a signal of time, poses, velocities and the user's states, in symbols of the bodies:

    ∂e/∂(ẋ, ω) a + ∂e/∂z ż + (rate at constant velocities).
    """
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
    """q, v and v̇ = ∂v/∂(ẋ, ω) a + (rate of v at constant body velocities) of a joint, in symbols of its bodies."""
    v = substitution.rates(joint)
    bodies = substitution.bodies(v)
    a = rate(v, bodies) if bodies else ca.SX.zeros(v.shape[0])
    for body in bodies:
        a += ca.jacobian(v, velocities(body)) @ accelerations(body)
    return substitution.coordinates(joint), v, a


def accelerations(body):
    """(ẍ, ω̇) of a body, ẍ of a particle."""
    return body.acceleration if body.particle else stack_linear_angular(body.acceleration, body.angular_acceleration)


def coordinate_labels(joints):
    """One label per joint coordinate: the joint's name, with [k] where it has several."""
    return [j.name if j.dof == 1 else f"{j.name}[{k}]" for j in joints if isinstance(j, Joint) for k in range(j.dof)]


_UNITS: dict = {}  # units by the identity of the joint's trace


def coordinate_units(joint):
    """Unit of each joint coordinate: "rad" if its motion contains a rotation, else "m"."""
    trace = joint.trace()
    if trace is None:
        return _units(joint)
    if id(trace) not in _UNITS:
        _UNITS[id(trace)] = trace, _units(joint)
    return _UNITS[id(trace)][1]


def _units(joint):
    angular, _ = se3.split(screws(joint))
    return ["m" if all(x.is_zero() for x in ca.vertsplit(angular[:, k])) else "rad" for k in range(joint.dof)]
