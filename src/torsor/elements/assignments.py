"""Refuse assignments to a model and to its items, with a message that names the correct way.

The frames of joints and the compiled kernels are made from the values that an element has when it is added. A value that is
assigned later would have no effect. Numbers that change are declared as parameters.
"""

from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import Any

import casadi as ca
import numpy as np

from ..errors import ModelError
from ..registry import registered


class AssignmentError(ModelError, AttributeError):
    """An attribute that does not exist, or that cannot be assigned."""


_PATCHED_CLASSES: set[type] = set()


def explain_assignments(cls: type) -> None:
    """Remove the `__setattr__` and `__delattr__` that `dataclass` writes into a frozen class, so that those of its base class
    `Owned` apply: their messages say what to write instead."""
    if cls in _PATCHED_CLASSES:
        return
    _PATCHED_CLASSES.add(cls)
    for base in cls.__mro__:
        if "__dataclass_params__" in vars(base):
            for name in ("__setattr__", "__delattr__"):
                if name in vars(base):
                    delattr(base, name)


def refuse(thing: Any, name: str, arguments: Any = (), signals: Any = (), hint: str = "build the model again") -> None:
    """Raise an AssignmentError that says what to write instead.

    arguments   names of the arguments of its constructor
    signals     names of its signals, whose values exist during a run
    hint        what to write for other attributes
    """
    owner = thing.owner
    public = [x for x in dir(thing) if not x.startswith("_")]
    if name not in arguments and name not in public:
        own = [*arguments, *public]
        close = get_close_matches(name, [*own, *element_arguments()], n=1)
        meant = "" if not close else f" Did you mean {close[0]!r}?"
        if close and close[0] not in own:
            meant = f" {close[0]!r} is an argument of {', '.join(element_arguments()[close[0]])}."
        raise AssignmentError(f"{owner} has no attribute {name!r}.{meant} Attributes cannot be added to it.")
    instead = hint
    if name == "active":
        instead = "switch it by ts.engage and ts.release in an event, or add it with model.add(…, active=False)"
    elif name in signals:
        start = f"{name}=… when it is made" if name in arguments else "its start"
        instead = f"it is a signal, known while a model runs; give {start}, or start=… to ts.simulate"
    elif name in arguments and (size := count_numbers(getattr(thing, name, (0, 0, 0)))):
        chosen = f"{thing.name.replace('.', '_')}_{name}"
        where = f"{name}=model.parameter({chosen!r}, …)" if size == 1 else f"model.parameter({chosen!r}, …) in {name}=…"
        instead = f"write {where} when it is made and parameters={{{chosen!r}: …}} for a run, or build the model again"
    raise AssignmentError(f"{owner}: {name} cannot be assigned, the model would not follow it: {instead}")


def refuse_any(instead: str) -> Any:
    """Return a method that refuses every assignment."""

    def refuse_one(self, name, value=None):
        raise AssignmentError(f"{self!r}: {name} cannot be assigned: {instead}")

    return refuse_one


def assign_only(*names: str, instead: str) -> Any:
    """Return a `__setattr__` that accepts these attributes and private ones, and refuses all others."""

    def assign(self, name, value):
        if not name.startswith("_") and name not in names:
            close = get_close_matches(name, [x for x in dir(self) if not x.startswith("_") and x != name], n=1)
            meant = f" Did you mean {close[0]!r}?" if close and not hasattr(type(self), name) else ""
            raise AssignmentError(f"{self!r}: {name} cannot be assigned.{meant} {instead}")
        object.__setattr__(self, name, value)

    return assign


def element_arguments() -> dict[str, list[str]]:
    """Return, for each name of an argument, the names of the element classes that have it."""
    found: dict[str, list[str]] = {}
    every = {
        cls.__name__: cls for kind in ("joint", "constraint", "force", "rule") for cls in registered(kind).values()
    }
    for name, cls in sorted(every.items()):
        for argument in signature(cls).parameters:
            found.setdefault(argument, []).append(name)
    return found


