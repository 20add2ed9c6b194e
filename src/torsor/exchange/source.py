"""What a robot was read from: the tree of its links before a model is built of it, so that it can be changed and built again."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..elements import quantity
from ..elements.inertia import Inertia
from ..errors import ModelError, OptionError
from .build_model import assemble
from .free_names import legal
from .link_tree import Link, Part, Tree
from .robot import Imported, Placement


@dataclass(eq=False)
class Options:
    """What of a file acts in the model, besides bodies, joints, springs and dampers."""

    merge_fixed: bool = True
    strict: bool = True
    limits: bool = False
    friction: bool = False
    actuators: bool = False
    contacts: str | None = None
    sensors: bool = False


@dataclass(eq=False)
class Source:
    """A tree, how to build its model, and what completes the model afterwards.

    complete   functions (imported, options) that add what is no part of the tree: actuators, tendons, sensors
    """

    tree: Tree
    gravity: Any
    options: Options
    complete: list[Callable[[Imported, Options], None]] = field(default_factory=list)

    def build(self) -> Imported:
        """The model, with the report of what was left out."""
        tree = deepcopy(self.tree)
        found = assemble(tree, self.gravity, self.options)
        for complete in self.complete:
            complete(found, self.options)
        found.source = self
        found.report.sort(key=lambda note: note.importance)
        found.contents = contents(found.model)
        return found

    def attach(self, tool: Any, at: Any, name: str | None, frame: Any, homes: Mapping[str, Any]) -> "Source":
        """Another source with a tool, or with a payload, at a site or a link: see `Imported.attach`."""
        link, pose = self.place_of(at, "at", homes)
        world = self.tree.links[link].pose @ pose
        whole = replace(self, tree=deepcopy(self.tree), complete=list(self.complete))
        if isinstance(tool, Inertia):
            prefix = name or "payload"
            if prefix in whole.tree.links:
                raise ModelError(f"attach: there is a link {prefix!r} already; give another name")
            part = Part(tool.mass, np.array(tool.center, float).ravel(), np.array(tool.tensor, float), prefix, "attach")
            whole.tree.links[prefix] = Link(prefix, link, world, "attach", parts=[part])
            return whole
        if not isinstance(tool, Imported) or tool.source is None:
            raise OptionError(
                f"attach: give a robot that `ts.read` returned, or an inertia of ts.inertia, got {quantity.show(tool)}"
            )
        prefix = f"{name or legal(tool.source.tree.name)}_"
        base, base_pose = tool.source.place_of(frame, "frame", tool.links) if frame is not None else ("", np.eye(4))
        placed = base_pose if not base else tool.source.tree.links[base].pose @ base_pose
        graft(whole.tree, tool.source.tree, prefix, link, world @ np.linalg.inv(placed))
        whole.complete += [rename(complete, prefix) for complete in tool.source.complete]
        return whole

    def with_inertia(self, link: str, inertia: Any) -> "Source":
        """Another source with another inertia of one link."""
        if not isinstance(inertia, Inertia):
            raise OptionError(f"set_inertia: give an inertia of ts.inertia, got {quantity.show(inertia)}")
        if not isinstance(link, str) or link not in self.tree.links:
            known = ", ".join(list(self.tree.links)[:30])
            raise OptionError(f"set_inertia: there is no link {quantity.show(link)}. Known: {known}.")
        whole = replace(self, tree=deepcopy(self.tree))
        center, tensor = np.array(inertia.center, float).ravel(), np.array(inertia.tensor, float)
        whole.tree.links[link].parts = [Part(inertia.mass, center, tensor, link, "set_inertia")]
        return whole

    def place_of(self, where, what, homes):
        """The link and the pose in it of a site, a link or a placement."""
        if isinstance(where, Placement):
            found = next((n for n, h in homes.items() if h.body == where.body and not h.at.any()), None)
            if found is None:
                raise OptionError(f"attach: {what}: no link of the file is at the origin of body {where.body!r}")
            H = np.eye(4)
            H[:3, :3], H[:3, 3] = where.rotation, where.at
            return found, H
        for link in self.tree.links.values():
            if isinstance(where, str) and where in link.sites:
                return link.name, link.sites[where]
        if isinstance(where, str) and where in self.tree.links:
            return where, np.eye(4)
        sites = [name for link in self.tree.links.values() for name in link.sites]
        known = ", ".join([*sites, *self.tree.links][:30])
        raise OptionError(f"attach: {what}: there is no site or link {quantity.show(where)}. Known: {known}.")


def rename(complete, prefix):
    """The completion of a tool that has become part of a robot under a prefix."""
    return lambda imported, options: complete(imported, options, prefix)


def graft(tree, other, prefix, parent, X):
    """Append the links of another tree, with names that begin with a prefix: its root rigidly on `parent`, all of it moved by X."""
    R = X[:3, :3]
    moving = lambda p: R @ p + X[:3, 3]
    for link in deepcopy(other).links.values():
        root = link.parent is None
        base = root or other.links[link.parent].parent is None and any(m.kind == "free" for m in link.motions)
        link.name, link.pose = prefix + link.name, X @ link.pose
        if base and link.motions:
            tree.note(
                "approximated", f"joint {prefix + link.motions[0].name!r}", "held: its link is attached", link.where
            )
            link.motions = []
        link.parent = parent if root else prefix + link.parent
        link.fixed_by = link.fixed_by and prefix + link.fixed_by
        link.sites = {prefix + name: pose for name, pose in link.sites.items()}
        for part in link.parts:
            part.link = prefix + part.link
        for motion in link.motions:
            motion.name = prefix + motion.name
            motion.joint = motion.joint and prefix + motion.joint
            motion.axis, motion.point = R @ motion.axis, moving(motion.point)
        if link.name in tree.links:
            raise ModelError(f"attach: there is a link {link.name!r} already; give another name")
        tree.links[link.name] = link
    rename_all = lambda name: None if name is None else prefix + name
    for c in other.couplings:
        tree.couplings.append(
            replace(c, name=prefix + c.name, follower=prefix + c.follower, leader=rename_all(c.leader))
        )
    for closure in deepcopy(other).closures:
        for motion in closure.motions:
            motion.name, motion.joint = prefix + motion.name, rename_all(motion.joint)
            motion.axis, motion.point = R @ motion.axis, moving(motion.point)
        links = tuple(prefix + x for x in closure.links)
        tree.closures.append(replace(closure, name=prefix + closure.name, links=links))
    for tie in other.ties:
        tree.ties.append(replace(tie, name=prefix + tie.name, links=tuple(prefix + x for x in tie.links)))
    tree.notes += [replace(note, element=note.element) for note in other.notes]
    check_names(tree)


def check_names(tree):
    """Refuse two joints of one name."""
    seen: set = set()
    for owner in [*tree.links.values(), *tree.closures]:
        for motion in owner.motions:
            if motion.name in seen:
                raise ModelError(f"attach: there is a joint {motion.name!r} already; give another name")
            seen.add(motion.name)


def contents(model):
    """What a model consists of, to find out whether somebody has added to it."""
    return (len(model._names), len(model.signals), len(model.events))
