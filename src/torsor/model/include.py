"""Models inside models: a copy of every element, renamed, placed and connected to the copies of its bodies."""

import copy
from dataclasses import fields, replace

import casadi as ca

from .. import quantity
from ..errors import ModelError
from ..joints.base import settle
from .body import Body, Frame, Ground


class Instance:
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
    full = lambda name: f"{prefix}.{name}"
    old, new = [], []  # symbols of the original and what stands for them in the copy
    things = {}  # id of the original -> copy

    for name, parameter in other.parameters.items():
        if name in overrides:
            value = quantity.scalar(overrides[name], name, owner)
        else:
            entry = replace(parameter, name=full(name), symbol=ca.SX.sym(full(name)))
            parent.parameters[full(name)] = parent._enter(full(name), entry)
            value, things[id(parameter)] = entry.symbol, entry
        old.append(parameter.symbol)
        new.append(value)

    def moved(expression):
        return ca.substitute([ca.SX(expression)], old, new)[0] if old and not expression.is_constant() else expression

    for placed in [*other.grounds, *other.bodies]:
        twin = copy.copy(placed)
        fresh = Ground(full(placed.name)) if isinstance(placed, Ground) else Body(full(placed.name), 1, (1, 1, 1))
        for k in ("name", "position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration"):
            if hasattr(fresh, k):
                setattr(twin, k, getattr(fresh, k))
        old += placed.symbols
        new += twin.symbols
        things[id(placed)] = twin
        twin.start_position = shift + R @ moved(placed.start_position)
        twin.start_rotation = R @ moved(placed.start_rotation)
        if isinstance(placed, Body):
            old += [placed.acceleration, placed.angular_acceleration]
            new += [twin.acceleration, twin.angular_acceleration]
            twin.mass = moved(placed.mass)
            twin.inertia = None if placed.particle else moved(placed.inertia)
            twin.start_velocity = None if placed.start_velocity is None else R @ moved(placed.start_velocity)
        (parent.bodies if isinstance(twin, Body) else parent.grounds).append(twin)
        parent._enter(twin.name, twin)

    def remap(value):
        """The counterpart of anything an element holds."""
        if id(value) in things:
            return things[id(value)]
        if isinstance(value, Frame):
            return Frame(things[id(value.body)], moved(value.pose))
        if isinstance(value, ca.SX):
            return moved(value)
        if isinstance(value, (tuple, list)):
            return type(value)(remap(v) for v in value)
        return value

    for element, target in [(c, parent.constraints) for c in other.constraints] + [(f, parent.forces) for f in other.forces]:
        twin = replace(element, **{f.name: remap(getattr(element, f.name)) for f in fields(element) if f.init})
        settle(twin, name=full(element.name))
        for k in ("coordinate", "rate", "turn", "reaction_force", "reaction_torque"):
            if hasattr(element, k):
                fresh = ca.SX.sym(f"{full(element.name)}.{k}", getattr(element, k).shape[0])
                settle(twin, **{k: fresh})
                old.append(getattr(element, k))
                new.append(fresh)
        things[id(element)] = twin
        target.append(twin)
        parent._enter(twin.name, twin)
    for name, expression in other.signals.items():
        parent.signals[full(name)] = moved(expression)
        parent._enter(full(name), parent.signals[full(name)])

    inner = {name: things[id(thing)] for name, thing in other._names.items() if id(thing) in things}
    for name, thing in other._names.items():
        if isinstance(thing, Instance):
            parent._enter(full(name), thing)
    return Instance(prefix, other.name, inner, {port: remap(thing) for port, thing in other.ports.items()})
