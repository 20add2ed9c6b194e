"""What an assertion is made about: a result, or a run of a model or of a case."""

from typing import Any

import numpy as np

from .. import cases
from ..elements import quantity
from ..errors import OptionError
from ..model.model import Model
from ..simulation import simulate

TOLERANCE = 1e-10  # of runs, unless a test says otherwise
OUTPUTS = 100
LEAST = 1e-3  # of its size: what a model moves by in a run, or counts as moving by


def model_of(source, options=None):
    """The model that a source stands for, and for how long it runs by itself: a model, or the name of a case."""
    if isinstance(source, Model):
        return source, None
    if isinstance(source, str):
        return cases.load(source), cases.until(source)
    raise OptionError(f"give a torsor.Model or the name of a case, got {quantity.show(source)}")


def run_of(source: Any, until: float | None, options: dict):
    """The result that is judged: given, or computed now."""
    if hasattr(source, "data_vars"):
        if until is not None or options:
            raise OptionError("a result is judged as it is: leave out until and options, or give the model")
        return source
    model, ends = model_of(source)
    if until is None and ends is None:
        raise OptionError(f"model {model.name!r}: say how long to run: until [s]")
    defaults = {"outputs": OUTPUTS} if "step" in options else {"outputs": OUTPUTS, "tolerance": TOLERANCE}
    return simulate(model, ends if until is None else until, **(defaults | options))


def fraction(within):
    """A bound that an assertion is given."""
    found = quantity.number(within)
    if found is None or not 0 < found < np.inf:
        raise OptionError(f"within must be a positive number, got {quantity.show(within)}")
    return found


def scales(data):
    """Length [m], linear speed [m/s] and angular speed [rad/s] that a result is measured against: where nothing turns or nothing
    moves along, what the other would be over the size of the model; and by which factor this is faster than the model is.

    A model that moves by less than a thousandth of its size is measured as if it moved by as much: rest is not judged by
    rounding.
    """
    length, lasts = float(data.attrs["model_length"]), float(np.ptp(data.time.values))
    size = lambda name: float(np.linalg.norm(data[name].values, axis=-1).max(initial=0.0))
    found = max(size("velocity"), size("angular_velocity") * length, np.finfo(float).tiny)
    fast = max(found, LEAST * length / lasts if lasts > 0 else 0.0)
    return length, fast, fast / length, fast / max(found, np.finfo(float).eps ** 2 * fast)


def where(values, times, *labels):
    """The largest of some values (time, …), when, and at which labels."""
    worst = np.unravel_index(np.argmax(np.where(np.isnan(values), np.inf, values)), values.shape)
    return float(values[worst]), float(times[worst[0]]), [str(names[k]) for names, k in zip(labels, worst[1:])]
