"""Models inside models: a copy of every element, renamed, placed and connected to the copies of its bodies."""

import copy
from dataclasses import fields, replace

import casadi as ca

from ..errors import ModelError
from ..events import Mode
from ..forces import Force
from ..joints import Constraint
from . import checks, quantity
from .body import Body, Frame, Ground, Placed
from .element import CONSTANT, Owned, Rule, fill_in


class Instance(Owned):
    """An included model, seen from outside: its ports, and its elements by their own names."""

    def __init__(self, name, model_name, things, ports):
        self.name, self._model_name, self._things, self._ports = name, model_name, things, ports

    def __getattr__(self, port):
        if port.startswith("_"):
            raise AttributeError(port)
        if port in self._ports:
            return self._ports[port]
        known = ", ".join(self._ports) or "none"
        raise ModelError(f"instance {self.name!r} of {self._model_name!r} has no port {port!r}. Ports: {known}.")

    def __getitem__(self, path):
        if path in self._things:
            return self._things[path]
        raise ModelError(f"instance {self.name!r} has nothing called {path!r}. Known: {', '.join(self._things)}.")

    def __repr__(self):
        return f"<Instance {self.name!r} of {self._model_name!r}>"


def transplant(parent, prefix, other, at, rotation, overrides):
    """Copy `other` into `parent` under `prefix`; returns the instance."""
    owner = f"instance {prefix!r}"
    R = ca.SX.eye(3) if rotation is None else quantity.rotation_matrix(rotation, "rotation", owner)
    shift = quantity.vector(at, "at", owner)
    for what, expression in (("at", shift), ("rotation", R)):
        checks.contents(parent, owner, what, expression, CONSTANT)
    copying = Copying(parent, prefix, other)
    copying.parameters(overrides, owner)
    copying.placed(shift, R)
    copying.memories()
    copying.elements()
    copying.events()
    return copying.instances()


