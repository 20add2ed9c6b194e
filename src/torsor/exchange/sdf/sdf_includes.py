"""Scopes of an SDF file, with the models of other files that it includes."""

from pathlib import Path
from urllib.parse import unquote

from ...errors import ModelError
from .. import mesh_files, xml_document
from .sdf_scopes import MERGED, MOST_LEVELS, NAMED, Entity, Scope, version_of

OLD_AXES = (1, 5)  # versions before this one give axes in the frame of the model


class Document:
    """One SDF file and those that it includes.

    scopes   the world, with all models in it
    """

    def __init__(self, root, packages, tree):
        self.root, self.packages, self.tree = root, packages, tree
        self.count = 0

    def world(self, chosen):
        """The scope of the world: that of the file's <world>, or one around its models."""
        root = self.root
        worlds = root.all("world")
        names = [w.attributes.get("name", "") for w in worlds]
        if chosen is not None and chosen not in names:
            known = ", ".join(map(repr, names)) or "none"
            raise ModelError(f"{root.where}: there is no world {chosen!r}. Known: {known}.")
        if len(worlds) > 1 and chosen is None:
            shown = ", ".join(map(repr, names))
            raise ModelError(f"{root.where}: the file has {len(worlds)} worlds: {shown}; choose one with world=…")
        element = worlds[names.index(chosen)] if chosen is not None else worlds[0] if worlds else root
        scope = Scope(element, None, None, "")
        models = [x for x in element.children if x.tag in ("model", "include")]
        if not models:
            raise ModelError(f"{element.where}: has no <model>")
        mark_version(element, version_of(root))
        self.fill(scope, element, (str(Path(root.file).resolve()),), alone=len(models) == 1)
        return scope

    def fill(self, scope, element, files, alone=False):
        """Add the links, joints, frames and models of an element to a scope.

        alone   True: the names of the only model's elements do not begin with its name
        """
        for child in element.children:
            if child.tag in NAMED:
                entity = Entity(child.tag, child, scope, child.text("name"))
                if "::" in entity.name:
                    raise child.error("a name must not contain '::'")
                scope.add(entity)
                if child.tag == "model":
                    self.enter(entity, child, scope, files, alone)
            elif child.tag == "include":
                self.include(child, scope, files, alone)

    def enter(self, entity, element, scope, files, alone):
        """Make the scope of a model within another one."""
        self.count += 1
        if self.count > 10_000 or scope.prefix.count("::") > MOST_LEVELS:
            raise element.error("models are nested too deeply, or too many are included")
        entity.inner = Scope(element, scope, entity, "" if alone else f"{entity.path}::")
        entity.inner.static = entity.inner.static or scope.static
        self.fill(entity.inner, element, files)

    def include(self, element, scope, files, alone):
        uri = element.one("uri")
        name = "" if uri is None else uri.content.strip()
        if not name:
            raise element.error("<include> needs a <uri>")
        path = self.find(name, element)
        if path is None:
            raise element.error(
                f"model {name!r} is not found next to the file or in the folders above; give its folder by packages={{…}}"
            )
        real = str(Path(path).resolve())
        if real in files:
            circle = " → ".join(Path(x).name for x in (*files, real))
            raise element.error(f"files include each other in a circle: {circle}")
        root = xml_document.parse(path)
        models = root.all("model")
        if root.tag != "sdf" or len(models) != 1:
            raise element.error(f"{path} must be an SDF file with one <model>")
        model = models[0]
        mark_version(model, version_of(root))
        own = element.one("name")
        chosen = (own.content.strip() if own is not None else "") or model.text("name")
        if element.attributes.get("merge", "false").strip().lower() in ("true", "1"):
            self.merge(element, model, scope, (*files, real), chosen)
            return
        entity = Entity("model", element, scope, chosen)
        scope.add(entity)
        if element.one("pose") is None and model.one("pose") is not None:
            element.children.append(model.one("pose"))
        placed = element.one("placement_frame")
        entity.placement = placed.content.strip() if placed is not None else None
        self.enter(entity, model, scope, (*files, real), alone)
        static = element.one("static")
        if static is not None:
            entity.inner.static = static.content.strip().lower() in ("true", "1")

    def merge(self, element, model, scope, files, name):
        """Include a model without a scope of its own: its elements belong to this one, its frame is a frame of this one."""
        frame = Entity("model", element, scope, MERGED + name)
        if element.one("pose") is None and model.one("pose") is not None:
            element.children.append(model.one("pose"))
        placed = element.one("placement_frame")
        frame.placement = placed.content.strip() if placed is not None else None
        frame.inner = Scope(model, scope, frame, scope.prefix)
        self.fill(frame.inner, model, files)
        for entity in frame.inner.entries.values():
            scope.add(entity)
        scope.entries[frame.name] = frame

    def find(self, uri, element):
        """The SDF file of a model: a file, or one in a folder whose model.config names it."""
        found = mesh_files.find(uri, element.file, self.packages)
        if found is not None:
            return found
        for name in ("model.config", "model.sdf"):
            found = mesh_files.find(f"{uri.rstrip('/')}/{name}", element.file, self.packages)
            if found is not None and name == "model.sdf":
                return found
            if found is not None:
                listed = xml_document.parse(found).all("sdf")
                newest = max(listed, key=lambda x: x.attributes.get("version", ""), default=None)
                if newest is not None:
                    return str(Path(found).parent / unquote(newest.content.strip()))
        return None


def mark_version(element, version):
    """Say in newer words what an old version says."""
    for child in element.children:
        if child.tag in ("axis", "axis2"):
            given = child.one("use_parent_model_frame")
            old = given.content.strip().lower() in ("true", "1") if given is not None else version < OLD_AXES
            axis = child.one("xyz")
            if old and axis is not None:
                axis.attributes.setdefault("expressed_in", "__model__")
        mark_version(child, version)
