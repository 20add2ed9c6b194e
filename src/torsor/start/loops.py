"""The loops of a large system in numbers: their rows in joint coordinates, and which of them depend on each other.

The rows of a loop touch the joints of its cycle in the spanning tree alone. They are made dimensionless as everywhere
(`formulations/scales.py`), and the rule of rank is that of `diagnosis.py` (`dependencies.py`):

    Â = G C / unit,     G = W S                                                                       (1)

W   rows of a constraint as wrenches on its two ends, in world axes: what they do to a twist of an end
S   world twists of the joint coordinates

Masses take no part in it. What is found at the start is compared with sampled assembled configurations, so that an accidental
position does not count.
"""

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..formulations.group_schedule import Manifold, blocks
from ..formulations.row_classes import MOTION, parts_of
from ..formulations.schedule import Schedule
from ..formulations.tree_schedule import starts
from .dependencies import Dependencies, least_norm
from .uniqueness import NOTHING, SAMPLES

CLOSED = 1e-11  # residual over the size of the model, at which a sampled configuration is assembled
SECOND = slice(21, 24)  # of the numbers of a constraint: the place of its frame on the second body
MANY = 5000  # rows from which one sampled configuration is enough


class Found(NamedTuple):
    """Ranks and dependencies at one configuration.

    rank        of all rows of the loops
    redundant   places among the rows of all loops
    dropped     rows too many at the join of every constraint
    free        [constraint, 0 or 1, axis]: whether a force or torque that moves nothing has this component, in world axes
    rows        whether the multiplier of each row of the loops is not unique
    """

    rank: int
    redundant: np.ndarray
    dropped: np.ndarray
    free: np.ndarray
    rows: np.ndarray


class Numbers(NamedTuple):
    """The rows of all loops at a state.

    W       [loop, end, row, 6]: torque about the centre of the system, then force, over the units of the rows
    units   of the rows, [loop, row];   C: of the columns
    values  of Â, [entry, row]: entries are the pairs of a loop and a velocity of its cycle
    motion  of all bodies
    """

    W: np.ndarray
    units: np.ndarray
    C: np.ndarray
    values: np.ndarray
    motion: np.ndarray


def examine(loops, x):
    """What is redundant in the loops of a large system: at the start x, or at a sampled assembled configuration where more rows are
    independent. Returns what was found at the start, and there."""
    start = best = loops.found(x)
    if not len(start.redundant):
        return start, start
    random, seen = np.random.default_rng(7), [start]
    for far in SAMPLES[: 1 if len(start.rows) > MANY else None]:
        there = loops.wander(x, random, far)
        if there is not None:
            seen.append(loops.found(there))
            best = max(best, seen[-1], key=lambda found: found.rank)
    for found in seen:
        if found.rank == best.rank:
            best = best._replace(free=best.free | found.free, rows=best.rows | found.rows)
    return start, best


