"""A model as URDF: one root link, a link at each joint.

A joint of several motions is a chain of links without mass. A ball is three hinges; a screw is a hinge and a slide that follows it.
"""

import numpy as np

from ...lie.euler import to_euler
from ..link_tree import Coupling, Motion
from ..robot import Visual
from .xml_text import XMLNode

URDF_TYPES = {"hinge": "continuous", "slide": "prismatic", "free": "floating"}
FAR_LIMIT = 1e9  # bound of what is not bounded, where the format demands one
EARTH_GRAVITY = np.array([0.0, 0.0, -9.81])


def urdf_document(description):
    """The content of the file; notes go to the description."""
    return URDFWriter(description).document()


class URDFWriter:
    """One file."""

    def __init__(self, description):
        self.d, self.tree = description, description.tree
        self.root = XMLNode("robot", name=self.tree.name)
        self.names = {*self.tree.links}
        self.joints = {m.name for m in self.tree.motions.values()}
        self.frames: dict = {}  # of each link of the file, in the world
        self.couplings = {c.follower: c for c in self.tree.couplings}

    def free(self, name, taken):
        """A name that is not taken yet."""
        while name in taken:
            name += "_"
        taken.add(name)
        return name

    def document(self):
        d = self.d
        if not np.array_equal(d.gravity, EARTH_GRAVITY):
            d.lose("gravity", f"URDF has none: give gravity={tuple(d.gravity.tolist())} when the file is read")
        self.world = self.free("world", self.names)
        self.frames[None] = np.eye(4)
        world = self.root.add("link", name=self.world)
        self.shapes(world, d.ground.visuals, np.eye(4))
        self.sites(self.world, d.ground.sites, np.eye(4))
        for link in self.tree.links.values():
            self.link(link)
        for closure in self.tree.closures:
            d.lose(f"joint {closure.name!r}", "closes a loop, which URDF does not have: it is left out")
        for motor in d.motors:
            self.motor(motor)
        if d.starts:
            d.lose("start of joints", "URDF has none: give start={…} when the file is read")
        return self.root.document()

    # links

    def link(self, link):
        """A link, at its joint, with the chain of links without mass before it."""
        motions = [m for motion in link.motions for m in self.elementary(motion, link)]
        parent, before = (link.parent or self.world), self.frames[link.parent]
        for k, motion in enumerate(motions):
            frame = link.pose.copy()
            if motion.kind != "free":
                frame[:3, 3] = motion.point
            last = k + 1 == len(motions)
            child = link.name if last else self.free(f"{link.name}_{k + 1}", self.names)
            if not last:
                self.root.add("link", name=child)
            self.joint(motion, parent, child, np.linalg.inv(before) @ frame, frame)
            parent, before = child, frame
        if not motions:
            before, origin = link.pose, np.linalg.inv(before) @ link.pose
            self.fixed(self.free(link.fixed_by or f"{link.name}_fixed", self.joints), parent, link.name, origin)
        self.frames[link.name] = before
        self.content(link, np.linalg.inv(before) @ link.pose)

    def content(self, link, shift):
        node = self.root.add("link", name=link.name)
        for part in (p.in_frame(shift) for p in link.parts):
            inertial = node.add("inertial")
            inertial.add("origin", xyz=part.center)
            inertial.add("mass", value=part.mass)
            J = (part.tensor + part.tensor.T) / 2
            named = {"ixx": J[0, 0], "iyy": J[1, 1], "izz": J[2, 2], "ixy": J[0, 1], "ixz": J[0, 2], "iyz": J[1, 2]}
            inertial.add("inertia", **named)
        self.shapes(node, link.visuals, shift)
        self.sites(link.name, link.sites, shift)

    def shapes(self, node, visuals, shift):
        for v in visuals:
            geometry = self.geometry(v, node.attributes["name"])
            if geometry is None:
                continue
            visual = node.add("visual")
            H = np.eye(4)
            H[:3, :3], H[:3, 3] = v.rotation, v.at
            visual.add("origin", **origin(shift @ H))
            visual.add("geometry").children.append(geometry)
            if v.colour is not None:
                visual.add("material", name="").add("color", rgba=[*v.colour, 1.0][:4])

    def geometry(self, v: Visual, owner):
        if v.kind == "box":
            return XMLNode("box", size=v.size)
        if v.kind == "sphere":
            return XMLNode("sphere", radius=v.size[0])
        if v.kind in ("cylinder", "capsule"):
            return XMLNode(v.kind, radius=v.size[0], length=v.size[1])
        if v.kind == "mesh":
            return XMLNode("mesh", filename=v.file, scale=v.size)
        self.d.lose(f"visual {v.kind} of link {owner!r}", "URDF has no such shape")
        return None

    def sites(self, link, sites, shift):
        """Named frames: links without mass."""
        for name, pose in sites.items():
            site = self.free(name, self.names)
            self.fixed(self.free(f"{site}_fixed", self.joints), link, site, shift @ pose)
            self.root.add("link", name=site)

    # joints

    def fixed(self, name, parent, child, H):
        node = self.root.add("joint", name=name, type="fixed")
        node.add("parent", link=parent)
        node.add("child", link=child)
        node.add("origin", **origin(H))

    def elementary(self, motion, link):
        """Hinges and slides that move as one motion does."""
        if motion.kind == "screw":
            slide = Motion(self.free(f"{motion.name}_slide", self.joints), "slide", motion.axis, motion.point)
            self.couplings[slide.name] = Coupling("", slide.name, motion.name, (0.0, motion.pitch / (2 * np.pi)), "")
            turn = Motion(**{**vars(motion), "kind": "hinge"})
            return [turn, slide]
        if motion.kind != "ball":
            return [motion]
        self.d.lose(
            f"joint {motion.name!r}", "a ball joint is three hinges in URDF, with a singular position", "approximated"
        )
        if motion.damping or motion.armature:
            self.d.lose(f"damping or armature of joint {motion.name!r}", "is not written for three hinges")
        names = [self.free(f"{motion.name}_{x}", self.joints) for x in "xyz"]
        return [Motion(name, "hinge", link.pose[:3, k], motion.point) for k, name in enumerate(names)]

    def joint(self, motion, parent, child, H, frame):
        kind = URDF_TYPES[motion.kind]
        if motion.stops and kind == "continuous":
            kind = "revolute"
        node = self.root.add("joint", name=motion.name, type=kind)
        node.add("parent", link=parent)
        node.add("child", link=child)
        node.add("origin", **origin(H))
        if kind != "floating":
            node.add("axis", xyz=frame[:3, :3].T @ motion.axis)
            self.properties(node, motion, kind)

    def properties(self, node, motion, kind):
        d, label = self.d, f"joint {motion.name!r}"
        if kind != "continuous":
            low, high = motion.stops.get("lower", -FAR_LIMIT), motion.stops.get("upper", FAR_LIMIT)
            node.add("limit", lower=low, upper=high, effort=FAR_LIMIT, velocity=FAR_LIMIT)
            if not motion.stops:
                d.lose(f"limit of {label}", f"it has none; URDF demands one: ±{FAR_LIMIT:g} is written", "approximated")
        if motion.damping or motion.friction:
            node.add("dynamics", damping=motion.damping, friction=motion.friction)
        for what in ("stiffness", "armature"):
            if getattr(motion, what):
                d.lose(f"{what} of {label}", "URDF has none")
        coupling = self.couplings.get(motion.name)
        if coupling is None:
            return
        if coupling.leader is None or len(coupling.coefficients) > 2:
            d.lose(f"constraint {coupling.name!r}", "URDF has only joints that follow another one linearly")
            return
        offset, factor = (*coupling.coefficients, 0.0)[:2]
        node.add("mimic", joint=coupling.leader, multiplier=factor, offset=offset)

    def motor(self, motor):
        node = self.root.add("transmission", name=f"{motor.name}_transmission")
        node.add("type", "transmission_interface/SimpleTransmission")
        joint = node.add("joint", name=motor.motion)
        joint.add("hardwareInterface", "hardware_interface/EffortJointInterface")
        actuator = node.add("actuator", name=motor.name)
        actuator.add("mechanicalReduction", numbers(motor.gear))


def numbers(x):
    from .xml_text import number_text

    return number_text(x)


def origin(H):
    """xyz and rpy of a pose; what is only rounding of a pose without rotation is left out."""
    yaw, pitch, roll = np.asarray(to_euler(H[:3, :3], "321"), float).ravel()
    rpy = None if np.array_equal(H[:3, :3], np.eye(3)) else [roll, pitch, yaw]
    return {"xyz": H[:3, 3], "rpy": rpy}
