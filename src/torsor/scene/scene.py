"""The scene of a model: a dictionary of plain data, as `docs/view.md` describes it, that goes into JSON as it is.

Lengths are rounded to nine digits of the size of the model: it is a picture.
"""

import json
from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.conversion import constant
from ..joints.base import Connection
from ..model.topology import spanning_tree
from .made_shapes import joint_size, made_ground, made_shapes, quaternion, round_numbers, turn_to

MOST_BODIES = 2000  # bodies of a model whose scene is kept with each of its results
DIGITS = 9  # of numbers in a scene


def scene(model: Any, parameters: dict | None = None) -> dict[str, Any]:
    """The scene of a model; parameters: values that differ from the model's."""
    if parameters:
        return _scene(model, Values(model, parameters))
    if "scene" not in model.derived:
        model.derived["scene"] = _scene(model, Values(model, {}))
    return model.derived["scene"]


def scene_attributes(model: Any, parameters: dict | None = None) -> dict[str, str]:
    """The scene as an attribute of a result; none for a model with more than `LARGEST` bodies."""
    if len(model.bodies) > MOST_BODIES:
        return {}
    if parameters or "scene text" not in model.derived:
        try:
            text = json.dumps(scene(model, parameters), separators=(",", ":"))
        except (
            RuntimeError,
            ValueError,
            TypeError,
            AttributeError,
            IndexError,
        ):  # of a user's class: a run goes on without
            return {}
        if parameters:
            return {"scene": text}
        model.derived["scene text"] = text
    return {"scene": model.derived["scene text"]}


class Values:
    """The numbers that a model's quantities have at the start of a run."""

    def __init__(self, model, parameters):
        self.at = model.values(parameters)

    def __call__(self, value):
        """An array of numbers; what the picture does not know (a signal of the run) counts as 0."""
        if isinstance(value, np.ndarray) and value.dtype != object:
            return value
        if isinstance(value, (int, float, list, tuple)):
            return np.atleast_1d(np.array(value, float))
        x = constant(value)
        found = ca.evalf(x).full() if x.is_constant() else quantity.numbers(x, self.at)
        return np.nan_to_num(found[:, 0] if found.shape[1] == 1 else found)


def _scene(model, values):
    numbers = {id(body): k for k, body in enumerate(model.bodies)}
    poses = [_pose(body, values) for body in model.bodies]
    grounds = {id(g): _pose(g, values) for g in model.grounds}
    joints, attached = _joints(model, values, numbers, poses, grounds)
    forces = _forces(model, values, numbers, attached, grounds)
    size = _size(model, values, poses, attached)
    for joint in joints:
        joint["size"] = joint_size(joint, attached, size)
    bodies = [
        _body(body, values, pose, made_shapes, attached.get(k, []), size)
        for k, (body, pose) in enumerate(zip(model.bodies, poses))
    ]
    data = {
        "name": model.name,
        "size": size,
        "gravity": values(model.gravity),
        "bodies": bodies,
        "ground": _ground_shapes(model, grounds, joints, size),
        "joints": joints,
        "forces": forces,
    }
    return round_numbers(data, DIGITS)


def _pose(placed, values):
    """Position and rotation in the reference configuration."""
    x, R = placed.reference
    return values(x).reshape(3), values(R).reshape(3, 3)


def _body(body, values, pose, invent, points, size):
    mass = float(values(body.mass).reshape(-1)[0]) if not quantity.is_number(body._mass) else float(body._mass)
    J = np.zeros((3, 3)) if body.particle else values(body._inertia)
    own = body.shape is not None
    shapes = [] if not own else [_shape(s, np.asarray(body.center, float)) for s in body.shape]
    moments, axes = np.linalg.eigh(J)
    if np.linalg.det(axes) < 0:
        axes = axes * (1, 1, -1)
    squares = np.maximum(5 / (2 * mass) * (moments.sum() - 2 * moments), 0) if mass > 0 else np.zeros(3)
    half = np.sqrt(squares)
    return {
        "name": body.name,
        "p": pose[0],
        "q": quaternion(pose[1]),
        "mass": mass,
        "ellipsoid": {"semi": half, "q": quaternion(axes)},
        "shapes": shapes if own else invent(points, half, axes, size),
    }


def _shape(shape, center):
    """A shape that a user gave, from the centre of mass."""
    found: dict[str, Any] = {
        "kind": shape.kind, "size": list(shape.size), "p": [a - c for a, c in zip(shape.at, center)],
        "q": list(shape.rotation), "colour": shape.colour, "made": False,
    }  # fmt: skip
    return found if shape.file is None else {**found, "file": shape.file}


