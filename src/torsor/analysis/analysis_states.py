"""Operating points of an analysis: the start of a model, an equilibrium, or any state from which a run can start."""

import json
import warnings
from collections.abc import Mapping

import numpy as np

from ..errors import OptionError
from ..lie import pose_stacks
from ..model.model import Model
from ..start.constraints import Examiner
from ..start.joint_placement import Motion
from ..start.request import StartNames
from ..start.requested import RequestedStarts
from .mechanism import OperatingPoint

DEVIATION_WARNED = 1e-3  # rad, or the size of the model: difference of a coordinate from its requested value


def parameters_of(model, at, given):
    """Parameter values: those with which the state was computed, updated by those given."""
    if not isinstance(model, Model):
        return given
    stored = getattr(at, "parameters", None)
    if is_result(at):
        stored = json.loads(at.attrs.get("options", "{}")).get("parameters", {})
        labels = {label: x for x in model.parameters for label in (x, f"parameter.{x}")}  # one run of a study
        stored |= {x: float(at[label]) for label, x in labels.items() if label in at.coords and not at[label].ndim}
    if not isinstance(stored, Mapping) or not set(stored) <= set(model.parameters):
        return given
    return {**stored, **(given or {})} if given is None or isinstance(given, Mapping) else given


def operating_point(mechanism, at, what="at", contacts_free=False):
    """The operating point that the argument `at` means, at the requested time.

    what            name of the argument, for messages
    contacts_free   True if the state need not say which contacts are closed
    """
    point = _requested_point(mechanism, at, what, contacts_free)
    if mechanism.time in (None, point.t):
        return point
    return project_onto_constraints(mechanism, point.with_changes(t=mechanism.time))


def _requested_point(mechanism, at, what, contacts_free):
    """The operating point that `at` means, at its own time."""
    if at is None or isinstance(at, str) and at == "start":
        return mechanism.start
    if hasattr(at, "point_in"):
        return at.point_in(mechanism)
    if mechanism.model.switched_elements and not contacts_free and (is_result(at) or not isinstance(at, Mapping)):
        raise OptionError(
            f"model {mechanism.model.name!r}: a result does not contain which contacts and switched elements are active; give "
            f"`{what}` an equilibrium, or values by name (contacts are open then)"
        )
    return point_from_values(mechanism, at, what)


def point_from_values(mechanism, at, what="at", like=None):
    """The operating point given by values, a result at one time, the state of a simulation or an assembly, on the constraints.

    like   an operating point in other coordinates with the same active elements; None: the start
    """
    like, names = like or mechanism.start, StartNames(mechanism.model, mechanism.system)
    try:
        requested = names.parse(at)
    except OptionError as error:
        raise OptionError(
            str(error).replace("start must be", f"`{what}` must be").replace(": start: ", f": {what}: ")
        ) from None
    t = mechanism.start.t
    # one run of a study may have its end only
    t = float(at.get("time", at.get("time_reached", t)) if is_result(at) else getattr(at, "time", t))
    numeric_formulation, starts = _start_solver(mechanism, like)
    q, v, p, *_ = starts.start(t, requested)
    q, v, p = numeric_formulation.adopt(t, q, v, p)
    point = mechanism.count_turns(OperatingPoint(t, q, v, p, like.released))
    _warn_of_deviations(mechanism, point, {} if requested.whole else requested.coordinates, what)
    return point


def is_result(at):
    """True for a dataset."""
    return hasattr(at, "data_vars") and hasattr(at, "sizes")


def _start_solver(mechanism, like):
    """The numeric formulation of a mechanism, and the solver for consistent starts in absolute coordinates."""
    numeric_formulation = mechanism.numeric_formulation(like)
    start = mechanism.start
    flat = mechanism.output_values(start)
    R = flat["rotation"].reshape(-1, 3, 3).swapaxes(1, 2)
    x, v, w = (flat[name].reshape(-1, 3) for name in ("position", "velocity", "angular_velocity"))
    bodies, inputs = mechanism.system.bodies, mechanism.model.input_layout
    p = np.concatenate(
        [start.p[inputs.parameters], like.p[inputs.memories], np.zeros(len(numeric_formulation.absolute.turns))]
    )
    motion = Motion(
        dict(zip(bodies, pose_stacks.stack_poses(R, x))),
        dict(zip(bodies, zip(v, w))),
        flat["coordinate"],
        flat["rate"],
        p,
    )
    examiner = Examiner(numeric_formulation.absolute, numeric_formulation.absolute.scales)
    return numeric_formulation, RequestedStarts(
        numeric_formulation.absolute, examiner, mechanism.system.joint_coordinates, motion
    )


def _warn_of_deviations(mechanism, point, requested, what):
    """Warn of coordinates that differ from their requested values because of the constraints."""
    coordinates = mechanism.coordinates(point)
    units = dict(zip(mechanism.system.joint_coordinates, mechanism.system.coordinate_units))
    size = {"m": mechanism.system.length}
    off = {
        name: x
        for name, x in requested.items()
        if abs(coordinates[name] - x) > DEVIATION_WARNED * size.get(units[name], 1.0)
    }
    if off:
        changes = "; ".join(f"{name}: {x:.6g} became {coordinates[name]:.6g}" for name, x in off.items())
        warnings.warn(
            f"model {mechanism.model.name!r}: `{what}` does not satisfy the constraints: {changes}", stacklevel=4
        )


def with_own_parameters(mechanism, point):
    """The operating point with the parameter values of the mechanism."""
    own_parameters, p = mechanism.start.p[: len(mechanism.parameters)], np.array(point.p)
    if np.array_equal(p[: len(own_parameters)], own_parameters):
        return point
    p[: len(own_parameters)] = own_parameters
    return project_onto_constraints(mechanism, point.with_changes(p=p))


def project_onto_constraints(mechanism, point):
    """The operating point with positions and velocities projected onto the constraints."""
    examiner = mechanism.examiner(point)
    q, _ = examiner.assemble_or_refuse(point.t, point.q, point.p)
    point = mechanism.count_turns(point.with_changes(q=q))
    v = examiner.onto(point.t, q, point.v, point.p, mechanism.rows(point).keep)
    return point.with_changes(v=v)
