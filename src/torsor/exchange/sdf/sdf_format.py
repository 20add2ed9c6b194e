"""SDF: worlds and models as Gazebo has them, with loops, nested models and poses relative to any frame.

The joints of a file may form loops. A spanning tree of them carries the links, parents first and in the order of the file; a joint
that connects two links of the tree closes a loop. A joint that carries its parent turns the other way about: its axis changes sign.
"""

from collections.abc import Mapping

import numpy as np

from ...elements.quantity import show
from ...errors import ModelError, OptionError
from ...registry import register
from .. import xml_document
from ..format import Format
from ..link_tree import Closure, Link, Motion, Tree
from ..mjcf_elements.mjcf_contacts import WAYS
from ..robot import Note
from ..source import Options, Source
from .sdf_contacts import Collision, add_sdf_contacts
from .sdf_includes import Document
from .sdf_joints import SDFJoint
from .sdf_links import SDFVisuals, inertial
from .sdf_scopes import Poses, flag, link_of, numbers

BASES = ("free", "fixed")
WORLD_GRAVITY = (0.0, 0.0, -9.8)  # of a world that does not say
READ_PARTS = {  # children of elements that are read; others are reported
    "world": ("gravity", "model", "include", "frame", "joint"),
    "model": ("pose", "link", "joint", "frame", "model", "include", "static"),
    "link": ("pose", "inertial", "visual", "collision", "gravity", "kinematic", "must_be_base_link"),
}  # fmt: skip
HARMLESS = {
    "name", "uri", "scene", "physics", "spherical_coordinates", "atmosphere", "magnetic_field", "self_collide",
    "allow_auto_disable", "placement_frame", "enable_wind", "light", "gui", "state",
}  # fmt: skip


def read_sdf(
    path,
    *,
    base="free",
    world=None,
    packages=None,
    gravity=None,
    start=None,
    start_rate=None,
    merge_fixed=True,
    strict=True,
    limits=False,
    friction=False,
    contacts=None,
):
    """The mechanism that an SDF file describes.

    base               "free": models that no joint holds in the world move freely, as the file says; their joint is called "base",
                       or "base_LINK" where there are several; "fixed": their first links are held
    world              name of the world, where the file has several
    packages           folders of model:// and package:// names, by name; others are looked for next to the file and above it
    gravity            None: the file's, or (0, 0, −9.8) [m/s²]
    start, start_rate  joint coordinates and velocities at the start, by joint name [rad, m]; the second coordinate of a joint has
                       the name JOINT_axis2
    merge_fixed        False: links on fixed joints stay bodies of their own, held by `Fixed`
    strict             False: joints that move nothing with mass are held, and impossible inertias are repaired; both are
                       reported. True: they are errors
    limits             True: joints have the stops of the file, rigid ones
    friction           True: joints have the dry friction of the file, with sticking
    contacts           "compliant" or "exact": collision shapes touch each other (`sdf_contacts.py`); None: they do not

    Returns an `Imported`.
    """
    if base not in BASES:
        raise ModelError(f"{path}: base must be 'free' or 'fixed', got {show(base)}")
    if packages is not None and not isinstance(packages, Mapping):
        raise ModelError(f"{path}: packages must be folders by name, got {show(packages)}")
    if contacts is not None and contacts not in WAYS:
        raise ModelError(f"{path}: contacts must be {', '.join(map(repr, WAYS))} or None, got {show(contacts)}")
    if world is not None and not isinstance(world, str):
        raise OptionError(f"{path}: world must be a name, got {show(world)}")
    root = xml_document.parse(path)
    if root.tag != "sdf":
        raise ModelError(f"{root.where}: an SDF file has the root element <sdf>, got <{root.tag}>")
    reader = SDFReader(root, packages, world)
    tree = reader.tree(base)
    tree.set_start(start, start_rate)
    options = Options(merge_fixed, strict, limits, friction, False, contacts)
    return Source(tree, reader.gravity if gravity is None else gravity, options, [reader.complete]).build()


@register("sdf")
class SDF(Format):
    """Files with the root element `<sdf>`: worlds and models as Gazebo has them."""

    shows = "<sdf>"
    suffixes = (".sdf", ".world", ".xml")
    texts = ("base", "world", "contacts")
    read = staticmethod(read_sdf)  # type: ignore[assignment]  # its options by name

    @staticmethod
    def recognises(content):
        return content.root is not None and content.root.tag == "sdf"


