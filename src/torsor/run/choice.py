"""What is chosen about the kernels of a model, as one value: it says which kernels are meant, here, on the disk and in
checkpoints."""

from dataclasses import asdict, dataclass
from functools import cached_property

from ..formulations.scales import Scales

SHARE = "share"


@dataclass(frozen=True)
class Choice:
    """All that varies where the model and its formulation are given.

    map, baumgarte   of the group, and whether the constraints are stabilised
    released         places among the elements that events switch, of those that do not act
    keep             rows in use
    dependent        velocities that follow from others, in formulations that split them
    metric           of the projection: "mass", "plain", "pseudoinverse", or dependent coordinates for positions and for velocities
    unit, units      of lengths, and of rows by label
    needs            kernels that a method asks for beyond those of every run; `SHARE`: redundant constraints share loads
    """

    map: str
    baumgarte: bool
    released: tuple
    keep: tuple
    dependent: tuple
    metric: str | tuple
    unit: float
    units: tuple
    needs: tuple = ()

    @classmethod
    def of(cls, f, map, baumgarte, needs=()):
        """What is written on a formulation, or on its numeric face."""
        released = tuple(k for k, e in enumerate(f.model.switched) if id(e) in f.released)
        units = tuple(zip(f.scales.rows, f.scales.row_units(f.scales.rows)))
        chosen = frozen(f.keep), frozen(f.dependent), frozen(f.metric)
        return cls(map, baumgarte, released, *chosen, float(f.scales.unit), units, tuple(needs))

    @classmethod
    def restored(cls, facts):
        """From plain data."""
        return cls(**{name: frozen(x) for name, x in facts.items()})

    @cached_property
    def facts(self):
        """As plain data; nobody changes it."""
        return asdict(self)

    @property
    def shares(self):
        """Whether redundant constraints share loads."""
        return SHARE in self.needs

    @property
    def partitions(self):
        """Whether dependent coordinates are chosen for projections."""
        return isinstance(self.metric, tuple)

    def write(self, f):
        """Write it on a formulation, or on its numeric face. Returns that."""
        f.release([f.model.switched[k] for k in self.released])
        f.keep, f.dependent, f.metric = thawed(self.keep), thawed(self.dependent), self.metric
        f.measure(Scales(length=self.unit, rows=dict(self.units)))
        f.shares = self.shares
        return f


def frozen(x):
    """Lists as tuples, in tuples too."""
    return tuple(frozen(y) for y in x) if isinstance(x, (list, tuple)) else x


def thawed(x):
    return [thawed(y) for y in x] if isinstance(x, tuple) else x
