"""The error of a result, measured by its difference from a second, finer run.

A run y of tolerance τ (or step h) and one, z, of τ/10 (or h/2) have errors e(y) ≈ C τ (or C hᵖ), so that

    e(y) = |y − z| · 10/9,            adaptive steps                        (1)
    e(y) = |y − z| · 2ᵖ/(2ᵖ − 1),     fixed steps, a method of order p      (2)

The second run has all outputs of the first and the times half way between them, so that steps which are as long as outputs allow
are halved too. Where both runs agree to rounding, rounding is the error.
"""

import json

import numpy as np

from ..errors import OptionError
from .dataset import UNITS

FINER = 10.0  # by which the tolerance of the second run is smaller
ROUGHEST = 1e-13  # tolerance from which on rounding decides; there the second run is the coarser one
TRUSTED = 1e-3  # of the model's size, and rad: the accuracy that defines how long a result can be trusted
SATURATED = 0.1  # of the model's size, and rad: differences of this size do not grow any more
EPSILON = 2.0**-52
NEAR = 1e3 * EPSILON  # errors below this, relative to the largest value, are called rounding

ERROR_KINDS = (  # what the summary speaks of, line by line: variable, words, unit
    {"position": ("positions", "m"), "rotation": ("angles", "rad"), "event_time": ("event times", "s")},
    {"velocity": ("velocities", "m/s"), "angular_velocity": ("angular velocities", "rad/s")},
)
VECTORS = (
    "position",
    "velocity",
    "acceleration",
    "angular_velocity",
    "angular_acceleration",
    "reaction_force",
    "reaction_torque",
)
LEFT_OUT = ("position_drift", "velocity_drift")  # errors themselves


def finer(tolerance, step):
    """Tolerance and step of the second run."""
    if step is not None:
        return tolerance, step / 2
    return (tolerance / FINER if tolerance >= ROUGHEST else tolerance * FINER), None


def refine_times(times):
    """Output times of the second run."""
    before = np.concatenate([[0.0], times[:-1]])
    return np.unique(np.concatenate([times, before + (times - before) / 2]))


def factor(order, step):
    """By which a difference is multiplied to be the error: (1), (2)."""
    return FINER / (FINER - 1) if step is None else 2.0**order / (2.0**order - 1)


def refuse_names(names):
    """Refuse signals and records that have the name of a variable that a certificate adds."""
    added = {f"{name}_error" for name in (*UNITS, *names)} | {"motion_error"}
    if taken := sorted(added & set(names)):
        raise OptionError(f"certify: signal {taken[0]!r} has the name of a measured error; choose another name")


def _has_error(variable):
    dims = variable.dims
    return variable.name not in LEFT_OUT and variable.dtype.kind == "f" and ("time" in dims or "event" in dims)


def with_errors(data, other, factor, size):
    """A result with its measured errors: from `other`, the second run, and the factor of (1) or (2); size: length, mass and time
    of the model, for variables that are zero.

    Adds for every variable NAME a variable NAME_error, the largest error over time (of an event: of each event), `motion_error`
    over time, and attributes.
    """
    matched = _matches(data, other)
    seen = _comparable(data, other, matched)
    found, largest = {}, {}
    for name in data.data_vars:
        if not _has_error(data[name]):
            continue
        if "event" in data[name].dims:
            error = _at_events(data[name], other[name], matched) * factor
            dims, size_of = data[name].dims, np.nanmax(error, initial=0.0)
        else:
            change = _over_time(data, other, name, seen) * factor
            dims = tuple(d for d in data[name].dims if d not in ("time", "column", "row"))
            size_of = np.linalg.norm(change, axis=-1).max(initial=0.0) if name in VECTORS else change.max(initial=0.0)
            error = change.max(axis=0, initial=0.0)
        floor = EPSILON * (np.nanmax(np.abs(data[name].values), initial=0.0) or _unit(name, *size))
        found[f"{name}_error"] = (dims, np.maximum(error, floor))  # NaN stays
        largest[f"{name}_error_max"] = float(max(size_of, floor))
    motion = _motion(data, other, seen, size[0]) * factor
    found["motion_error"] = (("time",), motion)
    result = data.assign(found)
    for name in found:
        of = name.removesuffix("_error")
        result[name].attrs["long_name"] = f"measured error of {of}" + (", largest over time" if of in data else "")
        if of in data and "units" in data[of].attrs:
            result[name].attrs["units"] = "rad" if of == "rotation" else data[of].attrs["units"]
    result["motion_error"].attrs["long_name"] = "largest error of a position over model_length, or of an angle in rad"
    result["motion_error"].attrs["units"] = "1"
    return result.assign_attrs(largest | _growth(result) | _sequence(data, other, matched))


