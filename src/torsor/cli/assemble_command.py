"""The command `assemble`: configurations of a case or a model file in which joints and bodies have requested positions."""

from typing import Annotated

import numpy as np
import typer

from ..errors import OptionError
from . import DONE, print_warnings
from .command_options import FORMULATION, SET, SOURCE, START, option

TARGET = option(
    "NAME=VALUES",
    "A target: a joint coordinate, or position, point, rotation (quaternion or rotation vector) or pose (3 numbers, and a "
    "rotation) of a body, as in tool.position=0.4,0,0.3; several numbers for one coordinate are several assemblies. Repeatable.",
    "--target",
)
EVERY = typer.Option("--modes", help="All configurations that random starts lead to.")
LEAST = typer.Option("--least-squares", help="Be content with the least sum of squares.")


def assemble(
    source: Annotated[str, SOURCE],
    target: Annotated[list[str] | None, TARGET] = None,
    start: Annotated[list[str] | None, START] = None,
    modes: Annotated[bool, EVERY] = False,
    least_squares: Annotated[bool, LEAST] = False,
    formulation: Annotated[str | None, FORMULATION] = None,
    set: Annotated[list[str] | None, SET] = None,
):
    """Find the joint coordinates that bring a mechanism to given positions: inverse kinematics."""
    from ..analysis.assembly.assembly import assemble as found_by
    from .model_source import assignments, explain_user_errors, load
    from .start_option import parse_assignments, start_of

    targets = {name: _values(name, text) for name, text in parse_assignments(target or (), "--target").items()}
    source_ = load(source, assignments(set))
    requested = {name: _value(name, values) for name, values in targets.items()}
    source_.print_notes()
    with explain_user_errors(source_.file), print_warnings():
        found = found_by(
            source_.model, requested, start=start_of(start), modes=modes, least_squares=least_squares,
            parameters=source_.parameters, formulation=formulation or "auto",
        )  # fmt: skip
    _print_result(source_.model.name, found)
    return DONE


def _values(name, text):
    """Numbers of a target."""
    try:
        return [float(x) for x in text.split(",")]
    except ValueError:
        raise OptionError(f"--target {name}={text}: write NAME=VALUES, numbers with commas between them") from None


def _value(name, values):
    """The value of a target: a pose from a place and a rotation."""
    if not name.endswith(".pose"):
        return values[0] if len(values) == 1 else np.array(values)
    from ..analysis.assembly.assembly_targets import rotations
    from ..lie import pose_stacks

    if len(values) not in (6, 7):
        given = "3 numbers for the place, then a quaternion (4, scalar first) or a rotation vector (3)"
        raise OptionError(f"--target {name}: a pose is {given}, got {len(values)} numbers")
    place, turn = np.split(np.array(values), [3])
    return pose_stacks.stack_poses(rotations(turn, name), place)


def _print_result(model, found):
    """Coordinates of one assembly, or of several side by side."""
    from ..look.text_format import table

    names, columns = list(found.coordinates), np.array([np.atleast_1d(x) for x in found.coordinates.values()])
    rows = [(name, *[f"{x:.9g}" for x in row]) for name, row in zip(names, columns)]
    rows.append(("residual", *[f"{x:.2g}" for x in np.atleast_1d(found.residual)]))
    several, most = np.ndim(found.residual) > 0, int(np.max(found.freedom, initial=0))
    count = f", {columns.shape[1]} assemblies" if several else ""
    free = f", {most} freedoms left" if most else ""
    print("\n".join([f"{model}: assembled{count}{free}", *table(rows)]))
