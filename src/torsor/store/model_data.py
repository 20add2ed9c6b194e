"""A model as plain data: names, numbers and expressions, without code and without names of code.

The objects of a model are stored in a list, each as the name of its class and its attributes; attributes refer to other objects by
their indices in the list. Only classes of this package are allowed, elements and actions by their registry keys: reading creates no
other objects.
"""

from functools import cache
from types import MethodType

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.assignments import ADDED, part, plain
from ..elements.element import Element, Owned, initial
from ..elements.shapes import Shape
from ..errors import ModelError
from ..events import Clock, Event, Memory, Mode, Modes, State, Watch
from ..events.actions import Action
from ..events.actions.engage_release import Lift, Release
from ..events.value_structure import Bundle
from ..lookup.interval_search import stored_table
from ..lookup.lookup_calls import numbers_in
from ..model import expressions
from ..model.body import Body, Frame, Ground
from ..model.instance import Instance, Port
from ..model.model import Model
from ..model.nesting import Lineage
from ..model.parameters import Input, Parameter
from ..registry import registered
from ..tables.table import Table, table
from . import recorded_elements

PLAIN_CLASSES = {
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
        Shape,
    )
}
KINDS = ("joint", "constraint", "force", "rule", "action")  # of registered classes, which are stored by their keys
NUMBER_TYPES = {"float64": float, "int64": np.int64, "bool": bool}
NOT_STORED = ("derived", "_symbols", "_compiled", "_lineage", "_made")


@cache
def _registered_classes():
    """Classes of elements and actions of this package by kind and key."""

    def is_own(cls):
        return cls.__module__.partition(".")[0] == __package__.partition(".")[0]

    return {f"{kind}:{key}": cls for kind in KINDS for key, cls in registered(kind).items() if is_own(cls)}


def _classes():
    """All classes that a file may contain, by their names in the file."""
    return PLAIN_CLASSES | recorded_elements.CLASSES | _registered_classes()


class Writer:
    """Writes a model as plain data.

    things         the objects of the model: [name of the class, attributes]
    expressions    CasADi expressions, which things refer to by index
    arrays         arrays of numbers, which things refer to by index
    exact          True if every element is of a class of this package, so that none is recorded
    """

    def __init__(self, model):
        self.model = model
        self.names = {cls: name for name, cls in _classes().items()}
        self.things = []
        self._index_of_thing = {}  # by id
        self._references = []  # keep objects alive whose ids are used
        self.expressions = []
        self.arrays = []
        self._index_of_shared = {}  # of expressions and arrays, by id
        self.exact = True
        content = {name: plain(x) for name, x in vars(model).items() if name not in NOT_STORED}
        self.content = {name: self.value(x, f"model {model.name!r}", name) for name, x in content.items()}

    def value(self, x, owner, what):
        """The value of an attribute as plain data: itself, or [kind, index]. owner, what: object and attribute, for messages."""
        if x is None or isinstance(x, (bool, str)):
            return x
        if isinstance(x, (int, np.integer)):
            return int(x)
        if isinstance(x, (float, np.floating)):
            return self._array(np.array(float(x)), "number")
        if isinstance(x, ca.SX):
            return self._shared_index("expression", x, self.expressions)
        if isinstance(x, np.ndarray) and x.dtype.name in NUMBER_TYPES:
            return self._array(x, "array")
        if isinstance(x, Port):
            return ["port", *(self.value(v, owner, what) for v in x)]
        if isinstance(x, Table):
            return ["table", _table_data(x, self)]
        if type(x) in (tuple, list):
            return [type(x).__name__, *(self.value(v, owner, what) for v in x)]
        if x is self.model:
            return ["model"]
        if type(x) is dict or type(x) in self.names or isinstance(x, Element):
            return ["thing", self.thing_index(x, owner, what)]
        if isinstance(x, Action):
            raise ModelError(
                f"{owner}: its action {x.key!r} is defined outside torsor, so that the file could not be read"
            )
        code = "; Python code does not go into files, a controller with compiled=True does" if callable(x) else ""
        raise ModelError(f"{owner}: its {what} cannot be saved, it is {quantity.show(x)}{code}")

    def _shared_index(self, kind, x, items):
        """[kind, index] of an object in a list, to which it is appended once."""
        if id(x) not in self._index_of_shared:
            self._index_of_shared[id(x)] = len(items)
            items.append(x)
        return [kind, self._index_of_shared[id(x)]]

    def _array(self, x, kind):
        """[kind, index] of an array or number."""
        if kind == "number":
            self.arrays.append(x)
            return [kind, len(self.arrays) - 1]
        return self._shared_index(kind, x, self.arrays)

    def thing_index(self, x, owner, what):
        """The index of an object in the list of things, to which it is appended once."""
        if id(x) in self._index_of_thing:
            return self._index_of_thing[id(x)]
        index = len(self.things)
        self._index_of_thing[id(x)] = index
        self.things.append(None)
        self._references.append(x)
        if type(x) is dict:
            pairs = [[self.value(k, owner, what), self.value(v, owner, what)] for k, v in x.items()]
            self.things[index] = ["dict", pairs]
        else:
            owner = getattr(x, "owner", owner)
            if reason := getattr(x, "unsaved", ""):
                raise ModelError(f"{owner}: {reason}")
            x = self._storable(x)
            attributes = {k: self.value(v, owner, k) for k, v in self._attributes(x)}
            self.things[index] = [self.names[type(x)], attributes]
        return index

    def _storable(self, x):
        """The object itself, or a recorded element if its class is defined outside torsor."""
        if type(x) in self.names:
            return x
        recorded = recorded_elements.record(x)
        if recorded is None:
            raise recorded_elements.refusal(x)
        self._references.append(recorded)
        self.exact = False
        return recorded

    def _attributes(self, x):
        """Names and values of the attributes that are stored."""
        for name, value in x.__getstate__().items():
            if name == "_expressions" or isinstance(value, MethodType):  # the reader creates them (`_complete`)
                continue
            yield name, value


