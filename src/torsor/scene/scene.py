"""The scene of a model: a dictionary of plain data, as `docs/view.md` describes it, that goes into JSON as it is.

Lengths are rounded to nine digits of the size of the model: it is a picture.
"""

import json
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.conversion import constant
from ..joints.base import Connection
from ..lie import pose_stacks
from ..model.topology import spanning_tree
from .details import Evaluator
from .element_solids import element_solids
from .made_shapes import FLOOR, joint_size, made_ground, made_shapes, quaternion, round_numbers
from .members import Places

MOST_BODIES = 2000  # bodies of a model whose scene is kept with each of its results
DIGITS = 9  # of numbers in a scene
SAME_WHEEL = 0.02  # distance of the centres of two wheels / size of the mechanism, below which they are one
WITHOUT_HOLD = (
    "torque",
    "motor",
    "thrust",
    "liquid",
    "touch",
    "torsion",
    "slide-coil",
    "joint-damper",
)  # forces that hold no point of a body


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
    at = Evaluator(values, numbers, {id(g): _pose(g, values) for g in model.grounds})
    joints, undrawn, attached = _joints(model, at)
    forces = _forces(model, at, attached)
    size = _size(model, values, poses, attached)
    sizes = {}
    for joint in joints:
        joint["size"] = sizes[joint["name"]] = joint_size(joint, attached, size)
    touched = _touching_shapes(model)
    bodies = [
        _body(body, values, pose, touched.get(id(body)), attached.get(k, []), size)
        for k, (body, pose) in enumerate(zip(model.bodies, poses))
    ]
    elements = {element.name: element for element in (*model.constraints, *model.forces)}
    drawn: set = set()
    for entry in (*joints, *forces):
        _add_details(entry, elements[entry["name"]], at, Places(poses, bodies), size, sizes)
        _drop_repeated_wheels(entry, size, drawn)
    ground = _ground_shapes(model, at, touched, joints, size)
    for force in forces:
        ground += _surfaces(force, ground) if force["draw"] == "liquid" else []
    data = {
        "name": model.name,
        "size": size,
        "gravity": values(model.gravity),
        "bodies": bodies,
        "ground": ground,
        "joints": joints,
        "forces": forces,
        "undrawn": undrawn,
    }
    return round_numbers(data, DIGITS)


def _add_details(entry, element, at, places, size, sizes):
    """Solids of an element, and what the page needs to draw it as it moves."""
    details = at.details(element)
    if not details:
        return
    hosts = [sizes[host.name] for host in element.within() if host.name in sizes]
    solids = element_solids(entry["draw"], details, places, size, hosts[0] if hosts else 0.05 * size)
    entry |= {"solids": solids} if solids else {}
    entry |= {key: details[key] for key in ("closed", "touching") if key in details}
    if "stops" in details:
        entry["stops"] = [{key: x for key, x in stop.items() if key != "hub"} for stop in details["stops"]]


def _drop_repeated_wheels(entry, size, drawn):
    """A wheel that is in several pairs is drawn once."""
    kept = []
    for solid in entry.get("solids", ()):
        if solid["kind"] == "extrusion":
            reach = max(abs(x) for point in solid["outline"] for x in point)
            key = (solid["body"], *np.round(np.append(solid["p"], reach) / (SAME_WHEEL * size)).astype(int).tolist())
            if key in drawn:
                continue
            drawn.add(key)
        kept.append(solid)
    if "solids" in entry:
        entry["solids"] = kept


def _surfaces(force, ground):
    """The surface of a liquid as a shape of the ground, once for all bodies in it."""
    known = [_level(shape) for shape in ground if shape["kind"] == "plane"]
    return [x for x in force.pop("solids", []) if not any(np.allclose(_level(x), level) for level in known)]


def _level(plane):
    """The normal of a plane, and its distance from the origin."""
    normal = pose_stacks.rotations(np.asarray(plane["q"], float))[:, 2]
    return np.append(normal, normal @ np.asarray(plane["p"], float))


def _touching_shapes(model):
    """Shapes with which bodies and grounds touch others, for those that have none of their own."""
    found: dict[int, list] = {}
    for force in model.forces:
        for body, shape in force.drawn_shapes():
            known = found.setdefault(id(body), [])
            if shape not in known:
                known.append(shape)
    return found


def _pose(placed, values):
    """Position and rotation in the reference configuration."""
    x, R = placed.reference
    return values(x).reshape(3), values(R).reshape(3, 3)


