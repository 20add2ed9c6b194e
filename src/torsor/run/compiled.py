"""Compiled loops that are kept on disk, and found out of date when any of their sources changes.

Numba looks at one file to see whether a cached function is current; a loop that is put together from several files is kept
under a digest of all of them instead.
"""

import hashlib
import pathlib
from functools import cache

from numba import config, njit

PLAIN = {"error_model": "numpy", "boundscheck": False}
INLINE = {**PLAIN, "forceinline": True}
MERGED = {**PLAIN, "inline": "always"}  # compiles faster, runs a little slower


@cache
def _place():
    """Where the loops of these sources are kept; Numba falls back on a folder of the user where this is not writable."""
    here = pathlib.Path(__file__).parent
    files = [f.read_bytes() for f in [*sorted(here.glob("*.py")), here.parent / "kernels" / "calls.py"]]
    digest = hashlib.sha256(b"".join(text for text in files if b"numba" in text or b"LAND" in text)).hexdigest()
    return str(pathlib.Path(config.CACHE_DIR or here / "__pycache__") / f"loops-{digest[:16]}")


def loop(function):
    """Compile a function that Python calls, and keep it."""
    before, config.CACHE_DIR = config.CACHE_DIR, _place()
    try:
        return njit(cache=True, **PLAIN)(function)
    finally:
        config.CACHE_DIR = before
