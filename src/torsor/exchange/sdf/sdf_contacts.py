"""Contacts of an SDF file: its collision shapes as compliant or exact contacts of the model, as `mjcf_contacts.py` has them.

Shapes of moving links touch those of the world and those of other models that are not connected to theirs by joints, as far as
their masks allow. The coefficient of friction of two shapes is the smaller one.
"""

import numpy as np

from ...elements.shapes import Shape
from ...lie import pose_stacks
from ..free_names import legal
from ..mjcf_elements.mjcf_contacts import KINDS, STANDARD_GRAVITY, WEIGHT_DEPTH, add_compliant, add_exact
from .sdf_links import geometry
from .sdf_scopes import number_in, pose_of

ALL = 65535  # mask of a shape that says nothing


class Collision:
    """A collision shape: the shape in the frame of its body in the model."""

    def __init__(self, element, link, name, tree_number, imported, prefix):
        self.name = f"{name}_{element.attributes.get('name', 'collision')}"
        self.where, self.tree = element.where, tree_number
        self.kind, size, turn = geometry(element, link)
        surface = element.one("surface", link)
        contact = None if surface is None else surface.one("contact", link)
        self.mask = ALL if contact is None else int(number_in(contact, "collide_bitmask", ALL, link))
        self.friction = self._friction(surface, link)
        home = imported.links.get(prefix + name)
        self.body = None if home is None else imported.model[home.body]
        if self.body is None or not size or self.kind not in KINDS or self.kind == "mesh":
            self.shape = None
            return
        H = pose_of(element.one("pose", link), link) @ turn
        R, at = home.rotation @ H[:3, :3], home.at + home.rotation @ H[:3, 3]
        self.shape = Shape(self.kind, size, tuple(map(float, at)), tuple(map(float, pose_stacks.quaternions(R))))

    @staticmethod
    def _friction(surface, link):
        given = None if surface is None else surface.one("friction", link)
        ode = None if given is None else given.one("ode", link)
        return 1.0 if ode is None else number_in(ode, "mu", 1.0, link)


def add_sdf_contacts(imported, collisions, way, gravity, note):
    """Add contacts of shapes; those without a law are reported."""
    known = []
    for c in collisions:
        if c.shape is None:
            message = "its link is not in the model" if c.body is None else f"there is no contact of a {c.kind}"
            note("unsupported", f"collision {c.name!r}", message, c.where)
        else:
            known.append(c)
    weight = sum(float(b.mass) for b in imported.model.bodies) * (np.linalg.norm(gravity) or STANDARD_GRAVITY)
    stiffness = weight / WEIGHT_DEPTH**1.5
    for k, first in enumerate(known):
        for second in known[k + 1 :]:
            if first.body is second.body or first.tree == second.tree or not first.mask & second.mask:
                continue
            if first.kind == second.kind == "plane":
                continue
            a, b = (first, second) if first.kind == "plane" or first.tree == 0 else (second, first)
            name, friction = f"{legal(a.name)}_{legal(b.name)}", min(a.friction, b.friction)
            if way == "compliant":
                add_compliant(imported.model, name, a, b, stiffness, friction)
            elif not add_exact(imported.model, name, a, b, friction):
                message = f"there is no exact contact of a {a.kind} and a {b.kind}, take contacts='compliant'"
                note("unsupported", f"contact of {a.name!r} and {b.name!r}", message, b.where)
