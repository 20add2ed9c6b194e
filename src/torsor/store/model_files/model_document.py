"""A model as the content of a model file: names, numbers and texts of expressions.

Everything is found by the registry: an element is written by the key of its class and by its arguments. Arguments that torsor
derives itself when an element is added (`repr=False` in the class) are written only where adding it again would give others, as
for the elements of an included model, which are described in its own world frame.
"""

from copy import copy
from dataclasses import fields
from typing import Any

import casadi as ca
import numpy as np

from ...elements import quantity
from ...elements.element import Element, Owned, fill_in, initial
from ...elements.lazy_attributes import storage_of
from ...elements.placing import EYE, ZERO
from ...elements.shapes import Shape
from ...errors import ModelError
from ...events import Clock, Event, Memory, Mode, State
from ...events.value_structure import Bundle
from ...model.body import Frame
from ...model.instance import Instance, Port
from ...model.parameters import Input, Parameter
from ...tables.table import Table
from .. import recorded_elements
from .equal_values import is_default, same_value
from .expression_writer import ExpressionTexts
from .file_sections import derived_fields, element_classes, holds_expressions

VERSION = 1


class Expression:
    """A place in the document where the text of an expression goes, once all of them are known."""

    def __init__(self, value):
        self.value = ca.densify(value)
        self.text = ""


class TableName:
    """A place in the document where the name of a table goes, once all of them are known."""

    def __init__(self, table):
        self.table = table
        self.name = ""


def document_of(model) -> tuple[dict[str, Any], bool]:
    """The content of the file of a model, as dictionaries, lists, numbers and texts; and True if every element is of a class of
    torsor, so that none is recorded by its expressions."""
    made = _Document(model)
    return made.content(), made.exact


