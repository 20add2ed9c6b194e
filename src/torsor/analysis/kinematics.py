"""Mechanisms whose motion is prescribed: positions, velocities, accelerations and the forces that it takes. Nothing is integrated.

    0 = g(q, t)                   positions, by Newton's method from one instant to the next                (1)
    G v = −g_t,   G v̇ = γ         velocities and accelerations, as many independent rows as velocities      (2)
    M v̇ + h = τ + Gᵀ λ            reactions and the forces of the drives, λ                                 (3)

with the motions of the driven coordinates among the rows of g ([mueller2009], eq. 49 to 52, for (3)).
"""

import json
import warnings
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..describe import quantity
from ..describe.model import Model
from ..errors import AccuracyWarning, AssemblyError, OptionError, RunError
from ..formulations.fingerprint import fingerprint
from ..kernels.deriving import deriving
from ..look.dataset import at_outputs, labelled
from ..look.recorded import recorded
from ..run.task import warn_of_loads
from ..start.continuity import refuse_jumps
from . import singular
from .assembly import assemble
from .drives import driven, motions
from .following import Follower, conditioning
from .given import by_name, formulation_given, model_given
from .paths import tracked
from .rubbing import slid

if TYPE_CHECKING:
    import xarray as xr

SWEEP = "sweep"
RANK = 1e-7  # singular value of constraints without units, below which it is none


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
    formulation: str | None = None,
) -> "xr.Dataset":
    """Move a mechanism as it is prescribed, and return a dataset with all that `simulate` tells, and the forces of the drives.

    drives         motions of joint coordinates, by name: an expression of `ts.time`, a function of it, an array with a value for
                   each time, or a number. There must be as many as the mechanism has freedoms; `ts.Drive` in the model counts
    times          instants [s]; None: a quasi-static sweep through the arrays, in which drives stand, and grounds move as at t = 0
    targets        in the place of drives: what tools do, as in `assemble`, an array with a value for each time or place
    actuators      coordinates that are driven so that the targets are met; None: all of a mechanism without loops
    rates, accelerations   of coordinates whose motion is an array, where they are known; else those of a cubic spline
    signals        further expressions to record, by name
    start          configuration near which the first instant is, as in `assemble`; None: the start of the model
    parameters     values of parameters that differ from the model's
    formulation    "relative" or "absolute"; None: joint coordinates, where the model has them

    Variables are those of `simulate`, and `drive_force` (time, drive): the force or torque along each driven coordinate;
    `conditioning` (time): how far the position is from a singular one; `singular_name`, `singular_time` (singular) and
    `singular_value` (singular, drive): where it is one, and what can move there. In a sweep the dimension is `sweep`, and
    `drive_value` holds the driven coordinates. A mechanism that cannot follow raises RunError, whose `data` is what it could.
    """
    model_given(model, "kinematics")
    drives, formulation = by_name(drives, "drives", "motions of coordinates"), formulation_given(formulation)
    rates, accelerations = (
        by_name(x, what, "arrays") for x, what in ((rates, "rates"), (accelerations, "accelerations"))
    )
    still, named = times is None, by_name(signals, "signals", "expressions")
    _refuse_mixed(targets, actuators, drives, rates, accelerations)
    if targets is None:
        x, trouble = _places(drives, times), None
        asked = motions(model, drives, x, rates, accelerations)
    else:
        given = None if still else _places({}, times)
        asked, start, x, trouble = tracked(model, targets, given, actuators, named, start, parameters, formulation)
        signals = {name: x for name, x in named.items() if name not in targets}
    way = Way(model, asked, still, recorded(model, signals), parameters, formulation)
    q, turns = way.begin(x, start)
    twin, follower = way.twin, way.follower
    states, counted, reached = follower.all(q, turns, x)
    done = len(states)
    t, p = way.instants(x[:done])
    p[:, twin.turns] = counted
    data = _dataset(twin, t, states, p, x[:done], still)
    if not still:
        _doubt(model, data)
    data.attrs |= _origin(model, parameters, signals)
    data = singular.told(data, twin, follower, x[:done], states, counted, still)
    if trouble or done < len(x):
        raise RunError(trouble or singular.stuck(model, twin, follower, asked, reached, still), data)
    return data


