"""Contacts, stops and dry friction in equilibrium.

Closed gaps are constraints that can only push, and dry friction sticks up to its limit:

    gap = 0,  λ ≥ 0    or    gap > 0,  λ = 0;          |λ_t| ≤ c_s                                        (1)

A contact closes if a step would pass through it and opens if it would pull. Friction is released if its limit is exceeded, and
that element stays frictionless during the search. At the equilibrium that is found it sticks again, without a force.
"""

from dataclasses import replace

import casadi as ca
import numpy as np

from ..equations import FORCE_RESIDUALS
from .contact_multipliers import Cone, multipliers_in_cones
from .equilibrium_tolerances import FORCE_EXCEEDED, GAP_CLOSED
from .force_balance import stack_residuals


class ContactsAtRest:
    """Contacts and dry friction of a mechanism, and their active set.

    sides               pairs of a contact and the index of one of its gaps
    released_friction   ids of friction elements that were released during the search
    """

    def __init__(self, mechanism):
        self.mechanism, model = mechanism, mechanism.model
        self.switched = {id(element): k for k, element in enumerate(model.switched_elements)}
        self.contacts = [c for c in model.constraints if c.one_sided and id(c) in self.switched]
        self.friction = [c for c in model.constraints if c.dry_friction and id(c) in self.switched]
        self.memory_places = {id(m): model.input_layout.place(m) for m in model.memories}
        self.sides = [(c, k) for c in self.contacts for k in range(len(c.labels()))]
        self._gaps = ca.vertcat(*[gap for c in self.contacts for gap in c.gaps()], ca.SX(0, 1))
        self.released_friction: set = set()

    @property
    def any(self):
        """True if the model has contacts or dry friction."""
        return bool(self.contacts or self.friction)

    def acts(self, point, element):
        """True if an element is active at an operating point."""
        return self.switched.get(id(element)) not in point.released

    def is_armed(self, point, element):
        """True unless an element is disarmed at an operating point."""
        here = self.memory_places.get(id(element._armed))
        return here is None or point.p[here] == 1.0

    def gaps(self, point):
        """All gaps divided by the size of the model, in the order of `sides`."""
        if not self.contacts:
            return np.zeros(0)
        m = self.mechanism
        at = (point.t, point.q, point.v, point.p)
        return m.equations.outputs(self._gaps, *at, m.zero_unknowns()) / m.system.length

    def switch(self, point, element, on, side=0):
        """The operating point with an element switched on or off."""
        p, here = np.array(point.p), self.switched[id(element)]
        released = {*point.released} - {here} if on else {*point.released} | {here}
        p[self.memory_places[id(element.active)]] = float(on)
        for k, memory in enumerate(getattr(element, "sides", ())):
            p[self.memory_places[id(memory)]] = float(on and k == side)
        return point.with_changes(p=p, released=tuple(sorted(released)))

    def close_touching(self, point):
        """The operating point with all touching contacts closed, and all friction that can stick."""
        return self.engage_friction(self.close_gaps_below(point, GAP_CLOSED)[0])

    def close_gaps_below(self, point, threshold=-GAP_CLOSED):
        """The operating point with all open gaps below the threshold closed, and True if there was one."""
        result = False
        for (contact, k), gap in zip(self.sides, self.gaps(point)):
            if gap < threshold and not self.acts(point, contact) and self.is_armed(point, contact):
                point, result = self.switch(point, contact, True, k), True
        return point, result

    def engage_friction(self, point):
        """The operating point with friction sticking on all active contacts, except released friction."""
        for f in self.friction:
            hosts = [*f.within()] + ([] if f.host is None else [f.host])
            supported = all(id(h) not in self.switched or self.acts(point, h) for h in hosts)
            point = self.switch(point, f, supported and self.is_armed(point, f) and id(f) not in self.released_friction)
        return point

    def redistribute(self, balance):
        """The balance with contact multipliers inside their friction cones, if they are not unique and such multipliers exist."""
        m, point = self.mechanism, balance.point
        active = m.examiner(point).places
        row_index = {row: k for k, row in enumerate(active)}
        cones = self._cones(point, row_index, m.row_units(point, active))
        if not {active[k] for cone in cones for k in (cone.normal, *cone.along)} - set(balance.rows.keep):
            return balance
        directions = m.directions(point, active)["lam"][:, m.equations.sizes["v"] :][:, : len(active)]
        at = (point.t, point.q, point.v, point.p)
        without = balance.unknown._replace(lam=np.zeros_like(balance.unknown.lam))
        L = stack_residuals(m, m.equations.slopes(*at, without, {"lam": directions}, FORCE_RESIDUALS))
        forces_without_multipliers = stack_residuals(m, m.equations.residuals(*at, without))[:, 0]
        L, forces_without_multipliers = (
            balance.reactions.scale_by_mass(L),
            balance.reactions.scale_by_mass(forces_without_multipliers),
        )
        result = multipliers_in_cones(L, -forces_without_multipliers, cones)
        unknown = balance.unknown._replace(lam=directions @ result)
        unbalanced = stack_residuals(m, m.equations.residuals(*at, unknown))[:, 0]
        remaining = np.abs(balance.reactions.scale_by_mass(unbalanced)).max(initial=0.0)
        if not remaining <= FORCE_EXCEEDED * np.abs(forces_without_multipliers).max(initial=0.0):
            return balance
        return replace(balance, unknown=unknown, unbalanced=unbalanced)

    def _cones(self, point, row_index, units):
        """Friction cones of all closed contacts; `row_index`: index of each row among the active ones, `units`: their units."""
        m, f, at = self.mechanism, self.mechanism.equations.f, (point.t, point.q, point.v, point.p)
        result = []
        for contact in self.contacts:
            if self.acts(point, contact):
                normal, along, coefficient = row_index[f.rows_of_constraint[id(contact)][0]], [], 0.0
                for friction in self.friction:
                    if friction.host is contact and self.acts(point, friction) and friction.coefficients():
                        along = [row_index[row] for row in f.rows_of_constraint[id(friction)]]
                        coefficient = m.equations.outputs(ca.SX(friction.coefficients()[1]), *at, m.zero_unknowns())[0]
                result.append(Cone(normal, along, coefficient * units[along] / units[normal]))
        return result

    def open_pulling(self, balance):
        """The operating point with the contact open that pulls most, and its name; None if no contact pulls."""
        f, largest_pull, result = self.mechanism.equations.f, FORCE_EXCEEDED, None
        for contact in self.contacts:
            if self.acts(balance.point, contact):
                row = f.rows_of_constraint[id(contact)][0]
                pull = -balance.unknown.lam[row] / max(balance.multiplier_terms[row], 1e-300)
                largest_pull, result = (pull, contact) if pull > largest_pull else (largest_pull, result)
        if result is None:
            return balance.point, None
        return self.engage_friction(self.switch(balance.point, result, False)), result.name

    def sliding(self, balance):
        """Overloaded friction elements, each with the required force and its limit."""
        result, m, point = [], self.mechanism, balance.point
        at = (point.t, point.q, point.v, point.p)
        for f in self.friction:
            if self.acts(point, f):
                column = ca.vertcat(ca.sqrt(ca.sumsqr(f.multiplier)), f.holding())
                needed, can = m.equations.outputs(column, *at, balance.unknown)
                if needed > can + FORCE_EXCEEDED * (can + balance.multiplier_terms[self._rows(f)].max()):
                    result.append((f, float(needed), float(can)))
        return result

    def _rows(self, friction):
        """Rows of a friction element and of the contact or connection that loads it."""
        rows = self.mechanism.equations.f.rows_of_constraint
        return [row for element in (friction, friction.host, *friction.within()) for row in rows.get(id(element), [])]

    def overload_text(self, balance, slides):
        """A sentence about overloaded friction, without forces if these are not unique."""
        rows = {
            row
            for f in self.friction
            if self.acts(balance.point, f)
            for row in self.mechanism.equations.f.rows_of_constraint[id(f)]
        }
        if rows - set(balance.rows.keep):
            return f" Friction cannot hold that ({', '.join(repr(f.name) for f, *_ in slides)})."
        return "".join(f" {f.name!r} would have to hold {needed:.6g} and holds {can:.6g}." for f, needed, can in slides)

    def status(self, point):
        """State of contacts ("closed", "open") and friction ("holds", "slides") by name; "inactive" if disarmed."""
        words = {c: ("closed", "open") for c in self.contacts} | {f: ("holds", "slides") for f in self.friction}

        def text(element, active, inactive):
            if not self.is_armed(point, element):
                return "inactive"
            return active if self.acts(point, element) else inactive

        return {e.name: text(e, *pair) for e, pair in words.items()}
