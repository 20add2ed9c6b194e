"""Mechanisms with known data: the seed cases and the benchmark problems of the field, each one file.

    model = ts.cases.load("four-bar", n=10)
    data = ts.simulate(model, **ts.cases.recommended("four-bar"))

A new case is one file in this folder with one registered `Case`; names, command line and tests find it there.
"""

import inspect
import pkgutil
from importlib import import_module
from typing import Any

import numpy as np

from ..elements import quantity
from ..errors import OptionError
from ..model.model import Model
from ..registry import lookup, registered
from .base import Case

__all__ = ["Case", "describe", "load", "names", "options", "recommended", "until"]


def _case(name):
    return lookup("case", name)


def names() -> list[str]:
    """The names of all cases, sorted."""
    return sorted(registered("case"))


def load(name: str, **given: Any) -> Model:
    """A fresh model of the case; `given` are the case's own options, such as `n` of the four-bar."""
    case, known = _case(name), options(name)
    for option in given:
        if option not in known:
            allowed = ", ".join(known) or "none"
            raise OptionError(f"case {name!r}: unknown option {option!r}. Known: {allowed}.")
        if isinstance(known[option], float) and not isinstance(given[option], (int, float, np.number)):
            raise OptionError(f"case {name!r}: {option} must be a number, got {quantity.show(given[option])}")
    return case.build(**given)


def options(name: str) -> dict:
    """The case's own options with their defaults."""
    return {k: p.default for k, p in inspect.signature(_case(name).build).parameters.items()}


def describe(name: str) -> str:
    """One line: what it is, and where it comes from."""
    case = _case(name)
    return f"{case.title} ({case.source})"


def until(name: str) -> float:
    """How long the case runs [s]."""
    return float(_case(name).until)


def recommended(name: str) -> dict:
    """Arguments of `simulate` that suit the case."""
    return {"until": until(name), **_case(name).recommended}


for _module in pkgutil.iter_modules(__path__):  # every file of this folder registers its cases
    import_module(f".{_module.name}", __name__)
