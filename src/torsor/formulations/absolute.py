"""Descriptor form on (R³×SO(3))ᴺ, index 1 (Zagreb thesis, eq. 1.8 [zenzerovic2012]; Aslanov et al., eq. 1 to 3 [aslanov2011]).

    M v̇ − Gᵀ λ = f,        G v̇ = γ                                                               (1)
    S λ = γ − G M⁻¹ f,     S = G M⁻¹ Gᵀ = Pᵀ L D Lᵀ P                                             (2)

State: position and rotation of every body's centre of mass, ẋ in world axes, ω in body axes.
f contains −ω × J ω. S is factored symbolically in a fill-reducing order; one factorisation serves accelerations and both
projections:

    δq = −M⁻¹ Gᵀ S⁻¹ g,    δv = −M⁻¹ Gᵀ S⁻¹ ψ            least change in the mass metric            (3)
    e ← e − M⁻¹ Gᵀ S⁻¹ G e                               the part of an error that a projection leaves (4)

and the impulses Λ = −S⁻¹ r with the jump δv = M⁻¹ Gᵀ Λ that changes G v by −r.

A pivot that vanishes against its diagonal (the rank of G has dropped at this configuration) is not divided through: its
multiplier is set to zero, and the smallest ratio is handed on so that a run can report it.
"""

import casadi as ca
import numpy as np

from .. import quantity
from ..lie import SO3, Product, Rn
from ..quantity import time
from ..registry import register
from .base import Formulation, shared
from .factor import SINGULAR, column, correction, solver
from .genuine import alignments, departures
from .implicit import closed
from .lie_derivative import rate, velocities
from .loads import Loads
from .meaning import Meaning
from .outputs import joint_motion_of_bodies
from .rows import derive
from .start import start_functions


