"""Configurations on the constraints in which coordinates of joints have values that are given, in absolute coordinates.

Where a mechanism has several assemblies the one is meant that it moves to without being taken apart. So the coordinates are led
from the values that they have along a straight line

    ξ(s) = ξ₀ + s (ξ₁ − ξ₀),     0 ≤ s ≤ 1                                                              (1)

in steps along the way and its curvature, so short that Newton's method has little left to do. Values that no assembly has together
are approached as closely as one can (`nearest.py`).
"""

import numpy as np

from ..describe.topology import spanning_tree
from ..formulations.initial import holds, moving
from ..formulations.outputs import coordinate_units
from .diagnosis import independent
from .examiner import CLOSED, ROUNDING, least
from .impostors import ASSEMBLED, impostors, misaligned
from .nearest import nearest

THERE = 1e-12  # by which coordinates and constraints may be off that hold already, lengths over the size of the model
STRIDE = 0.7  # rad, or the size of the model: longest step
FIRST = 0.3  # likewise, where its curvature is not known
LITTLE, LEAST = 0.35, 0.1  # of that step, and rad, or the size of the model: what Newton's method may add to it
SAFE = 0.5  # part of that, for which the next step is meant
ROUGHLY = 1e-6  # by which coordinates and constraints may be off on the way
AGREEING = 1e-6  # by which equations of a change may fail, over it
SHORTEST = 1e-3  # part of the way, below which it is not divided
PASSING = 1e-4  # rad, or the size of the model: length of a step that passes a singular position
NEAR, TRIED = 0.3, 3  # rad, or the size of the model: how far places near the base are, and how many are tried


