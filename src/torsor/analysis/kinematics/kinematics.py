"""`torsor.kinematics`: positions, velocities, accelerations and drive forces of a prescribed motion, without integration.

    0 = g(q, t)                   positions, by Newton's method from one instant to the next                (1)
    G v = −g_t,   G v̇ = γ         velocities and accelerations, as many independent rows as velocities      (2)
    M v̇ + h = τ + Gᵀ λ            reactions and the forces of the drives, λ                                 (3)

The rows of g contain the motions of the driven coordinates ([mueller2009], eq. 49 to 52, for (3)).
"""

import json
import warnings
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ...checks.continuity import refuse_jumps
from ...elements import quantity
from ...errors import AccuracyWarning, AssemblyError, OptionError, RunError
from ...formulations.fingerprint import fingerprint
from ...kernels.derivation_lock import deriving
from ...look.dataset import at_outputs, label_variables
from ...look.recorded_signals import signals_to_record
from ...model.model import Model
from ...run.task import warn_of_friction_loads
from ...scene.scene import scene_attributes
from ..arguments import formulation_name, named_values, require_model
from ..assembly.assembly import assemble
from . import singular_points as singular
from .drives import drive_model, motions
from .path_continuation import PathFollower, conditioning
from .path_tolerances import RANK_SINGULAR_VALUE
from .prescribed_friction import set_sliding
from .tool_paths import track_targets

if TYPE_CHECKING:
    import xarray as xr

SWEEP = "sweep"


@deriving
def kinematics(
    model: Model,
    drives: Mapping[str, Any] | None = None,
    times: Sequence[float] | np.ndarray | None = None,
    rates: Mapping[str, Any] | None = None,
    accelerations: Mapping[str, Any] | None = None,
    targets: Mapping[str, Any] | None = None,
    actuators: Sequence[str] | str | None = None,
    signals: Mapping[str, Any] | None = None,
    start: Any = None,
    parameters: Mapping[str, float] | None = None,
    formulation: str = "auto",
) -> "xr.Dataset":
    """Move a mechanism as prescribed. Returns a dataset with the variables of `simulate` and the drive forces.

    drives         motions of joint coordinates, by name: an expression of `ts.time`, a function of it, an array with a value for
                   each time, or a number. There must be as many as degrees of freedom; a `ts.Drive` of the model counts
    times          instants [s]; None: a quasi-static sweep through the arrays, with zero drive velocities and grounds as at t = 0
    targets        instead of drives: targets as in `assemble`, arrays with a value for each time or sweep point
    actuators      coordinates that are driven so that the targets are reached; None: all of a mechanism without loops
    rates, accelerations   of coordinates whose motion is an array, if known; else those of a cubic spline
    signals        further expressions to record, by name
    start          configuration near the first position, as in `assemble`; None: the start of the model
    parameters     values of parameters that differ from the model's
    formulation    "relative" or "absolute"; "auto": joint coordinates, where the model has them

    Variables are those of `simulate`, and `drive_force` (time, drive): the force or torque along each driven coordinate;
    `conditioning` (time): least singular value of the constraints, 0 at a singular position; `singular_name`, `singular_time`
    (singular) and `singular_value` (singular, drive): singular positions, and what can move there. A sweep has the dimension
    `sweep` and the driven coordinates `drive_value`. RunError if the mechanism cannot follow; its `data` is the part reached.
    """
    require_model(model, "kinematics")
    drives, formulation = named_values(drives, "drives", "motions of coordinates"), formulation_name(formulation)
    rates = named_values(rates, "rates", "arrays")
    accelerations = named_values(accelerations, "accelerations", "arrays")
    quasi_static, named = times is None, named_values(signals, "signals", "expressions")
    _refuse_mixed(targets, actuators, drives, rates, accelerations)
    if targets is None:
        x, failure = _path_parameters(drives, times), None
        motion = motions(model, drives, x, rates, accelerations)
    else:
        at = None if quasi_static else _path_parameters({}, times)
        motion, start, x, failure = track_targets(model, targets, at, actuators, named, start, parameters, formulation)
        signals = {name: x for name, x in named.items() if name not in targets}
    path = DrivenPath(model, motion, quasi_static, signals_to_record(model, signals), parameters, formulation)
    first = path.begin(x, start)
    driven, follower = path.driven, path.follower
    states, counted, reached = follower.follow(*first, x)
    done = len(states)
    t, p = path.instants(x[:done])
    p[:, driven.turns] = counted
    data = _dataset(driven, t, states, p, x[:done], quasi_static)
    if not quasi_static:
        _warn_of_unknown_loads(model, data)
    data.attrs |= _run_attributes(model, parameters, signals)
    data = singular.add_singular_points(data, driven, follower, x[:done], states, counted, quasi_static)
    if failure or done < len(x):
        raise RunError(failure or singular.cannot_follow_message(model, path, reached), data)
    return data


