"""Motions that are imposed as functions of time: continuous, with a continuous rate, and rotations where they shall be.

A position that jumps tears a mechanism apart, and a velocity that jumps demands an impact; a projection would hide both. A
function of time is smooth but where something in it switches: a comparison, |x|, floor, the branch of an arc tangent. Whether
these have switched is an integer σ(t), whose jumps are bracketed by two neighbouring numbers; there the function and its rate
are compared:

    f(t⁻) = f(t⁺),      ḟ(t⁻) = ḟ(t⁺)                                                                     (1)

Positions, grounds and imposed motions must satisfy both, velocity-level constraints the first. Where events release and engage
a constraint, it may be released at that time; this cannot be known before the run, so that a warning tells it.
"""

import warnings
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..describe.quantity import time
from ..errors import AccuracyWarning, ModelError
from ..formulations.fingerprint import timeless
from ..joints.imposed import Motion
from ..tables.calls import is_piece, piece
from ..tables.search import stored

SAMPLES, FEW = 600, 100  # instants that are looked at: where something switches, and where nothing does
JUMP, KINK = 1e-9, 1e-7  # of (1), over the range of f and the size of ḟ
ROUNDING = 1e-12  # over the size of f
ORTHOGONAL = 1e-9  # RᵀR − 1 of a rotation
COUNT = 300  # instants at most that are bracketed, evenly chosen


class Imposed(NamedTuple):
    """One function of time (t, inputs): `values` gives f and ḟ, `switches` σ; `rotation` is the place of R in it, column by
    column."""

    owner: str
    level: int  # how many of f, ḟ must be continuous
    lasting: bool  # it holds from the start to the end; else a warning takes the place of an error
    values: ca.Function
    switches: ca.Function
    rotation: int | None
    occurring: list  # places of the inputs in it
    begin: float = 0.0  # the instant that is 0 in it [s]


def refuse_jumps(model, values, until):
    """Refuse imposed motions that jump, kink or are no rotations between 0 and `until`."""
    every, occurring, checked = _known(model)
    if not every:
        return
    p = np.array(model.input_values(values))
    key = (until, *p[occurring])
    if key not in checked:
        clear = [_examine(one, p, until) for one in every]
        checked.update({key: True} if all(clear) else {})  # what was told is told again


def refuse_jumps_of(owner, f, begin, end):
    """Refuse an expression of time, a position that is imposed, which jumps or kinks between two instants."""
    one = _one(owner, 2, True, ca.substitute(f, time, time + begin), ca.SX(0, 1), ca.SX(0, 1), None)
    if one.switches.size1_out(0) and end > begin:
        _examine(one._replace(begin=begin), np.zeros(0), end - begin)


def occurs(model, columns):
    """Whether one of these inputs occurs in an imposed motion that is looked at."""
    return not set(columns).isdisjoint(_known(model)[1])


def _known(model):
    """Imposed motions that could jump, places of the inputs in them, and for which values of these they do not."""
    if "imposed" not in model.derived:
        every = [one for one in _imposed(model) if one.rotation is not None or one.switches.size1_out(0)]
        occurring = [k for one in every for k in one.occurring]
        model.derived["imposed"] = every, sorted(set(occurring)), {}
    return model.derived["imposed"]


def _imposed(model):
    """Everything in a model that imposes a motion as a function of time."""
    inputs = ca.vertcat(*model.inputs, ca.SX(0, 1))
    changing = ca.vertcat(*[m.symbol for m in model.memories], ca.SX(0, 1))
    for ground in model.grounds:
        if ground.moves:
            x, R = ground.path
            yield _one(ground.owner, 2, True, ca.vertcat(ca.vec(R), x), inputs, changing, 0)
    switched = {id(element) for element in model.switched}
    known: dict = {}
    for c in model.constraints:
        trace = c.traced()
        if id(trace) not in known:
            known[id(trace)] = trace is not None and timeless(trace)
        if known[id(trace)]:
            continue
        stated = c.equations()
        rows, level = (stated.velocity, 1) if stated.position is None else (stated.position, 2)
        if rows is not None and ca.depends_on(rows, time):
            yield _one(c.owner, level, id(c) not in switched, rows, inputs, changing, None)
            R = c.targets()[1] if isinstance(c, Motion) else None
            if R is not None and ca.depends_on(R, time):
                yield _one(c.owner, 2, id(c) not in switched, ca.vec(R), inputs, changing, 0)


