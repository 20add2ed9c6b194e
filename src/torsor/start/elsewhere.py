"""A start other than the one that a model tells, in numbers and in absolute coordinates: it is brought onto the constraints.

Positions: bodies are placed along the joints, outward from the grounds, each joint with the coordinates that are wanted or that it
has at the model's start. Where that leaves loops open, the mechanism is led from the model's start to the wanted coordinates, those
of joints in no loop as they are (`holding.py`); bodies that are wanted somewhere stay there. Where that cannot be, Newton's method
closes loops with the least change.
Velocities follow level by level (`least_change.py`): the constraints, what is wanted, what the model gives, and the least change of
kinetic energy. Rates that the model leaves open stay open; where velocities of bodies determine them there, they are as at the
model's start.
"""

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..describe.quantity import time
from ..errors import AssemblyError
from ..formulations.evaluation import Evaluated
from ..formulations.initial import drives
from ..lie import poses, so3
from .diagnosis import diagnose
from .given import captured
from .holding import Holding
from .impostors import assembled
from .least_change import CHANGED, by_levels, open_rates
from .nearest import nearest
from .placing import Motion, Placing
from .velocities import completed, floating_trees, given_rows


class Elsewhere:
    """Starts of one model with given values of its parameters.

    f          the numeric face of its absolute coordinates;   examiner   of these
    own        the motion at the model's own start
    known      what `diagnose` need not look for again at the time of that start, by time
    """

    def __init__(self, f, examiner, labels, own: Motion, known=None):
        self.f, self.model, self.examiner, self.own = f, f.model, examiner, own
        self.known = known or {}
        self.places = {label: k for k, label in enumerate(labels)}
        inputs = [symbol.element_hash() for symbol in self.model.inputs]
        self.states = {state.name: inputs.index(state.symbol.element_hash()) for state in self.model.states}
        self.holding = Holding(f, examiner)
        self.at = self.holding.places
        self.placing = Placing(self.model, own, self.at)
        self._bases: dict[tuple, Any] = {}
        self.loose = self._loose()

    def _loose(self):
        """Velocities of bodies that no joint holds, and of the first ones of trees that hang on nothing, by body and quantity."""
        bodies = [tree[0] for tree in self._floating]
        pairs = [(body, dict(zip(("velocity", "angular_velocity"), self.own.speeds[body.name]))) for body in bodies]
        return {
            (body.name, what): x
            for body, pair in pairs
            for what, x in pair.items()
            if not (body.particle and what == "angular_velocity")
        }

    @cached_property
    def _floating(self):
        """Bodies that no joint connects to a ground, in lists that joints connect."""
        return floating_trees(self.model, self.placing.joints)

    def start(self, t, wanted):
        """q, v and p of a start, in absolute coordinates, what is redundant there, and velocities that were completed, in words."""
        p, placing = self.own.p.copy(), self.placing
        p[[self.states[name] for name in wanted.states]] = [*wanted.states.values()]  # constraints may follow them
        base = None if wanted.whole else self._base(t, p, wanted.states)
        own = self.own.coordinates if base is None else self.holding.coordinates(t, *base)
        here, coordinates = None if base is None else placing.poses(base[0]), own.copy()
        for label, value in wanted.coordinates.items():
            coordinates[self.places[label]] = value
        p[len(self.model.inputs) :] = coordinates[self.holding.counted]
        told = {
            body: self._told(wanted, body, here) for body, what in wanted.bodies if what in ("position", "rotation")
        }
        asked = {label.rpartition("[")[0] or label for label in wanted.coordinates}
        q = placing.configuration(told if wanted.whole else placing.placed(t, coordinates, asked, told, here))
        p = captured(self.f, t, q, p)
        values = {} if wanted.whole else {self.places[label]: x for label, x in wanted.coordinates.items()}
        if told and not wanted.whole:
            beside = {place: own[place] for place in self.holding.apart}
            near = self._kept(t, q, p, wanted.bodies, beside | values)
            near = self._kept(t, q, p, wanted.bodies, values) if near is None else near
            q = self._carried(t, q if near is None else near, p, coordinates, asked, told)
        if values:
            q, p = self.holding.closed(t, q, p, values, *((None, None) if told else (own, base)))
        q, _ = assembled(self.f, self.examiner, t, q, p)
        p = captured(self.f, t, q, p)
        found = diagnose(self.examiner, t, q, p, **self.known.get(t, {}))
        v, changes = self._velocities(t, q, p, wanted, found.keep)
        return q, v, p, found, changes

    # positions

    def _base(self, t, p, states):
        """The model's own start at a time with these states, which are in p, and its p: led to where drives are then. None where
        it does not satisfy the constraints."""
        key = (t, *states.items())
        if key not in self._bases:
            try:
                self._bases = {key: self._assembled(t, p.copy())}
            except AssemblyError:
                self._bases = {key: None}
        return self._bases[key]

    def _assembled(self, t, p):
        p[len(self.model.inputs) :] = self.own.coordinates[self.holding.counted]
        q = self.placing.configuration(self.placing.placed(t, self.own.coordinates))
        p = captured(self.f, t, q, p)
        if self.loose:  # what hangs on nothing may be moved by constraints, with all that hangs on it
            there = self.placing.poses(assembled(self.f, self.examiner, t, q, p)[0])
            told = {body: there[body] for body, _ in self.loose}
            q = self.placing.configuration(self.placing.placed(t, self.own.coordinates, told=told))
        undriven, places, values = self._driven
        if places:
            driven = dict(zip(places, values(t, p[: len(self.model.inputs)]).ravel().tolist()))
            near, _ = undriven.examiner.assemble(t, q, p)
            q, p = undriven.closed(t, q, p, driven, self.own.coordinates, None if near is None else (near, p))
        beside = {place: self.own.coordinates[place] for place in self.holding.apart if place not in places}
        kept = self.holding.kept(t, q, p, [*beside], np.array([*beside.values()]))
        found = nearest(self.holding, t, q, p, beside, {}) if kept is None else (kept, 0.0)
        return None if found is None else (found[0], p)

    @cached_property
    def _driven(self):
        """What is held without drives, places of the coordinates that these drive, and where to, of time and inputs."""
        every, inputs = drives(self.model), ca.vertcat(*self.model.inputs, ca.SX(0, 1))
        values = Evaluated(
            ca.Function("driven", [time, inputs], [ca.vertcat(*[c.target() for c in every], ca.SX(0, 1))])
        )
        places = [self.at[c.joint.name].start + c.index for c in every]
        return Holding(self.f, self.examiner.without(every)), places, values

    def _told(self, wanted, body, here):
        """The pose that is wanted of a body."""
        R, x = poses.split((self.own.poses if here is None else here)[body])
        return poses.stacked(wanted.bodies.get((body, "rotation"), R), wanted.bodies.get((body, "position"), x))

    def _carried(self, t, q, p, coordinates, asked, told):
        """A configuration in which what hangs on bodies that are told has these coordinates, loops as well where they can."""
        there = self.placing.poses(q)
        for loops in ((), self.holding.in_loops):
            found = self.placing.placed(t, coordinates, asked, {body: there[body] for body in told}, there, loops)
            carried = self.placing.configuration(found)
            if self.holding.assembled(t, carried, p):
                return carried
        return q

    def _kept(self, t, q, p, bodies, values):
        """A configuration on the constraints in which bodies are where they are wanted, placed so in q, and coordinates have these
        values, by place; None where none is found."""
        speeds = {"position": "velocity", "rotation": "angular_velocity"}
        asked = {(body, speeds[what]): x for (body, what), x in bodies.items() if what in speeds}
        rows = self._picked(dict.fromkeys(asked, np.zeros(3)))[0] * self.examiner.columns
        first = np.cumsum([0, *[3 if b.particle else 12 for b in self.model.bodies]])
        places = {b.name: k for b, k in zip(self.model.bodies, first.tolist())}

        def off(q):
            found = [self.holding.away(t, q, p, [*values], np.array([*values.values()]))]
            for (body, what), x in asked.items():
                at = places[body]
                if what == "velocity":
                    found.append((q[at : at + 3] - x) / self.examiner.length)
                else:
                    found.append(np.array(so3.log(x.T @ q[at + 3 : at + 12].reshape(3, 3, order="F"))).ravel())
            return np.concatenate(found)

        units = np.concatenate([np.full(3, self.examiner.length if what == "velocity" else 1.0) for _, what in asked])
        held = lambda q: self.holding.rows(t, q, p, [*values], np.array([*values.values()]))
        found, _ = self.examiner.assemble(t, q, p, more=(off, lambda q: np.vstack([held(q), rows / units[:, None]])))
        return found

    # velocities

    def _velocities(self, t, q, p, wanted, keep):
        """Velocities that satisfy the constraints, and keep what is wanted; and what was completed, in words."""
        examiner, n = self.examiner, len(self.examiner.columns)
        told = {(body, what): x for (body, what), x in wanted.bodies.items() if what.endswith("velocity")}
        own = open_rates(self.f, t, q, p)
        if wanted.whole:
            v = np.concatenate([self._pair(told, body) for body in self.model.bodies])
            off = np.abs(examiner.psi(t, q, v, p) / examiner.units(t, q, p)).max(initial=0.0)
            if off > CHANGED * examiner.speed(v):
                v = by_levels(examiner, t, q, p, [(np.eye(n), v)], own).v
            return examiner.onto(t, q, v, p, keep), []
        rates, named = self.own.rates.copy(), np.zeros(len(self.places), bool)
        for label, value in wanted.rates.items():
            rates[self.places[label]], named[self.places[label]] = value, True
        given = own.acts & ~own.left_open & ~named  # by the model
        bodies, values = self._picked(told)
        others, speeds = self._picked({pair: x for pair, x in self._given_loose.items() if pair not in told})
        levels = [
            (np.vstack([own.J[named], bodies]), np.concatenate([(rates - own.r0)[named], values])),
            (np.vstack([own.J[given], others]), np.concatenate([(rates - own.r0)[given], speeds])),
        ]
        open_ones = own.left_open & ~named
        own = own._replace(left_open=open_ones, reference=np.where(self._chosen, 0.0, self.own.rates))
        found = by_levels(examiner, t, q, p, levels, own)
        v = examiner.onto(t, q, found.v, p, keep) if len(examiner.rows) else found.v
        return v, completed(self.f, examiner, own, found, v)

    @cached_property
    def _chosen(self):
        """Rates that follow from a least change at the model's own start: they are left open at other starts, too."""
        t = next(iter(self.known), 0.0)
        q = self.placing.configuration(self.own.poses)
        rates = open_rates(self.f, t, q, self.own.p)
        if not self.own.rates[rates.left_open].any():
            return rates.left_open
        E, r0, _ = given_rows(self.f, rates)
        e = self.f.examined["speeds"](self.own.p[: len(self.model.inputs)]).ravel() - r0
        return by_levels(self.examiner, t, q, self.own.p, [(E, e)], rates).chosen

    @cached_property
    def _given_loose(self):
        """Velocities of the first bodies of trees that hang on nothing, where the model gives velocities to bodies of these."""
        given = {t[0].name for t in self._floating if any(b.start_velocity is not None or _turns(b) for b in t)}
        return {pair: x for pair, x in self.loose.items() if pair[0] in given}

    def _pair(self, told, body):
        """Velocity and angular velocity of a body."""
        v, w = self.own.speeds[body.name]
        v, w = told.get((body.name, "velocity"), v), told.get((body.name, "angular_velocity"), w)
        return np.asarray(v) if body.particle else np.concatenate([v, w])

    def _picked(self, told):
        """Rows that pick velocities of bodies, and their values."""
        n, rows, values = len(self.examiner.columns), [], []
        for (body, what), x in told.items():
            first = self.f.offset[id(self.model[body])] + (len(x) if what == "angular_velocity" else 0)
            rows.append(np.eye(n)[first : first + len(x)])
            values.append(x)
        return np.vstack([np.zeros((0, n)), *rows]), np.concatenate([np.zeros(0), *values])


def _turns(body):
    """Whether a body is given an angular velocity."""
    return not body.particle and body.start_angular_velocity is not None
