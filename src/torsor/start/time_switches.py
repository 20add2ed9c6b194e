"""Conditions on time alone in the equations of a model, and the instants at which they switch.

A pulse `if_else(time > 1, if_else(time < 1.001, F, 0), 0)`, `sign(sin(w time))`, `fmod(time, T) < d`, `fmax(0, time - 1)`: the
equations are smooth but at the instants where

    φ(t) changes its sign      a < b, a <= b, a == b, fmin, fmax: φ = a − b;   |a|, sign(a), copysign(·, a): φ = a      (1)
    φ(t) passes an integer     floor(a), ceil(a): φ = a;   fmod(a, b): φ = a/b;   remainder(a, b): φ = a/b + ½          (2)

φ contains time, parameters and numbers. Of φ = a t + b the instants are known in closed form; of others they are bracketed, from
samples that include the instants of everything inside φ and its extrema.
"""

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..describe.quantity import time
from ..tables.calls import is_piece, piece

SAMPLES = 1000  # over a run
PER_PERIOD = 16  # samples in a period of a sine in φ
MOST_SAMPLES = 400_000
MOST_INSTANTS = 100_000  # of one condition; more than these are not breakpoints
WIDEST = 1e-10  # of a run: how far rounding hides an instant at most
FOURFOLD = 12  # times at most that the distance is taken in which rounding hides an instant
AT_END = 1e-12  # of the end of a run: an instant that is as close is the end
_SIGN_OF_DIFFERENCE = (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_FMIN, ca.OP_FMAX)


class Switch(NamedTuple):
    """A condition on time.

    line        a and b of φ = a t + b as a function of the model's inputs; None: φ is another function of time
    phi         φ, its rate, and the size of what is compared in it, functions of time and these inputs
    whole       True: it switches where φ passes an integer (2); False: where φ changes its sign (1)
    frequency   largest frequency of a sine in φ, a function of these inputs [rad/s]
    watched     True: it occurs in conditions of events only, which are met at the end of a run, too
    """

    line: ca.Function | None
    phi: ca.Function
    whole: bool
    frequency: ca.Function
    watched: bool


def time_switches(equations: list, watched: list, fixed: list, inputs: ca.SX) -> list[Switch]:
    """The conditions on time alone in expressions of the equations and of events, those inside others first.

    fixed    symbols that do not change while a model runs, besides time
    inputs   column of all numbers that kernels take, which the functions of a switch are functions of
    """
    found: dict = {}
    known = {s.element_hash() for s in [time, *fixed]}
    for expressions, of_events in ((equations, False), (watched, True)):
        for x in expressions:
            for phi, size, whole in conditions(ca.vec(ca.SX(x)), known):
                if ca.depends_on(phi, time):
                    found.setdefault((str(phi), whole), (phi, size, whole, inputs, of_events))
    return [_switch(*given) for given in found.values()]


def conditions(column, known):
    """φ of every condition on known symbols in a column of expressions, the size of what is compared, and whether it switches at
    integers."""
    symbols = ca.symvar(column)
    F = ca.Function("f", symbols, [column])
    work: dict[int, Any] = {}  # what is in a place of memory: an expression of time and fixed symbols, or None
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
            results = piece(len(ins) - 1, len(out))(*[work[i] for i in ins]) if is_piece(ins) else [None] * len(out)
            work.update(zip(out, [x if x is None else ca.SX(x) for x in results]))
        else:
            given = [work[i] for i in ins]
            work[out[0]] = (ca.SX.unary if len(given) == 1 else ca.SX.binary)(op, *given)
            phi, whole = _boundary(op, *given)
            if phi is not None and not phi.is_constant():
                yield phi, ca.fabs(phi) if whole else sum(map(ca.fabs, given)), whole


def _boundary(op, a, b=None):
    """φ of an operation that is not smooth, and whether it switches at integers; None where it is smooth."""
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
    rate = ca.jacobian(phi, time)
    straight = not ca.depends_on(rate, time) and not _steps(phi)
    line = ca.Function("line", [inputs], [rate, ca.substitute(phi, time, 0)]) if straight else None
    frequency = ca.Function("frequency", [inputs], [ca.mmax(ca.vertcat(0, *_frequencies(phi)))])
    return Switch(line, ca.Function("phi", [time, inputs], [phi, rate, size]), whole, frequency, watched)


