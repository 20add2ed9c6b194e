"""The commands `equilibrium` and `modes`."""

from typing import Annotated

import typer

from ..errors import OptionError
from . import DONE
from .command_options import FORMULATION, OUT, SET, SOURCE, START, option
from .output_files import save_figure, validate_outputs

STABLE = typer.Option("--stable", help="Go downhill from the start, to a stable equilibrium where there is one.")
AT = option(
    "start|FILE.nc@T|NAME=VALUE",
    "At the start of the model, at the time T of a result, or at values by name (repeatable). Default: at an equilibrium near the "
    "start.",
    "--at",
)
SHAPES = option("FILE.png", "Draw the shapes of the modes.", "--plot")


def equilibrium(
    source: Annotated[str, SOURCE],
    set: Annotated[list[str] | None, SET] = None,
    formulation: Annotated[str | None, FORMULATION] = None,
    start: Annotated[list[str] | None, START] = None,
    stable: Annotated[bool, STABLE] = False,
    out: Annotated[str | None, OUT] = None,
):
    """Find where a mechanism rests, what holds it there, and whether it stays."""
    from ..analysis.statics.equilibrium import equilibrium as search
    from ..store import result_files
    from .model_source import assignments, explain_user_errors, load
    from .start_option import start_of

    found, wanted = load(source, assignments(set)), validate_outputs(out, None)
    found.print_notes()
    with explain_user_errors(found.file):
        rest = search(found.model, start_of(start), formulation or "auto", found.parameters, stable=stable)
    print(rest)
    least = 1e-12 * max((abs(part).max() for both in rest.reactions.values() for part in both), default=0.0)
    for name, both in rest.reactions.items():
        force, torque = (", ".join(f"{x + 0.0:.6g}" for x in _plain(part, least)) for part in both)
        print(f"  reaction of {name}: force ({force}) N, torque ({torque}) N m")
    for path in wanted:
        result_files.save_result(rest.data, path)
        print(f"  written {path}")
    return DONE


def modes(
    source: Annotated[str, SOURCE],
    set: Annotated[list[str] | None, SET] = None,
    formulation: Annotated[str | None, FORMULATION] = None,
    at: Annotated[list[str] | None, AT] = None,
    stable: Annotated[bool, STABLE] = False,
    plot: Annotated[str | None, SHAPES] = None,
):
    """Frequencies, damping and shapes of small motions about an equilibrium, the start, or a state of a result."""
    from ..analysis.linear.linearise import linearise
    from ..analysis.statics.equilibrium import equilibrium as search
    from .model_source import assignments, explain_user_errors, load
    from .start_option import start_of

    found, chosen = load(source, assignments(set)), formulation or "auto"
    if at and stable:
        raise OptionError("--stable: not together with --at; it is about the search for an equilibrium")
    found.print_notes()
    with explain_user_errors(found.file):
        if not at:
            linear = search(found.model, None, chosen, found.parameters, stable=stable).linear
        else:
            linear = linearise(
                found.model, [], [], None if at == ["start"] else start_of(at, "--at"), chosen, found.parameters
            )
    print(linear)
    text = (
        linear.stability
        if linear.steady
        else "this is no equilibrium: eigenvalues tell of stability where a motion is steady"
    )
    print(f"  {text}")
    if plot is not None:
        import matplotlib

        matplotlib.use("Agg")
        save_figure(linear.plot(), plot)
        print(f"  drawn {plot}")
    return DONE


def _plain(numbers, least):
    """Numbers without rounding: zero if small relative to the largest, or below the least that counts."""
    bound = max(least, 1e-9 * abs(numbers).max())
    return [x if abs(x) > bound else 0.0 for x in numbers]