def _run_attributes(model, parameters, signals):
    """Parameters and model hash, as attributes of the dataset."""
    model_hash = fingerprint(model, dict(model.signals) | signals_to_record(model, signals))
    facts = {"options": json.dumps({"parameters": model.values(parameters)}), "model_hash": model_hash}
    return facts | scene_attributes(model, parameters)


def _warn_of_unknown_loads(model, data):
    """Warn of forces that depend on quantities which kinematics does not compute."""
    warn_of_friction_loads(model, data, "the forces of the drives are", 5)
    if model.states:
        warnings.warn(
            f"model {model.name!r}: nothing is integrated: the states {', '.join(state.name for state in model.states)} keep their "
            "start values, and forces and signals that depend on them are wrong. Simulate the model with ts.Drive instead",
            AccuracyWarning,
            stacklevel=4,
        )


def _refuse_mixed(targets, actuators, *drive_options):
    """Refuse arguments that have no effect together."""
    if targets is not None and any(drive_options):
        raise OptionError("kinematics: give either `drives` (with `rates`, `accelerations`) or `targets`, not both")
    if targets is None and actuators is not None:
        raise OptionError(
            "kinematics: actuators belong to targets; drives name the coordinates that are driven themselves"
        )


def _path_parameters(drives, times):
    """The path parameters: the times, or 0, 1, 2 … of a sweep."""
    if times is None:
        lengths = [len(x) for x in map(_numbers, drives.values()) if x.ndim and len(x)]
        if not lengths:
            raise OptionError(
                "kinematics: give `times`, or an array for at least one of the `drives`: a quasi-static sweep"
            )
        return np.arange(float(lengths[0]))
    x = _numbers(times)
    if x.ndim != 1 or not x.size or not np.isfinite(x).all() or (np.diff(x) <= 0).any():
        raise OptionError(f"times must be finite numbers that increase, got {quantity.show(times)}")
    return x


def _numbers(given):
    """Real numbers as an array; an empty array if the conversion fails."""
    try:
        return quantity.reals(given)
    except Exception:  # the conversion calls code of the user's class
        return np.zeros(0)


class DrivenPath:
    """The path of a driven model, and the way to its first position."""

    def __init__(self, model, motion, quasi_static, signals, parameters, formulation):
        self.model, self.motion, self.quasi_static, self.parameters = model, motion, quasi_static, parameters
        self.formulation = formulation

        def make(at=None):
            return drive_model(model, motion.names, signals, parameters, formulation, at)

        self._make = make
        self.driven: Any = None

    @property
    def follower(self):
        return PathFollower(self.driven, self.instants)

    def instants(self, x):
        """Times and inputs at path parameters x."""
        f, f1, f2 = self.motion(x)
        t = 0.0 * x if self.quasi_static else x
        return t, self.driven.inputs(t, f, *((0 * f1, 0 * f2) if self.quasi_static else (f1, f2)))

    def begin(self, x, start):
        """The first configuration and its counted angles, near the start of the model or near a given start.

        OptionError if a motion that the model imposes jumps.
        """
        x, end = x[0], x[-1]
        if not self.quasi_static and end > 0:
            refuse_jumps(self.model, self.model.values(self.parameters), float(end))
        if start is None:
            self.driven = self._make()
            result = None if undetermined_reason(self.model, self.driven) else self._from_start(x)
            if result is not None:
                return result
        near = assemble(
            self.model, dict(zip(self.motion.names, self.motion(np.array([x]))[0][0])), start=start, parameters=self.parameters,
            time=0.0 if self.quasi_static else float(x), formulation=self.formulation,
        )  # fmt: skip
        self.driven = self._make(near.coordinates)
        if failure := undetermined_reason(self.model, self.driven):
            raise OptionError(failure)
        dynamics = self.driven.problem.dynamics
        result = self.follower.solve_at(x, near.q, dynamics.p[self.driven.turns])
        if result is None:
            raise AssemblyError(
                f"model {self.model.name!r}: the first position of the drives cannot be assembled", near
            )
        return result

    def _from_start(self, x):
        """Path continuation from the start of the driven model to the first position, linear in all inputs; None if it fails."""
        dynamics = self.driven.problem.dynamics
        t, first = self.instants(np.array([x]))

        def straight(s):
            return t * s, dynamics.p + s[:, None] * (first - dynamics.p)

        s, q, turns = PathFollower(self.driven, straight).advance(dynamics.q, dynamics.p[self.driven.turns], 0.0, 1.0)
        return self.follower.solve_at(x, q, turns) if s == 1.0 else None


