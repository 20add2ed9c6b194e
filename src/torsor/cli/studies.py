"""The command `study`: many runs of a case or a model file."""

import warnings
from typing import Annotated

import numpy as np

from ..errors import OptionError
from . import DONE, FAILED, INTERRUPTED, complain
from .drawing import tell, written_as
from .options import (
    CSV,
    FORMULATION,
    GRID,
    KEEP,
    MAP,
    METHOD,
    OUT,
    OUTPUTS,
    PROJECTION,
    REDUCE,
    SOURCE,
    STEP,
    STORE,
    TOLERANCE,
    UNTIL,
    VARIED,
    WORKERS,
)


def study(
    source: Annotated[str, SOURCE],
    set: Annotated[list[str] | None, VARIED] = None,
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
    threads: Annotated[int | None, WORKERS] = None,
    store: Annotated[str | None, STORE] = None,
    out: Annotated[str | None, OUT] = None,
    csv: Annotated[str | None, CSV] = None,
):
    """Run many variants of a case or a model file: a value of --set may be 1:10:50 (50 values from 1 to 10) or 0.5,1,2."""
    from ..studies.study import study as carry_out
    from .source import blamed, load, outputs_of

    varied, fixed = assigned(set)
    found = load(source, fixed)
    given = {
        "until": until, "outputs": None if outputs is None else outputs_of(outputs), "step": step, "method": method,
        "formulation": formulation, "projection": projection, "map": map, "tolerance": tolerance, "executor": threads,
        "store": store, "reduce": reduce and (reduce[0] if len(reduce) == 1 else reduce), "keep": keep or None,
    }  # fmt: skip
    arguments = found.recommended | {name: value for name, value in given.items() if value is not None}
    if "until" not in arguments:
        raise OptionError(f"{source}: does not say how long to run: give --until SECONDS")
    wanted = written_as(out, csv)
    with blamed(found.file), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "interrupted")  # is told at the end
        data = carry_out(found.model, parameters=found.parameters | varied, grid=grid, **arguments)
    return _told(data, varied, wanted)


def assigned(items):
    """NAME=VALUES given several times: arrays where there are several values, and single values as `--set` of `run` takes them."""
    from .source import assignments

    found = assignments(items)
    varied = {
        name: _values(name, text) for name, text in found.items() if isinstance(text, str) and {":", ","} & {*text}
    }
    return varied, {name: value for name, value in found.items() if name not in varied}


def _values(name, text):
    """FIRST:LAST:COUNT, or values separated by commas."""
    try:
        if ":" in text:
            first, last, count = text.split(":")
            values = np.linspace(float(first), float(last), int(count))
        else:
            values = np.array([float(x) for x in text.split(",")])
    except ValueError:
        values = np.zeros(0)
    if not values.size:
        raise OptionError(f"--set {name}={text}: write FIRST:LAST:COUNT as in 1:10:50, or values as in 0.5,1,2")
    return values


def _told(data, varied, wanted):
    """Tell how a study went and keep its result. Returns the exit status."""
    from ..look.words import listed
    from ..studies.session import INTERRUPTED as NOT_RUN

    failed = [(k, message) for k, message in enumerate(data["message"].values.tolist()) if message]
    rows = [
        ("runs", f"{data.attrs['runs']}, {len(failed)} failed"),
        (
            "parameters",
            ", ".join(f"{name} ({len(values)} values)" for name, values in varied.items()) or "as in the model",
        ),
        ("method", f"{data.attrs.get('method', '')}, {data.attrs.get('formulation', '')}"),
        ("steps", f"{int(data['steps'].sum())}"),
        *listed("failed", [f"run {k}: {message}" for k, message in failed], "run", "runs", 3),
    ]
    tell(f"{data.attrs.get('model', '')}: study", rows, data, wanted)
    if any(message == NOT_RUN for _, message in failed):
        return complain("interrupted; runs that were not carried out are marked", INTERRUPTED)
    return DONE if not failed else complain(f"{len(failed)} of {data.attrs['runs']} runs failed", FAILED)