class Copying:
    """One transplantation: what stands for what.

    An expression of signals keeps its meaning: the position and velocity of a body become those seen from the copy of
    the component's ground, whose pose in the parent is (R₀, x₀):

        x → R₀ᵀ (x − x₀),   R → R₀ᵀ R,   ẋ → R₀ᵀ ẋ,   ω → ω (body axes)                                  (1)
    """

    def __init__(self, parent, prefix, other):
        self.parent, self.prefix, self.other = parent, prefix, other
        self.old, self.new = [], []  # symbols of the original and what stands for them in the copy
        self.things = {}  # id of the original -> copy

    def name(self, name):
        return f"{self.prefix}.{name}"

    def stands(self, old, new):
        self.old.append(old)
        self.new.append(new)

    def moved(self, expression):
        """The expression in symbols of the parent."""
        if not self.old or expression.is_constant():
            return expression
        return ca.substitute([ca.SX(expression)], self.old, self.new)[0]

    def parameters(self, overrides, owner):
        for name, parameter in self.other.parameters.items():
            if name in overrides:
                value = quantity.scalar(overrides[name], name, owner)
                checks.contents(self.parent, owner, name, value, CONSTANT)
                if value.is_constant():
                    parameter.checked(float(value))
            else:
                entry = replace(parameter, name=self.name(name), symbol=ca.SX.sym(self.name(name)))
                self.parent.parameters[entry.name] = self.parent._enter(entry.name, entry)
                value, self.things[id(parameter)] = entry.symbol, entry
            self.stands(parameter.symbol, value)

    def placed(self, shift, R):
        """Bodies and grounds, moved to where the component sits."""
        parent, world = self.parent, None
        for original in [*self.other.grounds, *self.other.bodies]:
            twin = copy.copy(original)
            Placed.__init__(twin, self.name(original.name))
            twin.center = original.center
            world = world or twin  # a model's own ground comes first
            self.things[id(original)] = twin
            if isinstance(twin, Ground):
                x, turn = (self.moved(part) for part in original.path)
                twin.path = (shift + R @ x, R @ turn)
            else:
                self._body(twin, original, shift, R)
            self._signals(twin, original, world)
            (parent.bodies if isinstance(twin, Body) else parent.grounds).append(twin)
            parent._enter(twin.name, twin)

    def _body(self, twin, original, shift, R):
        twin.start_position = shift + R @ self.moved(original.start_position)
        twin.start_rotation = R @ self.moved(original.start_rotation)
        twin.mass = self.moved(original.mass)
        twin.inertia = None if original.particle else ca.densify(self.moved(original.inertia))
        for what, turn in (("start_velocity", R), ("start_angular_velocity", ca.SX.eye(3))):
            given = getattr(original, what)
            setattr(twin, what, None if given is None else turn @ self.moved(given))
        for what in ("acceleration", "angular_acceleration"):
            setattr(twin, what, ca.SX.sym(f"{twin.name}.{what}", 3))
        twin.check()

    def _signals(self, twin, original, world):
        """What the motion of a thing looks like from the component's own ground: (1)."""
        x, R, back = world.position, world.rotation, world.rotation.T
        if twin is world:
            seen = (ca.SX.zeros(3), ca.SX.eye(3), ca.SX.zeros(3), ca.SX.zeros(3))
        else:
            seen = (back @ (twin.position - x), back @ twin.rotation, back @ twin.velocity, twin.angular_velocity)
        for block, value in zip(original.symbols, seen):
            self.stands(block, ca.vec(ca.densify(value)))
        if isinstance(twin, Body):
            self.stands(original.acceleration, R.T @ twin.acceleration)
            self.stands(original.angular_acceleration, twin.angular_acceleration)

    def counterpart(self, value):
        """The counterpart of anything that an element holds."""
        if id(value) in self.things:
            return self.things[id(value)]
        if isinstance(value, Frame):
            return Frame(self.things[id(value.body)], self.moved(value.pose))
        if isinstance(value, ca.SX):
            return self.moved(value)
        if isinstance(value, (tuple, list)):
            return type(value)(self.counterpart(v) for v in value)
        return value

    def elements(self):
        """Constraints, forces and signals."""
        parent, other = self.parent, self.other
        back = self.things[id(other.ground)].rotation.T
        every = {id(e): e for e in [*other.constraints, *other.forces, *other.rules]}  # dry friction is two of them
        for element in every.values():
            held = {f.name: self.counterpart(getattr(element, f.name)) for f in fields(element) if f.init}
            twin = replace(element, **{**held, "name": self.name(element.name)})
            fill_in(twin, world=self.things[id(element.world)])
            parent._prepare(twin, None if element.active.value == element.starts_active else bool(element.active.value))
            for old, new in zip([element.active, *element.memories()], [twin.active, *twin.memories()]):
                self.stands(old.symbol, new.symbol)
                self.things[id(old)] = new
            for what in ("coordinate", "rate", "turn"):
                if hasattr(element, what):
                    self.stands(getattr(element, what), getattr(twin, what))
            for what in ("reaction_force", "reaction_torque"):
                if hasattr(element, what):
                    self.stands(getattr(element, what), back @ getattr(twin, what))
            self.things[id(element)] = twin
            parent._enter(twin.name, twin)
            checks.declaration(parent, twin)
            parent._complete(twin)
            parent._symbols.update(checks.symbols_of(twin))
            if isinstance(twin, Constraint):
                self.stands(element.multiplier, twin.multiplier)
            for cls, where in ((Constraint, parent.constraints), (Force, parent.forces), (Rule, parent.rules)):
                where += [twin] if isinstance(twin, cls) else []
            parent._events_of(twin)
        for state in other.states:
            fill_in(self.things[id(state)], rate=self.moved(state.rate))
        for name, expression in other.signals.items():
            parent.signals[self.name(name)] = self.moved(expression)
        for name, thing in other._names.items():
            if isinstance(thing, ca.SX):
                parent._enter(self.name(name), self.moved(thing))

    def memories(self):
        """Machines, and what events remember, before anything uses them; what elements remember comes with them."""
        owned = {id(m) for e in [*self.other.constraints, *self.other.forces] for m in e.memories()}
        for machine in self.other.machines.values():
            twin = self.parent.modes_of(self.name(machine.name), machine.names)
            self.things[id(machine)] = twin
            self.things[id(machine.memory)] = twin.memory
            self.stands(machine.memory.symbol, twin.memory.symbol)
        for memory in self.other.memory.values():
            if id(memory) not in self.things and id(memory) not in owned:
                twin = replace(memory, name=self.name(memory.name), symbol=None)
                self.things[id(memory)] = self.parent._remember(twin)
                self.stands(memory.symbol, twin.symbol)

    def events(self):
        """Events that a user gave; those of elements came with them."""
        for event in self.other.events:
            if event.source is not None:
                continue
            twin = replace(
                event,
                name=self.name(event.name),
                watch=replace(event.watch, phi=self.moved(event.watch.phi)),
                actions=tuple(self._action(a) for a in event.actions),
                during=tuple((self.things[id(m)], value) for m, value in event.during),
                remembered={what: self.things[id(m)] for what, m in event.remembered.items()},
            )
            self.things[id(event)] = self.parent._occasion(twin)

    def _action(self, action):
        held = {f.name: getattr(action, f.name) for f in fields(action)}
        held["targets"] = tuple(self._target(x) for x in action.targets)
        return replace(action, **{k: self.counterpart(x) if k != "targets" else x for k, x in held.items()})

    def _target(self, target):
        """What an action acts on: an element, a mode, a memory, or a parameter by its name or symbol."""
        if isinstance(target, Mode):
            return self.things[id(target.machine)][target.name]
        parameter = self.other.parameters.get(target) if isinstance(target, str) else None
        if parameter is None:
            return self.counterpart(target)
        if id(parameter) not in self.things:
            raise ModelError(
                f"instance {self.prefix!r}: parameter {target!r} is assigned by an event and cannot be overridden"
            )
        return self.things[id(parameter)].name

    def instances(self):
        """The instance of the component, and in it those of the components that it consists of."""
        for inner in [thing for thing in self.other._names.values() if isinstance(thing, Instance)]:
            self.things[id(inner)] = Instance(
                self.name(inner.name),
                inner._model_name,
                {path: self.counterpart(thing) for path, thing in inner._things.items()},
                {port: self.counterpart(thing) for port, thing in inner._ports.items()},
            )
            self.parent._enter(self.name(inner.name), self.things[id(inner)])
        things = {name: self.counterpart(thing) for name, thing in self.other._names.items() if self._has(thing)}
        ports = {port: self.counterpart(thing) for port, thing in self.other.ports.items()}
        return self.parent._enter(self.prefix, Instance(self.prefix, self.other.name, things, ports))

    def _has(self, thing):
        return isinstance(thing, ca.SX) or id(thing) in self.things
