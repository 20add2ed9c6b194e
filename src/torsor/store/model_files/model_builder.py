"""Builds a model from the nodes of a model file, through the same functions that a user calls in Python.

Things are built in the order of the file; what an expression or an element refers to is built first, wherever it is. Problems are
noted, and what does not depend on them is still looked at, so that all of them are reported at once.
"""

import re
from typing import Any

import casadi as ca

from ...elements.element import Element
from ...elements.lazy_attributes import Quantity, Signal
from ...errors import TorsorError
from ...events import Event, Modes
from ...fmus.fmu import FMU
from ...lookup.interval_search import stored_table
from ...lookup.lookup_calls import piece
from ...model.body import Placed
from ...model.model import Model
from ...model.parameters import Parameter
from ...tables.table import Table
from . import build_bodies, build_elements, build_events, build_parts
from .expression_parser import ExpressionError, Parser
from .file_sections import SECTIONS
from .file_values import Values
from .problems import Problems, Skip, unknown
from .yaml_nodes import Mapping, Scalar

BUILDERS: dict[str, Any] = {
    "parameters": build_parts.parameter,
    "inputs": build_parts.input_,
    "tables": build_parts.table_,
    "grounds": build_bodies.ground,
    "bodies": build_bodies.body,
    "memory": build_parts.memory,
    "modes": build_parts.modes,
    "include": build_parts.include,
    "states": build_elements.state,
    "elements": build_elements.element,
    "signals": build_elements.signal,
    "events": build_events.event,
}
CALLS = ("point", "velocity_of", "direction", "kinetic_energy")  # functions of bodies
PROPERTIES = ("momentum", "angular_momentum", "time", "count", "output")
WORD = re.compile(r"[A-Za-z_]\w*")


