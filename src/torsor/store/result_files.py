"""Result files: NetCDF-4 with a checksum, replaced in one step, safe to use from several threads.

The HDF5 library below NetCDF allows one thread at a time: every call of it is made under `LOCK`. It may also crash on a damaged
file. A result file therefore ends with a line that NetCDF readers ignore, the seal,

    torsor sha256 <digest of all bytes before it>

and is opened only if this digest is correct.
"""

import hashlib
import os
import re
import shutil
import tempfile
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import numpy as np

from ..elements.names import unstorable
from ..errors import ResultError
from .export_formats import format_of
from .flat_table import refuse_other
from .journal import flush_folder

if TYPE_CHECKING:
    import xarray as xr

NETCDF_LOCK = threading.RLock()
LAZY_FROM_BYTES = 2**28  # bytes of a file, from which its arrays are loaded only when they are accessed
_SEAL = re.compile(rb"\ntorsor sha256 ([0-9a-f]{64})\n\Z")
_SEAL_LENGTH = len(b"\ntorsor sha256 \n") + 64

if hasattr(os, "register_at_fork"):  # a thread that held the lock does not exist in the child
    os.register_at_fork(after_in_child=getattr(NETCDF_LOCK, "_at_fork_reinit"))  # noqa: B009  not in the typed interface


def save_result(data: "xr.Dataset", path: str | os.PathLike) -> None:
    """Write a result, `data`, to the file `path`: as a flat table to FILE.csv or FILE.parquet, as arrays to FILE.mat, else as
    NetCDF, which `load_result` reads.

    It is written to a temporary file, which is then renamed, so that `path` is never an incomplete file."""
    refuse_other(data, "save_result")
    refuse_unwritable(path)
    if (other := format_of(path)) is not None:
        handle, temporary = _new_temporary(path)
        os.close(handle)
        with replace_when_written(temporary, path, sealed=True):
            other.write(data, temporary)
        return
    for name in data.variables:
        if why := unstorable(name):
            raise ResultError(f"cannot write {os.fspath(path)!r}: variable {name!r} cannot be in a file: {why}")
        if data[name].dtype.kind == "c":
            raise ResultError(
                f"cannot write {os.fspath(path)!r}: variable {name!r} is complex, which NetCDF has no numbers for: keep its real "
                "and imaginary parts, or write FILE.csv, FILE.parquet or FILE.mat"
            )
    handle, temporary = _new_temporary(path)
    os.close(handle)
    with replace_when_written(temporary, path), NETCDF_LOCK:
        data.to_netcdf(temporary, engine="netcdf4")


def load_result(path: str | os.PathLike) -> "xr.Dataset":
    """Read a result that `save_result` wrote from the file `path`; a damaged file is refused."""
    import xarray as xr

    verify_seal(path)
    with _reading(path), NETCDF_LOCK:
        with xr.open_dataset(path, engine="netcdf4") as data:
            data.load()
    if "model_hash" not in data.attrs:
        raise ResultError(f"cannot read {os.fspath(path)!r}: a NetCDF file, but not a result of torsor")
    return data


def open_result(path):
    """The dataset of a result file. Arrays of a large file are loaded when they are accessed."""
    data = load_result(path) if os.path.getsize(path) < LAZY_FROM_BYTES else _on_disk(path)
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in data.attrs.items()}
    return data.assign_attrs(plain)


def copy_result(path, target):
    """Copy a result file. The copy appears complete, or not at all."""
    handle, temporary = _new_temporary(target)
    os.close(handle)
    with replace_when_written(temporary, target, sealed=True):
        shutil.copyfile(path, temporary)


def refuse_unwritable(path):
    """Raise ResultError if `save_result` cannot write to `path`, as far as is known in advance. The writer is imported here."""
    import netCDF4  # noqa: F401

    def refuse(why):
        return ResultError(f"cannot write {path!r}: {why}")

    try:
        path = os.fspath(path)
        folder = os.path.dirname(os.path.abspath(path))
        exists = os.path.exists(path)
        regular = os.path.isfile(path)
    except (TypeError, ValueError):
        raise refuse("it is not a file name") from None
    if not os.path.isdir(folder):
        raise refuse(f"there is no folder {folder!r}")
    if not os.path.basename(path):
        raise refuse("it is not a file name")
    if exists and not regular:
        raise refuse("it is not a regular file")
    if not os.access(folder, os.W_OK):
        raise refuse(f"folder {folder!r} is not writable")
    format_of(path)


