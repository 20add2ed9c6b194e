"""What users give of a run: seconds, when outputs are wanted, step and tolerance."""

import numpy as np

from ..describe import quantity
from ..errors import OptionError
from ..events import Clock
from ..lie import MAPS
from ..methods.integrator import integrator_of
from ..registry import lookup, registered
from .stiffness import AUTO, EXPLICIT

MOST = 10**12  # outputs
USUAL = "least-squares"  # projection
EVERY_TABLEAU = ("torsor.methods.explicit", "explicit")  # the step of all explicit Runge–Kutta methods
TOLERANCE, LOCATING = 1e-9, 1e-11  # default tolerances; the time of an event is as exact as the motion that leads to it


class Spaced:
    """Equal intervals from 0 to `until`, as numbers only where they are asked for: those of numpy.linspace."""

    def __init__(self, until, intervals):
        self.until, self.intervals = until, intervals

    def __len__(self):
        return self.intervals + 1

    def __getitem__(self, part):
        start, stop, _ = part.indices(len(self))
        times = np.arange(start, stop) * (self.until / self.intervals)
        if stop == len(self) and stop > start:
            times[-1] = self.until
        return times


def output_times(outputs, until):
    """The times at which results are wanted, checked."""
    if isinstance(outputs, (int, np.integer)) and not isinstance(outputs, (bool, np.timedelta64)):
        if not 1 <= outputs <= MOST:
            allowed = f"a number of intervals from 1 to {MOST:.0e} or an array of times"
            raise OptionError(f"outputs must be {allowed}, got {quantity.show(outputs)}")
        return Spaced(float(until), int(outputs))
    try:
        times = np.asarray(quantity.reals(outputs))
    except Exception:  # whatever a stranger's class raises when it is asked for numbers
        times = np.zeros(0)
    if times.ndim != 1 or not times.size:
        apart = "; an array of times a step apart: numpy.arange(0, until, step)" if times.ndim == 0 else ""
        allowed = "a whole number of intervals or an array of times"
        raise OptionError(f"outputs must be {allowed}, got {quantity.show(outputs)}{apart}")
    if not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0):
        raise OptionError("outputs: times must be finite and increase strictly")
    if times[0] < 0:
        raise OptionError(f"outputs: time {times[0]:g} lies before the start at 0")
    if times[-1] > until:
        raise OptionError(f"outputs: time {times[-1]:g} lies beyond the end, until = {until:g}")
    return times


def seconds(value, what):
    """A positive number of seconds, checked."""
    number = quantity.number(value)
    if number is None or not quantity.SMALLEST <= number <= quantity.LARGEST:
        allowed = f"between {quantity.SMALLEST:g} and {quantity.LARGEST:g}"
        raise OptionError(
            f"{what} must be a positive number of seconds, got {quantity.show(value)} (allowed: {allowed})"
        )
    return number


def located(model):
    """Whether instants have to be found while a model runs; those of clocks are known."""
    return any(not isinstance(event.watch, Clock) for event in model.events)


def controlled(model, method, step, tolerance, map, projection):
    """The tolerance of a run; refused where the method cannot have this step, tolerance, map or projection."""
    if not isinstance(method, str):
        raise OptionError(f"method must be the name of one, such as 'rkmk54', got {quantity.show(method)}")
    integrator = integrator_of(EXPLICIT if method == AUTO else method, also=(AUTO,))
    if step is not None:
        seconds(step, "step")
    elif not integrator.adaptive():
        adaptive = ", ".join(repr(k) for k, c in registered("integrator").items() if c.adaptive())
        raise OptionError(f"method {method!r} has no step-size control: give a positive `step`, or use {adaptive}")
    if tolerance is None:
        tolerance = LOCATING if located(model) else TOLERANCE
    allowed = quantity.number(tolerance)
    if allowed is None or not 1e-14 <= allowed <= 0.1:
        raise OptionError(f"tolerance must lie between 1e-14 and 0.1, got {quantity.show(tolerance)}")
    if not isinstance(map, str) or map not in MAPS:
        raise OptionError(f"unknown map {quantity.show(map)}. Known: {', '.join(MAPS)}.")
    if integrator.meets and projection != lookup("projection", USUAL)():
        raise OptionError(
            f"method {method!r} meets the constraints by its own equations and is not projected: leave `projection` out, "
            f"got {projection!r}"
        )
    if projection.stages is not None and (method == AUTO or integrator.loop != EVERY_TABLEAU):
        tableaus = ", ".join(repr(k) for k, c in registered("integrator").items() if c.loop == EVERY_TABLEAU)
        raise OptionError(
            f"projection {projection.key!r} solves the constraints in every stage of an explicit Runge–Kutta method: "
            f"use one of {tableaus}, got method {method!r}"
        )
    if map not in integrator.maps:
        raise OptionError(
            f"method {method!r} needs map {' or '.join(repr(m) for m in integrator.maps)}, got {quantity.show(map)}"
        )
    return allowed