def count_numbers(value):
    """Return the number of scalars in a number, an array, an expression or a nested list of these; 0 for anything else."""
    if isinstance(value, (tuple, list)):
        counts = [count_numbers(x) for x in value]
        return sum(counts) if all(counts) else 0
    if isinstance(value, (ca.SX, np.ndarray)):
        return int(np.prod(value.shape))
    return int(isinstance(value, (int, float, np.number)) and not isinstance(value, bool))


def freeze_entries(expression: Any) -> Any:
    """Mark an expression as part of a model, so that its entries cannot be assigned. Results computed from it are not marked."""
    expression._of_a_model = True
    return expression


def _set_entry(set_entry):
    """Wrap `SX.__setitem__`: entries of expressions that belong to a model cannot be assigned."""

    @wraps(set_entry)
    def set_if_free(self, place, value):
        if "_of_a_model" in vars(self):
            raise AssignmentError(
                f"entries of {str(self)[:60]} cannot be assigned, it belongs to a model: build the model again with other "
                "numbers, or with model.parameter(…) in them, or calculate with a copy, casadi.SX(…)"
            )
        set_entry(self, place, value)

    return set_if_free


_SX: Any = ca.SX
_SX.__setitem__ = _set_entry(ca.SX.__setitem__)


def _refusing(method):
    def refuse_method(self, *given, **named):
        how = "" if method.startswith("__") else f" by {method}"
        raise AssignmentError(f"model.{self.what} cannot be changed{how}: {self.instead}")

    refuse_method.__name__ = method
    return refuse_method


ADDED = {  # for each list or dictionary of a model: the call that adds to it
    "bodies": "model.body(…) adds a body", "ports": "model.expose(…) adds a port",
    "eliminations": "model.eliminate(…) gives an order of elimination",
    "constraints": "model.add(…) adds an element", "forces": "model.add(…) adds an element",
    "rules": "model.add(…) adds an element", "grounds": "model.add(ts.Ground(…)) adds a ground",
    "signals": "model.signal(…) adds a signal", "events": "model.when(…) adds an event",
    "memory": "model.state(…) adds a state", "machines": "model.modes(…) adds a machine",
    "parameters": "model.parameter(name, value) declares a parameter, parameters={name: value} of ts.simulate gives it "
    "another value for a run",
}  # fmt: skip
OMISSION_HINTS = {  # for each list or dictionary of a model: how to leave out an item
    "constraints": "; to leave one out build the model without it, or release it (ts.release, active=False)",
    "parameters": "",
}
OMISSION_HINTS |= {"forces": OMISSION_HINTS["constraints"], "rules": OMISSION_HINTS["constraints"]}


class Part:
    """Base of the lists and dictionaries of a model, which only the model itself changes."""

    what: str

    @property
    def instead(self) -> str:
        """The calls to use instead of changing it directly, for messages."""
        return ADDED[self.what] + OMISSION_HINTS.get(self.what, "; to leave something out build the model without it")

    def __reduce__(self):
        return part, (self.what, plain(self))

    def __reduce_ex__(self, protocol):
        return self.__reduce__()


class List(Part, list):
    """A list of a model. The model appends with `list.append(part, x)`."""


class Dictionary(Part, dict):
    """A dictionary of a model. The model writes with `dict.__setitem__(part, name, x)`."""


for _name in "append extend insert remove pop clear sort reverse __setitem__ __delitem__ __iadd__ __imul__".split():
    setattr(List, _name, _refusing(_name))
for _name in "update pop popitem clear setdefault __setitem__ __delitem__ __ior__".split():
    setattr(Dictionary, _name, _refusing(_name))


def plain(x: Any) -> Any:
    """Return a list or dictionary of a model as an ordinary one; anything else unchanged."""
    if not isinstance(x, Part):
        return x
    return dict(x) if isinstance(x, dict) else list(x)  # type: ignore[call-overload]


def part(what: str, content: Any = ()) -> Any:
    """Return a list or dictionary with this content that only the model changes."""
    made: Any = Dictionary(content) if isinstance(content, dict) else List(content)
    made.what = what
    return made