def undetermined_reason(model, driven):
    """The reason why drives do not determine the positions of a driven model; None if they do."""
    problem = driven.problem
    f, dynamics = problem.f, problem.dynamics
    rolling = [f.rows[k].constraint.name for k in f.active_rows() if not f.rows[k].holonomic]
    states = ca.vertcat(*[state.symbol for state in problem.model.states], ca.SX(0, 1))
    led = [f.rows[k].constraint.name for k in problem.rows if ca.depends_on(f.stack_rows("g")[k], states)]
    if rolling or led:
        why = f"{rolling[0]!r} constrains velocities alone" if rolling else f"{led[0]!r} follows a state of the user"
        return f"model {model.name!r}: {why}, so that positions depend on the way there: simulate it, with ts.Drive"
    declared = [label for label, _ in dynamics.system.declared]
    idle = [name for name, row in zip(driven.names, driven.rows) if declared.index(row) in dynamics.system.left_out]
    if idle:
        return (
            f"model {model.name!r}: {idle[0]!r} cannot be driven: constraints and the other drives determine it already, or the "
            "start is a singular position"
        )
    t, q, p = np.array([dynamics.system.t]), dynamics.q[None, :], dynamics.p
    _, G = problem.constraint_rows(t, q, p)
    _, s, Vt = np.linalg.svd(G[0] if G.shape[1] else np.zeros((1, problem.n)))
    free = problem.n - int((s > RANK_SINGULAR_VALUE).sum())
    if not free:
        return None
    loose = singular.moving_coordinates(problem, np.linalg.norm(Vt[problem.n - free :], axis=0))  # in any free motion
    bodies = singular.moving_bodies(problem, t, q, p, Vt[problem.n - free :])
    return (
        f"model {model.name!r}: {free} of its degrees of freedom are not driven. Drive as many coordinates as degrees of freedom. "
        f"Driven: {', '.join(driven.names) or 'none'}; free to move: {', '.join(loose)}, and with them {', '.join(bodies)}"
    )


def _blank_undetermined(rows, layout, singular):
    """Set velocities and forces to NaN at singular positions, where they are not determined."""
    for name, part in layout.split(rows).items():
        if name not in ("position", "rotation", "coordinate", "potential_energy", "position_drift"):
            part[singular] = np.nan


def _dataset(driven, t, q, p, x, quasi_static):
    """The dataset, with velocities and accelerations by (2) and forces by (3)."""
    dynamics, kernels = driven.problem.dynamics, driven.problem.dynamics.kernels
    system, t = dynamics.system, t[:, None]
    F = kernels["factor"].over(t, q, p)[0]
    v = np.zeros(dynamics.v.size)
    for _ in range(2):  # the second pass removes rounding errors of the first
        v = kernels["velocities"].over(t, q, v, p, F)[0]  # (2)
    p = set_sliding(driven.problem, t, q, v, p)
    lam = kernels["accelerations"].over(t, q, v, p, F)[1]  # (3)
    a = driven.problem.accelerations(t, q, v, p)  # (2): without rounding errors of large forces
    rows = kernels["outputs"].over(t, q, v, p, a, lam)[0]
    least = conditioning(driven.problem, t, q, p)[0]
    _blank_undetermined(rows, system.outputs, least < RANK_SINGULAR_VALUE)
    used = SimpleNamespace(used=system.keep, events={})
    variables = at_outputs(system, rows, np.zeros(len(q)), None, used)
    del variables["work"]
    declared = [label for label, _ in system.declared]
    forces = system.outputs.split(rows)["multiplier"][:, [declared.index(row) for row in driven.rows]]
    data = label_variables(system, t[:, 0] if not quasi_static else x, system.keep, variables)
    data["drive_force"] = (
        ("time", "drive"),
        forces,
        {"units": "N or N m", "long_name": "along each driven coordinate"},
    )
    data = data.assign_coords(drive=np.array(driven.names, dtype=str))
    data["conditioning"] = (
        ("time",),
        least,
        {"long_name": "least singular value of the constraints, without units; 0: singular"},
    )
    from ... import __version__

    data.attrs = {
        "model": driven.model.name, "formulation": dynamics.formulation, "status": "kinematics", "torsor": __version__,
        "position_drift_max": float(data.position_drift.max()), "drives": json.dumps(driven.names),
    }  # fmt: skip
    if not quasi_static:
        return data
    values = data.coordinate.sel(joint_coordinate=driven.names).values
    data = data.rename(time=SWEEP).assign(drive_value=((SWEEP, "drive"), values))
    data[SWEEP].attrs = {"long_name": "place in the sweep"}
    return data
