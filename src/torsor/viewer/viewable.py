"""Pages of models, results, linear models, equilibria, assemblies and simulations: each becomes the data of a page."""

from typing import Any

import numpy as np

from ..analysis.assembly.assembly import Assembly
from ..analysis.linear.linear_model import LinearModel
from ..analysis.linear.modes import Mode
from ..analysis.statics.equilibrium import Equilibrium
from ..elements import quantity
from ..errors import OptionError
from ..lie import pose_stacks
from ..model.model import Model
from ..scene.scene import scene
from ..stepping import Simulation
from .mode_shapes import mode_shapes
from .page_data import model_data, page_data, scene_of_result, with_poses

MOST_RUNS = 8  # of a study that are shown together
ALLOWED = "a torsor.Model, a result, a linear model or its modes, an equilibrium, an assembly or a torsor.Simulation"


def data_of(
    what: Any, owner: str, model: Any = None, compare: Any = None, parameters: dict | None = None
) -> dict[str, Any]:
    """The data of the page that shows something; owner: the function that was called, for messages; parameters: of a model."""
    if model is not None and not isinstance(model, Model):
        raise OptionError(f"{owner}: model must be a torsor.Model, got {quantity.show(model)}")
    if _is_result(what):
        return _results(what, owner, model, compare)
    if compare is not None:
        raise OptionError(f"{owner}: compare= needs a result to compare with, got {quantity.show(what)}")
    if isinstance(what, Model):
        return model_data(what, parameters)
    if isinstance(what, Simulation):
        return _simulation(what)
    if isinstance(what, LinearModel):
        return _modes(what.modes, what.model, owner, what.stability if what.steady else "about a motion")
    if isinstance(what, Mode) or (isinstance(what, (list, tuple)) and what and all(isinstance(x, Mode) for x in what)):
        return _modes([what] if isinstance(what, Mode) else list(what), model, owner, "")
    if isinstance(what, Equilibrium):
        found = what.data
        scenery = with_poses(scene(what.model, what.parameters), found["position"].values, found["rotation"].values)
        return page_data(
            scenery, [], info={"accuracy": {"residual": f"{what.residual:.2e}", "stability": what.stability}}
        )
    if isinstance(what, Assembly):
        return _assembly(what, model, owner)
    raise OptionError(f"{owner}: give {ALLOWED}, got {quantity.show(what)}")


def _is_result(what):
    return hasattr(what, "data_vars") and hasattr(what, "dims")


def _results(what, owner, model, compare):
    """A result with others to compare, or the runs of a study."""
    runs = _runs(what, owner)
    if compare is not None:
        several = compare if isinstance(compare, (list, tuple)) else [compare]
        for other in several:
            if not _is_result(other):
                raise OptionError(
                    f"{owner}: compare must be a result, or a list of results, got {quantity.show(other)}"
                )
            runs += _runs(other, owner)
    scenery = scene_of_result(runs[0], model)
    names = [b["name"] for b in scenery["bodies"]]
    for other in runs[1:]:
        if list(map(str, other["body"].values)) != names:
            raise OptionError(
                f"{owner}: compare= is a result of another model: its bodies are not those of {scenery['name']!r}"
            )
    return page_data(scenery, runs)


def _runs(data, owner):
    """A result over time as a list; of a study its first runs."""
    if "sweep" in data.dims and "time" not in data.dims:
        data = data.rename(sweep="time")
        if "time" not in data.coords:
            data = data.assign_coords(time=np.arange(data.sizes["time"], dtype=float))
        if "singular_value" in data and "drive_value" in data:
            data["singular_time"] = (
                "singular",
                _places_in_sweep(data["drive_value"].values, data["singular_value"].values),
            )
    missing = [name for name in ("position", "rotation") if name not in data]
    if missing or "time" not in data.dims:
        lacks = missing[0] if missing else "output times"
        raise OptionError(f"{owner}: this result has no {lacks}, so that nothing can be drawn of it")
    if "run" in data.dims:
        return [data.isel(run=k).assign_attrs(model=f"run {k}") for k in range(min(data.sizes["run"], MOST_RUNS))]
    return [data]


def _places_in_sweep(path, values):
    """Where on a path of driven coordinates (position, drive) given values (…, drive) are, in positions from 0 on."""
    steps = np.diff(path, axis=0)
    squares = np.maximum(np.sum(steps**2, axis=1), 1e-300)
    found = []
    for value in values:
        share = np.clip(np.sum((value - path[:-1]) * steps, axis=1) / squares, 0, 1)
        k = int(np.argmin(np.sum((path[:-1] + share[:, None] * steps - value) ** 2, axis=1))) if len(steps) else 0
        found.append(k + (float(share[k]) if len(steps) else 0.0))
    return np.array(found, float)


def _modes(modes, model, owner, stability):
    if model is None:
        raise OptionError(f"{owner}: a mode does not know its model: give it too (model=…), or give the linear model")
    if not modes:
        raise OptionError(f"{owner}: the linear model has no modes: it has no states")
    shapes = modes[0]._shapes
    scenery = with_poses(scene(model), shapes.position, shapes.rotation)
    info = {"accuracy": {"stability": stability}} if stability else {}
    return page_data(scenery, [], mode_shapes(modes), info)


def _assembly(what, model, owner):
    """One configuration, or several as frames; poses are those of the bodies' frames."""
    if model is None:
        raise OptionError(f"{owner}: an assembly does not know its model: give it too (model=…)")
    centers = {body.name: np.asarray(body.center, float) for body in model.bodies}
    poses = np.array([what.poses[name] for name in centers])  # body, …, 4, 4
    R, x = pose_stacks.split(poses)
    p = x + np.array([R[k] @ c for k, c in enumerate(centers.values())])
    if poses.ndim == 3:
        scenery = with_poses(scene(model, what.parameters), p, R)
        return page_data(scenery, [], info={"degrees_of_freedom": int(what.freedom)})
    import xarray as xr

    frames = int(np.prod(poses.shape[1:-2]))
    p, R = np.moveaxis(p.reshape(len(p), frames, 3), 0, 1), np.moveaxis(R.reshape(len(R), frames, 3, 3), 0, 1)
    variables = {"position": (("time", "body", "axis"), p), "rotation": (("time", "body", "row", "column"), R)}
    data = xr.Dataset(variables, {"time": np.arange(float(frames)), "body": list(centers)})
    return page_data(scene(model, what.parameters), [data])


def _simulation(sim):
    """A simulation as it is now."""
    motion = sim.state.motion
    return page_data(with_poses(scene(sim.model), motion["position"], motion["rotation"]), [])
