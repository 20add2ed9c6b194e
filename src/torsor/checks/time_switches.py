"""Conditions on time alone in the equations of a model, and the times at which they switch.

A pulse `if_else(time > 1, if_else(time < 1.001, F, 0), 0)`, `sign(sin(w time))`, `fmod(time, T) < d`, `fmax(0, time - 1)`: the
equations are smooth except at times where

    φ(t) changes its sign      a < b, a <= b, a == b, fmin, fmax: φ = a − b;   |a|, sign(a), copysign(·, a): φ = a      (1)
    φ(t) passes an integer     floor(a), ceil(a): φ = a;   fmod(a, b): φ = a/b;   remainder(a, b): φ = a/b + ½          (2)

φ contains time, parameters and numbers. The times of φ = a t + b are known in closed form. Those of other functions are bracketed,
from samples that include the extrema of φ and the times at which conditions inside φ switch.
"""

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..elements.quantity import time
from ..lookup.lookup_calls import piece, pieces

LEAST_SAMPLES = 1000  # samples of a run
SAMPLES_PER_PERIOD = 16  # of a sine in φ
MOST_SAMPLES = 400_000
MOST_TIMES = 100_000  # switching times of one condition; a condition with more has no breakpoints
WIDEST_ROUNDING = 1e-10  # largest uncertainty of a switching time by rounding / length of the run
MOST_WIDENINGS = 12  # number of times that the interval of rounding is widened fourfold
SAME_AS_END = 1e-12  # difference of a switching time from the end of the run / end of the run
_SIGN_OF_DIFFERENCE = (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_FMIN, ca.OP_FMAX)


class Switch(NamedTuple):
    """A condition on time.

    line        a and b of φ = a t + b as a function of the model's inputs; None if φ is not linear in time
    phi         φ, its rate, and the size of the compared quantities, as functions of time and these inputs
    whole       True: it switches where φ passes an integer (2); False: where φ changes its sign (1)
    frequency   largest frequency of a sine in φ, a function of these inputs [rad/s]
    watched     True: it occurs in conditions of events only, which are also evaluated at the end of a run
    """

    line: ca.Function | None
    phi: ca.Function
    whole: bool
    frequency: ca.Function
    watched: bool


def time_switches(equations: list, watched: list, fixed: list, inputs: ca.SX) -> list[Switch]:
    """The conditions on time alone in the equations and in events, conditions inside others first.

    fixed    symbols that do not change during a run
    inputs   column of all inputs of the model, the arguments of the functions of a switch
    """
    switches: dict = {}
    known = {s.element_hash() for s in [time, *fixed]}
    for expressions, of_events in ((equations, False), (watched, True)):
        for x in expressions:
            for phi, size, whole in conditions(ca.vec(ca.SX(x)), known):
                if ca.depends_on(phi, time):
                    switches.setdefault((str(phi), whole), (phi, size, whole, inputs, of_events))
    return [_switch(*arguments) for arguments in switches.values()]


def conditions(column, known):
    """All conditions on known symbols in a column of expressions: φ, the size of the compared quantities, and True if it switches
    at integers."""
    symbols = ca.symvar(column)
    F = ca.Function("f", symbols, [column])
    lookups = pieces(F)
    work: dict[int, Any] = {}  # expressions of known symbols, by work register; None for others
    for k in range(F.n_instructions()):
        op, out, ins = F.instruction_id(k), F.instruction_output(k), F.instruction_input(k)
        if op == ca.OP_OUTPUT:
            continue
        if op == ca.OP_CONST:
            work[out[0]] = ca.SX(F.instruction_constant(k))
        elif op == ca.OP_INPUT:
            work[out[0]] = symbols[ins[0]] if symbols[ins[0]].element_hash() in known else None
        elif any(work[i] is None for i in ins):
            work.update(dict.fromkeys(out))
        elif op == ca.OP_CALL:
            call = piece(len(ins) - 1, len(out)).call if k in lookups else None
            results = [None] * len(out) if call is None else call([work[i] for i in ins])
            work.update(zip(out, [x if x is None else ca.SX(x) for x in results]))
        else:
            arguments = [work[i] for i in ins]
            work[out[0]] = (ca.SX.unary if len(arguments) == 1 else ca.SX.binary)(op, *arguments)
            phi, whole = _condition(op, *arguments)
            if phi is not None and not phi.is_constant():
                yield phi, ca.fabs(phi) if whole else sum(map(ca.fabs, arguments)), whole


def _condition(op, a, b=None):
    """φ of an operation that is not smooth, and True if it switches at integers; None instead of φ if it is smooth."""
    if op in _SIGN_OF_DIFFERENCE:
        return a - b, False  # (1)
    if op in (ca.OP_FABS, ca.OP_SIGN):
        return a, False
    if op == ca.OP_COPYSIGN:
        return b, False
    if op in (ca.OP_FLOOR, ca.OP_CEIL):
        return a, True  # (2)
    if op == ca.OP_FMOD:
        return a / b, True
    if op == ca.OP_REMAINDER:
        return a / b + 0.5, True
    return None, False


def _switch(phi, size, whole, inputs, watched):
    """The functions of one condition."""
    rate = ca.jacobian(phi, time)
    linear = not ca.depends_on(rate, time) and not _has_jumps(phi)
    line = ca.Function("line", [inputs], [rate, ca.substitute(phi, time, 0)]) if linear else None
    frequency = ca.Function("frequency", [inputs], [ca.mmax(ca.vertcat(0, *_frequencies(phi)))])
    return Switch(line, ca.Function("phi", [time, inputs], [phi, rate, size]), whole, frequency, watched)


