"""The rate of a large tree as a schedule: the three passes of the articulated-body recursion over classes of links."""

import casadi as ca
import numpy as np

from ..describe.quantity import time
from .classes import INERTIA, Turned, classes_of, numbers_of
from .schedule import Schedule

LARGE = 64  # links from which a tree is run through a table: there its code takes longer to compile than it saves


def fits(f):
    """Whether the accelerations of a tree can be computed by classes: a large one, without constraints, whose roots stand
    still, and without efforts or states that follow from accelerations."""
    roots = [f.motion.base(link) for link in f.links if link.parent is None]
    plain = not (f.rows or f.implicit or f.model.states or f.first_kind or any(root.moves for root in roots))
    return plain and len(f.links) > LARGE


def rate_of_tree(f, layout):
    """The kernel `rate` of a tree as a schedule; None where its geometry contains parameters."""
    numbers = [numbers_of(link) for link in f.links]
    if any(x is None for x in numbers):
        return None
    return _Recursion(f, layout, np.array(numbers)).schedule


class _Recursion:
    """The three passes, and what comes before and after them."""

    def __init__(self, f, layout, numbers):
        self.f, self.layout, self.n = f, layout, len(f.links)
        takes = {"t": 1, "x": layout.x, "p": layout.p, "F": 1, "gains": 2}
        self.schedule = s = Schedule("rate", takes, gives={"xdot": layout.algebra, "lam": 0})
        self.turned = turned = Turned(f.links, numbers)
        self._roots()
        self._applied()
        self.classes, self.kinds = classes_of(f.links, turned, self.applied is not None)
        own = [self.classes[k] for k in self.kinds]
        self.data = np.array([s.keep(row[c.data]) for row, c in zip(turned.numbers, own)])
        self.q, self.v = (_starts([getattr(x.group, what) for x in f.links]) for what in ("size", "dimension"))
        self.w, self.acceleration, self.up = (self._rooms([size] * self.n) for size in (3, 6, INERTIA))
        self.kept, self.solved = (self._rooms([getattr(c, what) for c in own]) for what in ("kept", "solved"))
        self._passes()

    def _rooms(self, sizes):
        """Places of as many blocks of memory."""
        return self.schedule.room(sum(sizes)) + _starts(sizes)

    def _roots(self):
        """Motion of the grounds, and zeros for what nothing is added to."""
        s, roots = self.schedule, {id(root): root for root in map(self.f.motion.base, self.f.links) if root is not None}
        self.zeros = s.room(INERTIA)
        none = ca.Function("none", [time], [ca.SX.zeros(INERTIA)])
        s.call([none], ["t", "memory"], [0], [[0], [self.zeros]])
        self.roots = {}
        for key, root in roots.items():
            self.roots[key] = s.room(3), s.room(6)
            results = [ca.densify(root.w), ca.densify(ca.vertcat(root.alpha, root.a))]
            own = ca.Function("root", [time, self.f.p], results)
            s.call([own], ["t", "p", "memory", "memory"], [0], [[0], [0], *([place] for place in self.roots[key])])

    def _of_state(self, name, column):
        """A column of the state as a function of t, x and p."""
        x = ca.SX.sym("x", self.layout.x)
        q, v = x[: self.layout.q], x[self.layout.q : self.layout.q + self.layout.v]
        column = ca.substitute(self.f.placed(column), ca.vertcat(self.f.q, self.f.v), ca.vertcat(q, v))
        return ca.Function(name, [time, x, self.f.p], [ca.cse(ca.densify(column))])

    def _applied(self):
        """Where the applied forces of every link are: a wrench, and those along its joint. None where there are none."""
        f, wrenches, along = self.f, self.f.wrenches(), self.f.driving()
        self.applied = None
        loaded = [x for x in f.links if id(x) in wrenches or ca.sparsify(along[id(x)]).nnz()]
        if not loaded:
            return
        none = (ca.SX.zeros(3), ca.SX.zeros(3))
        into = lambda x, wrench: (ca.DM(self.turned.Q[id(x)]).T @ y for y in wrench)
        columns = [ca.vertcat(*into(x, wrenches.get(id(x), none)), along[id(x)]) for x in loaded]
        places = dict(zip(map(id, loaded), self._rooms([c.shape[0] for c in columns])))
        own = self._of_state("applied", ca.vertcat(*columns))
        self.schedule.call([own], ["t", "x", "p", "memory"], [0], [[0], [0], [0], [places[id(loaded[0])]]])
        self.applied = np.array([places.get(id(x), self.zeros) for x in f.links])

    def _above(self, of_links, which):
        """For each link the place of something of its parent, or of its root."""
        links, base = self.f.links, self.f.motion.base
        return np.array(
            [of_links[k] if k >= 0 else self.roots[id(base(x))][which] for x, k in zip(links, self.parents)]
        )

    def _passes(self):
        s, n, layout, back = self.schedule, self.n, self.layout, np.arange(self.n)[::-1]
        place = {id(link): k for k, link in enumerate(self.f.links)}
        self.parents = [place.get(id(link.parent), -1) for link in self.f.links]
        beyond, before = np.full(n, self.zeros), np.full(n, self.zeros)
        for k in back:  # in the order in which they are handed on
            if self.parents[k] >= 0:
                before[k], beyond[self.parents[k]] = beyond[self.parents[k]], self.up[k]
        loads = [] if self.applied is None else [self.applied]
        call = lambda what, order, *vectors: s.call(
            [getattr(c, what) for c in self.classes],
            [v for v, _ in vectors],
            self.kinds[order],
            [at[order] for _, at in vectors],
        )
        x, data, kept = ("x", self.q), ("constants", self.data), ("memory", self.kept)
        call(
            "outward", np.arange(n), x, ("x", layout.q + self.v), data, ("memory", self._above(self.w, 0)), kept,
            ("memory", self.w), ("xdot", self.v),
        )  # fmt: skip
        call(
            "inward", back, x, data, kept, ("memory", beyond), ("memory", before), *[("memory", at) for at in loads],
            ("memory", self.up), ("memory", self.solved),
        )  # fmt: skip
        call(
            "finish", np.arange(n), x, data, kept, ("memory", self.solved), ("memory", self._above(self.acceleration, 1)),
            ("memory", self.acceleration), ("xdot", layout.v + self.v),
        )  # fmt: skip
        self._power()

    def _power(self):
        """Power of forces without potential, where there are any: the last number of ẋ."""
        power, place = ca.sparsify(self.f.absolute.loads.power), 2 * self.layout.v
        if power.nnz():
            own = self._of_state("power", power)
            self.schedule.call([own], ["t", "x", "p", "xdot"], [0], [[0], [0], [0], [place]])
        else:
            self.schedule.call([ca.Function("none", [time], [ca.SX.zeros(1)])], ["t", "xdot"], [0], [[0], [place]])


def _starts(sizes):
    return np.cumsum([0, *sizes])[:-1]
