"""Meshes of files, as triangles for the viewer."""

import os
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .pack import pack
from .stl_files import read_stl

MOST_TRIANGLES = 8_000  # of one mesh; larger ones are simplified to keep pages small
MOST_COLOURS = 16  # of one mesh file, above which it is drawn in one colour
NO_COLOUR = (102, 102, 102)  # what trimesh says where a file gives no colour
READ_ERRORS = (OSError, ValueError, ImportError, AttributeError, KeyError, IndexError, TypeError)
FINEST = 128  # cells along the longest edge of a mesh that is simplified


def with_meshes(scenery: dict[str, Any]) -> tuple[dict[str, Any], list, list[str]]:
    """A scene whose meshes are numbers in a list, this list, and a note for each file that cannot be drawn (its shape is a box).

    A mesh of several colours becomes several shapes.
    """
    meshes: list = []
    known: dict = {}  # numbers of meshes and their colours, by file and scale; None: it cannot be drawn
    notes: dict[str, str] = {}

    def load(file, scale):
        try:
            parts = mesh_parts(file, scale)
        except READ_ERRORS as error:
            notes.setdefault(str(file), f"mesh {file}: {error}; drawn as a box")
            return None
        name = str(file).replace("\\", "/").rsplit("/", 1)[-1]
        for part in parts:
            packed = {"positions": pack(part.corners, "d16"), "indices": pack(part.faces, "u32")}
            meshes.append({"name": name, **packed})
        return list(zip(range(len(meshes) - len(parts), len(meshes)), [part.colour for part in parts]))

    def draw(shape):
        if shape["kind"] != "mesh":
            return [shape]
        key = shape.get("file"), tuple(shape["size"])
        rest = {name: x for name, x in shape.items() if name != "file"}
        if key not in known:
            known[key] = load(*key)
        if known[key] is None:
            edge = 0.05 * scenery["size"]
            return [{**rest, "kind": "box", "size": [edge] * 3}]
        return [
            {**rest, "size": [1.0, 1.0, 1.0], "mesh": number, "colour": shape["colour"] or colour}
            for number, colour in known[key]
        ]

    def draw_all(shapes):
        return [drawn for shape in shapes for drawn in draw(shape)]

    bodies = [{**body, "shapes": draw_all(body["shapes"])} for body in scenery["bodies"]]
    found = {**scenery, "bodies": bodies, "ground": draw_all(scenery["ground"])}
    return found, meshes, [*found.pop("notes", []), *notes.values()]


class MeshPart(NamedTuple):
    """Triangles of one colour: corners (n, 3), faces (m, 3); colour: None where the file gives none."""

    corners: np.ndarray
    faces: np.ndarray
    colour: list[float] | None


@lru_cache(maxsize=256)
def mesh_parts(file: str | None, scale: tuple) -> list[MeshPart]:
    """The parts of a mesh file, with its scale in them, of at most about `MOST_TRIANGLES` triangles together."""
    if not file or not os.path.isfile(file):
        raise OSError("there is no such file")
    stl = file.lower().endswith(".stl")
    parts = [(*read_stl(file), None)] if stl else _read_by_trimesh(file)
    every = sum(len(faces) for _, faces, _ in parts)
    found = []
    for corners, faces, colour in parts:
        corners = corners * scale
        if np.prod(np.sign(scale)) < 0:
            faces = faces[:, ::-1]  # a mirrored mesh keeps its outside
        corners, faces = simplify(corners, faces, max(12, MOST_TRIANGLES * len(faces) // max(every, 1)))
        found.append(MeshPart(corners.astype(np.float32), faces.astype(np.uint32), colour))
    return found


def _read_by_trimesh(file):
    try:
        import trimesh
    except ImportError:
        raise ImportError("reading meshes other than STL needs trimesh: pip install torsor[view]") from None
    scene: Any = trimesh.load(file, force="scene", process=False)
    linear = file.lower().endswith((".gltf", ".glb"))
    found: dict[Any, list] = {}
    for node in scene.graph.nodes_geometry:
        turn, name = scene.graph[node]
        mesh = scene.geometry[name]
        if len(getattr(mesh, "faces", ())):
            colour = _main_colour(mesh, linear)
            corners = np.asarray(mesh.vertices, float) @ turn[:3, :3].T + turn[:3, 3]
            faces = np.asarray(mesh.faces)
            outside = np.linalg.det(turn[:3, :3]) > 0
            found.setdefault(colour, []).append((corners, faces if outside else faces[:, ::-1]))
    if not found:
        raise ValueError("it contains no triangles")
    if len(found) > MOST_COLOURS:
        found = {None: [mesh for meshes in found.values() for mesh in meshes]}
    return [(*_join(meshes), None if colour is None else list(colour)) for colour, meshes in found.items()]


def _main_colour(mesh, linear):
    """The colour of a mesh as red, green, blue, opacity; None where the file gives none. linear: glTF gives intensities."""
    visual = mesh.visual
    given = getattr(getattr(visual, "material", None), "main_color", None)
    if given is None and getattr(visual, "defined", False):
        given = visual.main_color
    if given is None or tuple(given[:3]) == NO_COLOUR:
        return None
    shares = np.asarray(given, float) / 255
    if linear:
        shares[:3] = shares[:3] ** (1 / 2.2)
    return tuple(np.round(shares, 3).tolist())


def _join(meshes):
    """Several meshes as one."""
    first = np.cumsum([0] + [len(corners) for corners, _ in meshes])
    faces = [faces + k for k, (_, faces) in zip(first, meshes)]
    return np.concatenate([corners for corners, _ in meshes]), np.concatenate(faces)


def simplify(corners: np.ndarray, faces: np.ndarray, most: int = MOST_TRIANGLES) -> tuple[np.ndarray, np.ndarray]:
    """A mesh with at most so many triangles: corners in one cell of a grid become one, and triangles without area go."""
    low, extent = corners.min(axis=0), float(np.ptp(corners, axis=0).max())
    cells = FINEST
    given = corners, faces
    while len(faces) > most and cells >= 8 and extent > 0:
        places = np.floor((given[0] - low) / extent * cells).astype(np.int64)
        cell = np.unique(_whole_number(places, cells + 1), return_inverse=True)[1].reshape(-1)
        count = np.bincount(cell)
        corners = np.column_stack([np.bincount(cell, given[0][:, k]) / count for k in range(3)])
        faces = cell[given[1]]
        whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
        faces = faces[whole]
        faces = faces[np.unique(_whole_number(faces, len(count)), return_index=True)[1]]
        cells = int(cells * 0.75)
    return corners, faces


def _whole_number(rows, base):
    """Rows of three whole numbers below a base as one number each."""
    return (rows[:, 0] * base + rows[:, 1]) * base + rows[:, 2]
