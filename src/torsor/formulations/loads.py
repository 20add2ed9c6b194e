"""Generalised forces, energies and power of a model, from what its forces declare.

f = −∂U/∂(x, θ) − ∂D/∂v + Σ (∂u/∂v)ᵀ e                                                         (1)
P = −v·∂D/∂v + Σ (∂u/∂v v)·e + ∂U/∂t   power that changes the energy T + U                      (2)

A force that events switch is multiplied with the memory that says whether it acts, a force in a joint that events release
with that of the joint. An effort that depends on reactions or
accelerations stands here as an unknown, see `implicit.py`.
"""

import math

import casadi as ca

from ..describe.quantity import time
from ..errors import ModelError
from .implicit import loaded_symbols
from .lengths import sloped
from .lie_derivative import gradient, velocities


class Loads:
    """Sum over all forces: `on[body]` the generalised force, `along[link]` the one along joint coordinates that are state,
    `potential` U, `power` P.

    weight     whether the model's own gravity is among them; a tree falls with −g instead
    unknowns   (y, e) of every effort e of signals that is implicit, by force and place; `like` hands on those of other loads
    """

    def __init__(self, model, substitution, along=(), weight=True, like=None):
        self.substitution, self.links = substitution, along
        self.on = {id(body): ca.SX.zeros(velocities(body).shape[0]) for body in model.bodies}
        self.along = {id(link): ca.SX.zeros(link.v.shape[0]) for link in along}
        self.potential, self.power = ca.SX(0), ca.SX(0)
        self.unknowns = {} if like is None else like.unknowns
        self._switched = {id(element) for element in model.switched}
        self._armed = {id(element): element.armed.symbol for element in model.armable}
        self._loaded = loaded_symbols(model) if model.forces else set()
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
        """What they are, in signals."""
        return ca.vertcat(*[e for _, e in self.unknowns.values()], ca.SX(0, 1))

    def _add(self, force):
        U, D = force.potential(), force.dissipation()
        gates = [*force.within(), *([force] if force.gated else [])]
        gate = math.prod((x.active.symbol for x in gates if id(x) in self._switched), start=1)
        gate *= self._armed.get(id(getattr(force, "host", None)), 1)  # friction in a contact that is disarmed
        if U is not None:
            U = gate * self.substitution.of(sloped(U))
            self.potential += U
            self.power += ca.jacobian(U, time)  # (2)
            for body in self.substitution.bodies(U):
                self.on[id(body)] -= gradient(U, body).T  # (1)
            for link in self._links(U, "x"):
                self.along[id(link)] -= ca.jacobian(U, link.x).T
        if D is not None:
            D = gate * self.substitution.of(sloped(D))
            for body in self.substitution.bodies(D):
                v = velocities(body)
                push = -ca.jacobian(D, v).T
                self.on[id(body)] += push  # (1)
                self.power += ca.dot(push, v)  # (2)
            for link in self._links(D, "v"):
                self.along[id(link)] -= ca.jacobian(D, link.v).T
        for place, (velocity, effort) in enumerate(force.efforts()):
            u, e = self.substitution.of(velocity), self._effort(force, place, gate * effort)
            for body in self.substitution.bodies(u):
                J, v = ca.jacobian(u, velocities(body)), velocities(body)
                if ca.depends_on(ca.vec(J), v):
                    raise ModelError(
                        f"{force.owner}: the velocity of an effort must be linear in the bodies' velocities"
                    )
                self.on[id(body)] += J.T @ e  # (1)
                self.power += ca.dot(J @ v, e)  # (2)
            for link in self._links(u, "v"):
                self.along[id(link)] += ca.jacobian(u, link.v).T @ e

    def _effort(self, force, place, effort):
        """An effort in symbols of the bodies, or the unknown that stands for it."""
        if not any(s.element_hash() in self._loaded for s in ca.symvar(effort)):
            return self.substitution.of(sloped(effort))
        key = (id(force), place)
        if key not in self.unknowns:
            self.unknowns[key] = (ca.SX.sym(f"effort{len(self.unknowns)}", effort.shape[0]), ca.densify(effort))
        return self.unknowns[key][0]

    def _links(self, expression, what):
        """Links whose own coordinates or velocities occur in an expression."""
        return [link for link in self.links if link.v.shape[0] and ca.depends_on(expression, getattr(link, what))]
