"""Values of signals: reactions and multipliers from λ, signals of joints and grounds from the motion of the bodies."""

from functools import cached_property

import casadi as ca

from .contact_load_sharing import share_friction_loads, spread_over_contacts
from .reaction_sharing import least_loads

REACTIONS = ("reaction_force", "reaction_torque", "multiplier")


class SignalValues:
    """Values of signals for given accelerations v̇ and multipliers λ of the rows in use.

    shared   True: redundant contacts, friction and other constraints share loads; False: only contacts, which is linear in λ
    """

    def __init__(self, formulation, a, lam, shared=True):
        self.f = formulation
        self.a = a
        self._lam = lam
        self._shared = shared
        self._values = {}
        contacts = self.f.redundant_contact_rows() if lam.shape[0] == len(self.f.keep) else []
        self._spread = spread_over_contacts(self.f)(lam) if contacts else None

    @cached_property
    def lam(self):
        """λ of the rows in use, of redundant contacts, of redundant friction, and of redundant rows that share loads."""
        lam = self._lam if self._spread is None else self._spread
        if not self._shared:
            return lam

        def values(lam):
            return SignalValues(self.f, self.a, lam, shared=False)

        if self.f.redundant_friction_rows():
            lam = share_friction_loads(self.f, self._lam, lambda friction, lam: values(lam).of(friction.holding()))
        return least_loads(self.f, lam, values) if self.f.load_sharing_rows() else lam

    @cached_property
    def _origins(self):
        """The origin (constraint, name of the quantity, index) of each scalar symbol of reactions and multipliers."""
        origins = {}
        for c in self.f.model.constraints:
            for what in REACTIONS:
                block = getattr(c, what, None)
                for k, s in enumerate([] if block is None else block.nonzeros()):
                    origins[s.element_hash()] = (c, what, k)
        return origins

    def reaction(self, connection):
        """Force and torque that a connection exerts on its second body, at its frame there, in world axes."""
        if id(connection) not in self._values:
            F, T = self.f.reaction(connection, self.lam, self.a)
            self._values[id(connection)] = {"reaction_force": ca.densify(F), "reaction_torque": ca.densify(T)}
        return tuple(self._values[id(connection)].values())

    def _value(self, constraint, what):
        """A reaction force, reaction torque or multiplier of a constraint."""
        if what == "multiplier":
            key = (id(constraint), what)
            if key not in self._values:
                self._values[key] = ca.densify(self.f.multiplier_of(constraint, self.lam, self.a))
            return self._values[key]
        return self.reaction(constraint)[REACTIONS.index(what)]

    def multiplier(self, constraint):
        """λ of all rows of a constraint, 0 for rows that are not active."""
        return self._value(constraint, "multiplier")

    def of(self, expression):
        """An expression of signals in symbols of the bodies, their accelerations, v̇ and λ."""
        expression = ca.SX(expression)
        symbols = [s for s in ca.symvar(expression) if s.element_hash() in self._origins]
        if symbols:
            origins = [self._origins[s.element_hash()] for s in symbols]
            values = [self._value(c, what)[k] for c, what, k in origins]
            expression = ca.substitute(expression, ca.vertcat(*symbols), ca.vertcat(*values))
        return self.f.substitution.of(expression)