@contextmanager
def replace_when_written(temporary, path, sealed=False):
    """Context in which a temporary file is written. At its end the file is sealed, flushed to the disk and renamed to `path`. After
    an error the temporary file is removed, and ResultError gives the reason.

    sealed   True: the file has a checksum of its own, or needs none
    """
    try:
        yield
        if not sealed:
            _seal(temporary)
        os.chmod(temporary, 0o644)
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
        flush_folder(os.path.dirname(os.path.abspath(path)))
    except ResultError:
        raise
    except Exception as error:  # OSError, or an error of the NetCDF library
        free = shutil.disk_usage(os.path.dirname(temporary)).free
        full = free < 2**16 and not isinstance(error, OSError)
        reason = "no space left on the disk" if full else getattr(error, "strerror", None) or str(error)
        raise ResultError(f"cannot write {os.fspath(path)!r}: {reason}") from None
    finally:  # also when interrupted
        with suppress(OSError):
            os.unlink(temporary)


def verify_seal(path):
    """Verify the seal of a result file and return its digest. Raise ResultError if there is none or the file is damaged."""
    shown = os.fspath(path) if isinstance(path, (str, bytes, os.PathLike)) else path

    def refuse(why):
        return ResultError(f"cannot read {shown!r}: {why}")

    with _reading(path):
        if isinstance(path, int) or not os.path.exists(path):
            raise refuse("there is no such file")
        if not os.path.isfile(path):
            raise refuse("it is not a regular file")
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if file.read(8) != b"\x89HDF\r\n\x1a\n":
                raise refuse("not a NetCDF result file, or its beginning is damaged")
            file.seek(max(0, size - _SEAL_LENGTH))
            seal = _SEAL.search(file.read())
            if seal is None:
                raise refuse(
                    "not a result of torsor, or cut off or changed by another program since: it does not end with a "
                    "checksum (xarray.open_dataset reads such a file unchecked)"
                )
            if _digest(file, size - _SEAL_LENGTH) != seal[1].decode():
                raise refuse("it is damaged: its checksum is wrong")
    return seal[1].decode()


def _new_temporary(path):
    """Create a temporary file in the folder of `path`. Returns its handle and its name."""
    folder = os.path.dirname(os.path.abspath(os.fsdecode(path)))
    try:
        return tempfile.mkstemp(suffix=".nc.part", dir=folder)
    except OSError as error:
        raise ResultError(f"cannot write {os.fspath(path)!r}: {error.strerror}") from None


def _seal(path):
    """Write the checksum of a file at its end."""
    with open(path, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        seal = b"\ntorsor sha256 " + _digest(file, size).encode() + b"\n"
        file.seek(size)
        file.write(seal)


def _digest(file, size):
    """Digest of the first `size` bytes of an open file."""
    state = hashlib.sha256()
    left = size
    file.seek(0)
    while left:
        part = file.read(min(left, 2**22))
        if not part:
            return "cut off"
        state.update(part)
        left -= len(part)
    return state.hexdigest()


@contextmanager
def _reading(path):
    """Convert any error that reading a file causes to a ResultError."""
    try:
        yield
    except ResultError:
        raise
    except Exception as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ResultError(f"cannot read {path!r}: {why}") from None


def _on_disk(path):
    """A dataset whose arrays are read from the file at each access, under the lock."""
    import xarray as xr
    from xarray.core.indexing import LazilyIndexedArray

    verify_seal(path)
    with _reading(path), NETCDF_LOCK, xr.open_dataset(path, engine="netcdf4") as file:
        large = [name for name, x in file.data_vars.items() if x.dtype == float]
        data = file.drop_vars(large).load()
        lazy = {
            name: xr.Variable(
                file[name].dims,
                LazilyIndexedArray(_array_in_file(os.path.abspath(path), name, file[name].shape)),
                file[name].attrs,
            )
            for name in large
        }
        order = list(file.data_vars)
    data = data.assign(lazy)[order]
    data.encoding["source"] = os.path.abspath(path)
    return data


def _array_in_file(path, name, shape):
    """An array of a file, in the form that xarray reads lazily."""
    from xarray.backends import BackendArray
    from xarray.core import indexing

    class ArrayInFile(BackendArray):
        def __init__(self):
            self.shape = shape
            self.dtype = np.dtype(float)

        def __getitem__(self, key):
            return indexing.explicit_indexing_adapter(key, shape, indexing.IndexingSupport.BASIC, self._read)

        def _read(self, key):
            import netCDF4

            with _reading(path), NETCDF_LOCK, netCDF4.Dataset(path) as file:
                file.set_auto_mask(False)
                return np.asarray(file[name][key], float)

    return ArrayInFile()
