"""The content of a YAML file as nodes that know their position; what would make reading slow or unsafe is refused.

Only the structure comes from the YAML parser. No tag is interpreted and no object is created, so that reading a file cannot run
code. Anchors and aliases are allowed, but every node counts each time it is used: an "alias bomb" ends at `MOST_NODES`.
"""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...errors import ModelError

MOST_NODES = 2_000_000
DEEPEST = 60  # levels of nesting
LARGEST_FILE = 200_000_000  # bytes
LONGEST_NUMBER = 400  # characters
NUMBER = re.compile(r"[+-]?(\d[\d_]*(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z")
SPECIAL_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "~": None, "": None}


class Position(NamedTuple):
    """File, line and column (from 1)."""

    file: str
    line: int
    column: int

    def __str__(self):
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, eq=False)
class Scalar:
    """A text, with its position; quoted: whether it is in quotes, so that it is no number and no word."""

    text: str
    quoted: bool
    position: Position

    @property
    def value(self) -> Any:
        """True, False, None or a number where the text means one, else the text."""
        if self.quoted:
            return self.text
        if self.text in SPECIAL_WORDS:
            return SPECIAL_WORDS[self.text]
        return to_number(self.text)


@dataclass(frozen=True, eq=False)
class Sequence:
    """A list of nodes."""

    items: list
    position: Position


@dataclass(frozen=True, eq=False)
class Mapping:
    """Nodes by key; `keys` has the position of each key."""

    entries: dict
    keys: dict
    position: Position


def to_number(text: str) -> Any:
    """The number that a text is, or the text itself."""
    if len(text) > LONGEST_NUMBER or not NUMBER.match(text):
        return text
    digits = text.replace("_", "")
    return int(digits) if re.fullmatch(r"[+-]?\d{1,15}", digits) else float(digits)


def plain_data(node: Any) -> Any:
    """A node as lists, dictionaries, numbers and texts."""
    if isinstance(node, Mapping):
        return {key: plain_data(x) for key, x in node.entries.items()}
    if isinstance(node, Sequence):
        return [plain_data(x) for x in node.items]
    return node.value


def parse(text: str, file: str) -> Any:
    """The node of a YAML document. ModelError with file:line:column where it is invalid, too deep or too large."""
    yaml = _parser()
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if len(text) > LARGEST_FILE:
        raise ModelError(f"{file}: a model file has at most {LARGEST_FILE:,} bytes, this one {len(text):,}")
    try:
        return _Composer(file).compose(yaml.parse(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark is not None else file
        raise ModelError(f"{where}: invalid YAML: {error.problem or error.context}") from None
    except (YAMLError, ValueError, RecursionError, TypeError, AttributeError, IndexError, KeyError) as error:
        raise ModelError(
            f"{file}: invalid YAML: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        ) from None


def _parser():
    try:
        from ruamel.yaml import YAML
    except ImportError:
        raise ModelError("model files need ruamel.yaml: pip install torsor[files]") from None
    return YAML(typ="safe", pure=True)


class _Composer:
    """Builds nodes from the events of the parser, without recursion."""

    def __init__(self, file):
        self.file = file
        self.anchors = {}  # name -> (node, number of nodes in it)
        self.count = 0

    def compose(self, events):
        root = None
        node: Any
        stack: list = []  # open containers: [node, key waiting for its value, anchor, count before]
        documents = 0
        for event in events:
            kind = type(event).__name__
            if kind == "DocumentStartEvent":
                documents += 1
                if documents > 1:
                    raise ModelError(f"{self._position(event)}: a model file is one document, a second one begins here")
            elif kind in ("MappingStartEvent", "SequenceStartEvent"):
                if len(stack) >= DEEPEST:
                    raise ModelError(f"{self._position(event)}: nested more than {DEEPEST} levels deep")
                where = self._position(event)
                node = Mapping({}, {}, where) if kind[0] == "M" else Sequence([], where)
                self._count(1, where)
                stack.append([node, None, event.anchor, self.count])
            elif kind in ("MappingEndEvent", "SequenceEndEvent"):
                node, _, anchor, before = stack.pop()
                if anchor:
                    self.anchors[anchor] = (node, self.count - before + 1)
                root = self._insert(stack, node, root)
            elif kind == "ScalarEvent":
                where = self._position(event)
                self._count(1, where)
                node = Scalar(event.value, event.style is not None and event.style in "'\"|>", where)
                if event.anchor:
                    self.anchors[event.anchor] = (node, 1)
                root = self._insert(stack, node, root)
            elif kind == "AliasEvent":
                root = self._insert(stack, self._alias(event, stack), root)
        return root

    def _alias(self, event, stack):
        where = self._position(event)
        if event.anchor not in self.anchors:
            raise ModelError(f"{where}: *{event.anchor} refers to no complete anchor &{event.anchor} before it")
        node, count = self.anchors[event.anchor]
        self._count(count, where)
        return node

    def _count(self, number, where):
        self.count += number
        if self.count > MOST_NODES:
            raise ModelError(
                f"{where}: the file has more than {MOST_NODES:,} values, counting those that aliases repeat"
            )

    def _insert(self, stack, node, root):
        if not stack:
            return node
        top = stack[-1]
        container = top[0]
        if isinstance(container, Sequence):
            container.items.append(node)
        elif top[1] is None:
            if not isinstance(node, Scalar):
                raise ModelError(f"{node.position}: a key must be a text")
            if node.text in container.entries:
                first = container.keys[node.text]
                raise ModelError(f"{node.position}: key {node.text[:60]!r} is given twice, first in line {first.line}")
            top[1] = node
        else:
            container.entries[top[1].text] = node
            container.keys[top[1].text] = top[1].position
            top[1] = None
        return root

    def _position(self, event):
        mark = event.start_mark
        return Position(self.file, mark.line + 1, mark.column + 1)
