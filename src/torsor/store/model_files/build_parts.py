"""Parameters, tables, modes, included models, ports and orders of a model file."""

import os
from typing import Any

import casadi as ca
import numpy as np

from ...elements.assignments import part
from ...elements.element import fill_in
from ...errors import TorsorError
from ...events import Memory
from ...model.body import Frame
from ...model.instance import Instance, Port
from ...tables.read_tables import read_table
from ...tables.table import table
from .file_sections import INCLUDE, INSTANCE, ORDERED, PARAMETER, TABLE
from .problems import Skip, unknown
from .yaml_nodes import Mapping, Scalar, Sequence, plain_data


def parameter(b: Any, name: str, node: Any, path: str) -> None:
    """A parameter: a number, or a mapping with `value`, `positive`, `input`."""
    if not isinstance(node, Mapping):
        b.model.parameter(name, b.values.number(node, path))
        return
    entry = b.values.mapping(node, path, PARAMETER).entries
    value = b.values.number(entry["value"], path) if "value" in entry else 0.0
    flags = {key: b.values.flag(entry[key], f"{path}.{key}") for key in ("positive", "input") if key in entry}
    if flags.pop("input", False):
        b.model.input(name, value)
    else:
        b.model.parameter(name, value, **flags)


def input_(b: Any, name: str, node: Any, path: str) -> None:
    """An input with its value at the start."""
    b.model.input(name, b.values.number(node, path))


def table_(b: Any, name: str, node: Any, path: str) -> None:
    """A function through points, in the file or in a file of its own (`file`, `x`, `y`)."""
    entry = b.values.mapping(node, path, (*TABLE, "file", "x", "y")).entries
    options = {key: entry[key].text for key in ("kind", "outside") if key in entry}
    label = entry["name"].text if "name" in entry else name
    if "file" in entry:
        source = os.path.join(b.folder, b.values.text(entry["file"], path))
        columns = {key: plain_data(entry[key]) for key in ("x", "y") if key in entry}
        b.tables[name] = read_table(source, **columns, **options)
        return
    if "points" not in entry or "values" not in entry:
        raise b.values.fail(node, path, "a table has `points` and `values`, or a `file`")
    points = plain_data(entry["points"])
    b.tables[name] = table(points, plain_data(entry["values"]), **options, name=label)


def memory(b: Any, name: str, node: Any, path: str) -> None:
    """A number that events change."""
    if name in b.model.memory:
        raise b.values.fail(node, path, "something of that name exists already")
    b.model._remember(Memory(name, b.values.number(node, path)))


def modes(b: Any, name: str, node: Any, path: str) -> None:
    """A machine with its modes, the first of them at the start."""
    names = plain_data(node)
    if not isinstance(names, list):
        raise b.values.fail(node, path, "a list of the names of modes is expected")
    b.model.modes(name, *names)


def include(b: Any, name: str, node: Any, path: str) -> None:
    """A model of another file, placed in this one."""
    from .read_model import build_file

    entry = b.values.mapping(node, path, INCLUDE).entries
    if "file" not in entry:
        raise b.values.fail(node, path, "`file` is missing: the model file to include")
    file = os.path.join(b.folder, b.values.text(entry["file"], path))
    if os.path.realpath(file) in b.including:
        circle = " → ".join(os.path.basename(x) for x in (*b.including, file))
        raise b.values.fail(entry["file"], path, f"files include each other in a circle: {circle}")
    try:
        other = build_file(file, b.problems, b.including)
    except TorsorError as error:
        raise b.values.fail(entry["file"], path, str(error)) from None
    if other is None:
        raise Skip
    options = {
        key: b.values.value(entry[key], f"{path}.{key}") for key in ("at", "rotation", "count", "pitch") if key in entry
    }
    given = b.values.mapping(entry["parameters"], f"{path}.parameters").entries if "parameters" in entry else {}
    values = {key: b.values.expression(x, f"{path}.parameters.{key}") for key, x in given.items()}
    found = b.model.include(name, other, **options, **values)
    if not isinstance(found, list):
        return
    b.model._names.setdefault(name, found)


