"""Names and poses of an SDF file: models within models, each a scope with links, joints, frames and models by name.

A pose is given relative to another element; the pose of that one is found first. Versions before 1.7 say the same in other words
(`frame` instead of `relative_to`, `use_parent_model_frame` instead of `expressed_in`).

    H_world(x) = H_world(relative_to) H(x)                                                                  (1)
    H_world(model) = H_world(relative_to) H(model) H_model(placement frame)⁻¹                               (2)
"""

from typing import Any

import numpy as np

from ...elements.quantity import show
from ...errors import ModelError
from ...lie import pose_stacks
from ...lie.euler import from_euler

NAMED = ("link", "joint", "frame", "model")
MODEL_FRAME = "__model__"
MERGED = "__merged__"  # begin of the name of a frame that a model leaves whose elements belong to another one
TRUTH_WORDS = {"true": True, "1": True, "false": False, "0": False}
UNIT_WITHIN = 1e-3  # |quaternion| − 1 above which it is no rotation
MOST_LEVELS = 60  # models within each other, and elements whose poses refer to each other


class Entity:
    """A link, joint, frame or model by its name in a scope; `inner` is the scope of a model."""

    def __init__(self, kind, element, scope, name):
        self.kind, self.element, self.scope, self.name = kind, element, scope, name
        self.inner: Any = None
        self.placement: str | None = None

    @property
    def path(self):
        """Its name in the whole file: names of the models that it is in, and its own."""
        return self.scope.prefix + self.name

    @property
    def label(self):
        return f"{self.kind} {self.path!r}"


class Scope:
    """The names in one model, or in the world.

    prefix   what names of its elements begin with in the whole file
    static   True if nothing in it moves
    """

    def __init__(self, element, parent, entity, prefix):
        self.element, self.parent, self.entity, self.prefix = element, parent, entity, prefix
        self.entries: dict[str, Entity] = {}
        self.static = bool(parent is not None and parent.static) or flag(element, "static", False)

    def add(self, entity):
        if entity.name in self.entries:
            other = self.entries[entity.name]
            raise entity.element.error(f"the name is taken already by a {other.kind}, in line {other.element.line}")
        if entity.name == "world" or (entity.name.startswith("__") and entity.name.endswith("__")):
            raise entity.element.error("this name is reserved")
        self.entries[entity.name] = entity

    def find(self, name, owner, what):
        """The element with a name; names of models within are separated by '::'."""
        if name == "world" and what in ("parent", "attached_to", "relative_to", "gearbox_reference_body"):
            return None
        scope, parts = self, name.split("::")
        for k, part in enumerate(parts):
            if part == MODEL_FRAME and scope.entity is not None:
                found = scope.entity
            elif part in scope.entries:
                found = scope.entries[part]
            else:
                known = ", ".join(scope.entries) or "none"
                raise owner.error(f"{what} {name!r} does not exist. Known: {known}.")
            if k + 1 < len(parts):
                if found.inner is None:
                    raise owner.error(f"{what} {name!r}: {part!r} is a {found.kind} and contains nothing")
                scope = found.inner
        return found

    def of_kind(self, kind):
        """All entities of a kind, in models within it too, in the order of the file."""
        for entity in self.entries.values():
            if entity.kind == kind:
                yield entity
            if entity.inner is not None and not entity.name.startswith(MERGED):
                yield from entity.inner.of_kind(kind)


class Poses:
    """Poses of all elements in the world in the zero configuration, each computed once."""

    def __init__(self):
        self.known: dict[int, np.ndarray] = {}
        self.active: list = []

    def of(self, entity):
        """H of an element in the world; the world itself is None."""
        if entity is None:
            return np.eye(4)
        if id(entity) not in self.known:
            if any(entity is other for other in self.active) or len(self.active) > MOST_LEVELS:
                names = " → ".join(other.path for other in [*self.active, entity][-6:])
                raise entity.element.error(f"its pose depends on itself: {names}")
            self.active.append(entity)
            try:
                self.known[id(entity)] = self._pose(entity)
            finally:
                self.active.pop()
        return self.known[id(entity)]

    def _pose(self, entity):
        element = entity.element
        given = element.one("pose")
        base = self._base(entity, given)
        H = self.of(base) @ pose_of(given, element)  # (1)
        if entity.inner is None:
            return H
        placed = entity.placement or entity.inner.element.attributes.get("placement_frame")
        if not placed:
            return H
        inside = Poses()
        inside.known[id(entity)] = np.eye(4)
        return H @ np.linalg.inv(inside.of(entity.inner.find(placed, element, "placement_frame")))  # (2)

    def _base(self, entity, given):
        """The element that a pose is relative to; None for the world."""
        element, scope = entity.element, entity.scope
        name = None if given is None else given.attributes.get("relative_to") or given.attributes.get("frame")
        if name:
            return scope.find(name, element, "relative_to")
        if entity.kind == "joint":
            return scope.find(text_of(element, "child"), element, "child")
        if entity.kind == "frame" and element.attributes.get("attached_to"):
            return scope.find(element.attributes["attached_to"], element, "attached_to")
        return scope.entity


