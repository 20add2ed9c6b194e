"""Checks of options of a run: durations, output times, step, tolerance, map and projection."""

import numpy as np

from ..elements import quantity
from ..errors import OptionError
from ..events import Clock
from ..lie import MAPS
from ..methods.integrator import EXPLICIT_STEP, integrator_of
from ..registry import lookup, registered
from .auto_method import AUTO, EXPLICIT

MOST_OUTPUTS = 10**12
DEFAULT_PROJECTION = "least-squares"
TOLERANCE = 1e-9  # default
EVENT_TOLERANCE = 1e-11  # default with located events: the time of an event is as exact as the motion that leads to it


class EqualIntervals:
    """Output times at equal intervals from 0 to `until`, as numpy.linspace gives them, computed on access."""

    def __init__(self, until, intervals):
        self.until = until
        self.intervals = intervals

    def __len__(self):
        return self.intervals + 1

    def __getitem__(self, part):
        start, stop, _ = part.indices(len(self))
        times = np.arange(start, stop) * (self.until / self.intervals)
        if stop == len(self) and stop > start:
            times[-1] = self.until
        return times


def output_times(outputs, until):
    """Output times of a run, after validation. A number of intervals gives equal intervals."""
    if isinstance(outputs, (int, np.integer)) and not isinstance(outputs, (bool, np.timedelta64)):
        if not 1 <= outputs <= MOST_OUTPUTS:
            allowed = f"a number of intervals from 1 to {MOST_OUTPUTS:.0e} or an array of times"
            raise OptionError(f"outputs must be {allowed}, got {quantity.show(outputs)}")
        return EqualIntervals(float(until), int(outputs))
    try:
        times = np.asarray(quantity.reals(outputs))
    except Exception:  # a user's class may raise anything
        times = np.zeros(0)
    if times.ndim != 1 or not times.size:
        advice = "; an array of times a step apart: numpy.arange(0, until, step)" if times.ndim == 0 else ""
        allowed = "a whole number of intervals or an array of times"
        raise OptionError(f"outputs must be {allowed}, got {quantity.show(outputs)}{advice}")
    if not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0):
        raise OptionError("outputs: times must be finite and increase strictly")
    if times[0] < 0:
        raise OptionError(f"outputs: time {times[0]:g} lies before the start at 0")
    if times[-1] > until:
        raise OptionError(f"outputs: time {times[-1]:g} lies beyond the end, until = {until:g}")
    return times


def seconds(value, what):
    """A positive number of seconds, after validation; what: name of the argument in messages."""
    number = quantity.number(value)
    if number is None or not quantity.SMALLEST <= number <= quantity.LARGEST:
        allowed = f"between {quantity.SMALLEST:g} and {quantity.LARGEST:g}"
        raise OptionError(
            f"{what} must be a positive number of seconds, got {quantity.show(value)} (allowed: {allowed})"
        )
    return number


def has_located_events(model):
    """True if a model has events whose times have to be located; the times of clocks are known."""
    return any(not isinstance(event.watch, Clock) for event in model.events)


def check_method_options(model, method, step, tolerance, map, projection):
    """Validate method, step, tolerance, map and projection of a run. Returns the tolerance, which may be the default."""
    if not isinstance(method, str):
        raise OptionError(f"method must be the name of a method, such as 'rkmk54', got {quantity.show(method)}")
    integrator = integrator_of(EXPLICIT if method == AUTO else method, also=(AUTO,))
    if step is not None:
        seconds(step, "step")
    elif not integrator.adaptive():
        adaptive = ", ".join(repr(k) for k, c in registered("integrator").items() if c.adaptive())
        raise OptionError(f"method {method!r} has no step-size control: give a positive `step`, or use {adaptive}")
    if tolerance is None:
        tolerance = EVENT_TOLERANCE if has_located_events(model) else TOLERANCE
    number = quantity.number(tolerance)
    if number is None or not 1e-14 <= number <= 0.1:
        raise OptionError(f"tolerance must lie between 1e-14 and 0.1, got {quantity.show(tolerance)}")
    if not isinstance(map, str) or map not in MAPS:
        raise OptionError(f"unknown map {quantity.show(map)}. Known: {', '.join(MAPS)}.")
    if integrator.meets and projection != lookup("projection", DEFAULT_PROJECTION)():
        raise OptionError(
            f"method {method!r} meets the constraints by its own equations and is not projected: leave `projection` out, "
            f"got {projection!r}"
        )
    if projection.stages is not None and (method == AUTO or integrator.loop != EXPLICIT_STEP):
        tableaus = ", ".join(repr(k) for k, c in registered("integrator").items() if c.loop == EXPLICIT_STEP)
        raise OptionError(
            f"projection {projection.key!r} solves the constraints in every stage of an explicit Runge–Kutta method: "
            f"use one of {tableaus}, got method {method!r}"
        )
    if map not in integrator.maps:
        raise OptionError(
            f"method {method!r} needs map {' or '.join(repr(m) for m in integrator.maps)}, got {quantity.show(map)}"
        )
    return number
