"""The one function that most users call."""

import time as clock
import warnings
from collections.abc import Mapping

import casadi as ca
import numpy as np

from . import quantity
from .errors import OptionError, RunError
from .model import Model
from .registry import lookup
from .run.projections import Projection

MAPS = ("exp", "cayley")
TOLERANCE, LOCATING = 1e-9, 1e-11  # default tolerances; the time of an event is as exact as the motion that leads to it


def simulate(
    model: Model,
    until: float,
    outputs=200,
    step: float | None = None,
    method: str = "rkmk54",
    formulation: str = "absolute",
    projection: str | Projection = "least-squares",
    tolerance: float | None = None,
    map: str = "exp",
    signals: dict | None = None,
    parameters: dict | None = None,
    progress: bool | None = None,
):
    """Simulate a model from time 0 and return an xarray.Dataset.

    until        end time [s]
    outputs      array of times, or a number of equal intervals from 0 to `until`
    step         fixed step [s]; shortened so that outputs are met exactly. None: adaptive, for methods that can
    method       key of an integrator, see `torsor.registered("integrator")`
    formulation  "absolute", "relative", "woronetz" …, see `torsor.registered("formulation")`
    projection   "least-squares", "partition", "baumgarte", "none", with options as in "baumgarte:alpha=20,beta=20", or a
                 Projection
    tolerance    relative error per step of adaptive methods; None: 1e-9, and 1e-11 where events are to be located
    map          "exp" or "cayley": how a step in the algebra becomes one on the group
    signals      further expressions to record, by name
    parameters   values of parameters that differ from the model's
    progress     show a bar after a second; None: if standard error is a terminal

    A run that fails raises RunError, whose `data` holds what was computed; one that is interrupted returns it.
    """
    from .look.dataset import dataset
    from .look.progress import Progress
    from .run.prepare import changes_structure, prepare, rechosen
    from .run.runner import Runner

    if not isinstance(model, Model):
        raise OptionError(f"simulate: give a torsor.Model, got {quantity.show(model)}")
    times = output_times(outputs, _positive(until, "until"))
    integrator = lookup("integrator", method)
    if step is not None:
        _positive(step, "step")
    elif integrator.embedded is None:
        adaptive = ", ".join(repr(k) for k, c in _integrators().items() if c.embedded is not None)
        raise OptionError(f"method {method!r} has no step-size control: give a positive `step`, or use {adaptive}")
    if tolerance is None:
        tolerance = LOCATING if model.events else TOLERANCE
    if not (isinstance(tolerance, (int, float, np.floating)) and 1e-14 <= tolerance <= 0.1):
        raise OptionError(f"tolerance must lie between 1e-14 and 0.1, got {tolerance!r}")
    if map not in MAPS:
        raise OptionError(f"unknown map {map!r}. Known: {', '.join(MAPS)}.")
    chosen = projection_of(projection)
    named = _signals(model, signals)
    bar, began = Progress(0.0, until, model.name, progress), clock.perf_counter()
    bar.waiting("deriving and compiling the equations")
    try:
        system, built = prepare(model, formulation, map, chosen.baumgarte, chosen.metric, named, parameters)
        ways = [map, chosen.baumgarte, chosen.metric]
        every = dict(model.signals) | named
        manner = (method, step, tolerance, chosen, float(until))
        if changes_structure(model):
            from .run.event_runner import EventRunner
            from .run.structures import Structures

            structures = Structures(model, system, built, formulation, ways, every, model.values(parameters))
            runner = EventRunner(structures, system, built, *manner)
        else:
            renew = lambda t, q, p: rechosen(model, system, formulation, ways, every, t, q, p)
            runner = Runner(system, built, *manner, renew)
        runner.begin(times)
        prepared = clock.perf_counter() - began
        trajectory = runner.collect(runner.run(bar))
    finally:
        bar.close()
    options = {
        "model": model.name, "until": float(until), "step": step, "method": method, "formulation": formulation,
        "projection": repr(chosen), "tolerance": float(tolerance), "map": map, "parameters": model.values(parameters),
    }  # fmt: skip
    data = dataset(system, trajectory, options).assign_attrs(prepare_seconds=prepared)
    if trajectory.status == "interrupted":
        warnings.warn(f"interrupted at t = {trajectory.reached:.6g} s; what was computed is returned", stacklevel=2)
    elif not trajectory.complete:
        raise RunError(
            f"model {model.name!r}: stopped at t = {trajectory.reached:.6g} s of {until:g} s: {trajectory.status}. "
            f"{trajectory.counts['steps']} steps, {len(trajectory.times)} outputs kept in `data` of this error.",
            data,
        )
    elif jumped := _jumped(model, system, data, parameters):
        joint, when = jumped
        raise RunError(
            f"model {model.name!r}: {joint.owner} came together the wrong way round before t = {when:.6g} s: its constraints hold, "
            "but an axis points the other way, or a part is turned by 180 degrees; take smaller steps. The run is kept in "
            "`data` of this error.",
            data,
        )
    elif chosen.projects and system.redundant and data.attrs["position_drift_max"] > 1e-7 * system.length:
        names = "; ".join(system.rows[k][1] for k in system.redundant[:5])
        raise RunError(
            f"model {model.name!r}: contradictory constraints: {names} were taken for redundant at the start, but are "
            f"violated by up to {data.attrs['position_drift_max']:.3g} later, although all other constraints hold; make the "
            "prescribed motions agree. The run is kept in `data` of this error.",
            data,
        )
    return data


