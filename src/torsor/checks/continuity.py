"""Check motions that are imposed as functions of time: values and rates must be continuous, rotations orthogonal.

No mechanism can follow a position that jumps, and a velocity that jumps demands an impact; a projection would hide both. A
function of time is smooth except where something in it switches: a comparison, |x|, floor, the branch of an arc tangent. The
state of each switch is an integer σ(t). Its jumps are bracketed by two neighbouring floating-point numbers, and the function and
its rate are compared there:

    f(t⁻) = f(t⁺),      ḟ(t⁻) = ḟ(t⁺)                                                                     (1)

Positions, grounds and imposed motions must satisfy both, velocity-level constraints the first. If events release and engage a
constraint, it may be released at that time. This cannot be known before the run, so there is a warning instead of an error.
"""

import warnings
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..elements.quantity import time
from ..errors import AccuracyWarning, ModelError
from ..formulations.fingerprint import is_time_independent
from ..lookup.interval_search import stored_table
from ..lookup.lookup_calls import piece, pieces

SWITCHING_SAMPLES = 600  # number of sampled times of a function that switches
SMOOTH_SAMPLES = 100  # number of sampled times of a function that does not
VALUE_JUMP = 1e-9  # jump of f in (1) / range of f
RATE_JUMP = 1e-7  # jump of ḟ in (1) / size of ḟ
VALUE_ROUNDING = 1e-12  # rounding of f / size of f
ORTHOGONALITY_ERROR = 1e-9  # RᵀR − 1 of a rotation
MOST_BRACKETS = 300  # largest number of times that are bracketed, evenly chosen


class Imposed(NamedTuple):
    """One imposed function of time and inputs."""

    owner: str
    level: int  # 1: f must be continuous; 2: f and ḟ
    lasting: bool  # True if it is active from the start to the end; else there is a warning instead of an error
    values: ca.Function  # f and ḟ
    switches: ca.Function  # σ
    rotation: int | None  # index in f of a rotation matrix R, column by column
    occurring: list  # indices of the inputs that occur in it
    begin: float = 0.0  # time at which its argument is 0 [s]


def refuse_jumps(model, values, until):
    """Refuse imposed motions whose value or rate jumps, or whose rotation is not a rotation, between 0 and `until`."""
    every, occurring, checked = _imposed_functions(model)
    if not every:
        return
    p = np.array(model.input_values(values))
    key = (until, *p[occurring])
    if key not in checked:
        clear = [_check(one, p, until) for one in every]
        checked.update({key: True} if all(clear) else {})  # a warning is given again in the next run


def refuse_jumps_of_expression(owner, f, begin, end):
    """Refuse an imposed position, an expression of time, if its value or rate jumps between two times."""
    one = _function_of_time(owner, 2, True, ca.substitute(f, time, time + begin), ca.SX(0, 1), ca.SX(0, 1), None)
    if one.switches.size1_out(0) and end > begin:
        _check(one._replace(begin=begin), np.zeros(0), end - begin)


def depends_on_inputs(model, columns):
    """True if one of these inputs occurs in an imposed motion that is checked."""
    return not set(columns).isdisjoint(_imposed_functions(model)[1])


def _imposed_functions(model):
    """Imposed motions that may jump, indices of the inputs in them, and a dictionary of the input values already checked."""
    if "imposed" not in model.derived:
        every = [one for one in _find_imposed(model) if one.rotation is not None or one.switches.size1_out(0)]
        occurring = [k for one in every for k in one.occurring]
        model.derived["imposed"] = every, sorted(set(occurring)), {}
    return model.derived["imposed"]


def _find_imposed(model):
    """All functions of time that a model imposes: moving grounds and constraints."""
    inputs = ca.vertcat(*model.inputs, ca.SX(0, 1))
    changing = ca.vertcat(*[m.symbol for m in model.memories], ca.SX(0, 1))
    for ground in model.grounds:
        if ground.moves:
            x, R = ground.path
            yield _function_of_time(ground.owner, 2, True, ca.vertcat(ca.vec(R), x), inputs, changing, 0)
    switched = {id(element) for element in model.switched_elements}
    is_timeless: dict = {}
    for c in model.constraints:
        trace = c.trace()
        if id(trace) not in is_timeless:
            is_timeless[id(trace)] = trace is not None and is_time_independent(trace)
        if is_timeless[id(trace)]:
            continue
        stated = c.equations()
        rows, level = (stated.velocity, 1) if stated.position is None else (stated.position, 2)
        if rows is not None and ca.depends_on(rows, time):
            yield _function_of_time(c.owner, level, id(c) not in switched, rows, inputs, changing, None)
            R = c.imposed_rotation()
            if R is not None and ca.depends_on(R, time):
                yield _function_of_time(c.owner, 2, id(c) not in switched, ca.vec(R), inputs, changing, 0)


