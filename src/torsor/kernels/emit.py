"""CasADi's instruction list, printed as LLVM IR.

One arithmetic instruction of the graph becomes one SSA value, except for the few that need a comparison first. A value
lives in a numbered cell of CasADi's work vector; `names` maps each cell to the SSA name that holds it now. Long graphs
are cut into parts, each a function of its own, because code generation takes more than linear time. Within a part the
rule is the same for all operands: the first use of a cell that this part has not seen brings it in. Constants are
printed in place, inputs are loaded again, and a value computed by an earlier part is stored to `work` right after its
definition there and loaded here.
"""

from dataclasses import dataclass, field
from typing import Any

from ..errors import OptionError
from . import table_lookup
from .number_type import DOUBLE

BINARY = {"ADD": "fadd", "SUB": "fsub", "MUL": "fmul", "DIV": "fdiv"}

# Operations that are one function of the C library, with the number of their arguments.
LIBM = {
    name.upper(): (name, 1)
    for name in ("exp log sin cos tan asin acos atan erf sinh cosh tanh asinh acosh atanh log1p expm1".split())
}
LIBM |= {
    "POW": ("pow", 2),
    "CONSTPOW": ("pow", 2),
    "FMOD": ("fmod", 2),
    "REMAINDER": ("remainder", 2),
    "ATAN2": ("atan2", 2),
    "HYPOT": ("hypot", 2),
}

# Operations that LLVM knows itself and that are exact, so that every implementation gives the same bits.
INTRINSIC = {
    "SQRT": ("llvm.sqrt.f64", 1),
    "FABS": ("llvm.fabs.f64", 1),
    "FLOOR": ("llvm.floor.f64", 1),
    "CEIL": ("llvm.ceil.f64", 1),
    "COPYSIGN": ("llvm.copysign.f64", 2),
    "ERFINV": ("erfinv", 1),
}

# The others, as IR in the operands {x} and {y}, the result {r} and temporaries {t}a, {t}b, …; {T} and {B} are the types
# of numbers and of comparisons, {one}, {zero} … constants, {flags} the flags of products and sums. fmin and fmax return
# the other operand when one is not a number, the first when they are equal. The last three have the value of their first
# operand (nothing is printed); adding -0 changes no number, and LLVM leaves it out.
TEMPLATES = {
    "NEG": "{r} = fneg {T} {x}\n",
    "SQ": "{r} = fmul {flags}{T} {x}, {x}\n",
    "TWICE": "{r} = fadd {flags}{T} {x}, {x}\n",
    "INV": "{r} = fdiv {T} {one}, {x}\n",
    "LT": "{t}a = fcmp olt {T} {x}, {y}\n{r} = uitofp {B} {t}a to {T}\n",
    "LE": "{t}a = fcmp ole {T} {x}, {y}\n{r} = uitofp {B} {t}a to {T}\n",
    "EQ": "{t}a = fcmp oeq {T} {x}, {y}\n{r} = uitofp {B} {t}a to {T}\n",
    "NE": "{t}a = fcmp une {T} {x}, {y}\n{r} = uitofp {B} {t}a to {T}\n",
    "NOT": "{t}a = fcmp oeq {T} {x}, {zero}\n{r} = uitofp {B} {t}a to {T}\n",
    "AND": "{t}a = fcmp une {T} {x}, {zero}\n{t}b = fcmp une {T} {y}, {zero}\n{t}c = and {B} {t}a, {t}b\n"
    "{r} = uitofp {B} {t}c to {T}\n",
    "OR": "{t}a = fcmp une {T} {x}, {zero}\n{t}b = fcmp une {T} {y}, {zero}\n{t}c = or {B} {t}a, {t}b\n"
    "{r} = uitofp {B} {t}c to {T}\n",
    "IF_ELSE_ZERO": "{t}a = fcmp oeq {T} {x}, {zero}\n{r} = select {B} {t}a, {T} {zero}, {T} {y}\n",
    "SIGN": "{t}a = fcmp ogt {T} {x}, {zero}\n{t}b = select {B} {t}a, {T} {one}, {T} {x}\n"
    "{t}c = fcmp olt {T} {x}, {zero}\n{r} = select {B} {t}c, {T} {minus_one}, {T} {t}b\n",
    "FMIN": "{t}a = fcmp ole {T} {x}, {y}\n{t}b = fcmp uno {T} {y}, {y}\n{t}c = or {B} {t}a, {t}b\n"
    "{r} = select {B} {t}c, {T} {x}, {T} {y}\n",
    "FMAX": "{t}a = fcmp oge {T} {x}, {y}\n{t}b = fcmp uno {T} {y}, {y}\n{t}c = or {B} {t}a, {t}b\n"
    "{r} = select {B} {t}c, {T} {x}, {T} {y}\n",
    "ASSIGN": "{r} = fadd {T} {x}, {minus_zero}\n",
    "PRINTME": "{r} = fadd {T} {x}, {minus_zero}\n",
    "LIFT": "{r} = fadd {T} {x}, {minus_zero}\n",
}

# Every operation that a graph of scalars can contain, besides inputs, outputs and constants.
OPERATIONS = (*BINARY, *LIBM, *INTRINSIC, *TEMPLATES)


def walk(function):
    """The instructions one by one: operation number, operand cells, result cells."""
    count = range(function.n_instructions())
    return zip(
        map(function.instruction_id, count),
        map(function.instruction_input, count),
        map(function.instruction_output, count),
    )


