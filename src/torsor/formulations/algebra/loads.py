"""Generalised forces, potential energy and power of a model, from the declarations of its forces.

f = −∂U/∂(x, θ) − ∂D/∂v + Σ (∂u/∂v)ᵀ e                                                         (1)
P = −v·∂D/∂v + Σ (∂u/∂v v)·e + ∂U/∂t   power that changes the energy T + U                      (2)

A force that events switch is multiplied by the memory (1 or 0) that says whether it is active. A force in a joint that events
release is multiplied by the memory of the joint. An effort that depends on reactions or accelerations is an unknown here; see
`algebraic_loops.py`.
"""

import math

import casadi as ca

from ...elements.quantity import time
from ...errors import ModelError
from ...lookup.lookup_calls import plain
from .algebraic_loops import reaction_symbols
from .lie_derivative import gradient, velocities
from .safe_norm import regularise_norms


class Loads:
    """Sums over all forces.

    on          generalised force on each body, by identity
    along       generalised force along the coordinates of each link, by identity
    potential   U
    power       P
    unknowns    (unknown y, definition e) of every implicit effort, by force and index; shared with the loads `like`

    weight      True if the model's gravity is a force; False for a tree, whose roots accelerate with −g instead
    """

    def __init__(self, model, substitution, along=(), weight=True, like=None):
        self.substitution, self.links = substitution, along
        self.on = {id(body): ca.SX.zeros(velocities(body).shape[0]) for body in model.bodies}
        self.along = {id(link): ca.SX.zeros(link.v.shape[0]) for link in along}
        self.potential, self.power = ca.SX(0), ca.SX(0)
        self.unknowns = {} if like is None else like.unknowns
        self._switched = {id(element) for element in model.switched_elements}
        self._armed = {id(element): element.armed.symbol for element in model.armable}
        self._implicit_symbols = reaction_symbols(model) if model.forces else set()
        for force in model.all_forces if weight else model.forces:
            self._add(force)

    @property
    def size(self):
        """Number of scalar unknowns."""
        return sum(y.shape[0] for y, _ in self.unknowns.values())

    def unknown(self):
        """All unknowns, as one column."""
        return ca.vertcat(*[y for y, _ in self.unknowns.values()], ca.SX(0, 1))

    def definitions(self):
        """The definitions of all unknowns, as one column of signals."""
        return ca.vertcat(*[e for _, e in self.unknowns.values()], ca.SX(0, 1))

    def _add(self, force):
        U, D = force.potential(), force.dissipation()
        gates = [*force.within(), *([force] if force.gated else [])]
        gate = math.prod((x.active.symbol for x in gates if id(x) in self._switched), start=1)
        gate *= self._armed.get(id(getattr(force, "host", None)), 1)  # 0 for friction in a disarmed contact
        if U is not None:
            U = gate * self.substitution.of(regularise_norms(U))
            self.potential += U
            self.power += ca.jacobian(U, time)  # (2)
            for body in self.substitution.bodies(U):
                self.on[id(body)] -= gradient(U, body).T  # (1)
            for link in self._links(U, "x"):
                self.along[id(link)] -= ca.jacobian(U, link.x).T
        if D is not None:
            D = gate * self.substitution.of(regularise_norms(D))
            for body in self.substitution.bodies(D):
                v = velocities(body)
                push = -ca.jacobian(D, v).T
                self.on[id(body)] += push  # (1)
                self.power += ca.dot(push, v)  # (2)
            for link in self._links(D, "v"):
                self.along[id(link)] -= ca.jacobian(D, link.v).T
        for index, (velocity, effort) in enumerate(force.efforts()):
            u = self.substitution.of(velocity)
            e = self._effort(force, index, gate * effort)
            for body in self.substitution.bodies(u):
                v = velocities(body)
                J = plain(ca.jacobian(u, v))
                if ca.depends_on(ca.vec(J), v):
                    raise ModelError(
                        f"{force.owner}: the velocity of an effort must be linear in the bodies' velocities"
                    )
                self.on[id(body)] += J.T @ e  # (1)
                self.power += ca.dot(J @ v, e)  # (2)
            for link in self._links(u, "v"):
                self.along[id(link)] += ca.jacobian(u, link.v).T @ e

    def _effort(self, force, index, effort):
        """An explicit effort in symbols of the bodies, or the unknown of an implicit one."""
        if not any(s.element_hash() in self._implicit_symbols for s in ca.symvar(effort)):
            return self.substitution.of(regularise_norms(effort))
        key = (id(force), index)
        if key not in self.unknowns:
            self.unknowns[key] = (ca.SX.sym(f"effort{len(self.unknowns)}", effort.shape[0]), ca.densify(effort))
        return self.unknowns[key][0]

    def _links(self, expression, attribute):
        """Links whose coordinates ("x") or velocities ("v") occur in an expression."""
        return [link for link in self.links if link.v.shape[0] and ca.depends_on(expression, getattr(link, attribute))]
