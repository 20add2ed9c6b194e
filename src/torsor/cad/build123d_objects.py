"""`ts.read_assembly`: objects of build123d with their joints as a mechanism.

A joint of build123d belongs to a part and is connected to a joint of another part. It becomes the joint with the same free motions,
where the parts are now: coordinates are 0 there.
"""

from typing import Any

import numpy as np

from ..elements.quantity import Vector, show
from ..errors import ModelError, OptionError
from .assembly_model import model_of_parts
from .assembly_report import ImportedAssembly
from .joint_table import read_densities, read_table
from .open_cascade import module, pose_of, sub_shapes
from .parts import Part

TYPES_OF_JOINTS = {
    "RevoluteJoint": "revolute", "LinearJoint": "prismatic", "CylindricalJoint": "cylindrical", "BallJoint": "spherical",
    "RigidJoint": "fixed",
}  # fmt: skip
RIGID = "RigidJoint"


def read_assembly(
    assembly: Any,
    *,
    densities: Any = None,
    joints: Any = None,
    ground: Any = (),
    gravity: Vector = (0, 0, -9.81),
    meshes: Any = None,
) -> ImportedAssembly:
    """The mechanism of an object of build123d: its leaves are the parts, its connected joints are the joints.

    assembly    a Compound with children, each with a label; lengths in mm, as build123d has them
    densities   as in `torsor.read` of a STEP file: kg/m³, one number or by label
    joints      further joints, as in the table of a STEP assembly
    ground      labels of the parts that do not move
    gravity     in the axes of the assembly [m/s²]
    meshes      folder for the triangles that the viewer draws; None: torsor's cache

    Revolute, linear, cylindrical and ball joints that are connected to a rigid joint become revolute, prismatic, cylindrical and
    spherical joints, two rigid joints a fixed one. Their names are those of both parts.
    """
    if not hasattr(assembly, "wrapped") or not hasattr(assembly, "children"):
        raise OptionError(f"read_assembly: give an object of build123d, got {show(assembly)}")
    name = getattr(assembly, "label", "") or "assembly"
    leaves: list = []
    walk(assembly, (), np.eye(4), leaves)
    if not leaves:
        raise ModelError(f"read_assembly: {name!r} has no solids; a mechanism is made of solids")
    table = dict(joints.get("joints", joints)) if isinstance(joints, dict) else {}
    if joints is not None and not isinstance(joints, dict):
        raise OptionError(f"read_assembly: joints must be a dictionary, got {show(joints)}")
    rest = {key: x for key, x in (joints or {}).items() if key != "joints"} if "joints" in (joints or {}) else {}
    held = [ground] if isinstance(ground, str) else list(ground)
    whole = {"ground": held} | rest | {"joints": connections(leaves) | table}
    return model_of_parts(
        [part for part, _ in leaves], read_table({"unit": "mm"} | whole, name), [], name=name,
        densities=read_densities(densities, name), gravity=gravity, meshes=None if meshes is None else str(meshes),
    )  # fmt: skip


def walk(item, path, pose, leaves):
    """Collect the parts of an object: pairs of the part and its object."""
    shape = item.wrapped
    here = pose @ pose_of(shape.Location().Transformation()) if shape is not None else pose
    if item.children:
        for k, child in enumerate(item.children):
            walk(child, (*path, child.label or f"part{k + 1}"), here, leaves)
        return
    if shape is None or not sub_shapes(shape, "SOLID"):
        return
    own = shape.Located(module("TopLoc").TopLoc_Location())
    colour = getattr(item, "color", None)
    label = path or (item.label or "part1",)
    leaves.append((Part(label, here, own, None if colour is None else tuple(float(x) for x in colour)), item))


def connections(leaves):
    """The connected joints of the parts, as entries of a table of joints."""
    found: dict[str, Any] = {}
    owners = {id(item): part for part, item in leaves}
    for part, item in leaves:
        for joint in item.joints.values():
            other = joint.connected_to
            if other is None:
                continue
            where = f"joint {joint.label!r} of part {part.label!r}"
            if id(other.parent) not in owners:
                raise ModelError(f"{where}: it is connected to a part that is not in the assembly")
            kinds = [type(x).__name__ for x in (joint, other)]
            moving, kind = (joint, kinds[0]) if kinds[1] == RIGID else (other, kinds[1])
            if RIGID not in kinds or kind not in TYPES_OF_JOINTS:
                known = ", ".join(TYPES_OF_JOINTS)
                raise ModelError(
                    f"{where}: a {kinds[0]} connected to a {kinds[1]} is not known; one is rigid, the other of {known}"
                )
            second = owners[id(other.parent)]
            entry = {"type": TYPES_OF_JOINTS[kind], "first": part.label, "second": second.label}
            if kind != RIGID:
                entry |= place_of(moving, owners[id(moving.parent)], kind)
            found[f"{part.path[-1]}_{joint.label}"] = entry
    return found


def place_of(joint, part, kind):
    """Point [mm] and axis of a joint in the world."""
    R, p = part.pose[:3, :3], 1e3 * part.pose[:3, 3]
    if kind == "BallJoint":
        return {"point": (R @ np.array(tuple(joint.relative_location.position)) + p).tolist()}
    axis = joint.relative_axis
    at, along = (np.array(tuple(x), float) for x in (axis.position, axis.direction))
    return {"point": (R @ at + p).tolist(), "axis": (R @ along).tolist()}
