"""Plain data as YAML text: blocks with short lists on one line."""

import re
from typing import Any

from .expression_writer import number_text
from .units import quantity_of
from .yaml_nodes import SPECIAL_WORDS, to_number

WIDTH = 118
SAFE = re.compile(r"[A-Za-z_(/][\w .+*/()=<>-]*\Z", re.ASCII)
FLOW_SAFE = re.compile(r"[A-Za-z_(/][\w .+*/()=<>-]*\Z", re.ASCII)


def text_scalar(text: str) -> str:
    """A text as YAML: plain where it cannot be mistaken for anything else, else in double quotes."""
    means_text = text not in SPECIAL_WORDS and isinstance(to_number(text), str) and text == text.strip()
    if means_text and SAFE.match(text) and ": " not in text and " #" not in text and not _has_unit(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    escaped = "".join(c if c.isprintable() else _escape(c) for c in escaped)
    return f'"{escaped}"'


def _escape(c):
    return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"


def _has_unit(text):
    try:
        return quantity_of(text) is not None
    except ValueError:
        return True


def scalar(value: Any) -> str:
    """A number, a truth value, None or a text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return float_text(value)
    return text_scalar(value)


def float_text(value: float) -> str:
    """A float such that it is read back as one with the same bits."""
    text = number_text(value)
    return f"{text}.0" if isinstance(to_number(text), int) else text


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text_scalar(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def is_short(value: Any, indent: int) -> bool:
    """Whether a value fits on one line."""
    if isinstance(value, dict) and value and indent < 4:
        return False
    return len(flow(value)) + indent <= WIDTH


def lines(value: Any, indent: int = 0) -> list[str]:
    """A value as lines of a block."""
    blank = " " * indent
    if isinstance(value, dict) and value:
        found = []
        for key, x in value.items():
            name = f"{blank}{text_scalar(key)}:"
            if (
                not isinstance(x, (dict, list, tuple))
                or not x
                or (indent > 0 and is_short(x, len(name)))
                or _flat(x, name)
            ):
                found.append(f"{name} {flow(x)}")
            else:
                found += [name, *lines(x, indent + 2)]
        return found
    if isinstance(value, (list, tuple)) and value:
        found = []
        for x in value:
            if not isinstance(x, (dict, list, tuple)) or not x or len(flow(x)) + indent + 2 <= WIDTH:
                found.append(f"{blank}- {flow(x)}")
            else:
                first, *more = lines(x, indent + 2)
                found += [f"{blank}- {first.lstrip()}", *more]
        return found
    return [blank + flow(value)]


def _flat(x, name):
    """Whether a list of numbers or texts fits behind its key."""
    plain = isinstance(x, (list, tuple)) and not any(isinstance(y, (dict, list, tuple)) for y in x)
    return plain and len(name) + len(flow(x)) < WIDTH


def document(data: dict) -> str:
    """A whole document; a blank line before each block."""
    found: list[str] = []
    for key, x in data.items():
        block = lines({key: x})
        if found and len(block) > 1:
            found.append("")
        found += block
    return "\n".join(found) + "\n"
