"""Compiled loops that are kept on disk, and found out of date when any of their sources changes.

Numba looks at one file to see whether a cached function is current, trusts whatever lies in its folder, and compiles for
many seconds without listening to Ctrl-C. A loop is kept as an entry of torsor's own cache instead, under a digest of all
sources, and is compiled by another process, for which this one waits and which ends with it.
"""

import hashlib
import pathlib
import pickle
import subprocess
import sys
from functools import cache
from importlib import import_module

import numba
from numba import config, njit
from numba.core import serialize
from numba.core.compiler import CompileResult

from ..kernels import cache as entries
from ..kernels import worker

PLAIN = {"error_model": "numpy", "boundscheck": False}
INLINE = {**PLAIN, "forceinline": True}
MERGED = {**PLAIN, "inline": "always"}  # compiles faster, runs a little slower


def loop(function):
    """Compile a function that Python calls, and keep it."""
    dispatcher = njit(**PLAIN)(function)
    dispatcher._cache = Kept(function)
    return dispatcher


@cache
def _source():
    """Digest of all that loops are made from."""
    here = pathlib.Path(__file__).parent
    files = [f.read_bytes() for f in [*sorted(here.glob("*.py")), here.parent / "kernels" / "calls.py"]]
    return hashlib.sha256(b"".join(text for text in files if b"numba" in text or b"LAND" in text)).hexdigest()


def _places():
    """Where loops are kept: beside their source, or in the folder of the user where that cannot be written."""
    here = pathlib.Path(config.CACHE_DIR or pathlib.Path(__file__).parent / "__pycache__")
    return here / f"loops-{_source()[:16]}", entries.folder() / "loops"


class Kept:
    """What Numba asks of a cache."""

    elsewhere = True  # whether another process may compile; False in that process

    def __init__(self, function):
        self.function, self.cache_path = function, str(_places()[0])

    def _key(self, signature, codegen):
        versions = f"numba {numba.__version__} python {sys.version_info[:2]} {_source()}"
        return entries.digest(self.function.__qualname__, str(signature), str(codegen.magic_tuple()), versions)

    def load_overload(self, signature, context):
        """The compiled loop for arguments of some types; None where it has to be compiled here."""
        context.refresh()
        key = self._key(signature, context.codegen())
        found = self._found(key, context)
        if found is None and Kept.elsewhere and compiled_elsewhere(self.function, signature):
            found = self._found(key, context)
        return found

    def _found(self, key, context):
        for place in _places():
            data = entries.load(key, "loop", place)
            if data is not None:
                try:
                    return CompileResult._rebuild(context, *pickle.loads(data))
                except Exception:  # of another Numba than it says: as good as absent
                    return None
        return None

    def save_overload(self, signature, result):
        if result.lifted or result.library.has_dynamic_globals:
            return
        key = self._key(signature, result.codegen)
        data = serialize.dumps(result._reduce())
        any(entries.store(key, "loop", data, place) for place in _places())

    def enable(self):
        pass

    disable = flush = enable


def compiled_elsewhere(function, signature):
    """Let another process compile a loop for arguments of some types and keep it; True if it did."""
    task = serialize.dumps((function.__module__, function.__name__, signature))
    try:
        with worker.started(["-c", "from torsor.run.compiled import serve; serve()"], task) as process:
            return process.wait() == 0
    except (OSError, ValueError, subprocess.SubprocessError):
        return False


def serve():
    """The other process: one loop, named on standard input."""
    worker.end_with_parent()
    module, name, signature = pickle.loads(sys.stdin.buffer.read())
    Kept.elsewhere = False
    getattr(import_module(module), name).compile(signature)
