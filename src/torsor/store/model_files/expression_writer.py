"""CasADi expressions as texts that `Parser` reads back as the same graph, operation by operation."""

import re
from typing import Any

import casadi as ca

from ...errors import ModelError
from ...fmus.fmu_coupling import DISCRETE
from ...lookup.foreign_calls import ForeignContent
from ...lookup.interval_search import stored_table
from ...model import expressions
from ...model.include import owners_in

SUM, PRODUCT, SIGN, POWER, ATOM = 1, 2, 3, 4, 9  # how tightly an operation binds
SIGNS = {"ADD": ("+", SUM), "SUB": ("-", SUM), "MUL": ("*", PRODUCT), "DIV": ("/", PRODUCT)}
DEEPEST_TEXT = 25  # nested operations in one text; deeper ones become definitions
ENTRY = re.compile(r"(.*)(\[\d+\])\Z")  # a component of a vector of states
SIMPLE = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")


class Term:
    """The result of one operation: its text, how tightly its outermost operation binds, its depth, how often it is used."""

    __slots__ = ("binding", "constant", "depth", "text", "uses")

    def __init__(self, text, binding=ATOM, depth=0, constant=None):
        self.text = text
        self.binding = binding
        self.depth = depth
        self.constant = constant
        self.uses = 0

    def within(self, binding):
        """The text as an operand of an operation that binds so tightly."""
        return self.text if self.binding >= binding else f"({self.text})"


def quoted(path: str) -> str:
    """A path as it stands in expressions: in back quotes where it contains other characters than letters, digits, _ and dots."""
    plain = set(path) <= SIMPLE and not any(part[:1].isdigit() or not part for part in path.split("."))
    return path if plain else f"`{path}`"


def number_text(value: float) -> str:
    """The shortest text that gives the same number."""
    if value == int(value) if abs(value) < 1e15 else False:
        return str(int(value)) if value or str(value)[0] != "-" else "-0.0"
    return repr(value)


