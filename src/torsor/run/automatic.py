"""`formulation="auto"`: the formulation that a model is cheapest in, and why, in words.

Particles have no orientation, so that only absolute coordinates take them. Else the estimates of `formulations/cost.py` decide, and
where two are close the simpler one is taken. A model of so many operations that they take longer to compile than to run is run
through tables of class kernels, where it is all that these ask for (`large.py`). Nothing is derived for that.
"""

from typing import NamedTuple

from ..errors import ModelError, OptionError
from ..formulations import cost
from ..formulations.absolute import AXES
from ..registry import lookup
from . import large
from .prepare import prepare

AUTO = "auto"
ASKED = "it was asked for"
COMPILED = 20_000  # operations of an evaluation up to which they are compiled one by one: some four seconds
MANY = 1000  # bodies beyond which there are more operations than that, however few each of them needs


class Chosen(NamedTuple):
    """A formulation, and why it was taken: the rest of a sentence."""

    formulation: str
    reason: str


def choose(model, signals=None, metric="mass", tables=True):
    """The formulation that suits a model, from counting its parts.

    metric   of projections, which may name coordinates;  tables: whether what is asked for can be called through them
    """
    particle = next((body.name for body in model.bodies if body.particle), None)
    if particle is not None:
        return Chosen(
            "absolute", f"body {particle!r} is a particle, and joint coordinates need bodies with an orientation"
        )
    if (named := _of_a_body(model, metric)) is not None:
        return Chosen("absolute", f"the projection names {named!r}, a coordinate of a body")
    many = len(model.bodies) > MANY
    tables = tables and metric == large.METRIC
    if many and tables and (table := _table(model, signals)) is not None:
        return Chosen(table, f"{len(model.bodies)} bodies that share code, called through tables")
    key, operations, reason = cost.cheapest(model)
    if operations > COMPILED and not many and tables and (table := _table(model, signals)) is not None:
        return Chosen(table, f"{reason}, and its {len(model.bodies)} bodies can share code, called through tables")
    return Chosen(key, reason)


def _table(model, signals):
    """The formulation in which a model runs through tables; None where it does not."""
    model, signals = large.fixed(model, signals or {}, model.values(None))
    return next((key for key in large.FORMULATIONS if large.system_of(model, key, signals) is not None), None)


def _of_a_body(model, metric):
    """A coordinate that a partition names and that only absolute coordinates have; None: it names none."""
    given = [name for part in metric if part is not None for name in part] if isinstance(metric, list) else []
    axes = {f"{body.name} {axis}" for body in model.bodies for axis in AXES} if given else set()
    return next((name for name in given if isinstance(name, str) and name in axes), None)


def prepared(model, formulation, map="exp", baumgarte=False, metric="mass", signals=None, parameters=None, **more):
    """What was chosen, and the system and the kernels of it: see `prepare`. Where a formulation that was chosen here does not take
    a model, or its start, absolute coordinates do."""
    rest = (map, baumgarte, metric, signals, parameters)
    if not isinstance(formulation, str) or formulation != AUTO:
        lookup("formulation", formulation, also=(AUTO,))
        return Chosen(formulation, ASKED), *prepare(model, formulation, *rest, **more)
    if not model.bodies:
        raise ModelError(f"model {model.name!r} has no bodies")
    chosen = choose(model, dict(model.signals) | dict(signals or {}), metric, tables=not more.get("needs"))
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
