"""The kernels of a large manifold as schedules: plain numbers in blocks, rotations and rigid motions by themselves."""

import casadi as ca
import numpy as np

from ..lie import Rn
from .schedule import Schedule
from .tree_schedule import starts

BLOCKS = (128, 8, 1)  # plain numbers that one call moves


class Manifold:
    """A state as pieces: runs of plain numbers, and group elements.

    groups   of the configuration, one after the other, with the kind of each
    """

    def __init__(self, groups, kinds, layout):
        self.layout, self.groups = layout, groups
        size, dimension = (np.array([getattr(g, what) for g in groups])[kinds] for what in ("size", "dimension"))
        curved = np.array([not isinstance(g, Rn) for g in groups])[kinds]
        self.curved = kinds[curved], starts(size)[curved], starts(dimension)[curved]
        q, v = (np.repeat(~curved, sizes) for sizes in (size, dimension))
        rest = layout.x - layout.q
        self.plain = np.flatnonzero(np.r_[q, np.ones(rest, bool)]), np.flatnonzero(np.r_[v, np.ones(rest, bool)])

    def kernels(self, map):
        """retract, advance, differential, and what does nothing where nothing is constrained."""
        moved = lambda group, x, u: group.retract(x, u, map)
        found = {
            "retract": self._stepping("retract", moved),
            "advance": self._stepping("advance", lambda group, x, u: group.tidy(moved(group, x, u))),
            "differential": self._differential(map),
        }
        given = {"t": 1, "x": self.layout.x, "p": self.layout.p, "F": 1}
        found["positions"] = self._copied("positions", given, "x", {"y": self.layout.x, "g": 1})
        found["velocities"] = self._copied("velocities", given, "x", {"y": self.layout.x, "psi": 1})
        found["tangent"] = self._copied("tangent", given | {"e": self.layout.algebra}, "e", {"k": self.layout.algebra})
        return found

    def back(self):
        """Functions of the groups that go back along a step; any map leads to the same place."""
        return [_of(group, lambda x, u, group=group: group.retract(x, -u, "cayley")) for group in self.groups]

    def _stepping(self, name, moved):
        """A step along an element of the algebra."""
        s = Schedule(name, {"x": self.layout.x, "u": self.layout.algebra}, {"y": self.layout.x})
        blocks(s, lambda x, u: x + u, ["x", "u", "y"], [self.plain[0], self.plain[1], self.plain[0]])
        kinds, q, v = self.curved
        if len(kinds):
            own = [_of(group, lambda x, u, group=group: moved(group, x, u)) for group in self.groups]
            s.call(own, ["x", "u", "y"], kinds, [q, v, q])
        return s

    def _differential(self, map):
        s = Schedule(
            "differential", {"u": self.layout.algebra, "xdot": self.layout.algebra}, {"k": self.layout.algebra}
        )
        blocks(s, lambda u, xdot: xdot, ["u", "xdot", "k"], [self.plain[1]] * 3)
        kinds, _, v = self.curved
        if len(kinds):
            own = []
            for group in self.groups:
                u, w = ca.SX.sym("u", group.dimension), ca.SX.sym("w", group.dimension)
                own.append(ca.Function("differential", [u, w], [ca.densify(group.dexp_inverse(u, w, map))]))
            s.call(own, ["u", "xdot", "k"], kinds, [v, v, v])
        return s

    @staticmethod
    def _copied(name, takes, what, gives):
        """What is left as it is; residuals are zero."""
        s, (target, *more) = Schedule(name, takes, gives), gives
        blocks(s, lambda x: x, [what, target], [np.arange(gives[target])] * 2)
        for other in more:
            zero = ca.Function("zero", [ca.SX.sym("t")], [ca.SX.zeros(gives[other])])
            s.call([zero], ["t", other], [0], [[0], [0]])
        return s


def _of(group, moved):
    x, u = ca.SX.sym("x", group.size), ca.SX.sym("u", group.dimension)
    return ca.Function("moved", [x, u], [ca.densify(moved(x, u))])


def blocks(schedule, f, vectors, places):
    """Call f on plain numbers, in blocks where they stand together in every vector."""
    together = np.ones(len(places[0]), bool)
    for at in places:
        together[1:] &= np.diff(at) == 1
    together[:1] = False
    begin = np.flatnonzero(~together)
    left = np.diff(np.r_[begin, len(together)])
    kinds, first = [], []
    for kind, size in enumerate(BLOCKS):
        whole = left // size
        kinds.append(np.full(int(whole.sum()), kind))
        first.append(np.repeat(begin, whole) + size * (np.arange(int(whole.sum())) - np.repeat(starts(whole), whole)))
        begin, left = begin + size * whole, left - size * whole
    classes = []
    for size in BLOCKS:
        given = [ca.SX.sym("x", size) for _ in vectors[1:]]
        classes.append(ca.Function("block", given, [ca.densify(f(*given))]))
    chosen = np.concatenate(first).astype(int)
    schedule.call(classes, vectors, np.concatenate(kinds), [np.asarray(at)[chosen] for at in places])
