"""The scales of a model: what is small in it. Everything that decides about rank, residuals or noise asks here.

Velocities are made dimensionless (per time) before lengths and angles are compared, so that a mechanism of any size and
mass behaves as its copy of size 1, and no decision looks at inertia:

    v = C v̂,      C = L for a velocity along, L/ℓ for a rate of turning                              (1)
    the unit of a row is the length of its row of G C with ℓ = L, while its bodies are free          (2)

L   size of the model [m]
ℓ   lever of a body: how far from its centre of mass something is attached to it [m]
"""

from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from ..lie import se3

POINT = 1e-3  # extent over radius of gyration, below which a model sits at one point as far as its size goes
STEP = 1024.0  # units of kernels are powers of this: scaling is exact, and an ordinary model is not scaled at all


@dataclass
class Scales:
    """Plain data, so that a stored system can keep it."""

    length: float = 1.0  # L
    levers: dict = field(default_factory=dict)  # ℓ per body; L where it is not known
    rows: dict = field(default_factory=dict)  # (2) per label of a row; the row itself tells where it is not known
    rate: float = 0.0  # of motions that are given or that gravity causes [1/s]

    def columns(self, f):
        """C of a formulation: (1)."""
        levers = [self.levers.get(name, self.length) for name in f.carried()]
        return np.where(np.array(f.linear(), bool), self.length, self.length / np.array(levers, float))

    def plain(self, f):
        """C with ℓ = L."""
        return np.where(np.array(f.linear(), bool), self.length, 1.0)

    @property
    def unit(self):
        """Unit of length of the kernels [m]."""
        return rounded(self.length)

    def row_units(self, labels):
        """Units of rows of the kernels."""
        return [rounded(self.rows.get(label, 1.0)) for label in labels]


def rounded(x):
    """The nearest power of `STEP`."""
    return STEP ** round(np.log(x) / np.log(STEP)) if x > 0 else 1.0


def measured(model):
    """What the scales of a model follow from, in symbols of its parameters and time: all points that it mentions, in the
    reference configuration; per body how far from its centre something is attached to it, and its radius of gyration; and
    the strength of gravity."""
    points = [b.start_position for b in [*model.bodies, *model.grounds]]
    reach = {id(body): ca.SX(0) for body in model.bodies}
    for c in model.constraints:
        ends: tuple[Any, Any] = (getattr(c, "first", None), getattr(c, "second", None))
        for body, local in zip(ends, getattr(c, "placed", None) or ()):
            arm = se3.split_pose(local)[1]
            points.append(body.start_position + body.start_rotation @ arm)
            if id(body) in reach:
                reach[id(body)] = ca.fmax(reach[id(body)], ca.sqrt(ca.sumsqr(arm)))
    gyration = [ca.SX(0) if b.particle else ca.sqrt(ca.trace(b.inertia) / 2 / b.mass) for b in model.bodies]
    return [ca.horzcat(*points), ca.vertcat(*reach.values()), ca.vertcat(*gyration), ca.sqrt(ca.sumsqr(model.gravity))]


def scales(model, points, reach, gyration, gravity):
    """Scales from the numbers of `measured`, columns of them or plain arrays."""
    columns = [np.reshape(x, (1, -1, 1)) for x in (reach, gyration, gravity)]
    length, levers, rate = sizes(points[None], *columns)
    return Scales(float(length[0]), dict(zip([b.name for b in model.bodies], levers[0].tolist())), rate=float(rate[0]))


def sizes(points, reach, gyration, gravity):
    """Size of a model, levers of its bodies and the rate of motions under gravity, from the numbers of `measured` for many
    values of parameters: one row each.

    The size of a model is its extent at the start, or where all of it sits at one point the largest radius of gyration; 1 where
    nothing has a size."""
    along, largest = np.ptp(points, axis=2).T, gyration.max(axis=(1, 2))
    extent = np.sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2])
    length = np.where(extent > POINT * largest, extent, np.where(largest > 0, largest, 1.0))
    own = np.where(reach > POINT * gyration, reach, gyration)[:, :, 0]
    levers = np.where(own > 0, np.minimum(own, length[:, None]), length[:, None])
    pull = gravity[:, 0, 0]
    return length, levers, np.where(np.isfinite(pull), np.sqrt(np.where(np.isfinite(pull), pull, 0.0) / length), 0.0)
