"""Checks of a stored state before a run continues from it.

Compiled code trusts its records. Every number that it uses as an index, a count or a size is therefore checked here first.
"""

import math
from dataclasses import asdict

import numpy as np

from ..elements.quantity import LARGEST
from ..errors import ResultError
from ..kernels.records import COUNT, REAL, Array, plain

LARGEST_COUNT = 2**53  # of steps, calls and the like
FLAGS = {"state.fresh", "state.rated", "past.sloped", "span.filled", "span.poor", "events.pending", "events.answered"}
MARKS = {"events.due", "events.fired", "events.enabled", "events.disabled", "events.armed"}
UNCHECKED = {"events.history"}  # records of mixed numbers and counts, none of which is an index
START_FIELDS = {  # fields of a system that depend on its start
    "choice", "watches", "redundant", "left_out", "shared", "freedom", "start_freedom", "partition", "changes", "scales",
}  # fmt: skip


def refuse(what):
    """Raise the error for a stored state that cannot be loaded; what: the reason."""
    raise ResultError(f"the stored state is damaged or was edited: {what}. It was not loaded")


def limits(runner):
    """Smallest and largest values of integer fields by name. Fields without an entry are counts."""
    last_state, history = runner.state.xs.shape[0] - 1, max(runner.past.times.size, 1)
    ranges = {name: (0, 1) for name in FLAGS | MARKS}
    ranges |= {"state.at": (0, last_state), "span.at": (0, last_state), "state.worst": (0, runner.state.xs.shape[1])}
    ranges |= {f"past.{name}": (0, history) for name in ("kept", "order", "next")}
    ranges["state.rated"] = (0, 2)
    ranges["span.structure"] = (0, len(runner.run_.kernels) - 1)
    if hasattr(runner, "structures"):
        last_event = max(runner.events.due.size - 1, 0)
        ranges |= {
            "events.structure": ranges["span.structure"],
            "events.failed": (0, last_event),
            "events.side": (-1, 1),
        }
        ranges |= {"events.beginning": (0, 2), "events.struck": (0, runner.trial.struck.size)}
    return ranges


def refuse_unfit_records(runner, arrays, trusted):
    """Refuse arrays that do not fit the records of a runner, or contain indices out of range."""
    if trusted:
        return
    ranges = limits(runner)
    for part, record in runner._stored_records().items():
        for field, kind in record.fields.items():
            name = f"{part}.{field}"
            if kind in (REAL, COUNT):
                shape, dtype = (1,), np.dtype(float if kind is REAL else np.int64)
            elif isinstance(kind, Array):
                present = plain(getattr(record, field))
                shape, dtype = present.shape, present.dtype
            else:
                continue
            x = arrays.get(name)
            if not isinstance(x, np.ndarray) or x.shape != shape or x.dtype != dtype:
                refuse(f"{name} does not fit the model")
            low, high = ranges.get(name, (0, LARGEST_COUNT))
            if dtype.kind == "i" and name not in UNCHECKED and x.size and not (low <= x.min() and x.max() <= high):
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
    """Refuse a state whose memories belong to another structure than the one it names."""
    structures, which = runner.structures, int(arrays["events.structure"][0])
    key, structure = structures.key_of(arrays["state.p"]), structures.known[which]
    has_own_kernels = key in [s.key for s in structures.known]
    if has_own_kernels if structure.choice.flagged else key != structure.key:
        refuse("events.structure is not the structure of the state")


def refuse_unfit_log(runner, arrays, names):
    """Refuse a log of events that does not fit the model; names: of its columns."""
    columns = [arrays.get(f"log.{name}") for name in names]
    if not all(isinstance(x, np.ndarray) for x in columns) or len({len(x) for x in columns}) != 1:
        refuse("the log of events is incomplete")
    time, event, energy, slots = columns
    width = runner.log.slots.shape[1] if hasattr(runner, "structures") else 0
    fits = time.ndim == energy.ndim == event.ndim == 1 and slots.shape == (len(time), width) and event.dtype == np.int64
    last = len(runner.structures.program.names) - 1 if width else -1
    if not fits or {time.dtype.kind, energy.dtype.kind, slots.dtype.kind} != {"f"}:
        refuse("the log of events does not fit the model")
    if event.size and not (0 <= event.min() and event.max() <= last):
        refuse(f"log.event must be from 0 to {last}, got {event.min()} to {event.max()}")


