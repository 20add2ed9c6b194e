"""Which rows of the loops of a large system depend on each other, in joint coordinates.

The rows of a loop touch the joints of its cycle in the spanning tree alone, so that loops without a common joint are independent of
each other. Each cluster of loops that share joints has a small matrix, made dimensionless as everywhere (`formulations/scales.py`),
and the rule of rank is that of `diagnosis.py`:

    Â = G C / unit,     G = W S,     row i is redundant where its sine to the rows before it is below `DEPENDENT`      (1)
    N Â = 0             N: all forces of the loops that move nothing                                                 (2)

A force in N passes through the joints of the cycle, too. The kernels join constraints in some order (`merging.py`); the constraint
at which a dependency becomes complete has a row too many there, whatever the masses are:

    w_j = Σ ± N W over the loops whose cycle contains joint j,     dropped_j = rank w_{≥j} − rank w_{>j}              (3)

W   rows of a constraint as wrenches on its bodies in world axes: what they do to a twist of the end
S   world twists of the joint coordinates
"""

from typing import NamedTuple

import casadi as ca
import numpy as np

from .. import kernels
from ..formulations.group_schedule import Manifold, blocks
from ..formulations.row_classes import MOTION
from ..formulations.schedule import Schedule
from ..formulations.tree_schedule import starts
from .diagnosis import DEPENDENT
from .uniqueness import NOTHING, SAMPLES

LARGEST = 5e7  # entries of the matrix of a cluster, above which its rows are taken for independent
PASSES_THROUGH = 1e-7  # share of the largest wrench of a cluster, below which a wrench does not pass through a joint
CLOSED = 1e-11  # residual over the size of the model, at which a sampled configuration is assembled


class Cycle(NamedTuple):
    """A loop and the joints that its rows touch: (link, end of the constraint that the link carries)."""

    loop: int
    links: tuple


class Shape(NamedTuple):
    """What clusters have in common that are computed together.

    sizes    rows of each loop;   cycles: of each loop, (place of the link in the cluster, end)
    dofs     of each link;   slots: places of the constraints of the links (−1: none) and loops, the last one joined first
    """

    sizes: tuple
    cycles: tuple
    dofs: tuple
    slots: tuple


class Found(NamedTuple):
    """Ranks and dependencies at one configuration.

    rank        of all rows of the loops
    redundant   places among the rows of all loops
    dropped     rows too many at the join of every constraint: (3)
    free        [constraint, 0 or 1, axis]: whether a force or torque that moves nothing has this component, in world axes
    rows        whether the multiplier of each row of the loops is not unique
    """

    rank: int
    redundant: np.ndarray
    dropped: np.ndarray
    free: np.ndarray
    rows: np.ndarray


def examine(system, passes, scales, x, map):
    """What is redundant in the loops of a large system: at the start x, or at a sampled assembled configuration where more rows are
    independent. Returns what was found at the start, and there."""
    loops = Loops(system, passes, scales, map)
    start = best = loops.found(x)
    if not len(start.redundant):
        return start, start
    random, seen = np.random.default_rng(7), [start]
    for far in SAMPLES:
        there = loops.wander(x, random, far)
        if there is not None:
            seen.append(loops.found(there))
            best = max(best, seen[-1], key=lambda found: found.rank)
    for found in seen:
        if found.rank == best.rank:
            best = best._replace(free=best.free | found.free, rows=best.rows | found.rows)
    return start, best


