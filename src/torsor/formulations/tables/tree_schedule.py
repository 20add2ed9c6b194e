"""The rate of a large tree as a schedule: the three passes of the articulated-body recursion over classes of links."""

import os

import casadi as ca
import numpy as np

from ...elements import quantity
from ...elements.quantity import time
from ...errors import OptionError
from ..schedules.schedule import Constants, Schedule
from .numeric_tree import NumericTree
from .recursion_classes import INERTIA, AlignedLinks, build_classes, rows_as_bytes

TABLES_ABOVE = "TORSOR_TABLES_ABOVE"  # environment variable: number of bodies above which class kernels are used
DEFAULT_TABLES_ABOVE = 64  # straight-line code of larger models would take longer to compile than it saves


def is_large(count):
    """True if a model with this number of bodies is run through tables of class kernels."""
    return count > tables_above()


def size_of_model(model):
    """The number of bodies of a model; that of the pairs in a group of contacts if there are more."""
    return max([len(model.bodies), *(force.pair_count() for force in model.forces)])


def tables_above():
    """Number of bodies above which models are run through tables."""
    text = os.environ.get(TABLES_ABOVE, str(DEFAULT_TABLES_ABOVE))
    if not text.isdecimal():
        raise OptionError(f"{TABLES_ABOVE} is {text!r}: give the number of bodies above which class kernels are used")
    return int(text)


def is_supported(f):
    """True if the accelerations of a formulation can be computed by classes: a large tree without constraints, with roots at
    rest, and without efforts or states that depend on accelerations."""
    roots = [f.motion.base(link) for link in f.links if link.parent is None]
    plain = not (
        f.rows or f.coupled or f.implicit or f.model.states or f.first_kind or any(root.moves for root in roots)
    )
    return plain and is_large(len(f.links))


def rate_of_tree(f, layout):
    """The kernel `rate` of a formulation in joint coordinates as a schedule; None if its geometry contains parameters."""
    tree = NumericTree(f.model)
    return None if tree.numbers is None else Recursion(AlignedLinks(tree), layout, f).schedule


