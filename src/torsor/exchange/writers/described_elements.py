"""Springs, stops, friction, relations of joints and motors of a model, as properties of the motions of a robot file.

    relation of two coordinates:   0 = y − Σ aₖ xᵏ                                                              (1)

What is none of these is not written, and noted.
"""

import casadi as ca
import numpy as np

from ...constraints.elementary import FixedPoint, Holonomic
from ...constraints.joint_relation import JointRelation
from ...constraints.limit import Limit
from ...elements import quantity
from ...errors import ModelError
from ...forces.friction import Friction
from ...forces.loads_and_springs import JointForce, Spring
from ...joints import Joint
from ..link_tree import Closure, Coupling
from .robot_description import Describer, Motor

DEGREE = 4  # of the polynomial (1), as MJCF has it
SAMPLE_COORDINATES = np.array(
    [-1.3, -0.6, 0.2, 0.7, 1.9]
)  # coordinates at which a relation is compared with its polynomial
POLYNOMIAL_ROUNDING = 1e-12  # relative difference of a relation and its polynomial


def describe(model):
    """The description of a model, with notes on what is not in it."""
    describer = Describer(model)
    out = describer.describe()
    elements = Elements(describer)
    every = {
        id(e): e for e in [*model.constraints, *model.forces, *model.rules]
    }  # dry friction is a constraint and a force
    for element in every.values():
        elements.write(element)
    own = [event.name for event in model.events if event.source is None]
    for kind, names in (("event", own), ("state", [s.name for s in model.states if "." not in s.name]), ("table", [])):
        for name in names:
            out.lose(f"{kind} {name!r}", "robot files have none")
    if model.signals:
        out.lose(f"signals {', '.join(map(repr, model.signals))}", "not kept", "ignored")
    inputs = set(model.declared_inputs)
    plain = [name for name in model.parameters if name not in inputs]
    if plain:
        out.lose(f"parameters {', '.join(map(repr, plain))}", "their present values are written", "approximated")
    return out


