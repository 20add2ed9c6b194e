"""CasADi's instruction list, printed as C99.

Each operation is one statement with the meaning that it has in `emit.py`, so that a C compiler that does not fuse products and
sums gives the same bits as CasADi's own evaluation. A value lives in a local variable, named by its cell of CasADi's work vector.
"""

from dataclasses import dataclass
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
LONGEST_PART = 2000  # statements of a C function
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


@dataclass
class Statement:
    """A line of C, and the cells of the work vector that it reads and writes."""

    text: str
    reads: tuple = ()
    writes: tuple = ()
    looks_up: bool = False  # in a table


def c_function(function: ca.Function, name: str, tables: CTables) -> str:
    """A CasADi function of dense vectors as a C function: one pointer for each argument and each result.

    tables   collects the tables that it looks up

    Compilers need more than proportional time for long functions: these are divided into parts.
    """
    function = without_derivative_calls(function) if calls(function) else function
    statements = _statements(function, tables)
    given = [f"a{i}" for i in range(function.n_in())] + [f"r{i}" for i in range(function.n_out())]
    arguments = ", ".join(f"{'const double' if x[0] == 'a' else 'double'} *{x}" for x in given)
    unused = [f"  (void){x};" for x in given]
    if len(statements) <= LONGEST_PART:
        body = "\n".join([*_declarations(statements, unused), *(x.text for x in statements)])
        return f"static void {name}({arguments})\n{{\n{body}\n}}\n"
    parts = [statements[k : k + LONGEST_PART] for k in range(0, len(statements), LONGEST_PART)]
    code = []
    needed: set[int] = set()  # cells that later parts read
    for k, part in reversed(list(enumerate(parts))):
        first, written = _first_reads(part), {c for x in part for c in x.writes}
        kept = sorted(written & needed)
        needed = (needed - written) | first
        body = _declarations(part, [*unused, "  (void)w;"], first)
        body += [x.text for x in part] + [f"  w[{c}] = w{c};" for c in kept]
        code.append("\n".join([f"static void {name}_part_{k}({arguments}, double *w)", "{", *body, "}", ""]))
    size = 1 + max((c for x in statements for c in x.writes), default=0)
    calls_ = [f"  {name}_part_{k}({', '.join(given)}, w);" for k in range(len(parts))]
    whole = [f"static void {name}({arguments})", "{", f"  double w[{size}];", *calls_, "}", ""]
    return "\n".join([*reversed(code), *whole])


def _declarations(statements, unused, first=()):
    """Declarations of what statements use. first: cells whose values are in w at their begin"""
    row = ["  const double *row;"] if any(x.looks_up for x in statements) else []
    cells = sorted({c for x in statements for c in (*x.writes, *x.reads)})
    declared = [f"w{c} = w[{c}]" if c in first else f"w{c}" for c in cells]
    return [*row, *(f"  double {', '.join(group)};" for group in _groups(declared)), *unused]


def _first_reads(statements):
    """Cells that are read before they are written."""
    found: set[int] = set()
    written: set[int] = set()
    for x in statements:
        found.update(c for c in x.reads if c not in written)
        written.update(x.writes)
    return found


def _statements(function, tables):
    """The operations of a function, in their order."""
    names = {getattr(ca, x): x.removeprefix("OP_") for x in dir(ca) if x.startswith("OP_")}
    found: list[Statement] = []
    constants: dict[int, float] = {}  # numbers of tables, by the cell that holds them
    for k, (op, operand, result) in enumerate(walk(function)):
        kind = names.get(op, "")
        if kind == "OUTPUT":
            found.append(Statement(f"  r{result[0]}[{result[1]}] = w{operand[0]};", (operand[0],)))
            continue
        if kind == "CALL":
            row = tables.lookup(constants[operand[0]], [f"w{x}" for x in operand[1:]])
            used = [(j, cell) for j, cell in enumerate(result) if cell >= 0]  # −1: a result that nothing needs
            lines = [f"  (void)w{operand[0]};", f"  row = {row};", *(f"  w{cell} = row[{j}];" for j, cell in used)]
            found.append(Statement("\n".join(lines), tuple(operand), tuple(cell for _, cell in used), True))
            continue
        target = f"  w{result[0]} = "
        reads: tuple = ()
        if kind == "INPUT":
            text = f"{target}a{operand[0]}[{operand[1]}];"
        elif kind == "CONST":
            constants[result[0]] = function.instruction_constant(k)
            text = f"{target}{number(function.instruction_constant(k))};"
        else:
            reads = tuple(operand)
            text = f"{target}{_operation(kind, [f'w{x}' for x in operand], tables.caller)};"
        found.append(Statement(text, reads, (result[0],)))
    return found


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
