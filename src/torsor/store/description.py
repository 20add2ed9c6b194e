"""A model as plain data: names, numbers, and expressions; no code, and nothing that names code.

Everything that a model consists of is listed once, as the name of its class and its attributes; attributes refer to others by
their places in the list. Classes are those that this package knows, elements and actions by their keys: what is read cannot be
anything else.
"""

from functools import cache
from types import MethodType

import casadi as ca
import numpy as np

from ..describe import expressions, quantity
from ..describe.assignments import ADDED, part, plain
from ..describe.body import Body, Frame, Ground
from ..describe.element import Element, Owned, initial
from ..describe.instance import Instance, Port
from ..describe.model import Model
from ..describe.nesting import Lineage
from ..describe.parameters import Input, Parameter
from ..errors import ModelError
from ..events import Clock, Event, Memory, Mode, Modes, State, Watch
from ..events.actions import Action
from ..events.actions.holding import Lift, Release
from ..events.bundle import Bundle
from ..registry import registered
from ..tables.calls import numbers_in
from ..tables.search import stored
from ..tables.table import table
from . import recorded

PLAIN = {
    cls.__name__: cls
    for cls in (
        Body,
        Bundle,
        Clock,
        Ground,
        Frame,
        Parameter,
        Input,
        Memory,
        State,
        Watch,
        Event,
        Modes,
        Mode,
        Instance,
    )
}
KINDS = ("joint", "constraint", "force", "rule", "action")  # whose classes are known by their keys
NUMBERS = {"float64": float, "int64": np.int64, "bool": bool}
MADE_ANEW = ("derived", "_symbols", "_compiled", "_lineage", "_made")


@cache
def _keyed():
    """Classes of elements and actions of this package by kind and key."""
    ours = lambda cls: cls.__module__.partition(".")[0] == __package__.partition(".")[0]
    return {f"{kind}:{key}": cls for kind in KINDS for key, cls in registered(kind).items() if ours(cls)}


def _classes():
    return PLAIN | recorded.CLASSES | _keyed()


class Writer:
    """Lists what a model consists of."""

    def __init__(self, model):
        self.model, self.names = model, {cls: name for name, cls in _classes().items()}
        self.things, self.places, self.kept = [], {}, []
        self.expressions, self.arrays, self.known = [], [], {}
        self.exact = True  # whether every element is of a class that readers have
        content = {name: plain(x) for name, x in vars(model).items() if name not in MADE_ANEW}
        self.content = {name: self.value(x, f"model {model.name!r}", name) for name, x in content.items()}

    def value(self, x, owner, what):
        """Anything that something holds, as plain data: itself, or [what it is, where to find it]."""
        if x is None or isinstance(x, (bool, str)):
            return x
        if isinstance(x, (int, np.integer)):
            return int(x)
        if isinstance(x, (float, np.floating)):
            return self._array(np.array(float(x)), "number")
        if isinstance(x, ca.SX):
            return self._shared("expression", x, self.expressions)
        if isinstance(x, np.ndarray) and x.dtype.name in NUMBERS:
            return self._array(x, "array")
        if isinstance(x, Port):
            return ["port", *(self.value(v, owner, what) for v in x)]
        if type(x) in (tuple, list):
            return [type(x).__name__, *(self.value(v, owner, what) for v in x)]
        if x is self.model:
            return ["model"]
        if type(x) is dict or type(x) in self.names or isinstance(x, Element):
            return ["thing", self.place(x, owner, what)]
        if isinstance(x, Action):
            raise ModelError(
                f"{owner}: its action {x.key!r} is defined outside torsor; whoever reads the file does not have it"
            )
        code = "; Python code does not go into files, a controller with compiled=True does" if callable(x) else ""
        raise ModelError(f"{owner}: its {what} cannot be saved, it is {quantity.show(x)}{code}")

    def _shared(self, kind, x, where):
        if id(x) not in self.known:
            self.known[id(x)] = len(where)
            where.append(x)
        return [kind, self.known[id(x)]]

    def _array(self, x, kind):
        if kind == "number":
            self.arrays.append(x)
            return [kind, len(self.arrays) - 1]
        return self._shared(kind, x, self.arrays)

    def place(self, x, owner, what):
        """The place of a thing in the list."""
        if id(x) in self.places:
            return self.places[id(x)]
        place = self.places[id(x)] = len(self.things)
        self.things.append(None)
        self.kept.append(x)  # as long as its identity counts
        if type(x) is dict:
            pairs = [[self.value(k, owner, what), self.value(v, owner, what)] for k, v in x.items()]
            self.things[place] = ["dict", pairs]
        else:
            owner, x = getattr(x, "owner", owner), self._known(x)
            held = {k: self.value(v, owner, k) for k, v in self._attributes(x)}
            self.things[place] = [self.names[type(x)], held]
        return place

    def _known(self, x):
        """Itself, or what stands for an element of a class that readers do not have."""
        if type(x) in self.names:
            return x
        twin = recorded.recorded(x)
        if twin is None:
            raise recorded.refused(x)
        self.kept.append(twin)
        self.exact = False
        return twin

    def _attributes(self, x):
        for name, value in x.__getstate__().items():
            if name == "_expressions" or isinstance(value, MethodType):  # made anew, and how an event tells its model
                continue
            if name == "shape" and isinstance(x, Body):
                value = value if _drawable(value) else None
            yield name, value