def _jumped(model, system, data, parameters):
    """The first joint of a loop whose residual vanishes in a position that the joint cannot reach, and when."""
    from .formulations.genuine import JUMPED, impostors
    from .model.topology import spanning_tree

    switched = {id(element) for element in model.switched}  # these may be anywhere while they are released
    cut = [joint for joint in spanning_tree(model).cut if id(joint) not in switched]
    if not cut:
        return None
    names = data["body"].values.tolist()
    some = np.unique(np.linspace(0, data.sizes["time"] - 1, 9).astype(int))  # what has jumped does not jump back
    arrays = {what: data[what].values[some] for what in ("rotation", "position")}
    rotation, position = (
        {name: arrays[what][:, k] for k, name in enumerate(names)} for what in ("rotation", "position")
    )
    times = data["time"].values[some]
    found = impostors(cut, model.values(parameters), system.length, JUMPED, times, rotation, position)
    first = min(found, key=lambda one: one[1], default=None)
    return None if first is None else (first[0], float(times[first[1]]))


def output_times(outputs, until):
    """The times at which results are wanted, checked."""
    if isinstance(outputs, (int, np.integer)) and not isinstance(outputs, bool):
        if outputs < 1:
            raise OptionError(f"outputs must be a positive number of intervals or an array of times, got {outputs!r}")
        return np.linspace(0.0, until, int(outputs) + 1)
    try:
        times = np.atleast_1d(np.asarray([] if outputs is None or isinstance(outputs, bool) else outputs, float))
    except (TypeError, ValueError):
        times = np.zeros(0)
    if times.ndim != 1 or not times.size:
        raise OptionError(f"outputs must be a number of intervals or an array of times, got {quantity.show(outputs)}")
    if not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0):
        raise OptionError("outputs: times must be finite and increase strictly")
    if times[0] < 0:
        raise OptionError(f"outputs: time {times[0]:g} lies before the start at 0")
    if times[-1] > until:
        raise OptionError(f"outputs: time {times[-1]:g} lies beyond the end, until = {until:g}")
    return times


def projection_of(given):
    """A projection from its key, its key with options, or itself."""
    if isinstance(given, Projection):
        return given
    key, _, rest = str(given).partition(":")
    cls = lookup("projection", key)
    options = {}
    for item in filter(None, rest.split(",")):
        name, equals, value = item.partition("=")
        if not equals:
            raise OptionError(f"projection {given!r}: write options as NAME=VALUE, got {item!r}")
        try:
            options[name.strip()] = float(value)
        except ValueError:
            options[name.strip()] = value.strip()
        if name.strip() in ("positions", "velocities"):  # names of coordinates, joined by +
            options[name.strip()] = tuple(part.strip() for part in value.split("+"))
    known = list(cls.__dataclass_fields__)
    for name in options:
        if name not in known:
            raise OptionError(f"projection {key!r}: unknown option {name!r}. Known: {', '.join(known)}.")
    return cls(**options)


def _integrators():
    from .registry import registered

    return registered("integrator")


def _positive(value, what):
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < float("inf"):
        raise OptionError(f"{what} must be a positive number of seconds, got {quantity.show(value)}")
    return float(value)


def _signals(model, signals):
    """Signals as scalars: a vector signal is recorded by its components."""
    from .look.dataset import RESERVED

    if not isinstance(signals or {}, Mapping):
        example = "{'height': body.position[2]}"
        raise OptionError(f"signals must be expressions by name, as in {example}, got {quantity.show(signals)}")
    found = {}
    for name in [*model.signals, *(signals or {})]:
        if not isinstance(name, str) or name in RESERVED:
            raise OptionError(f"signal {name!r}: a result has a variable of that name already; choose another name")
    for name, expression in (signals or {}).items():
        try:
            column = ca.vec(ca.vertcat(*expression) if isinstance(expression, (list, tuple)) else ca.SX(expression))
        except (NotImplementedError, TypeError):
            given = quantity.show(expression)
            raise OptionError(f"signal {name!r}: must be an expression of signals, got {given}") from None
        for s in ca.symvar(column):
            if not model.knows(s):
                raise OptionError(f"signal {name!r}: {s.name()!r} does not belong to model {model.name!r}")
        for k in range(column.shape[0]):
            found[name if column.shape[0] == 1 else f"{name}[{k}]"] = column[k]
    return found
