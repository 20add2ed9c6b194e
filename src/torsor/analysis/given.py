"""What users hand to an analysis, checked before anything is derived."""

from collections.abc import Mapping

import numpy as np

from ..describe import quantity
from ..describe.model import Model
from ..errors import OptionError


def model_given(model, asked):
    """Refuse what is no model."""
    if not isinstance(model, Model):
        raise OptionError(f"{asked}: give a torsor.Model, got {quantity.show(model)}")


def by_name(given, what, meaning):
    """Things by name; nothing, where None is given."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise OptionError(f"{what} must be {meaning} by name, in a dictionary, got {quantity.show(given)}")
    return dict(given)


def flag(value, what):
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{what} must be True or False, got {quantity.show(value)}")
    return bool(value)


def formulation_given(name):
    """The name of a formulation, or None."""
    if name is not None and not isinstance(name, str):
        raise OptionError(f"formulation must be the name of one, or None, got {quantity.show(name)}")
    return name


def finite(value, what):
    """A finite number."""
    found = quantity.number(value)
    if found is None or not np.isfinite(found):
        raise OptionError(f"{what} must be a finite number, got {quantity.show(value)}")
    return found


def count(value, what):
    """A whole number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise OptionError(f"{what} must be a whole number that is not negative, got {quantity.show(value)}")
    return int(value)
