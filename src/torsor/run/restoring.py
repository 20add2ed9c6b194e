"""What is read from a file before a run goes on with it: compiled code trusts its records, so every number that it takes for a
place, a count or a size is checked here first."""

import math
from dataclasses import asdict

import numpy as np

from ..describe.quantity import LARGEST
from ..errors import ResultError
from ..kernels.record import COUNT, REAL, Array, plain

COUNTED = 2**53  # steps, calls and the like
FLAGS = {"state.fresh", "state.rated", "past.sloped", "span.filled", "span.poor", "events.pending", "events.answered"}
MARKS = {"events.due", "events.fired", "events.enabled", "events.disabled", "events.armed"}
FREE = {"events.history"}  # records of numbers and counts side by side, none of which is a place
AT_START = {  # what is found at a start: where that was given, it may differ
    "choice", "watches", "redundant", "left_out", "shared", "freedom", "start_freedom", "partition", "changes", "scales",
}  # fmt: skip


def refuse(what):
    raise ResultError(f"the stored state is damaged, or was changed: {what}; nothing was changed")


def limits(runner):
    """The smallest and largest value of whole numbers in records, by name; others count something."""
    places, kept = runner.state.xs.shape[0] - 1, max(runner.past.times.size, 1)
    found = {name: (0, 1) for name in FLAGS | MARKS}
    found |= {"state.at": (0, places), "span.at": (0, places), "state.worst": (0, runner.state.xs.shape[1])}
    found |= {f"past.{name}": (0, kept) for name in ("kept", "order", "next")}
    found["state.rated"] = (0, 2)
    found["span.structure"] = (0, len(runner.run_.kernels) - 1)
    if hasattr(runner, "structures"):
        events = max(runner.events.due.size - 1, 0)
        found |= {"events.structure": found["span.structure"], "events.failed": (0, events), "events.side": (-1, 1)}
        found |= {"events.beginning": (0, 2), "events.struck": (0, runner.trial.struck.size)}
    return found


def refuse_unfit_records(runner, arrays, trusted):
    """An error where arrays do not fit the records of a runner, or hold places that there are none of."""
    if trusted:
        return
    known = limits(runner)
    for part, record in runner._lasting().items():
        for field, kind in record.fields.items():
            name = f"{part}.{field}"
            if kind in (REAL, COUNT):
                shape, dtype = (1,), np.dtype(float if kind is REAL else np.int64)
            elif isinstance(kind, Array):
                held = plain(getattr(record, field))
                shape, dtype = held.shape, held.dtype
            else:
                continue
            x = arrays.get(name)
            if not isinstance(x, np.ndarray) or x.shape != shape or x.dtype != dtype:
                refuse(f"{name} does not fit the model")
            low, high = known.get(name, (0, COUNTED))
            if dtype.kind == "i" and name not in FREE and x.size and not (low <= x.min() and x.max() <= high):
                refuse(f"{name} must be from {low} to {high}, got {x.min()} to {x.max()}")
            if part == "scales" and not (
                np.isfinite(x).all() and x.min(initial=0.0) >= 0.0 and x.max(initial=0.0) <= LARGEST
            ):
                refuse(f"{name} must be positive numbers up to {LARGEST:g}")
    at = int(arrays["state.at"][0])
    numbers = [*arrays["state.time"], *arrays["state.step"], *arrays["state.xs"][at]]
    forward = arrays["state.step"][0] >= 0.0 and arrays["state.longest"][0] > 0.0
    if not np.all(np.abs(numbers) <= LARGEST) or not forward:
        refuse(f"time, step and state must be numbers up to {LARGEST:g}")
    for name in ("poor", "rich", "best"):
        x = arrays.get(f"kernels.{name}")
        if not isinstance(x, np.ndarray) or x.shape != runner.run_.kernels[name].shape or x.dtype != float:
            refuse(f"kernels.{name} does not fit the model")
    if hasattr(runner, "structures"):
        _refuse_other_structure(runner, arrays)


def _refuse_other_structure(runner, arrays):
    """An error where the structure that a state names is not the one that it is in."""
    structures, which = runner.structures, int(arrays["events.structure"][0])
    if structures.key_of(arrays["state.p"]) != structures.known[which].key:
        refuse("events.structure is not the structure of the state")


