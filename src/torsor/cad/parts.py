"""The parts of an assembly: solids with a name, a place in the world and a colour."""

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np

from ..elements.inertia import Inertia
from ..elements.quantity import show
from ..errors import ModelError
from .solids import Feature, Geometry, bounds_of, features_of, geometry_of


@dataclass(eq=False)
class Part:
    """A part of an assembly.

    path     names from the top of the assembly down to the part, such as ("arm", "elbow", "pin")
    pose     of the part's own frame in the world, 4 × 4 [m]
    shape    its solids, in its own frame
    colour   red, green, blue, opacity from 0 to 1, or None
    """

    path: tuple[str, ...]
    pose: np.ndarray
    shape: Any
    colour: tuple | None = None
    known: dict = field(default_factory=dict, repr=False)

    @property
    def label(self) -> str:
        """Its names from the top down, as messages show them: "arm/elbow/pin"."""
        return "/".join(self.path)

    @cached_property
    def geometry(self) -> Geometry:
        """Volume, centre and second moments, in the part's own frame."""
        try:
            return geometry_of(self.shape)
        except ModelError as error:
            raise ModelError(f"part {self.label!r}: {error}") from None

    @cached_property
    def features(self) -> list[Feature]:
        """Its cylinders, planes and spheres, in the world."""
        return [feature.move(self.pose) for feature in features_of(self.shape)]

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The corners of a box around it, in the world; the box is larger than the part where the part is turned."""
        low, high = bounds_of(self.shape)
        ends = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
        world = ends @ self.pose[:3, :3].T + self.pose[:3, 3]
        return world.min(axis=0), world.max(axis=0)

    def inertia(self, density: float) -> Inertia:
        """Mass, centre and inertia in the part's own frame."""
        g = self.geometry
        return Inertia(density * g.volume, density * g.moments, g.centre)


class Parts:
    """The parts of an assembly, found by the ends of their paths: "pin", or "elbow/pin" where there are several pins."""

    def __init__(self, parts: Iterable[Part], file: str):
        self.all = list(parts)
        self.file = file

    def __iter__(self):
        return iter(self.all)

    def __len__(self):
        return len(self.all)

    def matching(self, pattern: str) -> list[Part]:
        """The parts whose name, or end of the path, matches a pattern with `*` and `?`."""
        wanted = pattern.lower().split("/")
        found = []
        for part in self.all:
            end = [name.lower() for name in part.path[-len(wanted) :]]
            if len(end) == len(wanted) and all(fnmatch.fnmatchcase(a, b) for a, b in zip(end, wanted)):
                found.append(part)
        return found

    def one(self, name: Any, where: str) -> Part:
        """The only part of a name. ModelError with what there is, or with all parts of that name."""
        if not isinstance(name, str) or not name:
            raise ModelError(f"{where}: the name of a part is expected, got {show(name)}")
        exact = [p for p in self.all if p.path[-len(name.split("/")) :] == tuple(name.split("/"))]
        found = exact or self.matching(name.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]"))
        if len(found) == 1:
            return found[0]
        if not found:
            names = [p.path[-1] for p in self.all]
            close = get_close_matches(name, names, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            shown = ", ".join(dict.fromkeys(names[:40])) + (" …" if len(names) > 40 else "")
            raise ModelError(f"{where}: unknown part {name!r}.{hint} Known: {shown}")
        labels = ", ".join(p.label for p in found[:6])
        raise ModelError(
            f"{where}: {len(found)} parts are called {name!r}: {labels}; write more of the path, as in "
            f"{'/'.join(found[0].path[-2:])!r}"
        )
