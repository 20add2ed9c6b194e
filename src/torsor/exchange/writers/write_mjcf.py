"""A model as MJCF: bodies within bodies, each with its joints.

Loops are closed by `connect` and `weld` between sites: a ball by one point, a hinge by two points of its axis. MuJoCo keeps these,
the relations of joints, stops and dry friction softly.
"""

from pathlib import Path

import numpy as np

from ...lie import pose_stacks, so3
from ..link_tree import Motion
from .xml_text import XMLNode

MJCF_TYPES = {"hinge": "hinge", "slide": "slide", "ball": "ball"}
MESHES = (".stl", ".obj", ".msh")
LEAST_INERTIA = 2e-15  # kg m²; MuJoCo refuses less
HINGE_POINTS_APART = 0.1  # m, distance of the two points of a hinge that closes a loop
NO_STOP = 1e10  # bound of a side without a stop


def mjcf_document(description):
    """The content of the file; notes go to the description."""
    return MJCFWriter(description).document()


class MJCFWriter:
    """One file."""

    def __init__(self, description):
        self.d, self.tree = description, description.tree
        self.root = XMLNode("mujoco", model=self.tree.name)
        self.meshes: dict = {}
        self.sites: set = {name for link in [*self.tree.links.values(), description.ground] for name in link.sites}
        self.screws: list = []
        self.start: tuple = ([], [])  # qpos and qvel
        self.nodes: dict = {}

    def document(self):
        d, root = self.d, self.root
        root.add("compiler", angle="radian", autolimits="true", inertiafromgeom="false")
        root.add("option", gravity=d.gravity)
        assets = XMLNode("asset")
        root.children.append(assets)
        world = root.add("worldbody")
        self.nodes[None] = world
        self.content(world, d.ground)
        below: dict = {}
        for link in self.tree.links.values():
            below.setdefault(link.parent, []).append(link)
        stack = list(reversed(below.get(None, [])))
        while stack:  # in the order of the file, as MuJoCo counts coordinates
            link = stack.pop()
            self.body(link)
            stack += reversed(below.get(link.name, []))
        equality = XMLNode("equality")
        for closure in self.tree.closures:
            self.close(closure, equality)
        for name, leader, pitch in self.screws:
            equality.add("joint", joint1=name, joint2=leader, polycoef=[0, pitch / (2 * np.pi), 0, 0, 0])
        for c in self.tree.couplings:
            polycoef = (*c.coefficients, 0, 0, 0, 0, 0)[:5]
            equality.add("joint", name=c.name, joint1=c.follower, joint2=c.leader, polycoef=polycoef)
            d.lose(f"constraint {c.name!r}", "soft in MuJoCo", "approximated")
        actuators = XMLNode("actuator")
        for motor in d.motors:
            actuators.add("motor", name=motor.name, joint=motor.motion, gear=motor.gear)
        root.children += [x for x in (equality, actuators) if x.children]
        for name, (file, scale) in self.meshes.items():
            assets.add("mesh", name=name, file=file, scale=scale)
        if not assets.children:
            root.children.remove(assets)
        if d.starts or any(m.value for m in d.motors):
            qpos, qvel = self.start
            ctrl = [m.value for m in d.motors] or None
            root.add("keyframe").add("key", name="start", qpos=qpos or None, qvel=qvel or None, ctrl=ctrl)
        return root.document()

    # bodies

    def body(self, link):
        H = link.pose if link.parent is None else np.linalg.inv(self.tree.links[link.parent].pose) @ link.pose
        node = self.nodes[link.parent].add("body", name=link.name, **place(H))
        self.nodes[link.name] = node
        for motion in link.motions:
            self.joint(node, motion, link)
        self.inertial(node, link)
        self.content(node, link)

    def inertial(self, node, link):
        for part in link.parts:
            J = (part.tensor + part.tensor.T) / 2
            moments = np.linalg.eigvalsh(J)
            given = {"pos": part.center, "mass": part.mass}
            if moments[0] < LEAST_INERTIA:
                values, axes = np.linalg.eigh(J)
                axes[:, 2] *= np.sign(np.linalg.det(axes))
                turn = pose_stacks.quaternions(axes)
                node.add("inertial", **given, quat=turn, diaginertia=np.maximum(values, LEAST_INERTIA))
                message = f"a moment of inertia below {LEAST_INERTIA:g} kg m² is written as that, which MuJoCo demands"
                self.d.lose(f"body {link.name!r}", message, "approximated")
            elif np.array_equal(J, np.diag(J.diagonal())):
                node.add("inertial", **given, diaginertia=J.diagonal())
            else:
                node.add("inertial", **given, fullinertia=[J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])

    def content(self, node, link):
        """Shapes and named frames."""
        for v in link.visuals:
            given = self.geom(v, link)
            if given is not None:
                H = np.eye(4)
                H[:3, :3], H[:3, 3] = v.rotation, v.at
                colour = None if v.colour is None else [*v.colour, 1.0][:4]
                node.add("geom", **given, **place(H), rgba=colour, contype="0", conaffinity="0", group="1")
        for name, pose in link.sites.items():
            node.add("site", name=name, **place(pose))

    def geom(self, v, link):
        a = list(v.size)
        sizes = {
            "box": [x / 2 for x in a], "sphere": a, "cylinder": [a[0], a[-1] / 2], "capsule": [a[0], a[-1] / 2], "ellipsoid": a,
            "plane": [x / 2 for x in a] + [0.01],
        }  # fmt: skip
        owner = f"visual {v.kind} of link {link.name!r}"
        if v.kind == "plane" and link.name in self.tree.links:
            self.d.lose(owner, "MJCF has planes in the world only")
            return None
        if v.kind in sizes:
            return {"type": v.kind, "size": sizes[v.kind]}
        if v.kind == "mesh" and v.file and Path(v.file).suffix.lower() in MESHES and Path(v.file).is_file():
            name = next((n for n, known in self.meshes.items() if known == (str(Path(v.file).resolve()), v.size)), None)
            if name is None:
                name = f"mesh_{len(self.meshes)}"
                self.meshes[name] = (str(Path(v.file).resolve()), v.size)
            return {"type": "mesh", "mesh": name}
        self.d.lose(owner, "MJCF has no such shape, or the mesh is no existing STL or OBJ file")
        return None

    # joints

    def joint(self, node, motion, link):
        R = link.pose[:3, :3]
        point, axis = R.T @ (motion.point - link.pose[:3, 3]), R.T @ motion.axis
        if motion.kind == "free":
            self.free_joint(node, motion, link)
            return
        if motion.kind == "screw":
            slide = Motion(f"{motion.name}_slide", "slide", motion.axis, motion.point)
            self.joint(node, Motion(**{**vars(motion), "kind": "hinge"}), link)
            follow = motion.pitch / (2 * np.pi)
            slide.start, slide.rate = (None if x is None else follow * x for x in (motion.start, motion.rate))
            self.joint(node, slide, link)
            self.screws.append((slide.name, motion.name, motion.pitch))
            self.d.lose(
                f"joint {motion.name!r}",
                "a screw is a hinge and a slide that follows it, softly in MuJoCo",
                "approximated",
            )
            return
        ball = motion.kind == "ball"
        given = {
            "name": motion.name, "type": MJCF_TYPES[motion.kind], "pos": point, "axis": None if ball else axis,
            "stiffness": motion.stiffness or None, "springref": motion.rest or None, "damping": motion.damping or None,
            "armature": motion.armature or None, "frictionloss": motion.friction or None,
        }  # fmt: skip
        if motion.stops:
            given["range"] = [motion.stops.get("lower", -NO_STOP), motion.stops.get("upper", NO_STOP)]
            self.d.lose(f"limit of joint {motion.name!r}", "soft in MuJoCo", "approximated")
        node.add("joint", **given)
        start, rate = (np.zeros(motion.dof) if x is None else np.asarray(x, float) for x in (motion.start, motion.rate))
        self.start[0].extend(quaternion(R.T @ start) if ball else start)
        self.start[1].extend(R.T @ rate if ball else rate)

    def free_joint(self, node, motion, link):
        if link.parent is not None:
            self.d.lose(
                f"joint {motion.name!r}",
                "three slides and a ball: MJCF has free joints of bodies in the world only",
                "renamed",
            )
            parent = self.tree.links[link.parent].pose
            for k, x in enumerate("xyz"):
                slide = Motion(f"{motion.name}_{x}", "slide", parent[:3, k], link.pose[:3, 3])
                self.joint(node, slide, link)
            self.joint(node, Motion(f"{motion.name}_ball", "ball", np.zeros(3), link.pose[:3, 3]), link)
            return
        node.add("freejoint", name=motion.name)
        start, rate = (np.zeros(6) if x is None else np.asarray(x, float) for x in (motion.start, motion.rate))
        T = np.eye(4)  # from the zero configuration to the start
        T[:3, :3] = so3.exp(start[:3])
        T[:3, 3] = motion.point + start[3:] - T[:3, :3] @ motion.point
        H = T @ link.pose
        w, v = T[:3, :3] @ rate[:3], T[:3, :3] @ rate[3:]
        v = v + np.cross(w, H[:3, 3] - motion.point - start[3:])
        self.start[0].extend([*H[:3, 3], *pose_stacks.quaternions(H[:3, :3])])
        self.start[1].extend([*v, *(H[:3, :3].T @ w)])

    # loops

    def close(self, closure, equality):
        """Sites at both ends, and what keeps them together."""
        kinds = [m.kind for m in closure.motions]
        axis = closure.motions[0].axis if kinds == ["hinge"] else None
        points = {(): [0.0], ("ball",): [0.0], ("hinge",): [0.0, HINGE_POINTS_APART]}.get(tuple(kinds))
        if points is None:
            message = "closes a loop; MJCF closes loops with ball joints, hinges and welds only: it is left out"
            self.d.lose(f"joint {closure.name!r}", message)
            return
        motion = closure.motions[0] if closure.motions else None
        for k, distance in enumerate(points):
            names = []
            for end, (link, frame) in enumerate(zip(closure.links, closure.frames)):
                H = frame.copy()
                if motion is not None:
                    moved = frame @ np.linalg.inv(closure.frames[0])
                    H[:3, 3] = moved[:3, :3] @ motion.point + moved[:3, 3]
                    H[:3, 3] += 0 if axis is None else moved[:3, :3] @ axis * distance
                names.append(self.site(f"{closure.name}_{k}_{'ab'[end]}", link, H))
            kind = "weld" if not kinds else "connect"
            name = closure.name if len(points) == 1 else f"{closure.name}_{k}"
            equality.add(kind, name=name, site1=names[0], site2=names[1])
        self.d.lose(f"joint {closure.name!r}", "closes a loop, softly in MuJoCo", "approximated")

    def site(self, name, link, H):
        while name in self.sites:
            name += "_"
        self.sites.add(name)
        pose = np.eye(4) if link is None else self.tree.links[link].pose
        self.nodes[link].add("site", name=name, **place(np.linalg.inv(pose) @ H))
        return name


def place(H):
    """pos and quat of a pose."""
    turn = None if np.array_equal(H[:3, :3], np.eye(3)) else pose_stacks.quaternions(H[:3, :3])
    return {"pos": H[:3, 3] if H[:3, 3].any() else None, "quat": turn}


def quaternion(vector):
    """The quaternion of a rotation vector."""
    return pose_stacks.quaternions(np.asarray(so3.exp(np.asarray(vector, float))))
