"""Expressions in texts, such as "-k * hinge.coordinate + 2 * sin(time)", as CasADi expressions. Nothing is executed: a text can
only combine numbers, signals and elementary operations.

    expression   sums, products, powers (a**b or a^b), comparisons, "and", "or", "not", parentheses
    signals      bob.position[2], hinge.rate, time, names of parameters, states and signals; `a-b.rate` in back quotes where a name
                 contains a minus sign
    vectors      [a, b, c], matrices [[a, b], [c, d]], entries x[0], R[0, 2]
    functions    sin, cos, sqrt, atan2, min, max, abs, if_else, dot, cross, norm …; tables and points of bodies by name
"""

import re
from difflib import get_close_matches
from typing import Any, NamedTuple

import casadi as ca

from ...model.expressions import BINARY, CODES, UNARY
from .units import UNITS

LONGEST_TEXT = 1_000_000
DEEPEST_PARENTHESES = 60
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)|(?P<path>`[^`\n]+`|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/^()\[\],<>]))"
)
COMPARE = {"<": "LT", "<=": "LE", "==": "EQ", "!=": "NE"}
CONSTANTS = {"pi": ca.pi, "inf": float("inf"), "nan": float("nan")}


class ExpressionError(ValueError):
    """An expression that has no meaning; offset: where in the text."""

    def __init__(self, message: str, offset: int = 0):
        super().__init__(message)
        self.offset = offset


class Token(NamedTuple):
    """A number, a path, a sign or the end, with its offset in the text."""

    kind: str
    text: str
    offset: int


def _operation(name):
    """The function of an elementary operation of CasADi."""
    if name in UNARY:
        return 1, lambda x: ca.SX.unary(CODES[name], x)
    return 2, lambda x, y: ca.SX.binary(CODES[name], x, y)


FUNCTIONS: dict[str, Any] = {name.lower(): _operation(name) for name in sorted(UNARY | BINARY)}
FUNCTIONS |= {
    "abs": FUNCTIONS["fabs"], "min": FUNCTIONS["fmin"], "max": FUNCTIONS["fmax"], "mod": FUNCTIONS["fmod"],
    "if_else": (3, ca.if_else), "dot": (2, ca.dot), "cross": (2, ca.cross), "norm": (1, ca.norm_2),
    "sumsqr": (1, ca.sumsqr), "transpose": (1, lambda x: x.T), "product": (2, lambda a, b: a @ b),
}  # fmt: skip


def tokens(text: str) -> list[Token]:
    """The tokens of a text."""
    if len(text) > LONGEST_TEXT:
        raise ExpressionError(f"an expression has at most {LONGEST_TEXT:,} characters, this one {len(text):,}")
    found = []
    at = 0
    end = len(text.rstrip())
    while at < end:
        match = TOKEN.match(text, at)
        if match is None:
            wrong = text[at:].lstrip()[:1]
            raise ExpressionError(f"{wrong!r} has no meaning in an expression", at)
        kind = match.lastgroup or "sign"
        found.append(Token(kind, match[kind], match.start(kind)))
        at = match.end()
    return [*found, Token("end", "", end)]


class Parser:
    """Parses one expression.

    names   what gives a meaning to paths: `signal(path)` returns an expression, `call(path, arguments)` too, or None for a name
            that is no function
    """

    def __init__(self, text: str, names: Any):
        self.tokens = tokens(text)
        self.at = 0
        self.names = names
        self.depth = 0

    def parse(self) -> ca.SX:
        """The expression, all of it."""
        found = self._either()
        if self._now.kind != "end":
            raise ExpressionError(f"{self._now.text!r} is not expected here", self._now.offset)
        return found

    def parse_condition(self) -> tuple[ca.SX, str, ca.SX] | ca.SX:
        """A condition: both sides and the sign of a single comparison, else the expression."""
        start = self.at
        try:
            left = self._sum()
            sign = self._now.text
            if self._now.kind == "sign" and sign in ("<", "<=", ">", ">="):
                self.at += 1
                right = self._sum()
                if self._now.kind == "end":
                    return left, sign, right
        except RuntimeError as error:
            raise ExpressionError(_casadi(error), self._now.offset) from None
        self.at = start
        return self.parse()

    @property
    def _now(self):
        return self.tokens[self.at]

    def _take(self, *signs):
        """Whether the next token is one of these signs or words, which is then taken."""
        token = self._now
        if token.kind in ("sign", "path") and token.text in signs:
            self.at += 1
            return token
        return None

    def _expect(self, sign):
        if not self._take(sign):
            given = repr(self._now.text) if self._now.text else "the end"
            raise ExpressionError(f"{sign!r} is expected instead of {given}", self._now.offset)

    def _either(self):
        found = self._both()
        while self._take("or"):
            found = self._binary("OR", found, self._both())
        return found

    def _both(self):
        found = self._negation()
        while self._take("and"):
            found = self._binary("AND", found, self._negation())
        return found

    def _negation(self):
        if self._take("not"):
            self._enter()
            found = ca.SX.unary(CODES["NOT"], self._negation())
            self.depth -= 1
            return found
        left = self._sum()
        sign = self._take("<", "<=", ">", ">=", "==", "!=")
        if not sign:
            return left
        right = self._sum()
        if sign.text in (">", ">="):
            return self._binary(COMPARE[sign.text.replace(">", "<")], right, left)
        return self._binary(COMPARE[sign.text], left, right)

    def _sum(self):
        found = self._product()
        while sign := self._take("+", "-"):
            found = self._binary("ADD" if sign.text == "+" else "SUB", found, self._product())
        return found

    def _product(self):
        found = self._signed()
        while sign := self._take("*", "/"):
            found = self._binary("MUL" if sign.text == "*" else "DIV", found, self._signed())
        return found

    def _signed(self):
        if not self._take("-"):
            self._take("+")
            return self._power()
        self._enter()
        found = ca.SX.unary(CODES["NEG"], self._signed())
        self.depth -= 1
        return found

    def _power(self):
        base = self._entry()
        if not self._take("**", "^"):
            return base
        self._enter()
        exponent = self._signed()
        self.depth -= 1
        return base**exponent

    def _entry(self):
        found = self._atom()
        while self._now.kind == "sign" and self._now.text == "[":
            where = self._now.offset
            self.at += 1
            places = [self._index()]
            while self._take(","):
                places.append(self._index())
            self._expect("]")
            found = _entry_of(found, places, where)
        return found

    def _index(self):
        token = self._now
        if token.kind != "number" or not token.text.isdigit():
            raise ExpressionError(f"an index is a whole number from 0 on, got {token.text!r}", token.offset)
        self.at += 1
        return int(token.text[:9])

    def _atom(self):
        token = self._now
        if token.kind == "number":
            return self._number(token)
        if token.kind == "path":
            self.at += 1
            return self._named(token)
        if self._take("("):
            self._enter()
            found = self._either()
            self._expect(")")
            self.depth -= 1
            return found
        if self._take("["):
            self._enter()
            found = self._list(token)
            self.depth -= 1
            return found
        given = repr(token.text) if token.text else "the end"
        raise ExpressionError(f"a number, a signal or a function is expected instead of {given}", token.offset)

    def _number(self, token):
        self.at += 1
        value = float(token.text)
        unit = self._now
        if unit.kind == "path" and unit.text in UNITS and unit.text not in ("and", "or"):
            self.at += 1
            value *= UNITS[unit.text]
        return ca.SX(value)

    def _list(self, start):
        rows = [self._either()]
        while self._take(","):
            rows.append(self._either())
        self._expect("]")
        if all(x.is_scalar() for x in rows):
            return ca.vertcat(*rows)
        if len({x.shape for x in rows}) == 1 and rows[0].shape[1] == 1:
            return ca.horzcat(*rows).T
        raise ExpressionError("the rows of a matrix must have the same length", start.offset)

    def _named(self, token):
        path = token.text.strip("`")
        if not (self._now.kind == "sign" and self._now.text == "("):
            return ca.SX(CONSTANTS[path]) if path in CONSTANTS and token.text[0] != "`" else self._signal(path, token)
        self.at += 1
        self._enter()
        if path in ("piece",):
            found = self._lookup(token)
        else:
            found = self._call(path, token)
        self.depth -= 1
        return found

    def _signal(self, path, token):
        try:
            return self.names.signal(path)
        except ExpressionError as error:
            raise ExpressionError(str(error), token.offset) from None

    def _arguments(self):
        if self._take(")"):
            return []
        given = [self._either()]
        while self._take(","):
            given.append(self._either())
        self._expect(")")
        return given

    def _call(self, path, token):
        given = self._arguments()
        if path not in FUNCTIONS:
            return self._call_named(path, given, token)
        count, function = FUNCTIONS[path]
        if len(given) != count:
            raise ExpressionError(f"{path} takes {count} argument{'s'[: count > 1]}, got {len(given)}", token.offset)
        try:
            return function(*given)
        except (RuntimeError, NotImplementedError, ValueError) as error:
            raise ExpressionError(f"{path}: {_casadi(error)}", token.offset) from None

    def _call_named(self, path, given, token):
        try:
            found = self.names.call(path, given)
        except ExpressionError as error:
            raise ExpressionError(str(error), token.offset) from None
        if found is None:
            close = get_close_matches(path, FUNCTIONS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ExpressionError(f"unknown function {path!r}.{hint} Known: {', '.join(FUNCTIONS)}", token.offset)
        return found

    def _lookup(self, token):
        """piece(table, k, u): one of the numbers that describe the piece of a table in which u lies."""
        table = self._now
        if table.kind != "path":
            raise ExpressionError("piece takes the name of a table first", table.offset)
        self.at += 1
        self._expect(",")
        k = self._index()
        self._expect(",")
        try:
            return self.names.piece(table.text.strip("`"), k, self._arguments())
        except ExpressionError as error:
            raise ExpressionError(str(error), token.offset) from None

    def _binary(self, name, a, b):
        if a.shape != b.shape and not a.is_scalar() and not b.is_scalar():
            sizes = f"{a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]}"
            raise ExpressionError(f"both sides must have the same size, got {sizes}", self._now.offset)
        return ca.SX.binary(CODES[name], a, b)

    def _enter(self):
        self.depth += 1
        if self.depth > DEEPEST_PARENTHESES:
            raise ExpressionError(f"nested more than {DEEPEST_PARENTHESES} levels deep", self._now.offset)


def _entry_of(x, places, offset):
    """An entry of a column or of a matrix."""
    rows, columns = x.shape
    if len(places) == 1 and columns == 1 and places[0] < rows:
        return x[places[0]]
    if len(places) == 2 and places[0] < rows and places[1] < columns:
        return x[places[0], places[1]]
    size = f"{rows} entries" if columns == 1 else f"{rows} x {columns} entries"
    given = ", ".join(map(str, places))
    raise ExpressionError(f"[{given}] is outside: there are {size}, counted from 0", offset)


def _casadi(error):
    """The last words of an error of CasADi."""
    lines = str(error).strip().splitlines()
    return lines[-1][:200] if lines else type(error).__name__
