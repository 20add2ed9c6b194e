"""Configurations on the constraints in which coordinates of joints have values that are given, in absolute coordinates.

Where a mechanism has several assemblies the one is meant that it moves to without being taken apart. So the coordinates are led
from the values that they have along a straight line

    ξ(s) = ξ₀ + s (ξ₁ − ξ₀),     0 ≤ s ≤ 1                                                              (1)

in steps that are so short that Newton's method has little left to do after a step along the tangent, or along the way so far.
"""

import numpy as np

from ..describe.topology import spanning_tree
from ..formulations.initial import holds, moving
from ..formulations.outputs import coordinate_units
from .examiner import CLOSED, least

THERE = 1e-12  # by which coordinates and constraints may be off that hold already, lengths over the size of the model
STRIDE = 0.3  # rad, or the size of the model: longest step along the tangent
LITTLE = 0.35  # of that step: what Newton's method may add to it
AGREEING = 1e-6  # by which equations of a change may fail, over it
SHORTEST = 1e-3  # part of the way, below which it is not divided


class Holding:
    """Coordinates of the joints of a model as functions of its configuration, some of which are held.

    f        the numeric face of absolute coordinates;   examiner   of these
    places   of coordinates, by joint: the first, and behind the last
    apart    places of coordinates of joints that are in no loop
    """

    def __init__(self, f, examiner):
        self.f, self.examiner = f, examiner
        joints, in_loops = moving(f.model), {joint.name for loop in spanning_tree(f.model).loops() for joint in loop}
        ends = np.cumsum([0, *[j.dof for j in joints]]).tolist()
        self.places = {j.name: slice(a, b) for j, a, b in zip(joints, ends, ends[1:])}
        self.units = np.array([examiner.length if unit == "m" else 1.0 for j in joints for unit in coordinate_units(j)])
        self.angular = np.array([x for j in joints for x in j.angular], bool)
        self.counted = [self.places[joint.name].start + k for joint, k in f.turns]
        self.quasi = {place for j in joints if j.quasi for place in self._places(j)}
        alone = [j for j in joints if holds(j) and j.name not in in_loops]
        self.apart = [place for j in alone for place in self._places(j) if place not in self.quasi]

    def _places(self, joint):
        at = self.places[joint.name]
        return range(at.start, at.stop)

    def closed(self, t, q, p, wanted, own, base):
        """A configuration on the constraints, or on its way there, and p: with the wanted coordinates where that can be.

        q, p     as placed by the joints, loops open;    base   an assembled configuration and its p, None where there is none
        wanted   values by place;                        own    coordinates that joints in no loop keep, None where they need not
        """
        asked = {place: x for place, x in wanted.items() if place not in self.quasi}
        beside = {place: own[place] for place in self.apart if own is not None and place not in asked}
        if self.assembled(t, q, p, THERE) and self._off(t, q, p, [*asked], [*asked.values()]) <= THERE:
            return q, p
        for held in (asked | beside, asked, beside | {place: x for place, x in asked.items() if place in self.apart}):
            if not held:
                continue
            places, values = [*held], np.array([*held.values()])
            found = None if base is None else self.led(t, base[0], base[1], places, values)
            if found is None and (near := self.kept(t, q, p, places, values)) is not None:
                found = near, p
            if found is not None:
                return found
        return q, p

    def coordinates(self, t, q, p):
        """Of all joints that move, in the order of the model."""
        return self.f.examined["coordinates"](t, q, p).ravel()

    def slopes(self, t, q, p):
        """∂ξ̇/∂v of all of them."""
        return self.f.examined["rates"](t, q, np.zeros(len(self.examiner.columns)), p)[0]

    def kept(self, t, q, p, places, values):
        """The configuration near q with these coordinates, by Newton's method; None where none is found."""
        return self._corrected(t, q, p, places, values)[0]

    def _off(self, t, q, p, places, values):
        """How far coordinates are from these values, lengths over the size of the model."""
        return np.abs((self.coordinates(t, q, p)[places] - values) / self.units[places]).max(initial=0.0)

    def _corrected(self, t, q, p, places, values):
        """The same, and how far something moved."""
        off = lambda q: (self.coordinates(t, q, p)[places] - values) / self.units[places]
        return self.examiner.assemble(t, q, p, more=(off, lambda q: self._rows(t, q, p, places)))

    def _rows(self, t, q, p, places):
        return self.slopes(t, q, p)[places] * self.examiner.columns / self.units[places][:, None]

    def assembled(self, t, q, p, limit=CLOSED):
        """Whether the constraints hold."""
        return np.abs(self.examiner.g(t, q, p) / self.examiner.units(t, q, p)).max(initial=0.0) <= limit

    def led(self, t, q, p, places, values):
        """The configuration with these coordinates that an assembled one, q, moves to (1), and p with the angles that turns are
        counted from; None where it does not come there. An angle that is more than a turn away is not led round and round."""
        p, values = p.copy(), np.array(values, float)
        p = self._counted(t, q, p)
        first = self.coordinates(t, q, p)[places]
        way = values - first
        turns = np.where(self.angular[places], 2 * np.pi * np.trunc(way / (2 * np.pi)), 0.0)
        way, s, step, along = way - turns, 0.0, 1.0, None
        A, b = self._tangent(t, q, p, places, way)
        if np.abs(A @ least(A, b) - b).max(initial=0.0) > AGREEING * np.abs(b).max(initial=0.0):
            return None  # they cannot move like that together
        while s < 1:
            goal = 1.0 if s + step > 1 - SHORTEST / 2 else s + step
            found = self._stepped(t, q, p, places, first + goal * way, (goal - s) * way, goal - s, along)
            if found is None:
                step /= 2
                if step < SHORTEST:
                    return None
                continue
            q, along = found
            p, s, step = self._counted(t, q, p), goal, 2 * step
        count = len(self.f.model.inputs)
        for k, place in enumerate(self.counted):
            p[count + k] += turns[places.index(place)] if place in places else 0.0
        return q, p

    def _stepped(self, t, q, p, places, values, change, part, along):
        """One step of the way, and û per unit of it; None where it is too long."""
        for u in (least(*self._tangent(t, q, p, places, change)), None if along is None else part * along):
            step = None if u is None else self.examiner.columns * u
            size = np.inf if u is None else self.examiner.rate(step)
            if size <= STRIDE:
                found, moved = self._corrected(t, self.examiner.move(q, step), p, places, values)
                if found is not None and moved <= LITTLE * size + CLOSED:
                    return found, u / part
        return None

    def _tangent(self, t, q, p, places, change):
        """Equations A û = b of a change of the coordinates that the constraints permit."""
        A = np.vstack([self.examiner.matrix(t, q, p), self._rows(t, q, p, places)])
        return A, np.concatenate([np.zeros(len(A) - len(places)), change / self.units[places]])

    def _counted(self, t, q, p):
        """p with turns counted from the angles at q."""
        p = p.copy()
        p[len(self.f.model.inputs) :] = self.coordinates(t, q, p)[self.counted]
        return p
