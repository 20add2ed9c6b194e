"""Elements, states and signals of a model file."""

import os
from typing import Any

import casadi as ca

from ...elements.element import fill_in
from ...elements.lazy_attributes import storage_name
from ...model.body import Ground
from .file_sections import ELEMENT_KEYS, STATE, arguments, element_classes, holds_expressions
from .file_values import TEXT, kind_of_field
from .problems import unknown
from .yaml_nodes import Mapping, Sequence


def element(b: Any, name: str, node: Any, path: str) -> None:
    """A joint, a constraint, a force or a rule: the class of its `type` with its arguments."""
    entry = b.values.mapping(node, path).entries
    if "type" not in entry:
        raise b.values.fail(node, path, f"`type` is missing. Known: {', '.join(element_classes())}")
    key = b.values.text(entry["type"], f"{path}.type")
    if key not in element_classes():
        raise b.values.fail(entry["type"], f"{path}.type", unknown("type", key, element_classes()))
    cls = element_classes()[key]
    known = arguments(cls)
    b.values.mapping(node, path, [*ELEMENT_KEYS, *known])
    given = {}
    for what, x in entry.items():
        if what in known:
            f = known[what]
            kind = TEXT if what in getattr(cls, "texts", ()) and not isinstance(x, Mapping) else kind_of_field(f.type)
            if what in cls.files:
                given[what] = os.path.join(b.folder, b.values.text(x, f"{path}.{what}"))
                continue
            given[what] = b.values.value(x, f"{path}.{what}", kind, not f.repr or holds_expressions(cls, what))
    made = cls(name=name, **given)
    for what, f in known.items():
        if not f.repr and what in given:
            fill_in(made, **{storage_name(cls, what): given[what]})
    if "world" in entry:
        world = b.values.value(entry["world"], f"{path}.world")
        if not isinstance(world, Ground):
            raise b.values.fail(entry["world"], f"{path}.world", "a ground is expected")
        fill_in(made, world=world)
    active = b.values.flag(entry["active"], f"{path}.active") if "active" in entry else None
    b.model.add(made, active)


def state(b: Any, name: str, node: Any, path: str) -> None:
    """A state that follows its rate from a start."""
    entry = b.values.mapping(node, path, STATE).entries
    if "rate" not in entry:
        raise b.values.fail(node, path, "`rate` is missing")
    start: Any = 0.0
    if "start" in entry:
        start = b.values.value(entry["start"], f"{path}.start")
    elif isinstance(entry["rate"], Sequence):
        start = [0.0] * len(entry["rate"].items)

    def rate(symbol):
        b.own[name] = symbol
        try:
            return b.values.expression(entry["rate"], f"{path}.rate")
        finally:
            del b.own[name]

    b.model.state(name, rate, start)


def signal(b: Any, name: str, node: Any, path: str) -> None:
    """A recorded expression."""
    b.model.signal(name, ca.densify(b.values.expression(node, path)))