def _over_time(data, other, name, seen):
    """Absolute differences (time, …) of a variable at the outputs that are compared."""
    count = len(seen)
    x, y = data[name].values[:count][seen], other[name].values[:count][seen]
    if name == "rotation":
        return _angle(x, y)
    if "constraint" in data[name].dims:
        y = _rows(y, other["constraint"].values, data["constraint"].values)
    if name == "coordinate":
        return _angle_differences(x, y, data["joint_coordinate"].values, data["coordinate_unit"].values)
    return np.abs(x - y)


def _angle(x, y):
    """Angle between rotation matrices: ‖R − S‖ = 2 √2 sin(θ/2)."""
    return 2 * np.arcsin(np.minimum(1.0, np.linalg.norm(x - y, axis=(-2, -1)) / np.sqrt(8.0)))


def _angle_differences(x, y, labels, units):
    """Differences of joint coordinates. A rotation vector w is as good as w (1 − 2π/|w|): the nearer one counts."""
    y = y.copy()
    names = [label.rsplit("[", 1)[0] if label.endswith("]") else label for label in labels.tolist()]
    for k in range(len(names) - 2):
        if names[k] == names[k + 2] and set(units[k : k + 3]) == {"rad"}:
            w = y[:, k : k + 3]
            length = np.linalg.norm(w, axis=1, keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                twin = np.where(length > 0, w * (1 - 2 * np.pi / length), w)
            nearer = np.linalg.norm(x[:, k : k + 3] - twin, axis=1) < np.linalg.norm(x[:, k : k + 3] - w, axis=1)
            y[nearer, k : k + 3] = twin[nearer]
    return np.abs(x - y)


def _rows(values, have, want):
    """Values of constraint rows in another order; rows that were not in use have no multiplier."""
    place = {label: k for k, label in enumerate(have.tolist())}
    out = np.zeros((len(values), len(want)))
    for k, label in enumerate(want.tolist()):
        if label in place:
            out[:, k] = values[:, place[label]]
    return out


def _motion(data, other, seen, length):
    """Largest error of any position over the size of the model, or of any angle, at each output; NaN where not compared."""
    out = np.full(data.sizes["time"], np.nan)
    moved = np.linalg.norm(_over_time(data, other, "position", seen), axis=-1) / length
    turned = _over_time(data, other, "rotation", seen)
    out[: len(seen)][seen] = np.maximum(moved, turned).max(axis=1, initial=EPSILON)
    return out


def _matches(data, other):
    """For each event the place of its counterpart in the second run, the n-th of a name for the n-th; −1 without one."""
    if "event_name" not in data:
        return None
    places: dict = {}
    for k, name in enumerate(other["event_name"].values.tolist()):
        places.setdefault(name, []).append(k)
    used = dict.fromkeys(places, 0)
    found = []
    for name in data["event_name"].values.tolist():
        n = used.get(name, 0)
        found.append(places[name][n] if n < len(places.get(name, ())) else -1)
        used[name] = n + 1
    return np.array(found, int)


def _at_events(variable, other, matched):
    """Differences at events, NaN without a counterpart."""
    x, y = variable.values, other.values
    if "constraint" in variable.dims:
        y = _rows(y, other["constraint"].values, variable["constraint"].values)
    out = np.full(x.shape, np.nan)
    has = matched >= 0
    out[has] = np.abs(x[has] - y[matched[has]])
    return out


def _comparable(data, other, matched):
    """Which of the outputs that both runs have are compared: not those between an event and its counterpart, where one run
    shows the state before the event and the other the one after it."""
    count = min(data.sizes["time"], other.sizes["time"])
    seen, times = np.ones(count, bool), data["time"].values[:count]
    if matched is not None:
        for k in np.flatnonzero(matched >= 0):
            ends = sorted((data["event_time"].values[k], other["event_time"].values[matched[k]]))
            seen[np.searchsorted(times, ends[0]) : np.searchsorted(times, ends[1])] = False
    return seen


def _unit(name, length, mass, time):
    """A size of a variable that is zero, from length, mass and time of the model."""
    speed, force = length / time, mass * length / time**2
    return {
        "position": length, "rotation": 1.0, "velocity": speed, "acceleration": speed / time, "angular_velocity": 1 / time,
        "angular_acceleration": 1 / time**2, "reaction_force": force, "reaction_torque": force * length,
        "kinetic_energy": force * length, "potential_energy": force * length, "energy": force * length, "work": force * length,
        "event_time": time,
    }.get(name, EPSILON)  # fmt: skip


def _growth(data):
    """How long a result can be trusted, and how fast errors double where they grow exponentially."""
    t, error = data["time"].values, data["motion_error"].values
    some = np.isfinite(error)
    t, error = t[some], np.maximum.accumulate(error[some]) if some.any() else error[some]
    facts = {"trusted_accuracy": TRUSTED, "trusted_until": data.attrs["time_reached"]}
    beyond = np.flatnonzero(error > TRUSTED)
    if beyond.size:
        facts["trusted_until"] = float(t[beyond[0] - 1]) if beyond[0] else 0.0
    saturated = np.flatnonzero(error > SATURATED)
    end = saturated[0] if saturated.size else len(t) - 1
    if end < 8:
        return facts
    # twice in a row by more than any power of time that errors of a regular motion grow with
    middle, later = (np.searchsorted(t, part * t[end]) for part in (0.5, 0.75))
    if error[later] > 5 * error[middle] and error[end] > 5 * error[later] and error[end] > 100 * error[middle]:
        facts["error_doubling_time"] = float((t[end] - t[middle]) * np.log(2) / np.log(error[end] / error[middle]))
    return facts


def _sequence(data, other, matched):
    """True if both runs met the same events, in words."""
    if matched is None:
        return {}
    facts = {"events_unmatched": int((matched < 0).sum()) + other.sizes["event"] - int((matched >= 0).sum())}
    first, second = data["event_name"].values.tolist(), other["event_name"].values.tolist()
    if facts["events_unmatched"]:
        counts = {name: (first.count(name), second.count(name)) for name in dict.fromkeys(first + second)}
        different = [f"{name!r} {a} against {b} times" for name, (a, b) in counts.items() if a != b]
        facts["event_sequence"] = f"different in the second run: {', '.join(different)}"
    else:
        facts["event_sequence"] = "the same in both runs"
    return facts


def words(data):
    """The certificate for a person: lines of text."""
    a = data.attrs
    if "certified_by" not in a:
        return ["not measured; `certify=True` or `--certify` measures it by a second run"]
    lines = [line for line in (_measures(data, kinds) for kinds in ERROR_KINDS) if line]
    lines.append(f"measured against {a['certified_by']}")
    if a.get("events_unmatched"):
        lines.append(f"events are {a['event_sequence']}")
    return lines + trust(a)


def _measures(data, kinds):
    """Errors of several kinds of variables; nothing of those that there are none of, or that stand still."""
    parts = []
    for name, (what, unit) in kinds.items():
        moving = "angular_velocity" if name == "rotation" else name
        if name in data and data[name].size and (name == "position" or data[moving].values.any()):
            error, size = data.attrs[f"{name}_error_max"], np.abs(data[name].values).max()
            size = max(size, data.attrs["model_length"]) if name == "position" else size
            parts.append(f"{what} to {'rounding' if error <= NEAR * size else f'{error:.1g} {unit}'}")
    return ", ".join(parts)


def trust(a):
    """How long a result can be trusted, where that is worth telling."""
    doubles = (
        f"errors double every {a['error_doubling_time']:.2g} s (chaotic motion): " if "error_doubling_time" in a else ""
    )
    if a["trusted_until"] < a["time_reached"]:
        size = f"{a['trusted_accuracy']:g} of the model's size and {a['trusted_accuracy']:g} rad"
        return [f"{doubles}to {size} it can be trusted until t = {a['trusted_until']:.6g} s"]
    return [f"{doubles}to the end they stay below {a['trusted_accuracy']:g}"] if doubles else []


def second_run_text(options):
    """What a result was measured against, in words."""
    o = json.loads(options)
    return (
        f"a run with steps of {o['step']:g} s" if o["step"] is not None else f"a run at tolerance {o['tolerance']:.1g}"
    )
