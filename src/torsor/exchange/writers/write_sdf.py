"""A model as SDF 1.11: a world with gravity and one model; links and joints with poses of their own, loops included."""

import numpy as np

from ...errors import ModelError
from ...lie import pose_stacks
from ..link_tree import Motion
from .xml_text import XMLNode, numbers_text

SDF_TYPES = {"hinge": "revolute", "slide": "prismatic", "ball": "ball", "screw": "screw"}
SAME_POINT = 1e-12  # relative distance of two points that are one
PERPENDICULAR_BELOW = 1e-9  # |a·b| below which two axes are perpendicular


def sdf_document(description):
    """The content of the file; notes go to the description."""
    return SDFWriter(description).document()


class SDFWriter:
    """One file."""

    def __init__(self, description):
        self.d, self.tree = description, description.tree
        self.axes: dict = {}  # by motion: the joint and the axis that it is in the file
        self.nodes: dict = {}

    def document(self):
        d, tree = self.d, self.tree
        root = XMLNode("sdf", version="1.11")
        world = root.add("world", name=f"{tree.name}_world")
        world.add("gravity", d.gravity)
        if d.ground.visuals or d.ground.sites:
            name = "ground" if tree.name != "ground" else "ground_"
            still = world.add("model", name=name)
            still.add("static", "true")
            self.shapes(still.add("link", name="ground"), d.ground)
            for name, pose in d.ground.sites.items():
                still.add("frame", name=name, attached_to="ground").children.append(pose_node(pose))
        model = world.add("model", name=tree.name)
        for link in tree.links.values():
            self.link(model, link)
        for link in tree.links.values():
            self.carry(model, link)
        for closure in tree.closures:
            first, second = closure.links
            if second is None:
                first, second = second, first
                raise ModelError(
                    f"joint {closure.name!r}: the second body of a joint that closes a loop must not be the ground in SDF"
                )
            self.joint(model, closure.name, closure.motions, first, second, self.tree.links[second].pose)
        for coupling in tree.couplings:
            self.follow(coupling)
        for motor in d.motors:
            d.lose(f"input {motor.name!r}", "SDF has no motors")
        if d.starts:
            d.lose("start of joints and bodies", "SDF has none")
        return root.document()

    def link(self, model, link):
        node = model.add("link", name=link.name)
        node.children.append(pose_node(link.pose))
        for part in link.parts:
            inertial = node.add("inertial")
            H = np.eye(4)
            H[:3, 3] = part.center
            inertial.children.append(pose_node(H))
            inertial.add("mass", [part.mass])
            J = (part.tensor + part.tensor.T) / 2
            inertia = inertial.add("inertia")
            for k, (i, j) in {
                "ixx": (0, 0),
                "ixy": (0, 1),
                "ixz": (0, 2),
                "iyy": (1, 1),
                "iyz": (1, 2),
                "izz": (2, 2),
            }.items():
                inertia.add(k, [J[i, j]])
            if not np.linalg.eigvalsh(J)[0] > 0:
                self.d.lose(
                    f"body {link.name!r}",
                    "has no moment of inertia about an axis, which Gazebo refuses",
                    "questionable",
                )
        self.shapes(node, link)
        for name, pose in link.sites.items():
            model.add("frame", name=self.frame_name(name), attached_to=link.name).children.append(pose_node(pose))

    def frame_name(self, name):
        return f"{name}_frame" if name in self.tree.links or name in self.tree.motions else name

    def shapes(self, node, link):
        for k, v in enumerate(link.visuals):
            a = list(v.size)
            words = {
                "box": [("size", a)], "sphere": [("radius", a)], "cylinder": [("radius", a[:1]), ("length", a[1:])],
                "capsule": [("radius", a[:1]), ("length", a[1:])], "cone": [("radius", a[:1]), ("length", a[1:])],
                "ellipsoid": [("radii", a)], "plane": [("normal", [0, 0, 1]), ("size", a)], "mesh": [("scale", a)],
            }[v.kind]  # fmt: skip
            visual = node.add("visual", name=f"{v.kind}_{k}")
            H = np.eye(4)
            H[:3, :3], H[:3, 3] = v.rotation, v.at
            visual.children.append(pose_node(H))
            shape = visual.add("geometry").add(v.kind)
            for tag, values in words:
                shape.add(tag, values)
            if v.kind == "mesh":
                shape.add("uri", str(v.file))
            if v.colour is not None:
                colour = [*v.colour, 1.0][:4]
                material = visual.add("material")
                material.add("ambient", colour)
                material.add("diffuse", colour)

    # joints

    def carry(self, model, link):
        """The joint of a link in the tree."""
        if any(m.kind == "free" for m in link.motions):
            return
        name = link.motions[0].joint or link.motions[0].name if link.motions else link.fixed_by or f"{link.name}_fixed"
        joint = self.d.chains[link.name]
        backward = link.parent is not None and joint.first.name == link.name
        if backward:  # written from its first body to its second, as in the model
            parent = self.tree.links[link.parent]
            self.joint(model, name, reverse(link.motions), link.name, parent.name, parent.pose)
        else:
            self.joint(model, name, link.motions, link.parent, link.name, link.pose)

    def joint(self, model, name, motions, parent, child, pose):
        kind = self.kind(name, motions)
        node = model.add("joint", name=name if name not in self.tree.links else f"{name}_joint", type=kind)
        H = np.eye(4)
        if motions:
            H[:3, 3] = pose[:3, :3].T @ (motions[0].point - pose[:3, 3])
        node.children.append(pose_node(H))
        node.add("parent", parent or "world")
        node.add("child", child)
        if kind == "screw":
            node.add("screw_thread_pitch", [motions[0].pitch])
        for motion, tag in zip(motions if kind not in ("ball", "fixed") else (), ("axis", "axis2")):
            axis = node.add(tag)
            axis.add("xyz", pose[:3, :3].T @ motion.axis)
            self.properties(axis, motion)
            self.axes[motion.name] = (node.attributes["name"], tag, axis)
        if kind == "ball" and (motions[0].damping or motions[0].armature):
            self.d.lose(f"damping or armature of joint {name!r}", "SDF has none of ball joints")

    def kind(self, name, motions):
        """The type of a joint."""
        kinds = [m.kind for m in motions]
        if not kinds:
            return "fixed"
        if len(kinds) == 1 and kinds[0] in SDF_TYPES:
            return SDF_TYPES[kinds[0]]
        if kinds == ["hinge", "hinge"]:
            a, b = motions
            size = max(np.abs(a.point).max(), np.abs(b.point).max(), 1e-300)
            if np.abs(a.point - b.point).max() <= SAME_POINT * size:
                return "universal" if abs(a.axis @ b.axis) < PERPENDICULAR_BELOW else "revolute2"
        words = ", ".join(kinds)
        raise ModelError(
            f"joint {name!r}: SDF has no joint of the motions {words}; write MJCF or YAML, or put bodies with mass between them"
        )

    def properties(self, axis, motion):
        limit = axis.add("limit")
        for side in ("lower", "upper"):
            limit.add(side, [motion.stops[side]] if side in motion.stops else ("-inf" if side == "lower" else "inf"))
        values = {"damping": motion.damping, "friction": motion.friction, "spring_reference": motion.rest,
                  "spring_stiffness": motion.stiffness}  # fmt: skip
        if any(values.values()):
            dynamics = axis.add("dynamics")
            for what, value in values.items():
                dynamics.add(what, [value])
        if motion.armature:
            self.d.lose(f"armature of joint {motion.name!r}", "SDF has none")

    def follow(self, coupling):
        """A joint that follows another one."""
        linear = coupling.leader is not None and len(coupling.coefficients) <= 2
        if not linear or coupling.follower not in self.axes or coupling.leader not in self.axes:
            self.d.lose(f"constraint {coupling.name!r}", "SDF has only joints that follow another one linearly")
            return
        offset, factor = (*coupling.coefficients, 0.0)[:2]
        joint, tag, _ = self.axes[coupling.leader]
        mimic = self.axes[coupling.follower][2].add("mimic", joint=joint, axis=tag)
        mimic.add("multiplier", [factor])
        mimic.add("offset", [offset])
        mimic.add("reference", [0.0])


def reverse(motions):
    """The motions of the other body relative to this one."""
    return [Motion(**{**vars(m), "axis": -m.axis}) for m in motions[::-1]]


def pose_node(H):
    """<pose> with a quaternion, whose digits are all kept."""
    w, x, y, z = pose_stacks.quaternions(H[:3, :3])
    if np.array_equal(H[:3, :3], np.eye(3)):
        return XMLNode("pose", numbers_text([*H[:3, 3], 0, 0, 0]))
    return XMLNode("pose", numbers_text([*H[:3, 3], x, y, z, w]), rotation_format="quat_xyzw")
