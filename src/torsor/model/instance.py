"""An included model, seen from outside."""

from typing import Any, NamedTuple

from ..elements import quantity
from ..elements.assignments import AssignmentError
from ..elements.element import Owned
from ..errors import ModelError
from .body import Frame


class NoPort(ModelError, AttributeError):
    """A port that an instance does not have: also what Python asks for where it only wants to know (`hasattr`)."""


class Port(NamedTuple):
    """What a port stands for: something by its path in the component, or a frame of it."""

    path: str
    pose: Any = None


def port_of(thing):
    """A port as all instances of a component share it; None where it is another expression in each."""
    if isinstance(thing, Frame):
        return Port(thing.body.name, thing._pose) if quantity.is_number(thing._pose) else None
    return Port(thing.name) if isinstance(thing, Owned) else None


class Instance(Owned):
    """An included model, seen from outside: its ports, and its elements by their own names.

    _paths   names of what the component has, shared by all of its instances: they are found in the model around
    _ports   by name, a `Port` that is shared likewise, or what it stands for
    """

    def __init__(self, name, model_name, paths, ports):
        vars(self).update(name=name, _model_name=model_name, _paths=paths, _ports=ports, _frames={})

    def __getattr__(self, port):
        if port.startswith("_"):
            raise AttributeError(port)
        if port not in self._ports:
            known = ", ".join(self._ports) or "none"
            raise NoPort(f"{self.owner} has no port {port!r}. Ports: {known}.")
        found = self._ports[port]
        if not isinstance(found, Port):
            return found
        thing = self._home._names[f"{self.name}.{found.path}"]
        return thing if found.pose is None else self._frames.setdefault(port, Frame(thing, found.pose))

    def __setattr__(self, name, value=None):
        known = ", ".join(self._ports) or "none"
        raise AssignmentError(
            f"{self.owner}: {name} cannot be assigned. Its parameters are given to model.include({self.name!r}, …, NAME=VALUE), or "
            f"as parameters={{'{self.name}.NAME': …}} of a run. Ports: {known}."
        )

    __delattr__ = __setattr__

    def __getitem__(self, path):
        full = f"{self.name}.{path}" if isinstance(path, str) and path in self._paths else None
        if full in self._home._names:
            return self._home._names[full]
        if isinstance(path, str) and f"{self.name}.{path}" in self._home:
            return self._home[f"{self.name}.{path}"]
        known = ", ".join(x for x in self._paths if f"{self.name}.{x}" in self._home._names)
        ports = ", ".join(self._ports) or "none"
        raise ModelError(f"{self.owner} has nothing called {quantity.show(path)}. Ports: {ports}. Elements: {known}.")

    def __contains__(self, path):
        if not isinstance(path, str):
            return False
        return path in self._ports or f"{self.name}.{path}" in self._home

    def __dir__(self):
        return [*super().__dir__(), *self._ports]

    @property
    def owner(self):
        """The instance by its full name, as messages name it."""
        return f"instance {self.name!r} of {self._model_name!r}"

    def __repr__(self):
        return f"<Instance {self.name!r} of {self._model_name!r}>"
