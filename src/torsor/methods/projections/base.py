"""What keeps a run on its constraints."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Projection:
    """Base: `projects` after each step or not, `baumgarte` in the equations or not, in which metric."""

    kind = "projection"
    projects = False
    baumgarte = False

    @property
    def metric(self) -> Any:
        """In which the least change is taken: "mass" or "plain", or dependent coordinates."""
        return "mass"

    def gains(self, step: float | None) -> tuple[float, float]:
        """α and β of Baumgarte's terms [1/s]."""
        return (0.0, 0.0)
