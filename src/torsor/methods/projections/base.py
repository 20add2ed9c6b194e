"""What keeps a run on its constraints."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from ...formulations.algebra.factorisation import OWN_METRIC
from ...registry import parse_key
from ...source_files import class_digest

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
        """In which the least change is taken: "mass" or "plain", by the "pseudoinverse", dependent coordinates, or its own one
        (`inverse_metrics`), as plain data that identifies it."""
        if type(self).inverse_metrics is Projection.inverse_metrics:
            return "mass"
        options = tuple((field.name, getattr(self, field.name)) for field in fields(self))
        return (OWN_METRIC, self.key, options, class_digest(type(self)))

    def inverse_metrics(self, f: Any, units: list) -> tuple[Any, Any]:
        """The inverses of its own metrics of positions and of velocities, as CasADi matrices in the symbols of a formulation.

        units   units of the velocities: the size of the model for a length, 1 for an angle
        """
        raise NotImplementedError

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
    cls, options = parse_key("projection", given)
    for name in set(options) & {"positions", "velocities"}:  # names of coordinates, joined by +
        options[name] = tuple(part.strip() for part in str(options[name]).split("+"))
    return cls(**options)