def refuse_unfit_log(runner, arrays, names):
    """An error where the log of events in a state does not fit the model; names: of its columns."""
    columns = [arrays.get(f"log.{name}") for name in names]
    if not all(isinstance(x, np.ndarray) for x in columns) or len({len(x) for x in columns}) != 1:
        refuse("the log of events is not whole")
    time, event, energy, slots = columns
    wide = runner.log.slots.shape[1] if hasattr(runner, "structures") else 0
    fits = time.ndim == energy.ndim == event.ndim == 1 and slots.shape == (len(time), wide) and event.dtype == np.int64
    last = len(runner.structures.program.names) - 1 if wide else -1
    if not fits or {time.dtype.kind, energy.dtype.kind, slots.dtype.kind} != {"f"}:
        refuse("the log of events does not fit the model")
    if event.size and not (0 <= event.min() and event.max() <= last):
        refuse(f"log.event must be from 0 to {last}, got {event.min()} to {event.max()}")


def refuse_unfit_facts(runner, facts, trusted):
    """An error where facts that a run goes on with are none."""
    if trusted:
        return
    rows, whole = len(runner.system.rows), lambda x: type(x) is int and 0 <= x <= COUNTED
    if not isinstance(facts, dict) or not whole(facts.get("choices")):
        refuse("its facts are not whole")
    if type(facts.get("looked")) is not int or type(facts.get("wall")) not in (int, float):
        refuse("its facts are not whole")
    used = facts.get("used")
    if not isinstance(used, list) or not all(whole(k) and k < rows for k in used):
        refuse(f"rows in use must be from 0 to {rows - 1}")
    refuse_unfit_choice(runner, facts.get("choice"))
    if hasattr(runner, "structures"):
        bits, known = len(runner.structures.bits), facts.get("structures")
        if not isinstance(known, list) or not known or not whole(facts.get("drained")):
            refuse("its structures are not whole")
        for one in known:
            if not isinstance(one, (list, tuple)) or len(one) != 3 or len(one[0]) != bits:
                refuse("a structure does not fit the model")
            if not all(type(x) in (int, float) for x in (*one[0], one[2])):
                refuse("a structure does not fit the model")
            refuse_unfit_choice(runner, one[1])


def refuse_unfit_choice(runner, facts):
    """An error where what was chosen about kernels does not fit the model: rows, coordinates and switched elements."""
    own = asdict(runner.choice)
    if not isinstance(facts, dict) or facts.keys() != own.keys():
        refuse("what was chosen about the equations is not whole")
    most = max(len(runner.system.rows), runner.sizes["v"], len(runner.system.p)) + len(runner.system.q)
    places = list(_leaves([facts[name] for name in ("released", "keep", "dependent")]))
    if not all(x is None or (type(x) is int and 0 <= x < most) for x in places):
        refuse(f"what was chosen about the equations names places beyond {most - 1}")
    if any(_plain(facts[name]) != _plain(own[name]) for name in ("map", "baumgarte", "needs")):
        refuse("it was made with other options")
    metric, mine = facts["metric"], own["metric"]
    chosen = isinstance(metric, (list, tuple)) and len(metric) == len(mine) and set(map(type, metric)) <= {list, tuple}
    if metric != mine and not (chosen and all(type(k) is int and 0 <= k < most for k in _leaves(metric))):
        refuse("the metric of its projection does not fit the model")
    if not (type(facts["unit"]) is float and 0.0 < facts["unit"] < math.inf):
        refuse("its unit of length must be a positive number")
    if _form(_plain(facts["units"])) != _form(_plain(own["units"])):
        refuse("units of its rows do not fit the model")


def refuse_other_system(stored, derived, begun):
    """An error where a stored system is not the one that is derived from its model.

    begun   whether its start was given: what is found at the start may differ then
    """
    old, new = (_plain(asdict(system)) for system in (stored, derived))
    for name in new:
        if old[name] == new[name] or (begun and name in AT_START):
            continue
        if name in ("rows", "declared", "layout", "sizes", "linear") or _form(old[name]) != _form(new[name]):
            refuse(f"{name} of the system does not fit the model")
    count = {"redundant": len(new["rows"]), "left_out": len(new["declared"])}
    for name, most in count.items():
        if not all(type(k) is int and 0 <= k < most for k in old[name]):
            refuse(f"{name} of the system must be places from 0 to {most - 1}")


def _leaves(x):
    """Everything in lists within lists."""
    if isinstance(x, (list, tuple)):
        for y in x:
            yield from _leaves(y)
    else:
        yield x


def _plain(x):
    """Tuples as lists, as files have them."""
    if isinstance(x, dict):
        return {str(k): _plain(y) for k, y in x.items()}
    return [_plain(y) for y in x] if isinstance(x, (list, tuple)) else x


def _form(x):
    """How something is made of its parts: texts and whole numbers as they are, other numbers as such."""
    if isinstance(x, dict):
        return {k: _form(y) for k, y in x.items()}
    if isinstance(x, list):
        return [_form(y) for y in x]
    return "a number" if isinstance(x, float) else x
