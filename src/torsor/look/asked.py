"""A task from what users give to `simulate` and its like, checked."""

import numpy as np

from ..describe import quantity
from ..describe.model import Model
from ..errors import OptionError
from ..events.actions.telling import Record
from ..methods.projections import projection_of
from ..run.choice import SHARE
from ..run.task import SOLVED, Task
from ..run.times import controlled, output_times, seconds
from . import certificate
from .recorded import recorded


def asked(model, until, step, method, formulation, projection, tolerance, map, signals, parameters, start, reactions):
    """The task."""
    chosen = projection_of(projection)
    allowed = controlled(model, method, step, tolerance, map, chosen)
    values, length = model.values(parameters), None if step is None else float(step)
    given = {name: values[name] for name in parameters or {}}
    if isinstance(start, dict):  # which may change afterwards, as may arrays in it
        start = {name: x.copy() if isinstance(x, (list, dict, np.ndarray)) else x for name, x in start.items()}
    return Task(
        model, float(until), length, method, formulation, chosen, allowed, map, recorded(model, signals), given, start=start,
        reactions=check_reactions(reactions),
    )  # fmt: skip


def check_reactions(reactions):
    """The value of the option; another one than those that there are is refused."""
    if not isinstance(reactions, str) or reactions not in (SOLVED, SHARE):
        raise OptionError(
            f"reactions: give {SOLVED!r} (redundant rows carry nothing) or {SHARE!r} (they share loads, with the least norm), "
            f"got {quantity.show(reactions)}"
        )
    return reactions


def checked_run(model, until, outputs, *given):
    """The task that is given to `simulate`, and its output times."""
    if not isinstance(model, Model):
        raise OptionError(f"simulate: give a torsor.Model, got {quantity.show(model)}")
    times = output_times(outputs, seconds(until, "until"))
    return asked(model, until, *given), times


def refuse_certificate(task, certify, checkpoint):
    """Refuse a certificate that cannot be had."""
    if not isinstance(certify, (bool, np.bool_)):
        raise OptionError(f"certify must be True or False, got {quantity.show(certify)}")
    if certify:
        noted_down = [a.label for event in task.model.events for a in event.actions if isinstance(a, Record)]
        certificate.refuse_names([*task.model.signals, *task.signals, *noted_down])
        if checkpoint is not None:
            second = "compare with a second run at a tenth of the tolerance"
            raise OptionError(f"certify: not together with a checkpoint; {second}")
