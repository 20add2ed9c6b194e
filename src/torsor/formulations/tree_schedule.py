"""The rate of a large tree as a schedule: the three passes of the articulated-body recursion over classes of links."""

import casadi as ca
import numpy as np

from ..describe import quantity
from ..describe.quantity import time
from .classes import INERTIA, Turned, classes_of, whole_rows
from .plain_tree import PlainTree
from .schedule import Constants, Schedule

LARGE = 64  # links from which a tree is run through a table: there its code takes longer to compile than it saves


def fits(f):
    """Whether the accelerations of a tree can be computed by classes: a large one, without constraints, whose roots stand
    still, and without efforts or states that follow from accelerations."""
    roots = [f.motion.base(link) for link in f.links if link.parent is None]
    plain = not (f.rows or f.implicit or f.model.states or f.first_kind or any(root.moves for root in roots))
    return plain and len(f.links) > LARGE


def rate_of_tree(f, layout):
    """The kernel `rate` of a formulation in joint coordinates as a schedule; None where its geometry contains parameters."""
    tree = PlainTree(f.model)
    return None if tree.numbers is None else Recursion(Turned(tree), layout, f).schedule


class Recursion:
    """The three passes, and what comes before and after them.

    turned   the links
    f        the formulation, for what is applied to them; None: nothing is but forces along joints
    passes   of the system, which tell these; None: there are none
    """

    def __init__(self, turned, layout, f=None, passes=None):
        self.turned, self.tree, self.layout, self.f, self.n = turned, turned.tree, layout, f, turned.tree.n
        takes = {"t": 1, "x": layout.x, "p": layout.p, "F": 1, "gains": 4}
        gives, constants = {"xdot": layout.algebra, "lam": 0}, passes.constants if passes else Constants()
        self.schedule = s = Schedule("rate", takes, gives, constants)
        self._roots()
        self.power = None
        self._applied()
        if passes is not None and passes.system.acting:
            self._along(passes)
        self.classes, self.kinds = classes_of(turned, self.applied is not None)
        self.data = kept_numbers(constants, turned.numbers, self.kinds, [c.data for c in self.classes])
        self.q, self.v = (starts(self.tree.sizes(what)) for what in ("size", "dimension"))
        self.w, self.acceleration, self.up = (rooms(s, np.full(self.n, size)) for size in (3, 6, INERTIA))
        self.kept, self.solved = (
            rooms(s, np.array([getattr(c, what) for c in self.classes])[self.kinds]) for what in ("kept", "solved")
        )
        self._passes()

    def _roots(self):
        """Motion of the grounds, and zeros for what nothing is added to."""
        s, model, hung = self.schedule, self.tree.model, np.flatnonzero(self.tree.parents < 0).tolist()
        self.zeros = s.room(INERTIA)
        none = ca.Function("none", [time], [ca.SX.zeros(INERTIA)])
        s.call([none], ["t", "memory"], [0], [[0], [self.zeros]])
        grounds = {id(ground): ground for ground in map(self.tree.ground, hung)}
        at = dict(zip(grounds, rooms(s, np.full(len(grounds), 6))))
        inputs = ca.vertcat(*model.inputs, ca.SX(0, 1))
        R = ca.SX.sym("R", 3, 3)
        falling = lambda R: ca.densify(ca.vertcat(ca.SX.zeros(3), -(R.T @ model.gravity)))
        still = {k: g.path[1] for k, g in grounds.items() if g.path[1].is_constant()}
        if still:
            own = ca.Function("root", [time, inputs, ca.vec(R)], [falling(R)])
            turns = [s.keep(quantity.numbers(x).ravel(order="F")) for x in still.values()]
            first = np.zeros(len(still), int)
            s.call([own], ["t", "p", "constants", "memory"], first, [first, first, turns, [at[k] for k in still]])
        for k in set(grounds) - set(still):
            own = ca.Function("root", [time, inputs], [falling(grounds[k].path[1])])
            s.call([own], ["t", "p", "memory"], [0], [[0], [0], [at[k]]])
        self.roots = {k: (self.zeros, at[id(self.tree.ground(k))]) for k in hung}

    def _of_state(self, name, column):
        """A column of the state as a function of t, x and p."""
        x = ca.SX.sym("x", self.layout.x)
        q, v = x[: self.layout.q], x[self.layout.q : self.layout.q + self.layout.v]
        column = ca.substitute(self.f.placed(column), ca.vertcat(self.f.q, self.f.v), ca.vertcat(q, v))
        return ca.Function(name, [time, x, self.f.p], [ca.cse(ca.densify(column))])

    def _applied(self):
        """Where the applied forces of every link are: a wrench, and those along its joint. None where there are none."""
        self.applied = None
        if self.f is None:
            return
        f, wrenches, along = self.f, self.f.wrenches(), self.f.driving()
        loaded = [(k, x) for k, x in enumerate(f.links) if id(x) in wrenches or ca.sparsify(along[id(x)]).nnz()]
        if not loaded:
            return
        none = (ca.SX.zeros(3), ca.SX.zeros(3))
        into = lambda k, wrench: (ca.DM(self.turned.Q[k]).T @ y for y in wrench)
        columns = [ca.vertcat(*into(k, wrenches.get(id(x), none)), along[id(x)]) for k, x in loaded]
        places = rooms(self.schedule, [c.shape[0] for c in columns])
        own = self._of_state("applied", ca.vertcat(*columns))
        self.schedule.call([own], ["t", "x", "p", "memory"], [0], [[0], [0], [0], [places[0]]])
        self.applied = np.full(self.n, self.zeros)
        self.applied[[k for k, _ in loaded]] = places

    def _along(self, passes):
        """Forces along joints, of which everything is a number, as what is applied to the links: no wrench, and these."""
        s = self.schedule
        _, along, (self.power, _) = passes.along(s)
        links = np.flatnonzero(along >= 0)
        size = self.tree.sizes("dimension")[links]
        places, none = rooms(s, 6 + size), np.zeros(len(links), int)
        s.call([ca.Function("none", [time], [ca.SX.zeros(6)])], ["t", "memory"], none, [none, places])
        for n in np.unique(size).tolist():
            x, own = ca.SX.sym("x", n), np.flatnonzero(size == n)
            at = along[links[own]]
            s.call(
                [ca.Function("along", [x], [x])], ["memory", "memory"], np.zeros(len(own), int), [at, places[own] + 6]
            )
        self.applied = np.full(self.n, self.zeros)
        self.applied[links] = places

    def _above(self, of_links, which):
        """For each link the place of something of its parent, or of its root."""
        found = of_links[self.tree.parents]
        for k, places in self.roots.items():
            found[k] = places[which]
        return found

    def _passes(self):
        s, n, layout, back = self.schedule, self.n, self.layout, np.arange(self.n)[::-1]
        before, beyond = handed_on(self.tree.parents, self.up, self.zeros)
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
        power = ca.sparsify(ca.SX(0) if self.f is None else self.f.absolute.loads.power)
        place = 2 * self.layout.v
        if self.power is not None:
            P = ca.SX.sym("P")
            self.schedule.call([ca.Function("power", [P], [P])], ["memory", "xdot"], [0], [[self.power], [place]])
        elif power.nnz():
            own = self._of_state("power", power)
            self.schedule.call([own], ["t", "x", "p", "xdot"], [0], [[0], [0], [0], [place]])
        else:
            self.schedule.call([ca.Function("none", [time], [ca.SX.zeros(1)])], ["t", "xdot"], [0], [[0], [place]])


