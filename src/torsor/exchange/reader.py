"""One door for all formats: what is in a file says what it is."""

import os
from inspect import signature
from typing import Any

from ..errors import ModelError, OptionError
from ..registry import registered
from . import xml_document
from .format import Content
from .robot import Imported


def read(path: str | os.PathLike, **options: Any) -> Imported:
    """Read the file `path`, of any registered format; options as those of `read_urdf`, `read_mjcf` …

    The content decides: <robot> is URDF, <mujoco> is MJCF, whatever the file is called.
    """
    content = Content(path)
    found = _format_of(path, content)
    allowed = list(signature(found.read).parameters)[1:]
    unknown = [name for name in options if name not in allowed]
    if unknown:
        message = f"unknown option {unknown[0]!r} for a {found.shows} file. Known: {', '.join(allowed)}."
        raise OptionError(f"{content.file}: {message}")
    try:
        return found.read(path, **options)
    except RecursionError:
        raise ModelError(f"{content.file}: bodies are nested too deeply to be read") from None


def typed_options(path):
    """Options with which a file may be read from the command line, by name: True for those that are on or off, False for texts."""
    found = _format_of(path, Content(path))
    given = signature(found.read).parameters
    return {name: True for name, x in given.items() if isinstance(x.default, bool)} | dict.fromkeys(found.texts, False)


def _format_of(path, content):
    """The format of a file."""
    formats = registered("format")
    found = next((known for known in formats.values() if known.recognises(content)), None)
    if found is None:
        root = xml_document.parse(path)
        known = ", ".join(f"{known.shows} ({key.upper()})" for key, known in formats.items())
        raise ModelError(f"{root.where}: the root element is <{root.tag}>; known are {known}")
    return found
