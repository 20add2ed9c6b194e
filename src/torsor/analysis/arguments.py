"""Validation of arguments of an analysis."""

from collections.abc import Mapping

import numpy as np

from ..elements import quantity
from ..errors import OptionError
from ..model.model import Model


def require_model(model, caller):
    """Raise OptionError if the argument is not a model.

    caller   name of the public function, for messages
    """
    if not isinstance(model, Model):
        raise OptionError(f"{caller}: give a torsor.Model, got {quantity.show(model)}")


def named_values(value, what, meaning):
    """A dictionary argument; empty for None.

    what, meaning   name of the argument and what its values are, for messages
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise OptionError(f"{what} must be {meaning} by name, in a dictionary, got {quantity.show(value)}")
    return dict(value)


def flag(value, what):
    """A truth value."""
    if not isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{what} must be True or False, got {quantity.show(value)}")
    return bool(value)


def formulation_name(name):
    """The name of a formulation; None for "auto" (joint coordinates, where the model has them)."""
    if name is not None and not isinstance(name, str):
        raise OptionError(f"formulation must be the name of one, got {quantity.show(name)}")
    return None if name == "auto" else name


def finite_number(value, what):
    """A finite number."""
    result = quantity.number(value)
    if result is None or not np.isfinite(result):
        raise OptionError(f"{what} must be a finite number, got {quantity.show(value)}")
    return result


def count(value, what):
    """A non-negative integer."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise OptionError(f"{what} must be a whole number that is not negative, got {quantity.show(value)}")
    return int(value)
