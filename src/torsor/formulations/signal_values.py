"""What signals are: reactions and multipliers filled in, joints and grounds expressed by the motion of the bodies."""

from functools import cached_property

import casadi as ca

from .load_sharing import least_loads
from .sharing import shared_out, spread_over_contacts

REACTIONS = ("reaction_force", "reaction_torque", "multiplier")


class SignalValues:
    """Signals for given accelerations v̇ and multipliers λ of the rows in use.

    shared   whether friction that sticks besides others holds its share; else only contacts share their load, which is linear in λ
    """

    def __init__(self, formulation, a, lam, shared=True):
        self.f, self.a, self._given, self._shared = formulation, a, lam, shared
        self._values = {}
        contacts = self.f.loose_contacts() if lam.shape[0] == len(self.f.keep) else []
        self._spread = spread_over_contacts(self.f)(lam) if contacts else None

    @cached_property
    def lam(self):
        """λ of the rows in use, of closed contacts, of the friction beside them, and of redundant rows that share loads."""
        found = self._given if self._spread is None else self._spread
        if not self._shared:
            return found
        values = lambda lam: SignalValues(self.f, self.a, lam, shared=False)
        if self.f.beside():
            found = shared_out(self.f, self._given, lambda friction, lam: values(lam).of(friction.holding()))
        return least_loads(self.f, found, values) if self.f.spare() else found

    @cached_property
    def _places(self):
        """Where each scalar symbol of a reaction comes from: (constraint, what, place there)."""
        found = {}
        for c in self.f.model.constraints:
            for what in REACTIONS:
                block = getattr(c, what, None)
                for k, s in enumerate([] if block is None else block.nonzeros()):
                    found[s.element_hash()] = (c, what, k)
        return found

    def reaction(self, connection):
        """Force and torque that a connection exerts on its second body, at its frame there, in world axes."""
        if id(connection) not in self._values:
            F, T = self.f.reaction(connection, self.lam, self.a)
            self._values[id(connection)] = {"reaction_force": ca.densify(F), "reaction_torque": ca.densify(T)}
        return tuple(self._values[id(connection)].values())

    def _value(self, constraint, what):
        if what == "multiplier":
            key = (id(constraint), what)
            if key not in self._values:
                self._values[key] = ca.densify(self.f.multiplier_of(constraint, self.lam, self.a))
            return self._values[key]
        return self.reaction(constraint)[REACTIONS.index(what)]

    def multiplier(self, constraint):
        """λ of all rows of a constraint, 0 where it does not hold."""
        return self._value(constraint, "multiplier")

    def of(self, expression):
        """An expression of signals in symbols of the bodies, their accelerations, v̇ and λ."""
        expression = ca.SX(expression)
        symbols = [s for s in ca.symvar(expression) if s.element_hash() in self._places]
        if symbols:
            origins = [self._places[s.element_hash()] for s in symbols]
            values = [self._value(c, what)[k] for c, what, k in origins]
            expression = ca.substitute(expression, ca.vertcat(*symbols), ca.vertcat(*values))
        return self.f.substitution.of(expression)