def handed_on(parents, own, zeros):
    """Where each link finds the sum of what its siblings handed on before it, and where the sum of all beyond it is; links hand
    on from the last to the first, each adding its own to the sum."""
    before, beyond = np.full(len(parents), zeros), np.full(len(parents), zeros)
    for k in range(len(parents) - 1, -1, -1):
        if parents[k] >= 0:
            before[k], beyond[parents[k]] = beyond[parents[k]], own[k]
    return before, beyond


def kept_numbers(constants, numbers, kinds, data):
    """Places of the constants of every row: those of its numbers that are data of its class. Rows that are equal share them."""
    at = np.zeros(len(kinds), int)
    for kind, columns in enumerate(data):
        rows = np.flatnonzero(kinds == kind)
        at[rows] = kept_rows(constants, numbers[np.ix_(rows, columns)])
    return at


def kept_rows(constants, rows):
    """Places of rows of constants; those that are equal are kept once, in the order in which they first occur."""
    rows = np.ascontiguousarray(rows, float)
    if not rows.size:
        return np.zeros(len(rows), int)
    _, first, which = np.unique(whole_rows(rows), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), int)
    rank[order] = np.arange(len(first))
    return constants.keep(rows[first[order]]) + rows.shape[1] * rank[which.ravel()]


def rooms(schedule, sizes):
    """Places of as many blocks of memory."""
    return schedule.room(np.sum(sizes)) + starts(sizes)


def starts(sizes):
    """Where blocks of these sizes begin, one behind the other."""
    ends = np.cumsum(np.asarray(sizes, int))
    return ends - sizes if len(ends) else ends