class _Document:
    def __init__(self, model):
        self.model = model
        self.entries: list[ca.SX] = []
        self.texts: Any = None
        self.keys = {cls: key for key, cls in element_classes().items()}
        self.exact = True
        self.created: set[str] = set()  # names that other elements, states or events bring along

    def content(self):
        model = self.model
        found: dict[str, Any] = {"torsor": VERSION, "model": model.name}
        found["gravity"] = self.value(model.gravity, model.owner, "gravity")
        if not model.hints:
            found["hints"] = False
        if model.ground.shape is not None:
            found["ground"] = {"shape": [self.shape(s) for s in model.ground.shape]}
        found["parameters"] = {p.name: self.parameter(p) for p in model.parameters.values()}
        found["grounds"] = {g.name: self.ground(g) for g in model.grounds if g is not model.ground}
        found["bodies"] = {b.name: self.body(b) for b in model.bodies}
        found["memory"] = self._own_of_actions()
        found["modes"] = {m.name: list(m.names) for m in model.machines.values()}
        found["states"] = self.states()
        elements = [x for x in model._names.values() if isinstance(x, Element) and not self._is_companion(x)]
        found["elements"] = {e.name: self.element(e) for e in elements if e.name not in self.created}
        found["signals"] = self.signals()
        found["events"] = {e.name: self.event(e) for e in model.events if e.source is None}
        found["ports"] = {k: self.value(v, model.owner, f"port {k!r}") for k, v in model.ports.items()}
        found["eliminate"] = {level or "model": _listed(order) for level, order in model.eliminations.items()}
        found["instances"] = {x.name: self.instance(x) for x in model._names.values() if isinstance(x, Instance)}
        found = {k: v for k, v in found.items() if v not in ({}, [])}
        return self._with_texts(found)

    def _is_companion(self, element):
        """Whether another element adds this one; notes those that this element adds."""
        made = dict(vars(self.model).get("_made", {}))
        self.created.update(c.name for c in element.companions())
        vars(self.model)["_made"] = made
        return element.name in self.created

    def _own_of_actions(self):
        """Memories with which actions of included models act on forces. Forces that an action adds again are noted."""
        found: dict[str, float] = {}
        for event in self.model.events:
            for action in event.actions if event.source is None else ():
                if self._adds_again(action):
                    self.created.update(x.name for x in getattr(action, "loads", ()))
                else:
                    found |= {m.name: m.value for m in action.pulse}
        return found

    def _adds_again(self, action):
        """Whether an action that is read adds the same forces: those of an included model are described in its own world."""
        return all(load.world is self.model.ground for load in getattr(action, "loads", ()))

    def parameter(self, p):
        plain = not p.positive and not isinstance(p, Input)
        options = {"positive": True} if p.positive else {"input": True}
        return p.value if plain else {"value": p.value, **options}

    def ground(self, ground):
        x, R = ground.reference if ground.is_fixed else ground.path
        found = {"at": self.value(x, ground.owner, "at"), "rotation": self.value(R, ground.owner, "rotation")}
        if R is EYE or (quantity.is_number(R) and np.array_equal(R, EYE)):
            del found["rotation"]
        return found | ({} if ground.shape is None else {"shape": [self.shape(s) for s in ground.shape]})

    def body(self, body):
        get = lambda what: self.value(storage_of(body, what), body.owner, what)
        J = body._inertia
        inertia = 0 if body.particle else get("inertia")
        if not body.particle and quantity.is_number(J) and not (J - np.diag(J.diagonal())).any():
            inertia = J.diagonal().tolist()
        found = {"mass": get("mass"), "inertia": inertia, "at": get("start_position")}
        R = body._start_rotation
        if not (quantity.is_number(R) and np.array_equal(R, EYE)):
            found["rotation"] = get("start_rotation")
        found |= {
            k: v
            for k, v in (("velocity", get("start_velocity")), ("angular_velocity", get("start_angular_velocity")))
            if v is not None
        }
        if body.center is not ZERO and np.any(body.center):
            found["center"] = np.asarray(body.center, float).tolist()
        return found | ({} if body.shape is None else {"shape": [self.shape(s) for s in body.shape]})

    @staticmethod
    def shape(shape: Shape):
        return {
            f.name: _listed(v) for f in fields(Shape) if (v := getattr(shape, f.name)) is not None and v != f.default
        }

    def states(self):
        """States of the user: those of a vector together."""
        found = {}
        for name, thing in self.model._names.items():
            if isinstance(thing, ca.SX) and (states := self._states_of(name, thing)):
                rates, starts = [s.rate for s in states], [s.value for s in states]
                one = len(states) == 1 and states[0].name == name
                rate = self.value(rates[0], name, "rate") if one else [self.value(r, name, "rate") for r in rates]
                found[name] = {"rate": rate} | (
                    {"start": starts[0] if one else starts} if any(starts) or not one else {}
                )
        return found

    def _states_of(self, name, thing):
        """The states that an entry of the model's names consists of; none if it is a signal."""
        memory = self.model.memory
        names = [name] if name in memory else [f"{name}[{k}]" for k in range(thing.numel())]
        states = [memory.get(n) for n in names]
        if len(states) != thing.numel() or not all(isinstance(s, State) for s in states):
            return []
        same = all(ca.is_equal(s.symbol, x) for s, x in zip(states, ca.vertsplit(ca.vec(thing))))
        return states if same else []

    def signals(self):
        return {
            name: self.value(thing, f"signal {name!r}", "expression", True)
            for name, thing in self.model._names.items()
            if isinstance(thing, ca.SX) and not self._states_of(name, thing)
        }

    def element(self, e):
        e = self.storable(e)
        cls = type(e)
        found: dict[str, Any] = {"type": self.keys[cls]}
        if e.inactive:
            found["active"] = False
        if e.world is not self.model.ground and e.world is not None:
            found["world"] = e.world.name
        derived = derived_fields(cls)
        written = derived if derived and not _follows_again(e, derived) else ()
        for f in fields(cls):
            if not f.init or f.name == "name" or (f.name in derived and f.name not in written):
                continue
            value = getattr(e, dict(initial(e))[f.name])
            if not is_default(f, value):
                found[f.name] = self.value(value, e.owner, f.name, f.name in derived or holds_expressions(cls, f.name))
        return found

    def storable(self, e):
        """The element itself, or a record of its expressions if its class is defined outside torsor."""
        if type(e) in self.keys and type(e).__module__.startswith("torsor."):
            return e
        recorded = recorded_elements.record(e)
        if recorded is None:
            raise recorded_elements.refusal(e)
        self.exact = False
        return recorded

    def event(self, event):
        w = event.watch
        found: dict[str, Any] = {}
        phi = self.value(w.phi, event.owner, "condition", True)
        if isinstance(w, Clock):
            raise ModelError(f"{event.owner}: a clock of an event cannot be written: use a ts.Controller")
        if w.state:
            found["when"] = _Condition(phi, "<" if w.strict else "<=")
        else:
            found["crossing" if w.both else "falling"] = phi
        if event.during:
            found["during"] = {m.name: self.model.machines[m.name].names[int(value)] for m, value in event.during}
        for name in ("accumulate", "undecided_near_zero", "half"):
            if getattr(event, name) != Event.__dataclass_fields__[name].default:
                found[name] = getattr(event, name)
        if event.remembered:
            found["remember"] = list(event.remembered)
        if event.actions:
            found["do"] = [self.action(a, event.owner) for a in event.actions]
        return found

    def action(self, action, owner):
        if not type(action).__module__.startswith("torsor."):
            raise ModelError(
                f"{owner}: its action {action.key!r} is defined outside torsor, so that a model file cannot contain it"
            )
        found = {action.key: [self.value(x, owner, f"action {action.key!r}") for x in action.targets]}
        for f in fields(action):
            value = getattr(action, f.name)
            again = f.name in ("pulse", "loads") and self._adds_again(action)
            if f.name == "targets" or again or is_default(f, value):
                continue
            found[f.name] = self.value(value, owner, f.name)
        return found if len(found) > 1 or action.targets else action.key

    def instance(self, x):
        ports = {k: self._port(x, v) for k, v in x._ports.items()}
        return {"of": x._model_name, "ports": ports}

    def _port(self, instance, port):
        if isinstance(port, Port):
            path = f"{instance.name}.{port.path}"
            return path if port.pose is None else {"body": path, "pose": np.asarray(port.pose, float).tolist()}
        return self.value(port, instance.owner, "port", True)

    def value(self, x, owner, what, derived=False) -> Any:
        """A value as plain data, with places for expressions. owner, what: for messages."""
        model = self.model
        if x is None or isinstance(x, (bool, str)):
            return x
        if isinstance(x, (int, np.integer)) and not isinstance(x, np.bool_):
            return int(x)
        if isinstance(x, (float, np.floating)):
            return float(x)
        if isinstance(x, np.ndarray) and x.dtype.kind in "fiu":
            return x.astype(float).tolist()
        if isinstance(x, ca.SX):
            return self._expression(x, derived)
        if isinstance(x, Owned) and model._names.get(x.name) is x:
            return x.name
        if isinstance(x, Parameter) and model.parameters.get(x.name) is x:
            return x.name
        if isinstance(x, Memory) and model.memory.get(x.name) is x:
            return {"memory": x.name}
        if isinstance(x, Mode):
            return {"machine": x.machine.name, "mode": x.name}
        if isinstance(x, Frame):
            return {"body": x.body.name, "pose": self.value(x._pose, owner, what, True)}
        if isinstance(x, Table):
            return {"table": TableName(x)}
        if isinstance(x, Bundle):
            return {"bundle": x.kind, "parts": [[name, list(shape)] for name, shape in x.parts]}
        if isinstance(x, (tuple, list)):
            found = [self.value(y, owner, what, derived) for y in x]
            return {"tuple": found} if derived and any(isinstance(y, np.ndarray) for y in x) else found
        if isinstance(x, dict):
            return {str(k): self.value(v, owner, what, derived) for k, v in x.items()}
        code = (
            ": Python code does not go into files; write it as an expression, or with compiled=True"
            if callable(x)
            else ""
        )
        raise ModelError(f"{owner}: its {what} cannot be written, it is {quantity.show(x)}{code}")

    def _expression(self, x, derived):
        if x.is_constant() and not derived:
            found = quantity.numbers_or(ca.densify(x))
            return found.tolist() if isinstance(found, np.ndarray) else float(found)
        return Expression(x)

    def _with_texts(self, content):
        """The content with the texts of expressions, and with definitions and tables."""
        places: list[Expression] = []
        named: list[TableName] = []
        _collect(content, places, named)
        entries = [e for place in places for e in ca.vec(place.value).nonzeros()]
        texts = ExpressionTexts(self.model, entries)
        at = 0
        for place in places:
            count = place.value.numel()
            place.text = _matrix_text(texts.texts[at : at + count], place.value.shape)
            at += count
        for name in named:
            name.name = texts.table_name(name.table.number)
        content = _filled(content)
        tables = {name: _table(t) for name, t in texts.tables.items()}
        head = {
            k: content.pop(k) for k in ("torsor", "model", "gravity", "hints", "ground", "parameters") if k in content
        }
        return (
            head
            | ({"tables": tables} if tables else {})
            | content
            | ({"let": texts.definitions} if texts.definitions else {})
        )


