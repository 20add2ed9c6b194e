"""CasADi's instruction list, printed as LLVM IR.

One arithmetic instruction of the graph becomes one SSA value, except for the few that need a comparison first. A value
lives in a numbered cell of CasADi's work vector; `names` maps each cell to the SSA name that holds it now. Long graphs
are cut into parts, each a function of its own, because code generation takes more than linear time. Within a part the
rule is the same for all operands: the first use of a cell that this part has not seen brings it in. Constants are
printed in place, inputs are loaded again, and a value computed by an earlier part is stored to `work` right after its
definition there and loaded here.
"""

from dataclasses import dataclass, field
from struct import pack
from typing import Any

from ..errors import OptionError
from . import table_lookup

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

# The others, as IR in the operands {x} and {y}, the result {r} and temporaries {t}a, {t}b, …; {flags} are the flags
# of products and sums. fmin and fmax return the other operand when one is not a number, the first when they are equal.
# The last three have the value of their first operand (nothing is printed); adding -0 changes no number, and LLVM
# leaves it out.
TEMPLATES = {
    "NEG": "{r} = fneg double {x}\n",
    "SQ": "{r} = fmul {flags}double {x}, {x}\n",
    "TWICE": "{r} = fadd {flags}double {x}, {x}\n",
    "INV": "{r} = fdiv double 1.0, {x}\n",
    "LT": "{t}a = fcmp olt double {x}, {y}\n{r} = uitofp i1 {t}a to double\n",
    "LE": "{t}a = fcmp ole double {x}, {y}\n{r} = uitofp i1 {t}a to double\n",
    "EQ": "{t}a = fcmp oeq double {x}, {y}\n{r} = uitofp i1 {t}a to double\n",
    "NE": "{t}a = fcmp une double {x}, {y}\n{r} = uitofp i1 {t}a to double\n",
    "NOT": "{t}a = fcmp oeq double {x}, 0.0\n{r} = uitofp i1 {t}a to double\n",
    "AND": "{t}a = fcmp une double {x}, 0.0\n{t}b = fcmp une double {y}, 0.0\n{t}c = and i1 {t}a, {t}b\n"
    "{r} = uitofp i1 {t}c to double\n",
    "OR": "{t}a = fcmp une double {x}, 0.0\n{t}b = fcmp une double {y}, 0.0\n{t}c = or i1 {t}a, {t}b\n"
    "{r} = uitofp i1 {t}c to double\n",
    "IF_ELSE_ZERO": "{t}a = fcmp oeq double {x}, 0.0\n{r} = select i1 {t}a, double 0.0, double {y}\n",
    "SIGN": "{t}a = fcmp ogt double {x}, 0.0\n{t}b = select i1 {t}a, double 1.0, double {x}\n"
    "{t}c = fcmp olt double {x}, 0.0\n{r} = select i1 {t}c, double -1.0, double {t}b\n",
    "FMIN": "{t}a = fcmp ole double {x}, {y}\n{t}b = fcmp uno double {y}, {y}\n{t}c = or i1 {t}a, {t}b\n"
    "{r} = select i1 {t}c, double {x}, double {y}\n",
    "FMAX": "{t}a = fcmp oge double {x}, {y}\n{t}b = fcmp uno double {y}, {y}\n{t}c = or i1 {t}a, {t}b\n"
    "{r} = select i1 {t}c, double {x}, double {y}\n",
    "ASSIGN": "{r} = fadd double {x}, -0.0\n",
    "PRINTME": "{r} = fadd double {x}, -0.0\n",
    "LIFT": "{r} = fadd double {x}, -0.0\n",
}

# Every operation that a graph of scalars can contain, besides inputs, outputs and constants.
OPERATIONS = (*BINARY, *LIBM, *INTRINSIC, *TEMPLATES)


def hexadecimal(value):
    """A double as LLVM reads it without rounding."""
    return "0x" + pack(">d", value).hex()


def walk(function):
    """The instructions one by one: operation number, operand cells, result cells."""
    count = range(function.n_instructions())
    return zip(
        map(function.instruction_id, count),
        map(function.instruction_input, count),
        map(function.instruction_output, count),
    )


class Table:
    """The operation numbers of the installed CasADi, sorted by how they are printed."""

    def __init__(self, contract):
        import casadi

        def number(name):
            return getattr(casadi, "OP_" + name)

        flags = "contract " if contract else ""
        self.input, self.output, self.constant = number("INPUT"), number("OUTPUT"), number("CONST")
        self.lookup = number("CALL")  # of tables: no other calls are left in a graph
        self.names = {getattr(casadi, name): name for name in dir(casadi) if name.startswith("OP_")}
        self.binary = {number(n): f"{op} {flags if op != 'fdiv' else ''}double" for n, op in BINARY.items()}
        self.calls = {number(n): call for n, call in (LIBM | INTRINSIC).items()}
        self.templates = {number(n): text.replace("{flags}", flags) for n, text in TEMPLATES.items()}

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
        symbols.add((callee, arity))
        return (f"%{n} = call double @{callee}({', '.join('double ' + x for x in arguments[:arity])})\n",)


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
    binary = table.binary
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
                lines[source] += _store(lines[source], source, slot)
            source = "w", slot
        loads += 1
        names[cell] = name = f"%l{loads}"
        lines.append(_load(name, loads, *source))
        return name

    for k, (op, operand, result) in enumerate(walk(function)):
        cell = result[0]
        if op == table.input:
            names.pop(cell, None)
            origin[cell] = f"a{operand[0]}", operand[1]
            continue
        if op == table.constant:
            names[cell] = origin[cell] = hexadecimal(function.instruction_constant(k))
            continue
        if op == table.output:
            x = names.get(operand[0]) or fetch(operand[0])
            lines.append(f"%o{k} = getelementptr double, ptr %b{cell}, i64 {result[1]}\nstore double {x}, ptr %o{k}\n")
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


def _load(name, number, place, offset):
    """Lines that bring in a number of an input or of work."""
    return f"%p{number} = getelementptr double, ptr %{place}, i64 {offset}\n{name} = load double, ptr %p{number}\n"


def _store(line, number, slot):
    """Lines that keep the value which `line` defines in a slot of work."""
    value = line.rsplit("\n", 2)[-2].split(" ", 1)[0]
    return f"%s{number} = getelementptr double, ptr %w, i64 {slot}\nstore double {value}, ptr %s{number}\n"


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
