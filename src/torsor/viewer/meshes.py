"""Meshes of files, as triangles for the viewer."""

from functools import lru_cache
from typing import Any

import numpy as np

from .pack import pack

MOST_TRIANGLES = 20_000  # of one mesh; larger ones are simplified or refused to keep pages small


def with_meshes(scenery: dict[str, Any]) -> tuple[dict[str, Any], list, list[str]]:
    """A scene whose meshes are numbers in a list, this list, and a note for each file that cannot be drawn (its shape is a box)."""
    meshes: list = []
    numbers: dict = {}
    notes: dict[str, str] = {}

    def drawn(shape):
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
                meshes.append({"name": name, "positions": pack(positions, "f32"), "indices": pack(indices, "u32")})
        if numbers[file, scale] is None:
            edge = 0.05 * scenery["size"]
            return {**rest, "kind": "box", "size": [edge] * 3}
        return {**rest, "size": [1.0, 1.0, 1.0], "mesh": numbers[file, scale]}

    bodies = [{**body, "shapes": [drawn(s) for s in body["shapes"]]} for body in scenery["bodies"]]
    found = {**scenery, "bodies": bodies, "ground": [drawn(s) for s in scenery["ground"]]}
    return found, meshes, [*found.pop("notes", []), *notes.values()]


@lru_cache(maxsize=256)
def triangles(file: str | None, scale: tuple) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 3) and triangles (m, 3) of a mesh file, with its scale in them."""
    import os

    if not file or not os.path.isfile(file):
        raise OSError("there is no such file")
    try:
        import trimesh
    except ImportError:
        raise ImportError("reading meshes needs trimesh: pip install torsor[view]") from None
    mesh: Any = trimesh.load(file, force="mesh", process=False)
    if not len(getattr(mesh, "faces", ())):
        raise ValueError("it contains no triangles")
    corners = np.asarray(mesh.vertices, float) * scale
    faces = np.asarray(mesh.faces)
    if np.prod(np.sign(scale)) < 0:
        faces = faces[:, ::-1]  # a mirrored mesh keeps its outside
    return corners.astype(np.float32), faces.astype(np.uint32)
