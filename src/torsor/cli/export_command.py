"""The command that writes a model as C code."""

from typing import Annotated

import typer

from . import DONE
from .command_options import FORMULATION, SET, SOURCE
from .model_source import assignments, explain_user_errors, load

C_FILE = typer.Argument(metavar="FILE.c", help="The C file to write.")
STEP_LENGTH = typer.Option("--step", metavar="SECONDS", help="Length of a step.")
EXPLICIT = typer.Option("--method", metavar="NAME", help="An explicit method, such as rkmk4.")


def export(
    source: Annotated[str, SOURCE],
    target: Annotated[str, C_FILE],
    step: Annotated[float, STEP_LENGTH] = 1e-3,
    method: Annotated[str, EXPLICIT] = "rkmk4",
    formulation: Annotated[str | None, FORMULATION] = None,
    set: Annotated[list[str] | None, SET] = None,
):
    """Write a model as one C99 file: start, accelerations, outputs, and a step of fixed length."""
    from ..dynamics.export_c import export_c

    found = load(source, assignments(set))
    found.print_notes()
    with explain_user_errors(found.file):
        export_c(found.model, target, step, method, formulation or "auto", found.parameters or None)
    print(f"written  {target}")
    return DONE
