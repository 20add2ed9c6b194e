"""Links of an SDF file: inertias, and shapes to draw."""

from typing import Any

import numpy as np

from ...elements import inertia as solids
from ...elements.quantity import show
from .. import mesh_files
from ..link_tree import Part
from ..rigid_groups import WATER
from ..robot import Visual
from .sdf_scopes import number_in, numbers_in, pose_of, text_of

MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
ROUND_SIZES = {
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "cone": ("radius", "length"),
}


def inertial(link, name, tree):
    """The mass of a link; 1 kg and 1 kg m² where the file gives none, as the format has it."""
    element = link.one("inertial")
    if element is None:
        tree.note(
            "questionable", link.label, "has no <inertial>: mass 1 kg, inertia 1 kg m², as the format says", link.where
        )
        return [Part(1.0, np.zeros(3), np.eye(3), name, link.where)]
    if element.attributes.get("auto", "false").strip().lower() in ("true", "1"):
        return automatic(link, element, name, tree)
    mass = number_in(element, "mass", 1.0, link)
    if not 0 <= mass < 1e50:
        raise link.error(f"mass must not be negative, got {mass!r} (line {element.line})")
    tensor = element.one("inertia", link)
    values = {
        k: (float(k[1] == k[2]) if tensor is None else number_in(tensor, k, float(k[1] == k[2]), link)) for k in MOMENTS
    }
    if not all(abs(x) < 1e50 for x in values.values()):
        raise link.error(f"moments of inertia must be finite numbers (line {element.line})")
    xx, yy, zz, xy, xz, yz = (values[k] for k in MOMENTS)
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if element.one("fluid_added_mass", link) is not None:
        tree.note(
            "ignored", f"fluid_added_mass of {link.label}", "forces of the medium are not simulated", element.where
        )
    if mass == 0:
        return []
    H = pose_of(element.one("pose", link), link)
    R = H[:3, :3]
    return [Part(mass, H[:3, 3], R @ J @ R.T, name, element.where)]


def automatic(link, element, name, tree):
    """The mass of the collision shapes from their densities; scaled to <mass> where that is given."""
    common = number_in(element, "density", WATER, link)
    parts = []
    for collision in link.all("collision"):
        density = number_in(collision, "density", common, link)
        kind, size, turn = geometry(collision, link)
        H = pose_of(collision.one("pose", link), link) @ turn
        if kind not in VOLUMES:
            raise link.error(f"inertias of a {kind} are not computed; give mass and inertia (line {collision.line})")
        volume, solid = VOLUMES[kind]
        made = solid(density * volume(*size), *size)
        R, center = H[:3, :3], np.array(made.center, float).ravel()
        tensor = R @ np.array(made.tensor, float) @ R.T
        parts.append(Part(float(made.mass), H[:3, 3] + R @ center, tensor, name, collision.where))
    total = sum(part.mass for part in parts)
    if total <= 0:
        raise link.error(f"auto inertia needs collision shapes (line {element.line})")
    given = number_in(element, "mass", total, link)
    for part in parts:
        part.mass, part.tensor = part.mass * given / total, part.tensor * (given / total)
    return parts


def _ellipsoid(mass, a, b, c):
    J = mass / 5 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    return solids.Inertia(mass, J, np.zeros(3))


def _capsule(mass, radius, length):
    """A cylinder and two half balls, each 3/8 r beyond the end of the cylinder."""
    tube, ball = np.pi * radius**2 * length, 4 / 3 * np.pi * radius**3
    m, b = mass * tube / (tube + ball), mass * ball / (tube + ball)
    axial = m * radius**2 / 2 + 0.4 * b * radius**2
    far = length / 2 + 3 / 8 * radius
    across = m * (radius**2 / 4 + length**2 / 12) + b * (0.4 * radius**2 - (3 / 8 * radius) ** 2 + far**2)
    return solids.Inertia(mass, np.diag([across, across, axial]), np.zeros(3))


def _cone(mass, radius, length):
    """A cone whose frame is in the middle of its height."""
    J = 3 / 20 * mass * np.diag([radius**2 + length**2 / 4] * 2 + [2 * radius**2])
    return solids.Inertia(mass, J, np.array([0.0, 0.0, -length / 4]))