def link_of(entity, seen=()):
    """The link that an element is fixed to; None for the world."""
    if entity is None or entity.kind == "link":
        return entity
    if any(entity is other for other in seen) or len(seen) > MOST_LEVELS:
        raise entity.element.error("is attached to itself in a circle")
    seen = (*seen, entity)
    element, scope = entity.element, entity.scope
    if entity.kind == "joint":
        return link_of(scope.find(text_of(element, "child"), element, "child"), seen)
    if entity.kind == "model":
        return canonical_link(entity, seen)
    name = element.attributes.get("attached_to")
    return link_of(scope.find(name, element, "attached_to") if name else scope.entity, seen)


def canonical_link(model, seen=()):
    """The link that the frame of a model is fixed to."""
    name = model.inner.element.attributes.get("canonical_link")
    if name:
        return link_of(model.inner.find(name, model.element, "canonical_link"), seen)
    found = next(model.inner.of_kind("link"), None)
    if found is None:
        raise model.element.error("has no links")
    return found


def text_of(element, tag):
    """The text of the only child of a tag; old versions write the name of a link as an attribute."""
    child = element.one(tag)
    found = "" if child is None else (child.content.strip() or child.attributes.get("link", "").strip())
    if not found:
        raise element.error(f"has no <{tag}>")
    return found


def number_in(element, tag, default, owner=None):
    """The number in the only child of a tag."""
    child = element.one(tag, owner)
    if child is None:
        return default
    text = child.content.strip()
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if np.isnan(value):
        raise (owner or element).error(f"<{tag}> must be a number, got {show(text)} (line {child.line})")
    return value


def numbers_in(element, tag, count, default, owner=None):
    """The finite numbers in the only child of a tag."""
    child = element.one(tag, owner)
    return np.array(default, float) if child is None else numbers(child, count, owner or element)


def numbers(element, count, owner):
    """The finite numbers in the text of an element."""
    try:
        values = np.array([float(word) for word in element.content.split()])
    except ValueError:
        values = np.array([np.nan])
    if values.shape != (count,) or not (np.abs(values) < 1e50).all():
        raise owner.error(
            f"<{element.tag}> must be {count} finite numbers, got {show(element.content.strip())} (line {element.line})"
        )
    return values


def flag(element, tag, default):
    """True if the only child of a tag says true."""
    child = element.one(tag)
    if child is None:
        return default
    word = child.content.strip().lower()
    if word not in TRUTH_WORDS:
        raise element.error(f"<{tag}> must be true or false, got {show(child.content.strip())} (line {child.line})")
    return TRUTH_WORDS[word]


def pose_of(given, owner):
    """H in a <pose>: x y z, then roll pitch yaw or a quaternion x y z w."""
    H = np.eye(4)
    if given is None or not given.content.strip():
        return H
    attributes = given.attributes
    kind = attributes.get("rotation_format", "euler_rpy")
    if kind not in ("euler_rpy", "quat_xyzw"):
        raise owner.error(f"rotation_format must be euler_rpy or quat_xyzw, got {kind!r} (line {given.line})")
    if kind == "quat_xyzw":
        *at, x, y, z, w = numbers(given, 7, owner)
        quaternion = np.array([w, x, y, z])
        length = np.linalg.norm(quaternion)
        if abs(length - 1) > UNIT_WITHIN:
            raise owner.error(f"the quaternion of <pose> must have length 1, got {length:.6g} (line {given.line})")
        H[:3, :3] = pose_stacks.rotations(quaternion / length)
    else:
        *at, roll, pitch, yaw = numbers(given, 6, owner)
        word = attributes.get("degrees", "false").strip().lower()
        if word not in TRUTH_WORDS:
            raise owner.error(f"degrees must be true or false, got {word!r} (line {given.line})")
        turn = np.deg2rad([yaw, pitch, roll]) if TRUTH_WORDS[word] else (yaw, pitch, roll)
        H[:3, :3] = from_euler(tuple(turn), "321")
    H[:3, 3] = at
    return H


def version_of(root):
    """The version of the format, as two whole numbers."""
    given = root.attributes.get("version", "")
    try:
        major, minor = (int(x) for x in given.split(".")[:2])
    except ValueError:
        raise ModelError(f"{root.where}: <sdf> needs a version such as 1.7, got {given!r}") from None
    return major, minor
