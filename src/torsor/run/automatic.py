"""`formulation="auto"`: the formulation that a model is cheapest in, and why, in words.

Particles have no orientation, so that only absolute coordinates take them. Else the estimates of `formulations/cost.py` decide, and
where two are close the simpler one is taken. A model of so many operations that they take longer to compile than to run is run
through tables of class kernels, where it is all that these ask for (`large.py`). Nothing is derived for that.
"""

from typing import NamedTuple

from ..errors import ModelError, OptionError
from ..formulations import cost
from ..registry import lookup
from . import large
from .prepare import prepare

AUTO = "auto"
ASKED = "it was asked for"
COMPILED = 20_000  # operations of an evaluation up to which they are compiled one by one: some four seconds


class Chosen(NamedTuple):
    """A formulation, and why it was taken: the rest of a sentence."""

    formulation: str
    reason: str


def choose(model, signals=()):
    """The formulation that suits a model, from counting its parts."""
    particle = next((body.name for body in model.bodies if body.particle), None)
    if particle is not None:
        return Chosen(
            "absolute", f"body {particle!r} is a particle, and joint coordinates need bodies with an orientation"
        )
    key, operations, reason = cost.cheapest(model)
    if operations > COMPILED:
        for table in large.FORMULATIONS:
            if large.system_of(model, table, signals) is not None:
                return Chosen(
                    table, f"{reason}, and its {len(model.bodies)} bodies can share code, called through tables"
                )
    return Chosen(key, reason)


def prepared(model, formulation, map="exp", baumgarte=False, metric="mass", signals=None, parameters=None, **more):
    """What was chosen, and the system and the kernels of it: see `prepare`. Where a formulation that was chosen here does not take
    a model, or its start, absolute coordinates do."""
    rest = (map, baumgarte, metric, signals, parameters)
    if formulation != AUTO:
        lookup("formulation", formulation, also=(AUTO,))
        return Chosen(formulation, ASKED), *prepare(model, formulation, *rest, **more)
    if not model.bodies:
        raise ModelError(f"model {model.name!r} has no bodies")
    chosen = choose(model, dict(model.signals) | dict(signals or {}))
    if chosen.formulation == "absolute":
        return chosen, *prepare(model, "absolute", *rest, **more)
    try:
        return chosen, *prepare(model, chosen.formulation, *rest, **more)
    except (ModelError, OptionError) as error:
        trouble = error
    try:
        found = prepare(model, "absolute", *rest, **more)
    except (ModelError, OptionError):
        raise trouble from None
    return Chosen(
        "absolute", f"{chosen.formulation!r} would be cheaper, but does not take the model: {trouble}"
    ), *found
