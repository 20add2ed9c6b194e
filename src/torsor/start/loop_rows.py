"""The loop closure constraints of a large system: their rows in joint coordinates, and linear dependencies among them.

The rows of a loop have entries for the joints of its cycle in the spanning tree only. They are made dimensionless as in
`formulations/algebra/scales.py`. The rank is decided as in `diagnosis.py` (`row_dependencies.py`):

    Â = G C / unit,     G = W S                                                                       (1)

W   rows of a constraint as wrenches on its two ends, in world axes: the rows act on the twists of the ends
S   world twists of the joint coordinates

Masses have no influence. The result at the start is compared with sampled assembled configurations, so that a singular start does
not count.
"""

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..formulations.schedules.schedule import Schedule
from ..formulations.tables.group_schedule import Manifold, call_in_blocks
from ..formulations.tables.row_classes import MOTION_SIZE, split_motion
from ..formulations.tables.tree_schedule import block_offsets
from .reaction_uniqueness import SAMPLE_DISTANCES
from .row_dependencies import Dependencies, least_norm
from .start_tolerances import REACTION_ZERO, SAMPLE_RESIDUAL

SECOND_ORIGIN = slice(21, 24)  # position of the frame on the second body, among the numbers of a constraint
ONE_SAMPLE_ABOVE = 5000  # number of rows, above which one sampled configuration is enough


class LoopDiagnosis(NamedTuple):
    """Rank and dependencies of the loop rows at one configuration.

    rank        of all rows of the loops
    redundant   indices of the redundant rows among the rows of all loops
    dropped     [constraint]: number of redundant rows where the constraint is joined in the elimination
    free        [constraint, 0 or 1, axis]: True if this component of the force (0) or torque (1), in world axes, is not unique
    rows        [row]: True if the multiplier of the row is not unique
    """

    rank: int
    redundant: np.ndarray
    dropped: np.ndarray
    free: np.ndarray
    rows: np.ndarray


class LoopRows(NamedTuple):
    """The rows of all loops at a state.

    W       [loop, end, row, 6]: torque about the centre of the system, then force, divided by the units of the rows
    units   [loop, row]: units of the rows;   C: units of the columns
    values  [entry, row]: entries of Â; an entry is a pair of a loop and a velocity of its cycle
    motion  motion of all bodies
    """

    W: np.ndarray
    units: np.ndarray
    C: np.ndarray
    values: np.ndarray
    motion: np.ndarray


def diagnose_loops(loops, x):
    """Diagnose the loops of a large system at the start x and at sampled assembled configurations.

    Returns the diagnosis at the start, and the one of the largest rank.
    """
    start = best = loops.diagnose(x)
    if not len(start.redundant):
        return start, start
    random = np.random.default_rng(7)
    results = [start]
    for distance in SAMPLE_DISTANCES[: 1 if len(start.rows) > ONE_SAMPLE_ABOVE else None]:
        sample = loops.sample_nearby(x, random, distance)
        if sample is not None:
            results.append(loops.diagnose(sample))
            best = max(best, results[-1], key=lambda result: result.rank)
    for result in results:
        if result.rank == best.rank:
            best = best._replace(free=best.free | result.free, rows=best.rows | result.rows)
    return start, best


