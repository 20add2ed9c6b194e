"""Methods that follow products of exponentials of rates: commutator-free ones, and those of Crouch and Grossman.

    Yᵢ = x · exp(h Σⱼ αᵢ₁ⱼ Kⱼ) · exp(h Σⱼ αᵢ₂ⱼ Kⱼ) ⋯,      Kᵢ = ẋ(t + cᵢ h, Yᵢ)                            (1)
    x₁ = x · exp(h Σⱼ β₁ⱼ Kⱼ) · exp(h Σⱼ β₂ⱼ Kⱼ) ⋯                                                      (2)

Each exponential follows a motion of constant rate exactly, so that no dexp⁻¹ is needed; the order in which they follow each
other counts. In a method of Crouch and Grossman each has one rate ([crouch1993], [owren1999]); commutator-free methods let
several share one, and need fewer exponentials ([celledoni2003]).
"""

import numpy as np

from ...kernels import call
from ...kernels.compiled import entry, reference
from ...registry import register
from ..explicit_step import combine
from ..integrator import Integrator
from ..run_records import Run
from ..status_codes import ACCEPTED
from ..vector_functions import first_rate, rate

at = reference(Run)


class Product(Integrator):
    """One method: for every stage and for the end of the step the weights of its exponentials, one row each, the first
    exponential first."""

    loop = (__name__, "product")
    needs = ("local",)
    maps = ("exp",)
    stages: tuple
    end: tuple

    @classmethod
    def tables(cls):
        parts, n = (*cls.stages, cls.end), len(cls.stages)
        rows = [[*row, *[0.0] * (n - len(row))] for part in parts for row in part]
        first = np.cumsum([0, *[len(part) for part in parts]])
        c = np.array([sum(map(sum, part)) for part in cls.stages], float)
        return {"stages": n, "A": np.array(rows, float), "c": c, "first": first}

    @classmethod
    def adaptive(cls):
        return False


def one_by_one(rows):
    """The exponentials of a method of Crouch and Grossman, from the rows of its tableau."""
    return tuple(tuple((0,) * j + (a,) for j, a in enumerate(row) if a) for row in rows)


@register("cf3")
class CommutatorFree3(Product):
    """Commutator-free method of order 3: three evaluations and four exponentials per step. [celledoni2003]"""

    order = 3
    stages = ((), ((1 / 3,),), ((0, 2 / 3),))
    end = ((1 / 3, 0, 0), (-1 / 12, 0, 3 / 4))


@register("cf4")
class CommutatorFree4(Product):
    """Commutator-free method of order 4 on the classical tableau: four evaluations and six exponentials per step.
    [celledoni2003]"""

    order = 4
    stages = ((), ((1 / 2,),), ((0, 1 / 2),), ((1 / 2, 0, 0), (-1 / 2, 0, 1)))
    end = ((1 / 4, 1 / 6, 1 / 6, -1 / 12), (-1 / 12, 1 / 6, 1 / 6, 1 / 4))


@register("cg3")
class CrouchGrossman3(Product):
    """Crouch and Grossman's method of order 3: three evaluations and six exponentials per step. [crouch1993]"""

    order = 3
    stages = one_by_one(((), (3 / 4,), (119 / 216, 17 / 108)))
    end = one_by_one(((13 / 51, -2 / 3, 24 / 17),))[0]


@register("cg4")
class CrouchGrossman4(Product):
    """Crouch–Grossman method of order 4, of five stages: fifteen exponentials per step. [owren1999]"""

    order = 4
    stages = one_by_one(
        (
            (),
            (0.8177227988124852,),
            (0.3199876375476427, 0.0659864263556022),
            (0.9214417194464946, 0.4997857776773573, -1.0969984448371582),
            (0.3552358559023322, 0.2390958372307326, 1.3918565724203246, -1.1092979392113465),
        )
    )
    end = one_by_one(
        ((0.1370831520630755, -0.0183698531564020, 0.7397813985370780, -0.1907142565505889, 0.3322195591068374),)
    )[0]


@entry("int64", "int64", "float64", "float64")
def product(address, structure, t, h):
    """A step of length h from the present state: as `explicit` leaves it, without an estimate of its error."""
    run = at(address)
    k, s, method, state = run.kernels[structure], run.scratch, run.method, run.state
    x, stages = state.xs[state.at], method.stages
    x1, other = state.xs[(state.at + 1) % 3], state.xs[(state.at + 2) % 3]
    first_rate(run, k, t)
    for i in range(1, stages + 1):
        y, free, next = x, x1, other
        for row in range(method.first[i], method.first[i + 1]):
            combine(h, method.A[row], i, s.K, s.u)
            call.retract(k, s, y, s.u, free)
            y, free, next = free, next, free
        if i < stages:
            rate(run, k, t + method.c[i] * h, y, state.p, s.K[i])  # (1)
        else:
            call.local(k, s, x, y, s.u)  # (2)
    call.advance(k, s, x, s.u, x1)
    for m in range(s.e.size):
        s.e[m] = 0.0
    state.evaluations += stages
    return ACCEPTED