@register("absolute")
class Absolute(Formulation):
    """Every body has its own six coordinates; joints are constraints."""

    def __init__(self, model):
        super().__init__(model)
        self.meaning = Meaning(model)
        self.manifold = Product(*[g for b in model.bodies for g in ([Rn(3)] if b.particle else [Rn(3), SO3()])])
        self.q = ca.vertcat(
            *[
                ca.vertcat(b.position) if b.particle else ca.vertcat(b.position, ca.vec(b.rotation))
                for b in model.bodies
            ]
        )
        self.v = ca.vertcat(*[velocities(b) for b in model.bodies])
        self.turns = [(j, k) for j in model.joints for k in range(j.dof) if j.angular[k]]
        self.p = ca.vertcat(*model.inputs, *[j.turn[k] for j, k in self.turns])
        sizes = [velocities(b).shape[0] for b in model.bodies]
        self.offset = dict(zip([id(b) for b in model.bodies], np.cumsum([0, *sizes])))
        self.blocks = [b for b in (derive(c, self.meaning) for c in model.constraints) if b is not None]
        self.rows = [row for block in self.blocks for row in block.rows()]
        self.keep = self.active_rows()
        self.loads = Loads(model, self.meaning)

    # assembly over all bodies and constraints

    def jacobian(self):
        """G of all declared rows, sparse."""
        rows = []
        for block in self.blocks:
            parts = {self.offset[id(body)]: J for body, J in zip(block.bodies, block.G)}
            at, pieces = 0, []
            for start in sorted(parts):
                pieces += [ca.SX(parts[start].shape[0], start - at), parts[start]]
                at = start + parts[start].shape[1]
            pieces.append(ca.SX(block.psi.shape[0], self.v.shape[0] - at))
            rows.append(ca.horzcat(*pieces))
        return ca.sparsify(ca.vertcat(*rows)) if rows else ca.SX(0, self.v.shape[0])

    def stacked(self, what):
        """g, psi or gamma of all declared rows."""
        return ca.vertcat(*[getattr(block, what) for block in self.blocks]) if self.blocks else ca.SX(0, 1)

    def inverse_mass(self):
        """M⁻¹, block diagonal."""
        blocks = []
        for body in self.model.bodies:
            blocks.append(ca.diag(ca.repmat(1 / body.mass, 3, 1)))
            if not body.particle:
                J = body.inertia
                inverse = ca.SX(np.linalg.inv(quantity.numbers(J))) if J.is_constant() else ca.inv(J)
                blocks.append(ca.sparsify(inverse))
        return ca.diagcat(*blocks)

    def mass_matrix(self):
        """M, block diagonal."""
        blocks = [
            ca.diag(ca.repmat(b.mass, 3, 1)) if b.particle else ca.diagcat(b.mass * ca.SX.eye(3), b.inertia)
            for b in self.model.bodies
        ]
        return ca.sparsify(ca.diagcat(*blocks))

    def forces(self):
        """f: applied forces and −ω × J ω."""
        parts = []
        for body in self.model.bodies:
            f = self.loads.on[id(body)]
            if not body.particle:
                w = body.angular_velocity
                f = f - ca.vertcat(ca.SX.zeros(3), ca.cross(w, body.inertia @ w))
            parts.append(f)
        return ca.vertcat(*parts)

    def kinetic_energy(self):
        return sum((body.kinetic_energy() for body in self.model.bodies), ca.SX(0))

    # kernels

    def functions(self, baumgarte=False):
        """The kernels of a run, by name, as CasADi functions."""
        t, q, v, p = time, self.q, self.v, self.p
        G, Minv = self.jacobian()[self.keep, :], self.inverse_mass()
        found = {"factor": ca.Function("factor", [t, q, p], [self.conditioned(self._factor(G, Minv), G)])}
        F = ca.SX.sym("F", found["factor"].size_out(0)[0])
        g, psi, gamma = (self.stacked(what)[self.keep, :] for what in ("g", "psi", "gamma"))
        Gf, solve = self._factored(G.sparsity(), F)
        f = self.forces()
        inputs = [t, q, v, p, F]
        if baumgarte:
            gains = ca.SX.sym("alpha_beta", 2)
            inputs.append(gains)
            gamma = gamma - 2 * gains[0] * psi - gains[1] ** 2 * g
        lam = solve(gamma - Gf @ (Minv @ f))  # (2)
        a = Minv @ (f + Gf.T @ lam)  # (1)
        imposed = ca.substitute(self.stacked("psi")[self.keep, :], v, ca.SX.zeros(v.shape))  # g_t: G v = −g_t
        power = self.loads.power - ca.dot(lam, imposed)
        a, lam, power, efforts = closed(self, a, lam, power)
        results = [ca.densify(x) for x in (a, ca.vertcat(lam, efforts), power)]
        found["accelerations"] = ca.Function("accelerations", inputs, results)
        r = ca.SX.sym("r", len(self.keep))
        jump = -solve(r)  # Λ = −S⁻¹ r
        found["impulse"] = ca.Function(
            "impulse", [t, q, p, F, r], [ca.densify(x) for x in (Minv @ (Gf.T @ jump), jump)]
        )

        step = lambda residual: ca.densify(-(Minv @ (Gf.T @ solve(residual))))  # (3)
        e = ca.SX.sym("e", v.shape[0])
        found["tangent"] = ca.Function("tangent", [p, F, e], [e + step(Gf @ e)])  # (4)
        at_position, at_velocity = self.corrections(step, G, g, psi)
        shifted = self.manifold.retract(
            q, at_position, "cayley"
        )  # the result of a projection does not depend on the map
        found["positions"] = ca.Function("positions", [t, q, p, F], [shifted, self.with_size(g)])
        found["velocities"] = ca.Function("velocities", [t, q, v, p, F], [v + at_velocity, self.with_size(psi)])
        found |= self.counting() | self.along(lambda held: correction(held, Minv))
        return {name: shared(f) for name, f in found.items()}

    def _factor(self, G, metric):
        """G, L and D⁻¹ as one vector, and last the smallest ratio of a pivot to its diagonal."""
        if not self.keep:
            return ca.SX.ones(1)
        S = ca.sparsify(G @ metric @ G.T)
        D, LT, order = ca.ldl(S)
        self._pattern, self._order = LT.sparsity(), order
        diagonal = ca.diag(S)[order]
        inverse = ca.if_else(D > SINGULAR * diagonal, 1 / D, 0)
        return ca.densify(ca.vertcat(column(G), column(LT), inverse, ca.mmin(D / diagonal)))

    def _factored(self, pattern, F):
        """G and a solver with S, both read from a factor vector."""
        n = len(self.keep)
        if not n:
            return ca.SX(0, self.v.shape[0]), lambda b: b
        G = ca.SX(pattern, F[: pattern.nnz()])
        L = self._pattern
        LT = ca.SX(L, F[pattern.nnz() : pattern.nnz() + L.nnz()])
        Dinv = F[pattern.nnz() + L.nnz() : -1]
        return G, solver(LT + ca.SX.eye(n), Dinv, self._order)

    def examination(self):
        return self.levels() | {
            "Minv": lambda: ca.Function("Minv", [self.q, self.p], [self.inverse_mass()]),
            "move": self.moving,
            "departures": lambda: departures(self),
            "alignments": lambda: alignments(self),
            **start_functions(self),
        }

    # what results are made of

    @property
    def all_rows(self):
        """Where residuals of every declared constraint and the potential energy are found, in the bodies' symbols."""
        return self

    def in_state(self, expression, a):
        """The bodies' symbols are the state; their accelerations are parts of a."""
        old, new = [], []
        for body in self.model.bodies:
            at = self.offset[id(body)]
            old += [body.acceleration, body.angular_acceleration]
            new += [a[at : at + 3], ca.SX.zeros(3) if body.particle else a[at + 3 : at + 6]]
        return ca.substitute([expression], old, new)[0]

    def rate_of(self, expression):
        """ė along the motion, velocities held, and with time."""
        return rate(expression, self.meaning.bodies(expression))

    def joint_motion(self, joint, a):
        return joint_motion_of_bodies(joint, self.meaning)

    def reaction(self, connection, lam, a):
        """Force and torque on the second body, at the connection's frame there, in world axes.

        F = G_xᵀ λ,    T = R G_θᵀ λ − (p − x) × F                       (5)
        """
        block = next((b for b in self.blocks if b.constraint is connection), None)
        if block is None:
            return ca.SX.zeros(3), ca.SX.zeros(3)
        own = self.kept_multipliers(connection, lam)
        sign, body = (1, connection.second) if connection.second in block.bodies else (-1, connection.first)
        W = sign * (block.G[block.bodies.index(body)].T @ own)
        p = self.meaning.of(connection.ends()[1][1])
        F = W[:3]
        about_center = ca.SX.zeros(3) if body.particle else body.rotation @ W[3:]
        return F, about_center - ca.cross(p - body.position, F)  # (5)

    def coordinate_names(self):
        """One name per velocity: the body, and the axis along which it moves or about which it turns."""
        axes = ("x", "y", "z", "about x", "about y", "about z")
        return [f"{b.name} {axis}" for b in self.model.bodies for axis in axes[: 3 if b.particle else 6]]

    def carried(self):
        """The body that each velocity moves, by name."""
        return [b.name for b in self.model.bodies for _ in range(3 if b.particle else 6)]

    def linear(self):
        """1 for every velocity that is a length per time, 0 for an angular one."""
        return [1 if k < 3 else 0 for b in self.model.bodies for k in range(3 if b.particle else 6)]
