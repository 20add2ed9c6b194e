"""A folder of compiled code and small side data, shared by all processes of this user.

An entry is one file named after a hash. It is written under another name, flushed to the disk and renamed, so that a
reader sees all of it or nothing; a checksum at its start tells a damaged file, which counts as absent. A folder that
cannot be read or written makes everything absent and never stops a run. When the entries exceed a limit, those not
read for the longest time go first.
"""

import hashlib
import os
import sys
import tempfile
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

LIMIT = 2**30
_MAGIC = b"torsor1\n"


def folder():
    """Where entries are kept: $TORSOR_CACHE, or the platform's folder for caches."""
    if given := os.environ.get("TORSOR_CACHE"):
        return Path(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "torsor"


@cache
def versions():
    """What the meaning of an entry depends on besides its key: CasADi, the platform and the source in this folder."""
    source = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        source.update(path.read_bytes())
    return f"{_casadi()} {sys.platform} {sys.maxsize} {source.hexdigest()}"


def _casadi():
    """The version of CasADi, without importing it or the slow `importlib.metadata`."""
    found = find_spec("casadi")
    if found is None or found.origin is None:
        return "no casadi"
    installed = sorted(path.name for path in Path(found.origin).parents[1].glob("casadi-*.*-info"))
    return " ".join(installed) or f"casadi of {os.path.getmtime(found.origin)}"


def digest(*texts):
    """A hash of some texts; which text a character belongs to matters."""
    state = hashlib.sha256()
    for text in texts:
        data = text if isinstance(text, bytes) else text.encode()
        state.update(f"{len(data)}:".encode() + data)
    return state.hexdigest()


def _path(key, name):
    return folder() / (digest(key, name, versions()) + ".bin")


def store(key, name, data):
    """Keep the bytes `data` as `name` under `key`; True if that worked."""
    temporary = None
    try:
        path = _path(key, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + hashlib.sha256(data).digest() + data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except (OSError, RuntimeError):
        if temporary:
            with suppress(OSError):
                os.unlink(temporary)
        return False
    _trim()
    return True


def load(key, name):
    """The bytes kept as `name` under `key`, or None if there are none or they are damaged."""
    try:
        path = _path(key, name)
        content = path.read_bytes()
    except (OSError, RuntimeError):
        return None
    start = len(_MAGIC) + 32
    data = content[start:]
    if content[:start] != _MAGIC + hashlib.sha256(data).digest():
        return None
    with suppress(OSError):
        os.utime(path)
    return data


def _entries():
    """Time of last use, size and path of every file of the cache, oldest first."""
    found = []
    with suppress(OSError, RuntimeError), os.scandir(folder()) as files:
        for file in files:
            if file.name.endswith((".bin", ".part")):
                with suppress(OSError):
                    status = file.stat()
                    found.append((status.st_mtime, status.st_size, file.path))
    return sorted(found)


def size():
    """Bytes in the cache."""
    return sum(length for _, length, _ in _entries())


def clear():
    """Remove every entry."""
    for *_, path in _entries():
        with suppress(OSError):
            os.unlink(path)


def _trim():
    """Remove the entries used longest ago until the rest is within the limit."""
    entries = _entries()
    total = sum(length for _, length, _ in entries)
    for _, length, path in entries:
        if total <= LIMIT:
            break
        with suppress(OSError):
            os.unlink(path)
            total -= length
