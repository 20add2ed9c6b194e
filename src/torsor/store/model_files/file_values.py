"""Values of a model file: numbers with units, names of things, frames, texts, expressions."""

import re
from typing import Any, get_args

import casadi as ca
import numpy as np

from ...elements.conversion import numbers_or
from ...errors import TorsorError
from ...events.value_structure import Bundle
from ...model.body import Body, Frame, Ground
from .expression_parser import ExpressionError, Parser
from .problems import Skip, unknown
from .units import UnitError, quantity_of
from .yaml_nodes import Mapping, Scalar, Sequence

AXIS = re.compile("[+-]?[xyz]\\Z")
TEXT, AXIS_OR_VALUE, VALUE = "text", "axis", "value"


def kind_of_field(annotation: Any) -> str:
    """Whether an argument is a text, an axis (a name or three numbers) or any other value, by its annotation."""
    if annotation is str:
        return TEXT
    parts = get_args(annotation)
    if str not in parts:
        return VALUE
    return TEXT if set(parts) <= {str, type(None)} else AXIS_OR_VALUE


class Values:
    """Gives meaning to the nodes of a file.

    names      the builder: `thing(name)` returns what has a name, or None; `signal(path)`, `call(path, arguments)`, `piece(…)`
    problems   where problems are noted
    """

    def __init__(self, names: Any, problems: Any):
        self.names = names
        self.problems = problems

    def fail(self, node: Any, path: str, message: str) -> Skip:
        """Note a problem of a node and return the exception that ends what depends on it."""
        self.problems.add(node.position, path, message)
        return Skip()

    def value(self, node: Any, path: str, kind: str = VALUE, derived: bool = False) -> Any:
        """The value of a node; derived: lists of numbers become arrays, as torsor derives them."""
        if isinstance(node, Mapping):
            return self._special(node, path, derived)
        if isinstance(node, Sequence):
            parts = tuple(self.value(x, f"{path}[{k}]", kind, derived) for k, x in enumerate(node.items))
            return _as_array(parts) if derived and parts else parts
        if kind == TEXT:
            return node.text
        value = node.value
        if not isinstance(value, str):
            return value
        if kind == AXIS_OR_VALUE and AXIS.match(value):
            return value
        thing = self._thing(value.strip("`"), node, path)
        if thing is not None:
            return thing
        found = self.expression(node, path)
        return numbers_or(ca.densify(found)) if found.is_constant() and not derived else found

    def _thing(self, name, node, path):
        """What has a name, None if it is no body, element … of the model."""
        try:
            return self.names.thing(name)
        except ExpressionError as error:
            raise self.fail(node, path, str(error)) from None

    def expression(self, node: Any, path: str) -> ca.SX:
        """The expression that a scalar node contains, or a number as an expression."""
        if not isinstance(node, Scalar):
            if isinstance(node, Sequence):
                return ca.vertcat(*[self.expression(x, f"{path}[{k}]") for k, x in enumerate(node.items)])
            raise self.fail(node, path, "an expression is expected, got a mapping")
        value = node.value
        if value is None or isinstance(value, bool):
            raise self.fail(node, path, f"a number or an expression is expected, got {node.text!r}")
        if not isinstance(value, str):
            return ca.SX(float(value))
        try:
            number = quantity_of(value)
            return ca.SX(number) if number is not None else Parser(value, self.names).parse()
        except UnitError as error:
            raise self.fail(node, path, str(error)) from None
        except ExpressionError as error:
            raise self.fail(node, path, f"{error}, in {_excerpt(value, error.offset)}") from None
        except RuntimeError as error:
            raise self.fail(node, path, f"invalid expression: {str(error).splitlines()[-1][:200]}") from None

    def expression_of(self, text: str, position: Any, path: str) -> ca.SX:
        """The expression that a key contains."""
        return self.expression(Scalar(text, False, position), path)

    def condition(self, node: Any, path: str) -> Any:
        """A condition: (left, sign, right) of a single comparison, or an expression."""
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            raise self.fail(node, path, "a condition such as `hinge.coordinate[0] <= 0` is expected")
        try:
            return Parser(node.text, self.names).parse_condition()
        except ExpressionError as error:
            raise self.fail(node, path, f"{error}, in {_excerpt(node.text, error.offset)}") from None

    def number(self, node: Any, path: str) -> float:
        """A number, with a unit or as a constant expression."""
        found = self.expression(node, path)
        if not found.is_constant() or not found.is_scalar():
            raise self.fail(node, path, "a number is expected, got an expression of signals")
        return float(found)

    def flag(self, node: Any, path: str) -> bool:
        """True or False."""
        if not isinstance(node, Scalar) or not isinstance(node.value, bool):
            raise self.fail(node, path, "true or false is expected")
        return node.value

    def text(self, node: Any, path: str) -> str:
        """A text."""
        if not isinstance(node, Scalar) or not node.text:
            raise self.fail(node, path, "a text is expected")
        return node.text

    def mapping(self, node: Any, path: str, known: Any = None) -> Any:
        """A mapping, whose keys are among the known ones. Unknown keys are noted; the others are returned."""
        if isinstance(node, Scalar) and node.value is None:
            return Mapping({}, {}, node.position)
        if not isinstance(node, Mapping):
            raise self.fail(node, path, "a mapping, NAME: VALUE, is expected")
        for key in node.entries if known is not None else ():
            if key not in known:
                self.problems.add(node.keys[key], path, unknown("key", key, known))
        return node

    def _special(self, node, path, derived):
        """A frame, a memory, a table, a mode, the form of a bundle, or a dictionary of values."""
        keys = set(node.entries)
        entry = node.entries
        if keys == {"memory"}:
            return self._memory(entry["memory"], path)
        if keys == {"table"}:
            return self._table(entry["table"], path)
        if keys == {"machine", "mode"}:
            machine = self._thing(self.text(entry["machine"], path), node, path)
            try:
                return machine[self.text(entry["mode"], path)]
            except (TorsorError, TypeError) as error:
                raise self.fail(node, path, f"no such mode: {error}") from None
        if "body" in keys and keys <= {"body", "at", "rotation", "pose"}:
            return self._frame(node, path)
        if keys == {"tuple"} and isinstance(entry["tuple"], Sequence):
            return tuple(self.value(x, path, VALUE, derived) for x in entry["tuple"].items)
        if keys == {"bundle", "parts"}:
            parts = tuple(
                (x.items[0].text, tuple(int(n.value) for n in x.items[1].items)) for x in entry["parts"].items
            )
            return Bundle(self.text(entry["bundle"], path), parts)
        return {key: self.value(x, f"{path}.{key}", VALUE, derived) for key, x in entry.items()}

    def _memory(self, node, path):
        self._thing(node.text, node, path)
        memory = self.names.model.memory.get(node.text)
        if memory is None:
            raise self.fail(node, path, unknown("memory", node.text, self.names.model.memory))
        return memory

    def _table(self, node, path):
        try:
            return self.names.table(self.text(node, path))
        except ExpressionError as error:
            raise self.fail(node, path, str(error)) from None

    def _frame(self, node, path):
        body = self._thing(self.text(node.entries["body"], path), node, path)
        if not isinstance(body, (Body, Ground)):
            raise self.fail(node.entries["body"], path, "a frame belongs to a body, and this is the name of none")
        if "pose" in node.entries:
            pose = self.value(node.entries["pose"], f"{path}.pose", VALUE, True)
            return Frame(body, pose)
        options = {key: self.value(x, f"{path}.{key}") for key, x in node.entries.items() if key != "body"}
        return body.frame(**options)


def _as_array(found):
    """Numbers as an array; anything else as it is."""
    if all(isinstance(x, (int, float, np.ndarray)) and not isinstance(x, bool) for x in found):
        array = np.array(found, float) if len({np.shape(x) for x in found}) == 1 else None
        return found if array is None else array
    return found


def _excerpt(text, offset):
    """The part of a text around an offset."""
    start = max(offset - 30, 0)
    part = text[start : offset + 30].replace("\n", " ")
    return f"{'…' if start else ''}{part}{'…' if offset + 30 < len(text) else ''}"
