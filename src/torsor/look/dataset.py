"""Results as an xarray.Dataset with units, a manifest and an accuracy certificate.

Variables and dimensions are those of docs/results.md; times are exactly those asked for.
"""

import json
import os
import platform
import shutil
import tempfile

import numpy as np

from ..errors import ResultError

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
    "energy": "kinetic and potential",
    "work": "of all forces without potential and of imposed motions, since the start",
    "position_drift": "largest residual of all position constraints, redundant ones included",
    "velocity_drift": "largest residual of all velocity constraints, redundant ones included",
    "energy_by_events": "change of the energy by events (impacts, engagements, switched forces) since the start",
    "event_time": "when each event happened",
    "event_energy": "change of the energy at each event; negative: lost",
    "event_impulse": "impulses of the constraint rows at each event",
}
DIMENSIONS = ("time", "body", "axis", "row", "column", "joint_coordinate", "joint", "constraint", "event")
RESERVED = {*UNITS, *DIMENSIONS, "reaction_unique", "event_name"}  # names that a user's signal cannot have


MOTION = ("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def dataset(system, trajectory, options):
    """The dataset of a run."""
    import xarray as xr

    n, bodies = len(trajectory.times), len(system.bodies)
    variables = {}
    at = 0
    for name, size in system.layout:
        part = trajectory.outputs[:, at : at + size]
        at += size
        if name == "rotation":  # stored column by column
            variables[name] = (("time", "body", "row", "column"), part.reshape(n, bodies, 3, 3).transpose(0, 1, 3, 2))
        elif name in MOTION:
            variables[name] = (("time", "body", "axis"), part.reshape(n, bodies, 3))
        elif name in ("coordinate", "rate", "coordinate_acceleration"):
            variables[name] = (("time", "joint_coordinate"), part)
        elif name in ("reaction_force", "reaction_torque"):
            variables[name] = (("time", "joint", "axis"), part.reshape(n, size // 3, 3))
        elif name == "multiplier":
            variables[name] = (("time", "constraint"), part[:, trajectory.used])
        elif name == "signals":
            for k, signal in enumerate(system.signals):
                variables[signal] = (("time",), part[:, k])
        else:
            variables[name] = (("time",), part[:, 0])
    variables["energy"] = (("time",), variables["kinetic_energy"][1] + variables["potential_energy"][1])
    variables["work"] = (("time",), trajectory.work)
    variables |= _events(trajectory)
    unique = [name not in system.shared for name in system.connections]
    variables["reaction_unique"] = (("joint",), np.array(unique, bool))
    coordinates = {
        "time": trajectory.times,
        "body": np.array(system.bodies, dtype=str),
        "axis": ["x", "y", "z"],
        "row": ["x", "y", "z"],
        "column": ["x", "y", "z"],
        "joint_coordinate": np.array(system.joint_coordinates, dtype=str),
        "coordinate_unit": (("joint_coordinate",), np.array(system.coordinate_units, dtype=str)),
        "joint": np.array(system.connections, dtype=str),
        "constraint": np.array([system.rows[k][0] for k in trajectory.used], dtype=str),
    }
    data = xr.Dataset(variables, coordinates)
    for name in data.variables:
        if name in UNITS:
            data[name].attrs["units"] = UNITS[name]
        if name in MEANING:
            data[name].attrs["long_name"] = MEANING[name]
    data["time"].attrs["units"] = "s"
    data.attrs = {**certificate(system, trajectory, data), **manifest(system, trajectory, options)}
    return data


def _events(trajectory):
    """What happened between the outputs."""
    log = trajectory.events
    if not log:
        return {}
    return {
        "energy_by_events": (("time",), trajectory.events_energy),
        "event_time": (("event",), log["time"]),
        "event_name": (("event",), log["name"]),
        "event_energy": (("event",), log["energy"]),
        "event_impulse": (("event", "constraint"), log["impulse"][:, trajectory.used]),
        **{label: (("event",), values) for label, values in log["recorded"].items()},
    }


def certificate(system, trajectory, data):
    """How accurate the run was, as numbers."""
    E, W = data["energy"].values, data["work"].values
    T, U = data["kinetic_energy"].values, data["potential_energy"].values
    R = data["rotation"].values
    counts = trajectory.counts
    W = W + trajectory.events_energy  # what events took from the energy or gave to it is accounted for
    balance = float(np.abs(E - E[0] - (W - W[0])).max()) if len(E) else 0.0
    turnover = float(max(T.max(), np.ptp(U))) if len(E) else 0.0
    gram = np.einsum("tbji,tbjk->tbik", R, R) - np.eye(3)
    worst = lambda name: float(data[name].values.max()) if len(E) else 0.0
    return {
        "position_drift_max": worst("position_drift"),
        "velocity_drift_max": worst("velocity_drift"),
        "energy_change": float(E[-1] - E[0]) if len(E) else 0.0,
        "work_done": float(data["work"].values[-1] - data["work"].values[0]) if len(E) else 0.0,
        "energy_balance_error": balance,
        "energy_balance_relative": balance / turnover if turnover > 0 else 0.0,
        "orthogonality": float(np.linalg.norm(gram, axis=(2, 3)).max()) if gram.size else 0.0,
        "steps": counts["steps"],
        "rejections": counts["rejections"],
        "evaluations": counts["evaluations"],
        "choices": counts["choices"],
        "structures": counts["structures"],
        **_events_certificate(trajectory),
        "smallest_pivot": counts["smallest_pivot"],
        "position_corrected_max": counts["corrected_position"],
        "velocity_corrected_max": counts["corrected_velocity"],
        "model_length": system.length,
    }


def _events_certificate(trajectory):
    log = trajectory.events
    return {"events": len(log["time"]), "energy_of_events": float(log["energy"].sum())} if log else {}


def manifest(system, trajectory, options):
    """Where the numbers come from: versions, model, options, machine."""
    from importlib.metadata import version

    import casadi
    import llvmlite
    import numba

    from .. import __version__

    return {
        "model": options["model"],
        "model_hash": system.fingerprint,
        "status": trajectory.status,
        "time_reached": trajectory.reached,
        "wall_seconds": trajectory.wall,
        "degrees_of_freedom": system.freedom,
        "redundant_constraints": json.dumps([system.rows[k][1] for k in system.redundant]),
        "start_changes": json.dumps(system.changes),
        "dependent": json.dumps(_dependent(system)),
        "options": json.dumps(options),
        "torsor": __version__,
        "versions": json.dumps({
            "casadi": casadi.__version__, "llvmlite": llvmlite.__version__, "numba": numba.__version__,
            "numpy": np.__version__, "xarray": version("xarray"), "python": platform.python_version(),
        }),
        "machine": f"{platform.system()} {platform.machine()}",
    }  # fmt: skip


def refuse_unwritable(path):
    """An error where `save` could not write to `path`, as far as can be known before it does."""
    folder = os.path.dirname(os.path.abspath(path))
    refuse = lambda why: ResultError(f"cannot write {os.fspath(path)!r}: {why}")
    if not os.path.isdir(folder):
        raise refuse(f"there is no folder {folder!r}")
    if os.path.exists(path) and not os.path.isfile(path):
        raise refuse("it is not a regular file")
    if not os.access(folder, os.W_OK):
        raise refuse(f"folder {folder!r} is not writable")


def _dependent(system):
    """Names of the dependent coordinates at the start, where a projection by partition chose them."""
    part = system.partition
    return {what: [part["names"][k] for k in part[what]] for what in ("positions", "velocities")} if part else {}


def save(data, path):
    """Write a result as NetCDF: to a temporary file first, so that no half-written file is left under its name."""
    refuse_unwritable(path)
    folder = os.path.dirname(os.path.abspath(path))
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(suffix=".nc.part", dir=folder)
        os.close(handle)
        data.to_netcdf(temporary, engine="netcdf4")
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except (OSError, RuntimeError, ValueError) as error:
        full = shutil.disk_usage(folder).free < data.nbytes
        reason = "no space left on the disk" if full else getattr(error, "strerror", None) or str(error)
        raise ResultError(f"cannot write {os.fspath(path)!r}: {reason}") from None
    finally:  # also when interrupted
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def load(path):
    """Read a result that `save` wrote."""
    import xarray as xr

    if not os.path.exists(path):
        raise ResultError(f"cannot read {os.fspath(path)!r}: there is no such file")
    try:
        with xr.open_dataset(path, engine="netcdf4") as data:
            data.load()
    except (OSError, ValueError, RuntimeError) as error:
        raise ResultError(f"cannot read {os.fspath(path)!r}: not a NetCDF result file ({error})") from None
    if "model_hash" not in data.attrs:
        raise ResultError(f"cannot read {os.fspath(path)!r}: a NetCDF file, but not a result of torsor")
    return data
