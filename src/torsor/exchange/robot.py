"""What reading a file gives: the model, what became of every named thing in the file, and what was left out."""

from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from ..elements.shapes import Shape
from ..errors import ModelError
from ..joints import Joint
from ..lie import pose_stacks
from ..model.model import Model

WITHOUT_MOTION = (
    "camera", "light", "numeric", "text", "tuple", "skin", "sensor", "geom", "mesh", "visual", "texture", "site", "gazebo",
    "option flag sleep",
)  # fmt: skip
IN_SOME_STATES = ("contact", "collision", "range", "limit", "friction", "frictionloss", "actuator", "transmission")


@dataclass(frozen=True)
class Note:
    """One thing that the model does not say as the file does.

    kind      "ignored", "approximated", "unsupported", "missing", "renamed", "welded" or "questionable"
    element   what it is about, by tag and name
    message   what became of it
    where     file:line
    """

    kind: str
    element: str
    message: str
    where: str = ""

    @property
    def importance(self) -> int:
        """0: the motion differs everywhere; 1: it differs in some states, as with limits, friction and contacts; 2: nothing moves
        in another way. Notes of a report come in this order."""
        held = self.element == "inertial"  # of what is fixed to the ground
        if held or self.kind in ("renamed", "missing", "welded") or self.element.startswith(WITHOUT_MOTION):
            return 2
        return 1 if self.element.startswith(IN_SOME_STATES) or self.kind == "questionable" else 0

    def __str__(self):
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.kind}: {self.element}: {self.message}"


@dataclass(frozen=True, eq=False)
class Placement:
    """Where a link of the file is: the name of its body (or "ground") and its frame in that body's frame.

    at, rotation   position [m] and rotation matrix; `body.point(at)` is the signal of the link's origin
    """

    body: str
    at: np.ndarray
    rotation: np.ndarray


@dataclass(frozen=True, eq=False)
class Visual:
    """A shape to draw, fixed in a body.

    kind           "mesh", "box" (edges), "sphere" (radius), "cylinder", "capsule" (radius, length), "ellipsoid" (radii)
    at, rotation   pose in the body's frame
    size           what `kind` says [m]; for a mesh its scale along x, y, z
    file           of a mesh; None if it was not found
    uri            the mesh's name in the file that was read
    colour         red, green, blue, opacity from 0 to 1, or None
    link           the link of the file that it belongs to
    """

    kind: str
    at: np.ndarray
    rotation: np.ndarray
    size: tuple = (1.0, 1.0, 1.0)
    file: str | None = None
    uri: str | None = None
    colour: tuple | None = None
    link: str = ""


def shapes_of_visuals(visuals: list[Visual]) -> tuple[Shape, ...]:
    """The shapes of a body that these visuals are; a mesh whose file is missing keeps its name in the file that was read."""
    found = []
    for v in visuals:
        colour = None if v.colour is None else tuple(min(max(float(x), 0.0), 1.0) for x in v.colour)
        pose = tuple(map(float, v.at)), tuple(map(float, pose_stacks.quaternions(v.rotation)))
        file = (v.file or v.uri or "without a name") if v.kind == "mesh" else None
        found.append(Shape(v.kind, tuple(map(float, v.size)), *pose, colour, file))
    return tuple(found)


class Keyframe(dict):
    """A configuration of the file by name, as `start=` takes it: coordinates of joints, and rates as "joint.rate".

    inputs   values of the inputs of actuators, by name
    time     time of the keyframe in the file [s]
    """

    def __init__(self, values=(), inputs=None, time=0.0):
        super().__init__(values)
        self.inputs = dict(inputs or {})
        self.time = time


@dataclass(frozen=True, eq=False)
class ImportedJoint:
    """A joint of the file: the model's joint that it became (part of), and its own coordinate and rate as signals.

    coordinate, rate   None where a sequence of three hinges became a spherical joint, which has no such angles
    limits             of position, velocity and effort: kept, not simulated
    """

    joint: Joint
    coordinate: ca.SX | None
    rate: ca.SX | None
    limits: dict = field(default_factory=dict)


@dataclass(eq=False)
class Imported:
    """A model that was read from a file.

    model     torsor.Model, complete and not yet compiled
    report    every ignored, approximated, unsupported, missing or renamed element (`Note`, printable)
    links     by the file's name: where each link is (`Placement`)
    joints    by the file's name: what each joint that moves became (`ImportedJoint`)
    visuals   by body name: what to draw (`Visual`)
    sites     by the file's name: where each site is (`Placement`); those whose names are free are ports of the model, too
    keyframes by the file's name: configurations that `start=` takes (`Keyframe`)
    run       arguments of `simulate` that the file gives
    expect    values that a run must reproduce, as the file gives them (`torsor check`)
    """

    model: Model
    report: list[Note]
    links: dict[str, Placement]
    joints: dict[str, ImportedJoint]
    visuals: dict[str, list[Visual]]
    sites: dict[str, Placement] = field(default_factory=dict)
    keyframes: dict[str, Keyframe] = field(default_factory=dict)
    run: dict = field(default_factory=dict)
    expect: list = field(default_factory=list)
    start_of: Any = field(default=None, repr=False)
    coordinates_of: Any = field(default=None, repr=False)
    source: Any = field(default=None, repr=False)
    contents: Any = field(default=None, repr=False)

    def keyframe(self, qpos: Any, qvel: Any = None) -> Keyframe:
        """A start with the numbers of the file's own simulator, MuJoCo: qpos and, if the robot moves, qvel."""
        if self.coordinates_of is None:
            raise ModelError(f"model {self.model.name!r}: keyframe is for robots that were read from MJCF files")
        return self.start_of(*self.coordinates_of(qpos, qvel))

    def attach(self, tool: Any, at: Any, name: str | None = None, frame: Any = None) -> None:
        """Fix another robot, such as a gripper, or a payload to a site or a link of this one; `model` is built again.

        tool    what `ts.read` returned, or an inertia of `ts.inertia` about the place where it is attached
        at      name of a site or a link of this robot, or a placement of `sites` or `links`
        name    what the names of the tool's elements begin with, as in "hand_finger"; None: the name of its model
        frame   site or link of the tool that coincides with `at`; None: the origin of the tool's file
        """
        self._build_again(self._own_source().attach(tool, at, name, frame, self.links))

    def set_inertia(self, link: str, inertia: Any) -> None:
        """Give a link of the file another inertia, of `ts.inertia`, in the frame of the link; `model` is built again."""
        self._build_again(self._own_source().with_inertia(link, inertia))

    def _own_source(self):
        from .source import contents

        if self.source is None or self.contents != contents(self.model) or self.model._compiled:
            raise ModelError(
                f"model {self.model.name!r}: it has been added to or compiled since it was read, and would be built again; attach "
                "tools and set inertias first, or read the file again"
            )
        return self.source

    def _build_again(self, source):
        vars(self).update(vars(source.build()))

    @property
    def meshes(self) -> dict[str, list[Visual]]:
        """The visuals that are meshes, by body name."""
        found = {body: [v for v in shapes if v.kind == "mesh"] for body, shapes in self.visuals.items()}
        return {body: shapes for body, shapes in found.items() if shapes}

    @property
    def limits(self) -> dict[str, dict]:
        """The limits of every joint, by the file's name."""
        return {name: joint.limits for name, joint in self.joints.items()}

    def __repr__(self):
        return f"<Imported, with .model {self.model!r} and {len(self.report)} notes>"
