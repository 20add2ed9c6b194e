"""What an MJCF file includes, as MuJoCo finds it, and where the elements of all these files stand.

A file that is included is looked for in the folder of the model, then in the folder of the file that names it. MuJoCo knows
lines of the model's own file only; in other files elements are found by their names, or by their places in a body that has one.
"""

import re
from pathlib import Path

from . import xml_document

SECTIONS = ("equality", "actuator", "sensor", "tendon", "keyframe", "contact")  # the section identifies their elements
SECTION_OF_TAG = {"key": "keyframe", "pair": "contact", "exclude": "contact"}


class Places:
    """Every element of a model's files, parsed as carefully as the model's own, before anything else opens them."""

    def __init__(self, root):
        self.root, self.folder = root, Path(root.file).resolve().parent
        self.named, self.children, self.every = {}, {}, []
        self._walk(root, None, None, [str(Path(root.file).resolve())])

    def _walk(self, element, section, body, opened):
        for child in element.children:
            if child.tag == "include":
                file = self._find(child, Path(element.file).resolve().parent)
                if str(file) in opened:
                    raise child.error(f"{str(file)!r} includes itself")
                self._walk(xml_document.parse(file), section, body, [*opened, str(file)])
                continue
            self.every.append((section, child))
            kind = section or {"freejoint": "joint"}.get(child.tag, child.tag)
            name = child.attributes.get("name")
            if name:
                self.named.setdefault((kind, name), child)
            if body is not None:
                self.children.setdefault((kind, body), []).append(child)
            inner = name if child.tag == "body" else body
            self._walk(child, child.tag if child.tag in SECTIONS else section, inner, opened)

    def option(self, attribute, tag="option"):
        """file:line of the last element that gives an option, or of the file."""
        given = [element for _, element in self.every if element.tag == tag and attribute in element.attributes]
        return given[-1].where if given else self.root.file

    def _find(self, include, parent):
        name = include.text("file")
        files = [folder / name for folder in (self.folder, parent)]
        found = next((file.resolve() for file in files if file.is_file()), None)
        if found is None:
            raise include.error(f"there is no file {str(files[0])!r}")
        return found

    def of(self, element):
        """file:line of an element of MuJoCo's description; of its body, or the file, where no more is known."""
        line = re.search(r"line ([1-9]\d*)", getattr(element, "info", "") or "")
        if line:
            return f"{self.root.file}:{line[1]}"
        kind = type(element).__name__.removeprefix("Mjs").lower()
        known = self.named.get((SECTION_OF_TAG.get(kind, kind), getattr(element, "name", "")))
        if known is not None:
            return known.where
        body = getattr(getattr(element, "parent", None), "name", "")
        siblings = list(getattr(element.parent, f"{kind}s", ())) if body else []
        place = next((k for k, other in enumerate(siblings) if other.id == element.id), None)
        inside = self.children.get((kind, body), [])
        if place is not None and len(inside) == len(siblings):
            return inside[place].where
        above = self.named.get(("body", body))
        return self.root.file if above is None else above.where