def _body(body, values, pose, touching, points, size):
    mass = float(values(body.mass).reshape(-1)[0]) if not quantity.is_number(body._mass) else float(body._mass)
    J = np.zeros((3, 3)) if body.particle else values(body._inertia)
    own = touching if body.shape is None else body.shape
    shapes = [_shape(s, np.asarray(body.center, float) if body.shape is not None else np.zeros(3)) for s in own or ()]
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
        "shapes": shapes if own else made_shapes(points, half, axes, size),
    }


def _shape(shape, center):
    """A shape that a user gave, from the centre of mass."""
    found: dict[str, Any] = {
        "kind": shape.kind, "size": list(shape.size), "p": [a - c for a, c in zip(shape.at, center)],
        "q": list(shape.rotation), "colour": shape.colour, "made": False,
    }  # fmt: skip
    return found if shape.file is None else {**found, "file": shape.file}


def _ground_shapes(model, at, touched, joints, size):
    """Shapes of all grounds in world axes, and the planes that contacts of the ground are with."""
    found = []
    for ground in model.grounds:
        p, R = at.grounds[id(ground)]
        own = ground.shape or [_floor(s, size) for s in touched.get(id(ground), ())]
        found += [_shape(s.move(p, R), (0, 0, 0)) for s in own]
    return found + ([] if found else made_ground(joints, size))


def _floor(shape, size):
    """A plane of a contact, as large as a floor."""
    return replace(shape, size=(FLOOR * size,) * 2) if shape.kind == "plane" else shape


def _joints(model, at):
    """Everything with frames; switchable elements without; and the points where something is attached to each body, in body
    axes, by its number."""
    cut = {id(joint) for joint in spanning_tree(model).cut}
    switched = {id(element) for element in model.switched_elements}
    switches = _switches(model)
    found: list = []
    undrawn: list = []
    attached: dict[int, list] = {}
    for element in model.constraints:
        draw = element.drawn_as()
        ends = [] if draw == "none" else element.drawn_at()
        entry = {
            "name": element.name, "type": type(element).__name__, "switchable": id(element) in switched or element.armable,
            "watched": element.armable,
        }  # fmt: skip
        if id(element) in switches and not element.armable:
            entry |= {"acts": bool(element.acts), "switches": switches[id(element)]}
        if not ends:
            undrawn += [entry] if entry["switchable"] else []
            continue
        ends = ends if len(ends) == 2 else [ends[0], ends[0]]
        turn, frames = at.along(element), []
        for body, frame in ends:
            H = at.place(body, frame)
            if (k := at.body(body)) >= 0 and isinstance(element, Connection):
                attached.setdefault(k, []).append(H[:3, 3])
            frames.append({"p": H[:3, 3], "q": quaternion(H[:3, :3] @ turn)})
        first, second = (at.body(body) for body, _ in ends)
        entry |= {"draw": draw, "first": first, "second": second, "frames": frames, "cut": id(element) in cut}
        radius = getattr(element, "radius", None)
        if radius is not None and draw in ("contact", "rolling"):
            entry["radius"] = float(at.values(radius).reshape(-1)[0])
        found.append(entry)
    return found, undrawn, attached


def _switches(model):
    """Pairs (name of an event, whether the element acts afterwards) for each element that events engage or release."""
    found: dict[int, list] = {}
    for event in model.events:
        for action in event.actions:
            if action.engages is not None:
                for target in action.targets:
                    found.setdefault(id(target), []).append([event.name, action.engages])
    return found


def _forces(model, at, attached):
    switches, found = _switches(model), []
    for force in model.forces:
        draw = force.drawn_as()
        if draw in ("none", "friction"):  # friction is a constraint too, and among the joints
            continue
        turn, points = at.along(force), []
        for body, place in force.drawn_at():
            H, k = at.place(body, place), at.body(body)
            if k >= 0 and draw not in WITHOUT_HOLD:
                attached.setdefault(k, []).append(H[:3, 3])
            points.append({"body": k, "p": H[:3, 3], "q": quaternion(H[:3, :3] @ turn)})
        if not points:
            continue
        natural = getattr(force, "length", None)
        natural = None if natural is None else float(at.values(natural).reshape(-1)[0])
        entry = {"name": force.name, "type": type(force).__name__, "draw": draw, "points": points, "natural": natural}
        if id(force) in switches:
            entry |= {"switchable": True, "acts": bool(force.acts), "switches": switches[id(force)]}
        found.append(entry)
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
