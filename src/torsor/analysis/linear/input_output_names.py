"""Inputs and outputs of a linear model by name."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

import casadi as ca

from ...elements import quantity
from ...errors import OptionError
from ...joints import Joint
from ...joints.base import Connection
from ...model.body import Body
from ...model.parameters import Input

QUANTITIES = {
    Body: ("position", "velocity", "acceleration", "angular_velocity", "angular_acceleration"),
    Joint: ("coordinate", "rate"),
    Connection: ("reaction_force", "reaction_torque"),
}


def _list_names(requested, what):
    """A list of names from one name or several."""
    names = [requested] if isinstance(requested, (str, ca.SX)) else requested
    if not isinstance(names, Sequence):
        raise OptionError(f"{what} must be names, got {quantity.show(requested)}")
    return list(names)


def _refuse(model, what, name, names, more=""):
    """Raise OptionError for an unknown name."""
    close = get_close_matches(str(name), names, n=1) if isinstance(name, str) else []
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise OptionError(
        f"model {model.name!r}: unknown {what} {quantity.show(name)}.{hint} Known: {', '.join(names) or 'none'}{more}."
    )


def inputs_of(model, requested):
    """Indices of parameters and inputs in p, by name; requested None: the declared inputs of the model."""
    places = {name: k for k, name in enumerate(model.parameters)}
    symbols = {p.symbol.element_hash(): name for name, p in model.parameters.items()}
    result = {}
    declared = [name for name, p in model.parameters.items() if isinstance(p, Input)]
    for one in declared if requested is None else _list_names(requested, "inputs"):
        scalar = isinstance(one, ca.SX) and one.is_scalar()
        name = symbols.get(one.element_hash()) if scalar else one if isinstance(one, str) else None
        if name not in places:
            _refuse(model, "input", one, list(places))
        result[name] = places[name]
    return result


def outputs_of(model, requested):
    """Scalar expressions of signals by name; None: the model's own signals.

    requested   names, or expressions by name. A name is that of a signal, of a joint (its coordinates), or of a quantity of a body
                or joint: "bob.position", "hinge.rate", "hinge.reaction_force". A vector gives all components, or one:
                "bob.position[2]"
    """
    if requested is None:
        return dict(model.signals)
    result: dict = {}
    if isinstance(requested, Mapping):
        for name, expression in requested.items():
            column = quantity.column(expression, "it", f"output {quantity.show(name)}")
            for s in ca.symvar(column):
                if not model.knows(s):
                    raise OptionError(f"output {name!r}: {s.name()!r} does not belong to model {model.name!r}")
            result |= _components(str(name), column)
        return result
    for name in _list_names(requested, "outputs"):
        result |= _output_expressions(model, name)
    return result


def _output_expressions(model, name):
    """Scalar expressions of an output, by label; OptionError if the name is unknown."""
    text = name if isinstance(name, str) else ""
    whole = text.rpartition("[")[0] if text.endswith("]") else text
    signals = {label: x for label, x in model.signals.items() if whole and whole in (label, label.rpartition("[")[0])}
    parts = signals or _components(whole, _quantity(model, whole))
    if result := parts if text == whole else {label: x for label, x in parts.items() if label == text}:
        return result
    elements = [
        f"{x}.{what}" for cls, names in QUANTITIES.items() for x in _element_names(model, cls) for what in names
    ]
    more = ", joints by their names, and components as in 'bob.position[2]'"
    return _refuse(model, "output", name, [*model.signals, *elements], more)


def _components(name, column):
    """Components of a column by label."""
    column = ca.densify(column)
    labels = [name] if column.is_scalar() else [f"{name}[{k}]" for k in range(column.shape[0])]
    return dict(zip(labels, ca.vertsplit(column)))


def _quantity(model, name):
    """A quantity of an element as a column; empty if there is none with that name."""
    joint = name in model and isinstance(model[name], Joint)
    owner, _, what = (name, ".", "coordinate") if joint else name.rpartition(".")
    for cls, names in QUANTITIES.items() if owner in model else ():
        if isinstance(model[owner], cls) and what in names:
            return getattr(model[owner], what)
    return ca.SX(0, 1)


def _element_names(model, cls):
    """Names of the bodies or connections of a class."""
    return [x.name for x in (model.bodies if cls is Body else model.constraints) if isinstance(x, cls)]
