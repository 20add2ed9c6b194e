"""Files that survive a kill at any moment: a state that is replaced as a whole, and journals that only grow.

    state     one file: facts as JSON, then arrays; a checksum at its start. It is written under another name, flushed to
              the disk and renamed, so that a reader finds the old one or the new one, never a part.
    journal   the mark of its run, then rows of numbers, appended. The state says how many rows count and what their
              checksum is; whatever a killed process wrote after them is cut off before the next row is appended.

A journal is flushed to the disk before the state that counts its rows, so that no state ever counts a row that is not there.
"""

import hashlib
import json
import math
import os
import tempfile
import zlib
from contextlib import suppress
from typing import Any

import numpy as np

from ..describe import quantity
from ..errors import ResultError

FORMAT = 2
KINDS = "biufcU"  # of numbers and text that arrays may have
_MAGIC = b"torsor checkpoint "


def pack(facts, arrays):
    """Facts and arrays as the bytes of a state."""
    described = [[name, x.dtype.str, list(x.shape)] for name, x in arrays.items()]
    head = json.dumps({"facts": facts, "arrays": described}).encode()
    parts = [np.ascontiguousarray(x).tobytes() for x in arrays.values()]
    body = b"".join([len(head).to_bytes(8, "little"), head, *parts])
    return _MAGIC + b"%d\n" % FORMAT + hashlib.sha256(body).digest() + body


def unpack(content, path):
    """Facts and arrays from the bytes of a state."""
    line, _, rest = content.partition(b"\n")
    number = line.removeprefix(_MAGIC)
    if not line.startswith(_MAGIC) or not number.isdigit():
        raise ResultError(f"{path}: not a checkpoint of torsor, or its beginning is damaged")
    if int(number) != FORMAT:
        raise ResultError(
            f"{path}: a checkpoint of format {int(number)}; this version of torsor reads format {FORMAT}. Resume it with the "
            "version that wrote it; nothing was changed"
        )
    check, body = rest[:32], rest[32:]
    if hashlib.sha256(body).digest() != check:
        raise ResultError(f"{path}: the checkpoint is damaged (its checksum is wrong); nothing was changed")
    try:
        return _unpacked(body)
    except Exception:  # whatever somebody else has written there
        raise ResultError(f"{path}: not a checkpoint of torsor, or a damaged one") from None


def _unpacked(body):
    start = 8 + int.from_bytes(body[:8], "little")
    head, arrays = json.loads(body[8:start]), {}
    for name, kind, shape in head["arrays"]:
        kind = np.dtype(kind)
        if not isinstance(name, str) or kind.kind not in KINDS or any(type(n) is not int or n < 0 for n in shape):
            raise ValueError(name)
        arrays[name] = np.frombuffer(body, kind, math.prod(shape), start).reshape(shape).copy()
        start += arrays[name].nbytes
    if start != len(body) or not isinstance(head["facts"], dict):
        raise ValueError("facts")
    return head["facts"], arrays


def read_bytes(path, what):
    """The content of a regular file; what: it is, for messages."""
    if not isinstance(path, (str, os.PathLike)):
        raise ResultError(f"{what} cannot be read: give the path of a file, got {quantity.show(path)}")
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise ResultError(f"{what} cannot be read: {os.fspath(path)!r} is not a regular file")
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        if isinstance(error, ResultError):
            raise
        why = getattr(error, "strerror", None) or error
        raise ResultError(f"{what} cannot be read: {os.fspath(path)!r}: {why}") from None


def replace(path, content):
    """Put `content` in the place of a file: all of it or nothing."""
    path = os.path.abspath(path)
    handle, temporary = tempfile.mkstemp(
        suffix=".part", prefix=f".{os.path.basename(path)}-", dir=os.path.dirname(path)
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:  # also when interrupted
        with suppress(OSError):
            os.unlink(temporary)
        raise
    flush_folder(os.path.dirname(path))


def flush_folder(folder):
    """Make names in a folder survive a loss of power, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class Journal:
    """Rows of `width` numbers in a file that only grows; `count` of them are valid, with the checksum `check`.

    mark   bytes at its start that tell to which run it belongs
    """

    def __init__(self, path, mark, width, count=0, check=0):
        self.path, self.mark, self.width, self.count, self.check = path, mark, width, count, check
        self._file: Any = None

    @property
    def size(self):
        """Bytes that are valid."""
        return len(self.mark) + 8 * self.width * self.count

    def begin(self):
        """An empty journal in the place of whatever is there."""
        self.remove()
        self._open("w+b")
        self._write(self.mark)

    def verify(self):
        """An error where the file is not the one that was written."""
        for _ in self.blocks(2**22):
            pass

    def append(self, rows):
        """Further rows; they count from the next state on."""
        if not len(rows):
            return
        if self._file is None:
            self._open("r+b")
        self._file.seek(self.size)
        self._file.truncate()
        content = np.ascontiguousarray(rows, float).tobytes()
        self._write(content)
        self.count, self.check = self.count + len(rows), zlib.crc32(content, self.check)

    def _open(self, mode):
        self._file = open(self.path, mode, buffering=0)  # noqa: SIM115  nothing is left to be written when it is closed

    def _write(self, content):
        """All of the content, on the disk."""
        rest = memoryview(content)
        while rest:
            rest = rest[self._file.write(rest) :]
        os.fsync(self._file.fileno())

    def blocks(self, size):
        """The valid rows, as arrays of at most `size` bytes each; their checksum is compared at the end."""
        try:
            yield from self._blocks(size)
        except ResultError:
            raise
        except OSError as error:
            raise ResultError(f"cannot read {self.path!r}: {error.strerror}") from None

    def _blocks(self, size):
        found = os.path.getsize(self.path) if os.path.exists(self.path) else 0
        if found < self.size:
            raise ResultError(f"{self.path}: damaged: {self.size} bytes were written to it, {found} are there")
        check, left, rows = 0, self.count, max(1, size // (8 * max(self.width, 1)))
        with open(self.path, "rb") as file:
            if file.read(len(self.mark)) != self.mark:
                raise ResultError(f"{self.path}: damaged, or the file of another run: its beginning is wrong")
            while left:
                content = file.read(8 * self.width * min(rows, left))
                check = zlib.crc32(content, check)
                block = np.frombuffer(content).reshape(-1, self.width)
                left -= len(block)
                yield block
        if check != self.check:
            raise ResultError(f"{self.path}: damaged: its checksum is wrong")

    def close(self):
        if self._file is not None:
            self._file.close()
            self._file = None

    def remove(self):
        self.close()
        with suppress(FileNotFoundError):
            os.unlink(self.path)
