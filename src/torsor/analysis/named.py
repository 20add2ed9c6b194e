"""Inputs and outputs of a linear model by name."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

import casadi as ca

from ..describe import quantity
from ..describe.body import Body
from ..describe.parameters import Input
from ..errors import OptionError
from ..joints import Joint
from ..joints.base import Connection

QUANTITIES = {
    Body: ("position", "velocity", "acceleration", "angular_velocity", "angular_acceleration"),
    Joint: ("coordinate", "rate"),
    Connection: ("reaction_force", "reaction_torque"),
}


def _listed(given, what):
    """Names, one or several."""
    names = [given] if isinstance(given, (str, ca.SX)) else given
    if not isinstance(names, Sequence):
        raise OptionError(f"{what} must be names, got {quantity.show(given)}")
    return list(names)


def _refuse(model, what, name, known, more=""):
    close = get_close_matches(str(name), known, n=1) if isinstance(name, str) else []
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise OptionError(
        f"model {model.name!r}: unknown {what} {quantity.show(name)}.{hint} Known: {', '.join(known) or 'none'}{more}."
    )


def inputs_of(model, given):
    """Places of parameters and inputs among the numbers that kernels take, by name; None: the declared inputs of the model."""
    places = {name: k for k, name in enumerate(model.parameters)}
    symbols = {p.symbol.element_hash(): name for name, p in model.parameters.items()}
    found = {}
    declared = [name for name, p in model.parameters.items() if isinstance(p, Input)]
    for one in declared if given is None else _listed(given, "inputs"):
        scalar = isinstance(one, ca.SX) and one.is_scalar()
        name = symbols.get(one.element_hash()) if scalar else one if isinstance(one, str) else None
        if name not in places:
            _refuse(model, "input", one, list(places))
        found[name] = places[name]
    return found


def outputs_of(model, given):
    """Scalar expressions of signals by name; None: the model's own signals.

    given   names, or expressions by name. A name is one of a signal, of a joint (its coordinates), or of a body or joint and what
            is meant: "bob.position", "hinge.rate", "hinge.reaction_force"; of a vector all components, or one, "bob.position[2]"
    """
    if given is None:
        return dict(model.signals)
    found: dict = {}
    if isinstance(given, Mapping):
        for name, expression in given.items():
            column = quantity.column(expression, "it", f"output {quantity.show(name)}")
            for s in ca.symvar(column):
                if not model.knows(s):
                    raise OptionError(f"output {name!r}: {s.name()!r} does not belong to model {model.name!r}")
            found |= _components(str(name), column)
        return found
    for name in _listed(given, "outputs"):
        found |= _named_so(model, name)
    return found


def _named_so(model, name):
    """Scalar expressions that a name means, by name; refused where it means nothing."""
    text = name if isinstance(name, str) else ""
    whole = text.rpartition("[")[0] if text.endswith("]") else text
    signals = {label: x for label, x in model.signals.items() if whole and whole in (label, label.rpartition("[")[0])}
    parts = signals or _components(whole, _quantity(model, whole))
    if found := parts if text == whole else {label: x for label, x in parts.items() if label == text}:
        return found
    elements = [f"{x}.{what}" for cls, known in QUANTITIES.items() for x in _named(model, cls) for what in known]
    more = ", joints by their names, and components as in 'bob.position[2]'"
    return _refuse(model, "output", name, [*model.signals, *elements], more)


def _components(name, column):
    column = ca.densify(column)
    labels = [name] if column.is_scalar() else [f"{name}[{k}]" for k in range(column.shape[0])]
    return dict(zip(labels, ca.vertsplit(column)))


def _quantity(model, name):
    """What is said about an element, as a column: empty where there is no such thing."""
    joint = name in model and isinstance(model[name], Joint)
    owner, _, what = (name, ".", "coordinate") if joint else name.rpartition(".")
    for cls, known in QUANTITIES.items() if owner in model else ():
        if isinstance(model[owner], cls) and what in known:
            return getattr(model[owner], what)
    return ca.SX(0, 1)


def _named(model, cls):
    return [x.name for x in (model.bodies if cls is Body else model.constraints) if isinstance(x, cls)]
