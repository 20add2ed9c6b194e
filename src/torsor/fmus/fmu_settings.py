"""What an instance of an FMU is made with, and how it is made ready: as plain data, so that every process can do it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .fmi_calls import Group, Instance
from .fmu_file import FmuFile, open_fmu


@dataclass(frozen=True)
class Settings:
    """An FMU with its parameters, and what is exchanged with it.

    parameters   pairs of a name and a number or a text; numbers in SI units
    inputs, outputs   names
    """

    owner: str
    path: str
    digest: str
    interface: str
    parameters: tuple[tuple[str, Any], ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    timeout: float = 60.0
    extrapolation: int = 0
    name: str = "fmu"

    @cached_property
    def fmu(self) -> FmuFile:
        return open_fmu(self.path, self.owner)

    @property
    def facts(self) -> Any:
        """What the description says about the interface."""
        return self.fmu.interfaces[self.interface]

    def group(self, names: tuple[str, ...]) -> Group:
        return Group([self.fmu.variables[name] for name in names])

    def start(self, t: float, inputs: np.ndarray | None) -> Instance:
        """An instance in initialization mode, with its parameters and inputs; the caller ends that mode."""
        made = Instance(self.fmu, self.interface, self.name, self.owner)
        for name, value in self.parameters:
            variable = self.fmu.variables[name]
            if isinstance(value, str):
                made.write_text(variable, value)
            else:
                made.write(Group([variable]), np.array([value]))
        made.enter_initialization(t)
        if inputs is not None and self.inputs:
            made.write(self.group(self.inputs), inputs)
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "fmu"}
