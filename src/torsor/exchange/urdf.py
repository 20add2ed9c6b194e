"""URDF: links and joints with frames relative to each other, laid out in the world in the zero configuration.

    H_child = H_parent H_origin,      H_origin = (R_z(yaw) R_y(pitch) R_x(roll), xyz)              (1)

The child's frame is the joint's frame: a hinge turns about an axis through its origin, given in its axes.
"""

from collections.abc import Mapping

import casadi as ca
import numpy as np

from ..elements.quantity import show
from ..errors import ModelError
from ..forces.loads_and_springs import JointForce
from ..registry import register
from . import xml_document
from .format import Format
from .free_names import free_name, legal
from .link_tree import Coupling, Link, Motion, Part, Tree
from .robot import Note
from .source import Options, Source
from .urdf_visuals import Visuals, origin

JOINT_TYPES = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide", "floating": "free", "planar": "planar"}
BASES = ("fixed", "free")


def read_urdf(
    path,
    *,
    base="fixed",
    packages=None,
    gravity=(0, 0, -9.81),
    start=None,
    start_rate=None,
    merge_fixed=True,
    strict=True,
    limits=False,
    friction=False,
    actuators=False,
):
    """The mechanism that a URDF file describes.

    base               "fixed": the root link is held in the world; "free": it moves freely, its joint is called "base"
    packages           folders of package:// names, by name; others are looked for next to the file and above it
    gravity            in world axes [m/s²]
    start, start_rate  joint coordinates and velocities at the start, by joint name [rad, m]; six for "base": rotation
                       vector and position of the root link
    merge_fixed        False: links on fixed joints stay bodies of their own, held by `Fixed`
    strict             False: joints that move nothing with mass are held, and impossible inertias are repaired; both are
                       reported. True: they are errors
    limits             True: joints have the stops of the file, rigid ones
    friction           True: joints have the dry friction of the file, with sticking
    actuators          True: transmissions act: an input by the name of each actuator, the torque or force of the motor, times
                       its reduction on the joint, within the effort limit of the joint

    Returns an `Imported`.
    """
    if base not in BASES:
        raise ModelError(f"{path}: base must be 'fixed' or 'free', got {base!r}")
    if packages is not None and not isinstance(packages, Mapping):
        raise ModelError(f"{path}: packages must be folders by name, got {show(packages)}")
    root = xml_document.parse(path)
    if root.tag != "robot":
        raise ModelError(f"{root.where}: a URDF file has the root element <robot>, got <{root.tag}>")
    reader = Reader(root, packages)
    tree = reader.tree(base)
    tree.set_start(start, start_rate)
    return Source(tree, gravity, Options(merge_fixed, strict, limits, friction, actuators), [reader.complete]).build()