def _drawable(shape):
    """Whether a shape is plain data."""
    return (
        shape is None
        or isinstance(shape, (str, float, int, bool))
        or (isinstance(shape, (tuple, list)) and all(map(_drawable, shape)))
    )


def written(model):
    """A model as plain data (what JSON can hold), the numbers in it (a list of arrays), and whether it is the same model to the
    last bit where it is read: it is, unless elements had to be recorded."""
    writer = Writer(model)
    symbols = ca.symvar(ca.vertcat(*[ca.vec(x) for x in writer.expressions], quantity.time))
    here = quantity.time.element_hash()
    kinds = [[None if s.element_hash() == here else s.name(), model.kind_of(s)] for s in symbols]
    try:
        graph = expressions.written(writer.expressions, symbols)
    except ValueError as error:
        raise ModelError(f"model {model.name!r}: cannot be saved: {error}") from None
    steps, constants = graph.pop("steps"), graph.pop("constants")
    f = ca.Function("expressions", [ca.vertcat(*symbols)], writer.expressions)
    tables = [_told(stored(number).content, writer) for number in numbers_in(f)]
    arrays = [*writer.arrays, steps, constants]
    data = {"things": writer.things, "content": writer.content, "symbols": kinds, "graph": graph, "tables": tables}
    return data, arrays, writer.exact


def _told(given, writer):
    """A table as plain data."""
    at = [writer._array(x, "array")[1] for x in (given.values, *given.points)]
    return {"kind": given.kind, "outside": given.outside, "name": given.name, "arrays": at}


class Reader:
    """Makes a model of what was listed."""

    def __init__(self, data, arrays, owner):
        *self.arrays, steps, constants = arrays
        self.owner, self.model = owner, Model.__new__(Model)
        symbols = [quantity.time if name is None else ca.SX.sym(name) for name, _ in data["symbols"]]
        for told in data.get("tables", ()):
            y, *x = [self.arrays[k] for k in told["arrays"]]
            table(x[0] if len(x) == 1 else x, y, told["kind"], told["outside"], told["name"]).number  # noqa: B018  known from here on
        self.expressions = expressions.read(data["graph"] | {"steps": steps, "constants": constants}, symbols)
        known = _classes()
        self.things = [{} if name == "dict" else _empty(known, name, owner) for name, _ in data["things"]]
        for thing, (name, held) in zip(self.things, data["things"]):
            if name == "dict":
                thing.update((self.value(k), self.value(v)) for k, v in held)
            else:
                vars(thing).update({k: self.value(v) for k, v in held.items()})
        content = {name: self.value(x) for name, x in data["content"].items()}
        content = {
            name: part(name, x) if name in ADDED and isinstance(x, (list, dict)) else x for name, x in content.items()
        }
        kinds = {s.element_hash(): kind for s, (_, kind) in zip(symbols, data["symbols"]) if kind is not None}
        vars(self.model).update(content, derived={}, _compiled=False, _symbols=kinds, _lineage=Lineage())
        self._complete()

    def value(self, x):
        if not isinstance(x, list):
            return x
        kind, *rest = x
        if kind in ("tuple", "list"):
            return (tuple if kind == "tuple" else list)(map(self.value, rest))
        if kind == "port":
            return Port(*map(self.value, rest))
        if kind == "model":
            return self.model
        if kind == "number":
            return float(self.arrays[rest[0]])
        return {"array": self.arrays, "expression": self.expressions, "thing": self.things}[kind][rest[0]]

    def _complete(self):
        """What is made anew, and whether every element has what those of its class have in this version."""
        model = self.model
        for event in model.events:
            actions = tuple(_own(action, event.source) for action in event.actions)
            vars(event).update(remember=model._remember, extend=model._extend, actions=actions)
        for thing in self.things:
            if isinstance(thing, Element):
                for name, attribute in initial(thing):
                    if attribute not in vars(thing):
                        raise ModelError(
                            f"{self.owner}: {thing.owner} was saved by another version of torsor: it does not tell its {name!r}"
                        )
            if isinstance(thing, Owned) and not isinstance(vars(thing).get("name"), str):
                raise ValueError("something has no name")


def _own(action, source):
    """The action of an element's own event. Earlier versions wrote a release where a contact that would pull lifts."""
    lifts = type(action) is Release and getattr(source, "armable", False) and source in action.targets
    return Lift(action.targets) if lifts else action


def _empty(known, name, owner):
    if name not in known:
        kind, _, key = name.partition(":")
        raise ModelError(f"{owner}: this version of torsor has no {kind} {key!r}, of which the component is made")
    return object.__new__(known[name])


def read(data, arrays, owner):
    """The model that was written. `owner` names it in errors."""
    try:
        return Reader(data, arrays, owner).model
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RuntimeError, RecursionError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{owner}: its content makes no sense here: {type(error).__name__}: {error}") from None
