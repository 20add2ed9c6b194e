"""The order in which components are eliminated, as a user gives it."""

from difflib import get_close_matches

from ..elements import quantity
from ..errors import ModelError
from .body import Body
from .instance import Instance


def elimination_order(model, order):
    """An order of components and bodies of a model as names, in tuples; refused where a name is unknown, repeated or missing."""
    known = _own_components(model)
    found = _names(model, order, known)
    names = list(_flat(found))
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"{model.owner}: eliminate: {name!r} is given twice in the order")
    left_out = [name for name in known if isinstance(known[name], Instance) and name not in names]
    if left_out:
        raise ModelError(
            f"{model.owner}: eliminate: the order does not contain the component {left_out[0]!r}; give every component of the "
            f"model once: {_join_names(name for name in known if isinstance(known[name], Instance))}"
        )
    return found


def refuse_missing(model):
    """Refuse an order that does not contain a component which was included later."""
    for level, order in model.eliminations.items():
        names, start = set(_flat(order)), f"{level}." if level else ""
        inside = [
            name[len(start) :] for name, x in model._names.items() if isinstance(x, Instance) and name.startswith(start)
        ]
        left_out = [name for name in inside if "." not in name and name not in names]
        if left_out:
            raise ModelError(
                f"{model.owner}: the order of elimination does not contain the component {start + left_out[0]!r}, which was "
                "included later: call `eliminate` after the last `include`"
            )


def _own_components(model):
    """Components and bodies of a model itself, not those inside its components, by name."""
    return {name: x for name, x in model._names.items() if isinstance(x, (Instance, Body)) and "." not in name}


def _names(model, order, known):
    if isinstance(order, str) or not isinstance(order, (list, tuple)):
        raise ModelError(
            f"{model.owner}: eliminate: give a list of names of components and bodies, got {quantity.show(order)}"
        )
    if not order:
        raise ModelError(f"{model.owner}: eliminate: the order, or a list in it, is empty")
    return tuple(_names(model, x, known) if isinstance(x, (list, tuple)) else _name(model, x, known) for x in order)


def _name(model, given, known):
    name = given if isinstance(given, str) else getattr(given, "name", None)
    if name in known and (isinstance(given, str) or known[name] is given):
        return name
    if isinstance(name, str) and "." in name and name in model:
        raise ModelError(
            f"{model.owner}: eliminate: {name!r} is inside the component {name.partition('.')[0]!r}; give the order inside a "
            "component in its own model, before it is included"
        )
    close = get_close_matches(name, known, n=1) if isinstance(name, str) else []
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ModelError(
        f"{model.owner}: eliminate: {quantity.show(given)} is no component or body of the model.{hint} Known: {_join_names(known)}"
    )


def _flat(order):
    for x in order:
        yield from [x] if isinstance(x, str) else _flat(x)


def _join_names(names):
    return ", ".join(names) or "none"