class Recursion:
    """The schedule of the kernel `rate`: the three passes of the recursion, and the passes before and after them.

    links    the links in aligned frames
    f        the formulation that gives the applied forces; None: only forces along joints are applied
    passes   passes of the system that give the forces along joints; None: there are none
    """

    def __init__(self, links, layout, f=None, passes=None):
        self.links = links
        self.tree = links.tree
        self.n = links.tree.n
        self.layout = layout
        self.f = f
        takes = {"t": 1, "x": layout.x, "p": layout.p, "F": 1, "gains": 4}
        gives = {"xdot": layout.algebra, "lam": 0}
        constants = passes.constants if passes else Constants()
        self.schedule = s = Schedule("rate", takes, gives, constants)
        self._ground_passes()
        self.power = None
        self._applied_forces()
        if passes is not None and passes.system.forces:
            self._joint_forces(passes)
        self.classes, self.kinds = build_classes(links, self.applied is not None)
        self.data = class_constants(constants, links.numbers, self.kinds, [c.data for c in self.classes])
        self.q, self.v = (block_offsets(self.tree.sizes(what)) for what in ("size", "dimension"))
        self.w = allocate_blocks(s, np.full(self.n, 3))
        self.acceleration = allocate_blocks(s, np.full(self.n, 6))
        self.inertia = allocate_blocks(s, np.full(self.n, INERTIA))
        self.stored_motion = allocate_blocks(s, np.array([c.motion_size for c in self.classes])[self.kinds])
        self.solution = allocate_blocks(s, np.array([c.solution_size for c in self.classes])[self.kinds])
        self._recursion_passes()
        if passes is not None:
            passes.rates_of_states(s)

    def _ground_passes(self):
        """Append the motion of the grounds, and zeros for sums without terms."""
        s = self.schedule
        model = self.tree.model
        root_links = np.flatnonzero(self.tree.parents < 0).tolist()
        self.zeros = s.reserve(INERTIA)
        zero = ca.Function("none", [time], [ca.SX.zeros(INERTIA)])
        s.call([zero], ["t", "memory"], [0], [[0], [self.zeros]])
        grounds = {id(ground): ground for ground in map(self.tree.ground, root_links)}
        offsets = dict(zip(grounds, allocate_blocks(s, np.full(len(grounds), 6))))
        inputs = ca.vertcat(*model.inputs, ca.SX(0, 1))
        R = ca.SX.sym("R", 3, 3)

        def acceleration(R):
            """Gravity as an acceleration of the ground, in its axes."""
            return ca.densify(ca.vertcat(ca.SX.zeros(3), -(R.T @ model.gravity)))

        constant = {k: g.path[1] for k, g in grounds.items() if g.path[1].is_constant()}
        if constant:
            root = ca.Function("root", [time, inputs, ca.vec(R)], [acceleration(R)])
            rotations = [s.keep(quantity.numbers(x).ravel(order="F")) for x in constant.values()]
            first = np.zeros(len(constant), int)
            targets = [offsets[k] for k in constant]
            s.call([root], ["t", "p", "constants", "memory"], first, [first, first, rotations, targets])
        for k in set(grounds) - set(constant):
            root = ca.Function("root", [time, inputs], [acceleration(grounds[k].path[1])])
            s.call([root], ["t", "p", "memory"], [0], [[0], [0], [offsets[k]]])
        self.roots = {k: (self.zeros, offsets[id(self.tree.ground(k))]) for k in root_links}

    def _function_of_state(self, name, column):
        """A column of the formulation as a function of t, x and p."""
        x = ca.SX.sym("x", self.layout.x)
        q = x[: self.layout.q]
        v = x[self.layout.q : self.layout.q + self.layout.v]
        column = ca.substitute(self.f.to_state_symbols(column), ca.vertcat(self.f.q, self.f.v), ca.vertcat(q, v))
        return ca.Function(name, [time, x, self.f.p], [ca.cse(ca.densify(column))])

    def _applied_forces(self):
        """Append the applied forces of the formulation and set `applied`: for every link the offset of its wrench and joint
        forces, None if there are no applied forces."""
        self.applied = None
        if self.f is None:
            return
        f = self.f
        wrenches = self.f.wrenches()
        along = self.f.driving()
        loaded = [(k, x) for k, x in enumerate(f.links) if id(x) in wrenches or ca.sparsify(along[id(x)]).nnz()]
        if not loaded:
            return
        zero = (ca.SX.zeros(3), ca.SX.zeros(3))
        columns = []
        for k, link in loaded:
            wrench = (ca.DM(self.links.Q[k]).T @ y for y in wrenches.get(id(link), zero))
            columns.append(ca.vertcat(*wrench, along[id(link)]))
        offsets = allocate_blocks(self.schedule, [c.shape[0] for c in columns])
        forces = self._function_of_state("applied", ca.vertcat(*columns))
        self.schedule.call([forces], ["t", "x", "p", "memory"], [0], [[0], [0], [0], [offsets[0]]])
        self.applied = np.full(self.n, self.zeros)
        self.applied[[k for k, _ in loaded]] = offsets

    def _joint_forces(self, passes):
        """Append the forces along joints of a system in numbers, as applied forces with zero wrench."""
        s = self.schedule
        _, along, (self.power, _) = passes.joint_forces(s)
        links = np.flatnonzero(along >= 0)
        size = self.tree.sizes("dimension")[links]
        offsets = allocate_blocks(s, 6 + size)
        first = np.zeros(len(links), int)
        s.call([ca.Function("none", [time], [ca.SX.zeros(6)])], ["t", "memory"], first, [first, offsets])
        for n in np.unique(size).tolist():
            x = ca.SX.sym("x", n)
            own = np.flatnonzero(size == n)
            copy = ca.Function("along", [x], [x])
            s.call([copy], ["memory", "memory"], np.zeros(len(own), int), [along[links[own]], offsets[own] + 6])
        self.applied = np.full(self.n, self.zeros)
        self.applied[links] = offsets

    def _parent_offsets(self, of_links, which):
        """For each link the offset of a quantity of its parent; of roots, that of their ground."""
        offsets = of_links[self.tree.parents]
        for k, of_ground in self.roots.items():
            offsets[k] = of_ground[which]
        return offsets

    def _recursion_passes(self):
        """Append the passes outward, inward and finish."""
        n = self.n
        layout = self.layout
        siblings, descendants = child_sum_offsets(self.tree.parents, self.inertia, self.zeros)
        loads = [] if self.applied is None else [self.applied]

        def call(what, order, *arguments):
            self.schedule.call(
                [getattr(c, what) for c in self.classes],
                [vector for vector, _ in arguments],
                self.kinds[order],
                [offsets[order] for _, offsets in arguments],
            )

        x = ("x", self.q)
        data = ("constants", self.data)
        stored = ("memory", self.stored_motion)
        call(
            "outward", np.arange(n), x, ("x", layout.q + self.v), data, ("memory", self._parent_offsets(self.w, 0)), stored,
            ("memory", self.w), ("xdot", self.v),
        )  # fmt: skip
        call(
            "inward", np.arange(n)[::-1], x, data, stored, ("memory", descendants), ("memory", siblings),
            *[("memory", at) for at in loads], ("memory", self.inertia), ("memory", self.solution),
        )  # fmt: skip
        call(
            "finish", np.arange(n), x, data, stored, ("memory", self.solution),
            ("memory", self._parent_offsets(self.acceleration, 1)), ("memory", self.acceleration),
            ("xdot", layout.v + self.v),
        )  # fmt: skip
        self._power_pass()

    def _power_pass(self):
        """Append the power of forces without potential, the last entry of ẋ."""
        power = ca.sparsify(ca.SX(0) if self.f is None else self.f.absolute.loads.power)
        target = 2 * self.layout.v
        if self.power is not None:
            P = ca.SX.sym("P")
            self.schedule.call([ca.Function("power", [P], [P])], ["memory", "xdot"], [0], [[self.power], [target]])
        elif power.nnz():
            f = self._function_of_state("power", power)
            self.schedule.call([f], ["t", "x", "p", "xdot"], [0], [[0], [0], [0], [target]])
        else:
            self.schedule.call([ca.Function("none", [time], [ca.SX.zeros(1)])], ["t", "xdot"], [0], [[0], [target]])


