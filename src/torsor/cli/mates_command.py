"""The command that looks at a CAD assembly: the report of its import, and the joints that its faces suggest."""

from typing import Annotated

import typer

from ..errors import OptionError
from . import DONE
from .command_options import SET
from .model_source import assignments, load

FILE = typer.Argument(metavar="FILE", help="A CAD assembly: FILE.step.")
OUT = typer.Option(
    "--out", metavar="FILE.yaml", help="Write the proposed joints as a table, to be looked through and edited."
)
LEAST = typer.Option("--least", metavar="0…1", help="Leave out proposals of less confidence.")


def mates(
    source: Annotated[str, FILE],
    out: Annotated[str | None, OUT] = None,
    least: Annotated[float, LEAST] = 0.0,
    set: Annotated[list[str] | None, SET] = None,
):
    """Report on a CAD assembly: freedom, redundant constraints, gaps, masses, and the joints that its faces suggest."""
    from ..cad.assembly_report import ImportedAssembly

    found = load(source, assignments(set)).imported
    if not isinstance(found, ImportedAssembly):
        raise OptionError(f"mates: {source!r} is no CAD assembly; give a STEP file")
    print(found.summary())
    proposed = [mate for mate in found.mates if mate.confidence >= least]
    print(
        f"\n{len(proposed)} proposed joints, none of which is in the model" if proposed else "\nno joints are proposed"
    )
    for mate in proposed:
        print(f"  {mate}")
    if out is not None:
        found.save_mates(out, least)
        print(f"written  {out}")
    return DONE