def gravity(b: Any) -> None:
    """Gravity, and the shape of the ground."""
    from .build_bodies import shapes

    entry = b.root.entries
    if "gravity" in entry:
        value = b.values.value(entry["gravity"], "gravity")
        _noted(b, entry["gravity"], "gravity", lambda: setattr(b.model, "gravity", value))
    if "ground" in entry:
        inner = b.values.mapping(entry["ground"], "ground", ("shape",)).entries
        if "shape" in inner:
            object.__setattr__(b.model.ground, "shape", shapes(b, inner["shape"], "ground.shape", b.model.ground.owner))


def ports(b: Any) -> None:
    """What other models see of this one."""
    section = b.section("ports")
    for name, node in section.entries.items():
        path = f"ports.{name}"
        try:
            value = b.values.value(node, path)
        except Skip:
            continue
        value = ca.SX(value) if isinstance(value, (float, int)) else value
        if isinstance(value, Frame) or "." not in name:
            _noted(b, node, path, lambda name=name, value=value: b.model.expose(name, value))


def instances(b: Any) -> None:
    """Which names belong to one included model."""
    for name, node in b.section("instances").entries.items():
        path = f"instances.{name}"
        entry = b.values.mapping(node, path, INSTANCE).entries
        given = b.values.mapping(entry["ports"], f"{path}.ports").entries if "ports" in entry else {}
        found = {key: _port(b, name, x, f"{path}.ports.{key}") for key, x in given.items()}
        inner = {x.removeprefix(f"{name}."): None for x in b.model._names if x.startswith(f"{name}.")}
        label = entry["of"].text if "of" in entry else name
        b.model._names[name] = fill_in(Instance(name, label, inner, found), _home=b.model)


def _port(b, instance, node, path):
    value = b.values.value(node, path)
    prefix = f"{instance}."
    if isinstance(value, Frame):
        inner = value.body.name.startswith(prefix) and isinstance(value._pose, np.ndarray)
        return Port(value.body.name.removeprefix(prefix), value._pose) if inner else value
    named = getattr(value, "name", None)
    if isinstance(named, str) and not isinstance(value, ca.SX) and named.startswith(prefix):
        return Port(named.removeprefix(prefix))
    return ca.SX(value) if isinstance(value, (float, int)) else value


def eliminate(b: Any) -> None:
    """Orders of elimination of the hierarchical formulation."""
    for level, node in b.section("eliminate").entries.items():
        order = _tuples(plain_data(node))
        if level == "model":
            _noted(b, node, f"eliminate.{level}", lambda order=order: b.model.eliminate(order))
        else:
            dict.__setitem__(b.model.eliminations, level, order)


def order(b: Any) -> None:
    """Put parts of the model into the order that the file gives."""
    section = b.values.mapping(b.section("order"), "order", ORDERED)
    for what, node in section.entries.items():
        if what not in ORDERED:
            continue
        names = plain_data(node) if isinstance(node, Sequence) else None
        content = getattr(b.model, what)
        known = list(content) if isinstance(content, dict) else [x.name for x in content]
        if names is None or sorted(map(str, names)) != sorted(known):
            raise b.values.fail(node, f"order.{what}", f"the names must be those of all {what}, each once")
        rank = {name: k for k, name in enumerate(names)}
        if isinstance(content, dict):
            ordered: Any = {name: content[name] for name in names}
        else:
            ordered = sorted(content, key=lambda x: rank[x.name])
        vars(b.model)[what] = part(what, ordered)
    b.model.derived.clear()


def hints(b: Any) -> None:
    """Whether likely mistakes are pointed out."""
    node = b.root.entries.get("hints")
    vars(b.model)["hints"] = True if node is None else b.values.flag(node, "hints")


def version(b: Any) -> None:
    """Refuse files of a later format."""
    node = b.root.entries.get("torsor")
    if node is None:
        b.problems.add(b.root.position, "", "`torsor: 1` is missing: this is how a model file begins")
    elif not isinstance(node, Scalar) or node.value != 1:
        b.problems.add(node.position, "torsor", "the version of the format must be 1")


def _noted(b, node, path, step):
    """Carry out a step; note what is wrong."""
    try:
        step()
    except TorsorError as error:
        b.problems.add(node.position, path, str(error))
    except (TypeError, ValueError, RuntimeError) as error:
        b.problems.add(node.position, path, f"{type(error).__name__}: {error}")


def _tuples(x):
    return tuple(map(_tuples, x)) if isinstance(x, list) else x


LAST = (version, ports, instances, eliminate, order, hints)
__all__ = ["LAST", "unknown"]