class Builder:
    """One model file being built.

    model      the model so far
    pending    what the file describes, by name: (section, node, position of the name)
    folder     of the file, for names of other files
    including  files that are being read, the outermost first
    """

    def __init__(self, root: Mapping, file: str, folder: str, problems: Problems, including: tuple):
        self.root = root
        self.file = file
        self.folder = folder
        self.problems = problems
        self.including = including
        self.values = Values(self, problems)
        self.pending: dict[str, tuple] = {}
        self.done: set[str] = set()
        self.active: list[str] = []
        self.own: dict[str, ca.SX] = {}  # symbols of a state whose rate is being read
        self.locals: dict[str, ca.SX] = {}
        self.tables: dict[str, Table] = {}
        self.definitions: dict[str, ca.SX] = {}
        self.lookups: dict = {}
        self.later: list = []  # actions of events, which may refer to anything

    def build(self) -> Model:
        """The model, as far as it can be built: problems are noted."""
        self.values.mapping(self.root, "", SECTIONS)
        name = self.root.entries.get("model")
        label = name.text if isinstance(name, Scalar) else "model"
        try:
            self.model = Model(label, hints=False)
        except TorsorError as error:
            self.problems.add(name.position if name else self.root.position, "model", str(error))
            self.model = Model("model", hints=False)
        self.model._accepts_paths = True
        self._collect()
        for name in list(self.pending):
            self._try(lambda name=name: self._build(name))
        for step in (*self.later, *[lambda f=f: f(self) for f in (build_parts.gravity, *build_parts.LAST)]):
            self._try(step)
        vars(self.model).pop("_accepts_paths")
        return self.model

    def section(self, name: str) -> Mapping:
        """A section of the file; empty if there is none."""
        node = self.root.entries.get(name)
        if node is None:
            return Mapping({}, {}, self.root.position)
        try:
            return self.values.mapping(node, name)
        except Skip:
            return Mapping({}, {}, self.root.position)

    def _try(self, step):
        try:
            step()
        except Skip:
            pass

    def _collect(self):
        for section in BUILDERS:
            node = self.section(section)
            for name, x in node.entries.items():
                if name in self.pending:
                    other, _, first = self.pending[name]
                    self.problems.add(
                        node.keys[name],
                        f"{section}.{name}",
                        f"this name exists already: {other}.{name}, line {first.line}",
                    )
                else:
                    self.pending[name] = (section, x, node.keys[name])

    def _build(self, name):
        """Build what has this name, if it is not built yet."""
        if name in self.done:
            return
        section, node, position = self.pending[name]
        path = f"{section}.{name}"
        if name in self.active:
            circle = " → ".join([*self.active[self.active.index(name) :], name])
            raise ExpressionError(f"depends on itself: {circle}")
        if len(self.active) > 40:
            raise ExpressionError(
                f"more than 40 things refer to each other in reverse order, up to {name!r}: write what others need before them"
            )
        self.active.append(name)
        try:
            BUILDERS[section](self, name, node, path)
        except Skip:
            raise
        except ExpressionError:
            raise
        except (TorsorError, TypeError, ValueError, RuntimeError, AttributeError, IndexError) as error:
            text = str(error).replace("\n", " ") or type(error).__name__
            self.problems.add(position, path, text[:600])
            raise Skip from None
        finally:
            self.active.pop()
            self.done.add(name)

    def require(self, path: str) -> None:
        """Build what a path refers to: the longest part of it that the file describes."""
        parts = path.split(".")
        for k in range(len(parts), 0, -1):
            name = ".".join(parts[:k])
            if name in self.pending:
                before = name in self.done
                self._build(name)
                if before and not any(name in known for known in (self.model._names, self.model.memory, self.tables)):
                    raise Skip  # it could not be built
                return
            if name in self.model._names or name in self.model.memory:
                return

    def thing(self, path: str) -> Any:
        """The body, element, event … with a name; None if the name stands for a number, a signal or nothing."""
        self.require(path)
        found = self.model._names.get(path)
        return None if found is None or isinstance(found, (ca.SX, Parameter)) else found

    def signal(self, path: str) -> ca.SX:
        """The expression that a path stands for."""
        if path == "time":
            return self.model.time
        if path.startswith("?"):
            return self.locals.setdefault(path, ca.SX.sym(path.partition(" ")[2] or "local"))
        if path in self.own:
            return self.own[path]
        lets = self.section("let").entries
        if path in lets:
            return self._definition(path, lets)
        self.require(path)
        parts = path.split(".")
        for k in range(len(parts), 0, -1):
            name = ".".join(parts[:k])
            memory = self.model.memory.get(name) if k == len(parts) else None
            found = self.model._names.get(name) if memory is None else memory.symbol
            if found is not None:
                return self._attribute(found, name, parts[k:])
        known = [*self.pending, *self.model._names, *lets, "time"]
        raise ExpressionError(unknown("name", path, dict.fromkeys(known)))

    def _attribute(self, thing, name, rest):
        """A signal of a thing by its attribute."""
        if isinstance(thing, ca.SX) and not rest:
            return thing
        if isinstance(thing, Parameter) and not rest:
            return thing.symbol
        if isinstance(thing, Modes) and not rest:
            return thing.number
        if isinstance(thing, FMU) and (".".join(rest) in thing.settings.outputs):
            return thing[".".join(rest)]
        known = signals_of(thing)
        if len(rest) == 1 and rest[0] in known:
            if rest[0] in ("active", "armed"):
                return getattr(thing, rest[0]).symbol
            found = getattr(thing, rest[0])
            if found is not None:
                return ca.SX(found)
        what = ".".join(rest)
        given = (
            f"{name!r} is no number: write which signal of it"
            if not rest
            else unknown(f"signal of {name!r}", what, known)
        )
        raise ExpressionError(given if rest else f"{given}. Known: {', '.join(known) or 'none'}")

    def call(self, path: str, given: list) -> Any:
        """The value of a function of a body, or of a table; None if there is no such function."""
        if path in self.pending and self.pending[path][0] == "tables":
            return self.table(path)(*given)
        owner, _, function = path.rpartition(".")
        thing = self.thing(owner) if owner else None
        if not isinstance(thing, Placed) or function not in CALLS or not hasattr(thing, function):
            return None
        if function == "kinetic_energy":
            return getattr(thing, function)()
        arguments = given if len(given) == 1 else [ca.vertcat(*given)] if given else []
        try:
            return getattr(thing, function)(*arguments)
        except TorsorError as error:
            raise ExpressionError(str(error)) from None

    def table(self, name: str) -> Table:
        """The table of this name."""
        self.require(name)
        if name not in self.tables:
            raise ExpressionError(unknown("table", name, self.section("tables").entries))
        return self.tables[name]

    def piece(self, name: str, k: int, given: list) -> ca.SX:
        """Result k of the lookup of arguments in a table. The same lookup is made once."""
        table = self.table(name)
        number = table.number
        width = stored_table(number).width
        key = (number, *[x.element_hash() for x in given])
        if len(given) != len(table.points) or k >= width:
            raise ExpressionError(
                f"piece of table {name!r} takes {len(table.points)} arguments and an index below {width}"
            )
        if key not in self.lookups:
            self.lookups[key] = [ca.SX(x) for x in piece(len(given), width)(number, *given)], given
        return self.lookups[key][0][k]

    def _definition(self, name, lets):
        """The expression of a definition; those that it refers to are read before, without recursion."""
        stack = [name]
        while stack:
            top = stack[-1]
            needed = [w for w in WORD.findall(lets[top].text) if w in lets and w not in self.definitions and w != top]
            if top in self.definitions:
                stack.pop()
            elif circle := [w for w in needed if w in stack]:
                raise ExpressionError(f"definition {circle[0]!r} depends on itself")
            elif needed:
                stack += needed[:1]
            else:
                self.definitions[top] = self._parse_definition(top, lets[top])
                stack.pop()
        return self.definitions[name]

    def _parse_definition(self, name, node):
        if not isinstance(node, Scalar) or name in WORD.findall(node.text):
            raise ExpressionError(f"definition {name!r} must be an expression of other names")
        try:
            return Parser(node.text, self).parse()
        except ExpressionError as error:
            raise self.values.fail(node, f"let.{name}", str(error)) from None


def signals_of(thing: Any) -> list[str]:
    """Names of the signals of a thing."""
    cls = type(thing)
    found = [name for name in dir(cls) if not name.startswith("_") and isinstance(_static(cls, name), Signal)]
    found += [name for name in PROPERTIES if isinstance(_static(cls, name), property)]
    if isinstance(thing, Placed):
        found += [name for name in ("mass", "inertia") if isinstance(_static(cls, name), Quantity)]
    return found + (["active", "armed"] if isinstance(thing, Element) else [])


def _static(cls, name):
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


__all__ = ["Builder", "Event", "signals_of"]
