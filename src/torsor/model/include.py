"""Models inside models: a copy of every element, renamed, placed and connected to the copies of its bodies."""

from dataclasses import fields, replace

import casadi as ca

from ..elements import quantity
from ..elements.element import ANYTHING, CONSTANT, Element, Owned, Rule, fill_in, initial
from ..elements.lazy_attributes import storage_of
from ..elements.placing import EYE, product, total
from ..errors import ModelError
from ..events import Mode
from ..forces import Force
from ..joints import Constraint
from . import element_checks
from .body import Frame, Ground
from .instance import Instance, Port, port_of
from .instance_templates import recipes
from .parameters import Input


def transplant(parent, prefix, other, at, rotation, overrides):
    """Copy `other` into `parent` under `prefix`; returns the instance."""
    owner = f"instance {prefix!r}"
    R = EYE if rotation is None else quantity.orientation(rotation, "rotation", owner)
    shift = quantity.given(at, 3, 1, "at", owner)
    for what, expression in (("at", shift), ("rotation", R)):
        if not quantity.is_number(expression):
            element_checks.contents(parent, owner, what, expression, CONSTANT)
    copying = Copying(parent, prefix, other)
    copying.names()
    copying.parameters(overrides, owner)
    copying.place_bodies(shift, R)
    copying.memories()
    copying.elements()
    copying.events()
    return copying.instances()


def owners_in(model, expression):
    """Whose symbols occur in an expression of a model: pairs of a thing and the name of its symbol, each once."""
    marks = [s.element_hash() for s in ca.symvar(expression)]
    known, of_nobody = model.derived.setdefault("owners", ({}, set()))  # such as time
    unknown = [mark for mark in marks if mark in model._symbols and mark not in known and mark not in of_nobody]
    if unknown:
        known.update(_owners(model))
        of_nobody.update(mark for mark in unknown if mark not in known)
    return list(
        {(id(thing), name): (thing, name) for thing, name in (known[mark] for mark in marks if mark in known)}.values()
    )


def _owners(model):
    """Whose every symbol of a model is, by its identity."""
    elements = [thing for thing in model._names.values() if isinstance(thing, Element)]
    memories = [m for e in elements for m in (e._active, e._armed) if m is not None]
    for thing in [*model.parameters.values(), *model.memory.values(), *memories]:
        yield thing.symbol.element_hash(), (thing, "symbol")
    for thing in model._names.values():
        for name in thing._signals if isinstance(thing, Owned) else ():
            for s in ca.symvar(getattr(thing, name)):
                yield s.element_hash(), (thing, name)


_LISTS: dict = {}


def _lists(cls):
    """Names of the lists of a model that elements of a class are in."""
    if cls not in _LISTS:
        every = {"constraints": Constraint, "forces": Force, "rules": Rule}
        _LISTS[cls] = [name for name, kind in every.items() if issubclass(cls, kind)]
    return _LISTS[cls]


