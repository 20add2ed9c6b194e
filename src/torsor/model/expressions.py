"""Expressions as plain data: elementary operations by name, and numbers. Nothing in it can do anything but calculate.

All expressions of a model are one function of all its symbols. It is written operation by operation,

    w[out] = operation(w[a], w[b])        "ADD", "SIN" …; constants, symbols and results by their places

and carried out again, with new symbols, where it is read. (CasADi's own text of a function changes with its version, and may
name libraries to be loaded.)

A lookup in a table gives several results at once: its first is a step of its own, "PIECE_5" for one that gives 5, the others are
steps "NEXT". Where there are more arguments, a step "SECOND" for each of them precedes it.
"""

import json
from typing import Any

import casadi as ca
import numpy as np

from ..lookup.interval_search import stored_table
from ..lookup.lookup_calls import calls, piece, pieces, without_derivative_calls

CONSTANT, SYMBOL, RESULT = "CONST", "INPUT", "OUTPUT"
UNARY = frozenset(
    "ASSIGN NEG EXP LOG SQRT SQ TWICE SIN COS TAN ASIN ACOS ATAN FLOOR CEIL NOT ERF FABS SIGN INV SINH COSH TANH ASINH ACOSH ATANH "
    "ERFINV LOG1P EXPM1".split()
)
BINARY = frozenset(
    "ADD SUB MUL DIV POW CONSTPOW LT LE EQ NE AND OR FMOD REMAINDER COPYSIGN IF_ELSE_ZERO FMIN FMAX ATAN2 HYPOT".split()
)
CODES = {name: getattr(ca, f"OP_{name}") for name in (CONSTANT, SYMBOL, RESULT, *UNARY, *BINARY)}
NAMES = {code: name for name, code in CODES.items()}
PIECE, NEXT, SECOND = "PIECE", "NEXT", "SECOND"
MOST = 10**6  # entries of an expression


def to_data(expressions, symbols):
    """Expressions of symbols as plain data: operations (by the places of their names), constants, and where results belong."""
    f = ca.Function("expressions", [ca.vertcat(*symbols, ca.SX(0, 1))], [ca.SX(x) for x in expressions])
    f = without_derivative_calls(f) if calls(f) else f
    names: dict[str, int] = {}
    steps: list[list[int]] = []
    constants: list[float] = []
    lookups = pieces(f)
    for k in range(f.n_instructions()):
        if k in lookups:
            steps += _lookup(names, f.instruction_input(k), f.instruction_output(k))
            continue
        name = NAMES.get(f.instruction_id(k))
        if name is None:
            raise ValueError("an operation that cannot be written")
        place, taken = list(f.instruction_output(k)), list(f.instruction_input(k))
        if name == CONSTANT:
            taken = [len(constants)]
            constants.append(f.instruction_constant(k))
        elif name == SYMBOL:
            taken = taken[1:]  # there is one column of symbols
        elif name == RESULT:
            taken, place = [*taken, place[0]], place[1:]
        steps.append([names.setdefault(name, len(names)), *place, *taken, *[0] * (2 - len(taken))])
    shapes = [_shape(s) for s in map(f.sparsity_out, range(f.n_out()))]
    return {
        "operations": list(names),
        "steps": np.array(steps, np.int64).reshape(-1, 4),
        "constants": np.array(constants, float),
        "shapes": shapes,
        "work": f.sz_w(),
    }


def _lookup(names, taken, places):
    """Steps of a lookup."""
    place = lambda name: names.setdefault(name, len(names))
    number, u, *second = taken
    first = [[place(SECOND), 0, v, 0] for v in second] + [[place(f"{PIECE}_{len(places)}"), places[0], number, u]]
    return first + [[place(NEXT), at, k + 1, 0] for k, at in enumerate(places[1:])]


