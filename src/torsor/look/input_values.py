"""The inputs of a simulation by name."""

from collections.abc import Iterator, MutableMapping
from typing import Any

from ..elements import quantity
from ..errors import OptionError
from .current_values import Known, unknown


class Inputs(Known, MutableMapping):
    """The inputs of a simulation by name: `sim.inputs["torque"] = 1.5`."""

    def __init__(self, simulation: Any):
        self._simulation = simulation

    def __getitem__(self, name: str) -> float:
        one = self._simulation
        if name not in self:
            raise OptionError(f"model {one.model.name!r}: {unknown('input', name, one._places)}")
        return float(one._p[one._places[name]])

    def __setitem__(self, name: str, value: float) -> None:
        name = name if isinstance(name, str) else quantity.show(name)
        for place, checked in self._simulation._check_inputs({name: value}):
            self._simulation._stepper.put(place, checked)

    def __delitem__(self, name: str) -> None:
        raise OptionError(f"input {name!r} belongs to the model and cannot be deleted")

    def __iter__(self) -> Iterator[str]:
        return iter(self._simulation._places)

    def __len__(self):
        return len(self._simulation._places)

    def __repr__(self):
        return repr(dict(self))
