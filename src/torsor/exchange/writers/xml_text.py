"""XML as text: elements with attributes, children and texts; numbers that are read back with the same bits."""

import re
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


def number_text(value: Any) -> str:
    """The shortest text of a number that means the same bits."""
    x = float(value) + 0.0  # without the sign of zero
    return str(int(x)) if x == int(x) and abs(x) < 1e15 else repr(x)


def numbers_text(values: Any) -> str:
    """Numbers separated by blanks."""
    return " ".join(number_text(x) for x in np.ravel(values))


class XMLNode:
    """An element to be written; attributes that are None are left out."""

    def __init__(self, tag: str, text: Any = None, **attributes: Any):
        self.tag, self.children = tag, []  # type: ignore[var-annotated]
        self.text = text if text is None or isinstance(text, str) else numbers_text(text)
        self.attributes = {k.rstrip("_"): v for k, v in attributes.items() if v is not None}

    def add(self, tag: str, text: Any = None, **attributes: Any) -> "XMLNode":
        """Append a child, and return it."""
        self.children.append(XMLNode(tag, text, **attributes))
        return self.children[-1]

    def lines(self, indent: int = 0) -> list[str]:
        blank = "  " * indent
        given = "".join(f" {k}={quoteattr(_clean(_attribute(v)))}" for k, v in self.attributes.items())
        if self.text is not None:
            return [f"{blank}<{self.tag}{given}>{escape(_clean(self.text))}</{self.tag}>"]
        if not self.children:
            return [f"{blank}<{self.tag}{given}/>"]
        inner = [line for child in self.children for line in child.lines(indent + 1)]
        return [f"{blank}<{self.tag}{given}>", *inner, f"{blank}</{self.tag}>"]

    def document(self) -> str:
        """The whole file."""
        return "\n".join(['<?xml version="1.0"?>', *self.lines()]) + "\n"


def _attribute(value):
    return value if isinstance(value, str) else numbers_text(value)


def _clean(text):
    return UNPRINTABLE.sub("?", text)