def child_sum_offsets(parents, own, zeros):
    """Offsets of the sums over children, when links are processed from the last to the first and each adds its contribution.

    own       offset of the sum after each link has added its contribution
    zeros     offset of a sum without terms
    Returns for each link the offset of the sum over its siblings so far, and of the sum over its children.
    """
    siblings = np.full(len(parents), zeros)
    children = np.full(len(parents), zeros)
    for k in range(len(parents) - 1, -1, -1):
        if parents[k] >= 0:
            siblings[k] = children[parents[k]]
            children[parents[k]] = own[k]
    return siblings, children


def running_sums(targets, sums, after):
    """Offsets of sums before and after each term, when terms are added one after the other to the sums of their targets.

    targets   index of the target of each term
    sums      offset of the sum of every target; changed to that after the last term
    after     offset of the sum after each term
    """
    order = np.argsort(targets, kind="stable")
    same = targets[order][1:] == targets[order][:-1]
    before = sums[targets]
    before[order[1:][same]] = after[order[:-1][same]]
    sums[targets] = after  # the last term of a target determines its sum
    return before, after


def class_constants(constants, numbers, kinds, data):
    """Store the numbers of every row that are data of its class, and return their offsets. Equal rows are stored once."""
    offsets = np.zeros(len(kinds), int)
    for kind, columns in enumerate(data):
        rows = np.flatnonzero(kinds == kind)
        offsets[rows] = constant_rows(constants, numbers[np.ix_(rows, columns)])
    return offsets


def constant_rows(constants, rows):
    """Store rows of constants and return their offsets. Equal rows are stored once, in the order in which they first occur."""
    rows = np.ascontiguousarray(rows, float)
    if not rows.size:
        return np.zeros(len(rows), int)
    _, first, which = np.unique(rows_as_bytes(rows), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), int)
    rank[order] = np.arange(len(first))
    return constants.keep(rows[first[order]]) + rows.shape[1] * rank[which.ravel()]


def allocate_blocks(schedule, sizes):
    """Allocate contiguous blocks of memory of the given sizes and return their offsets."""
    return schedule.reserve(np.sum(sizes)) + block_offsets(sizes)


def block_offsets(sizes):
    """Offsets of contiguous blocks of the given sizes."""
    ends = np.cumsum(np.asarray(sizes, int))
    return ends - sizes if len(ends) else ends


def block_indices(first, sizes):
    """Indices of all entries of blocks that begin at `first` and have the given sizes."""
    return np.repeat(first - block_offsets(sizes), sizes) + np.arange(int(np.sum(sizes)))