class SDFReader:
    """The elements of one file, turned into a tree."""

    def __init__(self, root, packages, world):
        self.out = Tree("robot", root.file)
        self.scope = Document(root, packages, self.out).world(world)
        self.poses, self.visuals = Poses(), SDFVisuals(self.out, packages)
        self.links = {link.path: link for link in self.scope.of_kind("link")}
        self.numbers: dict[str, int] = {}  # of the part of the tree that a link is in; 0 for the world
        models = [x for x in self.scope.entries.values() if x.kind == "model"]
        element = self.scope.element
        self.out.name = models[0].name if len(models) == 1 else element.attributes.get("name", "world")
        if not self.links:
            raise ModelError(f"{root.where}: the file has no links")
        given = element.one("gravity") if element.tag == "world" else None
        self.gravity = WORLD_GRAVITY if given is None else tuple(map(float, numbers(given, 3, element)))
        self.note_rest(element, "world")
        for model in self.scope.of_kind("model"):
            self.note_rest(model.inner.element, "model")

    def note_rest(self, element, tag):
        """Report children that take no part."""
        for child in element.children:
            if child.tag not in READ_PARTS[tag] and child.tag not in HARMLESS and ":" not in child.tag:
                self.out.note("ignored", f"{child.label} of {element.label}", "not simulated", child.where)

    # topology

    def tree(self, base):
        joints = [SDFJoint(entity, self.poses, self.out) for entity in self.scope.of_kind("joint")]
        connecting = [joint for joint in joints if joint.kind != "gearbox"]
        order = self.carry(connecting, base)
        for joint in connecting:
            if joint not in order:
                self.close(joint)
        motions = self.out.motions
        for joint in joints:
            couplings = [joint.gearbox(joints)] if joint.kind == "gearbox" else joint.couplings
            for coupling in couplings:
                for name in (coupling.follower, coupling.leader):
                    if name not in motions:
                        raise joint.element.error(f"joint {name!r} has no such axis that moves")
                self.out.couplings.append(coupling)
        for frame in self.scope.of_kind("frame"):
            link = link_of(frame)
            if link is not None:
                self.out.links[link.path].sites[frame.path] = np.linalg.inv(self.poses.of(link)) @ self.poses.of(frame)
        return self.out

    def carry(self, joints, base):
        """Lay out the links: held ones, those on joints with the world, then free ones. Returns the joints that carry a link."""
        used: list = []
        roots = [link for link in self.links.values() if link.scope.static]
        for link in roots:
            self.place(link, None, None, 0)
        waiting = [joint for joint in joints if joint.first is None]
        part = 1
        for joint in waiting:
            if joint.second.path not in self.out.links:
                self.place(joint.second, joint, None, part)
                used.append(joint)
                part += 1
        self.grow(joints, used)
        children = {joint.second.path for joint in joints}
        loose = sorted((link for link in self.links.values()), key=lambda link: link.path in children)
        free = []
        for link in loose:
            if link.path not in self.out.links:
                self.place(link, None, None, 0 if base == "fixed" else part)
                part += 1
                free.append(link)
                self.grow(joints, used)
        for link in free if base == "free" else ():
            name = "base" if len(free) == 1 else f"base_{link.path}"
            where = link.element.where
            self.out.links[link.path].motions = [Motion(name, "free", np.zeros(3), np.zeros(3), where)]
        return used

    def grow(self, joints, used):
        """Carry all links that joints connect to those in the tree, from parent to child where that is possible."""
        links = self.out.links
        moved = True
        while moved:
            moved = False
            for backward in (False, True):
                for joint in joints:
                    if joint in used or joint.first is None:
                        continue
                    here, far = (joint.second, joint.first) if backward else (joint.first, joint.second)
                    if here.path in links and far.path not in links:
                        self.place(far, joint, here, self.numbers[here.path], backward)
                        used.append(joint)
                        moved = True
                if moved:
                    break

    def place(self, link, joint, parent, part, backward=False):
        """Append a link to the tree, on a joint or none."""
        element, name = link.element, link.path
        found = Link(name, None if parent is None else parent.path, self.poses.of(link), element.where)
        found.parts = inertial(element, name, self.out)
        if not flag(element, "gravity", True):
            found.lifted = [(p.mass, p.center) for p in found.parts]
        for visual in element.all("visual"):
            found.visuals += self.visuals.of(visual, element)
        self.note_rest(element, "link")
        if flag(element, "kinematic", False):
            self.out.note("ignored", f"kinematic of {element.label}", "it moves as other links do", element.where)
        if joint is not None:
            found.motions = joint.motions()
            if backward:
                found.motions = reverse(found.motions)
            if not found.motions:
                found.fixed_by = joint.name
        self.out.links[name] = found
        held = joint is not None and not found.motions and parent is None
        self.numbers[name] = 0 if held else part

    def close(self, joint):
        """A joint that closes a loop; one with the world ends at a link that is held, or at a link of its own."""
        first = joint.first.path if joint.first is not None else self.world_link()
        closure = Closure(joint.name, (first, joint.second.path), joint.motions(), joint.element.where)
        self.out.closures.append(closure)

    def world_link(self):
        """The name of a link without mass that stands for the world."""
        name = "world"
        if name not in self.out.links:
            self.out.links[name] = Link(name, None, np.eye(4), self.out.file)
        return name

    # contacts

    def complete(self, imported, options, prefix=""):
        """Add contacts if they are requested, else report the shapes that could touch."""
        note = lambda *given: imported.report.append(Note(*given))
        collisions = []
        for name, link in self.links.items():
            shapes = link.element.all("collision")
            if shapes and options.contacts is None:
                count = f"{len(shapes)} shape{'s' * (len(shapes) > 1)}"
                message = f"{count}: contact is not simulated unless contacts='compliant' or 'exact'"
                note("ignored", f"collision of {link.element.label}", message, shapes[0].where)
            elif shapes:
                part = self.numbers[name]
                collisions += [Collision(x, link.element, name, part, imported, prefix) for x in shapes]
        if collisions:
            add_sdf_contacts(imported, collisions, options.contacts, self.gravity, note)


def reverse(motions):
    """The motions of the first body relative to the second: in reverse order, about axes of the other sign, with the same
    coordinates."""
    for motion in motions:
        motion.axis = -motion.axis
    return motions[::-1]
