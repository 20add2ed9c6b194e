"""A start that a user asks for, in the place of the one that the model tells: what it names, checked.

{"hinge": 0.3, "hinge.rate": 1.0}             coordinates and rates of joints, of one component too: "ball[1]"
{"bob.position": (0, 0, 1), "heat": 2.0}      how bodies stand and move, states of the user
{"coordinates": …, "rates": …}                all of them, as arrays, or some by name
data.isel(time=-1), sim.state, sim            a result at one time; the state of a simulation
anything with such a result as its `data`     an equilibrium
anything with `coordinates` by name           and with `rates`, or at rest: an assembly
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

import numpy as np

from ..describe import quantity
from ..errors import OptionError

BODY = {"position": (3,), "rotation": (3, 3), "velocity": (3,), "angular_velocity": (3,)}
MEAN = 0.9  # least stretch of the mean of two rotations that are close to each other: less than 50 degrees
ALLOWED = (
    "values by name (of joints, bodies and states), a result at one time as in data.isel(time=-1), the state of a Simulation, an "
    "assembly or an equilibrium"
)


@dataclass
class Wanted:
    """What a start is to have; everything else is as the model says.

    coordinates, rates   of joints, by label
    bodies               by body and quantity
    states               of the user, by name
    whole                whether all bodies are told, in position and motion
    named                whether each value was asked for by its name
    time                 at which a former result or a state of a simulation is [s]; None: it has none
    """

    coordinates: dict[str, float] = field(default_factory=dict)
    rates: dict[str, float] = field(default_factory=dict)
    bodies: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)
    states: dict[str, float] = field(default_factory=dict)
    whole: bool = False
    named: bool = False
    time: float | None = None

    @property
    def moves(self):
        """Whether anything but states is asked for."""
        return bool(self.coordinates or self.rates or self.bodies)


class Names:
    """What a start of a system can name."""

    def __init__(self, model, system):
        self.model, self.system = model, system
        self.labels, self.states = system.joint_coordinates, [name for name, _ in system.states]
        self.joints, self.vectors = _wholes(self.labels), _wholes(self.states)
        self.bodies = {body.name: body for body in model.bodies}

    def wanted(self, start) -> Wanted:
        """The start that is meant."""
        if hasattr(start, "data_vars") and hasattr(start, "sizes"):
            return self._of_result(start)
        if not isinstance(start, np.ndarray) and hasattr(getattr(start, "data", None), "data_vars"):
            return self._of_result(start.data)
        moment = getattr(start, "state", start)  # of a simulation
        if hasattr(moment, "motion") and hasattr(moment, "names"):
            return self._of_moment(moment)
        if isinstance(start, Mapping):
            return self._of_values(start)
        if isinstance(getattr(start, "coordinates", None), Mapping):
            rates = getattr(start, "rates", None)
            still = dict.fromkeys(self.labels, 0.0)
            found = Wanted(rates=still)
            self._vector(found.coordinates, "coordinates", start.coordinates)
            self._vector(found.rates, "rates", {} if rates is None else rates)
            return found
        raise OptionError(f"model {self.model.name!r}: start must be {ALLOWED}, got {quantity.show(start)}")

    def _of_values(self, values):
        found = Wanted(named=True)
        for name, value in values.items():
            if name in ("coordinates", "rates"):
                self._vector(getattr(found, name), name, value)
            else:
                self._one(found, name, value)
        return found

    def _one(self, found, name, value):
        """One value by its name."""
        owner, _, what = name.rpartition(".") if isinstance(name, str) else ("", "", "")
        if labels := [name] if name in self.states else self.vectors.get(name, []):
            found.states |= zip(labels, self._numbers(name, value, (len(labels),)).tolist())
        elif owner in self.bodies and what in BODY:
            if self.bodies[owner].particle and what in ("rotation", "angular_velocity"):
                raise OptionError(f"model {self.model.name!r}: start: {name!r}: a particle has no orientation")
            found.bodies[owner, what] = (
                self._pose(name, value) if what == "rotation" else self._numbers(name, value, BODY[what])
            )
        elif what == "rate" and (labels := self._labels(owner)):
            found.rates |= zip(labels, self._numbers(name, value, (len(labels),)).tolist())
        elif labels := self._labels(owner if what == "coordinate" else name):
            found.coordinates |= zip(
                labels, self._principal(labels, self._numbers(name, value, (len(labels),))).tolist()
            )
        else:
            self._refuse(name)

    def _principal(self, labels, value):
        """All coordinates of a joint as results hold them: a rotation vector that is longer than half a turn is another one."""
        joint = self.model[labels[0].rpartition("[")[0] or labels[0]]
        if len(labels) < joint.dof or not joint.quasi:
            return value
        import casadi as ca  # late: most starts need none

        x = ca.SX.sym("x", joint.dof)
        found = np.array(ca.Function("principal", [x], [joint.coordinates(joint.pose(x))])(value), float).ravel()
        return value if np.allclose(found, value, rtol=0, atol=1e-9) else found

    def _pose(self, name, value):
        """A rotation, as bodies are given theirs: a matrix, a quaternion or a rotation vector."""
        try:
            return np.array(quantity.orientation(value, name.rpartition(".")[2], "start"), float)
        except Exception:  # whatever it is that was given
            allowed = "a rotation: a 3x3 matrix, a quaternion (scalar first) or a rotation vector"
            raise OptionError(
                f"model {self.model.name!r}: start: {name} must be {allowed}, got {quantity.show(value)}"
            ) from None

    def _labels(self, name):
        return [name] if name in self.labels else self.joints.get(name, [])

    def _refuse(self, name):
        known = [*self.joints, *(f"{j}.rate" for j in self.joints), *self.vectors]
        known += [f"{body}.{what}" for body in self.bodies for what in BODY]
        close = get_close_matches(name, known, n=1) if isinstance(name, str) else []
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise OptionError(
            f"model {self.model.name!r}: start: unknown {quantity.show(name)}.{hint} Known: {', '.join(known[:30])}"
            f"{' …' if len(known) > 30 else ''}."
        )

    def _vector(self, target, name, value):
        """Coordinates or rates, as an array of all or as some by name."""
        if isinstance(value, Mapping):
            for own, x in value.items():
                if not (labels := self._labels(own)):
                    self._refuse(own)
                target |= zip(labels, self._numbers(f"{name} of {own}", x, (len(labels),)).tolist())
        else:
            target |= zip(self.labels, self._numbers(name, value, (len(self.labels),)).tolist())

    def _numbers(self, name, value, shape):
        try:
            found = quantity.reals(value)
        except Exception:  # whatever a stranger's class raises when it is asked for numbers
            found = np.array(np.nan)
        if shape == (1,) and found.ndim == 0:
            found = found.reshape(1)
        if found.shape != shape or not (np.abs(found) <= quantity.LARGEST).all():
            allowed = "a finite number" if shape == (1,) else f"finite numbers of shape {shape}"
            raise OptionError(f"model {self.model.name!r}: start: {name} must be {allowed}, got {quantity.show(value)}")
        return found

    def _of_result(self, data):
        if data.sizes.get("time", 1) != 1:
            raise OptionError(
                f"model {self.model.name!r}: start: give a result at one time, as in data.isel(time=-1) or data.sel(time=1.0)"
            )
        data = data.isel(time=0) if "time" in data.sizes else data
        needed = [*BODY, "coordinate", "rate"]
        missing = [name for name in needed if name not in data]
        several = [] if missing else [d for d in data["coordinate"].dims if d != "joint_coordinate"]
        data = data.isel({d: 0 for d in several if data.sizes[d] == 1})
        several = [f"{d} {data.sizes[d]}" for d in several if d in data.sizes]
        if missing or several:
            what = f"missing: {', '.join(missing)}" if missing else f"of several: {', '.join(several)}"
            raise OptionError(f"model {self.model.name!r}: start: not a result of a run at one time ({what})")
        parts = {name: data[name].values for name in needed}
        names = {"body": data["body"].values.tolist(), "joint_coordinate": data["joint_coordinate"].values.tolist()}
        found = self._whole(names, parts, {name: float(data[name]) for name in self.states if name in data})
        when = data.get("time", data.get("time_reached"))  # of one run of a study there may be its end alone
        found.time = None if when is None else float(when)
        return found

    def _of_moment(self, moment):
        found = self._whole(moment.names, moment.motion, {k: x for k, x in moment.states.items() if k in self.states})
        found.time = float(moment.time)
        return found

    def _orthogonal(self, body, R):
        """The nearest rotation: what lies between two outputs of a result is a mean of matrices, and not quite one."""
        U, s, Vt = np.linalg.svd(R)
        if np.linalg.det(R) <= 0 or s.min() < MEAN:
            raise OptionError(
                f"model {self.model.name!r}: start: rotation of {body!r} is no rotation: {quantity.show(R)}"
            )
        return R if np.abs(s - 1).max() < 1e-12 else U @ Vt

    def _whole(self, names, parts, states):
        """A whole motion, of a model with the same bodies and joints."""
        for what, own in (("body", list(self.bodies)), ("joint_coordinate", self.labels)):
            other = sorted(set(own) ^ set(names[what]))
            if other:
                kind = "bodies" if what == "body" else "joint coordinates"
                raise OptionError(
                    f"model {self.model.name!r}: start: it belongs to a model with other {kind}: {', '.join(other[:5])}"
                )
        for name, x in parts.items():
            self._numbers(name, x, np.shape(x))
        found = Wanted(states=states, whole=True)
        for k, body in enumerate(names["body"]):
            found.bodies |= {(body, what): np.asarray(parts[what][k]) for what in BODY}
            found.bodies[body, "rotation"] = self._orthogonal(body, found.bodies[body, "rotation"])
        for target, what in ((found.coordinates, "coordinate"), (found.rates, "rate")):
            target |= zip(names["joint_coordinate"], np.asarray(parts[what]).tolist())
        return found


def _wholes(labels):
    """Labels of components by the name of what they belong to."""
    found: dict[str, list[str]] = {}
    for label in labels:
        found.setdefault(label.rpartition("[")[0] if label.endswith("]") else label, []).append(label)
    return found
