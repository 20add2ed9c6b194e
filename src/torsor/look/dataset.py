"""Results as an xarray.Dataset with units, a manifest and an accuracy certificate.

Variables and dimensions are those of docs/results.md; times are exactly the requested ones.
"""

import json
import platform
from functools import cache, lru_cache
from importlib import metadata

import numpy as np

from .energy_balance import Balance, energy_of_rest

UNITS = {
    "position": "m", "velocity": "m/s", "acceleration": "m/s2", "rotation": "1", "angular_velocity": "rad/s",
    "angular_acceleration": "rad/s2", "coordinate": "m or rad", "rate": "m/s or rad/s",
    "coordinate_acceleration": "m/s2 or rad/s2", "reaction_force": "N", "reaction_torque": "N m",
    "multiplier": "N or N m", "kinetic_energy": "J", "potential_energy": "J", "energy": "J", "work": "J",
    "position_drift": "m or rad", "velocity_drift": "m/s or rad/s", "energy_by_events": "J",
    "event_time": "s", "event_energy": "J", "event_impulse": "N s or N m s",
}  # fmt: skip
MEANING = {
    "position": "centre of mass, world axes",
    "velocity": "of the centre of mass, world axes",
    "acceleration": "of the centre of mass, world axes",
    "rotation": "body axes to world axes",
    "angular_velocity": "body axes",
    "angular_acceleration": "body axes",
    "coordinate": "joint coordinates; single angles are counted over full turns, three-dimensional rotations are rotation vectors",
    "rate": "joint velocities",
    "coordinate_acceleration": "time derivative of the joint velocities",
    "reaction_force": "on the second body, world axes",
    "reaction_torque": "on the second body, at the joint's point, world axes",
    "multiplier": "Lagrange multipliers of the constraint rows in use",
    "reaction_unique": "False where redundant constraints leave a component of the force undetermined, world axes",
    "reaction_torque_unique": "False where redundant constraints leave a component of the torque undetermined, world axes",
    "multiplier_unique": "False where redundant constraints leave a multiplier undetermined",
    "energy": "kinetic and potential",
    "work": "of all forces without potential and of imposed motions, since the start",
    "position_drift": "largest residual of all position constraints, redundant ones included",
    "velocity_drift": "largest residual of all velocity constraints, redundant ones included",
    "energy_by_events": "change of the energy by events (impacts, engagements, switched forces) since the start",
    "event_time": "when each event happened",
    "event_energy": "change of the energy at each event; negative: lost",
    "event_impulse": "impulses of the constraint rows at each event; not a number for joints of a tree in joint coordinates",
}
ATTRIBUTES = {"units": UNITS | {"time": "s"}, "long_name": MEANING}  # of variables, by name
DIMENSIONS = ("time", "body", "axis", "row", "column", "joint_coordinate", "joint", "constraint", "event")
UNIQUE = ("reaction_unique", "reaction_torque_unique", "multiplier_unique")
RESERVED = {*UNITS, *DIMENSIONS, *UNIQUE, "event_name"}  # names that a user's signal cannot have


