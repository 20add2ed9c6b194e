"""The command that writes a model to a model file, or to a robot file of other programs."""

import os
from typing import Annotated

import typer

from ..errors import OptionError
from . import DONE
from .command_options import SET, SOURCE
from .model_source import assignments, explain_user_errors, load

TARGET = typer.Argument(metavar="FILE", help="The file to write: FILE.yaml, FILE.urdf, FILE.xml (MJCF), FILE.sdf.")
UPDATE = typer.Option(
    "--update", help="Merge a source that changed into FILE.yaml, and keep what was edited there by hand."
)
MODEL_FILES = (".yaml", ".yml")


def convert(
    source: Annotated[str, SOURCE],
    target: Annotated[str, TARGET],
    set: Annotated[list[str] | None, SET] = None,
    update: Annotated[bool, UPDATE] = False,
):
    """Write a model to a YAML, URDF, MJCF or SDF file: a case, a Python file, a robot, a CAD assembly, a component."""
    from ..exchange.writers.export_robot import SUFFIXES, export_robot
    from ..store.model_files.save_model import save_model
    from ..store.model_files.update_model import update_model

    suffix = os.path.splitext(target)[1].lower()
    if suffix not in (*MODEL_FILES, *SUFFIXES):
        known = ", ".join((*MODEL_FILES, *SUFFIXES))
        raise OptionError(f"{target!r}: torsor writes model files and robot files with the suffixes {known}")
    if update and suffix not in MODEL_FILES:
        raise OptionError(f"{target!r}: --update is for model files, {' or '.join(MODEL_FILES)}")
    found = load(source, assignments(set))
    starts = found.imported.keyframes if found.imported is not None else {}
    with explain_user_errors(found.file):
        if update:
            lost: list = update_model(found.model, target, starts)
        elif suffix in MODEL_FILES:
            lost = []
            save_model(found.model, target, starts)
        else:
            lost = export_robot(found.model, target)
    print(f"written  {target}")
    for note in [*found.notes, *lost]:
        print(f"  {note}")
    if found.parameters:
        given = ", ".join(f"{name}={value}" for name, value in found.parameters.items())
        print(f"  the file has the default values of parameters; {given} is for a run")
    return DONE
