"""The state of a simulation at one moment: to go on from, in this process, another one or a file; or to start another run at."""

import os
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..errors import OptionError, ResultError
from .circumstances import OTHER_LAW
from .journal import pack, replace, unpack

KIND = "state of a simulation"


@dataclass(frozen=True, eq=False)
class Moment:
    """What `Simulation.state` returns. As a start of other runs it is where bodies are, how they move, and states of the user.

    time         [s]
    model_hash   of the model; `options` that a simulation must share to go on from here
    facts, arrays   all that the further run depends on
    names, motion   of bodies and joint coordinates, and how they move, as in a result
    states       of the user, by name;  parameters: and inputs, as they are now
    laws         digest of the Python functions of the model; empty: it has none
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

    def __repr__(self):
        return f"<state at t = {self.time:.9g} s>"

    def refuse_other(self, model_hash, laws, options, name):
        """Refuse to go on with another model, Python function, method or tolerance."""
        begin = "give it as `start` to begin there"
        if model_hash != self.model_hash:
            raise OptionError(f"model {name!r}: the state is that of another model; {begin}")
        if laws != self.laws:
            raise OptionError(f"model {name!r}: the state is that of another model: {OTHER_LAW}; {begin}")
        for what, value in options.items():
            if self.options.get(what) != value:
                raise OptionError(
                    f"model {name!r}: the state belongs to {what} {self.options.get(what)!r}, not {value!r}; give it as `start` to "
                    "begin there"
                )

    def save(self, path: str | os.PathLike) -> None:
        """Write it to a file, which `torsor.load_state` reads."""
        arrays = {
            **{f"arrays:{k}": x for k, x in self.arrays.items()},
            **{f"motion:{k}": x for k, x in self.motion.items()},
        }
        told = {k: x for k, x in asdict(self).items() if k not in ("arrays", "motion")}
        try:
            replace(os.fspath(path), pack({"kind": KIND, **told}, arrays))
        except (OSError, TypeError, ValueError) as error:
            raise ResultError(f"{path}: the state cannot be written: {error}") from None

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Moment":
        """A state from a file."""
        try:
            with open(path, "rb") as file:
                content = file.read()
        except (OSError, TypeError, ValueError) as error:
            raise ResultError(f"{path}: the state cannot be read: {error}") from None
        facts, arrays = unpack(content, path)
        if facts.pop("kind", None) != KIND:
            raise ResultError(f"{path}: not the state of a simulation")
        for name, x in arrays.items():
            part, _, own = name.partition(":")
            facts.setdefault(part, {})[own] = x
        return cls(**facts)
