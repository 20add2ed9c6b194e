"""Generalised forces, energies and power of a model, from what its forces declare.

f = −∂U/∂(x, θ) − ∂D/∂v + Σ (∂u/∂v)ᵀ e                                                         (1)
P = −v·∂D/∂v + Σ (∂u/∂v v)·e + ∂U/∂t   power that changes the energy T + U                      (2)
"""

import casadi as ca

from ..errors import ModelError
from ..quantity import time
from .lie_derivative import gradient, velocities


class Loads:
    """Sum over all forces: `on[body]` the generalised force, `along[link]` the one along joint coordinates that are state,
    `potential` U, `power` P."""

    def __init__(self, model, meaning, along=(), without=()):
        self.meaning, self.links = meaning, along
        self.on = {id(body): ca.SX.zeros(velocities(body).shape[0]) for body in model.bodies}
        self.along = {id(link): ca.SX.zeros(link.v.shape[0]) for link in along}
        self.potential, self.power = ca.SX(0), ca.SX(0)
        for force in model.all_forces:
            if force.key not in without:
                self._add(force)

    def _add(self, force):
        U, D = force.potential(), force.dissipation()
        if U is not None:
            U = self.meaning.of(U)
            self.potential += U
            self.power += ca.jacobian(U, time)  # (2)
            for body in self.meaning.bodies(U):
                self.on[id(body)] -= gradient(U, body).T  # (1)
            for link in self._links(U, "x"):
                self.along[id(link)] -= ca.jacobian(U, link.x).T
        if D is not None:
            D = self.meaning.of(D)
            for body in self.meaning.bodies(D):
                v = velocities(body)
                push = -ca.jacobian(D, v).T
                self.on[id(body)] += push  # (1)
                self.power += ca.dot(push, v)  # (2)
            for link in self._links(D, "v"):
                self.along[id(link)] -= ca.jacobian(D, link.v).T
        for velocity, effort in force.efforts():
            u, e = self.meaning.of(velocity), self.meaning.of(effort)
            for body in self.meaning.bodies(u):
                J, v = ca.jacobian(u, velocities(body)), velocities(body)
                if ca.depends_on(ca.vec(J), v):
                    raise ModelError(
                        f"{force.owner}: the velocity of an effort must be linear in the bodies' velocities"
                    )
                self.on[id(body)] += J.T @ e  # (1)
                self.power += ca.dot(J @ v, e)  # (2)
            for link in self._links(u, "v"):
                self.along[id(link)] += ca.jacobian(u, link.v).T @ e

    def _links(self, expression, what):
        """Links whose own coordinates or velocities occur in an expression."""
        return [link for link in self.links if link.v.shape[0] and ca.depends_on(expression, getattr(link, what))]