class Loops:
    """The cycles of the loops of a large system, and their rows at any state.

    built    the compiled kernels of `schedules`; the caller assigns them
    t, p     time and values of the inputs
    sizes    number of rows of each loop; 0 for loops that events switch, which are not diagnosed
    places   indices of the rows of all other loops among the rows of all
    """

    built: Any

    def __init__(self, system, passes, scales, t, p):
        self.system, self.passes, self.scales = system, passes, scales
        self.t, self.p = t, p
        self.tree, self.first = system.tree, system.first_loop
        self.dofs = self.tree.sizes("dimension")
        self.at_v = block_offsets(self.dofs)
        self.sizes = np.where(system.lasting_loops, system.sizes[self.first :], 0)
        self.places = np.flatnonzero(np.repeat(system.lasting_loops, system.sizes[self.first :]))
        self.at_row = block_offsets(self.sizes)
        self.cycles = list(self._cycles())
        self._index_entries()

    # structure

    def _cycles(self):
        """The cycle of each loop, from both ends up to the common ancestor: pairs of a link and the end (0 or 1) it moves."""
        depth = [-1] * (self.tree.n + 1)  # the last entry: all grounds
        parents = self.tree.parents.tolist()
        for k, parent in enumerate(parents):
            depth[k] = depth[parent] + 1
        for ends in np.maximum(self.system.ends_of_constraints[self.first :], -1).tolist():
            at, links = list(ends), []
            while at[0] != at[1]:
                end = 0 if depth[at[0]] >= depth[at[1]] else 1
                links.append((at[end], end))
                at[end] = parents[at[end]]
            yield links

    def _index_entries(self):
        """Number the entries of Â: the loop, the end and the velocity of each entry, and the first entry of each loop."""
        count = [len(links) for links in self.cycles]
        loop = np.repeat(np.arange(len(count)), count)
        pairs = np.array([pair for links in self.cycles for pair in links], int).reshape(-1, 2)
        dofs = self.dofs[pairs[:, 0]]
        own = np.repeat(np.arange(len(pairs)), dofs)
        self.loop, self.end = loop[own], pairs[own, 1]
        self.column = self.at_v[pairs[own, 0]] + np.arange(len(own)) - np.repeat(block_offsets(dofs), dofs)
        self.at_entry = np.searchsorted(self.loop, np.arange(len(count) + 1))

    # kernels

    def schedules(self, map):
        """Kernels (t, x) → motion of every body, and (x, u) → x after a displacement u."""
        n = self.tree.n
        s = Schedule("motion", {"t": 1, "x": self.passes.layout.x}, {"motion": MOTION_SIZE * n}, self.passes.constants)
        body = self.passes.motion(s).body
        components = np.arange(MOTION_SIZE)
        from_, to = ((at[:, None] + components).ravel() for at in (body, MOTION_SIZE * np.arange(n)))
        call_in_blocks(s, lambda x: x, ["memory", "motion"], [from_, to])
        retraction = Manifold(self.tree.groups, self.tree.traces, self.passes.layout).kernels(map)["retract"]
        return {"motion": s, "retract": retraction}

    def motion(self, x):
        """Motion of all bodies, a row of MOTION numbers each."""
        return self.built["motion"](np.zeros(1), x)[0].reshape(-1, MOTION_SIZE)

    # values at a state

    def _end_motions(self, motion):
        """Motions of both ends of every constraint."""
        ends = self.system.ends_of_constraints
        grounds = np.hstack([self.system.still, np.zeros((len(self.system.still), 6))])
        every = np.concatenate([motion, grounds])
        return every[np.where(ends >= 0, ends, len(motion) - 1 - ends)]

    def _evaluate_classes(self, x, motion, expressions, count):
        """Evaluate functions of the classes of rows for all loops: a list of arrays (loop, entry)."""
        classes, kinds = self.system.rows
        further_values = self.passes.further.numbers(self.t, x, self.p)
        ends = self._end_motions(motion)[self.first :]
        own = np.where(self.sizes > 0, kinds[self.first :], -1)
        result = [np.zeros((len(own), int(self.sizes.max(initial=0)) * width)) for width in count]
        for kind in np.unique(own[own >= 0]):
            c, members = classes[kind], np.flatnonzero(own == kind)
            arguments = [*(end.motion for end in c.ends), c.c, c.further]
            f = ca.Function("rows", arguments, [ca.densify(x) for x in expressions(c)])
            data = self.system.frames[self.first + members][:, c.data]
            further = further_values[self.first + members, : c.further.shape[0]]
            values = f.map(len(members))(ends[members, 0].T, ends[members, 1].T, data.T, further.T)
            for target, value, x in zip(result, values if len(count) > 1 else [values], expressions(c)):
                rows = np.array(value).reshape(x.shape[0], len(members), -1).transpose(1, 0, 2)
                target[members, : x.numel()] = rows.reshape(len(members), -1)
        return result

    def wrenches(self, x, motion):
        """W / unit of all loops on both ends, and the units of the rows."""
        most = int(self.sizes.max(initial=0))

        def jacobians(c):
            return [ca.SX.zeros(c.size, 6) if J is None else J for J in c.G]

        values = self._evaluate_classes(x, motion, jacobians, (6, 6))
        G = np.stack([x.reshape(len(x), most, 6) for x in values], axis=1)
        force, torque = halves(G)
        units = np.sqrt(((force * self.scales.length) ** 2 + torque**2).sum(axis=(1, 3)))
        units = np.where(units > 0, units, 1.0)
        position, R, _, _ = split_motion(self._end_motions(motion)[self.first :])
        torque = torque @ R.swapaxes(2, 3) + np.cross((position - self.centre(motion))[:, :, None, :], force)
        return np.concatenate([torque, force], axis=3) / units[:, None, :, None], units

    @staticmethod
    def centre(motion):
        """Mean position of all bodies."""
        return split_motion(motion)[0].mean(axis=0)

    def screws(self, x):
        """World twists of all joint coordinates, one row each: angular velocity, then velocity at `centre`."""
        layout = self.passes.layout
        result = np.zeros((int(self.dofs.sum()), 6))
        for k in range(int(self.dofs.max(initial=0))):
            own = np.flatnonzero(self.dofs > k)
            moving = x.copy()
            moving[layout.q : layout.q + layout.v] = 0.0
            moving[layout.q + self.at_v[own] + k] = 1.0
            motion = self.motion(moving)
            position, R, velocity, spin = split_motion(motion)
            turning = np.einsum("kij,kj->ki", R, spin)
            at_centre = velocity - np.cross(turning, position - self.centre(motion))
            twist = np.concatenate([np.hstack([turning, at_centre]), np.zeros((1, 6))])  # the last row: ground
            result[self.at_v[own] + k] = (twist[:-1] - twist[self.tree.parents])[own]
        return result

    def columns(self):
        """C of the joint coordinates."""
        levers = np.array([self.scales.levers.get(b.name, self.scales.length) for b in self.tree.bodies])
        return self.scales.length / np.repeat(levers, self.dofs)

    def evaluate(self, x):
        """The rows of all loops at a state."""
        motion = self.motion(x)
        W, units = self.wrenches(x, motion)
        S = self.screws(x)
        turning, moving = (np.abs(x).max(axis=1, initial=0.0) for x in halves(S))
        along = turning < 1e-9 * (1 + moving)
        C = np.where(along, self.scales.length, self.columns())
        values = np.einsum("erk,ek->er", W[self.loop, self.end], S[self.column] * C[self.column][:, None])
        return LoopRows(W, units, C, values, motion)

    # ranks

    def diagnose(self, x):
        """Rank and dependencies of the loop rows at a state."""
        loop_rows = self.evaluate(x)
        dependencies = Dependencies(self, loop_rows.values)
        count = len(self.system.constraints)
        free = np.zeros((count, 2, 3), bool)
        rows = np.zeros(self.system.loop_rows, bool)
        points = self._points(loop_rows.motion) / self.scales.length
        wrenches = []
        for shares in dependencies.shares:
            w = self._transmitted_wrenches(shares, loop_rows.W)
            wrenches.append(w)
            indices = np.array(list(w))
            torque, force = halves(np.array(list(w.values())))
            both = np.stack([force, torque - np.cross(points[indices], force)], axis=1)
            free[indices] |= np.abs(both) > REACTION_ZERO * np.abs(both).max(initial=0.0)
            most = max(map(abs, shares.values()))
            rows[[self.places[row] for row, share in shares.items() if abs(share) > REACTION_ZERO * most]] = True
        order = np.empty(count, int)
        order[self.system.join_order.constraint] = np.arange(count)
        redundant_rows = dependencies.count_redundant_rows(wrenches, order)
        keep = dependencies.keep
        return LoopDiagnosis(int(keep.sum()), self.places[~keep], redundant_rows, free, rows)

    def _transmitted_wrenches(self, shares, W):
        """The wrench that self-equilibrated forces in loop rows transmit through each constraint: torque divided by the size of
        the model, then force."""
        result = dict[int, Any]()
        loops = dict[int, list]()
        row_of_link = self.system.row_of_link
        for row, share in shares.items():
            loop = int(np.searchsorted(self.at_row, row, side="right")) - 1
            loops.setdefault(loop, []).append((row - int(self.at_row[loop]), share))
        for loop, own in loops.items():
            both = [sum(share * W[loop, end, k] for k, share in own) for end in (0, 1)]
            result[self.first + loop] = both[1] if np.any(both[1]) else -both[0]
            for link, end in self.cycles[loop]:
                index = int(row_of_link[link])
                if index >= 0:
                    result[index] = result.get(index, 0) + both[end]
        scale = np.array([1 / self.scales.length] * 3 + [1.0] * 3)
        return {index: w * scale for index, w in result.items()}

    def _points(self, motion):
        """Points of all constraints, on their second bodies, relative to `centre`."""
        x, R, _, _ = split_motion(self._end_motions(motion)[:, 1])
        return x + np.einsum("kij,kj->ki", R, self.system.frames[:, SECOND_ORIGIN]) - self.centre(motion)

    # sampled configurations

    def sample_nearby(self, x, random, distance):
        """A state nearby in a random admissible direction with all loops closed; None if they cannot be closed."""
        loop_rows = self.evaluate(x)
        r = random.standard_normal(len(loop_rows.C))
        r -= self._minimum_norm_solution(loop_rows.values, self._multiply(loop_rows.values, r))
        size = np.abs(r).max(initial=0.0)
        if size < 1e-9:
            return None
        x = self._move(x, r * loop_rows.C * distance / size)
        for _ in range(15):
            loop_rows = self.evaluate(x)
            (g,) = self._evaluate_classes(x, loop_rows.motion, lambda c: [c.g], (1,))
            g = g / loop_rows.units
            residual = np.abs(g).max(initial=0.0)
            if not np.isfinite(residual) or residual < SAMPLE_RESIDUAL:
                break
            x = self._move(x, -self._minimum_norm_solution(loop_rows.values, g) * loop_rows.C)
        return x if residual < SAMPLE_RESIDUAL else None

    def _multiply(self, values, v):
        """Â v, [loop, row]."""
        result = np.zeros((len(self.sizes), values.shape[1]))
        np.add.at(result, self.loop, values * v[self.column][:, None])
        return result

    def _minimum_norm_solution(self, values, b):
        """The minimum-norm v with Â v = b."""
        count = int(self.dofs.sum())

        def multiply_transposed(r):
            return np.bincount(self.column, (values * r[self.loop]).sum(axis=1), minlength=count)

        return least_norm(lambda v: self._multiply(values, v), multiply_transposed, b)

    def _move(self, x, step):
        """The state x after a displacement of the joint coordinates."""
        rest = np.zeros(self.passes.layout.algebra - len(step))
        return self.built["retract"](x, np.concatenate([step, rest]))[0]


def halves(A):
    """The first and last three components: of twists and wrenches the angular and the linear part, of G the columns of ẋ and ω."""
    return np.split(A, 2, axis=-1)
