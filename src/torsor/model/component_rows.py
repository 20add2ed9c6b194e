"""Rows of equal components: what each of them is called, where it sits, and its parameters."""

from collections.abc import Sequence

import numpy as np

from ..elements import quantity
from ..errors import ModelError

MOST = 10**6  # instances in a row


class Row:
    """Names, places, rotations and parameters of the instances in a row, one after the other.

    at           of the first, three numbers or expressions; or for each: an array (n, 3) or a function of the index
    pitch        the way from each to the next, added to `at`
    rotation     of all, or a function of the index
    parameters   for all, or for each: a list of n, or a function of the index
    """

    def __init__(self, name, count, at, rotation, pitch, parameters):
        self.name, self.owner = name, f"instances {name!r}"
        whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
        if not whole or not 1 <= count <= MOST:
            raise ModelError(f"{self.owner}: count must be a whole number from 1 to {MOST}, got {quantity.show(count)}")
        self.count, self.rotation = int(count), rotation
        self.at = self._per_instance(at, "at", 2)
        self.pitch = None if pitch is None else quantity.given(pitch, 3, 1, "pitch", self.owner)
        self.parameters = {key: self._per_instance(value, key, 1) for key, value in parameters.items()}

    def __iter__(self):
        for k in range(self.count):
            name = f"{self.name}{k}"
            rotation = self._evaluate(self.rotation, k, "rotation") if callable(self.rotation) else self.rotation
            parameters = {key: self._of(value, k, key) for key, value in self.parameters.items()}
            yield name, self._place(k), rotation, parameters

    def _place(self, k):
        at = self._of(self.at, k, "at")
        if self.pitch is None:
            return at
        return quantity.given(at, 3, 1, "at", f"instance {self.name + str(k)!r}") + k * self.pitch

    def _per_instance(self, given, what, dimensions):
        """What is given for each, as a list; else as it was given. Refused where it is not one for each."""
        listed = isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, str)
        if not listed or np.ndim(np.array(given, dtype=object)) != dimensions:
            return given
        if len(given) != self.count:
            raise ModelError(
                f"{self.owner}: {what} has {len(given)} rows for {self.count} instances; give one for each"
            )
        return list(given)

    def _of(self, given, k, what):
        if callable(given):
            return self._evaluate(given, k, what)
        return given[k] if isinstance(given, list) else given

    def _evaluate(self, function, k, what):
        """What a function of the index says; whatever goes wrong in it, as an error that names the instance."""
        try:
            return function(k)
        except Exception as error:
            raise ModelError(
                f"instance {self.name + str(k)!r}: {what} cannot be found from its index: {type(error).__name__}: {error}"
            ) from error
