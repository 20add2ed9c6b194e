"""`formulation="auto"`: the formulation in which a model is cheapest to run, and the reason as text.

Particles have no orientation, so only absolute coordinates support them. Otherwise the estimates of `prepare/cost.py` decide. If
two are close, the simpler formulation is chosen. A model with so many bodies that deriving and compiling its equations takes longer
than running is run through tables of class kernels, if they support it (`large_systems.py`): with 75 bodies and 324 springs tables
are prepared 4 times as fast, with 180 bodies 10 times, and run as fast. The choice derives no equations.
"""

from typing import NamedTuple

from ..errors import ModelError, OptionError
from ..formulations.absolute import VELOCITY_NAMES
from ..formulations.tables import tree_schedule
from ..registry import lookup
from . import cost, large_systems, table_support
from .choice import KernelOptions
from .prepare import prepare, run_kernels

AUTO = "auto"
REQUESTED = "it was requested"
MAX_COUNTED_BODIES = 1000  # more bodies always have more operations than that: tables are tried before counting


class FormulationChoice(NamedTuple):
    """A formulation and the reason for it, as a part of a sentence."""

    formulation: str
    reason: str


def choose(model, signals=None, metric="mass", tables=True):
    """Choose the formulation of a model from the number of its elements.

    metric   metric of projections; it may name coordinates
    tables   True if everything that is requested can be called through tables
    """
    particle = next((body.name for body in model.bodies if body.particle), None)
    if particle is not None:
        return FormulationChoice(
            "absolute", f"body {particle!r} is a particle, and joint coordinates need bodies with an orientation"
        )
    if (named := _body_coordinate(model, metric)) is not None:
        return FormulationChoice("absolute", f"the projection names {named!r}, a coordinate of a body")
    many = len(model.bodies) > MAX_COUNTED_BODIES
    tables = tables and metric == large_systems.METRIC
    if many and tables and (table := _table_formulation(model, signals)) is not None:
        return FormulationChoice(table, f"{len(model.bodies)} bodies that share code, called through tables")
    key, _, reason = cost.cheapest_formulation(model)
    if not many and tables and (table := _table_formulation(model, signals)) is not None:
        reason = f"{reason}, and its {len(model.bodies)} bodies can share code, called through tables"
        return FormulationChoice(table, reason)
    return FormulationChoice(key, reason)


def _table_formulation(model, signals):
    """The formulation in which a model can run through tables; None if there is none."""
    model, signals = large_systems.fix_parameters(model, signals or {}, model.values(None))
    return next(
        (
            key
            for key in table_support.formulations_that_declare("tables")
            if large_systems.system_of(model, key, signals) is not None
        ),
        None,
    )


def _body_coordinate(model, metric):
    """The first coordinate of a partition that only absolute coordinates have; None if there is none."""
    names = [name for part in metric if part is not None for name in part] if isinstance(metric, list) else []
    axes = {f"{body.name} {axis}" for body in model.bodies for axis in VELOCITY_NAMES} if names else set()
    return next((name for name in names if isinstance(name, str) and name in axes), None)


def choose_and_prepare(
    model, formulation, options=KernelOptions(), signals=None, parameters=None, *, tables=True, t=0.0, build=run_kernels
):
    """The chosen formulation with its reason, the system and its kernels: see `prepare`.

    tables   False: "auto" chooses a formulation that is compiled as one graph

    If `"auto"` chooses a formulation that does not support the model or its start, absolute coordinates are used instead.
    """
    rest = (options, signals, parameters, t, build)
    if not isinstance(formulation, str) or formulation != AUTO:
        lookup("formulation", formulation, also=(AUTO,))
        return FormulationChoice(formulation, REQUESTED), *prepare(model, formulation, *rest)
    if not model.bodies:
        raise ModelError(f"model {model.name!r} has no bodies")
    every_signal = dict(model.signals) | dict(signals or {})
    tables = tables and not options.needs
    chosen = choose(model, every_signal, options.metric, tables=tables)
    if tables and tree_schedule.is_large(tree_schedule.size_of_model(model)):
        values = model.values(parameters)
        if large_systems.load_or_prepare(model, chosen.formulation, options, t, every_signal, values) is None:
            chosen = choose(
                model, every_signal, options.metric, tables=False
            )  # the joints do not fit together at the start
    if chosen.formulation == "absolute":
        return chosen, *prepare(model, "absolute", *rest)
    try:
        return chosen, *prepare(model, chosen.formulation, *rest)
    except (ModelError, OptionError) as error:
        refusal = error
    try:
        system, built = prepare(model, "absolute", *rest)
    except (ModelError, OptionError):
        raise refusal from None
    reason = f"{chosen.formulation!r} would be cheaper, but does not support the model: {refusal}"
    return FormulationChoice("absolute", reason), system, built