VOLUMES: dict[str, Any] = {
    "box": (lambda x, y, z: x * y * z, solids.box),
    "sphere": (lambda r: 4 / 3 * np.pi * r**3, solids.sphere),
    "cylinder": (lambda r, h: np.pi * r * r * h, solids.cylinder),
    "capsule": (lambda r, h: np.pi * r * r * (h + 4 / 3 * r), _capsule),
    "ellipsoid": (lambda a, b, c: 4 / 3 * np.pi * a * b * c, _ellipsoid),
    "cone": (lambda r, h: np.pi / 3 * r * r * h, _cone),
}  # fmt: skip


def geometry(owner, link):
    """Kind of a shape, its sizes, and its pose in the frame of the visual or collision."""
    element = owner.one("geometry", link)
    shape = element.children[0] if element is not None and element.children else None
    if shape is None:
        return "empty", (), np.eye(4)
    turn = np.eye(4)
    if shape.tag == "box":
        size = numbers_in(shape, "size", 3, (1, 1, 1), link)
    elif shape.tag == "ellipsoid":
        size = numbers_in(shape, "radii", 3, (1, 1, 1), link)
    elif shape.tag == "plane":
        size = numbers_in(shape, "size", 2, (1, 1), link)
        turn[:3, :3] = from_z(numbers_in(shape, "normal", 3, (0, 0, 1), link), shape, link)
    elif shape.tag == "mesh":
        size = numbers_in(shape, "scale", 3, (1, 1, 1), link)
    elif shape.tag in ROUND_SIZES:
        size = [number_in(shape, what, 1.0, link) for what in ROUND_SIZES[shape.tag]]
    else:
        return shape.tag, (), turn
    if shape.tag != "mesh" and not all(0 < x < 1e9 for x in size):
        raise link.error(
            f"sizes of a {shape.tag} must be positive, got {show(list(map(float, size)))} (line {shape.line})"
        )
    return shape.tag, tuple(map(float, size)), turn


def from_z(normal, element, link):
    """A rotation that turns z to a direction."""
    length = np.linalg.norm(normal)
    if not length > 0:
        raise link.error(f"<normal> of a plane must not be zero (line {element.line})")
    z = normal / length
    if abs(z[2] - 1) < 1e-15:
        return np.eye(3)
    x = np.cross((0.0, 1.0, 0.0), z) if abs(z[1]) < 0.9 else np.cross((1.0, 0.0, 0.0), z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


class SDFVisuals:
    """The shapes of one file that are drawn; what cannot be drawn is noted in the tree."""

    def __init__(self, tree, packages):
        self.out, self.packages, self.missing = tree, packages, set()

    def of(self, visual, link):
        """The shape of a <visual>, in the frame of its link; none if it is not drawn."""
        kind, size, turn = geometry(visual, link)
        where = f"visual {visual.attributes.get('name', '')!r} of {link.label}"
        if kind not in ("box", "ellipsoid", "plane", "mesh", *ROUND_SIZES):
            self.out.note("unsupported", where, f"{kind} is not drawn", visual.where)
            return []
        H = pose_of(visual.one("pose", link), link) @ turn
        made = {"at": H[:3, 3], "rotation": H[:3, :3], "size": size, "colour": self._colour(visual, link)}
        if kind == "mesh":
            shape = visual.one("geometry").children[0]
            uri = text_of(shape, "uri")
            file = mesh_files.find(uri, shape.file, self.packages)
            if file is None and uri not in self.missing:
                self.missing.add(uri)
                self.out.note("missing", f"mesh {uri!r} of {link.label}", "no such file", visual.where)
            return [Visual("mesh", file=file, uri=uri, **made)]
        return [Visual(kind, **made)]

    def _colour(self, visual, link):
        material = visual.one("material", link)
        diffuse = None if material is None else material.one("diffuse", link)
        if diffuse is None:
            return None
        count = len(diffuse.content.split())
        colour = [float(x) for x in numbers_in(material, "diffuse", 3 if count == 3 else 4, (1, 1, 1, 1), link)]
        clear = 1 - number_in(visual, "transparency", 0.0, link)
        return (*colour[:3], (colour[3] if count > 3 else 1.0) * clear)