def refuse_unfit_facts(runner, facts, trusted):
    """Refuse facts of a snapshot that are missing, of a wrong type, or do not fit the model."""
    if trusted:
        return
    rows = len(runner.system.rows)
    if not isinstance(facts, dict) or not _is_count(facts.get("choices")):
        refuse("its facts are incomplete")
    if type(facts.get("looked")) is not int or type(facts.get("wall")) not in (int, float):
        refuse("its facts are incomplete")
    used = facts.get("used")
    if not isinstance(used, list) or not all(_is_count(k) and k < rows for k in used):
        refuse(f"rows in use must be from 0 to {rows - 1}")
    refuse_unfit_choice(runner, facts.get("choice"))
    if hasattr(runner, "structures"):
        bits, structures = len(runner.structures.bits), facts.get("structures")
        if not isinstance(structures, list) or not structures or not _is_count(facts.get("drained")):
            refuse("its structures are incomplete")
        for one in structures:
            if not isinstance(one, (list, tuple)) or len(one) != 3 or len(one[0]) != bits:
                refuse("a structure does not fit the model")
            if not all(type(x) in (int, float) for x in (*one[0], one[2])):
                refuse("a structure does not fit the model")
            refuse_unfit_choice(runner, one[1])


def refuse_unfit_choice(runner, facts):
    """Refuse a choice of rows, coordinates and released elements that does not fit the model."""
    own = asdict(runner.choice)
    if not isinstance(facts, dict) or facts.keys() != own.keys():
        refuse("the choice of its equations is incomplete")
    size = max(len(runner.system.rows), runner.sizes["v"], len(runner.system.p)) + len(runner.system.q)
    indices = list(_leaves([facts[name] for name in ("released", "keep", "dependent")]))
    if not all(x is None or (type(x) is int and 0 <= x < size) for x in indices):
        refuse(f"the choice of its equations has indices above {size - 1}")
    if any(_as_lists(facts[name]) != _as_lists(own[name]) for name in ("map", "baumgarte", "needs")):
        refuse("it was made with other options")
    metric, mine = facts["metric"], own["metric"]
    chosen = isinstance(metric, (list, tuple)) and len(metric) == len(mine) and set(map(type, metric)) <= {list, tuple}
    if _as_lists(metric) != _as_lists(mine) and not (
        chosen and all(type(k) is int and 0 <= k < size for k in _leaves(metric))
    ):
        refuse("the metric of its projection does not fit the model")
    if not (type(facts["unit"]) is float and 0.0 < facts["unit"] < math.inf):
        refuse("its unit of length must be a positive number")
    if _form(_as_lists(facts["units"])) != _form(_as_lists(own["units"])):
        refuse("units of its rows do not fit the model")


def refuse_other_system(stored, derived, start_given):
    """Refuse a stored system that differs from the one derived from its model.

    start_given   whether the user gave the start: fields that depend on the start may then differ
    """
    old, new = (_as_lists(asdict(system)) for system in (stored, derived))
    for name in new:
        if old[name] == new[name] or (start_given and name in START_FIELDS):
            continue
        if name in ("rows", "declared", "layout", "sizes", "linear") or _form(old[name]) != _form(new[name]):
            refuse(f"{name} of the system does not fit the model")
    sizes = {"redundant": len(new["rows"]), "left_out": len(new["declared"])}
    for name, size in sizes.items():
        if not all(type(k) is int and 0 <= k < size for k in old[name]):
            refuse(f"{name} of the system must be indices from 0 to {size - 1}")


def _is_count(x):
    return type(x) is int and 0 <= x <= LARGEST_COUNT


def _leaves(x):
    """All items of nested lists."""
    if isinstance(x, (list, tuple)):
        for y in x:
            yield from _leaves(y)
    else:
        yield x


def _as_lists(x):
    """Nested data with lists instead of tuples, as JSON files store them."""
    if isinstance(x, dict):
        return {str(k): _as_lists(y) for k, y in x.items()}
    return [_as_lists(y) for y in x] if isinstance(x, (list, tuple)) else x


def _form(x):
    """The structure of nested data: texts and integers as they are, other numbers replaced by a placeholder."""
    if isinstance(x, dict):
        return {k: _form(y) for k, y in x.items()}
    if isinstance(x, list):
        return [_form(y) for y in x]
    return "a number" if isinstance(x, float) else x