MOTION_VARIABLES = ("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def dataset(system, trajectory, options):
    """The dataset of a run."""
    found = at_outputs(system, trajectory.outputs, trajectory.work, trajectory.events_energy, trajectory)
    happened = at_events(system, trajectory.events, trajectory.used)
    data = label_variables(system, trajectory.times, trajectory.used, found | happened)
    accuracy = Accuracy()
    accuracy.add(trajectory.times, found, trajectory.events_energy)
    if happened:
        accuracy.note_event_energy(trajectory.events["energy"])
    data.attrs = {**accuracy.certificate(system, trajectory.counts, options), **manifest(system, trajectory, options)}
    return data


def at_outputs(system, outputs, work, changed, trajectory):
    """Variables over time, by name: (dimensions, values), from rows of outputs."""
    n, bodies = len(outputs), len(system.bodies)
    variables: dict[str, tuple] = {}
    for name, part in system.outputs.split(outputs).items():
        if name == "rotation":  # stored column by column
            variables[name] = (("time", "body", "row", "column"), part.reshape(n, bodies, 3, 3).transpose(0, 1, 3, 2))
        elif name in MOTION_VARIABLES:
            variables[name] = (("time", "body", "axis"), part.reshape(n, bodies, 3))
        elif name in ("coordinate", "rate", "coordinate_acceleration"):
            variables[name] = (("time", "joint_coordinate"), part)
        elif name in ("reaction_force", "reaction_torque"):
            variables[name] = (("time", "joint", "axis"), part.reshape(n, part.shape[1] // 3, 3))
        elif name == "multiplier":
            variables[name] = (
                ("time", "constraint"),
                part[:, [k for k, _ in system.multiplier_pairs(trajectory.used)]],
            )
        elif name == "signals":
            for k, signal in enumerate(system.signals):
                variables[signal] = (("time",), part[:, k])
        else:
            variables[name] = (("time",), part[:, 0])
    variables["energy"] = (("time",), variables["kinetic_energy"][1] + variables["potential_energy"][1])
    variables["work"] = (("time",), work)
    if trajectory.events:
        variables["energy_by_events"] = (("time",), changed)
    return variables


def at_events(system, log, used):
    """What happened between the outputs, by name: (dimensions, values). The impulse of a joint that carries a tree is not known."""
    if not log:
        return {}
    rows = [row for _, row in system.multiplier_pairs(used)]
    known = np.array([row is not None for row in rows], bool)
    impulse = np.full((len(log["time"]), len(rows)), np.nan)
    impulse[:, known] = log["impulse"][:, [row for row in rows if row is not None]]
    return {
        "event_time": (("event",), log["time"]),
        "event_name": (("event",), log["name"]),
        "event_energy": (("event",), log["energy"]),
        "event_impulse": (("event", "constraint"), impulse),
        **{label: (("event",), values) for label, values in log["recorded"].items()},
    }


def unique(system, used):
    """Which components of reactions and which multipliers are determined, by name: (dimensions, values)."""
    loose, rows = system.undetermined["reactions"], set(system.undetermined["rows"])
    none = np.zeros((2, 3), bool)
    found = ~np.array([loose.get(name, none) for name in system.connections], bool).reshape(-1, 2, 3)
    return {
        "reaction_unique": (("joint", "axis"), found[:, 0]),
        "reaction_torque_unique": (("joint", "axis"), found[:, 1]),
        "multiplier_unique": (("constraint",), np.array([row not in rows for row in in_use(system, used)], bool)),
    }


def unique_joints(data):
    """Which joints have reactions of which every component is unique; results of earlier versions tell this alone."""
    every = [data[name] for name in ("reaction_unique", "reaction_torque_unique") if name in data]
    return np.logical_and.reduce([x.all("axis").values if "axis" in x.dims else x.values for x in every])


def label_variables(system, times, used, variables):
    """Variables with labels and units, as a dataset."""
    import xarray as xr

    variables = {**variables, **unique(system, used), "time": (("time",), times)}
    made = {name: xr.Variable(x[0], x[1], attributes(name)) for name, x in variables.items()}
    return xr.Dataset(made, _label_indexes(*_names(system, used)))


def attributes(name):
    """Unit and meaning of a variable."""
    return {what: known[name] for what, known in ATTRIBUTES.items() if name in known}


def labels(system, used):
    """Labels of everything but time, by name: (dimension, values)."""
    return _labels(*_names(system, used))


def _names(system, used):
    """Of everything that has one, as tuples."""
    facts = (system.bodies, system.joint_coordinates, system.coordinate_units, system.connections, in_use(system, used))
    return tuple(map(tuple, facts))


def in_use(system, used):
    """Labels of the constraints that have multipliers, where these rows were in use."""
    return [system.declared[k][0] for k, _ in system.multiplier_pairs(used)]


def _labels(bodies, joint_coordinates, coordinate_units, connections, constraints):
    found = {
        "body": bodies,
        **dict.fromkeys(("axis", "row", "column"), ("x", "y", "z")),
        "joint_coordinate": joint_coordinates,
        "coordinate_unit": coordinate_units,
        "joint": connections,
        "constraint": constraints,
    }
    along = {"coordinate_unit": "joint_coordinate"}
    return {name: (along.get(name, name), np.array(x, dtype=str)) for name, x in found.items()}


@lru_cache(maxsize=64)
def _label_indexes(*names):
    """Labels with their indexes: the same for all runs of a model."""
    import xarray as xr

    return xr.Coordinates({name: ((dim,), x) for name, (dim, x) in _labels(*names).items()})


class Accuracy:
    """How accurate a run was, as numbers, from all of its outputs at once or block by block: the numbers are the same."""

    def __init__(self):
        self.balance = Balance()
        self.worst = dict.fromkeys(("position_drift", "velocity_drift", "orthogonality"), 0.0)
        self.events, self.by_events = None, 0.0

    def add(self, times, found, changed):
        """Some outputs, in order: variables by name, and what events changed the energy by so far."""
        E, W, T, U, R = (found[k][1] for k in ("energy", "work", "kinetic_energy", "potential_energy", "rotation"))
        self.balance.add(times, E, W, changed, T, U)
        for name in ("position_drift", "velocity_drift"):
            self._worst(name, found[name][1])
        gram = sum(R[:, :, j, :, None] * R[:, :, j, None, :] for j in range(3)) - np.eye(3)
        self._worst("orthogonality", np.linalg.norm(gram, axis=(2, 3)))

    def note_event_energy(self, energy):
        """Changes of the energy by some events, in order."""
        self.events = (self.events or 0) + len(energy)
        in_turn = np.cumsum([self.by_events, *energy])  # one after the other, however they are divided
        self.by_events = float(in_turn[-1])

    def _worst(self, name, values):
        if values.size:
            self.worst[name] = np.maximum(self.worst[name], values.max())

    def certificate(self, system, counts, options):
        balance = self.balance
        error, turnover = float(balance.worst), balance.turnover
        events = {} if self.events is None else {"events": self.events, "energy_of_events": self.by_events}
        sizes, manner = (system.mass, system.length, system.scales["rate"]), (options["tolerance"], options["step"])
        still = float(energy_of_rest(*sizes, turnover, options["until"], *manner))
        lost = balance.time_of_loss(counts, *manner, still)
        return {
            "position_drift_max": float(self.worst["position_drift"]),
            "velocity_drift_max": float(self.worst["velocity_drift"]),
            "energy_change": balance.gain(0),
            "work_done": balance.gain(1),
            "energy_balance_error": error,
            "energy_balance_relative": error / turnover if turnover > 0 else 0.0,
            **({} if lost is None else {"energy_balance_lost": lost}),
            "orthogonality": float(self.worst["orthogonality"]),
            "steps": counts["steps"],
            "rejections": counts["rejections"],
            "evaluations": counts["evaluations"],
            "cut_steps": counts.get("cut_steps", 0),
            "choices": counts["choices"],
            "structures": counts["structures"],
            **events,
            "smallest_pivot": counts["smallest_pivot"],
            "position_corrected_max": counts["corrected_position"],
            "velocity_corrected_max": counts["corrected_velocity"],
            "model_length": system.length,
        }


def manifest(system, trajectory, options):
    """Where the numbers come from: versions, model, options, machine."""
    from .. import __version__

    return {
        "model": options["model"],
        "model_hash": system.fingerprint,
        "formulation": options["formulation"],
        "formulation_reason": options["formulation_reason"],
        "method": options["method"],
        "method_reason": options["method_reason"],
        "path": options["path"],
        "path_reason": options["path_reason"],
        "status": trajectory.status,
        "time_reached": trajectory.reached,
        "wall_seconds": trajectory.wall,
        "degrees_of_freedom": system.freedom,
        "redundant_constraints": json.dumps([system.declared[k][1] for k in system.left_out]),
        "start_changes": json.dumps(system.changes),
        "dependent": json.dumps(_dependent(system)),
        "options": json.dumps(options),
        "torsor": __version__,
        "versions": _versions(),
        "machine": f"{platform.system()} {platform.machine()}",
    }  # fmt: skip


@cache
def _versions():
    """Of what torsor stands on. Packages are not loaded for it."""
    names = ("casadi", "llvmlite", "numpy", "xarray")
    return json.dumps({name: metadata.version(name) for name in names} | {"python": platform.python_version()})


def _dependent(system):
    """Names of the dependent coordinates at the start, where a projection by partition chose them."""
    part = system.partition
    return {what: [part["names"][k] for k in part[what]] for what in ("positions", "velocities")} if part else {}
