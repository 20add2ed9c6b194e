"""Events of a model file: what is watched, and what is done then."""

from dataclasses import fields
from typing import Any

import casadi as ca

from ...elements.element import ANYTHING, fill_in
from ...events import ANSWERS, Event, Watch, watch
from ...model import element_checks
from ...registry import registered
from .file_sections import EVENT
from .file_values import kind_of_field
from .problems import Skip, unknown
from .yaml_nodes import Mapping, Scalar, Sequence

WATCHED = ("when", "rising", "falling", "crossing")


def event(b: Any, name: str, node: Any, path: str) -> None:
    """An event. Its actions are added when everything else is built, since they may refer to anything."""
    entry = b.values.mapping(node, path, EVENT).entries
    given = [key for key in WATCHED if key in entry]
    if len(given) != 1:
        raise b.values.fail(node, path, f"give one of {', '.join(WATCHED)}")
    found = _watch(b, given[0], entry[given[0]], name, f"{path}.{given[0]}")
    model = b.model
    model._free(name, "event")
    element_checks.contents(model, f"event {name!r}", "its condition", found.phi, ANYTHING)
    during = _during(b, entry["during"], f"{path}.during") if "during" in entry else ()
    accumulate = entry["accumulate"].text if "accumulate" in entry else "error"
    if accumulate not in ANSWERS:
        raise b.values.fail(entry["accumulate"], path, unknown("answer", accumulate, ANSWERS))
    flags = {key: b.values.flag(entry[key], f"{path}.{key}") for key in ("undecided_near_zero", "half") if key in entry}
    for k, half in enumerate(found.halves):
        if not half.is_constant() and f"{name}.half{k}" not in b.pending:
            model._occasion(Event(f"{name}.half{k}", Watch(half, both=True), during=during, half=True))
    made = model._occasion(Event(name, found, (), during, accumulate, **flags))
    if "do" in entry:
        b.later.append(lambda: _add_actions(b, made, entry["do"], f"{path}.do"))
    elif not flags.get("half"):
        raise b.values.fail(node, path, "`do` is missing: the actions of the event")
    for what in entry["remember"].items if isinstance(entry.get("remember"), Sequence) else ():
        if what.text in ("time", "count"):
            getattr(made, what.text)


def _watch(b, how, node, name, path):
    """What is watched."""
    if how != "when":
        phi = b.values.expression(node, path)
        if not phi.is_scalar() or phi.is_constant():
            raise b.values.fail(node, path, "an expression of signals with one component is expected")
        return Watch(-phi if how == "rising" else phi, both=how == "crossing")
    found = b.values.condition(node, path)
    if isinstance(found, tuple):
        left, sign, right = found
        a, c = (left, right) if sign[0] == "<" else (right, left)
        zero = c.is_constant() and c.is_scalar() and float(c) == 0
        phi = a if zero else a - c
        if phi.is_scalar() and not phi.is_constant():
            return Watch(phi, state=True, strict=len(sign) == 1)
        raise b.values.fail(node, path, "a condition compares two numbers, of which one contains a signal")
    return watch(found, f"event {name!r}")


def _during(b, node, path):
    """Modes in which the event is enabled: {machine: mode}."""
    pairs = []
    for machine, x in b.values.mapping(node, path).entries.items():
        thing = b.thing(machine)
        if thing is None or not hasattr(thing, "names"):
            raise b.values.fail(node, path, unknown("machine", machine, b.model.machines))
        pairs.append((thing.memory, float(thing[x.text].number)))
    return tuple(pairs)


def _add_actions(b, made, node, path):
    """Add actions to an event that exists."""
    actions = []
    for k, x in enumerate(node.items if isinstance(node, Sequence) else [node]):
        try:
            actions.append(action(b, x, f"{path}[{k}]"))
        except Skip:
            return
    try:
        b.model._extend(made, tuple(actions))
    except (TypeError, ValueError, AttributeError) as error:  # ModelError included
        b.problems.add(node.position, path, str(error))


def action(b: Any, node: Any, path: str) -> Any:
    """An action: its key, or a mapping with its key, its targets, and its other arguments."""
    classes = registered("action")
    targets: Any = ()
    rest: dict[str, Any] = {}
    if isinstance(node, Scalar):
        key = node.text
    else:
        entry = b.values.mapping(node, path).entries
        keys = [key for key in entry if key in classes]
        key = keys[0] if keys else next(iter(entry), "")
        x = entry.get(key)
        targets = () if x is None else x.items if isinstance(x, Sequence) else (x,)
        rest = {name: y for name, y in entry.items() if name != key}
    if key not in classes:
        raise b.values.fail(node, path, unknown("action", key, classes))
    cls = classes[key]
    known = {f.name: f for f in fields(cls) if f.name != "targets"}
    if isinstance(node, Mapping):
        b.values.mapping(node, path, [key, *known])
    given = {}
    for name, y in rest.items():
        if name in known:
            given[name] = b.values.value(y, f"{path}.{name}", kind_of_field(known[name].type))
    found = tuple(_target(b, y, f"{path}.{key}") for y in targets)
    return fill_in(cls(found, **given))


def _target(b, node, path):
    """What an action acts on."""
    found = b.values.value(node, path)
    return ca.SX(found) if isinstance(found, float) else found
