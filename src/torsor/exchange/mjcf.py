"""MJCF, through MuJoCo's own compiler: defaults, includes, inertias from shapes and frames are resolved by it.

MuJoCo counts a joint's coordinate from its `ref`, torsor from the configuration that the file shows: q_file = q + ref.
"""

from copy import copy

import numpy as np

from ..elements.quantity import reals, show
from ..errors import ModelError
from ..registry import register
from . import xml_document
from .format import Format
from .link_tree import Coupling, Key, Link, Motion, Part, Tie, Tree
from .mjcf_compiler import compile_file
from .mjcf_elements.mjcf_actuators import actuator_name, add_actuators, add_reflected_properties
from .mjcf_elements.mjcf_contacts import WAYS, add_contacts, note_contacts
from .mjcf_elements.mjcf_medium import add_medium
from .mjcf_elements.mjcf_sensors import add_sensors, sensor_name
from .mjcf_elements.mjcf_shapes import Shapes
from .mjcf_elements.mjcf_tendons import add_tendons, tendon_lengths, tie_tendons
from .mjcf_includes import Places
from .mjcf_schema import unknown_attributes
from .source import Options, Source

JOINT_TYPES = ("free", "ball", "slide", "hinge")  # mjtJoint
LISTS = (
    ("flexes", "flex", "deformable bodies are not simulated"),
    ("skins", "skin", "not drawn"),
    ("pairs", "contact pair", "contact is not simulated"),
    ("excludes", "contact exclude", "contact is not simulated"),
    ("plugins", "plugin", "not simulated"),
    ("cameras", "camera", "not kept"),
    ("lights", "light", "not kept"),
    ("numerics", "numeric", "not kept"),
    ("texts", "text", "not kept"),
    ("tuples", "tuple", "not kept"),
)


def read_mjcf(
    path,
    *,
    gravity=None,
    start=None,
    start_rate=None,
    merge_fixed=True,
    strict=True,
    actuators=False,
    limits=False,
    friction=False,
    contacts=None,
    sensors=False,
):
    """The mechanism that an MJCF file describes.

    gravity            None: the file's [m/s²]
    start, start_rate  joint coordinates and velocities at the start, by joint name, as torsor counts them: displacement
                       from what the file shows; a ball joint's are a rotation vector, a free joint's that and a position
    merge_fixed        False: bodies without joints stay bodies of their own, held by `Fixed`
    strict             False: impossible inertias are repaired and reported; True: they are errors
    limits             True: joints have the stops of the file, rigid ones
    friction           True: joints have the dry friction of the file (frictionloss), with sticking
    contacts           "compliant" or "exact": collision shapes touch each other (`mjcf_contacts.py`); None: they do not
    sensors            True: sensors become signals of the model (`mjcf_sensors.py`)
    actuators          True: actuators become forces that follow inputs of the model (`mjcf_actuators.py`)

    Returns an `Imported`. Needs MuJoCo: pip install torsor[mjcf].
    """
    root = xml_document.parse(path)
    if root.tag != "mujoco":
        raise ModelError(f"{root.where}: an MJCF file has the root element <mujoco>, got <{root.tag}>")
    places = Places(root)
    try:
        import mujoco
    except ImportError:
        raise ModelError(f"{path}: reading MJCF needs MuJoCo: pip install torsor[mjcf]") from None
    spec, compiled, absent, warned = compile_file(mujoco, root.file, places)
    reader = Reader(mujoco, spec, compiled, places)
    tree = reader.tree()
    for what, where in absent:
        tree.note("ignored", what, "there is no such file; the shape is not drawn", where)
    for text in warned:
        tree.note("questionable", "mujoco", " ".join(text.split()), root.file)
    tree.set_start(start, start_rate)
    if contacts is not None and contacts not in WAYS:
        raise ModelError(f"{path}: contacts must be {', '.join(map(repr, WAYS))} or None, got {contacts!r}")
    options = Options(merge_fixed, strict, limits, friction, actuators, contacts, sensors)
    return Source(tree, reader.gravity if gravity is None else gravity, options, [reader.complete]).build()


@register("mjcf")
class MJCF(Format):
    """Files with the root element `<mujoco>`, read through MuJoCo's own compiler."""

    shows = "<mujoco>"
    suffixes = (".xml", ".mjcf")
    read = staticmethod(read_mjcf)  # type: ignore[assignment]  # its options by name

    @staticmethod
    def recognises(content):
        return content.root is not None and content.root.tag == "mujoco"


def finite(owner, *values):
    """Refuse what MuJoCo lets through: nan, and numbers that no machine has."""
    if not all((np.abs(value) < xml_document.HUGE).all() for value in values):
        raise ModelError(f"{owner}: its numbers must be finite")


