"""Records that are set to zero again and again: where their numbers and arrays are is found once."""

import numpy as np

from ..kernels.record import COUNT, REAL, Array


class Blank:
    """Zero everywhere in some records, as `Record.clear` has it, as long as they hold the arrays that they held at first."""

    def __init__(self, *records):
        self.words, self.arrays = [], []
        for record in records:
            numbers = [name for name, kind in record.fields.items() if kind in (REAL, COUNT)]
            self.words.append((record.words(), np.array([record.offset(name) // 8 for name in numbers], np.int64)))
            arrays = [getattr(record, name) for name, kind in record.fields.items() if isinstance(kind, Array)]
            self.arrays += [x if x.dtype.names is None else x.view(np.int64) for x in arrays if x.size]

    def __call__(self):
        for words, places in self.words:
            words[places] = 0
        for array in self.arrays:
            array.fill(0)