def _origin(model, parameters, signals):
    """What was asked for, as attributes of a result tell it."""
    known = fingerprint(model, dict(model.signals) | recorded(model, signals))
    return {"options": json.dumps({"parameters": model.values(parameters)}), "model_hash": known}


def _doubt(model, data):
    """Warn of forces that depend on what is not known here."""
    warn_of_loads(model, data, "the forces of the drives are", 5)
    if model.states:
        warnings.warn(
            f"model {model.name!r}: nothing is integrated, so that states keep the values of their start, and with them forces and "
            f"signals that depend on them ({', '.join(state.name for state in model.states)}): simulate it, with ts.Drive",
            AccuracyWarning,
            stacklevel=4,
        )


def _refuse_mixed(targets, actuators, *driven):
    """Refuse what would do nothing beside what else is given."""
    if targets is not None and any(driven):
        raise OptionError("kinematics: give drives, with their rates and accelerations, or targets")
    if targets is None and actuators is not None:
        raise OptionError(
            "kinematics: actuators belong to targets; drives name the coordinates that are driven themselves"
        )


def _places(drives, times):
    """The times, or places 0, 1, 2 … of a sweep."""
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
    """Real numbers as an array; nothing, where they are none."""
    try:
        return quantity.reals(given)
    except Exception:  # whatever a stranger's class raises when it is asked for numbers
        return np.zeros(0)


class Way:
    """The twin of a model that is moved as asked for, and how it comes to its first position."""

    def __init__(self, model, asked, still, signals, parameters, formulation):
        self.model, self.asked, self.still, self.parameters = model, asked, still, parameters
        self.formulation = formulation
        self._make = lambda at=None: driven(model, asked.names, signals, parameters, formulation, at)
        self.twin: Any = None

    @property
    def follower(self):
        return Follower(self.twin, self.instants)

    def instants(self, x):
        """Instants and inputs at places of the way."""
        f, f1, f2 = self.asked(x)
        t = 0.0 * x if self.still else x
        return t, self.twin.inputs(t, f, *((0 * f1, 0 * f2) if self.still else (f1, f2)))

    def begin(self, x, start):
        """The configuration at the first place and its counted angles: near the start of the model, or near one that is given.
        Motions that the model imposes must not jump on the way."""
        x, end = x[0], x[-1]
        if not self.still and end > 0:
            refuse_jumps(self.model, self.model.values(self.parameters), float(end))
        if start is None:
            self.twin = self._make()
            found = None if undetermined(self.model, self.twin) else self._from_start(x)
            if found is not None:
                return found
        near = assemble(
            self.model, dict(zip(self.asked.names, self.asked(np.array([x]))[0][0])), start=start, parameters=self.parameters,
            time=0.0 if self.still else float(x), formulation=self.formulation,
        )  # fmt: skip
        self.twin = self._make(near.coordinates)
        if trouble := undetermined(self.model, self.twin):
            raise OptionError(trouble)
        dynamics = self.twin.problem.dynamics
        found = self.follower.one(x, near.q, dynamics.p[self.twin.turns])
        if found is None:
            raise AssemblyError(
                f"model {self.model.name!r}: the first position of the drives cannot be assembled", near
            )
        return found

    def _from_start(self, x):
        """From the start of the twin, along a straight line of all that changes; None where that does not lead there."""
        dynamics = self.twin.problem.dynamics
        t, first = self.instants(np.array([x]))
        straight = lambda s: (t * s, dynamics.p + s[:, None] * (first - dynamics.p))
        s, q, turns = Follower(self.twin, straight).go(dynamics.q, dynamics.p[self.twin.turns], 0.0, 1.0)
        return self.follower.one(x, q, turns) if s == 1.0 else None


