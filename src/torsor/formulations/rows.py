"""The constraints of a model as rows: residuals, Jacobian and acceleration right-hand side, all derived.

    0 = g(x, R, t)                                                     position level                   (1)
    0 = ψ = G v + g_t              G = ∂ψ/∂v                           velocity level                   (2)
    0 = G v̇ − γ,                   γ = −(ψ̇ at held v)                 acceleration level               (3)

A holonomic constraint declares g and ψ is its rate; a velocity-level one declares ψ.
"""

from dataclasses import dataclass

import casadi as ca

from ..errors import ModelError
from .lie_derivative import rate, velocities


@dataclass(frozen=True)
class Row:
    """One scalar equation: which constraint it belongs to, its place there, and what it stops."""

    constraint: object
    index: int
    direction: str
    holonomic: bool

    @property
    def label(self):
        return f"{self.constraint.name}[{self.index}]"

    def __str__(self):
        return f"{self.constraint.name}: {self.direction}"


@dataclass
class Block:
    """The rows of one constraint."""

    constraint: object
    holonomic: bool
    bodies: list
    directions: list
    g: ca.SX
    psi: ca.SX
    G: list  # one matrix per body
    gamma: ca.SX

    def rows(self):
        return [Row(self.constraint, k, self.directions[k], self.holonomic) for k in range(self.psi.shape[0])]


def derive(constraint, meaning):
    """All levels of one constraint, or None if it has no rows."""
    told = constraint.equations()
    g, psi = told.position, told.velocity
    raw = g if g is not None else psi
    if raw is None:
        raise ModelError(f"{constraint.owner}: declares neither a position- nor a velocity-level equation")
    if raw.shape[0] == 0:
        return None
    meaning.needs_orientation(constraint, raw)
    holonomic = g is not None
    first = meaning.of(raw)
    bodies = meaning.bodies(first)
    if not bodies:
        raise ModelError(f"{constraint.owner}: no moving body occurs in it")
    psi = rate(first, bodies) if holonomic else first  # (2)
    G = [ca.jacobian(psi, velocities(body)) for body in bodies]
    speeds = ca.vertcat(*[velocities(body) for body in bodies])
    if ca.depends_on(ca.vertcat(*[ca.vec(J) for J in G]), speeds):
        level = "position" if holonomic else "velocity"
        raise ModelError(f"{constraint.owner}: a {level}-level constraint must be linear in the velocities")
    gamma = -rate(psi, bodies)  # (3)
    g = first if holonomic else ca.SX.zeros(raw.shape[0])
    return Block(constraint, holonomic, bodies, told.directions, g, psi, G, gamma)
