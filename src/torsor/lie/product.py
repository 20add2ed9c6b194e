"""The direct product of groups."""

from dataclasses import dataclass
from itertools import accumulate

import casadi as ca

from ..registry import register
from .groups import SE3, SO3, Group, Rn
from .numeric import returns


@register("product")
@dataclass(frozen=True, init=False)
class Product(Group):
    """The direct product of groups. Elements, coordinates and velocities are stacked in the order of the groups.

    >>> body_and_joint = Product(SE3(), Rn(1))
    >>> body_and_joint.dimension, body_and_joint.size
    (7, 13)
    """

    groups: tuple

    def __init__(self, *groups):
        object.__setattr__(self, "groups", groups)

    @classmethod
    def examples(cls):
        return (cls(SO3(), Rn(2), SE3()),)

    @property
    def dimension(self):
        return sum(group.dimension for group in self.groups)

    @property
    def size(self):
        return sum(group.size for group in self.groups)

    def blocks(self, x):
        """The parts of a flat element that belong to each group."""
        return _split_lengths(x, [group.size for group in self.groups])

    def algebra_blocks(self, u):
        """The parts of coordinates or velocities that belong to each group."""
        return _split_lengths(u, [group.dimension for group in self.groups])

    @returns("vector")
    def identity(self):
        return ca.vertcat(*(ca.DM(group.identity()) for group in self.groups))

    @returns("vector")
    def compose(self, x, y):
        return ca.vertcat(*(g.compose(a, b) for g, a, b in zip(self.groups, self.blocks(x), self.blocks(y))))

    @returns("vector")
    def inverse(self, x):
        return ca.vertcat(*(g.inverse(a) for g, a in zip(self.groups, self.blocks(x))))

    @returns("vector")
    def exp(self, u, map="exp"):
        return ca.vertcat(*(g.exp(a, map) for g, a in zip(self.groups, self.algebra_blocks(u))))

    @returns("vector")
    def log(self, x, map="exp"):
        return ca.vertcat(*(g.log(a, map) for g, a in zip(self.groups, self.blocks(x))))

    @returns("vector")
    def dexp_inverse(self, u, w, map="exp"):
        pairs = zip(self.groups, self.algebra_blocks(u), self.algebra_blocks(w))
        return ca.vertcat(*(g.dexp_inverse(a, b, map) for g, a, b in pairs))

    @returns("matrix")
    def Ad(self, x):
        return ca.diagcat(*(g.Ad(a) for g, a in zip(self.groups, self.blocks(x))))

    @returns("matrix")
    def ad(self, u):
        return ca.diagcat(*(g.ad(a) for g, a in zip(self.groups, self.algebra_blocks(u))))

    @returns("matrix")
    def axes(self, x):
        return ca.diagcat(*(g.axes(a) for g, a in zip(self.groups, self.blocks(x))))

    @returns("vector")
    def transport_momentum(self, x, y, m):
        parts = zip(self.groups, self.blocks(x), self.blocks(y), self.algebra_blocks(m))
        return ca.vertcat(*(g.transport_momentum(a, b, c) for g, a, b, c in parts))

    @returns("vector")
    def tidy(self, x):
        return ca.vertcat(*(g.tidy(a) for g, a in zip(self.groups, self.blocks(x))))


def _split_lengths(x, lengths):
    """Consecutive parts of x with the given lengths."""
    ends = list(accumulate(lengths))
    return [x[end - length : end, :] if length else type(x)(0, 1) for end, length in zip(ends, lengths)]