class Table:
    """The operation numbers of the installed CasADi, sorted by how they are printed.

    contract   sums may be fused with products
    kind       `NumberType` of all numbers
    """

    def __init__(self, contract, kind=DOUBLE):
        import casadi

        def number(name):
            return getattr(casadi, "OP_" + name)

        flags = "contract " if contract else ""
        self.input, self.output, self.constant = number("INPUT"), number("OUTPUT"), number("CONST")
        self.lookup = number("CALL")  # of tables: no other calls are left in a graph
        self.names = {getattr(casadi, name): name for name in dir(casadi) if name.startswith("OP_")}
        self.binary = {number(n): f"{op} {flags if op != 'fdiv' else ''}{kind.name}" for n, op in BINARY.items()}
        self.calls = {number(n): call for n, call in (LIBM | INTRINSIC).items()}
        words = {"flags": flags, "T": kind.name, "B": kind.condition}
        values = {"one": 1.0, "zero": 0.0, "minus_one": -1.0, "minus_zero": -0.0}
        words |= {name: kind.constant(value) for name, value in values.items()}
        operands = {name: f"{{{name}}}" for name in "xyrt"}  # filled in for each instruction
        self.templates = {number(n): text.format(**words, **operands) for n, text in TEMPLATES.items()}
        self.kind = kind

    def texts(self, op, n, arguments, results, symbols):
        """The operation that defines so many values from number n on, a text for each, and what it calls added to `symbols`."""
        if op in self.templates:
            return (self.templates[op].format(r=f"%{n}", t=f"%t{n}", x=arguments[0], y=arguments[-1]),)
        if op == self.lookup:
            texts, needed = table_lookup.lines(n, arguments, results)
            symbols |= needed
            return texts
        if op not in self.calls:
            raise OptionError(
                f"no native code for {self.names.get(op, op)}: free variables must be removed from a graph before it is "
                "compiled."
            )
        callee, arity = self.calls[op]
        callee = self.kind.operation(callee)
        symbols.add((callee, arity))
        return (self.kind.call(n, callee, arguments[:arity]),)


@dataclass(frozen=True)
class Definition:
    """One function of IR text, with the declarations of the parts it calls, by name."""

    name: str
    text: str
    declarations: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Emitted:
    """A kernel as text: its functions, the symbols it calls with their arity, its work length, its operations."""

    definitions: list
    symbols: set
    work: int
    instructions: Any


def emit(function, symbol, table, part):
    """Print `function` as the kernel `symbol`, in parts of about `part` lines."""
    binary, kind = table.binary, table.kind
    lines: list[str] = []
    symbols: set[tuple[str, int]] = set()
    names: dict[int, str] = {}
    origin: dict[int, Any] = {}
    slots: dict[int, int] = {}
    cuts, stored = [0], set()
    n = done = loads = 0

    def fetch(cell):
        """Bring in a cell that this part has not seen: a constant, an input, or a value of an earlier part."""
        nonlocal loads
        source = origin[cell]
        if isinstance(source, str):
            names[cell] = source
            return source
        if isinstance(source, int):
            slot = slots.setdefault(cell, len(slots))
            if source not in stored:
                stored.add(source)
                lines[source] += kind.store(_value_of(lines[source]), f"%s{source}", "%w", slot)
            source = "w", slot
        loads += 1
        names[cell] = name = f"%l{loads}"
        lines.append(kind.load(name, f"%p{loads}", f"%{source[0]}", source[1]))
        return name

    for k, (op, operand, result) in enumerate(walk(function)):
        cell = result[0]
        if op == table.input:
            names.pop(cell, None)
            origin[cell] = f"a{operand[0]}", operand[1]
            continue
        if op == table.constant:
            names[cell] = origin[cell] = kind.constant(function.instruction_constant(k))
            continue
        if op == table.output:
            x = names.get(operand[0]) or fetch(operand[0])
            lines.append(kind.store(x, f"%o{k}", f"%b{cell}", result[1]))
        else:
            if op in binary:
                x, y = operand
                x = names.get(x) or fetch(x)
                y = names.get(y) or fetch(y)
                texts = (f"%{n} = {binary[op]} {x}, {y}\n",)
            else:
                texts = table.texts(op, n, [names.get(x) or fetch(x) for x in operand], len(result), symbols)
            for cell, text in zip(result, texts):
                names[cell] = f"%{n}"
                origin[cell] = len(lines)
                lines.append(text)
                n += 1
        if len(lines) - cuts[-1] >= part:
            cuts.append(len(lines))
            names.clear()
            done, n, loads = done + n, 0, 0
    bodies = ["".join(lines[start:end]) for start, end in zip(cuts, [*cuts[1:], len(lines)]) if end > start]
    return Emitted(_definitions(function, symbol, bodies), symbols, len(slots), done + n)


def _value_of(line):
    """The name of the value that a line defines."""
    return line.rsplit("\n", 2)[-2].split(" ", 1)[0]


def _definitions(function, symbol, bodies):
    """The kernel and, when there are several parts, one function for each, in the order of the calls."""
    pointers = [f"%a{i}" for i in range(function.n_in())] + [f"%b{i}" for i in range(function.n_out())] + ["%w"]
    parameters = ", ".join(f"ptr noalias align 8 {p}" for p in pointers)

    def define(name, body, **keywords):
        return Definition(name, f"define void @{name}({parameters}) #0 {{\ne:\n{body}ret void\n}}\n", **keywords)

    if len(bodies) <= 1:
        return [define(symbol, "".join(bodies))]
    parts = [define(f"{symbol}_{i}", body) for i, body in enumerate(bodies)]
    arguments = ", ".join(f"ptr {p}" for p in pointers)
    signature = ", ".join(["ptr"] * len(pointers))
    calls = "".join(f"call void @{part.name}({arguments})\n" for part in parts)
    declarations = {part.name: f"declare void @{part.name}({signature}) nounwind\n" for part in parts}
    return [define(symbol, calls, declarations=declarations), *parts]
