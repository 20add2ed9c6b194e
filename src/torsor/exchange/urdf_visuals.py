"""What the links of a URDF file look like: shapes, meshes, colours."""

import numpy as np

from ..lie.euler import from_euler
from . import mesh_files
from .robot import Visual

ROUND = (("radius", 1), ("length", 1))
SIZES = {"box": (("size", 3),), "sphere": (("radius", 1),), "cylinder": ROUND, "capsule": ROUND}


class Visuals:
    """The visual elements of one file; what cannot be drawn is noted in the tree."""

    def __init__(self, root, packages, tree):
        self.file, self.packages, self.out, self.missing = root.file, packages, tree, set()
        self.colours = {m.attributes.get("name"): self._colour(m) for m in root.all("material")}

    def of(self, visual, link):
        """The shapes of one visual element of a link."""
        geometry = visual.one("geometry", link)
        shape = geometry.children[0] if geometry is not None and geometry.children else None
        if shape is None:
            self.out.note("ignored", f"visual of {link.label}", "has no geometry", visual.where)
            return []
        H, colour = origin(visual, link), self._material(visual, link)
        made = {"at": H[:3, 3], "rotation": H[:3, :3], "colour": colour}
        if shape.tag == "mesh":
            uri = shape.text("filename", link)
            file = mesh_files.find(uri, self.file, self.packages)
            if file is None and uri not in self.missing:
                self.missing.add(uri)
                self.out.note("missing", f"mesh {uri!r} of {link.label}", "no such file", shape.where)
            return [Visual("mesh", size=tuple(shape.numbers("scale", 3, (1, 1, 1), link)), file=file, uri=uri, **made)]
        if shape.tag not in SIZES:
            self.out.note("unsupported", f"{shape.tag} of {link.label}", "unknown shape, not drawn", shape.where)
            return []
        size = [x for what, count in SIZES[shape.tag] for x in shape.numbers(what, count, owner=link)]
        return [Visual(shape.tag, size=tuple(size), **made)]

    def _material(self, visual, link):
        material = visual.one("material", link)
        if material is None:
            return None
        return self._colour(material, link) or self.colours.get(material.attributes.get("name"))

    def _colour(self, material, owner=None):
        if material.all("texture"):
            self.out.note("ignored", f"texture of {(owner or material).label}", "not drawn", material.where)
        colour = material.one("color", owner)
        return None if colour is None else tuple(colour.numbers("rgba", 4, owner=owner))


def origin(element, owner):
    """The pose in the <origin> of an element: xyz and roll, pitch, yaw about fixed axes."""
    given = element.one("origin", owner)
    H = np.eye(4)
    if given is not None:
        roll, pitch, yaw = given.numbers("rpy", 3, (0, 0, 0), owner)
        H[:3, 3] = given.numbers("xyz", 3, (0, 0, 0), owner)
        H[:3, :3] = from_euler((yaw, pitch, roll), "321")  # H_origin of `urdf.py`
    return H
