"""Parts and a table of joints as a model.

World frame and reference configuration are those of the assembly as it was drawn. A body's frame is that of its heaviest part.
"""

import hashlib
import os
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ..elements.element import fill_in
from ..elements.quantity import show
from ..errors import ModelError, TorsorError
from ..exchange.free_names import legal
from ..exchange.robot import ImportedJoint, Note, Placement, Visual, shapes_of_visuals
from ..joints import Connection
from ..kernels.cache import folder as cache_folder
from ..model.model import Model
from ..registry import registered
from ..store.model_files.problems import unknown
from ..store.model_files.units import UnitError, quantity_of
from . import feature_queries
from .assembly_report import ImportedAssembly, JointGap
from .contacts import coaxial
from .feature_queries import AXES, Found, is_query
from .joint_table import Row, Table
from .part_groups import Groups, densities_of, group
from .parts import Part, Parts
from .solids import Feature, stl, triangles_of

PLACES = ("at", "mate", "point", "axis", "first", "second")
FAR_RATIO = 2.0  # distance of a joint's point from the parts / size of the assembly, above which it is questionable


@dataclass(eq=False)
class Assembly:
    """The model of an assembly in the making."""

    parts: Parts
    table: Table
    notes: list[Note]
    gravity: Any
    meshes: str | None
    model: Model = field(init=False)
    groups: Groups = field(init=False)
    bodies: dict[int, Any] = field(default_factory=dict)
    homes: dict[str, Placement] = field(default_factory=dict)
    visuals: dict[str, list] = field(default_factory=dict)
    joints: dict[str, ImportedJoint] = field(default_factory=dict)
    gaps: list[JointGap] = field(default_factory=list)
    masses: dict[str, float] = field(default_factory=dict)

    def build(self, name: str, densities: dict) -> ImportedAssembly:
        """The model, with the report of the import."""
        self.model = Model(legal(name) or "assembly", gravity=self.gravity)
        self.groups = group(self.parts, self.table, self.notes)
        density = densities_of(self.parts, self.table.densities | densities, self.table.file, self.notes)
        for number, members in self.groups.members().items():
            self.body(number, members, density)
        for row in self.table.rows:
            if row.type != "fixed":
                self.row(row)
        self.note_what_is_loose()
        found = ImportedAssembly(self.model, self.notes, self.homes, self.joints, self.visuals)
        found.parts, found.groups, found.gaps, found.masses = self.parts, self.groups, self.gaps, self.masses
        found.report.sort(key=lambda note: note.importance)
        return found

    # bodies

    def body(self, number, members, density):
        body: Any
        inertias = {id(p): p.inertia(density[id(p)]) for p in members}
        lead = max(members, key=lambda p: inertias[id(p)].mass)
        back = np.linalg.inv(lead.pose)
        local = [(p, back @ p.pose) for p in members]
        self.masses |= {p.label: inertias[id(p)].mass for p in members}
        fixed = number in self.groups.ground
        if fixed:
            local = [(p, p.pose) for p in members]
        drawn = [self.visual(part, H) for part, H in local]
        if fixed:
            body = self.model.ground
            fill_in(body, shape=(body.shape or ()) + shapes_of_visuals(drawn))
        else:
            total = None
            for part, H in local:
                moved = inertias[id(part)].move(H[:3, 3], H[:3, :3]) if part is not lead else inertias[id(part)]
                total = moved if total is None else total + moved
            name = self.free_name(lead)
            placed: dict[str, Any] = {"at": lead.pose[:3, 3], "rotation": lead.pose[:3, :3]}
            body = self.model.body(name, inertia=total, **placed, shape=shapes_of_visuals(drawn))
        self.bodies[number] = body
        self.visuals.setdefault(body.name, []).extend(drawn)
        for part, H in local:
            self.homes[part.label] = Placement(body.name, H[:3, 3], H[:3, :3])

    def free_name(self, part: Part) -> str:
        """The name of a body: that of its part, with more of its path where others are called so."""
        for k in range(1, len(part.path) + 1):
            name = legal("_".join(part.path[-k:])) or "part"
            same = [p for p in self.parts if p.path[-k:] == part.path[-k:]]
            if name not in self.model and name not in ("time", "ground") and len(same) == 1:
                break
        while name in self.model or name in ("time", "ground"):
            count = int(name.rpartition("_")[2]) + 1 if name.rpartition("_")[2].isdigit() else 2
            name = f"{name.rpartition('_')[0] if count > 2 else name}_{count}"
        if name != part.path[-1]:
            message = f"is body {name!r} of the model"
            self.notes.append(Note("renamed", f"part {part.label!r}", message, self.table.file))
        return name

    def visual(self, part: Part, H: np.ndarray) -> Visual:
        """The triangles of a part in a file of their own, which the viewer reads."""
        corners, faces = triangles_of(part.shape)
        data = stl(corners, faces)
        folder = self.meshes or os.path.join(cache_folder(), "meshes")
        digest = hashlib.sha256(data).hexdigest()[:16]
        file = os.path.join(os.path.abspath(folder), f"{legal(part.path[-1]) or 'part'}-{digest}.stl")
        if not os.path.exists(file):
            _write(file, data)
        return Visual("mesh", H[:3, 3], H[:3, :3], (1.0, 1.0, 1.0), file, None, part.colour, part.label)

    # joints

    def row(self, row: Row):
        where = f"{row.where}: joint {row.name!r}"
        classes = registered("joint") | registered("constraint")
        if row.type not in classes:
            raise ModelError(f"{where}: {unknown('type', row.type, {'fixed': 0} | registered('joint'))}")
        cls = classes[row.type]
        known = [f.name for f in fields(cls) if f.init and f.repr and f.name != "name"]
        given = dict(row.given)
        for key in given:
            if key not in (*known, "at", "mate"):
                raise ModelError(f"{where}: {unknown('key', key, [*known, 'at', 'mate'])}")
        arguments: dict[str, Any]
        if issubclass(cls, Connection):
            arguments = self.connection(cls, given, where)
            given = {key: x for key, x in given.items() if key not in PLACES}
        else:
            arguments = {}
        arguments |= {key: self.value(x, f"{where}: {key}") for key, x in given.items()}
        try:
            element = self.model.add(cls(legal(row.name) or "joint", **arguments))
        except (TypeError, ValueError) as error:
            raise ModelError(f"{where}: {error}") from None
        except TorsorError as error:
            raise ModelError(f"{row.where}: {error}") from None
        if cls.kind == "joint":
            limits = getattr(element, "limits", None)
            bounds = {} if limits is None or element.dof != 1 else dict(zip(("lower", "upper"), limits))
            self.joints[row.name] = ImportedJoint(element, element.coordinate, element.rate, bounds)

    def connection(self, cls, given, where):
        """Bodies, point and axis of a joint of two parts."""
        at = None if given.get("at") is None else self.query(given["at"], f"{where}: at")
        mate = None if given.get("mate") is None else self.query(given["mate"], f"{where}: mate")
        first, second = self.ends(given, at, mate, where)
        arguments: dict[str, Any] = {"first": first[1], "second": second[1]}
        if first[1] is second[1]:
            raise ModelError(f"{where}: both parts are in body {first[1].name!r}: {first[0]} and {second[0]}")
        names = [f.name for f in fields(cls)]
        if given.get("point") is not None:
            arguments["point"] = self.point(given["point"], f"{where}: point")
        elif at is not None:
            arguments["point"] = at.feature.point
        elif "point" in names and getattr(cls, "anchored", False):
            raise ModelError(
                f"{where}: give `point`, or `at` with a face, such as `cylinder d=8 on PART nearest OTHER`"
            )
        if "axis" in names:
            if given.get("axis") is not None:
                arguments["axis"] = self.axis(given["axis"], f"{where}: axis")
            elif at is not None and at.feature.kind != "sphere":
                arguments["axis"] = tuple(map(float, at.feature.direction))
            else:
                raise ModelError(f"{where}: give `axis`: x, y, z, three numbers, or a face")
        self.note_far_point(arguments.get("point"), where)
        if at is not None:
            self.measure(
                where.rpartition("joint ")[2].strip("'"), at, mate, second[1] if first[0] == at.part.label else first[1]
            )
        return arguments

    def query(self, given, where) -> Found:
        if not isinstance(given, str):
            raise ModelError(f"{where}: a face such as `cylinder d=8 on PART` is expected, got {show(given)}")
        return feature_queries.find(given, self.parts, self.table.unit, where)

    def ends(self, given, at, mate, where):
        """Labels and bodies of both parts: those given, or those that the query compares."""
        named = [given.get("first"), given.get("second")]
        if at is not None:
            other = mate.part if mate is not None else at.other
            default = [at.part.label, None if other is None else other.label]
            if named == [None, None]:
                named = default
            elif None in named:
                known = self.label(next(x for x in named if x is not None), where)
                missing = next((x for x in default if x is not None and x != known), None)
                named = [missing if x is None else x for x in named]
        if None in named:
            raise ModelError(f"{where}: give `first` and `second`: names of parts, or ground")
        return [(self.label(x, where), self.body_of(x, where)) for x in named]

    def label(self, name, where):
        return "ground" if name == "ground" else self.parts.one(name, where).label

    def body_of(self, name, where):
        return self.model.ground if name == "ground" else self.bodies[self.groups.of(self.parts.one(name, where))]

    def point(self, given, where):
        if is_query(given):
            return self.query(given, where).feature.point
        values = self.value(_three(given), where, self.table.unit)
        if np.shape(values) != (3,):
            raise ModelError(f"{where}: three lengths or a face are expected, got {show(given)}")
        return np.array(values, float)

    def axis(self, given, where):
        if is_query(given):
            found = self.query(given, where).feature
            if found.kind == "sphere":
                raise ModelError(f"{where}: a sphere has no direction")
            return tuple(map(float, found.direction))
        if isinstance(given, str) and given.strip() in AXES:
            return given.strip()
        values = self.value(_three(given), where)
        if np.shape(values) != (3,):
            raise ModelError(f"{where}: x, y, z, three numbers or a face are expected, got {show(given)}")
        return tuple(map(float, values))

    def value(self, given, where, unit=1.0):
        """A value of the table: numbers with units, names of elements and parts, lists of these."""
        if isinstance(given, (list, tuple, np.ndarray)):
            return tuple(self.value(x, where, unit) for x in given)
        if isinstance(given, (int, float)) and not isinstance(given, bool):
            return given * unit
        if not isinstance(given, str):
            return given
        text = given.strip()
        try:
            number = quantity_of(text)
            return float(text) * unit if number is None else number
        except UnitError as error:
            raise ModelError(f"{where}: {error}") from None
        except ValueError:
            pass
        if text.startswith(("[", "(")) and text.endswith(("]", ")")):
            return self.value(_three(text), where, unit)
        if text in self.joints:
            return self.joints[text].joint
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        return self.body_of(text, where) if text == "ground" or self.parts.matching(text) else text

    def measure(self, name, at: Found, mate: Found | None, other):
        """The gap between the face of a joint and the face of the other body that belongs to it."""
        feature = None if mate is None else mate.feature
        if feature is None:
            others = [p for p in self.parts if self.bodies[self.groups.of(p)] is other]
            feature = nearest_partner(at.feature, [f for p in others for f in p.features])
        self.gaps.append(JointGap.between(name, at.feature, feature))

    # report

    def note_far_point(self, point, where):
        """Note a point that is far from all parts: most often a wrong unit."""
        if point is None:
            return
        low = np.min([p.bounds[0] for p in self.parts], axis=0)
        high = np.max([p.bounds[1] for p in self.parts], axis=0)
        distance = float(np.linalg.norm(np.maximum(np.maximum(low - point, point - high), 0.0)))
        if distance > FAR_RATIO * float((high - low).max()):
            place = ", ".join(f"{x:.4g}" for x in point)
            message = f"its point ({place}) m is {distance:.4g} m away from the assembly: is its unit right?"
            self.notes.append(Note("questionable", f"joint {where.rpartition('joint ')[2]}", message, self.table.file))

    def note_what_is_loose(self):
        held = {
            id(end) for c in self.model.constraints for end in (getattr(c, "first", None), getattr(c, "second", None))
        }
        loose = [b.name for b in self.model.bodies if id(b) not in held]
        if loose:
            names = ", ".join(map(repr, loose[:8])) + (f" and {len(loose) - 8} more" if len(loose) > 8 else "")
            message = f"no joint holds {names}: {'it moves' if len(loose) == 1 else 'they move'} freely"
            self.notes.append(Note("questionable", "bodies", message, self.table.file))
        if id(self.model.ground) not in held:
            message = "no part is on the ground: name it in `ground`"
            self.notes.append(Note("questionable", "ground", message, self.table.file))


