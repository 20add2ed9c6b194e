"""Tables in memory, as native code reads them: found by their number, searched without a memory of earlier searches.

An axis knows its breaks and, for equal parts of its range, some for each break, how many breaks lie before each part (`guide`).
The part that a number u lies in follows from one product; within it breaks are bisected.

    part(u) = ⌊(u − b₀) · parts / range⌋,      place(u) = number of breaks b ≤ u                          (1)

Rounding in `part` is harmless: it is the same for breaks and for u, and it keeps their order. Where breaks are equally spaced, or
nearly so, there is a part between each two, whose number is the place but for one, and no guide. The search then takes the same
time for ten points and for a million. A place beyond the last one is that of what is no number.

Where a table has one argument, each break stands in front of the row that begins at it, and rows begin where lines of the
processor's cache do or fit evenly into them: the break that is looked at last then brings the row along from memory.

The number of a table is made of its content, so that it is the same in every process.
"""

import hashlib

import numpy as np

AXIS = np.dtype(
    [
        ("breaks", np.int64),
        ("apart", np.int64),
        ("guide", np.int64),
        ("count", np.int64),
        ("parts", float),
        ("first", float),
        ("scale", float),
    ]
)
RECORD = np.dtype(
    [("rows", np.int64), ("apart", np.int64), ("columns", np.int64), ("axes", AXIS, (2,))]
)  # apart: bytes from one break or row to the next;   columns: pieces of the second axis
LINE = 64  # bytes that a processor fetches from memory at once
PARTS = 4  # for each break: in most of them then lies none, and nothing is left to search
EVEN = 0.25  # of the spacing: how far breaks that count as equally spaced may be off
_KNOWN: dict[float, "Stored"] = {}


class Axis:
    """The breaks of one argument, in increasing order."""

    def __init__(self, breaks):
        self.breaks = np.ascontiguousarray(breaks, float)
        count, width, self.first = len(self.breaks), float(np.ptp(self.breaks)), float(self.breaks[0])
        even = np.abs(np.linspace(self.first, self.breaks[-1], count) - self.breaks).max() < EVEN * width / (count - 1)
        self.parts = count - 1 if even else PARTS * count
        self.scale = min(self.parts / width, np.finfo(float).max)
        self.guide = None if even else self._guide()
        self.at = self.breaks  # where native code finds them

    def _guide(self):
        part = np.clip(np.floor((self.breaks - self.first) * self.scale), 0, self.parts - 1).astype(np.int64)  # (1)
        return np.concatenate([[0], np.cumsum(np.bincount(part, minlength=self.parts))]).astype(np.int32)

    @property
    def pieces(self):
        """How many places there are: one more than breaks, and that of what is no number."""
        return len(self.breaks) + 2

    def place(self, u):
        """The number of the piece that each u lies in."""
        found = np.searchsorted(self.breaks, u, side="right")
        return np.where(np.isnan(u), len(self.breaks) + 1, found)

    def record(self):
        guide = 0 if self.guide is None else self.guide.ctypes.data
        return (
            self.at.ctypes.data,
            self.at.strides[0],
            guide,
            len(self.breaks),
            self.parts,
            self.first,
            self.scale,
        )


class Stored:
    """Rows of numbers (`pieces`), by the place of one or two arguments: origins, then coefficients.

    axes   one or two
    rows   one for each place (of two axes: the second's within the first's); the last of an axis are not numbers
    """

    def __init__(self, axes, rows, content):
        self.axes, self.content, self.width = axes, content, rows.shape[1]
        if len(axes) == 1:
            lined = _align_to_cache(len(rows), 1 + self.width)
            axes[0].at = lined[1 : 1 + len(axes[0].breaks), 0]
            axes[0].at[:] = axes[0].breaks
            self.rows = lined[:, 1 : 1 + self.width]
            self.rows[:] = rows
        else:
            self.rows = np.ascontiguousarray(rows, float)
        self.record = np.zeros(1, RECORD)
        self.record["rows"], self.record["apart"] = self.rows.ctypes.data, self.rows.strides[0]
        self.record["columns"] = axes[-1].pieces
        for k, axis in enumerate(axes):
            self.record["axes"][0, k] = axis.record()

    @property
    def address(self):
        return self.record.ctypes.data

    def rows_at(self, *u):
        """The rows at arguments: arrays of the same shape."""
        places = [axis.place(x) for axis, x in zip(self.axes, u)]
        return self.rows[places[0] if len(places) == 1 else places[0] * self.axes[1].pieces + places[1]]


def _align_to_cache(rows, width):
    """Room for rows of numbers of which none lies in more lines of the cache than it must."""
    numbers = LINE // 8
    width = 1 << (width - 1).bit_length() if width <= numbers else -(-width // numbers) * numbers
    space = np.empty(rows * width + numbers)
    first = -space.ctypes.data // 8 % numbers
    return space[first : first + rows * width].reshape(rows, width)


def number_of(*parts):
    """A whole number, exact as a double, that stands for some arrays and words."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes()
        state.update(f"{len(data)}:".encode() + data)
    return float(int.from_bytes(state.digest()[:6]) + 2**20)  # no small number, as others in an expression are


def keep(number, make):
    """The stored table of this number; made, and kept as long as this process lasts, where it is not known: expressions hold the
    number only."""
    return _KNOWN[number] if number in _KNOWN else _KNOWN.setdefault(number, make())


def stored_table(number):
    """The table of a number; None where this process has none."""
    return _KNOWN.get(float(number))


def has_tables():
    """Whether this process has any table."""
    return bool(_KNOWN)