def _one(owner, level, lasting, f, inputs, changing, rotation):
    """A function of time, with all that is state in it frozen somewhere."""
    own = {s.element_hash() for s in ca.symvar(ca.vertcat(time, inputs))}
    state = [s for s in ca.symvar(f) if s.element_hash() not in own]
    found = [x for x in _switches(f, state, changing)]
    if state:
        somewhere = np.random.default_rng(3).uniform(0.2, 0.8, len(state))
        f = ca.substitute(f, ca.vertcat(*state), ca.DM(somewhere))
    values = ca.Function("imposed", [time, inputs], [ca.densify(f), ca.densify(ca.jacobian(f, time))])
    switches = ca.Function("switches", [time, inputs], [ca.densify(ca.vertcat(*found, ca.SX(0, 1)))])
    occurring = [k for k, s in enumerate(ca.vertsplit(inputs)) if ca.depends_on(f, s)] if inputs.shape[0] else []
    return Imposed(owner, level, lasting, values, switches, rotation, occurring)


def _switches(f, state, changing):
    """σ of an expression: everything in it that switches with time alone."""
    hidden = {s.element_hash() for s in [*state, *ca.symvar(changing)]}
    symbols = ca.symvar(f)
    F = ca.Function("f", symbols, [f])
    work: dict = {}
    for k in range(F.n_instructions()):
        op, out, ins = F.instruction_id(k), F.instruction_output(k), F.instruction_input(k)
        if op == ca.OP_OUTPUT:
            continue
        if op == ca.OP_CONST:
            work[out[0]] = ca.SX(F.instruction_constant(k))
        elif op == ca.OP_INPUT:
            work[out[0]] = None if symbols[ins[0]].element_hash() in hidden else symbols[ins[0]]
        elif op == ca.OP_CALL:
            given = [work[i] for i in ins]
            known = is_piece(ins) and all(x is not None for x in given)
            found = piece(len(given) - 1, len(out))(*given) if known else [None] * len(out)
            work.update(zip(out, [x if x is None else ca.SX(x) for x in found]))
            yield from [x for x in _ends(*given) if ca.depends_on(x, time)] if known else []
        else:
            given = [work[i] for i in ins]
            known = all(x is not None for x in given)
            work[out[0]] = (ca.SX.unary if len(given) == 1 else ca.SX.binary)(op, *given) if known else None
            if known:
                yield from [x for x in _switch(op, work[out[0]], *given) if ca.depends_on(x, time)]


def _ends(number, *arguments):
    """What changes where a table ends that is held outside; within it is smooth, or refused."""
    table = stored(number)
    ends = zip(table.axes, arguments) if table.content.outside == "hold" else []
    return [side for axis, u in ends for side in (u < axis.breaks[0], u < axis.breaks[-1])]


def _switch(op, value, a, b=None):
    """What changes where the result of an operation may not be smooth; and where a comparison is closest to changing."""
    rising = lambda x: ca.sign(ca.jacobian(x, time))
    if op in (ca.OP_LT, ca.OP_LE, ca.OP_FMIN, ca.OP_FMAX, ca.OP_EQ, ca.OP_NE):
        return [a < b, rising(a - b)]
    if op in (ca.OP_FLOOR, ca.OP_CEIL, ca.OP_SIGN):
        return [value]
    if op == ca.OP_FABS:
        return [ca.sign(a), rising(a)]
    if op == ca.OP_FMOD:
        return [ca.floor(ca.fabs(a / b))]
    if op == ca.OP_REMAINDER:
        return [ca.floor(a / b + 0.5)]
    if op == ca.OP_COPYSIGN:
        return [ca.sign(b)]
    if op == ca.OP_ATAN2:
        return [ca.if_else(b < 0, a < 0, 2)]
    if op == ca.OP_IF_ELSE_ZERO:
        return [a != 0]
    if op == ca.OP_TAN:
        return [ca.floor(a / ca.pi + 0.5)]
    if op in (ca.OP_DIV, ca.OP_INV):
        return [ca.sign(a if b is None else b)]
    if op in (ca.OP_SQRT, ca.OP_LOG, ca.OP_POW, ca.OP_CONSTPOW):
        return [ca.sign(a), rising(a)]
    if op in (ca.OP_ASIN, ca.OP_ACOS):
        return [ca.sign(1 - a * a), rising(a)]
    return []


