"""Integrators as data: a Runge–Kutta–Munthe-Kaas method is its tableau.

    uᵢ = h Σⱼ aᵢⱼ kⱼ,   qᵢ = q · exp(uᵢ),   vᵢ = v + h Σⱼ aᵢⱼ v̇ⱼ                                  (1)
    kᵢ = dexp⁻¹(−uᵢ) vᵢ,  v̇ᵢ = f(t + cᵢ h, qᵢ, vᵢ)                                                 (2)
    q ← q · exp(h Σ bᵢ kᵢ),   v ← v + h Σ bᵢ v̇ᵢ                                                   (3)

with the exponential or the Cayley map. The full differential in (2) gives every tableau its classical order on the group
(Munthe-Kaas; the thesis prints step 7 without it, [zenzerovic2012], sec. 3.3.3, which leaves order 2 in the rotations).
"""

import numpy as np

from ...registry import register
from ..integrator import Integrator


class Tableau(Integrator):
    """One explicit method: `order`, and the tableau A, b, c; `embedded` are the weights of a second, lower-order result
    whose difference steers the step size, `rough` those of a third one that sharpens this estimate."""

    loop = ("torsor.methods.explicit", "explicit")
    A: tuple
    b: tuple
    embedded: tuple | None = None
    rough: tuple | None = None

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
        A, b, c = cls.tableau()
        error = lambda weights, none: none if weights is None else b - np.array(weights, float)
        errors = {"estimate": error(cls.embedded, np.zeros(len(b))), "rough": error(cls.rough, np.zeros(0))}
        return {"stages": len(b), "A": A, "b": b, "c": c, **errors}

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
