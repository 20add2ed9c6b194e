"""Meshes of files, as triangles for the viewer."""

from functools import lru_cache
from typing import Any

import numpy as np

from .pack import pack
from .stl_files import read_stl

MOST_TRIANGLES = 8_000  # of one mesh; larger ones are simplified to keep pages small
FINEST = 128  # cells along the longest edge of a mesh that is simplified


def with_meshes(scenery: dict[str, Any]) -> tuple[dict[str, Any], list, list[str]]:
    """A scene whose meshes are numbers in a list, this list, and a note for each file that cannot be drawn (its shape is a box)."""
    meshes: list = []
    numbers: dict = {}
    notes: dict[str, str] = {}

    def draw(shape):
        if shape["kind"] != "mesh":
            return shape
        file, scale = shape.get("file"), tuple(shape["size"])
        rest = {key: x for key, x in shape.items() if key != "file"}
        if (file, scale) not in numbers:
            try:
                positions, indices = triangles(file, scale)
            except (OSError, ValueError, ImportError, AttributeError, KeyError, IndexError, TypeError) as error:
                notes.setdefault(str(file), f"mesh {file}: {error}; drawn as a box")
                numbers[file, scale] = None
            else:
                numbers[file, scale] = len(meshes)
                name = str(file).replace("\\", "/").rsplit("/", 1)[-1]
                meshes.append({"name": name, "positions": pack(positions, "d16"), "indices": pack(indices, "u32")})
        if numbers[file, scale] is None:
            edge = 0.05 * scenery["size"]
            return {**rest, "kind": "box", "size": [edge] * 3}
        return {**rest, "size": [1.0, 1.0, 1.0], "mesh": numbers[file, scale]}

    bodies = [{**body, "shapes": [draw(s) for s in body["shapes"]]} for body in scenery["bodies"]]
    found = {**scenery, "bodies": bodies, "ground": [draw(s) for s in scenery["ground"]]}
    return found, meshes, [*found.pop("notes", []), *notes.values()]


@lru_cache(maxsize=256)
def triangles(file: str | None, scale: tuple) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 3) and triangles (m, 3) of a mesh file, with its scale in them."""
    import os

    if not file or not os.path.isfile(file):
        raise OSError("there is no such file")
    corners, faces = read_stl(file) if file.lower().endswith(".stl") else _read_by_trimesh(file)
    corners = corners * scale
    if np.prod(np.sign(scale)) < 0:
        faces = faces[:, ::-1]  # a mirrored mesh keeps its outside
    corners, faces = simplify(corners, faces)
    return corners.astype(np.float32), faces.astype(np.uint32)


def _read_by_trimesh(file):
    try:
        import trimesh
    except ImportError:
        raise ImportError("reading meshes other than STL needs trimesh: pip install torsor[view]") from None
    mesh: Any = trimesh.load(file, force="mesh", process=False)
    if not len(getattr(mesh, "faces", ())):
        raise ValueError("it contains no triangles")
    return np.asarray(mesh.vertices, float), np.asarray(mesh.faces)


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