def _examine(one, p, until):
    """Refuse a function; True where there is nothing to tell."""
    count = SAMPLES if one.switches.size1_out(0) else FEW
    grid = np.linspace(0, until, count)
    grid[1:-1] += until / count * np.random.default_rng(5).uniform(-0.4, 0.4, count - 2)  # no period fits it
    grid = np.unique(np.concatenate([grid, until * 0.5 ** np.arange(1, 50)]))
    f, rate = _at(one.values, grid, p)
    _refuse_numbers(one, grid, f, rate)
    before, after = _changes(one.switches, grid, p)
    if 0 < len(before) < COUNT:  # what lasts shorter than a sample begins or ends close to something else
        close = until * 0.5 ** np.arange(2, 46, 2)
        near = np.concatenate([(before[:, None] + s * close).ravel() for s in (-1, 1)])
        near = np.unique(np.concatenate([near, before, after]))
        before, after = _changes(one.switches, near[(near >= 0) & (near <= until)], p)
    if not len(before):
        return True
    aside = 8 * np.spacing(after)  # of a pole, σ is known up to rounding
    sides = np.maximum(before - aside, 0.0), after + aside
    (f0, rate0), (f1, rate1) = (_at(one.values, side, p) for side in sides)
    size, speed = (np.abs(x).max(axis=1, keepdims=True) for x in (f, rate))
    least = ROUNDING * max(size.max(), 1e-300)
    allowed = JUMP * np.ptp(f, axis=1, keepdims=True) + ROUNDING * size + 1e-2 * least
    if _reported(one, "", before, np.abs(f1 - f0), allowed, ""):
        return False
    kink = KINK * speed + least / until * 1e3
    return one.level < 2 or not _reported(one, "the rate of ", before, np.abs(rate1 - rate0), kink, " per second")


def _at(function, t, p):
    """Results of a function at many times, one column each."""
    found = function.map(len(t))(t[None, :], np.tile(p[:, None], (1, len(t))))
    return [x.full() for x in (found if isinstance(found, tuple) else (found,))]


def _changes(switches, grid, p):
    """Neighbouring times between which something switches: brackets, divided again and again."""
    if not switches.size1_out(0) or len(grid) < 2:
        return np.zeros(0), np.zeros(0)
    (sigma,) = _at(switches, grid, p)
    which, where = np.nonzero(sigma[:, 1:] != sigma[:, :-1])
    chosen = np.unique(np.linspace(0, max(len(which) - 1, 0), min(len(which), COUNT)).astype(int))
    which, where = which[chosen], where[chosen]
    before, after, old = grid[where], grid[where + 1], sigma[which, where]
    if not len(which):
        return before, after
    parts = max(2, 32 * 8 // len(which))
    share = np.arange(1, parts) / parts
    while np.any(after - before > 2 * np.maximum(np.spacing(after), np.spacing(grid[-1]) / 8)):
        inside = before[:, None] + (after - before)[:, None] * share
        found = _at(switches, inside.ravel(), p)[0].reshape(-1, *inside.shape)[which, np.arange(len(which))]
        first = np.argmax(np.column_stack([found != old[:, None], np.ones(len(which), bool)]), axis=1)
        edges = np.column_stack([before, inside, after])
        rows = np.arange(len(which))
        before, after = edges[rows, first], edges[rows, first + 1]
    return before, after


def _refuse_numbers(one, grid, f, rate):
    """Refuse what is no number, or no rotation."""
    bad = ~np.all(np.isfinite(np.vstack([f, rate] if one.level == 2 else [f])), axis=0)
    if bad.any() and one.lasting:
        raise ModelError(
            f"{one.owner}: its motion, or the rate of it, is not a number at t = {one.begin + grid[bad][0]:.9g} s"
        )
    if one.rotation is not None:
        R = f[one.rotation : one.rotation + 9].T.reshape(-1, 3, 3).swapaxes(1, 2)
        off = np.abs(R.swapaxes(1, 2) @ R - np.eye(3)).max(axis=(1, 2))
        wrong = (off > ORTHOGONAL) | (np.linalg.det(R) < 0)
        if wrong.any():
            k = int(np.argmax(wrong))
            raise ModelError(
                f"{one.owner}: rotation is not a rotation (orthogonal, determinant +1) at t = {grid[k]:.9g} s: RᵀR is off by "
                f"{off[k]:.3g}, the determinant is {np.linalg.det(R[k]):.6g}; give a rotation vector or a quaternion"
            )


def _reported(one, what, t, jump, allowed, unit):
    """Refuse a jump that is more than rounding, or tell it: the first of them. False where there is none."""
    over = np.any(~(jump <= allowed), axis=0)
    if over.any():
        k = np.flatnonzero(over)[np.argmin(t[over])]
        size = f"{jump[:, k].max():.3g}{unit}" if np.all(np.isfinite(jump[:, k])) else "an unknown amount"
        message = f"{one.owner}: {what}its motion jumps by {size} at t = {one.begin + t[k]:.9g} s"
        if one.lasting:
            raise ModelError(
                f"{message}. An imposed motion must be continuous, and so must its rate where it gives positions, since nothing "
                "can follow a jump without an impact: join its parts smoothly, or let an event engage the element that takes over"
            )
        warnings.warn(
            f"{message}; the result is right only if an event has released it by then", AccuracyWarning, stacklevel=6
        )
    return bool(over.any())
