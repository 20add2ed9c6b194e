"""XML files as trees of elements that know their line, read without ever touching anything else.

The parser of the standard library builds no entities here: a document type declaration, where entities (and with them
entity bombs and references to other files) are declared, is refused as soon as it begins.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

import numpy as np

from ..elements.quantity import show
from ..errors import ModelError

DEEPEST = 900  # elements within each other
HUGE = 1e50  # no quantity of a machine is larger, and products of a few of them are still numbers


@dataclass(eq=False)
class Element:
    """An XML element: tag, attributes, children, and where it stands."""

    tag: str
    attributes: dict
    file: str
    line: int
    children: list = field(default_factory=list)
    content: str = ""  # the text between its tags

    @property
    def where(self):
        return f"{self.file}:{self.line}"

    @property
    def label(self):
        """Its tag and, where it has one, its name: link 'arm'."""
        name = self.attributes.get("name")
        return self.tag if name is None else f"{self.tag} {name!r}"

    def error(self, message):
        return ModelError(f"{self.where}: {self.label}: {message}")

    def all(self, tag):
        return [child for child in self.children if child.tag == tag]

    def one(self, tag, owner=None):
        """The only child of that tag, None where there is none."""
        found = self.all(tag)
        if len(found) > 1:
            raise (owner or self).error(
                f"has {len(found)} elements <{tag}> (line {found[1].line}), only one is allowed"
            )
        return found[0] if found else None

    def text(self, attribute, owner=None):
        """An attribute that must be there and not be empty."""
        value = self.attributes.get(attribute, "").strip()
        if not value:
            raise (owner or self).error(f"<{self.tag}> needs the attribute {attribute!r} (line {self.line})")
        return value

    def numbers(self, attribute, count, default=None, owner=None, infinite=False):
        """An attribute of `count` numbers separated by blanks, as an array; finite ones by default."""
        text = self.attributes.get(attribute)
        if text is None:
            if default is None:
                raise (owner or self).error(f"<{self.tag}> needs the attribute {attribute!r} (line {self.line})")
            return np.array(default, float)
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            values = np.array([np.nan])
        if values.shape != (count,) or np.isnan(values).any() or not (infinite or np.abs(values).max() < HUGE):
            allowed = "a finite number" if count == 1 else f"{count} finite numbers"
            what = f"{attribute!r} of <{self.tag}> must be {allowed}, got {show(text)} (line {self.line})"
            raise (owner or self).error(what)
        return values

    def number(self, attribute, default=None, owner=None, infinite=False):
        return float(self.numbers(attribute, 1, None if default is None else [default], owner, infinite)[0])


def content(path):
    """The bytes of a file, or a ModelError that says why there are none."""
    try:
        file = Path(os.fspath(path)).expanduser()
        if file.exists() and not file.is_file() and not file.is_dir():
            raise ModelError(f"{path}: is not a regular file")
        data = file.read_bytes()
    except TypeError:
        raise ModelError(f"give the path of a file, got {show(path)}") from None
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise ModelError(f"{path}: is a folder; give a file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{path}: cannot be read: {error}") from None
    if not data.strip():
        raise ModelError(f"{path}: the file is empty")
    return file, data


def parse(path):
    """The root element of an XML file."""
    file, data = content(path)
    name = str(file)
    parser = expat.ParserCreate()
    open_elements: list[Element] = []
    roots: list[Element] = []

    def start(tag, attributes):
        element = Element(tag, attributes, name, parser.CurrentLineNumber)
        (open_elements[-1].children if open_elements else roots).append(element)
        open_elements.append(element)
        if len(open_elements) > DEEPEST:
            raise ModelError(f"{element.where}: more than {DEEPEST} elements within each other")

    def refuse(*_):
        raise ModelError(
            f"{name}:{parser.CurrentLineNumber}: a document type declaration (<!DOCTYPE ...>, which may declare entities) "
            "is not accepted; remove it"
        )

    def add_text(text):
        if open_elements:
            open_elements[-1].content += text

    parser.StartElementHandler = start
    parser.CharacterDataHandler = add_text
    parser.EndElementHandler = lambda tag: open_elements.pop()
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        message = expat.ErrorString(error.code)
        raise ModelError(f"{name}:{error.lineno}:{error.offset + 1}: not well-formed XML: {message}") from None
    except (LookupError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{name}:1: not well-formed XML: {error}") from None
    return roots[0]
