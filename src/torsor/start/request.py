"""Parse and validate a start that a user requests instead of the start of the model.

{"hinge": 0.3, "hinge.rate": 1.0}             coordinates and rates of joints, of one component too: "ball[1]"
{"bob.position": (0, 0, 1), "heat": 2.0}      position, rotation and velocities of bodies; the user's own states
{"coordinates": …, "rates": …}                all coordinates and rates as arrays, or some by name
data.isel(time=-1), sim.state, sim            a result at one time; the state of a simulation
anything with such a result as its `data`     for example an equilibrium
anything with `coordinates` by name           for example an assembly; at rest if it has no `rates`
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

import numpy as np

from ..elements import quantity
from ..errors import OptionError

BODY_QUANTITIES = {"position": (3,), "rotation": (3, 3), "velocity": (3,), "angular_velocity": (3,)}
LEAST_STRETCH = 0.9  # smallest singular value of the mean of two rotations that differ by less than 50 degrees
ORTHOGONAL_BELOW = 1e-12  # deviation of the singular values of a rotation matrix from 1
PRINCIPAL_EQUAL = 1e-9  # difference of a rotation vector from its principal value [rad]
ALLOWED = (
    "values by name (of joints, bodies and states), a result at one time as in data.isel(time=-1), the state of a Simulation, an "
    "assembly or an equilibrium"
)


@dataclass
class RequestedStart:
    """Requested values of a start; all other values are those of the model.

    coordinates, rates   of joints, by label
    bodies               by body and quantity
    states               the user's own states, by name
    whole                True if positions and velocities of all bodies are given
    named                True if each value is requested by name
    time                 time of the result or of the state of a simulation [s]; None if it has none
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
        """True if anything except states is requested."""
        return bool(self.coordinates or self.rates or self.bodies)


