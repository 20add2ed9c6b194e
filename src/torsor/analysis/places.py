"""States that an analysis starts from: the start of a model, a place that was found before, a result at one time."""

import json
from collections.abc import Mapping

import numpy as np

from ..describe import quantity
from ..describe.model import Model
from ..errors import OptionError
from .mechanism import Place


def parameters_of(model, at, given):
    """Values of parameters: those that the state was computed with, but for those given."""
    told = getattr(at, "parameters", None)
    if _is_result(at):
        told = json.loads(at.attrs.get("options", "{}")).get("parameters")
    if not isinstance(told, Mapping) or not isinstance(model, Model) or not set(told) <= set(model.parameters):
        return given
    return {**told, **(given or {})} if given is None or isinstance(given, Mapping) else given


def place_of(mechanism, at):
    """The place that is meant."""
    if at is None or isinstance(at, str) and at == "start":
        return mechanism.start
    if _is_result(at):
        return of_result(mechanism, at)
    if hasattr(at, "place_in"):
        return at.place_in(mechanism)
    raise OptionError(
        f"model {mechanism.model.name!r}: `at` must be a result at one time, or an equilibrium, got {quantity.show(at)}"
    )


def _is_result(at):
    return hasattr(at, "data_vars") and hasattr(at, "sizes")


def of_result(mechanism, data, like=None):
    """A result at one time, in the coordinates of the mechanism, on its constraints.

    like   a place in other coordinates, which tells what acts, where that is known
    """
    model, like = mechanism.model, like or (None if mechanism.model.switched else mechanism.start)
    if data.sizes.get("time", 1) != 1:
        raise OptionError(
            f"model {model.name!r}: give a result at one time, as in data.sel(time=1.0), or data.isel(time=-1)"
        )
    data = data.isel(time=0) if "time" in data.sizes else data
    missing = [x for x in ("position", "rotation", "velocity", "angular_velocity") if x not in data]
    if missing or "time" not in data.coords or list(data["body"].values) != mechanism.system.bodies:
        raise OptionError(f"model {model.name!r}: `at` is no result of this model at a time")
    if like is None:
        raise OptionError(
            f"model {model.name!r}: which contacts and switched elements act at a time is not part of a result; give `at` an "
            "equilibrium"
        )
    face, t = mechanism.face(mechanism.start), float(data["time"])
    absolute, parts, speeds = face.absolute, [], []
    for body in model.bodies:
        own = data.sel(body=body.name)
        parts += [own["position"].values] + ([] if body.particle else [own["rotation"].values.ravel(order="F")])
        speeds += [own["velocity"].values] + ([] if body.particle else [own["angular_velocity"].values])
    memories = like.p[len(model.parameters) : len(model.inputs)]
    p = np.concatenate([mechanism.start.p[: len(model.parameters)], memories, _turns(data, absolute)])
    for name, place in mechanism.system.states:
        p[place] = float(data[name])
    q, v, p = face.adopt(t, np.concatenate(parts), np.concatenate(speeds), p)
    return onto(mechanism, Place(t, q, v, p, like.released))


def _turns(data, f):
    """Angles near which joints count their turns."""
    label = lambda joint, k: joint.name if joint.dof == 1 else f"{joint.name}[{k}]"
    return np.array([float(data["coordinate"].sel(joint_coordinate=label(j, k))) for j, k in f.turns], float)


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
    place = place.moved(q=q)
    v = examiner.onto(place.t, q, place.v, place.p, mechanism.rows(place).keep)
    return place.moved(v=v)
