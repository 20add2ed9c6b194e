"""The command that checks a component."""

import textwrap
from typing import Annotated

from ..errors import OptionError
from . import DONE, FAILED
from .options import SET, SOURCE, TOLERANCE, UNTIL
from .source import assignments, load

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
    until = found.recommended.get("until") if until is None else until
    if until is None:
        raise OptionError(f"{source}: does not say how long to run: give --until SECONDS")
    options = {} if tolerance is None else {"tolerance": tolerance}
    findings = testing.check(found.model, until, parameters=found.parameters, **options)
    left = max(len(finding.check) for finding in findings) + 2
    for name, holds, words in findings:
        first, *more = textwrap.wrap(words, 70 - left) or [""]
        print(f"{name:{left}}{WORDS[holds]:5}  {first}")
        print("".join(f"{'':{left + 7}}{line}\n" for line in more), end="")
    return DONE if all(finding.holds is not False for finding in findings) else FAILED
