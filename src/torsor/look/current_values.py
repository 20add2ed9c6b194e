"""What a simulation shows of its present state: variables as a dataset holds them, by name, as NumPy values."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from ..elements import quantity
from ..errors import OptionError
from .dataset import MOTION_VARIABLES

JOINT = ("coordinate", "rate", "coordinate_acceleration")
REACTION_NAMES = ("reaction_force", "reaction_torque")


class Known(Mapping):
    """Values by name; an unknown name is refused with the names that there are."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in list(self)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default


class Named(Known):
    """Numbers by name, and as an array in the order of the names: `numpy.asarray(named)`."""

    def __init__(self, places: Mapping[str, Any], array: np.ndarray, names: list[str]):
        self._places, self.array, self.names = places, array, names

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str) or name not in self._places:
            raise OptionError(unknown("coordinate", name, self._places))
        return self.array[self._places[name]]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._places

    def __setitem__(self, name: str, value: Any) -> None:
        raise OptionError(
            f"{name!r} follows from the motion and cannot be set to {quantity.show(value)}: `reset` of a Simulation begins "
            "in another state, `inputs` and forces move it"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self):
        return len(self.names)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype=dtype)

    def __repr__(self):
        return f"{dict(zip(self.names, self.array.tolist()))}"


def unknown(what, name, known):
    """What to say of a name that is none."""
    close = get_close_matches(name, list(known), n=1) if isinstance(name, str) else []
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"unknown {what} {quantity.show(name)}.{hint} Known: {', '.join(list(known)[:30]) or 'none'}."


class Present:
    """Where in a row of outputs everything is.

    signals        by name, also those of one body or joint, as in "bob.position": where, and in which shape; the name of a joint
                   alone is its coordinate
    coordinates    of joints by name: places in the row of coordinates
    """

    def __init__(self, system):
        self.system = system
        self.coordinates = vectors(system.joint_coordinates)
        self.signals = self._signals()

    def part(self, name, row):
        """A part of the layout."""
        return row[self.system.outputs.slices[name]].copy()

    def _signals(self):
        system, bodies = self.system, len(self.system.bodies)
        found: dict[str, Any] = {}
        for name, part in system.outputs.slices.items():
            places = np.arange(part.start, part.stop)
            if name == "rotation":
                found[name] = places.reshape(bodies, 3, 3).transpose(0, 2, 1)  # stored column by column
            elif name in MOTION_VARIABLES:
                found[name] = places.reshape(bodies, 3)
            elif name in REACTION_NAMES:
                found[name] = places.reshape(-1, 3)
            elif name == "signals":
                found |= {k: part.start + where for k, where in vectors(system.signals).items()}
            else:
                found[name] = places if name in JOINT or name == "multiplier" else part.start
        return self._of_one(found) | found

    def _of_one(self, found):
        """Signals of one body or joint."""
        own: dict[str, Any] = {}
        for name in ("rotation", *MOTION_VARIABLES):
            own |= {f"{body}.{name}": found[name][k] for k, body in enumerate(self.system.bodies)}
        for name in REACTION_NAMES:
            own |= {f"{joint}.{name}": found[name][k] for k, joint in enumerate(self.system.connections)}
        for name in JOINT:
            own |= {f"{joint}.{name}": found[name][where] for joint, where in self.coordinates.items()}
        return own | {joint: found["coordinate"][where] for joint, where in self.coordinates.items()}

    def value(self, name, row):
        """The value of a signal."""
        if name == "energy":
            return float(row[self.signals["kinetic_energy"]] + row[self.signals["potential_energy"]])
        if not isinstance(name, str) or name not in self.signals:
            raise OptionError(unknown("signal", name, {"time": 0, "energy": 0, "work": 0, **self.signals}))
        found = row[self.signals[name]]
        return found if isinstance(found, np.ndarray) else float(found)


def vectors(labels):
    """Places of labels by name, those of a vector (as in "spring[0]") also together by the name of it."""
    places: dict[str, Any] = {label: k for k, label in enumerate(labels)}
    whole: dict[str, list] = {}
    for label, k in places.items():
        if label.endswith("]"):
            whole.setdefault(label.rpartition("[")[0], []).append(k)
    return {name: np.array(where) for name, where in whole.items() if name not in places} | places
