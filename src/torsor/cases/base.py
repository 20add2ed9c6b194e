"""The base class of cases. A case is one registered class that builds a model and gives the source of its data."""

from ..errors import OptionError
from ..model.model import Model


class Case:
    """Base of all cases: one class in one file of this folder.

    title         what it is, in a few words
    source        document or benchmark that the data come from
    until         how long it runs [s]
    equations     True: a mechanism whose equations are compared in all formulations; False: a machine of many parts and events
    recommended   further arguments of `simulate` that suit it
    """

    kind = "case"
    title: str
    source: str
    until: float
    equations: bool = True
    recommended: dict = {}

    @staticmethod
    def build() -> Model:
        """A fresh model; keyword arguments with defaults are the case's options."""
        raise NotImplementedError


def whole(value, name, owner, least, most=None):
    """An option that counts something, as an int: 3, 3.0 and "3" are the same number."""
    try:
        number = int(float(value))
        exact = number == float(value) and not isinstance(value, bool)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        exact = False
    if not exact or number < least or (most is not None and number > most):
        allowed = f"{least} or more" if most is None else f"{least} to {most}"
        raise OptionError(f"case {owner!r}: {name} must be a whole number, {allowed}; got {value!r}")
    return number
