"""The command `study`: many runs of a case or a model file."""

import warnings
from typing import Annotated

import numpy as np

from ..errors import OptionError, RunError
from . import DONE, FAILED, INTERRUPTED, TERMINATED, complain
from .command_options import (
    CSV,
    FORMULATION,
    GRID,
    KEEP,
    MAP,
    METHOD,
    OUT,
    OUTPUTS,
    PROJECTION,
    REACTIONS,
    REDUCE,
    RUNS,
    SOURCE,
    STARTS,
    STEP,
    STORE,
    TOLERANCE,
    UNTIL,
    VARIED,
    WORKERS,
)
from .output_files import validate_outputs, write_outputs


def study(
    source: Annotated[str, SOURCE],
    set: Annotated[list[str] | None, VARIED] = None,
    runs: Annotated[str | None, RUNS] = None,
    grid: Annotated[bool, GRID] = False,
    until: Annotated[float | None, UNTIL] = None,
    outputs: Annotated[str | None, OUTPUTS] = None,
    reduce: Annotated[list[str] | None, REDUCE] = None,
    keep: Annotated[list[str] | None, KEEP] = None,
    step: Annotated[float | None, STEP] = None,
    method: Annotated[str | None, METHOD] = None,
    formulation: Annotated[str | None, FORMULATION] = None,
    projection: Annotated[str | None, PROJECTION] = None,
    map: Annotated[str | None, MAP] = None,
    tolerance: Annotated[float | None, TOLERANCE] = None,
    reactions: Annotated[str | None, REACTIONS] = None,
    threads: Annotated[int | None, WORKERS] = None,
    start: Annotated[list[str] | None, STARTS] = None,
    store: Annotated[str | None, STORE] = None,
    out: Annotated[str | None, OUT] = None,
    csv: Annotated[str | None, CSV] = None,
):
    """Run many variants of a case or a model file: a value of --set may be 1:10:50 (50 values from 1 to 10), 1:100:5:log or
    0.5,1,2, and --runs names a file with one line for each run."""
    from ..studies.study import study as carry_out
    from .model_source import explain_user_errors, load, outputs_of

    varied, fixed = parse_values(set)
    varied |= _listed_runs(runs, {**varied, **fixed}, grid)
    found = load(source, fixed)
    _refuse_options(found.model, varied)
    words, names = _split_words(reduce), _split_words(keep)
    given = {
        "until": until, "outputs": None if outputs is None else outputs_of(outputs), "step": step, "method": method,
        "formulation": formulation, "projection": projection, "map": map, "tolerance": tolerance, "executor": threads,
        "store": store, "reduce": words[0] if len(words) == 1 else words or None, "keep": names or None,
        "start": parse_starts(start, found.model), "reactions": reactions,
    }  # fmt: skip
    arguments = found.recommended | {name: value for name, value in given.items() if value is not None}
    arguments["until"] = found.until(until)
    wanted = validate_outputs(out, csv)
    found.print_notes()
    with explain_user_errors(found.file), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "interrupted")  # the last line says so
        try:
            data = carry_out(found.model, parameters=found.parameters | varied, grid=grid, **arguments)
        except RunError as error:
            if error.data is None:
                raise
            complain(error)
            data = error.data
    return _report_study(data, varied | _several(arguments.get("start")), wanted)


def _listed_runs(path, given, grid):
    """Values of parameters from a table of runs."""
    if path is None:
        return {}
    if grid:
        raise OptionError("--runs: not together with --grid: the file has a line for each run")
    from ..tables.read_tables import read_columns

    found = read_columns(path)
    if both := [name for name in found if name in given]:
        raise OptionError(f"--runs {path}: {both[0]!r} is given twice, with --set and as a column")
    if not all(map(len, found.values())):
        raise OptionError(f"--runs {path}: has names of columns, and no line for any run")
    return found


def _split_words(items):
    """Words that are given several times, or with commas between."""
    return [word.strip() for item in items or [] for word in item.split(",")]