def nearest_partner(feature: Feature, others: list[Feature]) -> Feature | None:
    """The face of another body that fits a face best: a coaxial cylinder, a plane that looks at it, a ball in its socket."""
    same = [f for f in others if f.kind == feature.kind]
    if feature.kind == "cylinder":
        same = [f for f in same if coaxial(f, feature)] or [
            f for f in same if abs(f.radius - feature.radius) < 0.2 * feature.radius
        ]
    if feature.kind == "plane":
        same = [f for f in same if f.direction @ feature.direction < -0.9]
    return min(same, key=lambda f: sum(JointGap.between("", feature, f).measures), default=None)


def _three(given):
    """Words of a text such as "0 0 100" or "[0, 0, 12 mm]"; anything else as it is."""
    if not isinstance(given, str):
        return given
    text = given.strip().strip("[]()")
    return [x.strip() for x in text.split(",")] if "," in text else text.split()


def _write(file, data):
    """Write a file at once, in a folder that is made."""
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        temporary = f"{file}.{os.getpid()}.part"
        with open(temporary, "wb") as stream:
            stream.write(data)
        os.replace(temporary, file)
    except OSError as error:
        raise ModelError(
            f"cannot write the mesh {file!r}: {error.strerror or error}; give another folder with `meshes`"
        ) from None


def model_of_parts(parts, table, notes, *, name, densities, gravity, meshes) -> ImportedAssembly:
    """The model of the parts of an assembly; see `Assembly`."""
    return Assembly(Parts(parts, table.file), table, notes, gravity, meshes).build(name, densities)