class StartNames:
    """The names that a start of a system can use."""

    def __init__(self, model, system):
        self.model, self.system = model, system
        self.labels, self.states = system.joint_coordinates, [name for name, _ in system.states]
        self.joints, self.vectors = _labels_by_name(self.labels), _labels_by_name(self.states)
        self.bodies = {body.name: body for body in model.bodies}

    def parse(self, start) -> RequestedStart:
        """Parse a start in any of the forms above."""
        if hasattr(start, "data_vars") and hasattr(start, "sizes"):
            return self._parse_result(start)
        if not isinstance(start, np.ndarray) and hasattr(getattr(start, "data", None), "data_vars"):
            return self._parse_result(start.data)
        state = getattr(start, "state", start)  # a simulation has its state as an attribute
        if hasattr(state, "motion") and hasattr(state, "names"):
            return self._parse_state(state)
        if isinstance(start, Mapping):
            return self._parse_values(start)
        if isinstance(getattr(start, "coordinates", None), Mapping):
            rates = getattr(start, "rates", None)
            at_rest = dict.fromkeys(self.labels, 0.0)
            result = RequestedStart(rates=at_rest)
            self._parse_vector(result.coordinates, "coordinates", start.coordinates)
            self._parse_vector(result.rates, "rates", {} if rates is None else rates)
            return result
        raise OptionError(f"model {self.model.name!r}: start must be {ALLOWED}, got {quantity.show(start)}")

    def _parse_values(self, values):
        result = RequestedStart(named=True)
        for name, value in values.items():
            if name in ("coordinates", "rates"):
                self._parse_vector(getattr(result, name), name, value)
            else:
                self._parse_value(result, name, value)
        return result

    def _parse_value(self, result, name, value):
        """Parse one value by its name."""
        owner, _, what = name.rpartition(".") if isinstance(name, str) else ("", "", "")
        if labels := [name] if name in self.states else self.vectors.get(name, []):
            result.states |= zip(labels, self._numbers(name, value, (len(labels),)).tolist())
        elif owner in self.bodies and what in BODY_QUANTITIES:
            if self.bodies[owner].particle and what in ("rotation", "angular_velocity"):
                raise OptionError(f"model {self.model.name!r}: start: {name!r}: a particle has no orientation")
            result.bodies[owner, what] = (
                self._rotation(name, value) if what == "rotation" else self._numbers(name, value, BODY_QUANTITIES[what])
            )
        elif what == "rate" and (labels := self._labels(owner)):
            result.rates |= zip(labels, self._numbers(name, value, (len(labels),)).tolist())
        elif labels := self._labels(owner if what == "coordinate" else name):
            result.coordinates |= zip(
                labels, self._principal(labels, self._numbers(name, value, (len(labels),))).tolist()
            )
        else:
            self._refuse(name)

    def _principal(self, labels, value):
        """All coordinates of a joint as in results, where a rotation vector is not longer than half a turn."""
        joint = self.model[labels[0].rpartition("[")[0] or labels[0]]
        if len(labels) < joint.dof or not joint.quasi:
            return value
        import casadi as ca  # imported late: most starts do not need it

        x = ca.SX.sym("x", joint.dof)
        result = np.array(ca.Function("principal", [x], [joint.coordinates(joint.pose(x))])(value), float).ravel()
        return value if np.allclose(result, value, rtol=0, atol=PRINCIPAL_EQUAL) else result

    def _rotation(self, name, value):
        """A rotation matrix from a matrix, a quaternion or a rotation vector."""
        try:
            return np.array(quantity.orientation(value, name.rpartition(".")[2], "start"), float)
        except Exception:  # the value may be of any type
            allowed = "a rotation: a 3x3 matrix, a quaternion (scalar first) or a rotation vector"
            raise OptionError(
                f"model {self.model.name!r}: start: {name} must be {allowed}, got {quantity.show(value)}"
            ) from None

    def _labels(self, name):
        return [name] if name in self.labels else self.joints.get(name, [])

    def _refuse(self, name):
        known = [*self.joints, *(f"{j}.rate" for j in self.joints), *self.vectors]
        known += [f"{body}.{what}" for body in self.bodies for what in BODY_QUANTITIES]
        close = get_close_matches(name, known, n=1) if isinstance(name, str) else []
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise OptionError(
            f"model {self.model.name!r}: start: unknown {quantity.show(name)}.{hint} Known: {', '.join(known[:30])}"
            f"{' …' if len(known) > 30 else ''}."
        )

    def _parse_vector(self, target, name, value):
        """Parse coordinates or rates: an array of all, or some by name."""
        if isinstance(value, Mapping):
            for own, x in value.items():
                if not (labels := self._labels(own)):
                    self._refuse(own)
                target |= zip(labels, self._numbers(f"{name} of {own}", x, (len(labels),)).tolist())
        else:
            target |= zip(self.labels, self._numbers(name, value, (len(self.labels),)).tolist())

    def _numbers(self, name, value, shape):
        try:
            result = quantity.reals(value)
        except Exception:  # conversion of a foreign class may raise anything
            result = np.array(np.nan)
        if shape == (1,) and result.ndim == 0:
            result = result.reshape(1)
        if result.shape != shape or not (np.abs(result) <= quantity.LARGEST).all():
            allowed = "a finite number" if shape == (1,) else f"finite numbers of shape {shape}"
            raise OptionError(f"model {self.model.name!r}: start: {name} must be {allowed}, got {quantity.show(value)}")
        return result

    def _parse_result(self, data):
        if data.sizes.get("time", 1) != 1:
            raise OptionError(
                f"model {self.model.name!r}: start: give a result at one time, as in data.isel(time=-1) or data.sel(time=1.0)"
            )
        data = data.isel(time=0) if "time" in data.sizes else data
        needed = [*BODY_QUANTITIES, "coordinate", "rate"]
        missing = [name for name in needed if name not in data]
        several = [] if missing else [d for d in data["coordinate"].dims if d != "joint_coordinate"]
        data = data.isel({d: 0 for d in several if data.sizes[d] == 1})
        several = [f"{d} {data.sizes[d]}" for d in several if d in data.sizes]
        if missing or several:
            what = f"missing: {', '.join(missing)}" if missing else f"several values along {', '.join(several)}"
            raise OptionError(f"model {self.model.name!r}: start: not a result of a run at one time ({what})")
        parts = {name: data[name].values for name in needed}
        names = {"body": data["body"].values.tolist(), "joint_coordinate": data["joint_coordinate"].values.tolist()}
        result = self._parse_motion(names, parts, {name: float(data[name]) for name in self.states if name in data})
        when = data.get("time", data.get("time_reached"))  # one run of a study may have its end time only
        result.time = None if when is None else float(when)
        return result

    def _parse_state(self, state):
        result = self._parse_motion(
            state.names, state.motion, {k: x for k, x in state.states.items() if k in self.states}
        )
        result.time = float(state.time)
        return result

    def _nearest_rotation(self, body, R):
        """The nearest rotation. An interpolation between two outputs of a result is a mean of matrices, which is not orthogonal."""
        U, s, Vt = np.linalg.svd(R)
        if np.linalg.det(R) <= 0 or s.min() < LEAST_STRETCH:
            raise OptionError(
                f"model {self.model.name!r}: start: rotation of {body!r} is not a rotation: {quantity.show(R)}"
            )
        return R if np.abs(s - 1).max() < ORTHOGONAL_BELOW else U @ Vt

    def _parse_motion(self, names, parts, states):
        """Parse the motion of all bodies and joints of a model with the same bodies and joints."""
        for what, own in (("body", list(self.bodies)), ("joint_coordinate", self.labels)):
            other = sorted(set(own) ^ set(names[what]))
            if other:
                kind = "bodies" if what == "body" else "joint coordinates"
                raise OptionError(
                    f"model {self.model.name!r}: start: it belongs to a model with other {kind}: {', '.join(other[:5])}"
                )
        for name, x in parts.items():
            self._numbers(name, x, np.shape(x))
        result = RequestedStart(states=states, whole=True)
        for k, body in enumerate(names["body"]):
            result.bodies |= {(body, what): np.asarray(parts[what][k]) for what in BODY_QUANTITIES}
            result.bodies[body, "rotation"] = self._nearest_rotation(body, result.bodies[body, "rotation"])
        for target, what in ((result.coordinates, "coordinate"), (result.rates, "rate")):
            target |= zip(names["joint_coordinate"], np.asarray(parts[what]).tolist())
        return result


def _labels_by_name(labels):
    """Labels of components, by the name of their joint or state."""
    result: dict[str, list[str]] = {}
    for label in labels:
        result.setdefault(label.rpartition("[")[0] if label.endswith("]") else label, []).append(label)
    return result
