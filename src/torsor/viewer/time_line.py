"""When switchable constraints are engaged, as rows of the viewer's time line.

A constraint changes between engaged and released only at events. Of a joint that only events of the model switch, the state follows
from these events and from the model's start (0). Otherwise it is known between two events

    from its multipliers, which a result has at its outputs: exactly 0 while it is released                                (1)
    from its own event at the end: one that opens it was engaged before, one that closes it was released                   (2)
    from its own event at the beginning, where that always leads to the same state                                         (3)

Where none of them is known, the state is that before and after, if these are the same; otherwise this part of the row is a gap.
"""

import json
from typing import Any

import numpy as np

from .touching import touching_rows

BEFORE = {
    "lift": True,
    "slide": True,
    "touch": False,
    "lower": False,
    "upper": False,
    "stick": False,
    "break": True,
}  # (2)
AFTER = {"lift": False, "slide": False, "stick": True, "break": False}  # (3)
FRICTION = ("stick", "slide", "reverse")
SURE = 1e-13  # multiplier / largest one of the constraint, above which it is not rounding


def engagement_rows(data: Any, scenery: dict) -> list[dict[str, Any]]:
    """One row for each constraint and force that events switch, and for each contact, with the spans of time in which it is
    engaged."""
    if not data.sizes.get("time"):
        return []
    known = "multiplier" in data and "constraint" in data.coords
    labels = [str(x).rpartition("[")[0] or str(x) for x in data["constraint"].values] if known else []
    times = np.asarray(data["time"].values, float)
    moments, names = np.zeros(0), []
    if "event_time" in data:
        moments, names = np.asarray(data["event_time"].values, float), list(map(str, data["event_name"].values))
    found = []
    elements = (*scenery["joints"], *scenery.get("undrawn", ()), *scenery.get("forces", ()))
    switchable = {j["name"]: j for j in elements if j.get("switchable")}
    from_model = _uses_model_start(data)
    for name, joint in switchable.items():
        if from_model and "switches" in joint:
            spans = _switched_spans(joint, times, moments, names)  # (0)
            found.append({"name": name, "spans": spans, "gaps": []})
            continue
        columns = [k for k, label in enumerate(labels) if label == name]
        multipliers = None
        if columns:
            multipliers = np.abs(np.asarray(data["multiplier"].values[:, columns], float)).max(axis=1)
        found.append({"name": name, **_row(name, joint.get("watched", False), multipliers, times, moments, names)})
    return found + touching_rows(data, scenery)


def _uses_model_start(data):
    """True unless the run began from a state that was given."""
    try:
        return json.loads(data.attrs.get("options", "{}")).get("start") is None
    except (ValueError, AttributeError):
        return False


def _switched_spans(joint, times, moments, names):
    """Spans between the events that engage a constraint and those that release it, in the order in which they happened."""
    after = {name: engaged for name, engaged in joint["switches"]}
    engaged, since = joint["acts"], float(times[0])
    spans: list[list[float]] = []
    for moment, name in zip(moments.tolist(), names):
        if after.get(name, engaged) == engaged:
            continue
        if engaged and moment > since:
            spans.append([since, moment])
        engaged, since = not engaged, moment
    if engaged and times[-1] >= since:
        spans.append([since, float(times[-1])])
    return spans


def _row(name, watched, multipliers, times, moments, names):
    """Spans in which one constraint is engaged; multipliers: None where the result has none of it."""
    seen = multipliers is not None
    multipliers = multipliers if seen else np.zeros(len(times))
    own = [n.rpartition(".")[2] if n.rpartition(".")[0] == name else "" for n in names]
    loaded = multipliers > SURE * np.nanmax(multipliers, initial=0.0)
    edges = np.unique(np.concatenate([times[:1], moments, times[-1:]]))
    here: dict[float, list[str]] = {}
    for moment, verb in zip(moments, own):
        if verb:
            here.setdefault(float(moment), []).append(verb)
    first, last = np.searchsorted(times, edges, "right"), np.searchsorted(times, edges, "left")
    states: list[bool | None] = []
    # A constraint that is never loaded: (1) does not apply.
    silent = seen and not loaded.any() and (not watched or any(v in FRICTION for v in own))
    for k in range(len(edges) - 1):
        inside = loaded[first[k] : last[k + 1]]
        begins = [AFTER[v] for v in here.get(float(edges[k]), ()) if v in AFTER]
        ends = [BEFORE[v] for v in here.get(float(edges[k + 1]), ()) if v in BEFORE]
        if inside.any():
            states.append(True)  # (1)
        elif begins or ends:
            states.append(begins[-1] if begins else ends[0])  # (3), (2)
        else:
            states.append(False if seen and len(inside) and not silent else None)  # (1)
    return _join_spans(edges, states)


def _join_spans(edges, states):
    """Spans of the states between edges, and gaps. A state that is not known is that of both neighbours, or else a gap."""
    spans: list[list[float]] = []
    gaps: list[list[float]] = []
    state = None
    for k, found in enumerate(states):
        if found is not None:
            state = found
        elif next((x for x in states[k:] if x is not None), None) != state:
            state = None
        start, end = float(edges[k]), float(edges[k + 1])
        if state is False:
            continue
        target = gaps if state is None else spans
        if target and target[-1][1] == start:
            target[-1][1] = end
        else:
            target.append([start, end])
    return {"spans": spans, "gaps": gaps}
