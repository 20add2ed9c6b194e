"""The command that checks a component."""

import textwrap
from typing import Annotated

from . import DONE, FAILED
from .command_options import SET, SOURCE, TOLERANCE, UNTIL
from .model_source import assignments, load

WORDS = {True: "holds", False: "FAILS", None: "open"}


def check(
    source: Annotated[str, SOURCE],
    until: Annotated[float | None, UNTIL] = None,
    tolerance: Annotated[float | None, TOLERANCE] = None,
    set: Annotated[list[str] | None, SET] = None,
):
    """Check a component, a case or a model file: energy balance, drift, other formulations, placed inside another model."""
    from .. import testing

    found = load(source, assignments(set))
    options = {} if tolerance is None else {"tolerance": tolerance}
    times = [x.time for x in found.expect]
    end = found.until(max(times) if until is None and "until" not in found.recommended and any(times) else until)
    found.print_notes()
    findings = compare_with_expected(found, options) + testing.check(
        found.model, end, parameters=found.parameters, **options
    )
    left = max(len(finding.check) for finding in findings) + 2
    for name, holds, words in findings:
        first, *more = textwrap.wrap(words, 70 - left) or [""]
        print(f"{name:{left}}{WORDS[holds]:5}  {first}")
        print("".join(f"{'':{left + 7}}{line}\n" for line in more), end="")
    return DONE if all(finding.holds is not False for finding in findings) else FAILED


def compare_with_expected(found, options):
    """Findings on the values that the file gives in its section `expect`."""
    from ..errors import TorsorError
    from ..simulation import simulate
    from ..testing.check_model import Finding

    if not found.expect:
        return []
    times = sorted({0.0, *[x.time for x in found.expect]})
    end = max(times) or 1e-3  # a run has a length, also where only its start is looked at
    names = {f"expected_{k}": x.expression for k, x in enumerate(found.expect)}
    arguments = {k: v for k, v in (found.recommended | options).items() if k not in ("until", "outputs")}
    outputs = times if len(times) > 1 else [0.0, end]
    try:
        data = simulate(found.model, end, outputs, signals=names, parameters=found.parameters, **arguments)
    except TorsorError as error:
        return [Finding("expected values", False, str(error))]
    findings = []
    for name, x in zip(names, found.expect):
        value = float(data[name].values[outputs.index(x.time)])
        words = f"{x.name} at {x.time:g} s: {value:.9g}" + ("" if x.holds(value) else f" instead of {x.value:.9g}")
        findings.append(Finding("expected value", x.holds(value), words))
    return findings
