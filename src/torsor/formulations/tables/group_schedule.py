"""The kernels of a large manifold as schedules: entries of Rⁿ in blocks, rotations and rigid motions one by one."""

import casadi as ca
import numpy as np

from ..schedules.schedule import Schedule
from .tree_schedule import block_offsets

BLOCK_SIZES = (128, 8, 1)  # numbers that one call processes


class Manifold:
    """The group of a state: entries of Rⁿ, and elements of other groups.

    groups   the groups that occur in the configuration
    kinds    index of the group of each element of the configuration, in their order
    curved   of the elements of other groups: index of the group, offset in x, offset in the algebra
    plain    of the entries of Rⁿ: offsets in x, and in the algebra
    """

    def __init__(self, groups, kinds, layout):
        self.layout = layout
        self.groups = groups
        size, dimension = (np.array([getattr(g, what) for g in groups])[kinds] for what in ("size", "dimension"))
        curved = np.array([not g.additive for g in groups])[kinds]
        self.curved = kinds[curved], block_offsets(size)[curved], block_offsets(dimension)[curved]
        q, v = (np.repeat(~curved, sizes) for sizes in (size, dimension))
        rest = layout.x - layout.q
        self.plain = np.flatnonzero(np.r_[q, np.ones(rest, bool)]), np.flatnonzero(np.r_[v, np.ones(rest, bool)])

    def kernels(self, map):
        """The kernels retract, advance and differential, and those of the projections for a system without constraints."""

        def retract(group, x, u):
            return group.retract(x, u, map)

        def advance(group, x, u):
            return group.tidy(retract(group, x, u))

        kernels = {
            "retract": self._step_kernel("retract", retract),
            "advance": self._step_kernel("advance", advance),
            "differential": self._differential(map),
        }
        takes = {"t": 1, "x": self.layout.x, "p": self.layout.p, "F": 1}
        algebra = self.layout.algebra
        kernels["positions"] = self._copy_kernel("positions", takes, "x", {"y": self.layout.x, "g": 1})
        kernels["velocities"] = self._copy_kernel("velocities", takes, "x", {"y": self.layout.x, "psi": 1})
        kernels["tangent"] = self._copy_kernel("tangent", takes | {"e": algebra}, "e", {"k": algebra})
        return kernels

    def back(self):
        """For each group the function (x, u) → x after a step −u. It is used in Newton's method, for which any map will do."""
        return [
            _group_function(group, lambda x, u, group=group: group.retract(x, -u, "cayley")) for group in self.groups
        ]

    def _step_kernel(self, name, step):
        """The kernel (x, u) → y of a step along an element of the algebra; step: its function of a group, x and u."""
        s = Schedule(name, {"x": self.layout.x, "u": self.layout.algebra}, {"y": self.layout.x})
        call_in_blocks(s, lambda x, u: x + u, ["x", "u", "y"], [self.plain[0], self.plain[1], self.plain[0]])
        kinds, q, v = self.curved
        if len(kinds):
            classes = [_group_function(group, lambda x, u, group=group: step(group, x, u)) for group in self.groups]
            s.call(classes, ["x", "u", "y"], kinds, [q, v, q])
        return s

    def _differential(self, map):
        """The kernel (u, ẋ) → dexp⁻¹(u) ẋ, or that of another map."""
        s = Schedule(
            "differential", {"u": self.layout.algebra, "xdot": self.layout.algebra}, {"k": self.layout.algebra}
        )
        call_in_blocks(s, lambda u, xdot: xdot, ["u", "xdot", "k"], [self.plain[1]] * 3)
        kinds, _, v = self.curved
        if len(kinds):
            classes = []
            for group in self.groups:
                u = ca.SX.sym("u", group.dimension)
                w = ca.SX.sym("w", group.dimension)
                classes.append(ca.Function("differential", [u, w], [ca.densify(group.dexp_inverse(u, w, map))]))
            s.call(classes, ["u", "xdot", "k"], kinds, [v, v, v])
        return s

    @staticmethod
    def _copy_kernel(name, takes, source, gives):
        """A kernel that copies the input `source` to its first output; its other outputs, residuals, are zero."""
        s = Schedule(name, takes, gives)
        target, *residuals = gives
        call_in_blocks(s, lambda x: x, [source, target], [np.arange(gives[target])] * 2)
        for residual in residuals:
            zero = ca.Function("zero", [ca.SX.sym("t")], [ca.SX.zeros(gives[residual])])
            s.call([zero], ["t", residual], [0], [[0], [0]])
        return s


def _group_function(group, step):
    x = ca.SX.sym("x", group.size)
    u = ca.SX.sym("u", group.dimension)
    return ca.Function("step", [x, u], [ca.densify(step(x, u))])


def call_in_blocks(schedule, f, vectors, offsets):
    """Call an elementwise function f; entries that are contiguous in every vector are processed in blocks.

    vectors   names of the vectors of the arguments, and last of the result
    offsets   for each vector the offsets of all entries
    """
    contiguous = np.ones(len(offsets[0]), bool)
    for at in offsets:
        contiguous[1:] &= np.diff(at) == 1
    contiguous[:1] = False
    begin = np.flatnonzero(~contiguous)
    remaining = np.diff(np.r_[begin, len(contiguous)])
    kinds = []
    first = []
    for kind, size in enumerate(BLOCK_SIZES):
        count = remaining // size
        total = int(count.sum())
        kinds.append(np.full(total, kind))
        first.append(np.repeat(begin, count) + size * (np.arange(total) - np.repeat(block_offsets(count), count)))
        begin = begin + size * count
        remaining = remaining - size * count
    classes = []
    for size in BLOCK_SIZES:
        arguments = [ca.SX.sym("x", size) for _ in vectors[1:]]
        classes.append(ca.Function("block", arguments, [ca.densify(f(*arguments))]))
    entries = np.concatenate(first).astype(int)
    schedule.call(classes, vectors, np.concatenate(kinds), [np.asarray(at)[entries] for at in offsets])