class Loops:
    """The cycles of the loops of a large system, and their rows at any state.

    built   the compiled `schedules`, for who made this to fill in
    """

    built: Any

    def __init__(self, system, passes, scales):
        self.system, self.passes, self.scales = system, passes, scales
        self.tree, self.first = system.tree, system.first_loop
        self.dofs = self.tree.sizes("dimension")
        self.at_v = starts(self.dofs)
        self.sizes = system.sizes[self.first :]
        self.at_row = starts(self.sizes)
        self.cycles = list(self._cycles())
        self._entries()

    # structure

    def _cycles(self):
        """The cycle of every loop, up from both ends until they meet: of each joint its link, and which end it carries."""
        depth = [-1] * (self.tree.n + 1)  # the last one: all grounds
        parents = self.tree.parents.tolist()
        for k, parent in enumerate(parents):
            depth[k] = depth[parent] + 1
        for ends in np.maximum(self.system.touched[self.first :], -1).tolist():
            at, links = list(ends), []
            while at[0] != at[1]:
                end = 0 if depth[at[0]] >= depth[at[1]] else 1
                links.append((at[end], end))
                at[end] = parents[at[end]]
            yield links

    def _entries(self):
        """Pairs of a loop and a velocity of its cycle: which loop, which end, which velocity; and where those of a loop begin."""
        count = [len(links) for links in self.cycles]
        loop = np.repeat(np.arange(len(count)), count)
        pairs = np.array([pair for links in self.cycles for pair in links], int).reshape(-1, 2)
        dofs = self.dofs[pairs[:, 0]]
        own = np.repeat(np.arange(len(pairs)), dofs)
        self.loop, self.end = loop[own], pairs[own, 1]
        self.column = self.at_v[pairs[own, 0]] + np.arange(len(own)) - np.repeat(starts(dofs), dofs)
        self.at_entry = np.searchsorted(self.loop, np.arange(len(count) + 1))

    # kernels

    def schedules(self, map):
        """Kernels (t, x) → the motion of every body, and (x, u) → x after a step u."""
        n = self.tree.n
        s = Schedule("motion", {"t": 1, "x": self.passes.layout.x}, {"motion": MOTION * n}, self.passes.constants)
        body, every = self.passes.motion(s).body, np.arange(MOTION)
        from_, to = ((at[:, None] + every).ravel() for at in (body, MOTION * np.arange(n)))
        blocks(s, lambda x: x, ["memory", "motion"], [from_, to])
        stepping = Manifold(self.tree.groups, self.tree.traces, self.passes.layout).kernels(map)["retract"]
        return {"motion": s, "retract": stepping}

    def motion(self, x):
        """Motion of all bodies, a row of MOTION numbers each."""
        return self.built["motion"](np.zeros(1), x)[0].reshape(-1, MOTION)

    # numbers at a state

    def _ends(self, motion):
        """Motions of both ends of every constraint."""
        ends = self.system.touched
        still = np.hstack([self.system.still, np.zeros((len(self.system.still), 6))])
        every = np.concatenate([motion, still])
        return every[np.where(ends >= 0, ends, len(motion) - 1 - ends)]

    def _of_classes(self, motion, what, count):
        """Functions of a class of rows, evaluated for all loops: a list of arrays (loop, entry)."""
        classes, kinds = self.system.rows
        ends, own = self._ends(motion)[self.first :], kinds[self.first :]
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
        """W / unit of all loops on both ends, and the units of the rows."""
        most = int(self.sizes.max(initial=0))
        both = lambda c: [ca.SX.zeros(c.size, 6) if J is None else J for J in c.G]
        G = np.stack([x.reshape(len(x), most, 6) for x in self._of_classes(motion, both, (6, 6))], axis=1)
        force, torque = halves(G)
        units = np.sqrt(((force * self.scales.length) ** 2 + torque**2).sum(axis=(1, 3)))
        units = np.where(units > 0, units, 1.0)
        x, R, _, _ = parts_of(self._ends(motion)[self.first :])
        torque = torque @ R.swapaxes(2, 3) + np.cross((x - self.centre(motion))[:, :, None, :], force)
        return np.concatenate([torque, force], axis=3) / units[:, None, :, None], units

    @staticmethod
    def centre(motion):
        return parts_of(motion)[0].mean(axis=0)

    def screws(self, x):
        """World twists of all joint coordinates: turning, then the velocity at `centre`, one row each."""
        layout, found = self.passes.layout, np.zeros((int(self.dofs.sum()), 6))
        for k in range(int(self.dofs.max(initial=0))):
            own = np.flatnonzero(self.dofs > k)
            moving = x.copy()
            moving[layout.q : layout.q + layout.v] = 0.0
            moving[layout.q + self.at_v[own] + k] = 1.0
            motion = self.motion(moving)
            place, R, velocity, spin = parts_of(motion)
            turning = np.einsum("kij,kj->ki", R, spin)
            at = velocity - np.cross(turning, place - self.centre(motion))
            twist = np.concatenate([np.hstack([turning, at]), np.zeros((1, 6))])  # the last one: ground
            found[self.at_v[own] + k] = (twist[:-1] - twist[self.tree.parents])[own]
        return found

    def columns(self):
        """C of the joint coordinates."""
        levers = np.array([self.scales.levers.get(b.name, self.scales.length) for b in self.tree.bodies])
        return self.scales.length / np.repeat(levers, self.dofs)

    def numbers(self, x):
        """The rows of all loops at a state."""
        motion = self.motion(x)
        W, units = self.wrenches(motion)
        S = self.screws(x)
        turning, moving = (np.abs(x).max(axis=1, initial=0.0) for x in halves(S))
        along = turning < 1e-9 * (1 + moving)
        C = np.where(along, self.scales.length, self.columns())
        values = np.einsum("erk,ek->er", W[self.loop, self.end], S[self.column] * C[self.column][:, None])
        return Numbers(W, units, C, values, motion)

    # ranks

    def found(self, x):
        """Ranks and dependencies at a state."""
        numbers = self.numbers(x)
        found = Dependencies(self, numbers.values)
        count = len(self.system.constraints)
        free, rows = np.zeros((count, 2, 3), bool), np.zeros(int(self.sizes.sum()), bool)
        points, wrenches = self._points(numbers.motion) / self.scales.length, []
        for shares in found.shares:
            w = self._passing(shares, numbers.W)
            wrenches.append(w)
            places, (torque, force) = np.array(list(w)), halves(np.array(list(w.values())))
            both = np.stack([force, torque - np.cross(points[places], force)], axis=1)
            free[places] |= np.abs(both) > NOTHING * np.abs(both).max(initial=0.0)
            most = max(map(abs, shares.values()))
            rows[[row for row, share in shares.items() if abs(share) > NOTHING * most]] = True
        order = np.empty(count, int)
        order[self.system.merged.constraint] = np.arange(count)
        return Found(int(found.keep.sum()), np.flatnonzero(~found.keep), found.dropped(wrenches, order), free, rows)

    def _passing(self, shares, W):
        """The wrench of forces in rows of the loops, which move nothing, through every constraint: torques over the size of the
        model, then forces."""
        found, loops, row_of_link = dict[int, Any](), dict[int, list](), self.system.row_of_link
        for row, share in shares.items():
            loop = int(np.searchsorted(self.at_row, row, side="right")) - 1
            loops.setdefault(loop, []).append((row - int(self.at_row[loop]), share))
        for loop, own in loops.items():
            both = [sum(share * W[loop, end, k] for k, share in own) for end in (0, 1)]
            found[self.first + loop] = both[1] if np.any(both[1]) else -both[0]
            for link, end in self.cycles[loop]:
                place = int(row_of_link[link])
                if place >= 0:
                    found[place] = found.get(place, 0) + both[end]
        scale = np.array([1 / self.scales.length] * 3 + [1.0] * 3)
        return {place: w * scale for place, w in found.items()}

    def _points(self, motion):
        """Points of all constraints, on their second bodies, from `centre`."""
        x, R, _, _ = parts_of(self._ends(motion)[:, 1])
        return x + np.einsum("kij,kj->ki", R, self.system.frames[:, SECOND]) - self.centre(motion)

    # sampled configurations

    def wander(self, x, random, far):
        """A state nearby in a random admissible direction, with all loops closed; None where they cannot be closed."""
        numbers = self.numbers(x)
        r = random.standard_normal(len(numbers.C))
        r -= self._least(numbers.values, self._times(numbers.values, r))
        size = np.abs(r).max(initial=0.0)
        if size < 1e-9:
            return None
        x = self._moved(x, r * numbers.C * far / size)
        for _ in range(15):
            numbers = self.numbers(x)
            (g,) = self._of_classes(numbers.motion, lambda c: [c.g], (1,))
            g = g / numbers.units
            off = np.abs(g).max(initial=0.0)
            if not np.isfinite(off) or off < CLOSED:
                break
            x = self._moved(x, -self._least(numbers.values, g) * numbers.C)
        return x if off < CLOSED else None

    def _times(self, values, v):
        """Â v, [loop, row]."""
        found = np.zeros((len(self.sizes), values.shape[1]))
        np.add.at(found, self.loop, values * v[self.column][:, None])
        return found

    def _least(self, values, b):
        """The least v with Â v = b."""
        count = int(self.dofs.sum())
        back = lambda r: np.bincount(self.column, (values * r[self.loop]).sum(axis=1), minlength=count)
        return least_norm(lambda v: self._times(values, v), back, b)

    def _moved(self, x, step):
        rest = np.zeros(self.passes.layout.algebra - len(step))
        return self.built["retract"](x, np.concatenate([step, rest]))[0]


def halves(A):
    """Turning and moving parts of twists, torques and forces of wrenches; of G the columns of ẋ, then of ω."""
    return np.split(A, 2, axis=-1)
