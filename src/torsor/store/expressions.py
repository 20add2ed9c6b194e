"""Expressions as plain data: elementary operations by name, and numbers. Nothing in it can do anything but calculate.

All expressions of a model are one function of all its symbols. It is written operation by operation,

    w[out] = operation(w[a], w[b])        "ADD", "SIN" …; constants, symbols and results by their places

and carried out again, with new symbols, where it is read. (CasADi's own text of a function changes with its version, and may
name libraries to be loaded.)
"""

from typing import Any

import casadi as ca
import numpy as np

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


def written(expressions, symbols):
    """Expressions of symbols as plain data: operations (by the places of their names), constants, and where results belong."""
    f = ca.Function("expressions", [ca.vertcat(*symbols, ca.SX(0, 1))], [ca.SX(x) for x in expressions])
    names: dict[str, int] = {}
    steps: list[list[int]] = []
    constants: list[float] = []
    for k in range(f.n_instructions()):
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
    shapes = [[list(s.shape), s.row(), s.get_col()] for s in map(f.sparsity_out, range(f.n_out()))]
    return {
        "operations": list(names),
        "steps": np.array(steps, np.int64).reshape(-1, 4),
        "constants": np.array(constants, float),
        "shapes": shapes,
        "work": f.sz_w(),
    }


def read(data, symbols):
    """The expressions, of other symbols. ValueError, KeyError or IndexError where the data make no sense."""
    names = data["operations"]
    if unknown := [name for name in names if name not in CODES]:
        raise ValueError(f"unknown operation {unknown[0]!r}")
    nonzeros: list[list[Any]] = [[None] * len(rows) for _, rows, _ in data["shapes"]]
    work: list[Any] = [ca.SX(0)] * int(data["work"])
    for operation, place, a, b in data["steps"].tolist():
        name = names[operation]
        if name == RESULT:
            nonzeros[b][place] = work[a]
        elif name == CONSTANT:
            work[place] = ca.SX(float(data["constants"][a]))
        elif name == SYMBOL:
            work[place] = symbols[a]
        elif name in UNARY:
            work[place] = ca.SX.unary(CODES[name], work[a])
        else:
            work[place] = ca.SX.binary(CODES[name], work[a], work[b])
    found = []
    for ((high, wide), rows, columns), values in zip(data["shapes"], nonzeros):
        pattern = ca.Sparsity.triplet(high, wide, rows, columns)
        found.append(ca.SX(pattern, ca.vertcat(*values, ca.SX(0, 1))))
    return found
