"""Calls of kernels from compiled code, one function each, by the names of the signatures: see `numba_records.callers`."""

from typing import TYPE_CHECKING, Any

from .compiled import BUILDING

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


if BUILDING:
    from .numba_records import callers

    globals().update(callers())
