"""The memory of a kernel that is a schedule: rooms that are needed at different times share their places.

A room is needed from the first pass that reads or writes something in it to the last. Rooms are taken one behind the other while a
schedule is described; when that is complete, each gets the lowest place where it meets none that is needed at the same time,
the largest room first.
"""

import numpy as np


class Rooms:
    """Rooms in the order in which they were taken.

    size   of all of them, one behind the other
    """

    def __init__(self):
        self.size = 0
        self._first: list[int] = []
        self._sizes: list[int] = []
        self._known: tuple = (None, None)

    def take(self, size):
        """The place of one more room."""
        if size:
            self._first.append(self.size)
            self._sizes.append(size)
            self.size += size
        return self.size - size

    def shared(self, touched):
        """By how much each room moves, and the size of the memory.

        touched   for each pass columns of places that it reads or writes
        """
        state = len(touched), self.size
        if self._known[0] != state:
            self._known = state, self._arranged(touched)
        return self._known[1]

    def placed(self, column, moved):
        """A column of places, after the rooms have moved."""
        if not len(column):
            return column
        low, high = self._of(np.array([column.min(), column.max()]))
        return column + (moved[low] if low == high else moved[self._of(column)])

    def hold(self, places, length):
        """Whether so many numbers, from any of some places on, are in one room."""
        if not len(places) or not length:
            return True
        low, high = self._of(np.array([places.min(), places.max() + length - 1]))
        return bool(low == high or np.array_equal(self._of(places), self._of(places + length - 1)))

    def _of(self, places):
        """The room of each place."""
        return np.maximum(np.searchsorted(self._first, places, side="right") - 1, 0)

    def _arranged(self, touched):
        count = len(self._first)
        first, last = np.full(count, len(touched)), np.full(count, -1)
        for k, columns in enumerate(touched):
            for column in columns:
                rooms = self._met(column)
                first[rooms], last[rooms] = np.minimum(first[rooms], k), k
        found = np.zeros(count, np.int64)
        done: list[int] = []
        for room in sorted(range(count), key=lambda k: (-self._sizes[k], k)):
            meeting = [k for k in done if first[k] <= last[room] and first[room] <= last[k]]
            found[room] = _lowest(self._sizes[room], sorted((found[k], found[k] + self._sizes[k]) for k in meeting))
            done.append(room)
        end = int((found + self._sizes).max(initial=0))
        return np.append(found - self._first, 0).astype(np.int32), end

    def _met(self, column):
        """Rooms in which some places are."""
        if not len(column) or not self._first:
            return np.zeros(0, int)
        low, high = self._of(np.array([column.min(), column.max()]))
        return np.array([low]) if low == high else np.flatnonzero(np.bincount(self._of(column)))


def _lowest(size, taken):
    """The lowest place where so many numbers are free; taken: pairs of a place and where it ends, in their order."""
    at = 0
    for begin, end in taken:
        if begin - at >= size:
            break
        at = max(at, end)
    return at