class Loops:
    """The clusters of loops of a large system, and their matrices at any state."""

    def __init__(self, system, passes, scales, map):
        self.system, self.passes, self.scales = system, passes, scales
        self.tree, self.first = system.tree, system.first_loop
        self.dofs = self.tree.sizes("dimension")
        self.at_v = starts(self.dofs)
        self.touched = np.maximum(system.touched, -1)  # all grounds are one
        self.sizes = system.sizes[self.first :]
        self.at_row = starts(self.sizes)
        order = np.empty(len(system.constraints), int)
        order[system.merged.constraint] = np.arange(len(system.constraints))
        self.order = order
        self.shapes = self._shapes()
        self.built = kernels.build({"motion": self._motion(), "retract": self._stepping(map)})

    # structure

    def _cycles(self):
        """The cycle of every loop: up from both ends until they meet."""
        parents, depth = self.tree.parents, np.full(self.tree.n + 1, -1)
        for k, parent in enumerate(parents.tolist()):
            depth[k] = depth[parent] + 1
        parents, depth = parents.tolist(), depth.tolist()
        for loop, ends in enumerate(self.touched[self.first :].tolist()):
            at, links = list(ends), []
            while at[0] != at[1]:
                end = 0 if depth[at[0]] >= depth[at[1]] else 1
                links.append((at[end], end))
                at[end] = parents[at[end]]
            yield Cycle(loop, tuple(links))

    def _shapes(self):
        """Clusters by shape: for each shape the loops and the links of every cluster of it."""
        cycles, root = list(self._cycles()), list(range(self.tree.n))

        def top(k):
            while root[k] != k:
                root[k] = root[root[k]]
                k = root[k]
            return k

        for cycle in cycles:
            for link, _ in cycle.links[1:]:
                root[top(link)] = top(cycle.links[0][0])
        clusters: dict = {}
        for cycle in cycles:
            key = top(cycle.links[0][0]) if cycle.links else -1 - cycle.loop
            clusters.setdefault(key, []).append(cycle)
        found: dict = {}
        for cluster in clusters.values():
            links = sorted({link for cycle in cluster for link, _ in cycle.links})
            shape = self._shape(cluster, links)
            loops, several = found.setdefault(shape, ([], []))
            loops.append([cycle.loop for cycle in cluster])
            several.append(links)
        return [
            (shape, np.array(loops, int), np.array(links, int).reshape(len(loops), -1))
            for shape, (loops, links) in found.items()
        ]

    def _shape(self, cluster, links):
        place = {link: k for k, link in enumerate(links)}
        cycles = tuple(tuple((place[link], end) for link, end in cycle.links) for cycle in cluster)
        rows = [int(self.system.row_of_link[link]) for link in links] + [self.first + c.loop for c in cluster]
        slots = sorted((k for k, row in enumerate(rows) if row >= 0), key=lambda k: -self.order[rows[k]])
        sizes = tuple(int(self.sizes[c.loop]) for c in cluster)
        return Shape(sizes, cycles, tuple(self.dofs[links].tolist()), tuple(slots))

    # kernels

    def _motion(self):
        """A kernel (t, x) → the motion of every body."""
        n = self.tree.n
        s = Schedule("motion", {"t": 1, "x": self.passes.layout.x}, {"motion": MOTION * n}, self.passes.constants)
        body, every = self.passes.motion(s).body, np.arange(MOTION)
        from_, to = ((at[:, None] + every).ravel() for at in (body, MOTION * np.arange(n)))
        blocks(s, lambda x: x, ["memory", "motion"], [from_, to])
        return s

    def _stepping(self, map):
        layout = self.passes.layout
        return Manifold(self.tree.groups, self.tree.traces, layout).kernels(map)["retract"]

    def motion(self, x):
        """Motion of all bodies, and last that of the ground of each constraint in its place: rows of MOTION numbers."""
        return self.built["motion"](np.zeros(1), x)[0].reshape(-1, MOTION)

    # numbers at a state

    def _ends(self, motion):
        """Motions of both ends of every loop."""
        ends = self.system.touched[self.first :]
        still = np.hstack([self.system.still, np.zeros((len(self.system.still), 6))])
        every = np.concatenate([motion, still])
        return every[np.where(ends >= 0, ends, len(motion) - 1 - ends)]

    def _of_classes(self, motion, what, count):
        """Functions of a class of rows, evaluated for all loops: a list of arrays (loop, entry)."""
        classes, kinds = self.system.rows
        ends, own = self._ends(motion), kinds[self.first :]
        found = [np.zeros((len(own), int(self.sizes.max(initial=0)) * width)) for width in count]
        for kind in np.unique(own):
            c, members = classes[kind], np.flatnonzero(own == kind)
            f = ca.Function("rows", [*(end.motion for end in c.ends), c.c], [ca.densify(x) for x in what(c)])
            data = self.system.frames[self.first + members][:, c.data]
            values = f.map(len(members))(ends[members, 0].T, ends[members, 1].T, data.T)
            for target, value, x in zip(found, values if len(count) > 1 else [values], what(c)):
                rows = np.array(value).reshape(x.shape[0], len(members), -1).transpose(1, 0, 2)
                target[members, : x.numel()] = rows.reshape(len(members), -1)
        return found

    def wrenches(self, motion):
        """W / unit of all loops on both ends, [loop, end, row, 6]: torque about `centre`, then force; and the units of the rows."""
        most = int(self.sizes.max(initial=0))
        both = lambda c: [ca.SX.zeros(c.size, 6) if J is None else J for J in c.G]
        G = np.stack([x.reshape(len(x), most, 6) for x in self._of_classes(motion, both, (6, 6))], axis=1)
        plain = np.array([self.scales.length] * 3 + [1.0] * 3)
        units = np.sqrt(((G * plain) ** 2).sum(axis=(1, 3)))
        units = np.where(units > 0, units, 1.0)
        ends = self._ends(motion)
        x = ends[:, :, :3] - self.centre(motion)
        R = ends[:, :, 3:12].reshape(len(ends), 2, 3, 3).transpose(0, 1, 3, 2)
        force, torque = G[..., :3], G[..., 3:] @ R.transpose(0, 1, 3, 2)
        W = np.concatenate([torque + np.cross(x[:, :, None, :], force), force], axis=3)
        return W / units[:, None, :, None], units

    def centre(self, motion):
        return motion[:, :3].mean(axis=0)

    def screws(self, x):
        """World twists of all joint coordinates, [velocity, 6]: turning, then the velocity at `centre`."""
        layout, found = self.passes.layout, np.zeros((int(self.dofs.sum()), 6))
        for k in range(int(self.dofs.max(initial=0))):
            own = np.flatnonzero(self.dofs > k)
            moving = x.copy()
            moving[layout.q : layout.q + layout.v] = 0.0
            moving[layout.q + self.at_v[own] + k] = 1.0
            motion = self.motion(moving)
            R = motion[:, 3:12].reshape(-1, 3, 3).transpose(0, 2, 1)
            turning = np.einsum("kij,kj->ki", R, motion[:, 15:])
            at = motion[:, 12:15] - np.cross(turning, motion[:, :3] - self.centre(motion))
            twist = np.concatenate([np.hstack([turning, at]), np.zeros((1, 6))])  # the last one: ground
            found[self.at_v[own] + k] = (twist[:-1] - twist[self.tree.parents])[own]
        return found

    def columns(self):
        """C of the joint coordinates."""
        levers = np.array([self.scales.levers.get(b.name, self.scales.length) for b in self.tree.bodies])
        return self.scales.length / np.repeat(levers, self.dofs)

    def matrices(self, x):
        """For every shape: Â of its clusters, [cluster, row, column], None where it is too large; W of their loops; places of the
        columns. Then the units of the rows, C, and the motion of all bodies."""
        motion = self.motion(x)
        W, units = self.wrenches(motion)
        S = self.screws(x)
        along = np.abs(S[:, :3]).max(axis=1, initial=0.0) < 1e-9 * (1 + np.abs(S[:, 3:]).max(axis=1, initial=0.0))
        C = np.where(along, self.scales.length, self.columns())
        found = []
        for shape, loops, links in self.shapes:
            m, first = sum(shape.sizes), np.cumsum([0, *shape.dofs])
            at = np.cumsum([0, *shape.sizes])
            if m * first[-1] > LARGEST:
                found.append((None, W[loops], None))
                continue
            A = np.zeros((len(loops), m, first[-1]))
            places = np.zeros((len(loops), first[-1]), int)
            for k, dof in enumerate(shape.dofs):
                places[:, first[k] : first[k + 1]] = self.at_v[links[:, k]][:, None] + np.arange(dof)
            for k, cycle in enumerate(shape.cycles):
                rows = slice(at[k], at[k + 1])
                for link, end in cycle:
                    own = slice(first[link], first[link + 1])
                    B = W[loops[:, k], end, : shape.sizes[k]] @ S[places[:, own]].transpose(0, 2, 1)
                    A[:, rows, own] += B
            found.append((A * C[places][:, None, :], W[loops], places))
        return found, units, C, motion

    # ranks

    def found(self, x):
        """Ranks and dependencies at a state."""
        matrices, _, _, motion = self.matrices(x)
        count = len(self.system.constraints)
        dropped, free = np.zeros(count, int), np.zeros((count, 2, 3), bool)
        rank, redundant, rows = 0, [], np.zeros(int(self.sizes.sum()), bool)
        points = self._points(motion)
        for (shape, loops, links), (A, W, _) in zip(self.shapes, matrices):
            places = np.concatenate(
                [self.at_row[loops[:, k]][:, None] + np.arange(n) for k, n in enumerate(shape.sizes)], axis=1
            )
            if A is None:
                rank += places.size
                continue
            lengths = np.maximum(np.linalg.norm(A, axis=2), 1.0)
            A = A / lengths[:, :, None]
            keep = independent_rows(A)
            rank += int(keep.sum())
            redundant += places[~keep].tolist()
            own = np.hstack([self.system.row_of_link[links].reshape(len(loops), -1), self.first + loops])
            for number in np.unique((~keep).sum(axis=1)).tolist():
                if number:
                    these = np.flatnonzero((~keep).sum(axis=1) == number)
                    N = np.linalg.svd(A[these], full_matrices=True)[0][:, :, -number:].transpose(0, 2, 1)
                    N = N / lengths[these][:, None, :]
                    w = self._passing(shape, N, W[these])
                    self._note(shape, w, own[these], points, dropped, free)
                    rows[places[these]] |= np.abs(N).max(axis=1) > NOTHING * np.abs(N).max(axis=(1, 2))[:, None]
        return Found(rank, np.array(sorted(redundant), int), dropped, free, rows)

    def _passing(self, shape, N, W):
        """Wrenches of the forces that move nothing, through every link and loop of a cluster: [cluster, slot, force, 6]."""
        links, at = len(shape.dofs), np.cumsum([0, *shape.sizes])
        w = np.zeros((len(N), links + len(shape.sizes), N.shape[1], 6))
        for k, cycle in enumerate(shape.cycles):
            both = [N[:, :, at[k] : at[k + 1]] @ W[:, k, end, : shape.sizes[k]] for end in (0, 1)]
            for link, end in cycle:
                w[:, link] += both[end]
            w[:, links + k] = np.where(np.abs(both[1]).max() > 0, both[1], -both[0])
        w[..., :3] /= self.scales.length
        return w / np.maximum(np.abs(w).max(axis=(1, 2, 3), keepdims=True), 1e-300)

    def _note(self, shape, w, own, points, dropped, free):
        """Rows too many by (3), and which components of reactions are not unique."""
        number = w.shape[2]
        for least in (PASSES_THROUGH, 1e-10, 0.0):
            basis, found = np.zeros((len(w), number, number)), np.zeros((len(w), len(own[0])), int)
            count = np.zeros(len(w), int)
            for slot in shape.slots:
                columns = w[:, slot].transpose(0, 2, 1)
                best = np.argsort(-np.linalg.norm(columns, axis=2), axis=1)
                for k in range(6):
                    column = np.take_along_axis(columns, best[:, k][:, None, None], axis=1)[:, 0]
                    for _ in range(2):
                        column = column - np.einsum("bij,bi->bj", basis, np.einsum("bij,bj->bi", basis, column))
                    size = np.linalg.norm(column, axis=1)
                    more = np.flatnonzero((size > least) & (count < number))
                    basis[more, count[more]] = column[more] / size[more][:, None]
                    count[more] += 1
                    found[more, slot] += 1
            if (count == number).all():
                break
        known = own >= 0
        dropped[own[known]] += found[known]
        arm = points[np.maximum(own, 0)] / self.scales.length
        torque = w[..., :3] - np.cross(arm[:, :, None, :], w[..., 3:])
        both = np.stack([np.abs(w[..., 3:]).max(axis=2), np.abs(torque).max(axis=2)], axis=2) > NOTHING
        free[own[known]] |= both[known]

    def _points(self, motion):
        """Points of all constraints, on their second bodies, from `centre`."""
        ends = self.system.touched[:, 1]
        still = np.hstack([self.system.still, np.zeros((len(self.system.still), 6))])
        second = np.concatenate([motion, still])[np.where(ends >= 0, ends, len(motion) - 1 - ends)]
        R = second[:, 3:12].reshape(-1, 3, 3).transpose(0, 2, 1)
        return second[:, :3] + np.einsum("kij,kj->ki", R, self.system.frames[:, 21:24]) - self.centre(motion)

    # sampled configurations

    def wander(self, x, random, far):
        """A state nearby in a random admissible direction, with all loops closed; None where they cannot be closed."""
        layout = self.passes.layout
        matrices, _, C, _ = self.matrices(x)
        if any(A is None for A, _, _ in matrices):
            return None
        r = random.standard_normal(len(C))
        for A, _, places in matrices:
            for one, own in zip(A, places):
                r[own] -= np.linalg.lstsq(one, one @ r[own], rcond=1e-9)[0]
        size = np.abs(r).max(initial=0.0)
        if size < 1e-9:
            return None
        x = self._moved(x, r * C * far / size, layout)
        for _ in range(15):
            matrices, units, C, motion = self.matrices(x)
            (g,) = self._of_classes(motion, lambda c: [c.g], (1,))
            g = g[:, : units.shape[1]] / units
            off = np.abs(g).max(initial=0.0)
            if not np.isfinite(off) or off < CLOSED:
                break
            step = np.zeros(len(C))
            for (shape, loops, _), (A, _, places) in zip(self.shapes, matrices):
                for one, own, several in zip(A, places, loops):
                    residual = np.concatenate([g[loop, :n] for loop, n in zip(several, shape.sizes)])
                    step[own] -= np.linalg.lstsq(one, residual, rcond=1e-9)[0]
            x = self._moved(x, step * C, layout)
        return x if off < CLOSED else None

    def _moved(self, x, step, layout):
        u = np.zeros(layout.algebra)
        u[: layout.v] = step
        return self.built["retract"](x, u)[0]


def independent_rows(A):
    """Of stacked matrices, which rows have a sine to the rows before them that is above `DEPENDENT`: [matrix, row]."""
    count, rows, width = A.shape
    basis, keep = np.zeros((count, min(rows, width), width)), np.zeros((count, rows), bool)
    ranks = np.zeros(count, int)
    for k in range(rows):
        most = int(ranks.max(initial=0))
        row = A[:, k]
        for _ in range(2):
            row = row - np.einsum("brw,br->bw", basis[:, :most], np.einsum("brw,bw->br", basis[:, :most], row))
        size = np.linalg.norm(row, axis=1)
        keep[:, k] = (size > DEPENDENT) & (ranks < basis.shape[1])
        own = np.flatnonzero(keep[:, k])
        basis[own, ranks[own]] = row[own] / size[own][:, None]
        ranks[own] += 1
    return keep
