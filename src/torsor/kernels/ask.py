"""Calls of kernels from compiled code, one function each, by the names of the signatures: see `numba_records.callers`."""

from .compiled import BUILDING

if BUILDING:
    from .numba_records import callers

    globals().update(callers())
