"""A task from what users give to `simulate` and its like, checked."""

import numpy as np

from ..methods.projections import projection_of
from ..run.task import Task
from ..run.times import controlled
from .recorded import recorded


def asked(model, until, step, method, formulation, projection, tolerance, map, signals, parameters, start):
    """The task."""
    chosen = projection_of(projection)
    allowed = controlled(model, method, step, tolerance, map, chosen)
    values, length = model.values(parameters), None if step is None else float(step)
    given = {name: values[name] for name in parameters or {}}
    if isinstance(start, dict):  # which may change afterwards, as may arrays in it
        start = {name: x.copy() if isinstance(x, (list, dict, np.ndarray)) else x for name, x in start.items()}
    return Task(
        model, float(until), length, method, formulation, chosen, allowed, map, recorded(model, signals), given, start=start
    )  # fmt: skip
