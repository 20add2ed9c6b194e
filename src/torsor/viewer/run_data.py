"""A result as the viewer plays it: poses, signals, reactions and events over time."""

from typing import Any

import numpy as np

from ..lie import pose_stacks
from .applied_loads import applied_loads
from .pack import pack
from .time_line import engagement_rows

MOST_EVENTS = 20_000  # whose names are listed
MOST_SIGNALS = 400  # curves of a page
PRECISE = 2e-7  # error of a position / size of the scene, above which 32 bits are not enough
EDGE = 2**-24  # relative rounding of numbers of 32 bits
LARGE_RUN, FRAMES = 300_000, 2_000  # poses of a run that comes in parts; frames of a part
ENERGIES = ("kinetic_energy", "potential_energy", "energy", "work", "energy_by_events")
DRIFTS = ("position_drift", "velocity_drift")


def run_data(data: Any, scenery: dict, precision: str = "precise", detailed: bool = True) -> dict[str, Any]:
    """One run.

    precision   of poses: "precise", or "d16" for a smaller file
    detailed    with velocities of bodies, and what acts on them
    """
    times = np.asarray(data["time"].values, float)
    reactions = _reactions(data, scenery)
    found = {
        "name": str(data.attrs.get("model", "run")),
        "times": pack(times, "f64"),
        "frames": len(times),
        **_poses(data, scenery["size"], precision),
        "signals": _signals(data),
        "events": _events(data),
        "rows": engagement_rows(data, scenery),
    }
    if reactions is not None:
        found["reactions"] = reactions
    return found | _details(data, scenery) if detailed else found


def _details(data, scenery):
    """Velocities of bodies, and the forces and torques on them besides gravity and reactions."""
    found = {}
    if "velocity" in data and "angular_velocity" in data:
        found["motion"] = {name: pack(data[name].values, "f32") for name in ("velocity", "angular_velocity")}
    loads = applied_loads(data, scenery)
    if loads is not None and any(np.nan_to_num(x).any() for x in loads):
        found["loads"] = {name: pack(x, "f32") for name, x in zip(("force", "torque"), loads)}
    return found


def _poses(data, size, precision):
    """Poses of all frames, or of a long run in parts, which the page decodes when it needs them."""
    frames = data.sizes["time"]
    if precision == "precise" or frames * data.sizes.get("body", 0) <= LARGE_RUN:
        return {"poses": _pack(data, size, precision)}
    parts = [(k, min(FRAMES, frames - k)) for k in range(0, frames, FRAMES)]
    chunks = [
        {"first": first, "frames": n, "poses": _pack(data.isel(time=slice(first, first + n)), size, precision)}
        for first, n in parts
    ]
    return {"chunks": chunks}


def _pack(data, size, precision):
    p = np.asarray(data["position"].values, float)
    q = steady_quaternions(np.asarray(data["rotation"].values, float))
    whole = np.isfinite(p).all() and np.isfinite(q).all()
    if precision == "d16" and whole:
        return {"p": pack(p, "d16"), "q": pack(q, "d16")}
    far = np.abs(p[np.isfinite(p)]).max(initial=0.0) * EDGE > PRECISE * size
    return {"p": pack(p, "f64" if far else "f32"), "q": pack(q, "f32")}


def steady_quaternions(R: np.ndarray) -> np.ndarray:
    """Quaternions (time, body, 4) of rotations, each on the side of the one before, so that one can interpolate."""
    q = pose_stacks.quaternions(R) if R.size else np.zeros((*R.shape[:-2], 4))
    if len(q) < 2:
        return q
    with np.errstate(invalid="ignore"):
        turned = np.sum(q[1:] * q[:-1], axis=-1) < 0
    signs = np.where(np.cumsum(turned, axis=0) % 2 == 1, -1.0, 1.0)
    q[1:] *= signs[..., None]
    return q


def _signals(data):
    found: list = []

    def add(name, group, unit, values, label=""):
        if len(found) < MOST_SIGNALS:
            entry = {"name": name, "group": group, "unit": unit, "label": label or name}
            found.append({**entry, "values": pack(values, "f32")})

    for names, group in ((ENERGIES, "energy"), (DRIFTS, "drift")):
        for name in names:
            if name in data:
                add(name.replace("_", " "), group, data[name].attrs.get("units", ""), data[name].values)
    for name, x in data.data_vars.items():
        plain = x.dims == ("time",) and x.dtype.kind in "fiub" and name not in (*ENERGIES, *DRIFTS)
        if plain and not str(name).endswith("_error"):
            add(str(name), "signal", x.attrs.get("units", ""), np.asarray(x.values, float))
    if "joint_coordinate" in data.dims:
        labels = list(map(str, data["joint_coordinate"].values))
        known = "coordinate_unit" in data.coords
        units = list(map(str, data["coordinate_unit"].values)) if known else [""] * len(labels)
        for what, group, per in (("coordinate", "coordinate", ""), ("rate", "rate", "/s")):
            if what in data:
                for k, (name, unit) in enumerate(zip(labels, units)):
                    add(name, group, unit + per, data[what].values[:, k], f"{name} {what}")
    return found


def _reactions(data, scenery):
    if "reaction_force" not in data or not data.sizes.get("joint"):
        return None
    number = {joint["name"]: k for k, joint in enumerate(scenery["joints"])}
    names = list(map(str, data["joint"].values))
    here = [k for k, name in enumerate(names) if name in number]
    if not here:
        return None
    return {
        "force": pack(data["reaction_force"].values[:, here], "f32"),
        "torque": pack(data["reaction_torque"].values[:, here], "f32"),
        "index": [number[names[k]] for k in here],
    }


def _events(data):
    """Events of a run, and singular positions of a prescribed motion."""
    found = []
    for kind, word in (("event", ""), ("singular", "singular position: ")):
        if f"{kind}_time" in data:
            times, names = data[f"{kind}_time"].values[:MOST_EVENTS], data[f"{kind}_name"].values[:MOST_EVENTS]
            found += [{"time": float(t), "name": word + str(name)} for t, name in zip(times, names)]
    return found
