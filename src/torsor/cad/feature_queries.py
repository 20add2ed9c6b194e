"""Faces of parts by what they are: "cylinder d=8 on crank nearest pin_2", "plane of base touching slider".

    KIND [d=… | r=… | length=… | area=…] [hole | shaft] on|of PART [nearest PART | nearest (x, y, z) | touching PART] [facing AXIS]

KIND is cylinder, plane or sphere. Lengths are in the unit of the table unless they have one: d=8, d=0.5in.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ModelError
from ..store.model_files.problems import unknown
from ..store.model_files.units import UnitError, quantity_of
from .contacts import distance_of_faces, touch
from .parts import Part, Parts
from .solids import Feature

FACE_KINDS = ("cylinder", "plane", "sphere")
SIZE_WORDS = ("d", "r", "length", "area")
SIZE_WITHIN = 1e-3  # relative difference of a size from the one that is wanted
NEAREST_RATIO = 1e-6  # difference of two distances / size of the part, below which none of them is the nearest
SIZE = re.compile(r"([A-Za-z]+)\s*=\s*(\S+)\Z")
POINT = re.compile(r"\(([^()]*)\)")
AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "-x": (-1, 0, 0), "-y": (0, -1, 0), "-z": (0, 0, -1)}


@dataclass
class Query:
    """What a text asks for."""

    text: str
    kind: str
    sizes: dict = field(default_factory=dict)
    hollow: bool | None = None
    part: str = ""
    near: Any = None  # name of a part, or a point [m]
    touching: str | None = None
    facing: Any = None


@dataclass(eq=False)
class Found:
    """A face that a query means, the part that it belongs to, and the part that the query compares it with."""

    feature: Feature
    part: Part
    other: Part | None


def is_query(given: Any) -> bool:
    """Whether a value is a query, by its first word."""
    return isinstance(given, str) and given.strip().lower().partition(" ")[0] in FACE_KINDS


def parse(text: str, unit: float, where: str) -> Query:
    """The query that a text is. unit: of lengths without a unit [m]."""
    points = [m[1] for m in POINT.finditer(text)]
    words = POINT.sub("@", re.sub(r"\s*=\s*", "=", text)).split()
    if not words or words[0].lower() not in FACE_KINDS:
        given = words[0] if words else ""
        raise ModelError(f"{where}: {text!r}: {unknown('kind of face', given, FACE_KINDS)}")
    query = Query(text, words[0].lower())
    rest = words[1:]
    while rest:
        word = rest.pop(0)
        lower = word.lower()
        size = SIZE.match(word)
        if size is not None:
            if size[1] not in SIZE_WORDS:
                raise ModelError(f"{where}: {text!r}: {unknown('size', size[1], SIZE_WORDS)}")
            query.sizes[size[1]] = _length(size[2], unit ** (2 if size[1] == "area" else 1), text, where)
        elif lower in ("hole", "shaft"):
            query.hollow = lower == "hole"
        elif lower in ("on", "of", "nearest", "touching", "facing"):
            if not rest:
                raise ModelError(f"{where}: {text!r}: something is missing after {word!r}")
            value = rest.pop(0)
            if lower in ("on", "of"):
                query.part = value
            elif lower == "touching":
                query.touching = value
            elif lower == "facing":
                query.facing = _direction(points.pop(0) if value == "@" else value, text, where)
            else:
                query.near = _point(points.pop(0), unit, text, where) if value == "@" else value
        else:
            known = (*SIZE_WORDS, "hole", "shaft", "on", "of", "nearest", "touching", "facing")
            raise ModelError(f"{where}: {text!r}: {unknown('word', word, known)}")
    if not query.part:
        raise ModelError(f"{where}: {text!r}: says not on which part: write `{query.kind} … on PART`")
    return query


def _length(word, unit, text, where):
    try:
        value = quantity_of(word)
        return float(word) * unit if value is None else value
    except UnitError as error:
        raise ModelError(f"{where}: {text!r}: {error}") from None
    except ValueError:
        raise ModelError(f"{where}: {text!r}: a number is expected, got {word!r}") from None


def _point(text, unit, query, where):
    words = re.split(r"[,\s]+", text.strip())
    if len(words) != 3:
        raise ModelError(f"{where}: {query!r}: a point has three coordinates, got ({text})")
    return np.array([_length(word, unit, query, where) for word in words])


def _direction(text, query, where):
    if text in AXES:
        return np.array(AXES[text], float)
    found = _point(text, 1.0, query, where) if "," in text or " " in text else np.zeros(3)
    if not np.linalg.norm(found) > 0:
        raise ModelError(f"{where}: {query!r}: a direction is x, y, z, -x, -y, -z or (x, y, z), got {text!r}")
    return found / np.linalg.norm(found)


def find(text: str, parts: Parts, unit: float, where: str) -> Found:
    """The face that a query means. ModelError where there is none, or where two fit: both are named."""
    query = parse(text, unit, where)
    part = parts.one(query.part, f"{where}: {text!r}")
    all_features = [f for f in part.features if f.kind == query.kind]
    fitting = [f for f in all_features if _fits(f, query)]
    other = None
    if query.touching is not None:
        other = parts.one(query.touching, f"{where}: {text!r}")
        fitting = [f for f in fitting if any(touch(f, part, g, other) for g in other.features)]
    if not fitting:
        there = "; ".join(map(str, all_features[:8])) or f"no {query.kind}"
        raise ModelError(f"{where}: {text!r}: no such face; {part.label!r} has {there}")
    if query.near is not None:
        if isinstance(query.near, str):
            other = parts.one(query.near, f"{where}: {text!r}")
        fitting = _nearest(fitting, part, query.near if other is None else other)
    if len(fitting) > 1:
        listed = " and ".join(map(str, fitting[:2])) + (f", and {len(fitting) - 2} more" if len(fitting) > 2 else "")
        raise ModelError(
            f"{where}: {text!r}: {len(fitting)} faces of {part.label!r} fit: {listed}; add nearest, d= or facing"
        )
    return Found(fitting[0], part, other)


def _fits(feature, query):
    if query.hollow is not None and feature.hollow != query.hollow:
        return False
    if query.facing is not None and not abs(feature.direction @ query.facing) > 1 - 1e-6:
        return False
    if query.facing is not None and feature.kind == "plane" and feature.direction @ query.facing < 0:
        return False
    sizes = {"d": 2 * feature.radius, "r": feature.radius, "length": feature.length, "area": feature.area}
    return all(abs(sizes[name] - wanted) <= SIZE_WITHIN * abs(wanted) for name, wanted in query.sizes.items())


def _nearest(features, part, near):
    """The features at the smallest distance from a point or from another part; several where they are equally near."""
    if isinstance(near, Part):
        distances = [distance_of_faces(f.face, part.pose, near.shape, near.pose) for f in features]
        if (
            sum(d <= min(distances) + 1e-9 for d in distances) > 1
        ):  # they touch it all: then what is nearer to its centre
            centre = near.pose[:3, :3] @ near.geometry.centre + near.pose[:3, 3]
            touching = [f for f, d in zip(features, distances) if d <= min(distances) + 1e-9]
            return _nearest(touching, part, centre)
    else:
        distances = [_distance(f, near) for f in features]
    low, high = part.bounds
    limit = min(distances) + NEAREST_RATIO * float((high - low).max())
    return [f for f, d in zip(features, distances) if d <= limit]


def _distance(feature, point):
    """The distance of a point from the axis of a cylinder, within its length, else from the point of a feature."""
    d = point - feature.point
    if feature.kind == "cylinder":
        along = np.clip(d @ feature.direction, -feature.length / 2, feature.length / 2)
        d = d - along * feature.direction
    return float(np.linalg.norm(d))
