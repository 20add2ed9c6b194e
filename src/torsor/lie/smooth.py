"""Small-angle functions, smooth in s = θ² and accurate at every angle, with their derivatives.

Each is an entire or analytic function f of s, so a rotation vector w enters as s = w·w and no square root is
differentiated at zero. The closed form F loses digits (or is 0/0) for small s; the series converges slowly for
large s. The two are joined without a branch:

    f(s) = F(x) + P(s − x),        x = max(s, s₀)                                    (1)

P(d)  polynomial with P(0) = 0 and P(s − s₀) = f(s) − f(s₀) on 0 ≤ s ≤ s₀
s₀    least s at which the closed form is accurate to rounding                       [rad²]

Above s₀ the second term is exactly 0, below it the first is the constant f(s₀); neither is ever evaluated where it is
not valid, so derivatives of every order are finite and right. Only exactly at s = s₀ would a second derivative be
halved (CasADi gives max the slope ½ at a tie); the s₀ below are no sums of squares that a person would type.

P is the Taylor series, economised: one to three terms fewer than cutting it off, with f to rounding and f′, f″ to
relative 1e-12, 1e-9 or better [lanczos1956, ch. 7].
"""

from functools import cache
from math import factorial

import casadi as ca

from .numeric import returns

_TERMS = range(24)
_SMALL = 0.0627  # s₀ of functions whose closed form has no cancellation [rad²]
_MIDDLE = 1.0037  # s₀ of functions whose closed form cancels one power of s [rad²]
_LARGE = 4.0019  # s₀ of functions whose closed form cancels two powers of s [rad²]
_LARGEST = 9.0013  # s₀ of the function that cancels two powers of s and has a small leading coefficient [rad²]


@cache
def _bernoulli_even(count):
    """B₂, B₄, … divided by (2k)!, from Σ_{j≤n} Bⱼ/j! · 1/(n + 1 − j)! = 0."""
    b = [1.0]
    for n in range(1, 2 * count + 1):
        b.append(-sum(b[j] / factorial(n + 1 - j) for j in range(n)) if n == 1 or n % 2 == 0 else 0.0)
    return b[2::2]


_SERIES = {  # Taylor coefficients about 0, and s₀
    "cos": (lambda k: (-0.25) ** k / factorial(2 * k), _SMALL),
    "sinc": (lambda k: (-0.25) ** k / factorial(2 * k + 1), _SMALL),
    "excess": (lambda k: (-1.0) ** k / factorial(2 * k + 3), _MIDDLE),
    "versine slope": (lambda k: -((-1.0) ** k) * (k + 1) / factorial(2 * k + 4), _LARGE),
    "excess slope": (lambda k: -((-1.0) ** k) * (k + 1) / factorial(2 * k + 5), _LARGE),
    "cotangent slope": (lambda k: (-1.0) ** k * (2 * k + 2) / factorial(2 * k + 6), _LARGEST),
    "arctangent": (lambda k: (-1.0) ** k / (2 * k + 1), _SMALL / 4),
    "cotangent": (lambda k: (-1.0) ** k * _bernoulli_even(len(_TERMS))[k], _MIDDLE),
}


@cache
def _economise(name):
    """Coefficients p₁ … pₙ of P in (1), computed when a function is first used."""
    from numpy.polynomial import Chebyshev, Polynomial  # late: it takes longer to import than the rest of this folder

    coefficient, switch = _SERIES[name]
    taylor = [coefficient(k) for k in _TERMS]
    series = Polynomial(taylor).convert(kind=Chebyshev, domain=[0.0, switch])
    series = series.trim(tol=2.0**-60 * abs(taylor[0]))
    return series.convert(kind=Polynomial, domain=[switch, switch + 1.0], window=[0.0, 1.0]).coef[1:]


def _polynomial(name, d):
    """p₁ d + p₂ d² + … + pₙ dⁿ by Horner's rule."""
    total = 0.0
    for p in reversed(_economise(name)):
        total = (total + float(p)) * d
    return total


@returns("scalar", "scalar")
def half_angle(s):
    """cos(θ/2) and sin(θ/2)/(θ/2): the two from which exp is built."""
    x = ca.fmax(s, _SMALL)
    h, d = ca.sqrt(x) / 2, s - x
    return ca.cos(h) + _polynomial("cos", d), ca.sin(h) / h + _polynomial("sinc", d)


@returns("scalar")
def sinc(s):
    """sin θ / θ = cos(θ/2) · sin(θ/2)/(θ/2)."""
    cosine, sine = half_angle(s)
    return cosine * sine


@returns("scalar")
def versine(s):
    """(1 − cos θ)/θ² = ½ (sin(θ/2)/(θ/2))²."""
    _, sine = half_angle(s)
    return sine * sine / 2


@returns("scalar")
def arc_excess(s):
    """(θ − sin θ)/θ³."""
    x = ca.fmax(s, _MIDDLE)
    theta = ca.sqrt(x)
    return (1 - ca.sin(theta) / theta) / x + _polynomial("excess", s - x)


@returns("scalar")
def cotangent_defect(s):
    """(1 − (θ/2) cot(θ/2))/θ², the coefficient of dexp⁻¹; its pole is θ = 2π."""
    x = ca.fmax(s, _MIDDLE)
    h = ca.sqrt(x) / 2
    return (1 - h / ca.tan(h)) / x + _polynomial("cotangent", s - x)


@returns("scalar")
def versine_slope(s):
    """d versine / ds = (θ sin θ − 2 (1 − cos θ))/(2 θ⁴)."""
    x = ca.fmax(s, _LARGE)
    theta = ca.sqrt(x)
    return (theta * ca.sin(theta) - 2 * (1 - ca.cos(theta))) / (2 * x * x) + _polynomial("versine slope", s - x)


@returns("scalar")
def arc_excess_slope(s):
    """d arc_excess / ds = (3 sin θ − θ (2 + cos θ))/(2 θ⁵)."""
    x = ca.fmax(s, _LARGE)
    theta = ca.sqrt(x)
    closed = (3 * ca.sin(theta) / theta - 2 - ca.cos(theta)) / (2 * x * x)
    return closed + _polynomial("excess slope", s - x)


@returns("scalar")
def cotangent_defect_slope(s):
    """d cotangent_defect / ds = f / (4 versine), f = (θ² + θ sin θ − 4 (1 − cos θ))/θ⁶ being entire."""
    x = ca.fmax(s, _LARGEST)
    theta = ca.sqrt(x)
    closed = (x + theta * ca.sin(theta) - 4 * (1 - ca.cos(theta))) / (x * x * x)
    return (closed + _polynomial("cotangent slope", s - x)) / (4 * versine(s))


@returns("scalar")
def arctangent(y):
    """arctan(√y)/√y, with which log turns tan²(θ/4) = y into the angle."""
    x = ca.fmax(y, _SMALL / 4)
    tangent = ca.sqrt(x)
    return ca.atan(tangent) / tangent + _polynomial("arctangent", y - x)
