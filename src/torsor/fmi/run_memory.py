"""The records of a run as one block of memory, which an FMU copies for each of its instances.

The block consists of words of 8 bytes. Addresses of records and arrays are places in the block, which an instance turns into
addresses when it is made; addresses of code are numbers of functions.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..kernels.records import COUNT, REAL, Array
from ..kernels.signatures import SIGNATURES

WORD = 8  # bytes


@dataclass
class Memory:
    """A block of memory and what has to be known of it.

    words      its contents; 0 where an address belongs
    addresses  (place, place in the block whose address belongs there)
    code       (place, name of the function whose address belongs there)
    fields     place of each number, and of the first number of each array, by the path of the record: "state.time"
    """

    words: list = field(default_factory=list)
    addresses: list = field(default_factory=list)
    code: list = field(default_factory=list)
    fields: dict = field(default_factory=dict)


def memory_of_run(runner: Any, kernels: list, steps: dict, method_step: str) -> Memory:
    """The memory of a runner with events.

    kernels       for each structure the names of its kernels; others are not called
    steps         names of functions by their address, of steps of events with code of their own
    method_step   name of the function that takes a step
    """
    copier = _Copier(kernels, {"method.step": method_step}, steps)
    copier.record(runner.run_, "")
    memory = copier.memory
    memory.addresses.append((memory.fields["here"], 0))
    memory.words[memory.fields["here"]] = 0
    return memory


class _Copier:
    def __init__(self, kernels, code, steps):
        self.kernels = kernels
        self.memory = Memory()
        self.code = code
        self.steps = steps
        self.known: dict[int, int] = {}  # place by address, of records and arrays

    def record(self, record, path):
        """Copy a record with everything that it holds. Returns its place."""
        if record.address in self.known:
            return self.known[record.address]
        place = self._append(np.frombuffer(record._memory, np.int64))
        self.known[record.address] = place
        words = self.memory.words
        for name, kind in record.fields.items():
            at = place + record.offset(name) // WORD
            full = f"{path}{name}"
            if kind in (REAL, COUNT):
                self.memory.fields[full] = at
                if full in self.code:
                    words[at] = 0
                    self.memory.code.append((at, self.code[full]))
                continue
            words[at] = 0
            target = (
                self._array(record, name, full)
                if isinstance(kind, Array)
                else self.record(getattr(record, name), f"{full}.")
            )
            if target is not None:
                self.memory.addresses.append((at, target))
        return place

    def _array(self, record, name, path):
        """Copy an array. Returns its place; None if it is empty."""
        array = getattr(record, name)
        if array.size == 0:
            return None
        address = array.ctypes.data
        if address in self.known:
            self.memory.fields[path] = self.known[address]
            return self.known[address]
        place = self._append(array.view(np.int64).ravel())
        self.known[address] = self.memory.fields[path] = place
        if path == "kernels":
            self._kernels(array, place)
        elif path == "program.steps":
            for k, step in enumerate(array.tolist()):
                self.memory.words[place + k] = 0
                self.memory.code.append((place + k, self.steps[step]))
        return place

    def _kernels(self, table, place):
        """Addresses of kernels: the function `call_<structure>_<kernel>`."""
        width = table.dtype.itemsize // WORD
        for row in range(len(table)):
            for name in SIGNATURES:
                at = place + row * width + table.dtype.fields[name][1] // WORD
                present, self.memory.words[at] = self.memory.words[at] != 0, 0
                if present and name in self.kernels[row]:
                    self.memory.code.append((at, f"call_{row}_{name}"))

    def _append(self, words):
        place = len(self.memory.words)
        self.memory.words += words.tolist()
        return place