OWNING = ("link", "joint", "inertial")  # elements whose children belong to the mechanism
KNOWN = {
    "link": {"name", "type"}, "joint": {"name", "type"}, "inertial": set(), "origin": {"xyz", "rpy"}, "mass": {"value"},
    "inertia": {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"}, "parent": {"link"}, "child": {"link"}, "axis": {"xyz"},
    "limit": {"lower", "upper", "effort", "velocity"}, "dynamics": {"damping", "friction"},
    "mimic": {"joint", "multiplier", "offset"},
}  # fmt: skip


@register("urdf")
class URDF(Format):
    """Files with the root element `<robot>`: robots as ROS describes them."""

    shows = "<robot>"
    suffixes = (".urdf", ".xml")
    read = staticmethod(read_urdf)  # type: ignore[assignment]  # its options by name

    @staticmethod
    def recognises(content):
        return content.root is not None and content.root.tag == "robot"


class Reader:
    """The elements of one file, turned into a tree."""

    def __init__(self, root, packages):
        self.root = root
        self.out = Tree(root.attributes.get("name", "robot"), root.file)
        self._refuse_macros()
        self.links, self.joints = self._elements_by_name("link"), self._elements_by_name("joint")
        if not self.links:
            raise ModelError(f"{root.where}: {root.label}: has no links")
        self.visuals = Visuals(root, packages, self.out)
        self.transmissions: list = []
        for element in root.children:
            if element.tag in ("link", "joint"):
                self._note_unknown(element)
            elif element.tag == "transmission":
                self.transmissions.append(element)
            elif element.tag != "material":
                self.out.note("ignored", element.label, "not a part of the mechanism", element.where)

    def _note_unknown(self, element, owner=None):
        """Note attributes of the mechanism that are no part of URDF, or of a newer version: they may change the motion."""
        known = KNOWN.get(element.tag, set())
        for attribute in element.attributes if element.tag in KNOWN else ():
            if attribute not in known and not attribute.startswith("xmlns"):
                message = f"attribute of <{element.tag}> that is not a part of URDF as it is known here: it is not used"
                self.out.note("ignored", f"{attribute} of {(owner or element).label}", message, element.where)
        for child in element.children if element.tag in OWNING else ():
            self._note_unknown(child, element if owner is None or element.tag in ("link", "joint") else owner)

    def _refuse_macros(self):
        for element in [self.root, *self.root.children]:
            if element.tag.startswith("xacro:"):
                raise element.error("this is a xacro file; run xacro first and read its result")

    def _elements_by_name(self, tag):
        found: dict = {}
        for element in self.root.all(tag):
            name = element.text("name")
            if name in found:
                raise element.error(f"the name is taken already, in line {found[name].line}")
            found[name] = element
        return found

    # topology

    def tree(self, base):
        ends = {name: self._ends(joint) for name, joint in self.joints.items()}
        above: dict = {}  # link -> the joint that carries it
        for name, (_, child) in ends.items():
            if child in above:
                message = f"link {child!r} is the child of joint {above[child]!r} already; URDF has no closed loops"
                raise self.joints[name].error(message)
            above[child] = name
        roots = [name for name in self.links if name not in above]
        if not roots:
            first = self.joints[above[next(iter(self.links))]]
            raise first.error("the joints go round in a circle: every link is the child of another one")
        if len(roots) > 1:
            names = ", ".join(repr(name) for name in roots)
            raise self.links[roots[1]].error(f"a robot has one root link, these have no parent: {names}")
        below: dict = {}
        for name, (parent, _) in ends.items():
            below.setdefault(parent, []).append(name)
        poses, waiting = {roots[0]: np.eye(4)}, [roots[0]]
        while waiting:  # parents first
            parent = waiting.pop(0)
            self._link(parent, poses[parent], above.get(parent), ends)
            for joint in below.get(parent, []):
                child = ends[joint][1]
                poses[child] = poses[parent] @ origin(self.joints[joint], self.joints[joint])  # (1)
                waiting.append(child)
        lost = [name for name in self.links if name not in poses]
        if lost:
            raise self.joints[above[lost[0]]].error(f"link {lost[0]!r} and its parents go round in a circle")
        self._free_base(base, roots[0])
        self._mimics()
        return self.out

    def _ends(self, joint):
        ends = []
        for tag in ("parent", "child"):
            element = joint.one(tag)
            if element is None:
                raise joint.error(f"has no <{tag}>")
            link = element.text("link", joint)
            if link not in self.links:
                raise joint.error(f"its {tag} is link {link!r}, which does not exist (line {element.line})")
            ends.append(link)
        if ends[0] == ends[1]:
            raise joint.error(f"connects link {ends[0]!r} to itself")
        return ends

    def _free_base(self, base, root):
        if base == "free":
            name = "base"
            while name in self.joints:
                name += "_free"
            link = self.out.links[root]
            link.motions = [Motion(name, "free", np.zeros(3), np.zeros(3), link.where)]

    # links

    def _link(self, name, pose, joint, ends):
        element = self.links[name]
        link = Link(name, ends[joint][0] if joint else None, pose, element.where)
        link.parts = self._inertial(element)
        for child in element.children:
            if child.tag == "visual":
                link.visuals += self.visuals.of(child, element)
            elif child.tag not in ("inertial", "collision"):
                self.out.note(
                    "ignored", f"{child.label} of {element.label}", "not a part of the mechanism", child.where
                )
        shapes = element.all("collision")
        if shapes:
            message = f"{len(shapes)} collision shape{'s' * (len(shapes) > 1)}: contact is not simulated"
            self.out.note("ignored", f"collision of {element.label}", message, shapes[0].where)
        if joint:
            self._joint(joint, pose, link)
        self.out.links[name] = link

    def _inertial(self, link):
        inertial = link.one("inertial")
        if inertial is None:
            return []
        given, tensor = inertial.one("mass", link), inertial.one("inertia", link)
        if given is None or tensor is None:
            raise link.error(f"its <inertial> (line {inertial.line}) needs <mass> and <inertia>")
        mass = given.number("value", owner=link)
        if mass < 0:
            raise link.error(f"mass must not be negative, got {mass!r} (line {given.line})")
        xx, yy, zz = (tensor.number(k, owner=link) for k in ("ixx", "iyy", "izz"))
        xy, xz, yz = (tensor.number(k, 0.0, owner=link) for k in ("ixy", "ixz", "iyz"))
        J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if mass == 0:
            if J.any():
                self.out.note("ignored", f"inertia of {link.label}", "its mass is zero", tensor.where)
            return []
        H = origin(inertial, link)
        R = H[:3, :3]
        return [Part(mass, H[:3, 3], R @ J @ R.T, link.attributes["name"], inertial.where)]

    # joints

    def _joint(self, name, pose, link):
        element = self.joints[name]
        kind = element.text("type")
        for child in element.children:
            if child.tag not in ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"):
                self.out.note("ignored", f"{child.label} of {element.label}", "not simulated", child.where)
        if kind == "fixed":
            link.fixed_by = name
            return
        if kind not in JOINT_TYPES:
            raise element.error(f"unknown type {kind!r}. Known: fixed, {', '.join(JOINT_TYPES)}.")
        axis = pose[:3, :3] @ self._axis(element, kind)
        motion = Motion(name, JOINT_TYPES[kind], axis, pose[:3, 3], element.where, limits=self._limits(element))
        if motion.limits:
            motion.words["stops"] = f"limit of {element.label}", element.one("limit").where
            bounds = {side: motion.limits[side] for side in ("lower", "upper") if side in motion.limits}
            motion.stops = bounds if kind in ("revolute", "prismatic") else {}
        dynamics = element.one("dynamics")
        if dynamics is not None:
            motion.damping = dynamics.number("damping", 0.0, owner=element)
            if motion.damping < 0:
                raise element.error(f"damping must not be negative, got {motion.damping!r} (line {dynamics.line})")
            motion.friction = dynamics.number("friction", 0.0, owner=element)
            motion.words["friction"] = f"friction of {element.label}", dynamics.where
            if motion.friction < 0:
                raise element.error(f"friction must not be negative, got {motion.friction!r} (line {dynamics.line})")
            if motion.kind == "free" and motion.damping:
                message = f"damping {motion.damping:g} of a floating joint is not simulated"
                self.out.note("ignored", f"damping of {element.label}", message, dynamics.where)
                motion.damping = 0.0
        link.motions = [motion]

    def _axis(self, joint, kind):
        element = joint.one("axis")
        axis = np.array([1.0, 0.0, 0.0]) if element is None else element.numbers("xyz", 3, (1, 0, 0), joint)
        length = np.linalg.norm(axis)
        if kind == "floating":
            return axis
        if length == 0:
            raise joint.error(f"its axis is zero (line {element.line})")
        return axis / length

    def _limits(self, joint):
        element = joint.one("limit")
        if element is None:
            return {}
        known = ("lower", "upper", "effort", "velocity")
        found = {k: element.number(k, owner=joint, infinite=True) for k in known if k in element.attributes}
        return found

    def _mimics(self):
        motions = self.out.motions
        for name, joint in self.joints.items():
            element = joint.one("mimic")
            if element is None:
                continue
            leader = element.text("joint", joint)
            if leader not in self.joints:
                raise joint.error(f"mimics joint {leader!r}, which does not exist (line {element.line})")
            if leader == name:
                raise joint.error(f"mimics itself (line {element.line})")
            factor, offset = (element.number(k, d, owner=joint) for k, d in (("multiplier", 1.0), ("offset", 0.0)))
            if name not in motions:
                self.out.note("ignored", f"mimic of {joint.label}", "the joint is fixed", element.where)
                continue
            self.out.couplings.append(Coupling(f"{name}_mimic", name, leader, (offset, factor), element.where))

    # transmissions

    def complete(self, imported, options, prefix=""):
        """Let the transmissions act if that is requested; report what does not."""
        for element in self.transmissions:
            trouble = self._transmission_trouble(element, imported, prefix)
            missing = trouble.endswith("does not exist")
            if missing and options.actuators:
                raise element.error(f"drives {trouble} (line {element.one('joint').line})")
            if trouble or not options.actuators:
                message = trouble or "does not act unless actuators=True"
                kind = "questionable" if missing else "ignored"
                imported.report.append(Note(kind, element.label, message, element.where))
            else:
                self._add_transmission(element, imported, prefix)

    def _transmission_trouble(self, element, imported, prefix):
        """Why a transmission cannot act, in words; empty if it can."""
        kind = element.one("type")
        word = "" if kind is None else kind.content.strip().rsplit("/", 1)[-1]
        joints = element.all("joint")
        if word != "SimpleTransmission" or len(joints) != 1 or len(element.all("actuator")) != 1:
            return "only a SimpleTransmission of one actuator on one joint can act"
        name = joints[0].text("name", element)
        if name not in self.joints:
            return f"joint {name!r}, which does not exist"
        joint = imported.joints.get(prefix + name)
        return "" if joint is not None and joint.joint.dof == 1 else f"joint {name!r} has no coordinate of its own"

    def _add_transmission(self, element, imported, prefix):
        """An input for the actuator, and its force on the joint."""
        actuator = element.one("actuator")
        joint = imported.joints[prefix + element.one("joint").attributes["name"]]
        reduction = actuator.one("mechanicalReduction") or element.one("mechanicalReduction")
        try:
            ratio = 1.0 if reduction is None else float(reduction.content)
        except ValueError:
            ratio = np.nan
        if not np.isfinite(ratio) or ratio == 0:
            raise element.error(
                f"its mechanicalReduction must be a number other than zero, got {show(reduction.content.strip())}"
            )
        model, own = imported.model, actuator.text("name", element)
        name = free_name(model, legal(prefix + own) or "actuator", "input")
        if name != own:
            imported.report.append(Note("renamed", f"actuator {own!r}", f"its input is {name!r}", actuator.where))
        force = ratio * model.input(name)
        effort = joint.limits.get("effort", np.inf)
        if 0 < effort < np.inf:
            force = ca.fmin(ca.fmax(force, -effort), effort)
        model.add(JointForce(free_name(model, f"{name}_force", "force"), joint.joint, value=force))