def _has_jumps(phi):
    """True if an expression may contain an operation that jumps, such as floor, whose derivative is zero."""
    f = ca.Function("f", ca.symvar(phi), [phi])
    smooth = {ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_NEG}
    smooth |= {ca.OP_INV, ca.OP_TWICE}
    return any(f.instruction_id(k) not in smooth for k in range(f.n_instructions()))


def _frequencies(phi):
    """Frequencies of the sines, cosines and tangents in an expression whose arguments are linear in time."""
    symbols = ca.symvar(phi)
    f = ca.Function("f", symbols, [phi])
    work: dict[int, Any] = {}
    for k in range(f.n_instructions()):
        op, out, ins = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
        if op == ca.OP_CONST:
            work[out[0]] = ca.SX(f.instruction_constant(k))
        elif op == ca.OP_INPUT:
            work[out[0]] = symbols[ins[0]]
        elif op == ca.OP_CALL:
            work.update(dict.fromkeys(out, ca.SX(0)))
        elif op != ca.OP_OUTPUT:
            arguments = [work[i] for i in ins]
            work[out[0]] = (ca.SX.unary if len(arguments) == 1 else ca.SX.binary)(op, *arguments)
            if op in (ca.OP_SIN, ca.OP_COS, ca.OP_TAN):
                rate = ca.jacobian(arguments[0], time)
                if not ca.depends_on(rate, time):
                    yield ca.fabs(rate)


def switching_times(switches: list[Switch], p: Any, begin: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Times between `begin` and `end` at which a condition switches, and the uncertainty of each."""
    times, widths = [np.zeros(0)], [np.zeros(0)]
    for one in switches:
        if one.line is None:
            t, width = _bracketed_times(one, p, np.concatenate(times), begin, end)
        else:
            t, width = _linear_times(one, [float(x) for x in one.line(p)], begin, end)
        inside = (t >= begin) & (t <= end) & ~(one.watched & (np.abs(t - end) <= SAME_AS_END * abs(end)))
        if inside.sum() <= MOST_TIMES:
            times.append(t[inside])
            widths.append(width[inside])
    return np.concatenate(times), np.concatenate(widths)


def _linear_times(one, line, begin, end):
    """Times at which a t + b is zero, or an integer, and their uncertainties."""
    a, b = line
    if a == 0 or not (np.isfinite(a) and np.isfinite(b)):
        return np.zeros(0), np.zeros(0)
    values = np.zeros(1)
    if one.whole:
        low, high = sorted((a * begin + b, a * end + b))
        if high - low > MOST_TIMES:
            return np.zeros(0), np.zeros(0)
        values = np.arange(np.floor(low), np.ceil(high) + 1)
    t = (values - b) / a
    far = np.abs(t)
    return t, np.spacing(far) + (np.spacing(abs(b)) + np.spacing(abs(a) * far)) / abs(a)


def _bracketed_times(one, p, known, begin, end):
    """Times at which a nonlinear function switches, bracketed from samples, and their uncertainties."""
    f = ca.Function("phi", [time], one.phi(time, p))

    def values(t):
        return [x.full().ravel() for x in f(t[None, :])]

    def side(t):
        phi = values(t)[0]
        return np.floor(phi) if one.whole else phi > 0

    count = SAMPLES_PER_PERIOD * float(one.frequency(p)) * (end - begin) / (2 * np.pi)
    count = int(min(max(LEAST_SAMPLES, count), MOST_SAMPLES))
    grid = np.linspace(begin, end, count)
    edges = np.unique(np.concatenate([[begin, end], known]))
    between = [edges[:-1] + share * np.diff(edges) for share in (0.01, 0.34, 0.67, 0.99)]
    grid = np.unique(np.concatenate([grid, edges, *between]))
    grid = grid[(grid >= begin) & (grid <= end)]
    extrema, _ = _bisect(lambda t: values(t)[1] > 0, grid)
    t, width = _bisect(side, np.unique(np.concatenate([grid, extrema])))
    if not len(t):
        return t, width
    _, rate, size = values(t)
    most = width + WIDEST_ROUNDING * (end - begin)
    rounding = np.spacing(size) / np.maximum(np.abs(rate), np.spacing(size) / most)
    return t, np.maximum(width, _rounding_interval(side, t)) + rounding


def _rounding_interval(side, t):
    """Distances from switching times beyond which rounding does not change the side."""
    near = np.linspace(0.2, 1.0, 9)
    distance = np.spacing(np.abs(t)) + 1e-300
    done = np.zeros(len(t), bool)
    for _ in range(MOST_WIDENINGS):
        left, right = (
            side((t[:, None] + sign * distance[:, None] * near).ravel()).reshape(len(t), -1) for sign in (-1, 1)
        )
        done |= (left == left[:, -1:]).all(axis=1) & (right == right[:, -1:]).all(axis=1)
        if done.all():
            break
        distance[~done] *= 4
    return distance


def _bisect(state, grid):
    """Times at which a state changes, and the widths of their brackets, which are neighbouring numbers."""
    states = state(grid)
    where = np.flatnonzero(states[1:] != states[:-1])
    low, high = grid[where], grid[where + 1]
    before = states[where]
    while len(low) and np.any(high - low > 2 * np.maximum(np.spacing(high), np.spacing(grid[-1]) / 8)):
        middle = 0.5 * (low + high)
        same = state(middle) == before
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return 0.5 * (low + high), high - low
