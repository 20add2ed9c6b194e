"""The scales of a model, with which all decisions about rank, residuals and noise compare.

Velocities are divided by units of length before linear and angular ones are compared, so that the decisions depend neither on
the size of a mechanism nor on its masses:

    v = C v̂,      C = L for a linear velocity, L/ℓ for an angular one                                (1)
    the unit of a row is the length of its row of G C with ℓ = L, while its bodies are free          (2)

L   size of the model [m]
ℓ   lever of a body: largest distance from its centre of mass to a point where something is attached [m]
"""

from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from ...lie import se3

EXTENT_NEGLIGIBLE = 1e-3  # extent / radius of gyration, below which the radius of gyration is the size
UNIT_BASE = 1024.0  # units of kernels are powers of this: scaling is exact, and models of ordinary size are not scaled


@dataclass
class Scales:
    """The scales as plain data, which are stored with a system."""

    length: float = 1.0  # L
    levers: dict = field(default_factory=dict)  # ℓ by name of the body; the default is L
    rows: dict = field(default_factory=dict)  # (2) by label of the row; the default is computed from the row
    rate: float = 0.0  # rate of the given motions or of motions under gravity [1/s]

    def columns(self, f):
        """C of a formulation: (1)."""
        levers = [self.levers.get(name, self.length) for name in f.moved_bodies()]
        return np.where(np.array(f.linear(), bool), self.length, self.length / np.array(levers, float))

    def plain(self, f):
        """C with ℓ = L."""
        return np.where(np.array(f.linear(), bool), self.length, 1.0)

    @property
    def unit(self):
        """Unit of length of the kernels [m]."""
        return nearest_unit(self.length)

    def row_units(self, labels):
        """Units of rows of the kernels."""
        return [nearest_unit(self.rows.get(label, 1.0)) for label in labels]


def nearest_unit(x):
    """The nearest power of `STEP`."""
    return UNIT_BASE ** round(np.log(x) / np.log(UNIT_BASE)) if x > 0 else 1.0


def geometric_measures(model):
    """Expressions of parameters and time from which the scales of a model are computed.

    These are all points of elements that may act, in the reference configuration; for each body the largest distance
    from its centre of mass
    to an attached point, and its radius of gyration; and the magnitude of gravity.
    """
    points = [b.start_position for b in [*model.bodies, *model.grounds]]
    reach = {id(body): ca.SX(0) for body in model.bodies}
    for c in filter(model.may_act, model.constraints):
        ends: tuple[Any, Any] = (getattr(c, "first", None), getattr(c, "second", None))
        for body, local in zip(ends, getattr(c, "placed", None) or ()):
            arm = se3.split_pose(local)[1]
            points.append(body.start_position + body.start_rotation @ arm)
            if id(body) in reach:
                reach[id(body)] = ca.fmax(reach[id(body)], ca.sqrt(ca.sumsqr(arm)))
    gyration = [ca.SX(0) if b.particle else ca.sqrt(ca.trace(b.inertia) / 2 / b.mass) for b in model.bodies]
    return [ca.horzcat(*points), ca.vertcat(*reach.values()), ca.vertcat(*gyration), ca.sqrt(ca.sumsqr(model.gravity))]


def scales(model, points, reach, gyration, gravity):
    """Scales from the values of `geometric_measures`, as columns or arrays."""
    columns = [np.reshape(x, (1, -1, 1)) for x in (reach, gyration, gravity)]
    length, levers, rate = sizes(points[None], *columns)
    return Scales(float(length[0]), dict(zip([b.name for b in model.bodies], levers[0].tolist())), rate=float(rate[0]))


def sizes(points, reach, gyration, gravity):
    """Size of a model, levers of its bodies and the rate of motions under gravity, for many values of parameters.

    The arguments are the values of `geometric_measures`, one row for each set of parameters. The size of a model is its extent in
    the reference configuration; the largest radius of gyration if all points coincide; 1 if that is zero, too.
    """
    sides = np.ptp(points, axis=2).T
    largest = gyration.max(axis=(1, 2))
    extent = np.sqrt(sides[0] * sides[0] + sides[1] * sides[1] + sides[2] * sides[2])
    length = np.where(extent > EXTENT_NEGLIGIBLE * largest, extent, np.where(largest > 0, largest, 1.0))
    levers = np.where(reach > EXTENT_NEGLIGIBLE * gyration, reach, gyration)[:, :, 0]
    levers = np.where(levers > 0, np.minimum(levers, length[:, None]), length[:, None])
    g = gravity[:, 0, 0]
    rate = np.where(np.isfinite(g), np.sqrt(np.where(np.isfinite(g), g, 0.0) / length), 0.0)
    return length, levers, rate
