"""The command that writes a model as C code or as an FMU."""

from typing import Annotated

import typer

from ..errors import OptionError
from . import DONE
from .command_options import FORMULATION, SET, SOURCE
from .model_source import assignments, explain_user_errors, load

FILE = typer.Argument(metavar="FILE.c|FILE.fmu", help="The file to write: C code, or an FMU.")
STEP_LENGTH = typer.Option("--step", metavar="SECONDS", help="Length of a step.")
EXPLICIT = typer.Option("--method", metavar="NAME", help="An explicit method, such as rkmk4.")
FMI = typer.Option("--fmi", metavar="VERSION", help="Version of FMI of an FMU: 3.0 or 2.0.")
PLATFORM = typer.Option("--platform", metavar="NAME", help="Platform of an FMU, several times, or all.")


def export(
    source: Annotated[str, SOURCE],
    target: Annotated[str, FILE],
    step: Annotated[float, STEP_LENGTH] = 1e-3,
    method: Annotated[str, EXPLICIT] = "rkmk4",
    formulation: Annotated[str | None, FORMULATION] = None,
    fmi: Annotated[str, FMI] = "3.0",
    platform: Annotated[list[str] | None, PLATFORM] = None,
    set: Annotated[list[str] | None, SET] = None,
):
    """Write a model as one C99 file, or as an FMU for other tools."""
    from ..dynamics.export_c import export_c
    from ..fmi.export_fmu import export_fmu

    found = load(source, assignments(set))
    found.print_notes()
    options = (step, method, formulation or "auto", found.parameters or None)
    platforms = "all" if platform == ["all"] else platform
    with explain_user_errors(found.file):
        if target.endswith(".fmu"):
            export_fmu(found.model, target, fmi, None, None, *options, platforms=platforms)
        elif target.endswith(".c"):
            export_c(found.model, target, *options)
        else:
            raise OptionError(f"export: the file must have the suffix .c or .fmu, got {target!r}")
    print(f"written  {target}")
    return DONE
