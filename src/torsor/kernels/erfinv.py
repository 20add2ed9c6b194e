"""The inverse error function as LLVM IR: rational approximations and two Newton steps, exactly as CasADi computes it.

y₀ = x P(x²)/Q(x²)                        for |x| < 0.7                      (1)
y₀ = ± R(z)/S(z),  z = √(-log((1 ∓ x)/2))  beyond                             (2)
y ← y - (erf(y) - x) / (2/√π · exp(-y²))   twice, except for x < -0.7         (3)
"""

from math import pi, sqrt
from struct import pack

P = (-0.140543331, 0.914624893, -1.645349621, 0.886226899)
Q = (-0.329097515, 0.012229801, 1.442710462, -2.118377725, 1.0)
R = (1.641345311, 3.429567803, -1.624906493, -1.970840454)
S = (1.637067800, 3.543889200, 1.0)

# The functions of the C library that the text below calls.
SYMBOLS = {("log", 1), ("exp", 1), ("erf", 1), ("llvm.sqrt.f64", 1)}


def _literal(value):
    return "0x" + pack(">d", value).hex()


def _horner(name, coefficients, z):
    """Lines that evaluate a polynomial, highest power first; the value is %name and the last coefficient's sum."""
    value, lines = _literal(coefficients[0]), []
    for k, c in enumerate(coefficients[1:]):
        lines.append(f"%{name}{k}m = fmul double {value}, {z}\n%{name}{k} = fadd double %{name}{k}m, {_literal(c)}\n")
        value = f"%{name}{k}"
    return "".join(lines), value


def definition():
    """The IR of @erfinv and of the two functions it uses."""
    return f"\n{_tail()}{_newton()}{_inverse()}"


def _tail():
    """(2), but for the sign, from 1 ∓ x."""
    r, high = _horner("r", R, "%z")
    s, low = _horner("s", S, "%z")
    return f"""\
define internal double @erfinv_tail(double %a) noinline nounwind {{
%h = fdiv double %a, 2.0
%l = call double @log(double %h)
%n = fneg double %l
%z = call double @llvm.sqrt.f64(double %n)
{r}{s}%v = fdiv double {high}, {low}
ret double %v
}}
"""


def _newton():
    """(3), once."""
    return f"""\
define internal double @erfinv_newton(double %y, double %x) noinline nounwind {{
%e = call double @erf(double %y)
%d = fsub double %e, %x
%n = fneg double %y
%s = fmul double %n, %y
%g = call double @exp(double %s)
%t = fmul double {_literal(2.0 / sqrt(pi))}, %g
%c = fdiv double %d, %t
%v = fsub double %y, %c
ret double %v
}}
"""


def _inverse():
    """All of it: (1) or (2), polished."""
    p, top = _horner("p", P, "%z")
    q, bottom = _horner("q", Q, "%z")
    return f"""\
define internal double @erfinv(double %x) noinline nounwind {{
entry:
%one = fcmp oge double %x, 1.0
%plus = fcmp oeq double %x, 1.0
%infinite = select i1 %plus, double 0x7FF0000000000000, double 0x7FF8000000000000
br i1 %one, label %right, label %inner
right:
ret double %infinite
inner:
%under = fcmp ole double %x, -1.0
%minus = fcmp oeq double %x, -1.0
%negative = select i1 %minus, double 0xFFF0000000000000, double 0x7FF8000000000000
br i1 %under, label %left, label %finite
left:
ret double %negative
finite:
%far = fcmp olt double %x, {_literal(-0.7)}
br i1 %far, label %lower, label %above
lower:
%la = fadd double 1.0, %x
%lt = call double @erfinv_tail(double %la)
%ln = fneg double %lt
ret double %ln
above:
%near = fcmp olt double %x, {_literal(0.7)}
br i1 %near, label %middle, label %upper
middle:
%z = fmul double %x, %x
{p}{q}%m = fmul double %x, {top}
%my = fdiv double %m, {bottom}
br label %polish
upper:
%ua = fsub double 1.0, %x
%uy = call double @erfinv_tail(double %ua)
br label %polish
polish:
%y0 = phi double [ %my, %middle ], [ %uy, %upper ]
%y1 = call double @erfinv_newton(double %y0, double %x)
%y2 = call double @erfinv_newton(double %y1, double %x)
ret double %y2
}}
"""