class _Condition:
    def __init__(self, phi, sign):
        self.phi = phi
        self.sign = sign


def _collect(x, places, named):
    if isinstance(x, Expression):
        places.append(x)
    elif isinstance(x, TableName):
        named.append(x)
    elif isinstance(x, _Condition):
        _collect(x.phi, places, named)
    elif isinstance(x, (dict, list)):
        for y in x.values() if isinstance(x, dict) else x:
            _collect(y, places, named)


def _filled(x):
    if isinstance(x, Expression):
        return x.text
    if isinstance(x, TableName):
        return x.name
    if isinstance(x, _Condition):
        return f"{_filled(x.phi)} {x.sign} 0"
    if isinstance(x, dict):
        return {k: _filled(v) for k, v in x.items()}
    return [_filled(v) for v in x] if isinstance(x, list) else x


def _matrix_text(texts, shape):
    rows, columns = shape
    if rows * columns == 1:
        return texts[0]
    if columns == 1:
        return f"[{', '.join(texts)}]"
    return "[" + ", ".join(f"[{', '.join(texts[i::rows])}]" for i in range(rows)) + "]"


def _table(content):
    points = [x.tolist() for x in content.points]
    found = {"points": points[0] if len(points) == 1 else points, "values": content.values.tolist()}
    return found | {"kind": content.kind, "outside": content.outside, "name": content.name}


def _follows_again(element, derived):
    """Whether adding the element again derives the same values, to the last bit."""
    kept = dict(initial(element))
    twin = fill_in(copy(element), world=element.world, _home=element._home)
    values = {name: getattr(element, kept[name]) for name in derived}
    try:
        for name in derived:
            fill_in(twin, **{kept[name]: None})
        vars(twin).pop("_expressions", None)
        twin = twin.attach()
        return all(same_value(getattr(twin, kept[name]), values[name]) for name in derived)
    except Exception:  # the arguments do not suffice
        return False


def _listed(x):
    return [_listed(y) for y in x] if isinstance(x, (tuple, list)) else x