def _ground_shapes(model, grounds, joints, size):
    """Shapes of all grounds in world axes, and the planes that contacts of the ground are with."""
    found = []
    for ground in model.grounds:
        at, R = grounds[id(ground)]
        found += [_shape(s.move(at, R), (0, 0, 0)) for s in ground.shape or ()]
    return found + ([] if found else made_ground(joints, size))


def _joints(model, values, numbers, poses, grounds):
    """Everything with frames; and the points where something is attached to each body, in body axes, by its number."""
    cut = {id(joint) for joint in spanning_tree(model).cut}
    switched = {id(element) for element in model.switched_elements}
    switches = _switches(model)
    found: list = []
    attached: dict[int, list] = {}
    for element in model.constraints:
        draw = element.drawn_as()
        ends = [] if draw == "none" else element.drawn_at()
        if not ends:
            continue
        ends = ends if len(ends) == 2 else [ends[0], ends[0]]
        turn = _along(element, values)
        frames, places = [], []
        for body, frame in ends:
            H, k = values(frame), numbers.get(id(body), -1)
            R, p = H[:3, :3] @ turn, H[:3, 3]
            if k < 0:
                x0, R0 = grounds[id(body)]
                R, p = R0 @ R, R0 @ p + x0
            elif isinstance(element, Connection):
                attached.setdefault(k, []).append(p)
            frames.append({"p": p, "q": quaternion(R)})
            places.append(k)
        entry = {
            "name": element.name, "type": type(element).__name__, "draw": draw, "first": places[0], "second": places[1],
            "frames": frames, "switchable": id(element) in switched or element.armable, "cut": id(element) in cut,
            "watched": element.armable,
        }  # fmt: skip
        if id(element) in switches and not element.armable:
            entry |= {"acts": bool(element.acts), "switches": switches[id(element)]}
        radius = getattr(element, "radius", None)
        if radius is not None and draw in ("contact", "rolling"):
            entry["radius"] = float(values(radius).reshape(-1)[0])
        found.append(entry)
    return found, attached


def _switches(model):
    """Pairs (name of an event, whether the element acts afterwards) for each element that events engage or release."""
    found: dict[int, list] = {}
    for event in model.events:
        for action in event.actions:
            if action.key in ("engage", "release"):
                for target in action.targets:
                    found.setdefault(id(target), []).append([event.name, action.key == "engage"])
    return found


def _along(element, values):
    """A rotation that turns z to the direction that an element is drawn along."""
    direction = element.drawn_along()
    if direction is None:
        return np.eye(3)
    # a name of an axis, an expression of parameters, or three numbers
    if not (isinstance(direction, (tuple, list, np.ndarray)) and all(isinstance(x, (int, float)) for x in direction)):
        direction = values(quantity.unit(direction, "axis", element.owner)).reshape(3)
    return turn_to(np.asarray(direction, float))


def _forces(model, values, numbers, attached, grounds):
    found = []
    for force in model.forces:
        draw = force.drawn_as()
        if draw in ("none", "friction"):  # friction is a constraint too, and among the joints
            continue
        points = []
        for body, place in force.drawn_at():
            place, k = values(place), numbers.get(id(body), -1)
            p = place[:3, 3] if place.shape == (4, 4) else place.reshape(3)
            if k < 0:
                x0, R0 = grounds[id(body)]
                p = R0 @ p + x0
            elif draw != "torque":
                attached.setdefault(k, []).append(p)
            points.append({"body": k, "p": p})
        if points:
            natural = getattr(force, "length", None)
            natural = None if natural is None else float(values(natural).reshape(-1)[0])
            found.append(
                {"name": force.name, "type": type(force).__name__, "draw": draw, "points": points, "natural": natural}
            )
    return found


def _size(model, values, poses, attached):
    """The largest extent of the mechanism; of a body that floats alone, the extent of its inertia."""
    places = [x for x, _ in poses]
    for k, points in attached.items():
        x, R = poses[k]
        places += [x + R @ p for p in points]
    extent = float(np.ptp(np.array(places), axis=0).max()) if places else 0.0
    if extent == 0:
        gyration = [
            np.sqrt(np.trace(values(b.inertia)) / float(values(b.mass)[0])) for b in model.bodies if not b.particle
        ]
        extent = 3 * max(gyration, default=0.0)
    return extent if extent > 0 else 1.0
