"""What URDF, MJCF and SDF have in common: a tree of links, each on its parent by a sequence of elementary motions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..elements.quantity import show
from ..errors import ModelError
from .robot import Note


@dataclass(eq=False)
class Motion:
    """A joint of the file, in world coordinates of the zero configuration.

    kind        "hinge", "slide", "screw", "ball", "free" or "planar"
    joint       name of the joint of the file that it is a part of, where that has several motions
    pitch       of a screw: displacement in one turn
    damping     c, stiffness k, rest q₀ of  ½ k (q − q₀)²,  ½ c q̇²
    armature    inertia along the coordinate that is no part of a body
    friction    force or torque of dry friction
    stops       lower and upper bound that act in the file; `limits` are all that it gives
    words       what the file calls stops and friction, and where it gives them, by "stops" and "friction"
    start, rate coordinates and velocities at the start, None where not given
    """

    name: str
    kind: str
    axis: np.ndarray
    point: np.ndarray
    where: str = ""
    damping: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    limits: dict = field(default_factory=dict)
    armature: float = 0.0
    friction: float = 0.0
    stops: dict = field(default_factory=dict)
    words: dict = field(default_factory=dict)
    start: object = None
    rate: object = None
    joint: str | None = None
    pitch: float = 0.0

    @property
    def dof(self):
        return {"ball": 3, "planar": 3, "free": 6}.get(self.kind, 1)


@dataclass(eq=False)
class Part:
    """Mass, centre of mass and inertia about it, in the axes of a link; numbers as they were given."""

    mass: float
    center: np.ndarray
    tensor: np.ndarray
    link: str
    where: str

    def in_frame(self, H):
        """The same part in another frame, where this one has the pose H."""
        R, p = H[:3, :3], H[:3, 3]
        return Part(self.mass, R @ self.center + p, R @ self.tensor @ R.T, self.link, self.where)


@dataclass(eq=False)
class Link:
    """A link: pose in the world in the zero configuration, what it is made of, and how it moves on its parent.

    motions   one after the other, from the parent to this link; none: rigidly connected
    sites     named frames in the link: poses in its frame
    lifted    masses whose weight is compensated, as pairs (mass, place in the link's frame)
    visuals   shapes with their pose in the link's frame
    """

    name: str
    parent: str | None
    pose: np.ndarray
    where: str
    parts: list = field(default_factory=list)
    motions: list = field(default_factory=list)
    visuals: list = field(default_factory=list)
    sites: dict = field(default_factory=dict)
    lifted: list = field(default_factory=list)
    fixed_by: str | None = None  # name of the fixed joint, where the file has one

    @property
    def mass(self):
        return sum(part.mass for part in self.parts)


@dataclass(eq=False)
class Coupling:
    """y = Σ aₖ xᵏ of two joint coordinates; a constant where there is no leader."""

    name: str
    follower: str
    leader: str | None
    coefficients: tuple
    where: str


@dataclass(eq=False)
class Tie:
    """A frame of one link kept at a frame of another: its origin (`weld` False) or all of it."""

    name: str
    weld: bool
    links: tuple
    poses: tuple
    where: str


@dataclass(eq=False)
class Closure:
    """A joint that closes a loop: motions one after the other from the first link to the second.

    frames   where a model gives them: poses in the world of the frame in the first link and of that in the second
    """

    name: str
    links: tuple
    motions: list
    where: str
    frames: Any = None


@dataclass(eq=False)
class Key:
    """A keyframe: coordinates and rates of the joints of the file by name, and inputs of actuators."""

    coordinates: dict = field(default_factory=dict)
    rates: dict = field(default_factory=dict)
    inputs: dict = field(default_factory=dict)
    time: float = 0.0


@dataclass(eq=False)
class Tree:
    """Everything that was read, links in an order in which parents come first, and what was left out."""

    name: str
    file: str
    links: dict = field(default_factory=dict)
    couplings: list = field(default_factory=list)
    ties: list = field(default_factory=list)
    closures: list = field(default_factory=list)
    keys: dict = field(
        default_factory=dict
    )  # by name of a keyframe: coordinates and rates of joints by name, and inputs
    notes: list = field(default_factory=list)

    def note(self, kind, element, message, where=""):
        self.notes.append(Note(kind, element, message, where))

    @property
    def motions(self):
        owners = [*self.links.values(), *self.closures]
        return {motion.name: motion for owner in owners for motion in owner.motions}

    def set_start(self, start, start_rate):
        """Fill in the coordinates and rates at the start that a user gave by joint name."""
        motions = self.motions
        for what, attribute, given in (("start", "start", start), ("start_rate", "rate", start_rate)):
            if not isinstance(given or {}, Mapping):
                raise ModelError(f"{self.file}: {what} must be values by joint name, got {show(given)}")
            for name, value in (given or {}).items():
                if name not in motions:
                    known = ", ".join(motions) or "none"
                    raise ModelError(f"{self.file}: {what}: there is no moving joint {name!r}. Known: {known}.")
                motion = motions[name]
                try:
                    array = np.atleast_1d(np.asarray(value, float))
                except (TypeError, ValueError):
                    array = np.array([np.nan])
                if array.shape != (motion.dof,) or not np.isfinite(array).all():
                    raise ModelError(
                        f"{self.file}: {what} of joint {name!r} must be {motion.dof} numbers, got {show(value)}"
                    )
                setattr(motion, attribute, array)
        self._follow()

    def _follow(self):
        """Followers start where their leaders ask them to, by default."""
        motions, waiting = self.motions, list(self.couplings)
        following = {c.follower for c in waiting}
        while waiting:
            ready = [c for c in waiting if c.leader not in following]
            if not ready:
                names = ", ".join(repr(c.follower) for c in waiting)
                raise ModelError(f"{waiting[0].where}: joints {names} follow each other in a circle")
            for c in ready:
                follower, leader = motions[c.follower], motions.get(c.leader)
                x = 0.0 if leader is None or leader.start is None else float(leader.start[0])
                v = None if leader is None or leader.rate is None else float(leader.rate[0])
                slope = sum(k * a * x ** (k - 1) for k, a in enumerate(c.coefficients) if k)
                value = sum(a * x**k for k, a in enumerate(c.coefficients))
                if follower.start is None and value:
                    follower.start = np.array([value])
                if follower.rate is None and v is not None:
                    follower.rate = np.array([slope * v])
                following.discard(c.follower)
            waiting = [c for c in waiting if c not in ready]
