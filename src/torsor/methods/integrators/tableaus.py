"""Integrators as data: a Runge–Kutta–Munthe-Kaas method is its tableau.

    uᵢ = h Σⱼ aᵢⱼ kⱼ,   qᵢ = q · exp(uᵢ),   vᵢ = v + h Σⱼ aᵢⱼ v̇ⱼ                                  (1)
    kᵢ = dexp⁻¹(−uᵢ) vᵢ,  v̇ᵢ = f(t + cᵢ h, qᵢ, vᵢ)                                                 (2)
    q ← q · exp(h Σ bᵢ kᵢ),   v ← v + h Σ bᵢ v̇ᵢ                                                   (3)

    u(θ) = h Σ bᵢ(θ) kᵢ,   bᵢ(θ) = bᵢ φ₁ + (δᵢ₁ − bᵢ) φ₂ + (2 bᵢ − δᵢ₁ − δᵢₑ) φ₃ + d₁ᵢ φ₄ + d₂ᵢ φ₅ …   (4)

with the exponential or the Cayley map. The full differential in (2) gives every tableau its classical order on the group
(Munthe-Kaas; the thesis prints step 7 without it, [zenzerovic2012], sec. 3.3.3, which leaves order 2 in the rotations).
Between the ends of a step (4) holds, with the φ of `methods/continuous_extension.py` and the stage e at its end: a
cubic through both ends
and their rates, and what lifts it to higher order. [hairer1993], sec. II.6.
"""

import numpy as np

from ...registry import register
from ..integrator import EXPLICIT_STEP, Integrator


class Tableau(Integrator):
    """One explicit method: `order`, and the tableau A, b, c; `embedded` are the weights of a second, lower-order result
    whose difference steers the step size, `rough` those of a third one that sharpens this estimate.

    extra   further rows of A, of stages that (4) alone takes; the end of the step is the first of them, unless A ends there
    dense   rows d₁, d₂ … of (4). A pair of order 4 or less can do without: the cubic is good enough for it
    spare   such rows that take none of the extra stages but the end: for steps in which those are not to be trusted
    """

    loop = EXPLICIT_STEP
    A: tuple
    b: tuple
    embedded: tuple | None = None
    rough: tuple | None = None
    extra: tuple = ()
    dense: tuple = ()
    spare: tuple = ()

    @classmethod
    def tableau(cls):
        """A, b, c as arrays."""
        s = len(cls.b)
        A = np.zeros((s, s))
        for i, row in enumerate(cls.A):
            A[i, : len(row)] = row
        return A, np.array(cls.b, float), A.sum(axis=1)

    @classmethod
    def tables(cls):
        _, b, _ = cls.tableau()
        A, B = cls.extension()
        spare = cls.weights(cls.spare, *B.shape) if cls.spare else np.zeros((0, 0))
        error = lambda weights, none: none if weights is None else b - np.array(weights, float)
        errors = {"estimate": error(cls.embedded, np.zeros(len(b))), "rough": error(cls.rough, np.zeros(0))}
        return {"stages": len(b), "A": A, "b": b, "c": A.sum(axis=1), "dense": B, "spare": spare, **errors}

    @classmethod
    def extension(cls):
        """A with all stages that (4) takes, and its weights Bᵢⱼ of φⱼ; no such weights where (4) is not good enough."""
        A, b, _ = cls.tableau()
        if cls.embedded is None or (cls.order > 4 and not cls.dense):
            return A, np.zeros((0, 0))
        extra = cls.extra or (() if np.array_equal(A[-1], b) else (cls.b,))
        s = len(b)
        A = np.pad(A, (0, len(extra)))
        for i, row in enumerate(extra):
            A[s + i, : len(row)] = row
        return A, cls.weights(cls.dense, len(A), 3 + len(cls.dense))

    @classmethod
    def weights(cls, rows, n, columns):
        """Bᵢⱼ of (4) with the rows d, for n stages."""
        s, B = len(cls.b), np.zeros((n, columns))
        start, end = np.eye(n)[0], np.eye(n)[min(s, n - 1)]
        B[:s, 0] = cls.b
        B[:, 1], B[:, 2] = start - B[:, 0], 2 * B[:, 0] - start - end
        for j, row in enumerate(rows):
            B[: len(row), 3 + j] = row
        return B

    @classmethod
    def adaptive(cls):
        return cls.embedded is not None


@register("lie-euler")
class LieEuler(Tableau):
    """Lie-group Euler: one evaluation per step, order 1. For comparison and for drafts. [zenzerovic2012], sec. 3.3.2."""

    order = 1
    A = ((),)
    b = (1,)


@register("midpoint")
class Midpoint(Tableau):
    """Explicit midpoint rule, order 2."""

    order = 2
    A = ((), (1 / 2,))
    b = (0, 1)


@register("heun")
class Heun(Tableau):
    """Heun's method (explicit trapezoidal rule), order 2."""

    order = 2
    A = ((), (1,))
    b = (1 / 2, 1 / 2)


@register("kutta3")
class Kutta3(Tableau):
    """Kutta's third-order method."""

    order = 3
    A = ((), (1 / 2,), (-1, 2))
    b = (1 / 6, 2 / 3, 1 / 6)


@register("rkmk4")
class RKMK4(Tableau):
    """The classical method of order 4 on the group: the workhorse for a fixed step. [zenzerovic2012], sec. 3.3.3."""

    order = 4
    A = ((), (1 / 2,), (0, 1 / 2), (0, 0, 1))
    b = (1 / 6, 1 / 3, 1 / 3, 1 / 6)


@register("rkmk54")
class RKMK54(Tableau):
    """Dormand and Prince's pair of order 5(4) on the group: adaptive, the default."""

    order = 5
    A = (
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    )
    b = (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0)
    embedded = (5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40)
    dense = (
        (
            -12715105075 / 11282082432, 0, 87487479700 / 32700410799, -10690763975 / 1880347072,
            701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423,
        ),
    )  # fmt: skip
