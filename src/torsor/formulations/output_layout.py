"""Layout of a row of outputs, by name."""

from itertools import accumulate
from typing import Any


class OutputLayout:
    """Names and sizes of the outputs of a run, and their slices of a row.

    parts    (name, size) of each output, in their order
    slices   by name
    size     length of a row
    """

    def __init__(self, parts: Any):
        self.parts = [(name, int(size)) for name, size in parts]
        ends = list(accumulate((size for _, size in self.parts), initial=0))
        self.slices = {name: slice(first, end) for (name, _), first, end in zip(self.parts, ends, ends[1:])}
        self.size = ends[-1]

    def split(self, rows: Any) -> dict[str, Any]:
        """The outputs of rows by name; views, whose last dimension is the size of the output."""
        return {name: rows[..., part] for name, part in self.slices.items()}

    def first(self, name: str) -> int:
        """The place where an output begins."""
        return self.slices[name].start

    def name_and_index(self, place: int) -> tuple[str, int]:
        """The output that a place of a row belongs to, and the index of the place in it."""
        for name, part in self.slices.items():
            if part.start <= place < part.stop:
                return name, place - part.start
        raise IndexError(place)
