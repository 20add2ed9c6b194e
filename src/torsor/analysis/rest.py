"""What rests on what: contacts, stops and dry friction in equilibrium.

Closed gaps are constraints that may push, and dry friction holds what it touches:

    gap = 0,  λ ≥ 0    or    gap > 0,  λ = 0;          |λ_t| ≤ c_s                                        (1)

A contact closes where a step would lead through it, opens where it would pull, and friction lets go where it cannot hold. What was
let go is frictionless from then on; where the forces have found their balance without it, it holds again and has nothing to bear.
"""

from dataclasses import replace

import casadi as ca
import numpy as np

from ..forces.friction import DryFriction
from ..joints.unilateral import Unilateral
from .balance import stacked
from .equations import FORCES
from .pushing import Cone, pushed

CLOSED = 1e-9  # gap over the size of the model below which it is closed
PULLS = 1e-9  # force over the sizes of the terms that it is the sum of, beyond which a contact that pulls opens


class Rest:
    """Contacts and dry friction of a mechanism, and which of them act."""

    def __init__(self, mechanism):
        self.mechanism, model = mechanism, mechanism.model
        self.switched = {id(element): k for k, element in enumerate(model.switched)}
        self.contacts = [c for c in model.constraints if isinstance(c, Unilateral) and id(c) in self.switched]
        self.friction = [c for c in model.constraints if isinstance(c, DryFriction) and id(c) in self.switched]
        self.places = {id(m): len(model.parameters) + k for k, m in enumerate(model.memories)}
        self.sides = [(c, k) for c in self.contacts for k in range(len(c.labels()))]
        self._gaps = ca.vertcat(*[gap for c in self.contacts for gap in c.gaps()], ca.SX(0, 1))
        self.let_go: set = set()

    @property
    def any(self):
        return bool(self.contacts or self.friction)

    def acts(self, place, element):
        return self.switched.get(id(element)) not in place.released

    def armed(self, place, element):
        """True unless an element is disarmed at a place."""
        here = self.places.get(id(element._armed))
        return here is None or place.p[here] == 1.0

    def gaps(self, place):
        """The size of every gap over that of the model, in the order of `sides`."""
        if not self.contacts:
            return np.zeros(0)
        m = self.mechanism
        at = (place.t, place.q, place.v, place.p)
        return m.equations.outputs(self._gaps, *at, m.nothing()) / m.system.length

    def switch(self, place, element, on, side=0):
        """The place with an element that acts, or does not."""
        p, here = np.array(place.p), self.switched[id(element)]
        released = {*place.released} - {here} if on else {*place.released} | {here}
        p[self.places[id(element.active)]] = float(on)
        for k, memory in enumerate(getattr(element, "sides", ())):
            p[self.places[id(memory)]] = float(on and k == side)
        return place.moved(p=p, released=tuple(sorted(released)))

    def began(self, place):
        """The place with gaps that are closed there, and all friction that can hold."""
        return self.held(self.closed(place, CLOSED)[0])

    def closed(self, place, far=-CLOSED):
        """The place with every gap closed that is smaller, and whether there was one."""
        found = False
        for (contact, k), gap in zip(self.sides, self.gaps(place)):
            if gap < far and not self.acts(place, contact) and self.armed(place, contact):
                place, found = self.switch(place, contact, True, k), True
        return place, found

    def held(self, place):
        """The place with friction wherever what carries it acts."""
        for f in self.friction:
            hosts = [*f.within()] + ([] if f.host is None else [f.host])
            there = all(id(h) not in self.switched or self.acts(place, h) for h in hosts)
            place = self.switch(place, f, there and self.armed(place, f) and id(f) not in self.let_go)
        return place

    def shared(self, balance):
        """The balance with multipliers that push and stay inside the cones of friction, where those of closed contacts are not
        unique and others would do."""
        m, place = self.mechanism, balance.place
        active = m.examiner(place).places
        known = {row: k for k, row in enumerate(active)}
        cones = self._cones(place, known, m.row_units(place, active))
        if not {active[k] for cone in cones for k in (cone.normal, *cone.along)} - set(balance.rows.keep):
            return balance
        ways = m.directions(place, active)["lam"][:, m.equations.sizes["v"] :][:, : len(active)]
        at = (place.t, place.q, place.v, place.p)
        without = balance.unknown._replace(lam=np.zeros_like(balance.unknown.lam))
        L = stacked(m, m.equations.slopes(*at, without, {"lam": ways}, FORCES))
        alone = stacked(m, m.equations.residuals(*at, without))[:, 0]
        L, alone = balance.bearing.caused(L), balance.bearing.caused(alone)
        found = pushed(L, -alone, cones)
        unknown = balance.unknown._replace(lam=ways @ found)
        off = stacked(m, m.equations.residuals(*at, unknown))[:, 0]
        fits = np.abs(balance.bearing.caused(off)).max(initial=0.0) <= PULLS * np.abs(alone).max(initial=0.0)
        return replace(balance, unknown=unknown, off=off) if fits else balance

    def _cones(self, place, known, units):
        """The cone of every closed contact, with the friction that its load limits; `known`: places of rows, `units` of them."""
        m, f, at = self.mechanism, self.mechanism.equations.f, (place.t, place.q, place.v, place.p)
        found = []
        for contact in self.contacts:
            if self.acts(place, contact):
                normal, along, coefficient = known[f.places[id(contact)][0]], [], 0.0
                for rub in self.friction:
                    if rub.host is contact and self.acts(place, rub) and rub.coefficients():
                        along = [known[row] for row in f.places[id(rub)]]
                        coefficient = m.equations.outputs(ca.SX(rub.coefficients()[1]), *at, m.nothing())[0]
                found.append(Cone(normal, along, coefficient * units[along] / units[normal]))
        return found

    def opened(self, balance):
        """The place with the contact open that pulls most, where one does; its name."""
        f, worst, found = self.mechanism.equations.f, PULLS, None
        for contact in self.contacts:
            if self.acts(balance.place, contact):
                row = f.places[id(contact)][0]
                pull = -balance.unknown.lam[row] / max(balance.borne[row], 1e-300)
                worst, found = (pull, contact) if pull > worst else (worst, found)
        if found is None:
            return balance.place, None
        return self.held(self.switch(balance.place, found, False)), found.name

    def sliding(self, balance):
        """Friction that cannot hold what it has to: the element, what it has to hold and what it can."""
        found, m, place = [], self.mechanism, balance.place
        at = (place.t, place.q, place.v, place.p)
        for f in self.friction:
            if self.acts(place, f):
                column = ca.vertcat(ca.sqrt(ca.sumsqr(f.multiplier)), f.holding())
                needed, can = m.equations.outputs(column, *at, balance.unknown)
                if needed > can + PULLS * (can + balance.borne[self._rows(f)].max()):
                    found.append((f, float(needed), float(can)))
        return found

    def _rows(self, friction):
        """Rows of dry friction, and of what loads it."""
        known = self.mechanism.equations.f.places
        return [row for element in (friction, friction.host, *friction.within()) for row in known.get(id(element), [])]

    def refused(self, balance, slides):
        """What friction cannot hold, in words; without numbers where these are not unique."""
        rows = {
            row
            for f in self.friction
            if self.acts(balance.place, f)
            for row in self.mechanism.equations.f.places[id(f)]
        }
        if rows - set(balance.rows.keep):
            return f" Friction cannot hold that ({', '.join(repr(f.name) for f, *_ in slides)})."
        return "".join(f" {f.name!r} would have to hold {needed:.6g} and holds {can:.6g}." for f, needed, can in slides)

    def told(self, place):
        """Whether each contact is closed, and each friction holds."""
        words = {c: ("closed", "open") for c in self.contacts} | {f: ("holds", "slides") for f in self.friction}
        told = lambda e, pair: pair[0 if self.acts(place, e) else 1] if self.armed(place, e) else "inactive"
        return {e.name: told(e, pair) for e, pair in words.items()}