def write(model):
    """A model as plain data for JSON, its numbers as a list of arrays, and True if reading gives the same model to the last bit:
    it does, unless elements are recorded."""
    writer = Writer(model)
    symbols = ca.symvar(ca.vertcat(*[ca.vec(x) for x in writer.expressions], quantity.time))
    time_hash = quantity.time.element_hash()
    kinds = [[None if s.element_hash() == time_hash else s.name(), model.kind_of(s)] for s in symbols]
    try:
        graph = expressions.to_data(writer.expressions, symbols)
    except ValueError as error:
        raise ModelError(f"model {model.name!r}: cannot be saved: {error}") from None
    steps = graph.pop("steps")
    constants = graph.pop("constants")
    f = ca.Function("expressions", [ca.vertcat(*symbols)], writer.expressions)
    tables = [_table_data(stored_table(number).content, writer) for number in numbers_in(f)]
    arrays = [*writer.arrays, steps, constants]
    data = {"things": writer.things, "content": writer.content, "symbols": kinds, "graph": graph, "tables": tables}
    return data, arrays, writer.exact


def _table_data(content, writer):
    """A table as plain data, its numbers in the arrays of the writer."""
    indices = [writer._array(x, "array")[1] for x in (content.values, *content.points)]
    return {"kind": content.kind, "outside": content.outside, "name": content.name, "arrays": indices}


class Reader:
    """Creates a model from plain data that `write` returned; owner: name of the component, for messages."""

    def __init__(self, data, arrays, owner):
        *self.arrays, steps, constants = arrays
        self.owner = owner
        self.model = Model.__new__(Model)
        symbols = [quantity.time if name is None else ca.SX.sym(name) for name, _ in data["symbols"]]
        for entry in data.get("tables", ()):
            self._table(entry).number  # noqa: B018  registers the table for expressions
        self.expressions = expressions.read(data["graph"] | {"steps": steps, "constants": constants}, symbols)
        classes = _classes()
        self.things = [{} if name == "dict" else _empty(classes, name, owner) for name, _ in data["things"]]
        for thing, (name, entries) in zip(self.things, data["things"]):
            if name == "dict":
                thing.update((self.value(k), self.value(v)) for k, v in entries)
            else:
                vars(thing).update({k: self.value(v) for k, v in entries.items()})
        content = {name: self.value(x) for name, x in data["content"].items()}
        content = {
            name: part(name, x) if name in ADDED and isinstance(x, (list, dict)) else x for name, x in content.items()
        }
        kinds = {s.element_hash(): kind for s, (_, kind) in zip(symbols, data["symbols"]) if kind is not None}
        vars(self.model).update(content, derived={}, _compiled=False, _symbols=kinds, _lineage=Lineage())
        self._complete()

    def value(self, x):
        """The value of an attribute from plain data."""
        if not isinstance(x, list):
            return x
        kind, *rest = x
        if kind in ("tuple", "list"):
            return (tuple if kind == "tuple" else list)(map(self.value, rest))
        if kind == "port":
            return Port(*map(self.value, rest))
        if kind == "model":
            return self.model
        if kind == "table":
            return self._table(*rest)
        if kind == "number":
            return float(self.arrays[rest[0]])
        return {"array": self.arrays, "expression": self.expressions, "thing": self.things}[kind][rest[0]]

    def _table(self, entry):
        """A table from plain data."""
        y, *x = [self.arrays[k] for k in entry["arrays"]]
        return table(x[0] if len(x) == 1 else x, y, entry["kind"], entry["outside"], entry["name"])

    def _complete(self):
        """Set the attributes that are not stored. Refuse elements that lack an attribute of their class in this version."""
        model = self.model
        for event in model.events:
            actions = tuple(_current_action(action, event.source) for action in event.actions)
            vars(event).update(remember=model._remember, extend=model._extend, actions=actions)
        for thing in self.things:
            if isinstance(thing, Element):
                for name, attribute in initial(thing):
                    if attribute not in vars(thing):
                        raise ModelError(
                            f"{self.owner}: {thing.owner} was saved by another version of torsor: it has no value for {name!r}"
                        )
            if isinstance(thing, Owned) and not isinstance(vars(thing).get("name"), str):
                raise ValueError("something has no name")


def _current_action(action, source):
    """The action of an event in its current form: earlier versions stored Release where a contact now has Lift."""
    lifts = type(action) is Release and getattr(source, "armable", False) and source in action.targets
    return Lift(action.targets) if lifts else action


def _empty(classes, name, owner):
    """An object without attributes of the class with this name."""
    if name not in classes:
        kind, _, key = name.partition(":")
        raise ModelError(f"{owner}: this version of torsor has no {kind} {key!r}, of which the component is made")
    return object.__new__(classes[name])


def read(data, arrays, owner):
    """The model from data and arrays that `write` returned; owner: name of the component, for messages."""
    try:
        return Reader(data, arrays, owner).model
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RuntimeError, RecursionError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{owner}: its content is invalid: {type(error).__name__}: {error}") from None