class Copying:
    """One transplantation: what stands for what.

    Numbers are copied as numbers. An expression of signals keeps its meaning: the position and velocity of a body become
    those seen from the copy of the component's ground, whose pose in the parent is (R₀, x₀):

        x → R₀ᵀ (x − x₀),   R → R₀ᵀ R,   ẋ → R₀ᵀ ẋ,   ω → ω (body axes)                                  (1)
    """

    def __init__(self, parent, prefix, other):
        self.parent, self.prefix, self.other = parent, prefix, other
        self.things = {}  # id of the original -> copy
        self.stand_ins = {}  # id of the original and name of its symbol -> what stands for it
        self.overridden = set()  # ids of parameters that stand for something else now
        self.changed = False  # whether one of them occurred in what was moved

    def name(self, name):
        return f"{self.prefix}.{name}"

    def names(self):
        """Refuse names that are too long with the prefix; otherwise they are fit to be stored, as each part is."""
        longest = self.other.derived.get("longest name") or max(self.other._names, key=lambda x: len(x.encode()))
        self.other.derived["longest name"] = longest
        self.parent._storable(self.name(longest))
        self.parent.derived.clear()

    def to_parent_symbols(self, expression):
        """The expression in symbols of the parent; numbers as they are."""
        if not isinstance(expression, ca.SX) or expression.is_constant():
            return expression
        old, new = [], []
        for thing, name in owners_in(self.other, expression):
            stands = self.stands_for(thing, name)
            if stands is not None:
                old.append(getattr(thing, name))
                new.append(stands)
                self.changed |= id(thing) in self.overridden
        return ca.substitute([expression], old, new)[0] if old else expression

    def stands_for(self, thing, name):
        """What stands for a symbol of the original; None: itself."""
        key = (id(thing), name)
        if key not in self.stand_ins and id(thing) in self.things:
            self.stand_ins[key] = self._to_component_ground(self.things[id(thing)], name)
        return self.stand_ins.get(key)

    def _to_component_ground(self, twin, name):
        """A signal of a copy, seen from the component's own ground: (1)."""
        world = self.things[id(self.other.ground)]
        if twin is world:
            return ca.densify(ca.SX.eye(3)) if name == "rotation" else ca.SX.zeros(3)
        if name == "position":
            return world.rotation.T @ (twin.position - world.position)
        turned = name in ("rotation", "velocity", "acceleration", "reaction_force", "reaction_torque")
        return world.rotation.T @ getattr(twin, name) if turned else getattr(twin, name)

    def parameters(self, overrides, owner):
        for name, parameter in self.other.parameters.items():
            if name in overrides:
                self.overridden.add(id(parameter))
                value = quantity.scalar(overrides[name], name, owner)
                allowed = ANYTHING if isinstance(parameter, Input) else CONSTANT
                element_checks.contents(self.parent, owner, name, value, allowed)
                if value.is_constant():
                    replace(parameter, name=self.name(name)).check_value(float(value))
            else:
                entry = replace(parameter, name=self.name(name), symbol=ca.SX.sym(self.name(name)))
                dict.__setitem__(self.parent.parameters, entry.name, self.parent._enter(entry.name, entry))
                value, self.things[id(parameter)] = entry.symbol, entry
            self.stand_ins[id(parameter), "symbol"] = value

    def place_bodies(self, shift, R):
        """Bodies and grounds, moved to where the component sits."""
        parent, known = self.parent, recipes(self.other)
        numbers = quantity.is_number(shift) and quantity.is_number(R)
        for original in [x for x in (*self.other.grounds, *self.other.bodies) if id(x) not in self.things]:
            where = parent.grounds if isinstance(original, Ground) else parent.bodies
            if numbers and id(original) in known:
                twin = known[id(original)].copy_to(parent, self.name(original.name), shift, R)
                self.things[id(original)] = parent._names[twin.name] = twin
                list.append(where, twin)
                continue
            twin = self.things[id(original)] = original.copy_as(self.name(original.name))
            if isinstance(twin, Ground):
                x, turn = (
                    self.to_parent_symbols(part)
                    for part in (original.reference if original.is_fixed else original.path)
                )
                twin.path = (total(shift, product(R, x)), product(R, turn))
            else:
                self._body(twin, original, shift, R)
            list.append(where, twin)
            parent._enter(twin.name, twin)

    def _body(self, twin, original, shift, R):
        x, turn = (self.to_parent_symbols(part) for part in original.reference)
        twin.start_position, twin.start_rotation = total(shift, product(R, x)), product(R, turn)
        for what, turn in (("start_velocity", R), ("start_angular_velocity", EYE)):
            given = storage_of(original, what)
            setattr(twin, what, None if given is None else product(turn, self.to_parent_symbols(given)))
        if not original.has_numeric_inertia:
            twin.mass = self.to_parent_symbols(original.mass)
            twin.inertia = None if original.particle else ca.densify(self.to_parent_symbols(original.inertia))
            twin.check()

    def counterpart(self, value):
        """The counterpart of anything that an element holds."""
        if id(value) in self.things:
            return self.things[id(value)]
        if isinstance(value, Frame):
            return Frame(self.things[id(value.body)], self.to_parent_symbols(storage_of(value, "pose")))
        if isinstance(value, ca.SX):
            return self.to_parent_symbols(value)
        if isinstance(value, (tuple, list)):
            return type(value)(self.counterpart(v) for v in value)
        if type(value) is dict:
            return {name: self.counterpart(v) for name, v in value.items()}
        return value

    def elements(self):
        """Constraints, forces and signals."""
        parent, other, known = self.parent, self.other, recipes(self.other)
        every = {id(e): e for e in [*other.constraints, *other.forces, *other.rules]}  # dry friction is two of them
        for mark, element in every.items():
            if mark in known:
                twin = known[mark].copy(self, parent, self.name(element.name))
                self.things[mark] = parent._names[twin.name] = twin
            else:
                twin = self._element(element)
            for where in _lists(type(twin)):
                list.append(getattr(parent, where), twin)
            if mark not in known:
                parent._events_of(twin)
        own = {
            id(state) for e in every.values() for state, _ in e.rates(ca.SX(1))
        }  # whose copies follow from the element
        for state in other.states:
            if id(state) not in own:
                fill_in(self.things[id(state)], rate=self.to_parent_symbols(state.rate))
        for name, expression in other.signals.items():
            dict.__setitem__(parent.signals, self.name(name), self.to_parent_symbols(expression))
        for name, thing in other._names.items():
            if isinstance(thing, ca.SX):
                parent._enter(self.name(name), self.to_parent_symbols(thing))

    def _element(self, element):
        """A copy of an element that contains symbols, or remembers something."""
        parent, self.changed = self.parent, False
        moved = {name: self.counterpart(getattr(element, kept)) for name, kept in initial(element)}
        twin = type(element)(**{**moved, "name": self.name(element.name)})
        fill_in(twin, world=self.things[id(element.world)])
        parent._prepare(twin, False if element.inactive else None)
        for old, new in zip(element.memories(), twin.memories()):
            if id(old) in self.things:  # others may know its symbol by now
                fill_in(new, symbol=self.things[id(old)].symbol)
            self.things[id(old)] = new
        if element._active is not None:
            self.things[id(element._active)] = twin.active
        if element._armed is not None:
            self.things[id(element._armed)] = twin.armed
        self.things[id(element)] = twin
        parent._enter(twin.name, twin)
        if self.changed:
            element_checks.declaration(parent, twin)
            parent._complete(twin)
        elif isinstance(twin, Constraint):  # what it says was found to be sound in the component
            fill_in(twin, rows_kept=element.rows_kept)
        return twin

    def memories(self):
        """Machines, and what events and rules remember, before anything uses them; what others remember comes with them."""
        owned = {id(m) for e in [*self.other.constraints, *self.other.forces] for m in e.memories()}
        for machine in self.other.machines.values():
            twin = self.parent.modes_of(self.name(machine.name), machine.names)
            self.things[id(machine)] = twin
            self.things[id(machine.memory)] = twin.memory
        for memory in self.other.memory.values():
            if id(memory) not in self.things and id(memory) not in owned:
                twin = replace(memory, name=self.name(memory.name), symbol=None)
                self.things[id(memory)] = self.parent._remember(twin)

    def events(self):
        """Events that a user gave; those of elements came with them."""
        for event in self.other.events:
            if event.source is not None:
                continue
            twin = replace(
                event,
                name=self.name(event.name),
                watch=replace(event.watch, phi=self.to_parent_symbols(event.watch.phi)),
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
        known = self.other.derived
        if "instances" not in known:
            inner = [thing for thing in self.other._names.values() if isinstance(thing, Instance)]
            ports = {port: port_of(thing) or thing for port, thing in self.other.ports.items()}
            known["instances"] = inner, dict.fromkeys(self.other._names), ports
        for level, order in self.other.eliminations.items():
            dict.__setitem__(self.parent.eliminations, self.name(level) if level else self.prefix, order)
        inner, paths, ports = known["instances"]
        for one in inner:
            self.things[id(one)] = self._instance(self.name(one.name), one._model_name, one._paths, one._ports)
        return self._instance(self.prefix, self.other.name, paths, ports)

    def _instance(self, name, model_name, paths, ports):
        if not all(isinstance(thing, Port) for thing in ports.values()):
            ports = {
                port: thing if isinstance(thing, Port) else self.counterpart(thing) for port, thing in ports.items()
            }
        made = fill_in(Instance(name, model_name, paths, ports), _home=self.parent)
        self.parent._names[name] = made
        return made