def _function_of_time(owner, level, lasting, f, inputs, changing, rotation):
    """An imposed function with the state variables in it replaced by arbitrary numbers."""
    own = {s.element_hash() for s in ca.symvar(ca.vertcat(time, inputs))}
    state = [s for s in ca.symvar(f) if s.element_hash() not in own]
    sigma = list(_switches(f, state, changing))
    if state:
        numbers = np.random.default_rng(3).uniform(0.2, 0.8, len(state))
        f = ca.substitute(f, ca.vertcat(*state), ca.DM(numbers))
    values = ca.Function("imposed", [time, inputs], [ca.densify(f), ca.densify(ca.jacobian(f, time))])
    switches = ca.Function("switches", [time, inputs], [ca.densify(ca.vertcat(*sigma, ca.SX(0, 1)))])
    occurring = [k for k, s in enumerate(ca.vertsplit(inputs)) if ca.depends_on(f, s)] if inputs.shape[0] else []
    return Imposed(owner, level, lasting, values, switches, rotation, occurring)


def _switches(f, state, changing):
    """σ of an expression: the state of everything in it that switches with time alone."""
    hidden = {s.element_hash() for s in [*state, *ca.symvar(changing)]}
    symbols = ca.symvar(f)
    F = ca.Function("f", symbols, [f])
    lookups = pieces(F)
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
            arguments = [work[i] for i in ins]
            timed = k in lookups and all(x is not None for x in arguments)
            results = piece(len(arguments) - 1, len(out))(*arguments) if timed else [None] * len(out)
            work.update(zip(out, [x if x is None else ca.SX(x) for x in results]))
            yield from [x for x in _table_ends(*arguments) if ca.depends_on(x, time)] if timed else []
        else:
            arguments = [work[i] for i in ins]
            timed = all(x is not None for x in arguments)
            work[out[0]] = (ca.SX.unary if len(arguments) == 1 else ca.SX.binary)(op, *arguments) if timed else None
            if timed:
                yield from [x for x in _switch_state(op, work[out[0]], *arguments) if ca.depends_on(x, time)]


def _table_ends(number, *arguments):
    """Conditions that change at the ends of a table that is constant outside. Inside, a table is smooth or refused."""
    table = stored_table(number)
    ends = zip(table.axes, arguments) if table.content.outside == "hold" else []
    return [side for axis, u in ends for side in (u < axis.breaks[0], u < axis.breaks[-1])]


def _switch_state(op, value, a, b=None):
    """Expressions that change where an operation may not be smooth, and where a comparison is closest to changing."""

    def rising(x):
        return ca.sign(ca.jacobian(x, time))

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


def _check(one, p, until):
    """Refuse a function that jumps, or warn; True if it is continuous."""
    count = SWITCHING_SAMPLES if one.switches.size1_out(0) else SMOOTH_SAMPLES
    grid = np.linspace(0, until, count)
    grid[1:-1] += (
        until / count * np.random.default_rng(5).uniform(-0.4, 0.4, count - 2)
    )  # so that the samples do not fit a period
    grid = np.unique(np.concatenate([grid, until * 0.5 ** np.arange(1, 50)]))
    f, rate = _evaluate(one.values, grid, p)
    _refuse_numbers(one, grid, f, rate)
    before, after = _bracket_switches(one.switches, grid, p)
    if 0 < len(before) < MOST_BRACKETS:  # an interval shorter than a sample begins or ends close to another switch
        close = until * 0.5 ** np.arange(2, 46, 2)
        near = np.concatenate([(before[:, None] + s * close).ravel() for s in (-1, 1)])
        near = np.unique(np.concatenate([near, before, after]))
        before, after = _bracket_switches(one.switches, near[(near >= 0) & (near <= until)], p)
    if not len(before):
        return True
    margin = 8 * np.spacing(after)  # at a pole, σ is known up to rounding
    sides = np.maximum(before - margin, 0.0), after + margin
    (f0, rate0), (f1, rate1) = (_evaluate(one.values, side, p) for side in sides)
    size, speed = (np.abs(x).max(axis=1, keepdims=True) for x in (f, rate))
    least = VALUE_ROUNDING * max(size.max(), 1e-300)
    allowed = VALUE_JUMP * np.ptp(f, axis=1, keepdims=True) + VALUE_ROUNDING * size + 1e-2 * least
    if _report_jump(one, "", before, np.abs(f1 - f0), allowed, ""):
        return False
    allowed_rate = RATE_JUMP * speed + least / until * 1e3
    return one.level < 2 or not _report_jump(
        one, "the rate of ", before, np.abs(rate1 - rate0), allowed_rate, " per second"
    )


