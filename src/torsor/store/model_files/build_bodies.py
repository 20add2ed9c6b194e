"""Bodies and grounds of a model file."""

from inspect import signature
from typing import Any

import casadi as ca
import numpy as np

from ...elements.inertia import Inertia
from ...elements.lazy_attributes import storage_of
from ...elements.shapes import Shape, shapes_of
from ...errors import ModelError
from ...model.body import Body, Ground
from .file_sections import BODY, GROUND, inertia_shapes, shape_kinds
from .problems import unknown
from .yaml_nodes import Mapping, Sequence

ROTATION_ROUNDING = 1e-14  # a matrix that is a rotation to this precision is taken as it is


def body(b: Any, name: str, node: Any, path: str) -> None:
    """A body: the arguments of `torsor.Body`."""
    entry = b.values.mapping(node, path, BODY).entries
    given = {}
    for key, x in entry.items():
        if key == "inertia":
            given[key] = inertia(b, x, f"{path}.inertia")
        elif key == "shape":
            given[key] = shapes(b, x, f"{path}.shape", f"body {name!r}")
        elif key in BODY and key not in ("center", "id"):
            given[key] = b.values.value(x, f"{path}.{key}")
    b.model._free(name, "body")
    made = Body(name, **given)
    keep_rotation(made, given.get("rotation"))
    if "center" in entry:
        center = b.values.value(entry["center"], f"{path}.center", derived=True)
        if np.shape(center) != (3,):
            raise b.values.fail(entry["center"], path, "center must be three numbers")
        object.__setattr__(made, "center", center)
    b.model._add_body(made)


def ground(b: Any, name: str, node: Any, path: str) -> None:
    """A further ground, fixed or moved as a function of time."""
    entry = b.values.mapping(node, path, GROUND).entries
    given = {key: b.values.value(x, f"{path}.{key}") for key, x in entry.items() if key in ("at", "rotation")}
    shape = shapes(b, entry["shape"], f"{path}.shape", f"ground {name!r}") if "shape" in entry else None
    made = Ground(name, **given, shape=shape)
    keep_rotation(made, given.get("rotation"))
    b.model.add(made)


def keep_rotation(made: Any, given: Any) -> None:
    """Take a rotation matrix as it is given if it is one to rounding: to make it orthogonal again would change its last digits."""
    if (
        isinstance(given, (tuple, list))
        and np.shape(given) == (3, 3)
        and all(isinstance(x, (int, float)) for r in given for x in r)
    ):
        matrix = np.array(given, float)
        found = storage_of(made, "start_rotation")
        if isinstance(found, np.ndarray) and np.abs(matrix - found).max() <= ROTATION_ROUNDING:
            if isinstance(made, Ground):
                made.path = (made.reference[0] if made.is_fixed else made.path[0], matrix)
            else:
                object.__setattr__(made, "start_rotation", matrix)


def inertia(b: Any, node: Any, path: str) -> Any:
    """Principal moments, a matrix, 0 for a particle, or solids: {solid: box, mass: …, x: …, at: …} or a list of them."""
    if isinstance(node, Mapping):
        return _solid(b, node, path)
    if isinstance(node, Sequence) and node.items and all(isinstance(x, Mapping) for x in node.items):
        parts = [_solid(b, x, f"{path}[{k}]") for k, x in enumerate(node.items)]
        total = parts[0]
        for other in parts[1:]:
            total = total + other
        return total
    return b.values.value(node, path)


def _solid(b, node, path) -> Inertia:
    entry = dict(node.entries)
    if "solid" not in entry or entry["solid"].text not in inertia_shapes():
        given = entry["solid"].text if "solid" in entry else "nothing"
        raise b.values.fail(node, path, unknown("solid", given, inertia_shapes()))
    maker = inertia_shapes()[entry.pop("solid").text]
    known = list(signature(maker).parameters)
    moved = {key: b.values.value(entry.pop(key), f"{path}.{key}") for key in ("at", "rotation") if key in entry}
    b.values.mapping(node, path, ["solid", *known, "at", "rotation"])
    options = {key: b.values.value(x, f"{path}.{key}", "axis") for key, x in entry.items() if key in known}
    missing = [key for key, p in signature(maker).parameters.items() if p.default is p.empty and key not in options]
    if missing:
        raise b.values.fail(node, path, f"{missing[0]!r} is missing")
    made = maker(**options)
    return made.move(**moved) if moved else made


def shapes(b: Any, node: Any, path: str, owner: str) -> Any:
    """How a viewer draws a body: one shape or a list of shapes."""
    items = node.items if isinstance(node, Sequence) else [node]
    found: list[Shape] = []
    for k, x in enumerate(items):
        where = f"{path}[{k}]"
        if not isinstance(x, Mapping):
            found += shapes_of(b.values.text(x, where), owner) or ()
            continue
        if "size" in x.entries and x.entries.get("kind") is not None and x.entries["kind"].text not in ("box", "plane"):
            found.append(_plain_shape(b, x, where))
            continue
        options = {
            key: b.values.value(y, f"{where}.{key}", "text" if key in ("kind", "file", "axis") else "value")
            if key != "colour"
            else _colour(y)
            for key, y in x.entries.items()
        }
        found += shapes_of(options, owner) or ()
    return found


def _colour(node):
    return tuple(float(x.value) for x in node.items) if isinstance(node, Sequence) else node.text


def _plain_shape(b, node, path):
    """A shape as torsor writes it: kind, size, at, rotation (quaternion), colour, file."""
    entry = b.values.mapping(node, path, [*Shape.__dataclass_fields__]).entries
    given = {}
    for key, x in entry.items():
        given[key] = (
            x.text
            if key in ("kind", "file")
            else _colour(x)
            if key == "colour"
            else _floats(b.values.value(x, f"{path}.{key}"))
        )
    kind = given.get("kind")
    if kind not in shape_kinds():
        raise b.values.fail(node, path, unknown("kind of shape", str(kind), shape_kinds()))
    for key in ("size", "at", "rotation"):
        if key in given and not (isinstance(given[key], tuple) and np.isfinite(given[key]).all()):
            raise ModelError(f"{path}: {key} must be numbers")
    return Shape(**given)


def _floats(x):
    return (
        tuple(float(y) for y in x) if isinstance(x, (tuple, list)) else (float(x),) if not isinstance(x, ca.SX) else x
    )
