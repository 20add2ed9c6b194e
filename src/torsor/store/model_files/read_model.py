"""Reading model files."""

import os
from typing import Any

from ...errors import ModelError
from ...model.model import Model
from . import yaml_nodes
from .model_builder import Builder
from .problems import Problems
from .yaml_nodes import Mapping

MOST_LEVELS = 20  # of files that include files


def build_file(path: Any, problems: Problems, including: tuple = ()) -> Model | None:
    """The model of a file; None if there are problems, which are noted."""
    builder = open_file(path, problems, including)
    before = len(problems.messages)
    model = builder.build()
    return model if len(problems.messages) == before else None


def open_file(path: Any, problems: Problems, including: tuple = ()) -> Builder:
    """The builder of a file, which has been parsed."""
    file = os.fspath(path)
    if len(including) >= MOST_LEVELS:
        raise ModelError(f"{file}: files include each other more than {MOST_LEVELS} levels deep")
    if not os.path.isfile(file):
        raise ModelError(f"{file!r}: no such file")
    try:
        with open(file, encoding="utf-8") as stream:
            text = stream.read(yaml_nodes.LARGEST_FILE + 1)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise ModelError(f"cannot read {file!r}: {getattr(error, 'strerror', None) or error}") from None
    return builder_of(text, file, problems, (*including, os.path.realpath(file)))


def builder_of(text: str, file: str, problems: Problems, including: tuple = ()) -> Builder:
    """The builder of the text of a file."""
    root = yaml_nodes.parse(text, file)
    if not isinstance(root, Mapping):
        raise ModelError(f"{file}:1:1: a model file is a mapping that begins with `torsor: 1`")
    return Builder(root, file, os.path.dirname(os.path.abspath(file)), problems, including)


def read_text(text: str, file: str = "text") -> Model:
    """The model that a text describes."""
    problems = Problems()
    model = builder_of(text, file, problems).build()
    problems.raise_all()
    return model