def _evaluate(function, t, p):
    """Results of a function at many times, one column each."""
    results = function.map(len(t))(t[None, :], np.tile(p[:, None], (1, len(t))))
    return [x.full() for x in (results if isinstance(results, tuple) else (results,))]


def _bracket_switches(switches, grid, p):
    """Pairs of neighbouring times between which a switch changes, by repeated division of brackets."""
    if not switches.size1_out(0) or len(grid) < 2:
        return np.zeros(0), np.zeros(0)
    (sigma,) = _evaluate(switches, grid, p)
    which, where = np.nonzero(sigma[:, 1:] != sigma[:, :-1])
    chosen = np.unique(np.linspace(0, max(len(which) - 1, 0), min(len(which), MOST_BRACKETS)).astype(int))
    which, where = which[chosen], where[chosen]
    before, after = grid[where], grid[where + 1]
    old = sigma[which, where]
    if not len(which):
        return before, after
    parts = max(2, 32 * 8 // len(which))
    share = np.arange(1, parts) / parts
    while np.any(after - before > 2 * np.maximum(np.spacing(after), np.spacing(grid[-1]) / 8)):
        inside = before[:, None] + (after - before)[:, None] * share
        new = _evaluate(switches, inside.ravel(), p)[0].reshape(-1, *inside.shape)[which, np.arange(len(which))]
        first = np.argmax(np.column_stack([new != old[:, None], np.ones(len(which), bool)]), axis=1)
        edges = np.column_stack([before, inside, after])
        rows = np.arange(len(which))
        before, after = edges[rows, first], edges[rows, first + 1]
    return before, after


def _refuse_numbers(one, grid, f, rate):
    """Refuse values that are not finite, and rotations that are not orthogonal."""
    bad = ~np.all(np.isfinite(np.vstack([f, rate] if one.level == 2 else [f])), axis=0)
    if bad.any() and one.lasting:
        raise ModelError(f"{one.owner}: its motion or its rate is not a number at t = {one.begin + grid[bad][0]:.9g} s")
    if one.rotation is not None:
        R = f[one.rotation : one.rotation + 9].T.reshape(-1, 3, 3).swapaxes(1, 2)
        error = np.abs(R.swapaxes(1, 2) @ R - np.eye(3)).max(axis=(1, 2))
        wrong = (error > ORTHOGONALITY_ERROR) | (np.linalg.det(R) < 0)
        if wrong.any():
            k = int(np.argmax(wrong))
            raise ModelError(
                f"{one.owner}: rotation is not a rotation (orthogonal, determinant +1) at t = {grid[k]:.9g} s: RᵀR is off by "
                f"{error[k]:.3g}, the determinant is {np.linalg.det(R[k]):.6g}; give a rotation vector or a quaternion"
            )


def _report_jump(one, what, t, jump, allowed, unit):
    """Refuse the first jump that is larger than allowed, or warn of it; False if there is none."""
    over = np.any(~(jump <= allowed), axis=0)
    if over.any():
        k = np.flatnonzero(over)[np.argmin(t[over])]
        size = f"{jump[:, k].max():.3g}{unit}" if np.all(np.isfinite(jump[:, k])) else "an unknown amount"
        message = f"{one.owner}: {what}its motion jumps by {size} at t = {one.begin + t[k]:.9g} s"
        if one.lasting:
            raise ModelError(
                f"{message}. An imposed motion must be continuous, and its rate too if it prescribes positions, since no body can "
                "follow a jump without an impact: join its parts smoothly, or let an event engage the element that takes over"
            )
        warnings.warn(
            f"{message}; the result is correct only if an event has released it by then", AccuracyWarning, stacklevel=6
        )
    return bool(over.any())
