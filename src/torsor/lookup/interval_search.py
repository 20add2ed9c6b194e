"""Tables in memory, as native code reads them. A table is found by its number; a search does not depend on earlier ones.

The range of an axis is divided into equal parts, a few for each break. `guide` contains the number of breaks before each part.
The part that contains a number u follows from one product; within it breaks are bisected.

    part(u) = ⌊(u − b₀) · parts / range⌋,      place(u) = number of breaks b ≤ u                          (1)

Rounding in `part` has no effect: it is the same for breaks and for u, and monotonic. Equally spaced breaks, or nearly so, have
one part between two breaks and need no guide: the number of the part differs from the place by one at most. The search time is
then independent of the number of points. NaN has a place of its own, after the last one.

In a table of one argument each break is stored in front of the row of its piece, and rows are aligned to the lines of the
processor's cache: the last break that is compared and its row are then read from memory together.

The number of a table is a digest of its content, so that it is the same in every process.
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
PARTS = 4  # parts of the range for each break: most parts then contain no break, and need no bisection
EVEN = 0.25  # deviation of a break / spacing, below which breaks count as equally spaced
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
        self.at = self.breaks  # the array from which native code reads them

    def _guide(self):
        part = np.clip(np.floor((self.breaks - self.first) * self.scale), 0, self.parts - 1).astype(np.int64)  # (1)
        return np.concatenate([[0], np.cumsum(np.bincount(part, minlength=self.parts))]).astype(np.int32)

    @property
    def pieces(self):
        """Number of places: one more than breaks, and the place of NaN."""
        return len(self.breaks) + 2

    def place(self, u):
        """Return the number of the piece that contains each u."""
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
    """A table in memory: one row of numbers (origins, then coefficients) for each place of one or two arguments.

    axes   one or two
    rows   one for each place (with two axes, places of the second vary fastest); the row of the last place is NaN
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
        """Return the rows at arguments, which are arrays of the same shape."""
        places = [axis.place(x) for axis, x in zip(self.axes, u)]
        return self.rows[places[0] if len(places) == 1 else places[0] * self.axes[1].pieces + places[1]]


def _align_to_cache(rows, width):
    """Allocate rows of numbers, each of which occupies as few lines of the cache as possible."""
    numbers = LINE // 8
    width = 1 << (width - 1).bit_length() if width <= numbers else -(-width // numbers) * numbers
    space = np.empty(rows * width + numbers)
    first = -space.ctypes.data // 8 % numbers
    return space[first : first + rows * width].reshape(rows, width)


def number_of(*parts):
    """Compute a digest of arrays and words, as a whole number that a double represents exactly."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes()
        state.update(f"{len(data)}:".encode() + data)
    return float(int.from_bytes(state.digest()[:6]) + 2**20)  # larger than ordinary numbers in expressions


def keep(number, make):
    """Return the table of this number. An unknown one is made and kept as long as the process lasts, because expressions refer to
    it by its number only."""
    return _KNOWN[number] if number in _KNOWN else _KNOWN.setdefault(number, make())


def stored_table(number):
    """Return the table of a number; None if this process has none."""
    return _KNOWN.get(float(number))


def has_tables():
    """True if this process has any table."""
    return bool(_KNOWN)
