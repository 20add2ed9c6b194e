"""The state of a simulation at one moment: to go on from, in this process, another one or a file; or to start another run at."""

import os
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from ..describe import quantity
from ..errors import OptionError, ResultError
from .circumstances import OTHER_LAW
from .journal import pack, read_bytes, replace, unpack

KIND = "state of a simulation"
NAMED = ("body", "joint_coordinate")


@dataclass(frozen=True, eq=False)
class Moment:
    """What `Simulation.state` returns. As a start of other runs it is where bodies are, how they move, and states of the user.

    time         [s]
    model_hash   of the model; `options` that a simulation must share to go on from here
    facts, arrays   all that the further run depends on
    names, motion   of bodies and joint coordinates, and how they move, as in a result
    states       of the user, by name;  parameters: and inputs, as they are now
    laws         digest of the Python functions of the model; empty: it has none
    trusted      whether no file has held it: else it is checked before a simulation goes on from it
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
        told = {k: x for k, x in asdict(self).items() if k not in ("arrays", "motion", "trusted")}
        if not isinstance(path, (str, os.PathLike)):
            raise ResultError(f"the state cannot be written: give the path of a file, got {quantity.show(path)}")
        try:
            replace(os.fspath(path), pack({"kind": KIND, **told}, arrays))
        except (OSError, TypeError, ValueError) as error:
            raise ResultError(f"{path!r}: the state cannot be written: {error}") from None

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Moment":
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
            found = cls(**facts, **parts)
        except TypeError:
            raise ResultError(f"{path}: the state is not whole") from None
        found._refuse_unfit(path)
        return found

    def _refuse_unfit(self, path):
        """An error where what a file holds is no state."""
        bodies, joints = (self.names.get(what, ()) if isinstance(self.names, dict) else () for what in NAMED)
        lists = all(isinstance(x, list) and all(isinstance(name, str) for name in x) for x in (bodies, joints))
        values = [self.states, self.parameters]
        plain = all(isinstance(x, dict) and all(isinstance(y, (int, float)) for y in x.values()) for x in values)
        text = isinstance(self.model_hash, str) and isinstance(self.laws, str)
        other = isinstance(self.options, dict) and isinstance(self.facts, dict) and isinstance(self.time, (int, float))
        if not (lists and plain and text and other and np.isfinite(self.time)):
            raise ResultError(f"{path}: the state is damaged, or was changed: what it tells is not whole")
        count, wide = len(bodies), len(joints)
        shapes: dict[str, tuple] = {name: (count, 3) for name in self.MOTION} | {"rotation": (count, 3, 3)}
        shapes |= {"coordinate": (wide,), "rate": (wide,)}
        for name, shape in shapes.items():
            x = self.motion.get(name)
            if x is None or x.shape != shape or x.dtype != float or not np.isfinite(x).all():
                raise ResultError(
                    f"{path}: the state is damaged, or was changed: {name} must be {shape} finite numbers"
                )
