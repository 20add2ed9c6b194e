"""Contacts of an MJCF file: its collision shapes as compliant or exact contacts of the model.

    k = Σ m g / (1 mm)^1.5                                                                                (1)

k   stiffness of all contacts: the weight of everything that moves presses one touching point in by 1 mm (Hertz, n = 1.5)

Shapes of moving bodies touch those of the world and those of other trees of bodies, as far as the file's masks (contype,
conaffinity) and exclusions allow. A robot's own links do not touch each other.
"""

import numpy as np

from ...elements.shapes import Shape
from ...forces.shape_contacts.compliant_contact import CompliantContact
from ...forces.shape_contacts.convex_polyhedron import ConvexPolyhedron
from ...forces.shape_contacts.exact_contact import ExactContact, is_exact
from ...lie import pose_stacks
from ..free_names import free_name, legal

KINDS = {
    "plane": 3,
    "sphere": 1,
    "capsule": 2,
    "cylinder": 2,
    "box": 3,
    "mesh": 3,
}  # kinds of geoms with a contact law, numbers of sizes
WEIGHT_DEPTH = 1e-3  # m, see (1)
STANDARD_GRAVITY = 9.81
DAMPING = 1.0  # s/m, of the law of Hunt and Crossley
SLIP_SPEED = 1e-4  # m/s
WAYS = ("compliant", "exact")


class Geom:
    """A collision shape of the file: the shape in the frame of its body in the model."""

    def __init__(self, reader, imported, g):
        m = reader.m
        self.number, self.name = g, m.geom(g).name or f"geom_{g}"
        self.kind = reader.mj.mjtGeom(int(m.geom_type[g])).name.removeprefix("mjGEOM_").lower()
        self.tree = int(m.body_rootid[m.geom_bodyid[g]]) if m.body_weldid[m.geom_bodyid[g]] else 0
        self.link = reader.prefix + reader.bodies[m.geom_bodyid[g]]
        home = imported.links.get(self.link)
        self.body = None if home is None else imported.model[home.body]
        self.friction = float(m.geom_friction[g][0])
        if self.body is None or self.kind not in KINDS:
            return
        if self.kind == "mesh":
            self.shape = self._hull(m, home, reader._matrix(m.geom_quat[g]))
            return
        a, b, c = m.geom_size[g].tolist()
        sizes = {
            "plane": (1.0, 1.0),
            "sphere": (a,),
            "capsule": (a, 2 * b),
            "cylinder": (a, 2 * b),
            "box": (2 * a, 2 * b, 2 * c),
        }
        R = home.rotation @ reader._matrix(m.geom_quat[g])
        at = home.at + home.rotation @ m.geom_pos[g]
        turn = tuple(float(x) for x in pose_stacks.quaternions(R))
        self.shape = Shape(self.kind, sizes[self.kind], tuple(float(x) for x in at), turn)

    def _hull(self, m, home, R):
        """The hull of a mesh."""
        first, count = m.mesh_vertadr[m.geom_dataid[self.number]], m.mesh_vertnum[m.geom_dataid[self.number]]
        points = m.geom_pos[self.number] + m.mesh_vert[first : first + count].astype(float) @ R.T
        return ConvexPolyhedron(home.at + points @ home.rotation.T)


def add_contacts(reader, imported, way):
    """Add the contacts of the file; shapes without a law are reported."""
    m, out = reader.m, reader.out
    touching = [g for g in range(m.ngeom) if m.geom_contype[g] or m.geom_conaffinity[g]]
    geoms = [Geom(reader, imported, g) for g in touching]
    for geom in geoms:
        if geom.kind not in KINDS or geom.body is None:
            message = (
                f"there is no contact of a {geom.kind}" if geom.body is not None else "its body is not in the model"
            )
            where = reader._where(reader.spec.geoms, geom.number)
            out.note("unsupported", f"contact of geom {geom.name!r}", message, where)
    known = [geom for geom in geoms if geom.kind in KINDS and geom.body is not None]
    pairs = [(a, b) for k, a in enumerate(known) for b in known[k + 1 :] if may_touch(reader, a, b)]
    weight = sum(float(m.body_mass[k]) for k in range(1, m.nbody)) * (
        np.linalg.norm(reader.gravity) or STANDARD_GRAVITY
    )
    stiffness = weight / WEIGHT_DEPTH**1.5  # (1)
    for a, b in pairs:
        a, b = (a, b) if a.kind == "plane" or a.tree == 0 else (b, a)
        name = f"{legal(a.name)}_{legal(b.name)}"
        if way == "compliant":
            add_compliant(imported.model, name, a, b, stiffness, max(a.friction, b.friction))
        elif not add_exact(imported.model, name, a, b, max(a.friction, b.friction)):
            message = f"there is no exact contact of a {a.shape.kind} and a {b.shape.kind}, take contacts='compliant'"
            where = reader._where(reader.spec.geoms, b.number)
            out.note("unsupported", f"contact of geom {a.name!r} and geom {b.name!r}", message, where)


def note_contacts(reader):
    """Report the shapes of each body that may touch others, where contact is not simulated."""
    m = reader.m
    for k, body in enumerate(reader.bodies):
        first = int(m.body_geomadr[k])
        several = range(first, first + int(m.body_geomnum[k]))
        names = [m.geom(g).name or f"geom_{g}" for g in several if m.geom_contype[g] or m.geom_conaffinity[g]]
        if names:
            message = (
                f"geom {', '.join(map(repr, names))}: contact is not simulated unless contacts='compliant' or 'exact'"
            )
            reader.out.note("ignored", f"contact of body {body!r}", message, reader._where(reader.spec.bodies, k))


def may_touch(reader, a, b):
    """True if two shapes may touch: on different trees, by their masks, not excluded, not two of the world."""
    m = reader.m
    if a.body is b.body or a.tree == b.tree or a.kind == b.kind == "plane":
        return False
    masks = (
        m.geom_contype[a.number] & m.geom_conaffinity[b.number]
        or m.geom_contype[b.number] & m.geom_conaffinity[a.number]
    )
    bodies = sorted(int(m.geom_bodyid[g.number]) for g in (a, b))
    return bool(masks) and (bodies[0] << 16) + bodies[1] not in set(int(x) for x in m.exclude_signature)


def add_compliant(model, name, a, b, stiffness, friction):
    """Add the compliant contact of two shapes, each with its body."""
    model.add(
        CompliantContact(
            free_name(model, name, "contact"), a.body, b.body, shapes=(a.shape, b.shape), stiffness=stiffness,
            damping=DAMPING, friction=friction, slip_speed=SLIP_SPEED, trusted=True,
        )
    )  # fmt: skip


def add_exact(model, name, a, b, friction):
    """Add the exact contact of two shapes; False if there is none."""
    if not is_exact(a.shape.kind, b.shape.kind):
        return False
    model.add(
        ExactContact(
            free_name(model, name, "contact"), a.body, b.body, shapes=(a.shape, b.shape), friction=friction or None
        )
    )
    return True
