"""The keys of a model file: what each section contains. The JSON schema, the reader and the documentation use these tables."""

from dataclasses import fields
from functools import cache
from inspect import signature
from typing import Any

from ...elements import inertia, shapes
from ...model.body import Body
from ...registry import registered
from ..recorded_elements import CLASSES

RECORDED = {"RecordedConstraint": "recorded-constraint", "RecordedConnection": "recorded-connection"}
ELEMENT_KINDS = ("joint", "constraint", "force", "rule")
SECTIONS = {
    "torsor": "version of the format, 1",
    "model": "name of the model",
    "include": "models of other files by the name of the instance: file, at, rotation, count, pitch, parameters",
    "gravity": "acceleration of gravity, three numbers or expressions [m/s²]",
    "hints": "false: no hints at likely mistakes",
    "ground": "shape of the ground",
    "parameters": "numbers by name, or {value, positive, input}",
    "inputs": "inputs by name, each with its value at the start",
    "tables": "functions through points by name: points, values, kind, outside",
    "grounds": "further grounds by name: at, rotation, shape",
    "bodies": "bodies by name: mass, inertia, at, rotation, velocity, angular_velocity, center, shape",
    "memory": "numbers that events change, by name, with their start (written by torsor)",
    "modes": "machines by name, each a list of its modes",
    "states": "states by name: rate, start",
    "elements": "joints, constraints, forces and rules by name: type and their arguments",
    "signals": "recorded expressions by name",
    "events": "events by name: when, rising, falling or crossing; during; do",
    "ports": "what other models see: a body, a joint, a frame or a signal by the name of the port",
    "eliminate": "orders of elimination of the hierarchical formulation by component, `model` for the whole",
    "instances": "which names belong to one included model: of, ports (written by torsor)",
    "order": "order of parts of the model where it differs from that of the file (written by torsor)",
    "let": "names for expressions that occur several times",
    "run": "arguments of torsor.simulate, such as until",
    "configurations": "values of joint coordinates by name, such as home: {hinge: 30 deg, hinge.rate: 0}",
    "imported": "what the last import gave, by id (written by torsor, for `torsor convert --update`)",
    "expect": "values that a run must reproduce, for `torsor check`",
}  # fmt: skip
BODY = (*[name for name in signature(Body).parameters if name != "name"], "center", "id")
GROUND = ("at", "rotation", "shape")
PARAMETER = ("value", "positive", "input")
STATE = ("rate", "start")
TABLE = ("points", "values", "kind", "outside", "name")
EVENT = (
    "when",
    "rising",
    "falling",
    "crossing",
    "during",
    "accumulate",
    "undecided_near_zero",
    "half",
    "remember",
    "do",
)
INCLUDE = ("file", "at", "rotation", "count", "pitch", "parameters")
INSTANCE = ("of", "ports")
EXPECT = ("time", "values", "tolerance", "absolute")
ELEMENT_KEYS = ("type", "active", "world", "id")
ORDERED = ("parameters", "grounds", "bodies", "constraints", "forces", "rules", "memory", "signals", "events")


@cache
def element_classes() -> dict[str, Any]:
    """The classes of elements by their keys."""
    own = {key: cls for kind in ELEMENT_KINDS for key, cls in registered(kind).items()}
    return own | {
        f"recorded-{cls.kind}" if cls.kind != "constraint" else RECORDED[name]: cls for name, cls in CLASSES.items()
    }


def arguments(cls: Any) -> dict[str, Any]:
    """The arguments of an element, but for its name, as dataclass fields."""
    return {f.name: f for f in fields(cls) if f.init and f.name != "name"}


def derived_fields(cls: Any) -> tuple[str, ...]:
    """Names of arguments that an element derives itself when it is added."""
    return tuple(f.name for f in fields(cls) if f.init and not f.repr)


def holds_expressions(cls: Any, name: str) -> bool:
    """Whether an argument keeps expressions as they are, also those without signals: those of recorded elements."""
    plain = ("first", "second", "point", "frames", "start", "start_rate", "cut", "inside")
    return cls in CLASSES.values() and name not in plain


@cache
def inertia_shapes() -> dict[str, Any]:
    """The functions of `torsor.inertia` that calculate the inertia of a solid, by name."""
    names = ("box", "cylinder", "sphere", "rod", "disk", "cone", "point")
    return {name: getattr(inertia, name) for name in names}


def shape_kinds() -> dict[str, Any]:
    """The functions of `torsor.shapes` by name."""
    return shapes.MAKERS
