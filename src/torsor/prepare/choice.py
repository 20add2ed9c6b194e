"""The choice that identifies the kernels of a model, as one hashable value: it is the key in memory, on the disk and in
checkpoints."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..formulations.algebra.factorisation import is_partition
from ..formulations.algebra.scales import Scales

SHARE = "share"


@dataclass(frozen=True)
class KernelOptions:
    """Options of a run that its kernels depend on.

    map         "exp" or "cayley"
    baumgarte   True if the equations contain the terms of Baumgarte's stabilisation
    metric      metric of the projection: a name, or names of dependent coordinates
    needs       kernels that the method requires beyond those of every run; `SHARE`: redundant constraints share loads
    """

    map: str = "exp"
    baumgarte: bool = False
    metric: Any = "mass"
    needs: tuple = ()


@dataclass(frozen=True)
class Choice:
    """Everything that kernels depend on besides the model and its formulation.

    map         map from the algebra to the group: "exp" or "cayley"
    baumgarte   True if the constraints are stabilised
    released    places, among the elements that events switch, of those that do not act
    keep        constraint rows in use
    dependent   dependent velocities, in formulations that partition velocities
    metric      metric of the projection: "mass", "plain", "pseudoinverse", ("own", key of a projection, its options, digest of its
                source), or dependent coordinates for positions and velocities
    unit        unit of length
    units       units of rows, by label
    needs       kernels that the method requires beyond those of every run; `SHARE`: redundant constraints share loads
    soft        True: such kernels serve structures whose active rows depend on each other, too
    flagged     True: `keep` contains the rows of all constraints that events switch, and kernels read from p which are active
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
    flagged: bool = False
    soft: bool = False

    @classmethod
    def from_formulation(cls, f, options):
        """The choice that is set on a formulation, or on its numeric form; options: `KernelOptions`."""
        released = tuple(k for k, e in enumerate(f.model.switched_elements) if id(e) in f.released)
        units = tuple(zip(f.scales.rows, f.scales.row_units(f.scales.rows)))
        return cls(
            map=options.map,
            baumgarte=options.baumgarte,
            released=released,
            keep=to_tuples(f.keep),
            dependent=to_tuples(f.dependent),
            metric=to_tuples(f.metric),
            unit=float(f.scales.unit),
            units=units,
            needs=tuple(options.needs),
        )

    @classmethod
    def from_facts(cls, facts):
        """A choice from plain data: the inverse of `facts`."""
        return cls(**{name: to_tuples(x) for name, x in facts.items()})

    @cached_property
    def facts(self):
        """The choice as plain data; read only."""
        return asdict(self)

    @property
    def shares(self):
        """True if redundant constraints share loads."""
        return SHARE in self.needs

    @property
    def partitions(self):
        """True if projections use dependent coordinates."""
        return is_partition(self.metric)

    def set_on(self, f):
        """Set this choice on a copy of a formulation (`Formulation.with_choice`), and return it."""
        f.release([f.model.switched_elements[k] for k in self.released])
        f.keep = to_lists(self.keep)
        f.dependent = to_lists(self.dependent)
        f.metric = self.metric
        f.measure(Scales(length=self.unit, rows=dict(self.units)))
        f.shares = self.shares
        for side in {id(x): x for x in (f, getattr(f, "absolute", f))}.values():
            side.flagged = self.flagged
            side.soft = self.soft
        return f


def to_tuples(x):
    """Convert lists into tuples, recursively."""
    return tuple(to_tuples(y) for y in x) if isinstance(x, (list, tuple)) else x


def to_lists(x):
    """Convert tuples into lists, recursively."""
    return [to_lists(y) for y in x] if isinstance(x, tuple) else x


def close_two_sided(model, p):
    """p, or rows of it, with every two-sided constraint closed on its first side: while it is open it has no rows."""
    place = model.input_layout.place
    p = np.array(p)
    for c in model.constraints:
        for k, side in enumerate(getattr(c, "sides", ())):
            p[..., place(side)] = float(k == 0)
    return p