def parse_starts(items, model):
    """Where runs start: values by name, several of them for as many runs; or as `--start` of `run` takes it."""
    from ..studies.variants import start_value_shape
    from .start_option import parse_assignments, start_of

    if not any(":" in item.partition("=")[2] for item in items or []):
        return start_of(items)
    found = parse_assignments(items, "--start")
    for name, x in found.items():
        if ":" in x and start_value_shape(model, name):
            raise OptionError(
                f"--start {name}={x}: {name} is several numbers, which all runs have in common here; a single one of a joint may "
                "vary, as in ball[0]=0:1:3"
            )
    return {
        name: _values(name, x, "--start") if {":", ","} & {*x} else start_of([f"{name}={x}"])[name]
        for name, x in found.items()
    }


def _several(start):
    """Values of a start that are several, by name."""
    given = start if isinstance(start, dict) else {}
    return {f"start {name}": x for name, x in given.items() if np.ndim(x)}


def _refuse_options(model, varied):
    """Refuse to vary what is not a parameter of the model."""
    for name in varied:
        if name not in model.parameters:
            known = ", ".join(model.parameters) or "none"
            raise OptionError(
                f"{name}: model {model.name!r} has no parameter {name!r} that could vary. Known: {known}. Options of a case "
                "or of build() take one value; a file declares parameters with model.parameter(name, value)"
            )


def parse_values(items):
    """NAME=VALUES given several times: arrays where there are several values, and single values as `--set` of `run` takes them."""
    from .model_source import assignments

    found = assignments(items)
    varied = {
        name: _values(name, text) for name, text in found.items() if isinstance(text, str) and {":", ","} & {*text}
    }
    return varied, {name: value for name, value in found.items() if name not in varied}


def _values(name, text, option="--set"):
    """FIRST:LAST:COUNT, the same with :log, or values separated by commas."""
    from ..studies.variants import MAX_GRID_RUNS

    try:
        if ":" in text:
            first, last, count, *pace = (part.strip() for part in text.split(":"))
            if pace not in ([], ["log"]):
                raise ValueError
            ends, n = (float(first), float(last)), int(count)
            if n > MAX_GRID_RUNS or not np.isfinite(ends).all():
                raise ValueError
            values = (np.geomspace if pace else np.linspace)(*ends, n)
        else:
            values = np.array([float(x) for x in text.split(",")])
    except ValueError:
        values = np.zeros(0)
    if not np.isfinite(values).all() or not values.size:
        raise OptionError(
            f"{option} {name}={text}: write FIRST:LAST:COUNT as in 1:10:50, FIRST:LAST:COUNT:log as in 1:100:5:log, or values as "
            f"in 0.5,1,2, all of them finite, and {MAX_GRID_RUNS} at most"
        )
    return values


def _report_study(data, varied, wanted):
    """Tell how a study went and keep its result. Returns the exit status."""
    from ..look.text_format import list_items
    from ..studies.run_session import INTERRUPTED as NOT_RUN

    failed = [(k, message) for k, message in enumerate(data["message"].values.tolist()) if message]
    rows = [
        ("runs", f"{data.attrs['runs']}, {len(failed)} failed"),
        (
            "parameters",
            ", ".join(f"{name} ({len(values)} values)" for name, values in varied.items()) or "as in the model",
        ),
        ("method", ", ".join(data.attrs[name] for name in ("method", "formulation") if name in data.attrs) or "none"),
        ("steps", f"{int(data['steps'].sum())}"),
        *list_items("failed", [f"run {k}: {message}" for k, message in failed], "run", "runs", 3),
    ]
    write_outputs(f"{data.attrs.get('model', '')}: study", rows, data, wanted)
    if any(message == NOT_RUN for _, message in failed):
        ended = TERMINATED if data.attrs.get("interrupted_by") == "SIGTERM" else INTERRUPTED
        return complain("interrupted; runs that were not carried out are marked", ended)
    return DONE if not failed else complain(f"{len(failed)} of {data.attrs['runs']} runs failed", FAILED)
