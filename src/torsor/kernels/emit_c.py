"""CasADi's instruction list, printed as C99.

Each operation is one statement with the meaning that it has in `emit.py`, so that a C compiler that does not fuse products and
sums gives the same bits as CasADi's own evaluation. A value lives in a local variable, named by its cell of CasADi's work vector.
"""

from typing import Any

import casadi as ca

from ..errors import OptionError
from ..lookup.lookup_calls import calls, without_derivative_calls
from .c_tables import CTables
from .emit import INTRINSIC, LIBM, walk

SIGNS = {"ADD": "+", "SUB": "-", "MUL": "*", "DIV": "/"}
EXACT = {"SQRT": "sqrt", "FABS": "fabs", "FLOOR": "floor", "CEIL": "ceil", "COPYSIGN": "copysign"}
FORMS = {
    "NEG": "-{x}", "SQ": "{x} * {x}", "TWICE": "{x} + {x}", "INV": "1.0 / {x}",
    "LT": "{x} < {y} ? 1.0 : 0.0", "LE": "{x} <= {y} ? 1.0 : 0.0", "EQ": "{x} == {y} ? 1.0 : 0.0",
    "NE": "{x} != {y} ? 1.0 : 0.0", "NOT": "{x} == 0.0 ? 1.0 : 0.0",
    "AND": "({x} != 0.0 && {y} != 0.0) ? 1.0 : 0.0", "OR": "({x} != 0.0 || {y} != 0.0) ? 1.0 : 0.0",
    "IF_ELSE_ZERO": "{x} == 0.0 ? 0.0 : {y}", "SIGN": "{x} > 0.0 ? 1.0 : ({x} < 0.0 ? -1.0 : {x})",
    "FMIN": "({x} <= {y} || {y} != {y}) ? {x} : {y}", "FMAX": "({x} >= {y} || {y} != {y}) ? {x} : {y}",
    "ASSIGN": "{x}", "PRINTME": "{x}", "LIFT": "{x}",
}  # fmt: skip
C_STANDARD = {"erfinv"}  # functions that the C library does not have


def number(value: float) -> str:
    """A double that C reads without rounding."""
    if value != value:
        return "NAN"
    if value in (float("inf"), float("-inf")):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    text = repr(float(value))
    text = text if any(c in text for c in ".e") else f"{text}.0"
    return f"({text})" if text.startswith("-") else text


def c_function(function: ca.Function, name: str, tables: CTables) -> str:
    """A CasADi function of dense vectors as a C function: one pointer for each argument and each result.

    tables   collects the tables that it looks up
    """
    function = without_derivative_calls(function) if calls(function) else function
    names = {getattr(ca, x): x.removeprefix("OP_") for x in dir(ca) if x.startswith("OP_")}
    lines: list[str] = []
    cells: set[int] = set()
    constants: dict[int, float] = {}  # numbers of tables, by the cell that holds them
    for k, (op, operand, result) in enumerate(walk(function)):
        kind = names.get(op, "")
        if kind == "OUTPUT":
            lines.append(f"  r{result[0]}[{result[1]}] = w{operand[0]};")
            continue
        if kind == "CALL":
            row = tables.lookup(constants[operand[0]], [f"w{x}" for x in operand[1:]])
            lines += [f"  (void)w{operand[0]};", f"  row = {row};"]
            used = [(j, cell) for j, cell in enumerate(result) if cell >= 0]  # −1: a result that nothing needs
            lines += [f"  w{cell} = row[{j}];" for j, cell in used]
            cells.update(cell for _, cell in used)
            continue
        cells.add(result[0])
        target = f"  w{result[0]} = "
        if kind == "INPUT":
            lines.append(f"{target}a{operand[0]}[{operand[1]}];")
        elif kind == "CONST":
            constants[result[0]] = function.instruction_constant(k)
            lines.append(f"{target}{number(function.instruction_constant(k))};")
        else:
            lines.append(f"{target}{_operation(kind, [f'w{x}' for x in operand], tables.caller)};")
    arguments = [f"const double *a{i}" for i in range(function.n_in())]
    arguments += [f"double *r{i}" for i in range(function.n_out())]
    unused = [f"  (void)a{i};" for i in range(function.n_in())] + [f"  (void)r{i};" for i in range(function.n_out())]
    declared = ["  const double *row;"] if any(line.startswith("  row = ") for line in lines) else []
    declared += [f"  double {', '.join(f'w{c}' for c in group)};" for group in _groups(sorted(cells))]
    body = "\n".join([*declared, *unused, *lines])
    return f"static void {name}({', '.join(arguments)})\n{{\n{body}\n}}\n"


def _groups(cells, size=12):
    return [cells[k : k + size] for k in range(0, len(cells), size)]


def _operation(kind: str, operands: list[str], caller: str) -> Any:
    """The right side of a statement."""
    x, y = operands[0], operands[-1]
    if kind in SIGNS:
        return f"{x} {SIGNS[kind]} {y}"
    if kind in FORMS:
        return FORMS[kind].format(x=x, y=y)
    if kind in EXACT:
        return f"{EXACT[kind]}({', '.join(operands[: INTRINSIC[kind][1]])})"
    if kind in LIBM and LIBM[kind][0] not in C_STANDARD:
        name, count = LIBM[kind]
        return f"{name}({', '.join(operands[:count])})"
    raise OptionError(
        f"{caller}: the equations contain the operation {kind.lower()}, which C code does not support yet"
    )
