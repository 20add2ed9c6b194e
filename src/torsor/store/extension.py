"""A run in a folder that goes on beyond its end: further output times, and journals from the result of a run that is complete.

A result holds all numbers of the journals that it was assembled from, but for multipliers and impulses of rows that were never in
use, which are zero.
"""

import numpy as np

from ..describe import quantity
from ..errors import OptionError, ResultError
from ..run.times import Spaced, output_times, seconds
from .files import checked, opened

BLOCK = 2**22  # numbers that are copied at once
EQUAL = 1e-9  # of an interval between outputs: where a run ends on a multiple of it


def extend(place, facts, system, until, outputs):
    """Let the run of a checkpoint end at `until`, and its journals hold what was computed.

    outputs   further times, or a number of equal intervals from the former end to `until`; None: as far apart as before
    """
    options, status = place.static["options"], facts["outcome"]["status"]
    until, former = seconds(until, "until"), options["until"]
    if until == former and outputs is None:
        return False
    if until <= former:
        raise OptionError(f"until: the run in {place.folder!r} ends at {former:g} s; give a later time, got {until:g}")
    if status.startswith("ended"):
        raise OptionError(
            f"until: the run in {place.folder!r} {status} at {facts['outcome']['reached']:g} s and cannot go on"
        )
    if status not in ("finished", "running"):
        raise OptionError(f"until: the run in {place.folder!r} has failed and cannot go on: {status}")
    times = place.output_times()
    further = _further(times, former, until, outputs)
    same = isinstance(times, Spaced) and isinstance(further, int)
    if status == "finished":
        _restore_journals(place, facts, system)
    changed = {"until": until}
    if same:
        changed["outputs"] = further
    else:
        changed["further"] = [*options.get("further", []), *further]
        changed["spaced_until"] = options.get("spaced_until", former)
    place.static = place.static | {"options": options | changed}
    place.times = place.output_times()
    return True


def _further(times, former, until, outputs):
    """Times that follow; or into how many intervals equal ones divide the whole run."""
    if outputs is not None:
        if isinstance(outputs, (int, np.integer)) and not isinstance(outputs, bool):
            whole = output_times(outputs, until)  # checks the number
            found = former + np.arange(1, len(whole)) * ((until - former) / (len(whole) - 1))
            found[-1] = until
            return found.tolist()
        found = output_times(outputs, until)
        if found[0] <= former:
            raise OptionError(
                f"outputs: give times after the former end at {former:g} s, got {quantity.show(float(found[0]))}"
            )
        return found.tolist()
    known = times[:][-2:] if isinstance(times, np.ndarray) else times[len(times) - 2 : len(times)]
    apart = known[-1] - known[0] if len(known) > 1 else until - former
    if isinstance(times, Spaced):
        count = round(until / apart)
        if abs(count - until / apart) < EQUAL:
            return count
    found = known[-1] + np.arange(1, int((until - known[-1]) / apart * (1 + EQUAL)) + 1) * apart
    return [*found[found < until * (1 - 1e-12)].tolist(), until]


def _restore_journals(place, facts, system):
    """Journals of a complete run, from its result."""
    path, program, used = place.path("result.nc"), place.static["events"], facts["outcome"]["used"]
    if place.result is not None and checked(path) != place.result:
        raise ResultError(f"{path}: the result of another run")
    if place.result is None:
        return  # it was not written yet: the journals are there
    for journal in (place.outputs, place.events):
        journal.count = journal.check = 0
        journal.begin()
    with opened(path) as data:
        rows = max(1, BLOCK // place.outputs.width)
        for at in range(0, data.sizes["time"], rows):
            place.outputs.append(_outputs(system, used, data.isel(time=slice(at, at + rows)), place.outputs.width))
        if program:
            place.events.append(_events(system, used, data, program, place.events.width))
    place.result = None


def _outputs(system, used, data, width):
    """Rows [time, work, energy by events, outputs] of a result."""
    n, at = data.sizes["time"], 3
    rows = np.zeros((n, width))
    rows[:, 0], rows[:, 1] = data["time"].values, data["work"].values
    if "energy_by_events" in data:
        rows[:, 2] = data["energy_by_events"].values
    for name, size in system.layout:
        part = rows[:, at : at + size]
        if name == "rotation":
            part[:] = data[name].values.transpose(0, 1, 3, 2).reshape(n, size)
        elif name == "multiplier":
            part[:, [k for k, _ in system.shown(used)]] = data[name].values
        elif name == "signals":
            for k, signal in enumerate(system.signals):
                part[:, k] = data[signal].values
        else:
            part[:] = data[name].values.reshape(n, size)
        at += size
    return rows


def _events(system, used, data, program, width):
    """Rows [time, event, change of energy, impulses, slots] of a result."""
    rows, constraints = np.zeros((data.sizes["event"], width)), len(system.rows)
    names = data["event_name"].values.tolist()
    rows[:, 0], rows[:, 2] = data["event_time"].values, data["event_energy"].values
    rows[:, 1] = [program["names"].index(name) for name in names]
    for k, (_, row) in enumerate(system.shown(used)):
        if row is not None:
            rows[:, 3 + row] = data["event_impulse"].values[:, k]
    for label, k, slot in program["records"]:
        own = rows[:, 1] == k
        rows[own, 3 + constraints + slot] = data[label].values[own]
    return rows
