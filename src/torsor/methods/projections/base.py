"""What keeps a run on its constraints."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ...registry import configured

AS_POSITIONS: Any = None  # a threshold of velocities that is not given


@dataclass(frozen=True)
class Projection:
    """Base: `projects` after each step or not, with how many `corrections` (0: as many as it needs), above which `threshold` of
    violation, `baumgarte` in the equations or not, in which metric.

    stages     module and name of the step by which explicit methods project their stages, too; None: they do not
    """

    kind = "projection"
    key: ClassVar[str] = "projection"
    projects = False
    corrections = 0
    stages: ClassVar[tuple[str, str] | None] = None
    baumgarte = False
    threshold = 0.0
    velocity_threshold = AS_POSITIONS

    @property
    def metric(self) -> Any:
        """In which the least change is taken: "mass" or "plain", by the "pseudoinverse", or dependent coordinates."""
        return "mass"

    def gains(self, step: float | None) -> tuple[float, ...]:
        """α and β of Baumgarte's terms [1/s]; where two more follow, they are those of rows that stop rotations alone."""
        return (0.0, 0.0)

    def all_gains(self, step: float | None) -> tuple[float, ...]:
        """α and β, and those of rows that stop rotations alone."""
        found = tuple(self.gains(step))
        return found if len(found) == 4 else found * 2


def projection_of(given):
    """A projection from its key, its key with options, or itself."""
    if isinstance(given, Projection):
        return given
    cls, options = configured("projection", given)
    for name in set(options) & {"positions", "velocities"}:  # names of coordinates, joined by +
        options[name] = tuple(part.strip() for part in str(options[name]).split("+"))
    return cls(**options)
