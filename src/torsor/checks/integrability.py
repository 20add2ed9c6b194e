"""Integrability of velocity-level constraints: the condition of Frobenius on the group (Müller and Terze, eq. 60 [mueller2009]).

A row ψ = f v + a of a velocity-level constraint is the one-form f θ + a dt, where θ are the left-invariant forms
of the group, v = θ(q̇): displacements δx and rotations δθ with R → R (1 + δθ~). Time is one more coordinate, so that
imposed motions are included. For fields X, Y that are constant in this frame

    dψ(X, Y) = X(f) Y − Y(f) X − f [X, Y],          [X, Y] = X × Y in each rotation, 0 otherwise              (1)

The structure constants of SO(3) do not appear in (60), which is written in coordinates. The constraints of a set are integrable if
(1) vanishes on all admissible directions, G X = 0 with the rows of the set and of all position-level constraints, at generic
configurations that these allow:

    A = Fᵀ (D − Dᵀ − C) F = 0        for each row,   G F = 0,   D_ij = X_i(f_j)                               (2)
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..elements.quantity import time
from ..formulations.absolute import Absolute
from ..formulations.algebra.lie_derivative import ANGULAR_START, SKEW_BASIS, gradient
from ..start.constraints import Examiner
from ..start.model_start import given_start

FROBENIUS_ZERO = 1e-9  # (2) / size of its terms: about 1e-14 by rounding, about 1 if a constraint is not integrable
ROW_DEPENDENT = 1e-9  # singular value of rows of length 1, below which they depend on each other


@dataclass(frozen=True)
class Verdict:
    """Integrability of one velocity-level constraint."""

    name: str
    rows: int
    alone: bool  # True if it is integrable by itself, together with the position-level constraints
    together: tuple  # names of the velocity-level constraints with which it is integrable, itself included; else empty

    @property
    def integrable(self):
        return bool(self.together)


def integrability(model, values=None, t=0.0, samples=2, seed=5):
    """A verdict for each velocity-level constraint of a model, in the order of the model."""
    if all(c.equations().position is not None for c in model.constraints):
        return []
    values = model.values() if values is None else values
    f = Absolute(model)
    f.blocks = [b for b in f.blocks if id(b.constraint) not in f.released]  # constraints that are active at the start
    f.rows = [row for block in f.blocks for row in block.rows()]
    start = given_start(f, t, values)
    examiner, p = Examiner(f, start.scales), start.p
    q, _ = examiner.assemble_or_refuse(t, start.q, p)
    random = np.random.default_rng(seed)
    sampled = [examiner.sample_nearby(t, q, p, random, 0.2 * (k + 1)) for k in range(samples)]
    units = np.append(examiner.columns, 1 / start.scales.rate if start.scales.rate > 0 else 1.0)
    forms = Forms(f, [(examiner.G(t, x, p), (t, x, p)) for x in [q, *sampled] if x is not None], units)
    blocks = [b for b in f.blocks if not b.holonomic]
    # the largest set in which (2) holds for all: remove those that fail until none fails
    kept = blocks
    while len(passing := [b for b in kept if forms.vanish(b, kept)]) < len(kept):
        kept = passing
    names = tuple(b.constraint.name for b in kept)
    alone = [forms.vanish(b, [b]) for b in blocks]
    return [
        Verdict(name := b.constraint.name, b.psi.shape[0], by_itself, names if name in names else ())
        for b, by_itself in zip(blocks, alone)
    ]


class Forms:
    """The one-forms of the rows of a formulation and their exterior derivatives, in numbers.

    configurations   pairs of G and (t, q, p)
    units            of the velocities and of time, for the comparison of directions (`formulations/algebra/scales.py`)
    """

    def __init__(self, formulation, configurations, units):
        self.f, self.configurations, self.units = formulation, configurations, units
        inputs = [time, formulation.q, formulation.p]
        zeros = ca.SX.zeros(formulation.v.shape[0])
        at_rest = ca.substitute(formulation.stack_rows("psi"), formulation.v, zeros)
        self._drift = ca.Function("drift", inputs, [at_rest])
        self._derivatives = {
            id(b): ca.Function("derivatives", inputs, [self._derivative(b)])
            for b in formulation.blocks
            if not b.holonomic
        }
        self.rows = {}  # indices of the rows of each block
        start = 0
        for b in formulation.blocks:
            self.rows[id(b)] = range(start, start + b.psi.shape[0])
            start += b.psi.shape[0]

    def _derivative(self, block):
        """X_i(f_j) for the block's velocities and time: one matrix for each row, one below the other."""
        rest = ca.substitute(block.psi, self.f.v, ca.SX.zeros(self.f.v.shape[0]))
        matrices = []
        for k in range(block.psi.shape[0]):
            form = ca.vertcat(*[G[k, :].T for G in block.G], rest[k])
            along = [gradient(form, body).T for body in block.bodies] + [ca.jacobian(form, time).T]
            matrices.append(ca.densify(ca.vertcat(*along)))
        return ca.vertcat(*matrices)

    def columns(self, block):
        """Indices of the block's velocities among all, time last, and where rotations begin among them."""
        at: list[int] = []
        turning: list[int] = []
        for body, G in zip(block.bodies, block.G):
            turning += [] if body.particle else [len(at) + ANGULAR_START]
            at += range(self.f.offset[id(body)], self.f.offset[id(body)] + G.shape[1])
        return [*at, self.f.v.shape[0]], turning

    def vanish(self, block, velocity_level):
        """True if (2) holds for all rows of a block at all configurations, with these velocity-level blocks active."""
        used = [b for b in self.f.blocks if b.holonomic or any(b is other for other in velocity_level)]
        rows = [k for b in used for k in self.rows[id(b)]]
        at, turning = self.columns(block)
        for G, configuration in self.configurations:
            G = np.column_stack([G, self._drift(*configuration).full().ravel()])
            F = admissible_directions(G[rows] * self.units)[at]
            unit = np.outer(self.units[at], self.units[at])
            D = self._derivatives[id(block)](*configuration).full().reshape(-1, len(at), len(at))
            for row, change in zip(self.rows[id(block)], D):
                C = np.zeros(change.shape)
                for k in turning:  # f [X, Y] = f·(X × Y)
                    C[k : k + 3, k : k + 3] = np.einsum("i,ijk->jk", G[row, at][k : k + 3], CROSS)
                change, C = change * unit, C * unit
                A = F.T @ (change - change.T - C) @ F  # (2)
                size = np.abs(change).max() + np.abs(C).max()  # F is orthonormal
                if np.any(np.abs(A) > FROBENIUS_ZERO * size):
                    return False
        return True


# (X × Y)_i = CROSS_ijk X_j Y_k, from the basis of skew matrices: (e_j~)_ik = CROSS_ijk
CROSS = np.transpose(np.array(SKEW_BASIS, float), (1, 0, 2))


def admissible_directions(G):
    """An orthonormal basis of the directions with G X = 0, rows scaled to the same length."""
    length = np.linalg.norm(G, axis=1, keepdims=True)
    _, s, Vt = np.linalg.svd(G / np.where(length > 0, length, 1.0), full_matrices=True)
    return Vt[int((s > ROW_DEPENDENT).sum()) :].T
