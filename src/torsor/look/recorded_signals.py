"""Signals that a run records under names of their own, in addition to the variables that every result has."""

from collections.abc import Mapping

import casadi as ca

from ..elements import quantity
from ..elements.names import unstorable
from ..errors import ModelError, OptionError
from .dataset import RESERVED


def signals_to_record(model, signals):
    """Signals as scalars: a vector signal is recorded by its components. Names that would hide something, also those of
    recorded values, are refused."""
    if signals is not None and not isinstance(signals, Mapping):
        example = "{'height': body.position[2]}"
        raise OptionError(f"signals must be expressions by name, as in {example}, got {quantity.show(signals)}")
    found: dict = {}
    for name in [*model.signals, *(signals or {})]:
        _refuse_taken(f"signal {quantity.show(name)}", name, RESERVED)
    for name, expression in (signals or {}).items():
        try:
            column = quantity.column(expression, "it", f"signal {name!r}")
        except ModelError as error:
            raise OptionError(str(error)) from None
        for s in ca.symvar(column):
            if not model.knows(s):
                raise OptionError(f"signal {name!r}: {s.name()!r} does not belong to model {model.name!r}")
        for k in range(column.shape[0]):
            label = name if column.shape[0] == 1 else f"{name}[{k}]"
            _refuse_taken(f"signal {label!r}", label, {*RESERVED, *model.signals, *found})
            found[label] = column[k]
    for event in model.events:
        for action in event.actions:
            if label := action.result_name:
                _refuse_taken(f"{event.owner}: record {label!r}", label, {*RESERVED, *model.signals, *found})
    return found


def _refuse_taken(owner, name, taken):
    """Refuse a name that no file can hold, or under which a result has something else already."""
    from xarray import Dataset

    if why := unstorable(name):
        raise OptionError(f"{owner}: a result cannot have a variable of that name: {why}")
    if name in taken:
        raise OptionError(f"{owner}: a result has a variable of that name already; choose another name")
    if hasattr(Dataset, name):
        raise OptionError(
            f"{owner}: `data.{name}` is something else, an attribute of xarray.Dataset; choose another name"
        )
