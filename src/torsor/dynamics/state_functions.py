"""Functions of one state or of many: a fast path for one state in plain arrays, and the general path with all checks.

The fast path copies the arguments into arrays whose addresses the kernels already have, so that a call costs about two
microseconds beyond the kernels. Arguments of any other kind, wrong ones included, take the general path, which broadcasts,
converts and reports errors.
"""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..kernels.library import Kernel

FLOAT = np.dtype(np.float64)
NUMBERS = {float, int}  # types of the numbers in a list or a tuple that are copied without conversion
INFINITE = float("inf")
EMPTY = (0,)


class StateFunction:
    """One function of a compiled model, for one state or for arrays of states.

    inputs    names of its arguments, in their order, as in "t q v p"
    starts    by name of an argument: a function that returns its value where it is None
    steps     kernels that are called one after the other, as tuples (kernel, names of its inputs, names of its outputs)
    result    name of the output that is returned, and a function that returns a view of it with the shape of the result
    general   function of the same arguments, for everything that is not one state in plain arrays
    """

    def __init__(
        self,
        inputs: str,
        starts: dict[str, Callable[[], Any]],
        steps: list[tuple[Any, str, str]],
        result: tuple[str, Callable[[np.ndarray], np.ndarray]],
        general: Callable[..., Any],
    ):
        self.names = inputs.split()
        self.starts = [starts.get(name) for name in self.names]
        self.steps = [(kernel, taken.split(), given.split()) for kernel, taken, given in steps]
        self.result = result
        self.general = general
        self.native = all(isinstance(k, Kernel) and k._waiting is nullcontext for k, _, _ in self.steps)
        self.spare: list[Arrays] = []  # taken and returned by each call, so that threads never share arrays

    def __call__(self, *values: Any) -> np.ndarray:
        if not self.native:
            return self.general(*values)
        arrays = self.spare.pop() if self.spare else Arrays(self)
        found = None
        for value, start, (slot, shape) in zip(values, self.starts, arrays.slots):
            if value is None and start is not None:
                if shape == EMPTY:
                    continue
                value = start()
            kind = type(value)
            if kind is np.ndarray:
                if value.dtype is not FLOAT or value.shape != shape:
                    break
                slot[...] = value
            elif kind is float and shape == ():
                slot[...] = value
            elif (kind is tuple or kind is list) and shape == (len(value),) and {*map(type, value)} <= NUMBERS:
                slot[...] = value
            else:
                break
        else:
            if arrays.all.dot(arrays.all) < INFINITE:  # False for numbers that are not finite
                for function, addresses in arrays.calls:
                    function(*addresses)
                found = arrays.result.copy()
        self.spare.append(arrays)
        return self.general(*values) if found is None else found


class Arrays:
    """The arrays of one call: all arguments in one vector, outputs and work arrays, and the addresses of all of them."""

    def __init__(self, function: StateFunction):
        sizes: dict[str, int] = {name: 0 for name in function.names}
        for kernel, taken, _ in function.steps:
            for i, name in enumerate(taken):
                if name in sizes:
                    sizes[name] = kernel.size_in(i)
        sizes["t"] = 1
        self.all = np.empty(sum(sizes.values()))
        bounds = np.cumsum([0, *sizes.values()])
        named = {name: self.all[a:b] for name, a, b in zip(sizes, bounds, bounds[1:])}
        self.slots = [(named[n].reshape(()), ()) if n == "t" else (named[n], named[n].shape) for n in function.names]
        self.calls = []
        self.alive = []
        for kernel, taken, given in function.steps:
            named |= {name: np.empty(max(kernel.size_out(i), 1)) for i, name in enumerate(given)}
            arrays = [named[name] for name in (*taken, *given)] + [kernel.work()]
            self.alive.append(arrays)
            self.calls.append((kernel._function, tuple(x.ctypes.data for x in arrays)))
        name, view = function.result
        self.result = view(named[name])
