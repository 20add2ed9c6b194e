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
    end = found.until(until)
    found.print_notes()
    findings = testing.check(found.model, end, parameters=found.parameters, **options)
    left = max(len(finding.check) for finding in findings) + 2
    for name, holds, words in findings:
        first, *more = textwrap.wrap(words, 70 - left) or [""]
        print(f"{name:{left}}{WORDS[holds]:5}  {first}")
        print("".join(f"{'':{left + 7}}{line}\n" for line in more), end="")
    return DONE if all(finding.holds is not False for finding in findings) else FAILED
