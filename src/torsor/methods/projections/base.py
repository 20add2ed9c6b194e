"""What keeps a run on its constraints."""

from dataclasses import dataclass
from typing import Any

from ...registry import configured


@dataclass(frozen=True)
class Projection:
    """Base: `projects` after each step or not, with how many `corrections` (0: as many as it needs), `baumgarte` in the
    equations or not, in which metric."""

    kind = "projection"
    projects = False
    corrections = 0
    baumgarte = False

    @property
    def metric(self) -> Any:
        """In which the least change is taken: "mass" or "plain", by the "pseudoinverse", or dependent coordinates."""
        return "mass"

    def gains(self, step: float | None) -> tuple[float, float]:
        """α and β of Baumgarte's terms [1/s]."""
        return (0.0, 0.0)


def projection_of(given):
    """A projection from its key, its key with options, or itself."""
    if isinstance(given, Projection):
        return given
    cls, options = configured("projection", given)
    for name in set(options) & {"positions", "velocities"}:  # names of coordinates, joined by +
        options[name] = tuple(part.strip() for part in str(options[name]).split("+"))
    return cls(**options)
