"""The command that writes a model to a model file, or to a robot file of other programs."""

import os
from typing import Annotated

import typer

from ..errors import OptionError
from . import DONE
from .command_options import SET, SOURCE
from .model_source import assignments, explain_user_errors, load

TARGET = typer.Argument(metavar="FILE", help="The file to write: FILE.yaml, FILE.urdf, FILE.xml (MJCF), FILE.sdf.")
MODEL_FILES = (".yaml", ".yml")


def convert(
    source: Annotated[str, SOURCE],
    target: Annotated[str, TARGET],
    set: Annotated[list[str] | None, SET] = None,
):
    """Write a model to a YAML, URDF, MJCF or SDF file: a case, a Python file, a robot, a CAD assembly, a component."""
    from ..exchange.writers.export_robot import SUFFIXES, export_robot
    from ..store.model_files.save_model import save_model

    suffix = os.path.splitext(target)[1].lower()
    if suffix not in (*MODEL_FILES, *SUFFIXES):
        known = ", ".join((*MODEL_FILES, *SUFFIXES))
        raise OptionError(f"{target!r}: torsor writes model files and robot files with the suffixes {known}")
    found = load(source, assignments(set))
    with explain_user_errors(found.file):
        lost = [] if suffix in MODEL_FILES else export_robot(found.model, target)
        if suffix in MODEL_FILES:
            save_model(found.model, target)
    print(f"written  {target}")
    for note in [*found.notes, *lost]:
        print(f"  {note}")
    if found.parameters:
        given = ", ".join(f"{name}={value}" for name, value in found.parameters.items())
        print(f"  the file has the default values of parameters; {given} is for a run")
    return DONE
