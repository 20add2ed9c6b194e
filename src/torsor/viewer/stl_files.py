"""Triangles of STL files, binary and text, without other packages."""

import numpy as np

HEADER, TRIANGLE = 84, 50  # bytes before the first triangle of a binary file, and of each triangle


def read_stl(file: str) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 3), each of them once, and triangles (m, 3) as numbers of corners."""
    with open(file, "rb") as stream:
        content = stream.read()
    points = _binary(content) if _is_binary(content) else _text(content)
    finite = points[np.isfinite(points).all(axis=(1, 2))]
    if not len(finite):
        raise ValueError("it contains no triangles")
    corners, numbers = merge_equal(finite.reshape(-1, 3))
    return corners, numbers.reshape(-1, 3)


def _is_binary(content):
    """A binary file has the number of its triangles in its header; text that begins with "solid" does not fit it."""
    if len(content) < HEADER:
        return False
    count = int.from_bytes(content[HEADER - 4 : HEADER], "little")
    return len(content) >= HEADER + TRIANGLE * count and (count > 0 or not content.lstrip().startswith(b"solid"))


def _binary(content):
    count = int.from_bytes(content[HEADER - 4 : HEADER], "little")
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    return np.frombuffer(content, record, count, HEADER)["corners"].astype(float)


def _text(content):
    """The three corners after each "outer loop"."""
    words = content.split()
    places = [k for k, word in enumerate(words) if word.lower() == b"vertex"]
    numbers = [[float(x) for x in words[k + 1 : k + 4]] for k in places]
    if len(numbers) % 3 or any(len(x) != 3 for x in numbers):
        raise ValueError("a triangle in it has not three corners of three numbers")
    return np.array(numbers, float).reshape(-1, 3, 3)


def merge_equal(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows that differ, in any order, and for each row the number of the one it equals: as `np.unique`, which is slower."""
    keys = np.ascontiguousarray(rows + 0.0).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))
    _, first, numbers = np.unique(keys.reshape(-1), return_index=True, return_inverse=True)
    return rows[first], numbers.reshape(-1)