class Holding:
    """Coordinates of the joints of a model as functions of its configuration, some of which are held.

    f        the numeric face of absolute coordinates;   examiner   of these
    places   of coordinates, by joint: the first, and behind the last
    in_loops   joints that are;   apart   places of coordinates of joints that are in no loop
    """

    def __init__(self, f, examiner):
        self.f, self.examiner = f, examiner
        joints = moving(f.model)
        self.in_loops = {joint.name for loop in spanning_tree(f.model).loops() for joint in loop}
        ends = np.cumsum([0, *[j.dof for j in joints]]).tolist()
        self.places = {j.name: slice(a, b) for j, a, b in zip(joints, ends, ends[1:])}
        self.units = np.array([examiner.length if unit == "m" else 1.0 for j in joints for unit in coordinate_units(j)])
        self.angular = np.array([x for j in joints for x in j.angular], bool)
        self.counted = [self.places[joint.name].start + k for joint, k in f.turns]
        first = [self.places[j.name].start for j in joints if j.quasi]
        self.turned = [[k, k + 1, k + 2] for k in first]  # rotation vectors
        alone = [j for j in joints if holds(j) and j.name not in self.in_loops]
        self.apart = [place for j in alone for place in self._places(j)]
        self._likely: dict[tuple, list] = {}

    def _places(self, joint):
        at = self.places[joint.name]
        return range(at.start, at.stop)

    def closed(self, t, q, p, wanted, own, base):
        """A configuration on the constraints, or on its way there, and p: with the wanted coordinates where that can be.

        q, p     as placed by the joints, loops open;    base   an assembled configuration and its p, None where there is none
        wanted   values by place;                        own    coordinates that joints in no loop keep, None where they need not
        """
        beside = {place: own[place] for place in self.apart if own is not None and place not in wanted}
        if self.assembled(t, q, p, THERE) and self._off(t, q, p, [*wanted], [*wanted.values()]) <= THERE:
            return q, p
        for held in (wanted | beside, wanted):
            if not held:
                continue
            places, values = [*held], np.array([*held.values()])
            found = None if base is None else self.led(t, base[0], base[1], places, values)
            if found is None and self._meant(t, near := self.kept(t, q, p, places, values), p):
                found = near, p
            if found is not None:
                return found
        return self._nearest(t, q, p, wanted, beside, base)

    def _nearest(self, t, q, p, wanted, beside, base):
        """As near to the wanted coordinates as the constraints allow, others beside them as they are: from the base, from places
        near it, since it may be an extreme itself, or from where the joints placed the bodies, whichever comes nearest."""
        given, count, random = wanted | beside, len(self.f.model.inputs), np.random.default_rng(1)
        held = {place: x for place, x in given.items() if place in self.apart}
        asked = {place: x for place, x in wanted.items() if place not in self.apart}
        p = p.copy()
        for k, place in enumerate(self.counted):
            p[count + k] = given.get(place, p[count + k])
        near = [] if base is None else [self.examiner.wander(t, *base, random, NEAR) for _ in range(TRIED)]
        best = q, np.inf
        for first in [*([] if base is None else [base[0]]), *near, q]:
            found = None if first is None else nearest(self, t, first, p, asked, held)
            if found is not None and found[1] < (1 - CLOSED) * best[1] and self._meant(t, found[0], p):
                best = found
            if best[1] <= THERE:
                break
        return best[0], p

    def _meant(self, t, q, p):
        """Whether a configuration was found, and all constraints are in it as what they are."""
        if q is None or misaligned(self.f, t, q, p):
            return False
        joints = [self.f.model.joints[k] for k in impostors(self.f, self.examiner.length, ASSEMBLED, t, q, p)]
        return all(id(joint) in self.f.released for joint in joints)

    def coordinates(self, t, q, p):
        """Of all joints that move, in the order of the model."""
        return self.f.examined["coordinates"](t, q, p).ravel()

    def slopes(self, t, q, p):
        """∂ξ̇/∂v of all of them."""
        if self.turned:
            return self.f.examined["slopes"](t, q, p)
        return self.f.examined["rates"](t, q, np.zeros(len(self.examiner.columns)), p)[0]

    def away(self, t, q, p, places, values):
        """How far coordinates are from these values, lengths over the size of the model."""
        every = self.coordinates(t, q, p)
        for at, other, _ in self.other_way(every, places, values):
            every[at] = other
        return (every[places] - values) / self.units[places]

    def rows(self, t, q, p, places, values):
        """The slope of that by û."""
        J = self.slopes(t, q, p)
        if self.turned:
            for at, _, slope in self.other_way(self.coordinates(t, q, p), places, values):
                J[at] = slope @ J[at]
        return J[places] * self.examiner.columns / self.units[places][:, None]

    def other_way(self, every, places, values):
        """Rotation vectors w that are nearer to their values the other way round, w' = w (1 − 2π/|w|): places, w' and ∂w'/∂w."""
        wanted = dict(zip(places, values))
        for at in self.turned:
            w, size = every[at], np.linalg.norm(every[at])
            if size > 0 and all(place in wanted for place in at):
                value, part = [wanted[place] for place in at], 2 * np.pi / size
                if np.linalg.norm((1 - part) * w - value) < np.linalg.norm(w - value):
                    yield at, (1 - part) * w, (1 - part) * np.eye(3) + part * np.outer(w, w) / size**2

    def kept(self, t, q, p, places, values):
        """The configuration near q with these coordinates, by Newton's method; None where none is found."""
        return self.corrected(t, q, p, places, values)[0]

    def _off(self, t, q, p, places, values):
        return np.abs(self.away(t, q, p, places, values)).max(initial=0.0)

    def corrected(self, t, q, p, places, values, limit=ROUNDING):
        """The same, and how far something moved."""
        off, rows = (lambda q: self.away(t, q, p, places, values)), (lambda q: self.rows(t, q, p, places, values))
        return self.examiner.assemble(t, q, p, more=(off, rows), limit=limit)

    def assembled(self, t, q, p, limit=CLOSED):
        """Whether the constraints hold."""
        return np.abs(self.examiner.g(t, q, p) / self.examiner.units(t, q, p)).max(initial=0.0) <= limit

    def led(self, t, q, p, places, values):
        """The configuration with these coordinates that an assembled one, q, moves to (1), and p with the angles that turns are
        counted from; None where it does not come there. An angle that is more than a turn away is not led round and round."""
        p, values = self._counted(t, q, p), np.array(values, float)
        first = self.coordinates(t, q, p)[places]
        way = values - first
        turns = np.where(self.angular[places], 2 * np.pi * np.trunc(way / (2 * np.pi)), 0.0)
        way, s, longest, before = way - turns, 0.0, 1.0, None
        A, b = self._tangent(t, q, p, places, values - turns, way)
        square = self._square(A, places)
        side = self._side(A, square)
        while s < 1:
            along = least(A, b)  # û per unit of the way
            if s == 0 and np.abs(A @ along - b).max(initial=0.0) > AGREEING * np.abs(b).max(initial=0.0):
                return None  # they cannot move like that together
            while True:
                step = min(longest, 1 - s, self._longest(along, before))
                goal = 1.0 if step >= (1 - s) * (1 - CLOSED) else s + step
                found, part = self._stepped(t, q, p, places, first + goal * way, step, along, before, goal == 1)
                longest = step * np.clip((SAFE / max(part, 1e-9)) ** (1 / 3), 0.3, 2.0)
                if part <= 1:
                    turned = self._counted(t, found, p)
                    A, b = self._tangent(t, found, turned, places, values - turns, way)
                    there = self._side(A, square)
                    if side * there >= 0 or step * self._size(along) <= PASSING:
                        break
                    longest = step / 2
                if part > 1 and longest < SHORTEST:
                    return None
            before, q, p, s, side = (step, along), found, turned, goal, there or side
        count = len(self.f.model.inputs)
        for k, place in enumerate(self.counted):
            p[count + k] += turns[places.index(place)] if place in places else 0.0
        return q, p

    def _longest(self, along, before):
        """Part of the way that a step may be."""
        size = self._size(along)
        return (FIRST if before is None else STRIDE) / size if size > 0 else 1.0

    def _size(self, along):
        return self.examiner.rate(self.examiner.columns * along)

    def _square(self, A, places):
        """Rows that determine all velocities; None where there are not so many."""
        keep, _ = independent(A, self._likely.get((len(A), *places)))
        self._likely = {(len(A), *places): keep}
        return keep if len(keep) == A.shape[1] else None

    def _side(self, A, square):
        """The sign of their determinant: it changes from an assembly to its neighbour, and where a singular position is passed."""
        return 0.0 if square is None else float(np.linalg.slogdet(A[square])[0])

    def _stepped(self, t, q, p, places, values, step, along, before, last):
        """One step of the way, its curvature from the step before; and what Newton's method adds, over what it may."""
        bend = 0.0 if before is None else (along - before[1]) * step**2 / (2 * before[0])
        move = self.examiner.columns * (step * along + bend)
        limit = ROUNDING if last else ROUGHLY
        found, moved = self.corrected(t, self.examiner.move(q, move), p, places, values, limit)
        part = moved / (min(LITTLE * self.examiner.rate(move), LEAST) + CLOSED)
        return found, np.inf if found is None else part

    def _tangent(self, t, q, p, places, values, change):
        """Equations A û = b of a change of the coordinates that the constraints permit."""
        A = np.vstack([self.examiner.matrix(t, q, p), self.rows(t, q, p, places, values)])
        return A, np.concatenate([np.zeros(len(A) - len(places)), change / self.units[places]])

    def _counted(self, t, q, p):
        """p with turns counted from the angles at q."""
        p = p.copy()
        p[len(self.f.model.inputs) :] = self.coordinates(t, q, p)[self.counted]
        return p
