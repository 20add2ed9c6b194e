"""The report of an import: freedom, redundant constraints, gaps between mating faces, masses."""

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..exchange.robot import Imported
from ..store.model_files.yaml_text import document
from .mates import Mate, propose

GAP_RATIO = 1e-4  # gap / size of the face, above which the report shows it first


@dataclass(frozen=True)
class JointGap:
    """How well the faces of a joint fit.

    distance   between the axes, the planes or the centres; None: the other body has no face that fits       [m]
    angle      between the axes or the normals                                                            [rad]
    clearance  difference of the radii of a hole and its shaft                                              [m]
    """

    joint: str
    face: str
    other: str
    distance: float | None
    angle: float = 0.0
    clearance: float = 0.0

    @staticmethod
    def between(joint: str, a: Any, b: Any) -> "JointGap":
        """The gap between two faces; `b` is None where there is no such face."""
        if b is None:
            return JointGap(joint, str(a), "", None)
        d = b.point - a.point
        sine = float(np.linalg.norm(np.cross(a.direction, b.direction)))
        if a.kind == "cylinder":
            distance = float(np.linalg.norm(d - (d @ a.direction) * a.direction))
        else:
            distance = abs(float(d @ a.direction)) if a.kind == "plane" else float(np.linalg.norm(d))
        return JointGap(joint, str(a), str(b), distance, float(np.arcsin(min(sine, 1.0))), abs(a.radius - b.radius))

    @property
    def measures(self) -> tuple[float, float, float]:
        """Distance, angle and clearance, as what decides which face fits best."""
        return self.distance or 0.0, self.angle, self.clearance

    def __str__(self):
        if self.distance is None:
            return f"{self.joint}: {self.face}: the other body has no face that fits"
        angle = f", angle {np.degrees(self.angle):.3g}°" if self.angle > 1e-9 else ""
        clearance = f", clearance {1e3 * self.clearance:.3g} mm" if self.clearance > 1e-9 else ""
        return f"{self.joint}: gap {1e3 * self.distance:.3g} mm{angle}{clearance}"


@dataclass(eq=False, repr=False)
class ImportedAssembly(Imported):
    """A model that was read from CAD.

    links     by the path of a part: the body that it became part of, and its frame in that body's frame
    masses    by the path of a part [kg]
    gaps      of the joints that are described by faces (`JointGap`)
    mates     joints that the faces suggest, with their confidence; none of them is in the model (`Mate`)
    """

    masses: dict[str, float] = field(default_factory=dict)
    gaps: list[JointGap] = field(default_factory=list)
    parts: Any = field(default=None, repr=False)
    groups: Any = field(default=None, repr=False)

    @property
    def mates(self) -> list[Mate]:
        """Joints that coaxial cylinders and touching planes suggest, the most certain first."""
        if "_mates" not in vars(self):
            vars(self)["_mates"] = propose(self.parts, self.groups)
        return vars(self)["_mates"]

    def save_mates(self, path: str | os.PathLike, least: float = 0.0) -> None:
        """Write the proposed joints as a table, which `joints=` takes after it has been looked through; least: their confidence."""
        from ..store.model_files.save_model import write_text

        rows = {mate.name: mate.row() for mate in self.mates if mate.confidence >= least}
        write_text(document({"unit": "mm", "joints": rows}), path)

    def summary(self) -> str:
        """Freedom, redundant constraints by name, gaps, masses, and what had no density, as text."""
        from ..look.report import describe

        info = describe(self.model, progress=False)
        freedom = info["degrees_of_freedom"]
        lines = [
            f"{len(self.parts)} parts, {len(self.model.bodies)} bodies, {len(self.joints)} joints",
            f"degrees of freedom: {freedom['generic']}"
            + (f", {freedom['start']} in the configuration as drawn" if freedom["start"] != freedom["generic"] else ""),
        ]
        redundant: dict[str, list[str]] = {}
        for row in info["redundant"]:
            redundant.setdefault(row["constraint"], []).append(row["direction"])
        lines += [f"redundant: {name}: {', '.join(rows)}" for name, rows in redundant.items()]
        gaps = sorted(self.gaps, key=lambda gap: -1.0 if gap.distance is None else -gap.distance)
        lines += [f"joint {gap}" for gap in gaps]
        lines += [f"mass of {label}: {mass:.6g} kg" for label, mass in self.masses.items()]
        return "\n".join([*lines, *(str(note) for note in self.report if note.importance < 2)])