class Elements:
    """The elements of one model, written one by one."""

    def __init__(self, describer):
        self.d, self.out, self.model = describer, describer.out, describer.model
        self.kinds = {
            Spring: self.spring, Limit: self.limit, Friction: self.friction, JointRelation: self.relation,
            Holonomic: self.holonomic, JointForce: self.motor, FixedPoint: self.fixed_point,
        }  # fmt: skip
        self.symbols = {
            x.element_hash(): (joint, k)
            for joint in self.model.joints
            for k, x in enumerate(ca.vertsplit(joint.coordinate) if joint.dof else ())
        }

    def write(self, element):
        """Write an element as a property of motions, or note that it is lost."""
        if isinstance(element, Joint) and not element.inactive:
            return
        write = next((write for cls, write in self.kinds.items() if isinstance(element, cls)), None)
        if element.inactive:
            why = "it does not act until an event engages it"
        elif write is None:
            why = "the format has no such element"
        else:
            try:
                why = write(element)
            except ModelError as error:
                why = str(error).removeprefix(f"{element.owner}: ")
        if why:
            self.out.lose(f"{element.kind} {element.name!r} ({type(element).__name__})", why)

    def number(self, element, what):
        return float(
            self.d.numbers(quantity.scalar(getattr(element, what), what, element.owner), element.owner).ravel()[0]
        )

    def motion(self, joint, index):
        """The motion that a coordinate of a joint is alone; None if it is one of a rotation or of a free motion."""
        found = self.d.coordinates.get((id(joint), index))
        return found if found is not None and found.dof == 1 else None

    def spring(self, e):
        motion = self.motion(e.joint, e.index)
        if motion is None:
            return "acts on a coordinate of a ball or free joint"
        k, c, rest = (self.number(e, what) for what in ("stiffness", "damping", "rest"))
        if k and motion.stiffness and rest != motion.rest:
            return f"there is another spring on joint {e.joint.name!r} already"
        motion.stiffness, motion.damping = motion.stiffness + k, motion.damping + c
        motion.rest = rest if k else motion.rest
        return ""

    def limit(self, e):
        motion = self.motion(e.joint, e.index)
        if motion is None or motion.stops:
            return "acts on a coordinate that cannot have these stops"
        motion.stops = {side: self.number(e, side) for side in e.labels()}
        return ""

    def friction(self, e):
        motion = self.motion(e.on, e.index) if isinstance(e.on, Joint) else None
        if motion is None or e.normal is None:
            return "only dry friction of joints with a given normal force can be written"
        c = (
            self.number(e, "coefficient")
            * self.number(e, "normal")
            * (1.0 if e.radius is None else self.number(e, "radius"))
        )
        if e.static is not None and self.number(e, "static") != self.number(e, "coefficient"):
            return "its coefficients of sliding and of sticking differ"
        motion.friction += c
        return ""

    def motor(self, e):
        """A joint force that is a number times one input."""
        motion = self.motion(e.joint, e.index)
        value = quantity.scalar(e.value, "value", e.owner)
        inputs = {name: self.model.parameters[name] for name in self.model.declared_inputs}
        used = [name for name, p in inputs.items() if ca.depends_on(value, p.symbol)]
        if motion is None or len(used) != 1:
            return "only a force that is a number times one input can be written, as a motor"
        x = inputs[used[0]].symbol
        slope = ca.jacobian(value, x)
        if any(self.symbols_in(slope) - set(self.d.values) or ca.depends_on(slope, p.symbol) for p in inputs.values()):
            return "only a force that is a number times one input can be written, as a motor"
        at = self.d.values | {used[0]: 0.0}
        if quantity.numbers(value, at).item() != 0:
            return "only a force that is a number times one input can be written, as a motor"
        gear = float(quantity.numbers(slope, self.d.values).item())
        self.out.motors.append(Motor(used[0], motion.name, gear, float(inputs[used[0]].value)))
        return ""

    @staticmethod
    def symbols_in(expression):
        return {s.name() for s in ca.symvar(expression)}

    def fixed_point(self, e):
        """A point of one body at a point of another: a ball joint that closes a loop."""
        names = tuple(self.d.link_name(body) for body in (e.first, e.second))
        frames = tuple(self.d.home_of_frame(e, k) for k in (0, 1))
        motion = Closure(e.name, names, [_ball(e.name, frames[0])], self.model.name, frames)
        self.out.tree.closures.append(motion)
        return ""

    # relations of coordinates

    def relation(self, e):
        if not e.is_rigid or e.efficiency < 1:
            return "only rigid relations without losses can be written"
        return self.polynomial(e, ca.SX(e.relation()))

    def holonomic(self, e):
        rows = ca.SX(e.rows())
        return self.polynomial(e, rows) if rows.numel() == 1 else "has several rows"

    def polynomial(self, e, g):
        """(1) of an equation g = 0 between one or two coordinates."""
        used = [x for x in ca.symvar(g) if x.element_hash() in self.symbols]
        rest = [x for x in ca.symvar(g) if x.element_hash() not in self.symbols]
        if any(x.name() not in self.d.values for x in rest) or not 1 <= len(used) <= 2:
            return "only relations of two joint coordinates can be written"
        if rest:
            g = ca.substitute(g, ca.vertcat(*rest), ca.DM([self.d.values[x.name()] for x in rest]))
        motions = [self.motion(*self.symbols[x.element_hash()]) for x in used]
        if any(m is None for m in motions):
            return "acts on a coordinate of a ball or free joint"
        for k in range(len(used)):
            y, x = used[k], used[1 - k] if len(used) > 1 else None
            found = polynomial_of(g, y, x)
            if found is not None:
                leader = None if x is None else motions[1 - k].name
                self.out.tree.couplings.append(Coupling(e.name, motions[k].name, leader, found, self.model.name))
                return ""
        return f"it is no polynomial of degree {DEGREE} at most"


def _ball(name, H):
    from ..link_tree import Motion

    return Motion(name, "ball", H[:3, 2], H[:3, 3], "", joint=name)


def polynomial_of(g, y, x):
    """aₖ of y = Σ aₖ xᵏ, from g(y, x) = 0 that is linear in y; None if there are none."""
    slope = ca.jacobian(g, y)
    if ca.symvar(slope) or not slope.nnz() or float(slope) == 0:
        return None
    right = -ca.substitute(g, y, 0) / float(slope)
    if x is None:
        return (float(ca.evalf(right)),)
    coefficients, derivative, factorial = [], right, 1.0
    for k in range(DEGREE + 1):
        factorial *= max(k, 1)
        coefficients.append(float(ca.evalf(ca.substitute(derivative, x, 0))) / factorial)
        derivative = ca.jacobian(derivative, x)
    if not np.isfinite(coefficients).all():
        return None
    exact = np.array([float(ca.evalf(ca.substitute(right, x, at))) for at in SAMPLE_COORDINATES])
    found = np.polynomial.polynomial.polyval(SAMPLE_COORDINATES, coefficients)
    size = np.abs(coefficients) @ np.abs(SAMPLE_COORDINATES).max() ** np.arange(DEGREE + 1)
    if not np.abs(exact - found).max() <= POLYNOMIAL_ROUNDING * max(size, 1e-300):
        return None
    while len(coefficients) > 2 and coefficients[-1] == 0:
        coefficients.pop()
    return tuple(coefficients)
