"""Marks of functions that are compiled against records.

Loops are written in files that everybody may import: they hold constants and declarations too. Only in the process that
compiles them (`loop_builder`) do these marks do anything, and is Numba imported; otherwise a marked function stays as it is,
and is called by the address of its compiled form (`loops`).
"""

import os
from typing import TYPE_CHECKING, Any

BUILDING = os.environ.get("TORSOR_BUILDING") == "1"
ENTRIES: dict = {}  # functions that Python, or other loops, call by address: with the types of their arguments

if BUILDING and not TYPE_CHECKING:
    from .numba_records import call_agreement, call_step, compiled, inlined, reference
else:

    def compiled(function):
        """A part of loops."""
        return function

    inlined = compiled  # copied into those that call it

    def reference(record):
        """A compiled function that makes a reference out of the address of a record."""

    call_agreement: Any = (
        None  # calls the function by which ranks agree on numbers: (address, numbers, how many, on what)
    )
    call_step: Any = None  # calls a step of a method by its address: (run, structure, time, length) → status


def entry(*kinds):
    """A function that Python or other loops call by its address, with these types of arguments; it returns a status."""

    def declare(function):
        ENTRIES[function.__module__, function.__name__] = (function, kinds)
        return compiled(function)

    return declare


__all__ = ["call_agreement", "call_step", "compiled", "entry", "inlined", "reference"]
