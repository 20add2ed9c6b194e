"""A folder of compiled code and small side data, shared by all processes of this user.

An entry is one file named after a hash. It is written under another name and renamed, so that a
reader sees all of it or nothing. It begins with its own name and a checksum of both, so that a damaged entry and one that
was renamed count as absent. When the entries exceed a limit, those not read for the longest time go first.

Code that is loaded is code that is run. As with keys of ssh, a folder or an entry counts only where nobody but this user
and the system's administrator can have written it; otherwise everything is absent, and one warning says so. A folder that
cannot be read or written makes everything absent too, and never stops a run.
"""

import hashlib
import os
import re
import stat
import sys
import tempfile
import warnings
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

LIMIT = 2**30  # bytes
SLACK = 1 / 16  # of the limit: what is made free beyond need, and written before the folder is looked through again
_MAGIC = b"torsor2\n"
ENTRY = re.compile("[0-9a-f]{64}")  # the name of one
_warned_of: set[str] = set()  # folders that a warning was given about
_held: dict[str, tuple] = {}  # by folder: bytes in it when it was last looked through, and those written since
_noted: list[dict] = []  # entries that somebody takes note of


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
    for path in sorted(Path(__file__).parent.rglob("*.py")):
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


def _path(key, name, place):
    return (place or folder()) / (digest(key, name, versions()) + ".bin")


def store(key, name, data, place=None):
    """Keep the bytes `data` as `name` under `key`; True if that worked.

    place   another folder than the usual one, which others may read
    """
    try:
        path = _path(key, name, place)
    except (OSError, RuntimeError, ValueError):
        return False
    _note(path, data)
    return _write(path, data, place)


def _write(path, data, place=None):
    temporary = None
    try:
        if not path.parent.exists():
            path.parent.mkdir(mode=0o755 if place else 0o700, parents=True, exist_ok=True)
        if not is_trusted(path.parent):
            return False
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + _seal(path, data) + data)  # sealed: what a crash leaves of it is not taken for an entry
        if place is not None:
            os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except (OSError, RuntimeError, ValueError):
        return False
    finally:  # also when interrupted
        if temporary:
            with suppress(OSError):
                os.unlink(temporary)
    if place is None:
        _trim(len(data))
    return True


def load(key, name, place=None):
    """The bytes kept as `name` under `key`, or None if there are none, they are damaged, or others may have written them."""
    try:
        path = _path(key, name, place)
        if not is_trusted(path.parent):
            return None
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
            if not _own(os.fstat(file.fileno()), path):
                return None
            content = file.read()
    except (OSError, RuntimeError, ValueError):
        return None
    start = len(_MAGIC) + 64
    data = content[start:]
    if content[:start] != _MAGIC + _seal(path, data):
        return None
    with suppress(OSError):
        os.utime(path)
    _note(path, data)
    return data


@contextmanager
def record_entries():
    """Take note of every entry that is read or written meanwhile: bytes by the name of the entry."""
    entries: dict[str, bytes] = {}
    _noted.append(entries)
    try:
        yield entries
    finally:
        _noted.remove(entries)


def _note(path, data):
    for entries in _noted:
        entries[path.stem] = data


def adopt(entries):
    """Store entries that another process has recorded, under their names; returns their number. Their content is run:
    it must be trusted."""
    return sum(
        _write(folder() / f"{name}.bin", data) for name, data in entries.items() if ENTRY.fullmatch(name) is not None
    )


def _seal(path, data):
    """The name of an entry and a checksum of name and data."""
    name = bytes.fromhex(path.stem)
    return name + hashlib.sha256(name + data).digest()


def is_trusted(place):
    """Whether only this user, or the administrator, can have written into a folder that is there; a warning where not."""
    try:
        link = os.lstat(place)
        return _own(os.stat(place), place) and (not stat.S_ISLNK(link.st_mode) or _own(link, place, link=True))
    except FileNotFoundError:
        return True


def _own(status, path, link=False):
    """Whether a file or folder belongs to this user or to the administrator and nobody else may write to it."""
    if not hasattr(os, "getuid"):
        return True
    mine = status.st_uid in (0, os.getuid())
    if mine and (link or not status.st_mode & 0o022):
        return True
    where = str(path if stat.S_ISDIR(status.st_mode) or link else path.parent)
    if where not in _warned_of:
        _warned_of.add(where)
        why = "others may write to it" if mine else "it belongs to another user"
        warnings.warn(
            f"compiled code is neither taken from {str(path)!r} nor kept there: {why}. Make it yours alone (chmod go-w), or "
            "choose another folder with TORSOR_CACHE",
            stacklevel=2,
        )
    return False


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


def _trim(written):
    """Remove the entries used longest ago until the rest is well within the limit.

    To look through the folder takes time: it is done again once what this process has written since the last time could exceed
    the limit, or is a good part of it, as others write, too.
    """
    place = str(folder())
    held, since = _held.get(place, (LIMIT, 0))
    _held[place] = held, since + written
    if held + since + written <= LIMIT and since + written <= SLACK * LIMIT:
        return
    entries = _entries()
    total = sum(length for _, length, _ in entries)
    enough = LIMIT if total <= LIMIT else (1 - SLACK) * LIMIT
    for _, length, path in entries:
        if total <= enough:
            break
        with suppress(OSError):
            os.unlink(path)
            total -= length
    _held[place] = total, 0