def finite_numbers(value, what, count, file):
    """An array of `count` finite numbers, from whatever a user gave."""
    try:
        array = reals(value)
    except Exception:  # conversion of an arbitrary class can raise anything
        array = np.array(np.nan)
    if array.shape != (count,) or not np.isfinite(array).all():
        raise ModelError(f"{file}: {what} must have {count} finite numbers, got {show(value)}")
    return array


class Reader:
    """A compiled MuJoCo model, turned into a tree.

    prefix   what the names of its elements begin with in a model that it is a part of
    """

    prefix = ""

    def __init__(self, mujoco, spec, compiled, places):
        self.mj, self.spec, self.m, self.places = mujoco, spec, compiled, places
        self.file = places.root.file
        self.data = mujoco.MjData(compiled)
        mujoco.mj_kinematics(compiled, self.data)
        self.out = Tree(spec.modelname or "model", self.file)
        self.bodies = ["world"] + [self._name("body", k) for k in range(1, compiled.nbody)]
        self.joints = [self._name("joint", k) for k in range(compiled.njnt)]
        self.tied_tendons = []  # equality constraints: name, numbers of two tendons, coefficients, where

    def off(self, flag):
        """True if the file disables something by a flag of its options; flags that this version of MuJoCo does not have are set."""
        bit = getattr(self.mj.mjtDisableBit, f"mjDSBL_{flag}", None)
        return bit is not None and bool(self.m.opt.disableflags & int(bit))

    def acts(self, flag):
        """True if constraints of a kind act."""
        return not (self.off("CONSTRAINT") or self.off(flag))

    @property
    def gravity(self):
        return (0.0, 0.0, 0.0) if self.off("GRAVITY") else tuple(self.m.opt.gravity)

    def _name(self, what, k):
        return getattr(self.m, what)(k).name or f"{what}_{k}"

    def _where(self, elements, k):
        """file:line of the element with number k."""
        element = next((e for e in elements if e.id == k), None)
        return self.file if element is None else self.places.of(element)

    def site_name(self, s):
        return self.prefix + self._name("site", s)

    def complete(self, imported, options, prefix=""):
        """Add tendons and, if requested, actuators to a model of the tree."""
        part = self.seen_by(imported, prefix)
        if not prefix:
            imported.coordinates_of = part.coordinates_of
        lengths = tendon_lengths(part, imported)
        add_tendons(part, imported, lengths)
        tie_tendons(part, imported, lengths)
        add_medium(part, imported)
        if options.contacts is not None and not (self.off("CONTACT") or self.off("CONSTRAINT")):
            add_contacts(part, imported, options.contacts)
        else:
            note_contacts(part)
        if options.sensors:
            add_sensors(part, imported, lengths, prefix)
        for k in range(0 if options.sensors else self.m.nsensor):
            where = self._where(self.spec.sensors, k)
            part.out.note(
                "ignored", f"sensor {prefix + sensor_name(self, k)!r}", "no signal unless sensors=True", where
            )
        if options.actuators:
            add_actuators(part, imported, lengths, prefix)
        else:
            for k in range(self.m.nu):
                where = self._where(self.spec.actuators, k)
                name = prefix + actuator_name(self, k)
                part.out.note("ignored", f"actuator {name!r}", "not simulated unless actuators=True", where)

    def seen_by(self, imported, prefix):
        """This reader with the notes of a model that was built, and with the names that its elements have there."""
        twin = copy(self)
        twin.out = copy(self.out)
        twin.out.notes = imported.report
        twin.joints = [prefix + name for name in self.joints]
        twin.prefix = prefix
        return twin

    def tree(self):
        shapes = Shapes(self.mj, self.spec, self.m, self.out, self._where)
        for k, name in enumerate(self.bodies):
            link = self._link(k, name)
            link.visuals = shapes.of_body(k, name)
            self.out.links[name] = link
        for k in range(self.m.neq):
            self._equality(k)
        for k in range(self.m.nkey):
            self._keyframe(k)
        self._left_out()
        return self.out

    # bodies

    def _link(self, k, name):
        m, where = self.m, self._where(self.spec.bodies, k)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = self.data.xmat[k].reshape(3, 3), self.data.xpos[k]
        link = Link(name, self.bodies[m.body_parentid[k]] if k else None, pose, where)
        finite(f"{where}: body {name!r}", pose, m.body_mass[k], m.body_ipos[k], m.body_iquat[k], m.body_inertia[k])
        if m.body_mass[k] > 0:
            R = self._matrix(m.body_iquat[k])
            tensor = R @ np.diag(m.body_inertia[k]) @ R.T
            link.parts = [Part(float(m.body_mass[k]), m.body_ipos[k].copy(), tensor, name, where)]
        first = m.body_jntadr[k]
        link.motions = [self._motion(j) for j in range(first, first + m.body_jntnum[k])]
        if m.body_gravcomp[k] and not self.off("PASSIVE"):
            link.lifted = [(float(m.body_mass[k] * m.body_gravcomp[k]), m.body_ipos[k].copy())]
        for s in np.flatnonzero(m.site_bodyid == k):
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = self._matrix(m.site_quat[s]), m.site_pos[s]
            link.sites[self._name("site", s)] = pose
        if hasattr(m, "body_plugin") and m.body_plugin[k] >= 0:
            self.out.note("ignored", f"plugin of body {name!r}", "its forces are not simulated", where)
        if m.body_mocapid[k] >= 0:
            self.out.note("approximated", f"body {name!r}", "mocap: held where the file shows it", where)
        return link

    def _matrix(self, quaternion):
        R = np.zeros(9)
        self.mj.mju_quat2Mat(R, np.asarray(quaternion, float))
        return R.reshape(3, 3)

    # joints

    def _motion(self, j):
        m, name, where = self.m, self.joints[j], self._where(self.spec.joints, j)
        kind, dof, at = JOINT_TYPES[m.jnt_type[j]], m.jnt_dofadr[j], m.jnt_qposadr[j]
        motion = Motion(name, kind, self.data.xaxis[j].copy(), self.data.xanchor[j].copy(), where)
        motion.stiffness = 0.0 if self.off("SPRING") or self.off("PASSIVE") else float(m.jnt_stiffness[j])
        motion.damping = 0.0 if self.off("DAMPER") or self.off("PASSIVE") else float(m.dof_damping[dof])
        finite(f"{where}: joint {name!r}", motion.axis, motion.point, motion.stiffness, motion.damping)
        said = lambda kind, what, message: self.out.note(kind, f"{what} of joint {name!r}", message, where)
        if motion.dof == 1:
            ref = float(m.qpos0[at])
            motion.rest = float(m.qpos_spring[at]) - ref
            finite(f"{where}: joint {name!r}", ref, motion.rest)
            if ref:
                said("renamed", "ref", f"the coordinate counts from here: {ref:g} of the file is 0 of the model")
            if m.jnt_limited[j]:
                motion.limits = dict(zip(("lower", "upper"), (m.jnt_range[j] - ref).tolist()))
        elif m.jnt_limited[j]:
            motion.limits = dict(zip(("lower", "upper"), m.jnt_range[j].tolist()))
        if motion.limits and self.acts("LIMIT"):
            motion.stops = dict(motion.limits)
            motion.words["stops"] = f"range of joint {name!r}", where
        if m.jnt_actfrclimited[j]:
            motion.limits["effort"] = float(np.abs(m.jnt_actfrcrange[j]).max())
        motion.armature = float(m.dof_armature[dof])
        if self.acts("FRICTIONLOSS"):
            motion.friction = float(m.dof_frictionloss[dof])
            motion.words["friction"] = f"frictionloss of joint {name!r}", where
        curved = [getattr(m, a)[k] for a, k in (("jnt_stiffnesspoly", j), ("dof_dampingpoly", dof)) if hasattr(m, a)]
        if any(np.any(x) for x in curved):
            said("approximated", "stiffness or damping", "only the linear part is simulated")
        if hasattr(m, "jnt_springyield") and m.jnt_springyield[j]:
            said("ignored", "springyield", "not simulated")
        return motion

    # keyframes

    def _keyframe(self, k):
        """Coordinates and rates of all joints, as torsor counts them, and inputs by the names of actuators."""
        m, key = self.m, Key(time=float(self.m.key_time[k]))
        finite(f"{self.file}: keyframe {self._name('key', k)!r}", m.key_qpos[k], m.key_qvel[k], m.key_ctrl[k])
        key.coordinates, key.rates = self.coordinates_of(m.key_qpos[k], m.key_qvel[k])
        key.inputs = {actuator_name(self, i): float(m.key_ctrl[k][i]) for i in range(m.nu)}
        self.out.keys[self._name("key", k)] = key

    def coordinates_of(self, qpos, qvel=None):
        """Coordinates and rates of all joints, by the names of the file, from the numbers of MuJoCo."""
        vectors = []
        for what, given, count in (("qpos", qpos, self.m.nq), ("qvel", qvel, self.m.nv)):
            vectors.append(finite_numbers(np.zeros(count) if given is None else given, what, count, self.file))
        found = [self._coordinates(j, *vectors) for j in range(self.m.njnt)]
        return tuple({name: values[k] for name, values in zip(self.joints, found)} for k in (0, 1))

    def _coordinates(self, j, qpos, qvel):
        """Coordinates and rates of a joint from those of MuJoCo. Those of a ball or free joint are those of the relative motion of
        two frames that are parallel to the world in the reference configuration."""
        m, kind = self.m, JOINT_TYPES[self.m.jnt_type[j]]
        at, dof = m.jnt_qposadr[j], m.jnt_dofadr[j]
        if kind in ("slide", "hinge"):
            return np.array([qpos[at] - m.qpos0[at]]), np.array([qvel[dof]])
        body = m.jnt_bodyid[j]
        R0 = self.data.xmat[body].reshape(3, 3)
        if kind == "ball":
            vector = np.zeros(3)
            self.mj.mju_quat2Vel(vector, qpos[at : at + 4] / np.linalg.norm(qpos[at : at + 4]), 1.0)
            return R0 @ vector, R0 @ qvel[dof : dof + 3]
        R = self._matrix(qpos[at + 3 : at + 7] / np.linalg.norm(qpos[at + 3 : at + 7])) @ R0.T
        quaternion, vector = np.zeros(4), np.zeros(3)
        self.mj.mju_mat2Quat(quaternion, R.ravel())
        self.mj.mju_quat2Vel(vector, quaternion, 1.0)
        shift = qpos[at : at + 3] - self.data.xpos[body]
        return np.concatenate([vector, shift]), np.concatenate(
            [R0 @ qvel[dof + 3 : dof + 6], R.T @ qvel[dof : dof + 3]]
        )

    # constraints

    def _equality(self, k):
        m, mj = self.m, self.mj
        where, kind, data = self._where(self.spec.equalities, k), int(m.eq_type[k]), m.eq_data[k]
        name = m.equality(k).name or f"equality_{k}"
        finite(f"{where}: equality {name!r}", data)
        element, first, second = f"equality {name!r}", m.eq_obj1id[k], m.eq_obj2id[k]
        if not m.eq_active0[k] or not self.acts("EQUALITY"):
            self.out.note("ignored", element, "it is not active", where)
            return
        kinds = ("CONNECT", "WELD", "JOINT", "TENDON")
        connect, weld, joint, tendon = (int(getattr(mj.mjtEq, f"mjEQ_{what}")) for what in kinds)
        if kind == joint:
            leader = self.joints[second] if second >= 0 else None
            coefficients = tuple(float(a) for a in data[:5])
            self.out.couplings.append(Coupling(name, self.joints[first], leader, coefficients, where))
        elif kind in (connect, weld):
            links, poses = self._ends(k, first, second, data, kind == weld)
            self.out.ties.append(Tie(name, kind == weld, links, poses, where))
        elif kind == tendon:
            self.tied_tendons.append((name, int(first), int(second), tuple(float(a) for a in data[:5]), where))
        else:
            self.out.note(
                "unsupported", element, "only those of bodies, sites, joints and tendons are simulated", where
            )
            return
        self.out.note("approximated", element, "soft in MuJoCo, kept exactly here", where)

    def _ends(self, k, first, second, data, weld):
        """The two links and the frames in them that are kept together."""
        m, poses = self.m, [np.eye(4), np.eye(4)]
        if int(m.eq_objtype[k]) == int(self.mj.mjtObj.mjOBJ_SITE):
            for pose, site in zip(poses, (first, second)):
                pose[:3, :3], pose[:3, 3] = self._matrix(m.site_quat[site]), m.site_pos[site]
            first, second = m.site_bodyid[first], m.site_bodyid[second]
        elif weld:
            # a point of the second body, where it is in the first, and the second's orientation in the first
            poses[1][:3, 3], poses[0][:3, 3] = data[:3], data[3:6]
            poses[0][:3, :3] = self._matrix(data[6:10])
        else:
            poses[0][:3, 3], poses[1][:3, 3] = data[:3], data[3:6]
        return (self.bodies[first], self.bodies[second]), tuple(poses)

    def _left_out(self):
        for attribute, what, message in LISTS:
            for k, element in enumerate(getattr(self.spec, attribute, ())):
                name = getattr(element, "name", "") or f"{what}_{k}"
                self.out.note("ignored", f"{what} {name!r}", message, self.places.of(element))
        sleeping = getattr(self.mj.mjtEnableBit, "mjENBL_SLEEP", None)
        if sleeping is not None and self.m.opt.enableflags & int(sleeping):
            self.out.note("ignored", "option flag sleep", "nothing sleeps here", self.places.option("sleep", "flag"))
        add_reflected_properties(self)
        for element, attribute in unknown_attributes(self.places):
            message = f"attribute {attribute!r} is not known to this version of torsor: it may change the motion"
            self.out.note("questionable", element.label, message, element.where)
