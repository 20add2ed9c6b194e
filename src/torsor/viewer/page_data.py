"""The data of a page of the viewer, as one dictionary for JSON: a scene and the runs in it."""

import json
from typing import Any

import numpy as np

from ..errors import OptionError, ResultError
from ..lie import pose_stacks
from ..scene.scene import scene
from .body_graph import body_graph, redundant_rows
from .meshes import with_meshes
from .model_pose import start_motion
from .run_data import run_data

FORMAT, VERSION = "torsor-view", 1
LARGEST_FILE = 2_000_000  # bytes that a page should have at most: poses become less precise where it would have more
PAGE_SIZE = 1_000_000  # bytes of a page without data
DETAILS = 12 * 5  # bytes of velocities and loads of one pose


def page_data(
    scenery: dict[str, Any], runs: list, modes: list | None = None, info: dict | None = None
) -> dict[str, Any]:
    """All that a page shows.

    scenery   a scene, as `torsor.scene` makes it
    runs      datasets: the run, and others to compare with it
    modes     mode shapes, as `mode_shapes` makes them
    info      further entries of the table about the model
    """
    attributes = dict(runs[0].attrs) if runs else {}
    redundant = redundant_rows(attributes) if runs else list((info or {}).get("redundant", []))
    named: dict[str, list] = {r["constraint"]: [] for r in redundant}
    for r in redundant:
        named[r["constraint"]].append(r["direction"])
    scenery, meshes, notes = with_meshes(scenery)
    joints = [{**j, "redundant": named.get(j["name"], [])} for j in scenery["joints"]]
    data = {
        "format": FORMAT, "version": VERSION, **scenery, "subtitle": _subtitle(attributes), "up": up_axis(scenery["gravity"]),
        "joints": joints, "meshes": meshes, "graph": body_graph(scenery, set(named)),
        "info": _info(attributes, redundant, notes, info or {}, runs[0] if runs else None),
    }  # fmt: skip
    used = len(json.dumps(data))
    sized = sum(7 * r.sizes["time"] * r.sizes.get("body", 0) for r in runs) * 5 + used + PAGE_SIZE
    precision = "d16" if sized > LARGEST_FILE else "precise"
    detailed = sized + sum(DETAILS * r.sizes["time"] * r.sizes.get("body", 0) for r in runs) <= LARGEST_FILE
    data["runs"] = [run_data(r, scenery, precision, detailed) for r in runs]
    if modes:
        data["modes"] = modes
    return data


def scene_of_result(data: Any, model: Any = None) -> dict[str, Any]:
    """The scene of a result: that of the model, where it is given, or the one that the result contains, or one that is made of its
    bodies alone."""
    if model is not None:
        found = scene(model)
    elif "scene" in data.attrs:
        try:
            found = json.loads(data.attrs["scene"])
        except ValueError:
            raise ResultError("the result's scene is damaged: give the model, too (model=…)") from None
    else:
        return _bare_scene(data)
    names = [b["name"] for b in found["bodies"]]
    if "body" in data.dims and list(map(str, data["body"].values)) != names:
        bodies = {b["name"]: b for b in found["bodies"]}
        missing = [str(n) for n in data["body"].values if str(n) not in bodies]
        what = f"the model has no body {missing[0]!r}" if missing else "its bodies are others than those of the model"
        raise OptionError(f"the result is not one of this model: {what}")
    return found


def _bare_scene(data):
    """A scene for a result that has none, as of an earlier version: boxes where its bodies are."""
    positions = np.nan_to_num(np.asarray(data["position"].values, float)) if "position" in data else np.zeros((1, 0, 3))
    first = positions[0] if len(positions) else np.zeros((0, 3))
    extent = float(np.ptp(positions.reshape(-1, 3), axis=0).max()) if positions.size else 0.0
    size = extent if extent > 0 else 1.0
    q = pose_stacks.quaternions(data["rotation"].values[0]).tolist() if len(first) and "rotation" in data else None
    box = {
        "kind": "box",
        "size": [0.1 * size, 0.07 * size, 0.05 * size],
        "p": [0, 0, 0],
        "q": [1, 0, 0, 0],
        "colour": None,
    }
    names = (
        [str(name) for name in data["body"].values]
        if "body" in data.coords
        else [f"body {k}" for k in range(len(first))]
    )
    bodies = [
        {
            "name": name, "p": p.tolist(), "q": q[k] if q else [1, 0, 0, 0], "mass": 0.0,
            "ellipsoid": {"semi": [0, 0, 0], "q": [1, 0, 0, 0]}, "shapes": [{**box, "made": True}],
        }
        for k, (name, p) in enumerate(zip(names, first))
    ]  # fmt: skip
    name = str(data.attrs.get("model", "result"))
    return {
        "name": name, "size": size, "gravity": [0.0, 0.0, 0.0], "bodies": bodies, "ground": [], "joints": [], "forces": [],
        "notes": ["the result has no scene: its bodies are boxes and its joints are not drawn; give the model, too"],
    }  # fmt: skip


