"""The state of a simulation at one time: to continue from it, in this process or from a file, or to start another run at it."""

import os
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from ..elements import quantity
from ..errors import OptionError, ResultError
from .environment import OTHER_FUNCTION_MESSAGE
from .journal import pack, read_bytes, replace, unpack

KIND = "state of a simulation"
NAME_LISTS = ("body", "joint_coordinate")  # keys of `names`


@dataclass(frozen=True, eq=False)
class SimulationState:
    """What `Simulation.state` returns. As the start of other runs it gives poses and velocities of bodies, and user states.

    time         [s]
    model_hash   fingerprint of the model
    options      that a simulation must have to continue from this state
    facts, arrays   the complete state of the runner
    names        of bodies and joint coordinates
    motion       poses, velocities, coordinates and rates by name, as in a result
    states       user states by name
    parameters   current values of parameters and inputs by name
    laws         digest of the Python functions of the model; empty if it has none
    trusted      True if the state was never in a file; else it is validated before a simulation continues from it
    """

    MOTION: ClassVar = ("position", "rotation", "velocity", "angular_velocity", "coordinate", "rate")

    time: float
    model_hash: str
    options: dict[str, Any]
    facts: dict[str, Any]
    arrays: dict[str, np.ndarray]
    names: dict[str, list[str]]
    motion: dict[str, np.ndarray]
    states: dict[str, float]
    parameters: dict[str, float] = field(default_factory=dict)
    laws: str = ""
    trusted: bool = False

    def __repr__(self):
        return f"<state at t = {self.time:.9g} s>"

    def refuse_other(self, model_hash, laws, options, name):
        """Raise OptionError if the model, its Python functions, the method or the tolerance differ."""
        begin = "give it as `start` to begin there"
        if model_hash != self.model_hash:
            raise OptionError(f"model {name!r}: the state is that of another model; {begin}")
        if laws != self.laws:
            raise OptionError(f"model {name!r}: the state is that of another model: {OTHER_FUNCTION_MESSAGE}; {begin}")
        for what, value in options.items():
            if self.options.get(what) != value:
                raise OptionError(
                    f"model {name!r}: the state belongs to {what} {self.options.get(what)!r}, not {value!r}; give it as `start` to "
                    "begin there"
                )

    def save(self, path: str | os.PathLike) -> None:
        """Write the state to a file, which `torsor.load_state` reads."""
        arrays = {
            **{f"arrays:{k}": x for k, x in self.arrays.items()},
            **{f"motion:{k}": x for k, x in self.motion.items()},
        }
        facts = {k: x for k, x in asdict(self).items() if k not in ("arrays", "motion", "trusted")}
        if not isinstance(path, (str, os.PathLike)):
            raise ResultError(f"the state cannot be written: give the path of a file, got {quantity.show(path)}")
        try:
            replace(os.fspath(path), pack({"kind": KIND, **facts}, arrays))
        except (OSError, TypeError, ValueError) as error:
            raise ResultError(f"{path!r}: the state cannot be written: {error}") from None

    @classmethod
    def load(cls, path: str | os.PathLike) -> "SimulationState":
        """A state from a file."""
        facts, arrays = unpack(read_bytes(path, "the state"), path)
        if facts.pop("kind", None) != KIND:
            raise ResultError(f"{path}: not the state of a simulation")
        parts: dict[str, Any] = {"arrays": {}, "motion": {}}
        for name, x in arrays.items():
            part, _, own = name.partition(":")
            parts.setdefault(part, {})[own] = x
        names = {each.name for each in fields(cls)} - {"trusted"}
        if not facts.keys() <= names or parts.keys() != {"arrays", "motion"}:
            raise ResultError(f"{path}: not the state of a simulation, or of another version of torsor")
        try:
            state = cls(**facts, **parts)
        except TypeError:
            raise ResultError(f"{path}: the state is incomplete") from None
        state._refuse_invalid(path)
        return state

    def _refuse_invalid(self, path):
        """Raise ResultError if the content of a file is not a valid state."""
        bodies, joints = (self.names.get(what, ()) if isinstance(self.names, dict) else () for what in NAME_LISTS)
        lists = all(isinstance(x, list) and all(isinstance(name, str) for name in x) for x in (bodies, joints))
        values = [self.states, self.parameters]
        plain = all(isinstance(x, dict) and all(isinstance(y, (int, float)) for y in x.values()) for x in values)
        text = isinstance(self.model_hash, str) and isinstance(self.laws, str)
        other = isinstance(self.options, dict) and isinstance(self.facts, dict) and isinstance(self.time, (int, float))
        if not (lists and plain and text and other and np.isfinite(self.time)):
            raise ResultError(f"{path}: the state is damaged, or was changed: a part of it is missing or invalid")
        count = len(bodies)
        shapes: dict[str, tuple] = {name: (count, 3) for name in self.MOTION} | {"rotation": (count, 3, 3)}
        shapes |= {"coordinate": (len(joints),), "rate": (len(joints),)}
        for name, shape in shapes.items():
            x = self.motion.get(name)
            if x is None or x.shape != shape or x.dtype != float or not np.isfinite(x).all():
                raise ResultError(
                    f"{path}: the state is damaged, or was changed: {name} must be {shape} finite numbers"
                )
