"""Summary of a run as text: work, accuracy, events."""

import json

from . import certificate
from .dataset import unique_joints
from .text_format import list_items, many, seconds, table, wrap_names


def summary(data):
    """How a run went, for a person: work, accuracy, and what was noticed about the model."""
    a = data.attrs
    options = json.loads(a["options"])
    control = f"step {options['step']:g} s" if options["step"] is not None else f"tolerance {options['tolerance']:g}"
    chosen = ", ".join([options["method"], control, f"{options['map']} map", options["projection"]])
    first, *rest = wrap_names([f"{a['formulation']}: {a['formulation_reason']}"], "")
    why = wrap_names([a["method_reason"]], "") if a.get("method_reason") else []
    ending = "" if a["status"] == "finished" else f" of {options['until']:g} s"
    rows = [
        ("time", f"{a['time_reached']:g} s{ending} in {seconds(a['wall_seconds'])}, {data.sizes['time']} outputs"),
        ("preparation", f"{seconds(a['prepare_seconds'])} (compile, or load from the cache)"),
        ("method", chosen),
        *[("", f"  {line}") for line in why],
        ("formulation", first),
        *[("", f"  {line}") for line in rest],
        ("steps", f"{a['steps']}, {a['rejections']} rejected, {a['evaluations']} evaluations{_cut(a)}"),
        *[("accuracy" if k == 0 else "", line) for k, line in enumerate(certificate.words(data))],
        ("energy balance", _balance(a)),
        ("drift", f"position {a['position_drift_max']:.2e}, velocity {a['velocity_drift_max']:.2e}"),
        ("orthogonality", f"{a['orthogonality']:.2e}"),
        ("freedom", many(a["degrees_of_freedom"], "degree", "degrees")),
    ]
    if "events" in a:
        rows += _event_summary(data)
    changes, redundant = json.loads(a["start_changes"]), json.loads(a["redundant_constraints"])
    shared = data["joint"].values[~unique_joints(data)].tolist()
    rows += list_items("start", changes, "change to make it consistent", "changes to make it consistent")
    rows += list_items("redundant", redundant, "constraint left out", "constraints left out")
    if shared:
        opening = f"not unique in {len(shared)} of {data.sizes['joint']} joints: {shared[0]}"
        first, *rest = wrap_names([opening, *shared[1:24]], "")
        rows += [("reactions", first), *[("", f"  {line}") for line in rest]]
        rows += [("", f"  and {len(shared) - 24} more")] if len(shared) > 24 else []
    return "\n".join([f"{a['model']}: {a['status']}", *table(rows)])


def _cut(a):
    return f"; {a['cut_steps']} cut into parts, since Newton's method did not converge" if a.get("cut_steps") else ""


def _balance(a):
    size = f"{a['energy_balance_error']:.2e} J, relative {a['energy_balance_relative']:.2e}"
    if "energy_balance_lost" in a:
        return f"LOST from t = {a['energy_balance_lost']:.6g} s on: off by {size}"
    return f"closes to {size}: a check, not the error"


def _event_summary(data, shown=8):
    """How many events there were, what they cost, and the first of them."""
    a, times, names = data.attrs, data["event_time"].values, data["event_name"].values
    energy = f", energy changed by {a['energy_of_events']:.4g} J" if a["energy_of_events"] else ""
    structures = f", {a['structures']} structures" if a["structures"] > 1 else ""
    rows = [("events", f"{a['events']}{energy}{structures}")]
    rows += [("", f"  {time:<12.9g} s  {name}") for time, name in zip(times[:shown], names)]
    return rows + ([("", f"  and {len(times) - shown} more")] if len(times) > shown else [])
