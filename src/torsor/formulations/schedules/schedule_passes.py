"""The passes of a schedule (`schedule.py`) as data: rows that call classes, exchanges, pairs of shapes, ends of an iteration."""

from typing import NamedTuple

import numpy as np

# the vectors of a schedule besides its inputs and outputs
MEMORY = "memory"
CONSTANTS = "constants"
SEARCH_OPERATIONS = 200  # of a search for pairs, for each row


class Pass(NamedTuple):
    """Rows that call classes with arguments and results in the same vectors.

    columns   first the class of each row, then for each argument and result the offsets of all rows
    """

    classes: list
    vectors: list
    columns: np.ndarray

    def text(self):
        """What the native code of the pass depends on, as text."""
        return f"{self.vectors} {[f.serialize() for f in self.classes]}"

    def operation_count(self, operations):
        """Operations of the pass; operations: those of each class."""
        return np.dot(np.bincount(self.columns[0], minlength=len(self.classes)), operations)

    def memory_columns(self):
        """Indices of the columns that contain offsets into the memory."""
        return [k + 1 for k, vector in enumerate(self.vectors) if vector == MEMORY]


class Exchange(NamedTuple):
    """A pass in which ranks exchange numbers.

    columns   one column: the offset of the numbers, then how many of them each rank contributes
    """

    vectors: list
    columns: np.ndarray
    classes: tuple = ()

    def text(self):
        """What the native code of the pass depends on, as text."""
        return f"exchange {self.vectors} {len(self.columns)}"

    def operation_count(self, operations):
        return 0

    def memory_columns(self):
        """Index of the row that contains an offset into the memory."""
        return [0] if self.vectors == [MEMORY] else []


class PairPass(NamedTuple):
    """A pass that calls classes for pairs of rows that a search finds (`lookup/pair_records.py`), the lower number first.

    classes   functions (motion, motion, data, data, common numbers) → what is added to both sums, and to a common one
    kinds     pairs of kinds that the classes are for
    columns   the kind of each row; offsets of its motion, data, sums and facts; then, the same for all rows: offsets of the common
              numbers, of the common sum, of the memory of the search, and of the results of a class
    sizes     how many numbers are added to the sums of a row, and to the common sum
    """

    classes: list
    kinds: tuple
    columns: np.ndarray
    sizes: tuple
    vectors: tuple = (MEMORY, CONSTANTS, MEMORY, CONSTANTS, CONSTANTS, MEMORY, MEMORY, MEMORY)

    def text(self):
        """What the native code of the pass depends on, as text."""
        return f"pairs {self.kinds} {self.sizes} {[f.serialize() for f in self.classes]}"

    def operation_count(self, operations):
        """Operations of the pass if each row touches one other."""
        return self.columns.shape[1] * (SEARCH_OPERATIONS + max(operations, default=0))

    def memory_columns(self):
        """Indices of the columns that contain offsets into the memory."""
        return [k + 1 for k, vector in enumerate(self.vectors) if vector == MEMORY]


class IterationBegin(NamedTuple):
    """The pass before the first one of an iteration. It has no rows."""

    columns: np.ndarray = np.zeros((0, 1), np.int32)
    vectors: tuple = ()
    classes: tuple = ()

    def text(self):
        """What the native code of the pass depends on, as text."""
        return "iteration"

    def operation_count(self, operations):
        return 0

    def memory_columns(self):
        """There are no offsets."""
        return []


class IterationEnd(NamedTuple):
    """The pass after the last one of an iteration: it changes the numbers y, and repeats the passes unless e(y) = y.

    begin     index of the pass with which the iteration begins
    vectors   of y, of e, and of the work memory
    columns   offsets of these, and last how many numbers y there are
    """

    begin: int
    vectors: list
    columns: np.ndarray
    classes: tuple = ()

    def text(self):
        """What the native code of the pass depends on, as text."""
        return f"repeat {self.begin} {self.vectors}"

    def operation_count(self, operations):
        return 0

    def memory_columns(self):
        """Indices of the rows that contain offsets into the memory."""
        return [k for k, vector in enumerate(self.vectors) if vector == MEMORY]


WITHOUT_CLASSES = Exchange, IterationBegin, IterationEnd
