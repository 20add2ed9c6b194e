"""What keeps a run on its constraints."""

from dataclasses import dataclass
from typing import Any

from ...errors import OptionError
from ...registry import lookup


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
    key, _, rest = str(given).partition(":")
    cls = lookup("projection", key)
    options: dict[str, Any] = {}
    for item in filter(None, rest.split(",")):
        name, equals, value = item.partition("=")
        if not equals:
            raise OptionError(f"projection {given!r}: write options as NAME=VALUE, got {item!r}")
        try:
            options[name.strip()] = float(value)
        except ValueError:
            options[name.strip()] = value.strip()
        if name.strip() in ("positions", "velocities"):  # names of coordinates, joined by +
            options[name.strip()] = tuple(part.strip() for part in value.split("+"))
    known = list(cls.__dataclass_fields__)
    for name in options:
        if name not in known:
            raise OptionError(f"projection {key!r}: unknown option {name!r}. Known: {', '.join(known)}.")
    return cls(**options)
