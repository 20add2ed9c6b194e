"""The command that writes a model to a model file."""

from typing import Annotated

import typer

from ..errors import OptionError
from . import DONE
from .command_options import SET, SOURCE
from .model_source import assignments, explain_user_errors, load

TARGET = typer.Argument(metavar="FILE", help="The model file to write: FILE.yaml.")
MODEL_FILES = (".yaml", ".yml")


def convert(
    source: Annotated[str, SOURCE],
    target: Annotated[str, TARGET],
    set: Annotated[list[str] | None, SET] = None,
):
    """Write a model to a YAML file: a case, a Python file, a robot (URDF, MJCF), a component or another model file."""
    from ..store.model_files.save_model import save_model

    if not target.lower().endswith(MODEL_FILES):
        raise OptionError(f"{target!r}: torsor writes model files with the suffix {' or '.join(MODEL_FILES)}")
    found = load(source, assignments(set))
    with explain_user_errors(found.file):
        save_model(found.model, target)
    print(f"written  {target}")
    for note in found.notes:
        print(f"  {note}")
    if found.parameters:
        given = ", ".join(f"{name}={value}" for name, value in found.parameters.items())
        print(f"  the file has the default values of parameters; {given} is for a run")
    return DONE
