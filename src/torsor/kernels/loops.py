"""Loops: functions that a run calls, compiled when the package is built, and code for this machine on first use.

A loop is written in Python for Numba (`compiled`), as an entry of some module. The package carries the modules' bitcode;
LLVM makes code for the processor at hand out of it once, which is kept like that of kernels. Numba is not needed for that.
In a checkout whose loops have changed, or were never built, another process compiles them with Numba, and a message says so.
"""

import ctypes
import functools
import hashlib
import json
import lzma
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import TorsorError
from ..source_files import PACKAGE, imported_files
from . import cache, worker

SHIPPED = PACKAGE / "bitcode"
BUILDER = (  # the settings must be there before Numba is imported
    "import os; os.environ |= {'TORSOR_BUILDING': '1', 'NUMBA_CPU_NAME': 'generic', 'NUMBA_CPU_FEATURES': ''}; "
    "from torsor.kernels.loop_builder import serve; serve()"
)
CTYPES: dict[str, Any] = {"int64": ctypes.c_int64, "float64": ctypes.c_double}


class Loop:
    """A compiled function: `address`, with Numba's way of calling, and itself callable with numbers; it returns a status."""

    def __init__(self, address, kinds, owner):
        self.address, self._owner = address, owner
        pointers = ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_void_p)
        self._call = ctypes.CFUNCTYPE(ctypes.c_int32, *pointers, *[CTYPES[kind] for kind in kinds])(address)

    def __call__(self, *arguments):
        status, error = ctypes.c_int64(), ctypes.c_void_p()
        self._call(status, error, *arguments)
        return status.value


def once(function):
    """Called once for each argument, also where several threads ask: what they find must be the same, since others keep addresses
    of it only."""
    known, lock = functools.cache(function), threading.RLock()

    @functools.wraps(function)
    def found(*given):
        with lock:
            return known(*given)

    return found


@once
def loops(module):
    """The entries of a module, by name."""
    bitcode, entries = _bitcode(module)
    image = _image(bitcode)
    addresses, owner = _link(image, [symbol for symbol, _ in entries.values()])
    return {name: Loop(addresses[symbol], kinds, owner) for name, (symbol, kinds) in entries.items()}


def origin(module):
    """The file of a module: one of the package, or another one that can be imported."""
    own = PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py")
    if own.exists():
        return own
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise TorsorError(f"the step of a method is in {module!r}, which has no file that could be compiled")
    return Path(spec.origin)


def sources(module):
    """Source files that the entries of a module are made of, by path."""
    return imported_files([origin(module)])


def digest(module):
    """Of all that the entries of a module are made of."""
    return hashlib.sha256("\0".join(f"{n}\0{text}" for n, text in sources(module).items()).encode()).hexdigest()


def places():
    """Folders in which code is kept: that of the user, in a checkout the one next to the source."""
    return [SHIPPED if (PACKAGE.parent.parent / "pyproject.toml").exists() else None, None]


def _load(key, name):
    return next((data for place in places() if (data := cache.load(key, name, place)) is not None), None)


def _store(key, name, data):
    any(cache.store(key, name, data, place) for place in places())


def _bitcode(module):
    """Bitcode of a module, and its entries: as shipped, as compiled here before, or compiled now."""
    mark = digest(module)
    found = _unpack(_read_shipped_file(module), mark) or _unpack(_load(mark, "bitcode"), mark)
    if found is None:
        packed = compile_in_other_process(module)
        found = _unpack(packed, mark)
        if found is None:
            raise TorsorError(
                f"the compiled loops of this installation are missing, or belong to another version ({module}): install torsor "
                "again, or install numba, with which they are compiled here"
            )
        _store(mark, "bitcode", packed)
    return found


def compile_again(module):
    """Bitcode and entries of a module, compiled now for any processor, instead of what was kept; None if that fails."""
    mark = digest(module)
    packed = compile_in_other_process(module)
    if packed is not None:
        _store(mark, "bitcode", packed)
    return _unpack(packed, mark)


def is_shipped(module):
    """Whether the package carries bitcode of a module as it is now."""
    return _unpack(_read_shipped_file(module), digest(module)) is not None


def _read_shipped_file(module):
    try:
        return (SHIPPED / f"{module}.xz").read_bytes()
    except OSError:
        return None


def pack(mark, entries, bitcode):
    """Bitcode with its entries and the digest of its sources, as it is shipped."""
    return lzma.compress(json.dumps([mark, entries]).encode() + b"\n" + bitcode)


def _unpack(data, mark):
    """Bitcode and entries, where they belong to these sources."""
    try:
        header, _, bitcode = lzma.decompress(data or b"").partition(b"\n")
        known, entries = json.loads(header)
    except (lzma.LZMAError, ValueError, EOFError):
        return None
    return (bitcode, entries) if known == mark else None


def compile_in_other_process(module):
    """Bitcode of a module, compiled by another process with Numba, which this one waits for; None where that fails."""
    import tempfile

    if find_spec("numba") is None:
        return None
    print(f"torsor: compiling {module}, once for this version of its source …", file=sys.stderr, flush=True)
    with tempfile.TemporaryFile() as target:
        arguments = ["-c", BUILDER]
        with worker.start_worker(arguments, f"{module}\n{origin(module)}".encode(), target) as process:
            if process.wait() != 0:
                return None
        target.seek(0)
        return target.read()


def _image(bitcode):
    """Object code for this machine."""
    key = cache.digest(bitcode, _target())
    image = _load(key, "loop")
    if image is None:
        image = _generate(bitcode)
        _store(key, "loop", image)
    return image


def _target():
    import llvmlite

    return f"llvmlite {llvmlite.__version__} {' '.join(worker.host())}"


def _generate(bitcode):
    """Optimise once more, for the processor at hand, and generate code."""
    import llvmlite.binding as llvm

    worker.initialize()
    machine = worker.machine(2)
    module = llvm.parse_bitcode(bitcode)
    module.triple, module.data_layout = worker.host()[0], str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)


def _link(image, symbols):
    import llvmlite.binding as llvm

    from .backends.llvm import _engine, _numbers, libm

    library = llvm.JITLibraryBuilder().add_current_process().add_object_img(image)
    for name, address in libm().items():
        library.import_symbol(name, address)
    for symbol in symbols:
        library.export_symbol(symbol)
    owner = library.link(_engine(), f"torsor{next(_numbers)}")
    return {symbol: owner[symbol] for symbol in symbols}, owner
