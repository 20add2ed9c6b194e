"""Times that users give: seconds, and when outputs are wanted."""

import numpy as np

from ..describe import quantity
from ..errors import OptionError

MOST = 10**12  # outputs


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
        times = np.atleast_1d(quantity.reals(outputs))
    except Exception:  # whatever a stranger's class raises when it is asked for numbers
        times = np.zeros(0)
    if times.ndim != 1 or not times.size:
        raise OptionError(f"outputs must be a number of intervals or an array of times, got {quantity.show(outputs)}")
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