def _steps(phi):
    """True if an expression contains an operation that jumps, whose derivative is zero."""
    f = ca.Function("f", ca.symvar(phi), [phi])
    smooth = {ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_NEG}
    smooth |= {ca.OP_INV, ca.OP_TWICE}
    return any(f.instruction_id(k) not in smooth for k in range(f.n_instructions()))


def _frequencies(phi):
    """Rates of the arguments of sines and cosines in an expression that grow evenly with time."""
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
            given = [work[i] for i in ins]
            work[out[0]] = (ca.SX.unary if len(given) == 1 else ca.SX.binary)(op, *given)
            if op in (ca.OP_SIN, ca.OP_COS, ca.OP_TAN):
                rate = ca.jacobian(given[0], time)
                if not ca.depends_on(rate, time):
                    yield ca.fabs(rate)


def instants(switches: list[Switch], p: Any, begin: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Times between two instants at which something switches, and how closely each is known."""
    times, widths = [np.zeros(0)], [np.zeros(0)]
    for one in switches:
        if one.line is None:
            t, width = _bracketed(one, p, np.concatenate(times), begin, end)
        else:
            t, width = _straight(one, [float(x) for x in one.line(p)], begin, end)
        inside = (t >= begin) & (t <= end) & ~(one.watched & (np.abs(t - end) <= AT_END * abs(end)))
        if inside.sum() <= MOST_INSTANTS:
            times.append(t[inside])
            widths.append(width[inside])
    return np.concatenate(times), np.concatenate(widths)


def _straight(one, line, begin, end):
    """Where a t + b is zero, or a whole number."""
    a, b = line
    if a == 0 or not (np.isfinite(a) and np.isfinite(b)):
        return np.zeros(0), np.zeros(0)
    values = np.zeros(1)
    if one.whole:
        low, high = sorted((a * begin + b, a * end + b))
        if high - low > MOST_INSTANTS:
            return np.zeros(0), np.zeros(0)
        values = np.arange(np.floor(low), np.ceil(high) + 1)
    t = (values - b) / a
    far = np.abs(t)
    return t, np.spacing(far) + (np.spacing(abs(b)) + np.spacing(abs(a) * far)) / abs(a)


def _bracketed(one, p, known, begin, end):
    """Where another function of time switches: pairs of neighbouring numbers, from samples."""
    f = ca.Function("phi", [time], one.phi(time, p))

    def values(t):
        return [x.full().ravel() for x in f(t[None, :])]

    def side(t):
        phi = values(t)[0]
        return np.floor(phi) if one.whole else phi > 0

    count = PER_PERIOD * float(one.frequency(p)) * (end - begin) / (2 * np.pi)
    count = int(min(max(SAMPLES, count), MOST_SAMPLES))
    grid = np.linspace(begin, end, count)
    edges = np.unique(np.concatenate([[begin, end], known]))
    between = [edges[:-1] + share * np.diff(edges) for share in (0.01, 0.34, 0.67, 0.99)]
    grid = np.unique(np.concatenate([grid, edges, *between]))
    grid = grid[(grid >= begin) & (grid <= end)]
    extrema, _ = _halved(lambda t: values(t)[1] > 0, grid)
    t, width = _halved(side, np.unique(np.concatenate([grid, extrema])))
    if not len(t):
        return t, width
    _, rate, size = values(t)
    most = width + WIDEST * (end - begin)
    rounding = np.spacing(size) / np.maximum(np.abs(rate), np.spacing(size) / most)
    return t, np.maximum(width, _noise(side, t)) + rounding


def _noise(side, t):
    """Distances from instants beyond which rounding does not change on which side a time is."""
    near = np.linspace(0.2, 1.0, 9)
    distance, done = np.spacing(np.abs(t)) + 1e-300, np.zeros(len(t), bool)
    for _ in range(FOURFOLD):
        left, right = (
            side((t[:, None] + sign * distance[:, None] * near).ravel()).reshape(len(t), -1) for sign in (-1, 1)
        )
        done |= (left == left[:, -1:]).all(axis=1) & (right == right[:, -1:]).all(axis=1)
        if done.all():
            break
        distance[~done] *= 4
    return distance


def _halved(state, grid):
    """Times between which a state differs, and the widths of these intervals, which are neighbouring numbers."""
    found = state(grid)
    where = np.flatnonzero(found[1:] != found[:-1])
    low, high, before = grid[where], grid[where + 1], found[where]
    while len(low) and np.any(high - low > 2 * np.maximum(np.spacing(high), np.spacing(grid[-1]) / 8)):
        middle = 0.5 * (low + high)
        same = state(middle) == before
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return 0.5 * (low + high), high - low
