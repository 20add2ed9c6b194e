"""The command `kinematics`: a case or a model file whose motion is prescribed, or how far its coordinates can move."""

from typing import Annotated

import numpy as np

from ..elements import quantity
from ..errors import OptionError, RunError
from . import DONE, FAILED, complain, print_warnings
from .command_options import CSV, FORMULATION, OUT, OUTPUTS, PLOT, SET, SOURCE, START, UNTIL, option
from .output_files import folder_for, validate_outputs, write_outputs

SWEPT = option(
    "NAME=FIRST:LAST:COUNT",
    "Sweep a joint coordinate, at rest everywhere, as in crank=0:6.28:100. Repeatable.",
    "--sweep",
)
DRIVEN = option(
    "NAME=F0[,F1[,F2]]",
    "Drive a joint coordinate over time: F0 + F1 t + F2 t²/2, as in crank=0,20. Repeatable.",
    "--drive",
)
RANGED = option("NAME", "Tell how far this joint coordinate can move, and what ends it. Repeatable.", "--range")


def kinematics(
    source: Annotated[str, SOURCE],
    sweep: Annotated[list[str] | None, SWEPT] = None,
    drive: Annotated[list[str] | None, DRIVEN] = None,
    range: Annotated[list[str] | None, RANGED] = None,
    start: Annotated[list[str] | None, START] = None,
    until: Annotated[float | None, UNTIL] = None,
    outputs: Annotated[str | None, OUTPUTS] = None,
    formulation: Annotated[str | None, FORMULATION] = None,
    set: Annotated[list[str] | None, SET] = None,
    out: Annotated[str | None, OUT] = None,
    csv: Annotated[str | None, CSV] = None,
    plot: Annotated[str | None, PLOT] = None,
):
    """Move a mechanism as prescribed: positions, velocities, accelerations and the forces of its drives."""
    from ..analysis.assembly.range_of_motion import range_of_motion
    from ..analysis.kinematics.kinematics import kinematics as moved
    from .model_source import assignments, explain_user_errors, load
    from .start_option import start_of

    over_time = {"--until": until, "--outputs": outputs}
    if sweep:
        _refuse_idle(over_time, "not together with --sweep, which has no time; COUNT is the number of its positions")
    elif range and not drive:
        _refuse_idle(
            over_time | {"--out": out, "--csv": csv, "--plot": plot},
            "--range alone prints ranges; give --sweep or --drive",
        )
    found, wanted = load(source, assignments(set)), validate_outputs(out, csv)
    if plot is not None:
        folder_for(plot)
    options = {"parameters": found.parameters, "formulation": formulation or "auto", "start": start_of(start)}
    found.print_notes()
    with explain_user_errors(found.file), print_warnings():
        for name in range or ():
            print(_range(range_of_motion(found.model, name, **options)))
        if range and not sweep and not drive:
            return DONE
        end = found.recommended.get("until") if until is None else until
        drives, times = _motions(source, sweep, drive, end, outputs)
        status, trouble = DONE, None
        try:
            data = moved(found.model, drives, times, **options)
        except RunError as error:
            data, status, trouble = error.data, FAILED, str(error)
    _print_result(data, wanted, plot)
    return status if trouble is None else complain(trouble, status)


def _refuse_idle(options, why):
    """Refuse options that would do nothing."""
    if given := [name for name, value in options.items() if value is not None]:
        raise OptionError(f"{', '.join(given)}: {why}")


def _motions(source, sweep, drive, until, outputs):
    """Motions of coordinates, and times; None for a sweep."""
    from ..run.output_times import output_times, seconds
    from .model_source import outputs_of
    from .start_option import parse_assignments

    if sweep and drive:
        raise OptionError("give --sweep or --drive: a sweep is quasi-static, and has no time")
    if sweep:
        return {name: _linear(name, text) for name, text in parse_assignments(sweep, "--sweep").items()}, None
    drives = {name: _polynomial(name, text) for name, text in parse_assignments(drive or (), "--drive").items()}
    if until is None:
        raise OptionError(f"{source}: give --sweep NAME=FIRST:LAST:COUNT, or --until SECONDS for motions over time")
    return drives, output_times(200 if outputs is None else outputs_of(outputs), seconds(until, "until"))[:]


def _linear(name, text):
    try:
        first, last, count = text.split(":")
        if int(count) < 1:
            raise ValueError
        return np.linspace(float(first), float(last), int(count))
    except ValueError:
        raise OptionError(f"--sweep {name}={text}: write FIRST:LAST:COUNT, as in 0:6.28:100") from None


def _polynomial(name, text):
    try:
        parts = [float(x) for x in text.split(",")]
    except ValueError:
        parts = []
    if not 1 <= len(parts) <= 3 or not np.isfinite(parts).all():
        raise OptionError(f"--drive {name}={text}: write one to three numbers, as in 0,20 for 20 t")
    f, f1, f2 = [*parts, 0.0, 0.0, 0.0][:3]  # fmt: skip
    return f + quantity.time * (f1 + quantity.time * f2 / 2)


def _range(found):
    side = lambda value, why: f"{why}" if not np.isfinite(value) else f"{value:.9g} ({why})"
    if found.turns:
        return f"{found.coordinate}: turns fully"
    return f"{found.coordinate}: from {side(found.lower, found.lower_end)}\n  to {side(found.upper, found.upper_end)}"


def _print_result(data, wanted, plot):
    """A summary, and the requested files."""
    from ..look.text_format import list_items

    along = "sweep" if "sweep" in data.dims else "time"
    forces = [
        f"{name} {float(x.min()):.6g} to {float(x.max()):.6g}"
        for name, x in zip(data.drive.values, data.drive_force.T)  # those of singular positions are left out
    ]
    values = [", ".join(f"{x:.6g}" for x in row) for row in data.singular_value.values]
    dips = [
        f"{', '.join(data.drive.values)} = {value}: {name}" for value, name in zip(values, data.singular_name.values)
    ]
    rows = [
        ("places" if along == "sweep" else "times", str(data.sizes[along])),
        ("coordinates", data.attrs["formulation"]),
        ("drift", f"{data.attrs['position_drift_max']:.1e} m or rad"),
        *list_items("drive forces", forces, "drive, N or N m", "drives, N or N m"),
        ("conditioning", f"{float(data.conditioning.min()):.3g} at least"),
        *list_items("singular", dips, "position", "positions"),
    ]
    write_outputs(f"{data.attrs['model']}: kinematics", rows, data, wanted, plot)
