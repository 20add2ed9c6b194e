"""The data of a run as the compiled loop sees it: kernels by address, flat vectors; and the smallest functions on them."""

from collections import namedtuple

from numba import njit

from ..kernels.calls import call
from .compiled import INLINE, MERGED

# Addresses of kernels; one factorisation serves accelerations and projections. along: 0 where `tangent` serves positions too
Kernels = namedtuple(
    "Kernels",
    "factor accelerations positions velocities tangent turns retract advance differential outputs stage spin along",
)

# Scratch arrays. K, A: stage rates of configuration and velocity, P: stage powers; turn, spin: angles that are counted over
# full turns and their rates. q and v have three buffers that rotate: a kernel's result is read where it was written, since
# copying what was just stored stalls longer than most kernels run.
# scale: [length, angle, largest linear and angular speed, energy, rounding of linear and angular accelerations]
Scratch = namedtuple(
    "Scratch",
    "t q0 q1 q2 trial v0 v1 v2 u eu ev tu tv F a lam power K A P g psi turn spin ab work scale",
)

# g, psi: residuals of the rows in use, and after them the length of the vector of these in units of the rows
# What the run does: tableau, steps, projection, tolerances. All float64 or int64 arrays, so that one compiled loop serves.
#   numbers: [step, tolerance, position tolerance, velocity tolerance, smallest step, whole mass, whole inertia,
#   conditioning below and above which rows and dependent velocities are chosen anew, best conditioning so far]
#   choices: [adaptive, project, baumgarte, number of turns, stages as one kernel,
#   choice of dependent velocities to be watched, place of the pivot ratio in F, rows in use]
Plan = namedtuple("Plan", "A b c estimate numbers choices linear order")

# The state that survives between calls. counts: [steps, rejections, outputs written, evaluations, projections,
#   times in a row that a singular position was dodged, rejections in a row]
#   values: [t, next step, work, smallest pivot ratio, largest position residual, largest velocity residual, pivot ratio,
#   longest step in which no angle turns too far to be counted]
State = namedtuple("State", "values counts q v p")


@njit(**MERGED)
def copy(source, target):
    """Plain copy of as many numbers as the target has; slices would cost more than most kernels."""
    for i in range(target.size):
        target[i] = source[i]


@njit(**INLINE)
def largest(x, n):
    """Largest absolute value of the first n; not a number if any is not."""
    worst = 0.0
    for i in range(n):
        y = abs(x[i])
        if not y <= worst:
            if y != y:
                return y
            worst = y
    return worst


@njit(**INLINE)
def accelerate(k, s, plan, t, q, v, p, fresh, a):
    """v̇, λ and power at a state; the factor is taken as it stands where `fresh` says that it belongs to q."""
    s.t[0] = t
    if not fresh:
        call(k.factor, (s.t, q, p, s.F, s.work))
    if plan.choices[2] == 1:
        call(k.accelerations, (s.t, q, v, p, s.F, s.ab, a, s.lam, s.power, s.work))
    else:
        call(k.accelerations, (s.t, q, v, p, s.F, a, s.lam, s.power, s.work))
