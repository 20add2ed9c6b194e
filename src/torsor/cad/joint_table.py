"""The table that says which parts of an assembly move on each other: YAML, CSV, or the same as Python data.

    unit: mm                                        # of lengths without a unit; CAD programs show millimetres
    densities: {"*": 7850 kg/m^3, motor: 2.5 kg}    # by part; a mass instead of a density is the mass of the part
    ground: [base]                                  # parts that do not move
    weld: [[pin, crank], ["bolt*", base]]           # parts that move as one
    joints:
      crank: {type: revolute, at: cylinder d=8 on crank nearest base}
      guide: {type: prismatic, first: base, second: slider, point: [0, 0, 12], axis: x}

A CSV file has one row for each joint, with the same keys as column titles.
"""

import csv
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..elements.quantity import show
from ..errors import ModelError
from ..store.model_files import yaml_nodes
from ..store.model_files.problems import unknown
from ..store.model_files.units import UnitError, factor

SECTIONS = ("unit", "densities", "ground", "weld", "fasteners", "joints")
LARGEST = 20_000_000  # bytes of a table


@dataclass(eq=False)
class Row:
    """A joint of the table: its class by key, where it is, and its arguments; where: for messages."""

    name: str
    type: str
    given: dict
    where: str


@dataclass(eq=False)
class Table:
    """A whole table.

    unit        one unit of lengths without a unit, in metres
    densities   by patterns of names of parts: numbers in kg/m³, or texts with a unit
    ground      patterns of parts that do not move
    welds       groups of patterns of parts that move as one, with where they were given
    fasteners   patterns of parts that are welded to what they touch; None: the usual names
    """

    file: str
    rows: list[Row] = field(default_factory=list)
    unit: float = 1e-3
    densities: dict = field(default_factory=dict)
    ground: list = field(default_factory=list)
    welds: list = field(default_factory=list)
    fasteners: list | None = None


def read_table(given: Any, file: str) -> Table:
    """The table that a user gives: the name of a file, rows, or the whole as a dictionary. file: the assembly, for messages."""
    if given is None:
        return Table(file)
    if isinstance(given, (str, os.PathLike)):
        return _of_file(os.fspath(given))
    if isinstance(given, Mapping) and set(given) & set(SECTIONS):
        return _of_sections(dict(given), f"{file}: joints", {})
    rows = [{"name": k, **x} for k, x in given.items()] if isinstance(given, Mapping) and _are_rows(given) else given
    if isinstance(rows, (list, tuple)) and all(isinstance(x, Mapping) for x in rows):
        return Table(file, [_row(dict(x), f"{file}: joints[{k}]") for k, x in enumerate(rows)])
    raise ModelError(
        f"{file}: joints must be the name of a YAML or CSV file, joints by name, or a dictionary with {', '.join(SECTIONS)}; "
        f"got {show(given)}"
    )


def read_densities(given: Any, file: str) -> dict:
    """Densities by pattern, from a number, a dictionary, or a YAML or CSV file with the columns part and density."""
    if given is None:
        return {}
    if isinstance(given, str) and os.path.splitext(given)[1].lower() not in (".csv", ".yaml", ".yml"):
        return {"*": given}
    if isinstance(given, (str, os.PathLike)):
        name = os.fspath(given)
        if name.lower().endswith(".csv"):
            rows = [row for _, row in _csv_rows(name)]
            if any(set(row) != {"part", "density"} for row in rows):
                raise ModelError(f"{name}:1: a table of densities has the columns part and density")
            return {row["part"]: row["density"] for row in rows}
        content, _ = _yaml(name)
        return content.get("densities", content)
    if isinstance(given, Mapping):
        return dict(given)
    return {"*": given}


def _are_rows(given):
    return all(isinstance(x, Mapping) for x in given.values())


def _of_file(name):
    if name.lower().endswith(".csv"):
        return Table(name, [_row(row, where) for where, row in _csv_rows(name)])
    content, places = _yaml(name)
    return _of_sections(content, name, places)


def _yaml(name):
    text = _text(name)
    node = yaml_nodes.parse(text, name)
    if not isinstance(node, yaml_nodes.Mapping):
        raise ModelError(f"{name}:1:1: a table of joints is a mapping with {', '.join(SECTIONS)}")
    places = {}
    joints = node.entries.get("joints")
    if isinstance(joints, yaml_nodes.Mapping):
        places = {key: str(position) for key, position in joints.keys.items()}
    return yaml_nodes.plain_data(node), places


def _text(name):
    try:
        with open(name, encoding="utf-8-sig", newline="") as stream:
            text = stream.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise ModelError(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(text) > LARGEST:
        raise ModelError(f"{name}: a table of joints has at most {LARGEST:,} bytes")
    return text


def _csv_rows(name):
    text = _text(name)
    first = text.splitlines()[0] if text.strip() else ""
    mark = max((",", ";", "\t"), key=first.count)
    lines = [(k, line) for k, line in enumerate(csv.reader(text.splitlines(), delimiter=mark), 1) if any(line)]
    if not lines:
        raise ModelError(f"{name}:1: the table is empty")
    titles = [title.strip().lower() for title in lines[0][1]]
    found = []
    for number, cells in lines[1:]:
        if len(cells) > len(titles):
            raise ModelError(f"{name}:{number}: {len(cells)} cells, but {len(titles)} titles: {', '.join(titles)}")
        values = {title: cell.strip() for title, cell in zip(titles, cells) if cell.strip()}
        found.append((f"{name}:{number}", values))
    return found


def _of_sections(content, file, places):
    for key in content:
        if key not in SECTIONS:
            raise ModelError(f"{file}: {unknown('key', str(key), SECTIONS)}")
    table = Table(file)
    if "unit" in content:
        try:
            table.unit = factor(str(content["unit"]))
        except UnitError as error:
            raise ModelError(f"{file}: unit: {error}") from None
    table.densities = read_densities(content.get("densities"), file)
    table.ground = _names(content.get("ground"), f"{file}: ground")
    if content.get("fasteners") is not None:
        table.fasteners = _names(content["fasteners"], f"{file}: fasteners")
    for k, group in enumerate(content.get("weld") or []):
        where = f"{file}: weld[{k}]"
        names = _names(group, where)
        if len(names) < 1:
            raise ModelError(f"{where}: names of at least two parts are expected")
        table.welds.append((names, where))
    joints = content.get("joints") or {}
    if isinstance(joints, Mapping) and _are_rows(joints):
        table.rows = [_row({"name": k, **x}, places.get(k, f"{file}: joints")) for k, x in joints.items()]
    elif isinstance(joints, (list, tuple)) and all(isinstance(x, Mapping) for x in joints):
        table.rows = [_row(dict(x), f"{file}: joints[{k}]") for k, x in enumerate(joints)]
    else:
        raise ModelError(f"{file}: joints: joints by name are expected, NAME: {{type: …}}, got {show(joints)}")
    return table


def _names(given, where):
    names = [] if given is None else [given] if isinstance(given, str) else given
    if not isinstance(names, (list, tuple)) or not all(isinstance(x, str) and x for x in names):
        raise ModelError(f"{where}: names of parts are expected, got {show(given)}")
    return list(names)


def _row(entry, where):
    name, kind = entry.pop("name", None), entry.pop("type", None)
    if not isinstance(name, str) or not name:
        raise ModelError(f"{where}: `name` of the joint is missing")
    if not isinstance(kind, str) or not kind:
        raise ModelError(f"{where}: joint {name!r}: `type` is missing, such as revolute, prismatic, fixed")
    return Row(name, kind.strip().lower(), entry, where)