def up_axis(gravity: Any) -> list[int]:
    """The axis that points up: against gravity, else z."""
    g = np.asarray(gravity, float)
    k = int(np.argmax(np.abs(g)))
    if not g.any():
        return [0, 0, 1]
    up = [0, 0, 0]
    up[k] = -1 if g[k] > 0 else 1
    return up


def _subtitle(attributes):
    parts = []
    if "method" in attributes:
        parts.append(f"{attributes['method']}, {attributes.get('formulation', '')} coordinates")
    if str(attributes.get("status", "finished")) != "finished":
        parts.append(str(attributes["status"]))
    if "interrupted_by" in attributes:
        parts.append(f"interrupted by {attributes['interrupted_by']}")
    return ", ".join(parts)


ACCURACY = {
    "energy balance, relative": "energy_balance_relative", "position drift": "position_drift_max",
    "velocity drift": "velocity_drift_max", "orthogonality": "orthogonality", "steps": "steps", "rejections": "rejections",
    "events": "events", "smallest pivot (0: singular position)": "smallest_pivot",
}  # fmt: skip


def _info(attributes, redundant, notes, more, data=None):
    from .. import __version__

    notes = list(notes)
    made_by = str(attributes.get("torsor", __version__))
    if made_by != __version__:
        notes.append(f"the result is of torsor {made_by}, shown by {__version__}")
    notes += _singular_positions(data)
    accuracy = {
        label: f"{attributes[name]:.3g}" for label, name in ACCURACY.items() if _is_number(attributes.get(name))
    }
    freedom = attributes.get("degrees_of_freedom")
    found = {
        "degrees_of_freedom": None if freedom is None else int(freedom), "redundant": redundant, "notes": notes,
        "accuracy": accuracy,
    }  # fmt: skip
    return {**found, **more, "notes": notes + list(more.get("notes", []))}


def _singular_positions(data):
    """Notes on the singular positions of a prescribed motion, or of a sweep over driven coordinates."""
    if data is None or "singular_name" not in data:
        return []
    names = [str(name) for name in data["singular_name"].values]
    if "drive_value" in data and "drive" in data.coords:
        drives, values = data["drive"].values, data["singular_value"].values
        at = [", ".join(f"{drive} = {x:.6g}" for drive, x in zip(drives, row)) for row in values]
    else:
        at = [f"t = {t:.6g} s" for t in data["singular_time"].values]
    return [f"singular position at {place}: {name}" for place, name in zip(at, names)]


def facts_of_result(data: Any) -> dict[str, Any]:
    """Degrees of freedom, redundant constraints and measures of accuracy of a result, by name."""
    found = _info(data.attrs, redundant_rows(data.attrs), [], {})
    redundant = "; ".join(f"{row['constraint']}: {row['direction']}" for row in found["redundant"])
    facts = {"degrees of freedom": found["degrees_of_freedom"], "redundant constraints": redundant}
    return {**facts, **found["accuracy"], "note": "; ".join(found["notes"])}


def _is_number(x):
    return isinstance(x, (int, float, np.number)) and not isinstance(x, bool)


def model_data(model: Any, parameters: dict | None = None) -> dict[str, Any]:
    """The page of a model as it starts."""
    scenery = scene(model, parameters)
    motion, info = start_motion(model, parameters)
    if motion is not None:
        scenery = with_poses(scenery, motion["position"], motion["rotation"])
    return page_data(scenery, [], info=info)


def with_poses(scenery: dict[str, Any], position: np.ndarray, rotation: np.ndarray) -> dict[str, Any]:
    """A scene with its bodies at these positions (body, 3) and rotations (body, 3, 3)."""
    q = pose_stacks.quaternions(np.asarray(rotation))
    bodies = [{**b, "p": x.tolist(), "q": r.tolist()} for b, x, r in zip(scenery["bodies"], np.asarray(position), q)]
    return {**scenery, "bodies": bodies}
