"""Memory of a kernel that is a schedule: blocks that are needed at different times share storage.

A block is live from the first pass that reads or writes it to the last. While a schedule is described, blocks are allocated one
after the other. When the description is complete, each block gets the lowest offset at which it overlaps no block that is live
at the same time; the largest block is placed first.
"""

import numpy as np


class MemoryBlocks:
    """Blocks in the order of their allocation.

    size   total size without sharing
    """

    def __init__(self):
        self.size = 0
        self._first: list[int] = []
        self._sizes: list[int] = []
        self._cache: tuple = (None, None)

    def allocate(self, size):
        """The offset of a new block."""
        if size:
            self._first.append(self.size)
            self._sizes.append(size)
            self.size += size
        return self.size - size

    def share_storage(self, accesses):
        """The shift of each block, and the size of the memory with sharing.

        accesses   for each pass the columns of offsets that it reads or writes
        """
        state = len(accesses), self.size
        if self._cache[0] != state:
            self._cache = state, self._assign_offsets(accesses)
        return self._cache[1]

    def shift_offsets(self, column, shifts):
        """A column of offsets after the blocks have been shifted."""
        if not len(column):
            return column
        low, high = self._block_of(np.array([column.min(), column.max()]))
        return column + (shifts[low] if low == high else shifts[self._block_of(column)])

    def contain(self, offsets, length):
        """True if `length` numbers from each offset on lie inside one block."""
        if not len(offsets) or not length:
            return True
        low, high = self._block_of(np.array([offsets.min(), offsets.max() + length - 1]))
        return bool(low == high or np.array_equal(self._block_of(offsets), self._block_of(offsets + length - 1)))

    def _block_of(self, offsets):
        """The index of the block of each offset."""
        return np.maximum(np.searchsorted(self._first, offsets, side="right") - 1, 0)

    def _assign_offsets(self, accesses):
        count = len(self._first)
        first = np.full(count, len(accesses))
        last = np.full(count, -1)
        for k, columns in enumerate(accesses):
            for column in columns:
                blocks = self._accessed_blocks(column)
                first[blocks] = np.minimum(first[blocks], k)
                last[blocks] = k
        offsets = np.zeros(count, np.int64)
        done: list[int] = []
        for block in sorted(range(count), key=lambda k: (-self._sizes[k], k)):
            live = [k for k in done if first[k] <= last[block] and first[block] <= last[k]]
            taken = sorted((offsets[k], offsets[k] + self._sizes[k]) for k in live)
            offsets[block] = _lowest_free_offset(self._sizes[block], taken)
            done.append(block)
        end = int((offsets + self._sizes).max(initial=0))
        return np.append(offsets - self._first, 0).astype(np.int32), end

    def _accessed_blocks(self, column):
        """Indices of the blocks that contain the offsets of a column."""
        if not len(column) or not self._first:
            return np.zeros(0, int)
        low, high = self._block_of(np.array([column.min(), column.max()]))
        return np.array([low]) if low == high else np.flatnonzero(np.bincount(self._block_of(column)))


def _lowest_free_offset(size, taken):
    """The lowest offset at which `size` numbers are free; taken: sorted pairs of begin and end."""
    offset = 0
    for begin, end in taken:
        if begin - offset >= size:
            break
        offset = max(offset, end)
    return offset