def read(data, symbols):
    """The expressions, of other symbols. ValueError, KeyError or IndexError where the data make no sense."""
    names = data["operations"]
    if unknown := [name for name in names if name not in CODES and not is_lookup(name)]:
        raise ValueError(f"unknown operation {unknown[0]!r}")
    nonzeros: list[list[Any]] = [[None] * len(rows) for _, rows, _ in data["shapes"]]
    work: list[Any] = [ca.SX(0)] * int(data["work"])
    second: list[Any] = []
    found: Any = []
    for operation, place, a, b in data["steps"].tolist():
        name = names[operation]
        if name == RESULT:
            nonzeros[b][place] = work[a]
        elif name == CONSTANT:
            work[place] = ca.SX(float(data["constants"][a]))
        elif name == SYMBOL:
            work[place] = symbols[a]
        elif name == SECOND:
            second = [*second, work[a]]
        elif name == NEXT:
            work[place] = ca.SX(found[a])
        elif is_lookup(name):
            found, second = _call_lookup(work[a], [work[b], *second], int(name.split("_")[1])), []
            work[place] = ca.SX(found[0])
        elif name in UNARY:
            work[place] = ca.SX.unary(CODES[name], work[a])
        else:
            work[place] = ca.SX.binary(CODES[name], work[a], work[b])
    return [ca.SX(_pattern(shape), ca.vertcat(*x, ca.SX(0, 1))) for shape, x in zip(data["shapes"], nonzeros)]


def is_lookup(name):
    """True for the name of a step of a lookup."""
    return name in (NEXT, SECOND) or (name.startswith(f"{PIECE}_") and name[len(PIECE) + 1 :].isdecimal())


def _call_lookup(number, arguments, width):
    """The results of a lookup. ValueError where there is no such table in this process."""
    table = stored_table(float(number)) if number.is_constant() else None
    if table is None or (len(table.axes), table.width) != (len(arguments), width):
        raise ValueError("a table is missing")
    return piece(len(arguments), width)(number, *arguments)


def _pattern(shape):
    (high, wide), rows, columns = shape
    if high * wide > MOST:
        raise ValueError("an expression is too large")
    return ca.Sparsity.triplet(high, wide, rows, columns)


def _shape(s):
    return [list(s.shape), s.row(), s.get_col()]


def text(f):
    """A function as text: CasADi's own, or, where it looks up tables, what is `written`; these are written as their numbers."""
    if not calls(f):
        return f.serialize()
    column = ca.SX.sym("column", sum(f.nnz_in(i) for i in range(f.n_in())))
    ends = np.cumsum([0, *[f.nnz_in(i) for i in range(f.n_in())]]).tolist()
    given = [ca.SX(f.sparsity_in(i), column[ends[i] : ends[i + 1]]) for i in range(f.n_in())]
    data = to_data(f.call(given), ca.vertsplit(column) if ends[-1] else [])
    text = {
        "name": f.name(), "in": [_shape(f.sparsity_in(i)) for i in range(f.n_in())], "ends": ends,
        "names": [f.name_in(), f.name_out()], "steps": data.pop("steps").tolist(), "constants": data.pop("constants").tolist(),
    }  # fmt: skip
    return json.dumps(text | data)


def function(text):
    """The function of such a text."""
    if not text.startswith("{"):
        return ca.Function.deserialize(text)
    data = json.loads(text)
    column = ca.SX.sym("column", data["ends"][-1])
    arrays = {
        "steps": np.array(data["steps"], np.int64).reshape(-1, 4),
        "constants": np.array(data["constants"], float),
    }
    results = read(data | arrays, ca.vertsplit(column) if column.shape[0] else [])
    inputs = [ca.SX.sym(name, _pattern(shape)) for name, shape in zip(data["names"][0], data["in"])]
    f = ca.Function("column", [column], results)
    entries: list[Any] = [e for x in inputs for e in x.nonzeros()]
    return ca.Function(data["name"], inputs, f.call([ca.vertcat(ca.SX(0, 1), *entries)]), *data["names"])
