"""Which parts of an assembly are one body: welded ones, fixed ones, and fasteners with what they hold."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ..elements.quantity import show
from ..errors import ModelError
from ..exchange.robot import Note
from ..store.model_files.units import WRITTEN, factor
from .contacts import boxes_meet, touch
from .joint_table import Row, Table
from .parts import Part, Parts

FASTENERS = (
    "*screw*", "*bolt*", "*nut", "nut*", "*washer*", "*rivet*", "*circlip*", "*retaining*ring*", "iso*4762*", "iso*4014*",
    "iso*4017*", "iso*4032*", "iso*7089*", "iso*10642*", "din*912*",
    "din*931*", "din*933*", "din*934*", "din*125*", "din*471*", "din*472*",
)  # fmt: skip
ASSUMED_DENSITY = 1000.0  # kg/m³, of parts for which none is given
PER_VOLUME, MASS = "kg/m^3", "kg"
MASSES = ("kg", "g", "mg", "t", "lb")
VOLUMES = ("m^3", "dm^3", "cm^3", "mm^3", "in^3", "ft^3")


@dataclass(eq=False)
class Groups:
    """Parts that move as one.

    leader   the number of the group of every part; ground: the groups that do not move
    """

    parts: Parts
    leader: list[int]
    ground: set[int]

    def of(self, part: Part) -> int:
        """The number of the group that a part is in."""
        return self.leader[self.parts.all.index(part)]

    def members(self) -> dict[int, list[Part]]:
        """The parts of each group, in the order of the file."""
        found: dict[int, list[Part]] = {}
        for part, number in zip(self.parts, self.leader):
            found.setdefault(number, []).append(part)
        return found


def group(parts: Parts, table: Table, notes: list[Note]) -> Groups:
    """The groups of parts that a table welds, with fasteners joined to what they touch."""
    index = {id(part): k for k, part in enumerate(parts)}
    leader = list(range(len(parts)))

    def find(k):
        while leader[k] != k:
            k = leader[k]
        return k

    def join(a: Part, b: Part):
        low, high = sorted((find(index[id(a)]), find(index[id(b)])))
        leader[high] = low

    for names, where in table.welds:
        members = [p for name in names for p in several(parts, name, where)]
        for other in members[1:]:
            join(members[0], other)
    grounded = [p for name in table.ground for p in several(parts, name, f"{table.file}: ground")]
    for row in table.rows:
        if row.type == "fixed":
            ends = [None if x == "ground" else parts.one(x, _where(row)) for x in fixed_ends(row)]
            there = [x for x in ends if x is not None]
            if len(there) == 2:
                join(*there)
            grounded += there if len(there) < 2 else []
    fasteners = _fasteners(parts, table)
    for part in fasteners:
        _weld_fastener(part, parts, fasteners, join, table.file, notes)
    found = Groups(parts, [find(k) for k in range(len(parts))], set())
    found.ground = {found.of(p) for p in grounded}
    return found


def several(parts: Parts, pattern: str, where: str) -> list[Part]:
    """The parts that a pattern matches, at least one."""
    found = parts.matching(pattern) if any(c in pattern for c in "*?") else [parts.one(pattern, where)]
    if not found:
        raise ModelError(
            f"{where}: no part matches {pattern!r}. Known: {', '.join(p.path[-1] for p in parts.all[:40])}"
        )
    return found


def fixed_ends(row: Row) -> list[str]:
    """The two names of a fixed joint, one of which may be "ground"."""
    ends = [row.given.get(key) for key in ("first", "second")]
    if not all(isinstance(x, str) and x for x in ends):
        raise ModelError(f"{_where(row)}: a fixed joint needs `first` and `second`, got {show(row.given)}")
    return [str(x) for x in ends]


def _where(row):
    return f"{row.where}: joint {row.name!r}"


def _fasteners(parts, table):
    patterns = FASTENERS if table.fasteners is None else table.fasteners
    named = {str(row.given.get(key)) for row in table.rows for key in ("first", "second")}
    return [
        p
        for pattern in patterns
        for p in parts.matching(pattern)
        if not named & {p.label, p.path[-1]}  # a joint of the table refers to it
    ]


def _weld_fastener(part, parts, fasteners, join, file, notes):
    """Weld a fastener to the part that it touches with most of its area."""
    best, most = None, 0.0
    for other in parts:
        if other is part or not boxes_meet(part, other):
            continue
        areas = [
            min(a.area, b.area)
            for a in part.features
            for b in other.features
            if a.kind == b.kind and touch(a, part, b, other)
        ]
        area = sum(areas) * (1.0 if other not in fasteners else 0.1)
        if area > most:
            best, most = other, area
    name = f"fastener {part.label!r}"
    if best is None:
        notes.append(Note("questionable", name, "touches no other part: it is a body of its own", file))
        return
    join(part, best)
    notes.append(Note("welded", name, f"is part of the body of {best.label!r}, which it touches", file))


def densities_of(parts: Parts, given: dict, file: str, notes: list[Note]) -> dict[int, float]:
    """The density of every part [kg/m³], by its identity. The last pattern that matches counts, and a name counts more than a
    pattern."""
    found: dict[int, float] = {}
    entries = sorted(given.items(), key=lambda item: any(c in str(item[0]) for c in "*?"), reverse=True)
    for pattern, value in entries:
        where = f"{file}: densities[{pattern!r}]"
        matching = several(parts, str(pattern), where) if pattern != "*" else parts.all
        kind, number = _density(value, where)
        for part in matching:
            volume = part.geometry.volume
            found[id(part)] = number / volume if kind == MASS else number
    missing = [p for p in parts if id(p) not in found]
    if missing:
        names = ", ".join(repr(p.label) for p in missing[:8]) + (
            f" and {len(missing) - 8} more" if len(missing) > 8 else ""
        )
        message = f"no density is given for {names}: {ASSUMED_DENSITY:g} kg/m³ is assumed"
        notes.append(Note("approximated", "inertia", message, file))
    return {id(p): found.get(id(p), ASSUMED_DENSITY) for p in parts}


def _density(value, where):
    """The unit that a value is in, and the value: a density [kg/m³] or a mass [kg]."""
    kind, number = PER_VOLUME, np.nan
    written = WRITTEN.match(value.replace("³", "^3").strip()) if isinstance(value, str) else None
    if written is not None:
        mass, _, volume = written[2].partition("/")
        kind = PER_VOLUME if volume else MASS
        if mass in MASSES and (volume in VOLUMES or not volume):
            number = float(written[1]) * factor(written[2])
    elif isinstance(value, (str, int, float)):
        with suppress(ValueError):
            number = float(value)
    if not (np.isfinite(number) and number > 0):
        allowed = "a density such as 7850 (kg/m³) or '7.85 g/cm^3', or a mass such as '2.5 kg'"
        raise ModelError(f"{where}: {allowed} is expected, got {show(value)}")
    return kind, number