class ExpressionTexts:
    """Texts of all expressions of a model at once, so that subexpressions which several of them share are written once.

    definitions   text of each shared subexpression by its name
    tables        tables that are looked up, by name in the file
    """

    def __init__(self, model, entries: list[ca.SX]):
        self.definitions: dict[str, str] = {}
        self.tables: dict[str, Any] = {}
        self._table_names: dict[int, str] = {}
        self._taken = set(model._names) | set(model.memory) | set(model.parameters)
        self._locals: dict[int, str] = {}
        self.model = model
        column = ca.vertcat(ca.SX(0, 1), *entries)
        symbols = ca.symvar(column)
        labels = self._labels(column)
        names = [labels.get(s.element_hash()) or self._local(s) for s in symbols]
        try:
            data = expressions.to_data(entries, symbols)
        except ValueError as error:
            raise ModelError(f"{model.owner}: cannot be written: {error}") from None
        self.texts = self._texts(data, names, len(entries))

    def _labels(self, column):
        """Names of symbols, by their identity."""
        from ...elements import quantity

        found = {quantity.time.element_hash(): "time"}
        for thing, name in owners_in(self.model, column):
            symbol = getattr(thing, name)
            entry = ENTRY.match(thing.name) if name == "symbol" else None
            path = thing.name if name == "symbol" else f"{thing.name}.{name}"
            path = f"{quoted(entry[1])}{entry[2]}" if entry and entry[1] in self.model._names else quoted(path)
            rows, columns = symbol.shape
            for k, s in enumerate(symbol.nonzeros()):
                index = "" if symbol.is_scalar() else f"[{k % rows}, {k // rows}]" if columns > 1 else f"[{k}]"
                found[s.element_hash()] = path + index
        return found

    def _local(self, symbol):
        """The name of a symbol that belongs to one element alone, such as the state in the law of a controller."""
        mark = symbol.element_hash()
        return self._locals.setdefault(mark, f"`?{len(self._locals) + 1} {symbol.name()}`")

    def _texts(self, data, names, count):
        steps = [(data["operations"][op], place, a, b) for op, place, a, b in data["steps"].tolist()]
        uses = _count_uses(steps, data["work"])
        work: list[Any] = [None] * (data["work"] + 1)
        results = [""] * count
        second: list[Any] = []
        call: Any = None
        for k, (name, place, a, b) in enumerate(steps):
            if name == expressions.RESULT:
                results[b] = work[a].text
                continue
            if name == expressions.SECOND:
                second = [*second, work[a]]
                continue
            if name == expressions.CONSTANT:
                term = _constant(float(data["constants"][a]))
            elif name == expressions.SYMBOL:
                term = Term(names[a])
            elif name == expressions.NEXT:
                term = self._piece(a, *call)
            elif expressions.is_lookup(name):
                call, second = (work[a].constant, [work[b], *second]), []
                term = self._piece(0, *call)
            else:
                term = _operation(name, work[a], work[b])
            leaf = name in (expressions.CONSTANT, expressions.SYMBOL)
            if not leaf and (uses[k] > 1 or term.depth >= DEEPEST_TEXT):
                term = Term(self._define(term.text))
            work[place] = term
        return results

    def _piece(self, k, number, given):
        """The term of a result of a lookup, or of a function of another program, which is an output of an element."""
        if isinstance(stored_table(number).content, ForeignContent):
            element = self.model[given[0].text.strip("`").removesuffix(DISCRETE)]
            return Term(quoted(f"{element.name}.{element.output_name(k)}"))
        arguments = ", ".join(x.text for x in given)
        return Term(
            f"piece({quoted(self.table_name(number))}, {k}, {arguments})", depth=1 + max(x.depth for x in given)
        )

    def _define(self, text):
        """The name of a new definition."""
        name = next(f"e{k}" for k in range(len(self.definitions) + 1, 10**9) if f"e{k}" not in self._taken)
        self._taken.add(name)
        self.definitions[name] = text
        return name

    def table_name(self, number):
        """The name of a table in the file, without quotes."""
        if number not in self._table_names:
            content = stored_table(number).content
            base = "".join(c if c in SIMPLE and c != "." else "_" for c in content.name) or "table"
            base = base if not base[0].isdigit() else f"_{base}"
            name = next(n for n in [base, *[f"{base}_{k}" for k in range(2, 10**6)]] if n not in self._taken)
            self._taken.add(name)
            self._table_names[number] = name
            self.tables[name] = content
        return self._table_names[number]


def _count_uses(steps, size):
    """How often the result of each step is used."""
    uses = [0] * len(steps)
    writer = [-1] * (size + 1)
    for k, (name, place, a, b) in enumerate(steps):
        if name == expressions.RESULT:
            operands: tuple = (a,)
        elif name in (expressions.CONSTANT, expressions.SYMBOL, expressions.NEXT):
            operands = ()
        elif name == expressions.SECOND or name in expressions.UNARY:
            operands = (a,)
        else:
            operands = (a, b)
        for x in operands:
            uses[writer[x]] += 1
        if name.startswith(expressions.PIECE) or name == expressions.SECOND:
            uses[writer[operands[-1]]] += 1  # the argument is written with every result
        if name not in (expressions.RESULT, expressions.SECOND):
            writer[place] = k
    return uses


def _constant(value):
    text = number_text(value)
    return Term(text, SIGN if text.startswith("-") else ATOM, constant=value)


def _operation(name, a, b):
    """The term of an elementary operation."""
    if name in SIGNS:
        sign, binding = SIGNS[name]
        depth = 1 + max(a.depth, b.depth)
        return Term(f"{a.within(binding)} {sign} {b.within(binding + 1)}", binding, depth)
    if name == "NEG":
        return Term(f"-{a.within(SIGN)}", SIGN, a.depth + 1)
    if name == "SQ":
        return Term(f"{a.within(ATOM)}**2", POWER, a.depth + 1)
    if name in expressions.UNARY:
        return Term(f"{name.lower()}({a.text})", ATOM, a.depth + 1)
    return Term(f"{name.lower()}({a.text}, {b.text})", ATOM, 1 + max(a.depth, b.depth))
