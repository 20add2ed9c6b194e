"""Options of a run as users give them, and the task that follows from them."""

from dataclasses import dataclass

import numpy as np

from ..elements import quantity
from ..errors import OptionError
from ..methods.projections import Projection, projection_of
from ..model.model import Model
from ..prepare.choice import SHARE
from ..run.output_times import check_method_options, output_times, seconds
from ..run.task import REACTIONS_AS_SOLVED, Task
from . import certificate
from .recorded_signals import signals_to_record


@dataclass(frozen=True)
class Options:
    """How a run is computed, as users give it to `simulate`, `study` and `Simulation`; see `simulate` for the meaning of each."""

    step: float | None = None
    method: str = "rkmk54"
    formulation: str = "auto"
    projection: str | Projection = "least-squares"
    tolerance: float | None = None
    map: str = "exp"
    reactions: str = REACTIONS_AS_SOLVED

    def task(self, model, until, signals=None, parameters=None, start=None, exactly=False):
        """The task of a run, validated."""
        projection = projection_of(self.projection)
        tolerance = check_method_options(model, self.method, self.step, self.tolerance, self.map, projection)
        values = model.values(parameters)
        if isinstance(start, dict):  # the caller may change it, and arrays in it, later
            start = {name: x.copy() if isinstance(x, (list, dict, np.ndarray)) else x for name, x in start.items()}
        return Task(
            model=model,
            until=float(until),
            step=None if self.step is None else float(self.step),
            method=self.method,
            formulation=self.formulation,
            projection=projection,
            tolerance=tolerance,
            map=self.map,
            signals=signals_to_record(model, signals),
            parameters={name: values[name] for name in parameters or {}},
            start=start,
            reactions=check_reactions(self.reactions),
            exactly=exactly,
        )


def check_reactions(reactions):
    """The value of the option; another one than those that there are is refused."""
    if not isinstance(reactions, str) or reactions not in (REACTIONS_AS_SOLVED, SHARE):
        raise OptionError(
            f"reactions: give {REACTIONS_AS_SOLVED!r} (redundant rows carry nothing) or {SHARE!r} (they share loads with the "
            f"least norm), got {quantity.show(reactions)}"
        )
    return reactions


def validate_run(model, until, outputs, options, **start):
    """The task of a call of `simulate`, and its output times; start: its arguments `signals`, `parameters`, `start`."""
    if not isinstance(model, Model):
        raise OptionError(f"simulate: give a torsor.Model, got {quantity.show(model)}")
    times = output_times(outputs, seconds(until, "until"))
    return options.task(model, until, **start), times


def refuse_certificate(task, certify, checkpoint):
    """Refuse a certificate that cannot be had."""
    if not isinstance(certify, (bool, np.bool_)):
        raise OptionError(f"certify must be True or False, got {quantity.show(certify)}")
    if certify:
        recorded = [a.result_name for event in task.model.events for a in event.actions if a.result_name]
        certificate.refuse_names([*task.model.signals, *task.signals, *recorded])
        if checkpoint is not None:
            second = "compare with a second run at a tenth of the tolerance"
            raise OptionError(f"certify: not together with a checkpoint; {second}")
