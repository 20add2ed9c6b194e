"""Compiles loops with Numba: when the package is built, or in a process of its own where a checkout has changed."""

import os
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location

os.environ |= {"TORSOR_BUILDING": "1", "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}

from . import loops, worker  # noqa: E402  (imported with these settings)


def build(module, path=None):
    """The entries of a module as bitcode for any processor of this kind, packed as it is shipped; path: its file, where it is
    not one of the package."""
    import llvmlite.binding as llvm
    from numba import njit, types

    from .compiled import ENTRIES
    from .numba_records import OPTIONS

    _import(module, path)
    own = {name: entry for (place, name), entry in ENTRIES.items() if place == module}
    modules, entries = [], {}
    for name, (function, kinds) in own.items():
        signature = types.int64(*[getattr(types, kind) for kind in kinds])
        dispatcher = njit([signature], **OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
        (result,) = dispatcher.overloads.values()
        entries[name] = (result.fndesc.llvm_func_name, kinds)
        modules.append(llvm.parse_assembly(result.library.get_llvm_str()))
    first, *others = modules
    for other in others:
        first.link_in(other)
    return loops.pack(loops.digest(module), entries, first.as_bitcode())


def _import(module, path):
    """Import a module by its name, or from its file."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        spec = spec_from_file_location(module, path)
        sys.modules[module] = found = module_from_spec(spec)
        spec.loader.exec_module(found)
        return found


def serve():
    """The other process: one module, named on standard input; its bitcode on standard output."""
    worker.end_with_parent()
    target = sys.stdout.buffer
    module, path = sys.stdin.buffer.read().decode().split("\n")
    data = build(module, path)
    target.write(data)
    target.flush()
