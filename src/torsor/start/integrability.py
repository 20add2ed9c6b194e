"""Are velocity-level constraints integrable? The condition of Frobenius on the group (Müller and Terze, eq. 60 [mueller2009]).

A row ψ = f v + a of a velocity-level constraint is the one-form f θ + a dt, where θ are the left-invariant forms
of the group, v = θ(q̇): displacements δx and rotations δθ with R → R (1 + δθ~). Time is one more coordinate, so that
motions that are imposed count too. For fields X, Y that are constant in this frame

    dψ(X, Y) = X(f) Y − Y(f) X − f [X, Y],          [X, Y] = X × Y in each rotation, 0 elsewhere              (1)

The structure constants of SO(3) are what (60) does not show, being written in coordinates. The constraints of a set are
integrable where (1) vanishes on all admissible directions, G X = 0 with the rows of the set and of all constraints at
position level, at generic configurations that these allow:

    A = Fᵀ (D − Dᵀ − C) F = 0        for each row,   G F = 0,   D_ij = X_i(f_j)                               (2)
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..describe.quantity import time
from ..formulations.absolute import Absolute
from ..formulations.lie_derivative import BASIS, TURNING, gradient
from .examiner import Examiner
from .given import given

VANISHES = 1e-9  # (2) over the size of its terms: rounding leaves 1e-14, a constraint that is not integrable about 1


@dataclass(frozen=True)
class Verdict:
    """What is known about one velocity-level constraint."""

    name: str
    rows: int
    alone: bool  # integrable by itself, on what the position-level constraints leave
    together: tuple  # names of the velocity-level constraints with which it is integrable, its own among them; or none

    @property
    def integrable(self):
        return bool(self.together)


def integrability(model, values=None, t=0.0, samples=2, seed=5):
    """A verdict for each velocity-level constraint of a model, in their order; an empty list where there is none."""
    if all(c.equations().position is not None for c in model.constraints):
        return []
    values = model.values() if values is None else values
    f = Absolute(model)
    f.blocks = [b for b in f.blocks if id(b.constraint) not in f.released]  # what holds at the start
    f.rows = [row for block in f.blocks for row in block.rows()]
    start = given(f, t, values)
    examiner, p = Examiner(f, start.scales), start.p
    q, _ = examiner.assembled(t, start.q, p)
    random = np.random.default_rng(seed)
    wandered = [examiner.wander(t, q, p, random, 0.2 * (k + 1)) for k in range(samples)]
    units = np.append(examiner.columns, 1 / start.scales.rate if start.scales.rate > 0 else 1.0)
    forms = Forms(f, [(examiner.G(t, x, p), (t, x, p)) for x in [q, *wandered] if x is not None], units)
    blocks = [b for b in f.blocks if not b.holonomic]
    # the largest set in which (2) holds for all: what fails goes, until nothing fails
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
    """The one-forms of the rows of a formulation, and their exterior derivatives, as numbers.

    units   of the velocities and of time, in which directions are compared (`formulations/scales.py`)
    """

    def __init__(self, formulation, places, units):
        self.f, self.places, self.units = formulation, places, units
        inputs = [time, formulation.q, formulation.p]
        still = ca.SX.zeros(formulation.v.shape[0])
        at_rest = ca.substitute(formulation.stacked("psi"), formulation.v, still)
        self._drift = ca.Function("drift", inputs, [at_rest])
        self._derivatives = {
            id(b): ca.Function("derivatives", inputs, [self._derivative(b)])
            for b in formulation.blocks
            if not b.holonomic
        }
        self.rows, start = {}, 0  # places of each block's rows in the stack
        for b in formulation.blocks:
            self.rows[id(b)] = range(start, start + b.psi.shape[0])
            start += b.psi.shape[0]

    def _derivative(self, block):
        """X_i(f_j) for the block's velocities and time: one matrix below the other, one for each row."""
        rest = ca.substitute(block.psi, self.f.v, ca.SX.zeros(self.f.v.shape[0]))
        found = []
        for k in range(block.psi.shape[0]):
            form = ca.vertcat(*[G[k, :].T for G in block.G], rest[k])
            along = [gradient(form, body).T for body in block.bodies] + [ca.jacobian(form, time).T]
            found.append(ca.densify(ca.vertcat(*along)))
        return ca.vertcat(*found)

    def columns(self, block):
        """Where the block's velocities stand among all, time last, and where in them rotations begin."""
        at: list[int] = []
        turning: list[int] = []
        for body, G in zip(block.bodies, block.G):
            turning += [] if body.particle else [len(at) + TURNING]
            at += range(self.f.offset[id(body)], self.f.offset[id(body)] + G.shape[1])
        return [*at, self.f.v.shape[0]], turning

    def vanish(self, block, velocity_level):
        """Whether (2) holds for all rows of a block at all places, among the velocity-level blocks that are given."""
        used = [b for b in self.f.blocks if b.holonomic or any(b is other for other in velocity_level)]
        rows = [k for b in used for k in self.rows[id(b)]]
        at, turning = self.columns(block)
        for G, place in self.places:
            G = np.column_stack([G, self._drift(*place).full().ravel()])
            F, unit = admissible(G[rows] * self.units)[at], np.outer(self.units[at], self.units[at])
            D = self._derivatives[id(block)](*place).full().reshape(-1, len(at), len(at))
            for row, change in zip(self.rows[id(block)], D):
                C = np.zeros(change.shape)
                for k in turning:  # f [X, Y] = f·(X × Y)
                    C[k : k + 3, k : k + 3] = np.einsum("i,ijk->jk", G[row, at][k : k + 3], CROSS)
                change, C = change * unit, C * unit
                A = F.T @ (change - change.T - C) @ F  # (2)
                size = np.abs(change).max() + np.abs(C).max()  # F is orthonormal
                if np.any(np.abs(A) > VANISHES * size):
                    return False
        return True


# (X × Y)_i = CROSS_ijk X_j Y_k, from the same basis that turns rotations: (e_j~)_ik = CROSS_ijk
CROSS = np.transpose(np.array(BASIS, float), (1, 0, 2))


def admissible(G):
    """An orthonormal basis of the directions with G X = 0, rows scaled to the same length."""
    length = np.linalg.norm(G, axis=1, keepdims=True)
    _, s, Vt = np.linalg.svd(G / np.where(length > 0, length, 1.0), full_matrices=True)
    return Vt[int((s > 1e-9).sum()) :].T
