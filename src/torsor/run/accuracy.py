"""How large the error of a step is, against scales that the model and its motion give."""

import numpy as np
from numba import njit

from ..kernels.calls import call
from .compiled import MERGED, PLAIN
from .records import accelerate

COARSE = 1e-3  # error of a step, relative to the model's size, from which the projection surely finds back
UNMOVED = 1e-9  # of its size: what a model that is said to rest may move by in a run
KNOWN = 4.0  # how often the measured rounding of accelerations is put up with


@njit(**MERGED)
def estimates(k, s, plan, h, q1, n, p, projecting):
    """Estimated errors of configuration and velocity, as a whole in s.eu, s.ev; returns what of them counts.

    Where the step is projected, what the projection takes away is no error: only the admissible part counts. Without this
    a step would be judged by noise where the constraints are nearly dependent. Constraints at velocity level restore no
    position, so that an error along them stays (`along`).
    """
    for m in range(n):
        eu, ev = 0.0, 0.0
        for j in range(plan.b.size):
            eu += plan.estimate[j] * s.K[j, m]
            ev += plan.estimate[j] * s.A[j, m]
        s.eu[m] = h * eu
        s.ev[m] = h * ev
    if not projecting:
        return s.eu, s.ev
    if k.along == 0:
        call(k.tangent, (p, s.F, s.eu, s.tu, s.work))
    else:
        call(k.along, (s.t, q1, p, s.eu, s.tu, s.work))
    call(k.tangent, (p, s.F, s.ev, s.tv, s.work))
    return s.tu, s.tv


@njit(**PLAIN)
def largest_of(x, linear):
    """Largest absolute value of the components that are linear, and of those that are angular."""
    along, about = 0.0, 0.0
    for m in range(linear.size):
        if linear[m] == 1:
            along = max(along, abs(x[m]))
        else:
            about = max(about, abs(x[m]))
    return along, about


@njit(**MERGED)
def error_of(k, s, plan, h, q1, v, p, projecting, work):
    """Largest component of the estimated error over its scale: lengths, angles, and speeds of either kind.

    A speed is measured against the largest one met so far, and never more finely than accelerations are known: what the
    rounding of coordinates changes in them (`resolution`) is no error of the step.
    """
    n, tolerance, length, angle = v.size, plan.numbers[1], s.scale[0], s.scale[1]
    du, dv = estimates(k, s, plan, h, q1, n, p, projecting)
    linear, angular = largest_of(v, plan.linear)
    first, last = largest_of(s.A[0], plan.linear), largest_of(s.A[plan.b.size - 1], plan.linear)
    more_linear, more_angular = max(first[0], last[0]), max(first[1], last[1])  # what starts from rest speeds up
    met = max(s.scale[2], linear + h * more_linear), max(s.scale[3], angular + h * more_angular)
    linear, angular = met
    # where nothing turns (or nothing moves along), speeds of that kind are rounding of the others: keep it below the tolerance
    noise, known = 1e-14 / tolerance, KNOWN * h / tolerance
    linear, angular = (
        max(linear, noise * angular * length, known * s.scale[5]),
        max(angular, noise * linear / length, known * s.scale[6]),
    )
    moved, turned = largest_of(du, plan.linear)
    worst = max(moved / length, turned / angle)
    faster, spun = largest_of(dv, plan.linear)
    worst = max(worst, faster / linear if linear > 0.0 else 0.0, spun / angular if angular > 0.0 else 0.0)
    # the work of drives and forces counts too, where anything moves by more than rounding
    s.scale[4] = max(s.scale[4], abs(work))
    moves = met[0] > known * s.scale[5] or met[1] > known * s.scale[6]
    energy, fault = max(s.scale[4], plan.numbers[5] * linear**2 + plan.numbers[6] * angular**2), 0.0
    for j in range(plan.b.size):
        fault += plan.estimate[j] * s.P[j]
        energy = max(energy, h * abs(s.P[j]))
    if energy > 0.0 and moves:
        worst = max(worst, abs(h * fault) / energy)
    # as a whole the step must only stay where the projection finds back
    moved, turned = largest_of(s.eu, plan.linear)
    error = max(worst / tolerance, moved / length / COARSE, turned / angle / COARSE)
    if error <= 1.0:  # what a rejected step met does not count
        s.scale[2], s.scale[3] = met
    return error


@njit(**MERGED)
def resolution(k, s, plan, t, q, v, p, q1):
    """How well accelerations are known at a state: what they change by where all coordinates are moved by their rounding, in
    several ways to either side. A force may jump just here: what would move the model within the run counts only if it is
    found on both sides. Kept in s.scale."""
    least, largest, slow = (np.inf, np.inf), (0.0, 0.0), UNMOVED / (1e13 * plan.numbers[4]) ** 2
    for side in (-1.0, 1.0):
        most = (0.0, 0.0)
        for way in range(4):
            for m in range(v.size):
                s.u[m] = side * (1 + (m + way) % 4) * 1e-16 * (s.scale[0] if plan.linear[m] == 1 else 1.0)
            call(k.retract, (q, s.u, q1, s.work))
            for m in range(q.size):
                q1[m] += side * (1 + (m + way) % 2) * 1e-16 * q1[m]
            accelerate(k, s, plan, t, q1, v, p, side == 0.0, s.a)
            for m in range(v.size):
                s.u[m] = s.a[m] - s.A[0, m]
            linear, angular = largest_of(s.u, plan.linear)
            most = (max(most[0], linear), max(most[1], angular))
        least = (min(least[0], most[0]), min(least[1], most[1]))
        largest = (max(largest[0], most[0]), max(largest[1], most[1]))
    s.scale[5] = max(least[0], min(largest[0], slow * s.scale[0]))
    s.scale[6] = max(least[1], min(largest[1], slow))
