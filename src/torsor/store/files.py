"""Result files: NetCDF-4, whole or not there, sealed with a checksum, and safe to use from several threads.

The library below NetCDF may be used by one thread at a time: whatever calls it holds `LOCK`. It also trusts its files, and
may crash on a damaged one. A result file therefore ends with a line that NetCDF readers do not look at,

    torsor sha256 <digest of all bytes before it>

and is opened only where that is true.
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

from ..describe.names import unstorable
from ..errors import ResultError
from .formats import format_of
from .journal import flush_folder
from .table import refuse_other

if TYPE_CHECKING:
    import xarray as xr

LOCK = threading.RLock()
LARGE = 2**28  # bytes, from which a result is read when it is looked at, and not before
_SEAL = re.compile(rb"\ntorsor sha256 ([0-9a-f]{64})\n\Z")
_LENGTH = len(b"\ntorsor sha256 \n") + 64

if hasattr(os, "register_at_fork"):  # a thread that held the lock does not exist in the child
    os.register_at_fork(after_in_child=getattr(LOCK, "_at_fork_reinit"))  # noqa: B009  not in the typed interface


def save(data: "xr.Dataset", path: str | os.PathLike) -> None:
    """Write a result, `data`, to the file `path`: as a flat table to FILE.csv or FILE.parquet, as arrays to FILE.mat, else as
    NetCDF, which `load` reads.

    It goes to a temporary file first, so that no half-written file is left under its name."""
    refuse_other(data, "save")
    refuse_unwritable(path)
    if (other := format_of(path)) is not None:
        handle, temporary = _new(path)
        os.close(handle)
        with written(temporary, path, sealed=True):
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
    handle, temporary = _new(path)
    os.close(handle)
    with written(temporary, path), LOCK:
        data.to_netcdf(temporary, engine="netcdf4")


def load(path: str | os.PathLike) -> "xr.Dataset":
    """Read a result that `save` wrote from the file `path`; one that was damaged since is refused."""
    import xarray as xr

    checked(path)
    with _reading(path), LOCK:
        with xr.open_dataset(path, engine="netcdf4") as data:
            data.load()
    if "model_hash" not in data.attrs:
        raise ResultError(f"cannot read {os.fspath(path)!r}: a NetCDF file, but not a result of torsor")
    return data


def opened(path):
    """A result file as a dataset: loaded, or read when it is looked at where it is large."""
    data = load(path) if os.path.getsize(path) < LARGE else _on_disk(path)
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in data.attrs.items()}
    return data.assign_attrs(plain)


def copied(path, target):
    """A copy of a result file, whole or not at all."""
    handle, temporary = _new(target)
    os.close(handle)
    with written(temporary, target, sealed=True):
        shutil.copyfile(path, temporary)


def refuse_unwritable(path):
    """An error where `save` could not write to `path`, as far as can be known before it does. What writes is loaded here."""
    import netCDF4  # noqa: F401

    refuse = lambda why: ResultError(f"cannot write {path!r}: {why}")
    try:
        path = os.fspath(path)
        folder = os.path.dirname(os.path.abspath(path))
        there, regular = os.path.exists(path), os.path.isfile(path)
    except (TypeError, ValueError):
        raise refuse("it is no name of a file") from None
    if not os.path.isdir(folder):
        raise refuse(f"there is no folder {folder!r}")
    if not os.path.basename(path):
        raise refuse("it is no name of a file")
    if there and not regular:
        raise refuse("it is not a regular file")
    if not os.access(folder, os.W_OK):
        raise refuse(f"folder {folder!r} is not writable")
    format_of(path)


@contextmanager
def written(temporary, path, sealed=False):
    """What is written to a temporary file gets its seal, reaches the disk and takes the name `path`; or nothing is left of
    it, and the error says why."""
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
    except Exception as error:  # of the system, or whatever the library below makes of it
        free = shutil.disk_usage(os.path.dirname(temporary)).free
        full = free < 2**16 and not isinstance(error, OSError)
        reason = "no space left on the disk" if full else getattr(error, "strerror", None) or str(error)
        raise ResultError(f"cannot write {os.fspath(path)!r}: {reason}") from None
    finally:  # also when interrupted
        with suppress(OSError):
            os.unlink(temporary)


def checked(path):
    """The digest in the seal of a result file, which is true; an error where there is none or the file is damaged."""
    shown = os.fspath(path) if isinstance(path, (str, bytes, os.PathLike)) else path
    refuse = lambda why: ResultError(f"cannot read {shown!r}: {why}")
    with _reading(path):
        if isinstance(path, int) or not os.path.exists(path):
            raise refuse("there is no such file")
        if not os.path.isfile(path):
            raise refuse("it is not a regular file")
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if file.read(8) != b"\x89HDF\r\n\x1a\n":
                raise refuse("not a NetCDF result file, or its beginning is damaged")
            file.seek(max(0, size - _LENGTH))
            seal = _SEAL.search(file.read())
            if seal is None:
                raise refuse(
                    "not a result of torsor, or cut off or changed by another program since: it does not end with a "
                    "checksum (xarray.open_dataset reads such a file unchecked)"
                )
            if _digest(file, size - _LENGTH) != seal[1].decode():
                raise refuse("it is damaged: its checksum is wrong")
    return seal[1].decode()


def _new(path):
    """A temporary file beside `path`: its handle and its name."""
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
    state, left = hashlib.sha256(), size
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
    """Whatever goes wrong below while a file is read, as one kind of error."""
    try:
        yield
    except ResultError:
        raise
    except Exception as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ResultError(f"cannot read {path!r}: {why}") from None


def _on_disk(path):
    """A dataset whose numbers are read from its file when they are looked at, each time under the lock."""
    import xarray as xr
    from xarray.core.indexing import LazilyIndexedArray

    checked(path)
    with _reading(path), LOCK, xr.open_dataset(path, engine="netcdf4") as file:
        large = [name for name, x in file.data_vars.items() if x.dtype == float]
        data = file.drop_vars(large).load()
        late = {
            name: xr.Variable(
                file[name].dims,
                LazilyIndexedArray(_stored(os.path.abspath(path), name, file[name].shape)),
                file[name].attrs,
            )
            for name in large
        }
        order = list(file.data_vars)
    data = data.assign(late)[order]
    data.encoding["source"] = os.path.abspath(path)
    return data


def _stored(path, name, shape):
    """An array of a file, for xarray."""
    from xarray.backends import BackendArray
    from xarray.core import indexing

    class Stored(BackendArray):
        def __init__(self):
            self.shape, self.dtype = shape, np.dtype(float)

        def __getitem__(self, key):
            return indexing.explicit_indexing_adapter(key, shape, indexing.IndexingSupport.BASIC, self._read)

        def _read(self, key):
            import netCDF4

            with _reading(path), LOCK, netCDF4.Dataset(path) as file:
                file.set_auto_mask(False)
                return np.asarray(file[name][key], float)

    return Stored()
