"""Extension of a stored run beyond its end: further output times, and journals that are restored from a complete result.

A result contains all numbers of its journals, except multipliers and impulses of rows that were never in use, which are zero.
"""

import numpy as np

from ..elements import quantity
from ..errors import OptionError, ResultError
from ..run.output_times import EqualIntervals, output_times, seconds
from .result_files import open_result, verify_seal

BLOCK_NUMBERS = 2**22  # numbers that are copied at once
INTERVALS_INTEGER = 1e-9  # deviation of a number of output intervals from an integer
TIME_EQUAL = 1e-12  # relative difference of an output time from the end


def extend(checkpoint, facts, system, until, outputs):
    """Extend the run of a checkpoint to `until`, with journals that contain all results. Returns False if nothing changes.

    outputs   further times, or a number of equal intervals from the former end to `until`; None: intervals as before
    """
    options = checkpoint.static["options"]
    status = facts["outcome"]["status"]
    until = seconds(until, "until")
    former = options["until"]
    if until == former and outputs is None:
        return False
    if until <= former:
        raise OptionError(
            f"until: the run in {checkpoint.folder!r} ends at {former:g} s; give a later time, got {until:g}"
        )
    if status.startswith("ended"):
        raise OptionError(
            f"until: the run in {checkpoint.folder!r} {status} at {facts['outcome']['reached']:g} s and cannot go on"
        )
    if status not in ("finished", "running"):
        raise OptionError(f"until: the run in {checkpoint.folder!r} has failed and cannot go on: {status}")
    times = checkpoint.output_times()
    further = _further_times(times, former, until, outputs)
    still_equal = isinstance(times, EqualIntervals) and isinstance(further, int)
    if status == "finished":
        _restore_journals(checkpoint, facts, system)
    changed = {"until": until}
    if still_equal:
        changed["outputs"] = further
    else:
        changed["further"] = [*options.get("further", []), *further]
        changed["spaced_until"] = options.get("spaced_until", former)
    checkpoint.static = checkpoint.static | {"options": options | changed}
    checkpoint.times = checkpoint.output_times()
    return True


def _further_times(times, former, until, outputs):
    """The further output times; or the number of intervals of the whole run, if the intervals stay equal."""
    if outputs is not None:
        if isinstance(outputs, (int, np.integer)) and not isinstance(outputs, bool):
            whole = output_times(outputs, until)  # checks the number
            further = former + np.arange(1, len(whole)) * ((until - former) / (len(whole) - 1))
            further[-1] = until
            return further.tolist()
        further = output_times(outputs, until)
        if further[0] <= former:
            raise OptionError(
                f"outputs: give times after the former end at {former:g} s, got {quantity.show(float(further[0]))}"
            )
        return further.tolist()
    last_two = times[:][-2:] if isinstance(times, np.ndarray) else times[len(times) - 2 : len(times)]
    last = last_two[-1]
    interval = last - last_two[0] if len(last_two) > 1 else until - former
    if isinstance(times, EqualIntervals):
        count = round(until / interval)
        if abs(count - until / interval) < INTERVALS_INTEGER:
            return count
    further = last + np.arange(1, int((until - last) / interval * (1 + INTERVALS_INTEGER)) + 1) * interval
    return [*further[further < until * (1 - TIME_EQUAL)].tolist(), until]


def _restore_journals(checkpoint, facts, system):
    """Restore the journals of a complete run from its result."""
    path = checkpoint.path("result.nc")
    program = checkpoint.static["events"]
    used = facts["outcome"]["used"]
    if checkpoint.result is not None and verify_seal(path) != checkpoint.result:
        raise ResultError(f"{path}: the result of another run")
    if checkpoint.result is None:
        return  # the result is not written yet: the journals exist
    for journal in (checkpoint.outputs, checkpoint.events):
        journal.count = journal.check = 0
        journal.begin()
    with open_result(path) as data:
        rows = max(1, BLOCK_NUMBERS // checkpoint.outputs.width)
        for at in range(0, data.sizes["time"], rows):
            checkpoint.outputs.append(
                _output_rows(system, used, data.isel(time=slice(at, at + rows)), checkpoint.outputs.width)
            )
        if program:
            checkpoint.events.append(_event_rows(system, used, data, program, checkpoint.events.width))
    checkpoint.result = None


def _output_rows(system, used, data, width):
    """Journal rows [time, work, energy by events, outputs] from a result."""
    n = data.sizes["time"]
    rows = np.zeros((n, width))
    rows[:, 0] = data["time"].values
    rows[:, 1] = data["work"].values
    if "energy_by_events" in data:
        rows[:, 2] = data["energy_by_events"].values
    for name, part in system.outputs.split(rows[:, 3:]).items():
        if name == "rotation":
            part[:] = data[name].values.transpose(0, 1, 3, 2).reshape(part.shape)
        elif name == "multiplier":
            part[:, [k for k, _ in system.multiplier_pairs(used)]] = data[name].values
        elif name == "signals":
            for k, signal in enumerate(system.signals):
                part[:, k] = data[signal].values
        else:
            part[:] = data[name].values.reshape(part.shape)
    return rows


def _event_rows(system, used, data, program, width):
    """Journal rows [time, event, change of energy, impulses, slots] from a result."""
    rows = np.zeros((data.sizes["event"], width))
    constraints = len(system.rows)
    names = data["event_name"].values.tolist()
    rows[:, 0] = data["event_time"].values
    rows[:, 2] = data["event_energy"].values
    rows[:, 1] = [program["names"].index(name) for name in names]
    for k, (_, row) in enumerate(system.multiplier_pairs(used)):
        if row is not None:
            rows[:, 3 + row] = data["event_impulse"].values[:, k]
    for label, k, slot in program["records"]:
        own = rows[:, 1] == k
        rows[own, 3 + constraints + slot] = data[label].values[own]
    return rows
