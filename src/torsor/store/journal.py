"""Files that remain valid if the process is killed at any moment: a state file that is replaced, and journals that grow.

    state     one file: a checksum, facts as JSON, arrays. It is written under a temporary name, flushed to the disk and
              renamed, so that a reader finds the old or the new file, never a part of one.
    journal   the identifier of its run, then rows of numbers, appended. The state contains the number of valid rows and their
              checksum; bytes that a killed process wrote after them are cut off before the next row is appended.

A journal is flushed to the disk before the state that counts its rows, so that a state never counts a row that is missing.
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

from ..elements import quantity
from ..errors import ResultError

FORMAT = 2
ARRAY_KINDS = "biufcU"  # NumPy type kinds that a state may contain: numbers and text
_MAGIC = b"torsor checkpoint "


def pack(facts, arrays):
    """The content of a state file from facts and arrays."""
    described = [[name, x.dtype.str, list(x.shape)] for name, x in arrays.items()]
    head = json.dumps({"facts": facts, "arrays": described}).encode()
    parts = [np.ascontiguousarray(x).tobytes() for x in arrays.values()]
    body = b"".join([len(head).to_bytes(8, "little"), head, *parts])
    return _MAGIC + b"%d\n" % FORMAT + hashlib.sha256(body).digest() + body


def unpack(content, path):
    """Facts and arrays from the content of a state file."""
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
        return _unpack_body(body)
    except Exception:  # invalid content may raise anything
        raise ResultError(f"{path}: not a checkpoint of torsor, or a damaged one") from None


def _unpack_body(body):
    """Facts and arrays from the bytes after the checksum."""
    start = 8 + int.from_bytes(body[:8], "little")
    head = json.loads(body[8:start])
    arrays = {}
    for name, kind, shape in head["arrays"]:
        kind = np.dtype(kind)
        if not isinstance(name, str) or kind.kind not in ARRAY_KINDS or any(type(n) is not int or n < 0 for n in shape):
            raise ValueError(name)
        arrays[name] = np.frombuffer(body, kind, math.prod(shape), start).reshape(shape).copy()
        start += arrays[name].nbytes
    if start != len(body) or not isinstance(head["facts"], dict):
        raise ValueError("facts")
    return head["facts"], arrays


def read_bytes(path, what):
    """The content of a regular file; what: a description of the file for messages."""
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
    """Replace a file by one with this content, in one step: a reader never finds a part of it."""
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
    """Flush the entries of a folder to the disk, if the operating system supports it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class Journal:
    """Rows of `width` numbers in a file that grows; `count` of them are valid, with the checksum `check`.

    mark   bytes at the start of the file that identify its run
    """

    def __init__(self, path, mark, width, count=0, check=0):
        self.path = path
        self.mark = mark
        self.width = width
        self.count = count
        self.check = check
        self._file: Any = None

    @property
    def size(self):
        """Number of valid bytes."""
        return len(self.mark) + 8 * self.width * self.count

    def facts(self):
        """Width, count and checksum, as a state stores them."""
        return [self.width, self.count, self.check]

    def begin(self):
        """Replace the file by an empty journal."""
        self.remove()
        self._open("w+b")
        self._write(self.mark)

    def verify(self):
        """Raise ResultError if the file is damaged or belongs to another run."""
        for _ in self.blocks(2**22):
            pass

    def append(self, rows):
        """Append rows. They are valid from the next state on."""
        if not len(rows):
            return
        if self._file is None:
            self._open("r+b")
        self._file.seek(self.size)
        self._file.truncate()
        content = np.ascontiguousarray(rows, float).tobytes()
        self._write(content)
        self.count += len(rows)
        self.check = zlib.crc32(content, self.check)

    def _open(self, mode):
        self._file = open(self.path, mode, buffering=0)  # noqa: SIM115  unbuffered: closing writes nothing

    def _write(self, content):
        """Write the content and flush it to the disk."""
        rest = memoryview(content)
        while rest:
            rest = rest[self._file.write(rest) :]
        os.fsync(self._file.fileno())

    def blocks(self, size):
        """Generate the valid rows as arrays of at most `size` bytes. The checksum is compared at the end."""
        try:
            yield from self._blocks(size)
        except ResultError:
            raise
        except OSError as error:
            raise ResultError(f"cannot read {self.path!r}: {error.strerror}") from None

    def _blocks(self, size):
        length = os.path.getsize(self.path) if os.path.exists(self.path) else 0
        if length < self.size:
            raise ResultError(f"{self.path}: damaged: {self.size} bytes were written to it, {length} are there")
        check = 0
        left = self.count
        rows = max(1, size // (8 * max(self.width, 1)))
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
