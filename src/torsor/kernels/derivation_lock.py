"""Graphs of CasADi are made by one thread at a time, whatever they are about: two at once may crash it."""

from collections.abc import Callable
from functools import wraps
from threading import RLock
from typing import ParamSpec, TypeVar

DERIVING = RLock()
Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def deriving(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """A function that makes graphs, for one thread at a time."""

    @wraps(function)
    def alone(*arguments: Given.args, **named: Given.kwargs) -> Returned:
        with DERIVING:
            return function(*arguments, **named)

    return alone