def undetermined(model, twin):
    """Why the positions of a twin do not follow from its drives, in words; None where they do."""
    problem = twin.problem
    f, dynamics = problem.f, problem.dynamics
    rolling = [f.rows[k].constraint.name for k in f.active_rows() if not f.rows[k].holonomic]
    states = ca.vertcat(*[state.symbol for state in problem.model.states], ca.SX(0, 1))
    led = [f.rows[k].constraint.name for k in problem.rows if ca.depends_on(f.stacked("g")[k], states)]
    if rolling or led:
        why = f"{rolling[0]!r} constrains velocities alone" if rolling else f"{led[0]!r} follows a state of the user"
        return f"model {model.name!r}: {why}, so that positions depend on the way there: simulate it, with ts.Drive"
    declared = [label for label, _ in dynamics.system.declared]
    idle = [name for name, row in zip(twin.names, twin.rows) if declared.index(row) in dynamics.system.left_out]
    if idle:
        return (
            f"model {model.name!r}: {idle[0]!r} cannot be driven: constraints and the other drives determine it already, or the "
            "start is a singular position"
        )
    t, q, p = np.array([dynamics.system.t]), dynamics.q[None, :], dynamics.p
    _, G = problem.held(t, q, p)
    _, s, Vt = np.linalg.svd(G[0] if G.shape[1] else np.zeros((1, problem.n)))
    free = problem.n - int((s > RANK).sum())
    if not free:
        return None
    loose = singular.moving(problem, np.linalg.norm(Vt[problem.n - free :], axis=0))  # in any motion that is left
    bodies = singular.moved(problem, t, q, p, Vt[problem.n - free :])
    return (
        f"model {model.name!r}: {free} of its freedoms are not driven: as many coordinates as there are freedoms are needed. "
        f"Driven: {', '.join(twin.names) or 'none'}; free to move: {', '.join(loose)}, and with them {', '.join(bodies)}"
    )


def _forget(rows, layout, singular):
    """Velocities and forces are not determined at a singular position: not a number."""
    kept = [
        np.full(size, name in ("position", "rotation", "coordinate", "potential_energy", "position_drift"))
        for name, size in layout
    ]
    rows[np.ix_(singular, ~np.concatenate(kept))] = np.nan


def _dataset(twin, t, q, p, x, still):
    """Everything that a result holds: (2), (3)."""
    dynamics, kernels = twin.problem.dynamics, twin.problem.dynamics.kernels
    system, t = dynamics.system, t[:, None]
    F = kernels["factor"].over(t, q, p)[0]
    v = np.zeros(dynamics.v.size)
    for _ in range(2):  # the second time for what rounding has left
        v = kernels["velocities"].over(t, q, v, p, F)[0]  # (2)
    p = slid(twin.problem, t, q, v, p)
    lam = kernels["accelerations"].over(t, q, v, p, F)[1]  # (3)
    a = twin.problem.accelerations(t, q, v, p)  # (2): forces that are large leave no rounding in them
    rows = kernels["outputs"].over(t, q, v, p, a, lam)[0]
    least = conditioning(twin.problem, t, q, p)[0]
    _forget(rows, system.layout, least < RANK)
    used = SimpleNamespace(used=system.keep, events={})
    variables = at_outputs(system, rows, np.zeros(len(q)), None, used)
    del variables["work"]
    places = np.cumsum([0, *[size for _, size in system.layout]])
    first = places[[name for name, _ in system.layout].index("multiplier")]
    declared = [label for label, _ in system.declared]
    forces = rows[:, [first + declared.index(row) for row in twin.rows]]
    data = labelled(system, t[:, 0] if not still else x, system.keep, variables)
    data["drive_force"] = (
        ("time", "drive"),
        forces,
        {"units": "N or N m", "long_name": "along each driven coordinate"},
    )
    data = data.assign_coords(drive=np.array(twin.names, dtype=str))
    data["conditioning"] = (
        ("time",),
        least,
        {"long_name": "least singular value of the constraints, without units; 0: singular"},
    )
    from .. import __version__

    data.attrs = {
        "model": twin.model.name, "formulation": dynamics.formulation, "status": "kinematics", "torsor": __version__,
        "position_drift_max": float(data.position_drift.max()), "drives": json.dumps(twin.names),
    }  # fmt: skip
    if not still:
        return data
    values = data.coordinate.sel(joint_coordinate=twin.names).values
    data = data.rename(time=SWEEP).assign(drive_value=((SWEEP, "drive"), values))
    data[SWEEP].attrs = {"long_name": "place in the sweep"}
    return data
