"""States that an analysis is about: the start of a model, an equilibrium, and whatever else a run can start from."""

import json
import warnings
from collections.abc import Mapping

import numpy as np

from ..describe.model import Model
from ..errors import OptionError
from ..lie import poses
from ..run.wanted import Names
from ..start.elsewhere import Elsewhere
from ..start.examiner import Examiner
from ..start.placing import Motion
from .mechanism import Place

FAR = 1e-3  # of the size of the model, or rad: changes of what was asked for that are warned of


def parameters_of(model, at, given):
    """Values of parameters: those that the state was computed with, but for those given."""
    if not isinstance(model, Model):
        return given
    told = getattr(at, "parameters", None)
    if is_result(at):
        told = json.loads(at.attrs.get("options", "{}")).get("parameters", {})
        labels = {label: x for x in model.parameters for label in (x, f"parameter.{x}")}  # of one run of a study
        told |= {x: float(at[label]) for label, x in labels.items() if label in at.coords and not at[label].ndim}
    if not isinstance(told, Mapping) or not set(told) <= set(model.parameters):
        return given
    return {**told, **(given or {})} if given is None or isinstance(given, Mapping) else given


def place_of(mechanism, at, what="at", loose=False):
    """The place that is meant, at the time that was asked for.

    what    the name of the argument;  loose: whether it may be open which contacts are closed
    """
    place = _place_of(mechanism, at, what, loose)
    return place if mechanism.time in (None, place.t) else onto(mechanism, place.moved(t=mechanism.time))


def _place_of(mechanism, at, what, loose):
    if at is None or isinstance(at, str) and at == "start":
        return mechanism.start
    if hasattr(at, "place_in"):
        return at.place_in(mechanism)
    if mechanism.model.switched and not loose and (is_result(at) or not isinstance(at, Mapping)):
        raise OptionError(
            f"model {mechanism.model.name!r}: which contacts and switched elements act at a time is not part of a result; give "
            f"`{what}` an equilibrium, or values by name, with contacts open"
        )
    return elsewhere(mechanism, at, what)


def elsewhere(mechanism, at, what="at", like=None):
    """A state that is told by values, a result at one time, the state of a simulation or an assembly, on the constraints.

    like   a place in other coordinates, which tells what acts, where that is known
    """
    like, names = like or mechanism.start, Names(mechanism.model, mechanism.system)
    try:
        wanted = names.wanted(at)
    except OptionError as error:
        raise OptionError(
            str(error).replace("start must be", f"`{what}` must be").replace(": start: ", f": {what}: ")
        ) from None
    t = mechanism.start.t
    # of one run of a study there may be its end alone
    t = float(at.get("time", at.get("time_reached", t)) if is_result(at) else getattr(at, "time", t))
    face, starts = _starts(mechanism, like)
    q, v, p, *_ = starts.start(t, wanted)
    q, v, p = face.adopt(t, q, v, p)
    place = mechanism.counted(Place(t, q, v, p, like.released))
    _warn(mechanism, place, {} if wanted.whole else wanted.coordinates, what)
    return place


def is_result(at):
    return hasattr(at, "data_vars") and hasattr(at, "sizes")


def _starts(mechanism, like):
    """The numeric face of a mechanism, and starts of it in absolute coordinates."""
    face, start, flat = mechanism.face(like), mechanism.start, mechanism.shown(mechanism.start)
    R = flat["rotation"].reshape(-1, 3, 3).swapaxes(1, 2)
    x, v, w = (flat[name].reshape(-1, 3) for name in ("position", "velocity", "angular_velocity"))
    bodies, parameters = mechanism.system.bodies, len(mechanism.parameters)
    memories = like.p[parameters : len(mechanism.model.inputs)]
    p = np.concatenate([start.p[:parameters], memories, np.zeros(len(face.absolute.turns))])
    motion = Motion(
        dict(zip(bodies, poses.stacked(R, x))), dict(zip(bodies, zip(v, w))), flat["coordinate"], flat["rate"], p
    )
    examiner = Examiner(face.absolute, face.absolute.scales)
    return face, Elsewhere(face.absolute, examiner, mechanism.system.joint_coordinates, motion)


def _warn(mechanism, place, wanted, what):
    """Warn of coordinates that are others than was asked for, since the constraints do not permit these."""
    found, units = (
        mechanism.coordinates(place),
        dict(zip(mechanism.system.joint_coordinates, mechanism.system.coordinate_units)),
    )
    size = {"m": mechanism.system.length}
    off = {name: x for name, x in wanted.items() if abs(found[name] - x) > FAR * size.get(units[name], 1.0)}
    if off:
        told = "; ".join(f"{name}: {x:.6g} became {found[name]:.6g}" for name, x in off.items())
        warnings.warn(
            f"model {mechanism.model.name!r}: `{what}` does not satisfy the constraints: {told}", stacklevel=4
        )


def renewed(mechanism, place):
    """A place in the coordinates of the mechanism with the parameters of that."""
    own, p = mechanism.start.p[: len(mechanism.parameters)], np.array(place.p)
    if np.array_equal(p[: len(own)], own):
        return place
    p[: len(own)] = own
    return onto(mechanism, place.moved(p=p))


def onto(mechanism, place):
    """A place moved onto the constraints."""
    examiner = mechanism.examiner(place)
    q, _ = examiner.assembled(place.t, place.q, place.p)
    place = mechanism.counted(place.moved(q=q))
    v = examiner.onto(place.t, q, place.v, place.p, mechanism.rows(place).keep)
    return place.moved(v=v)
