"""Arrays of numbers as text for the viewer: deflated bytes in base64, with type and shape.

    d16:  values = offset + scale Σ d,   d differences of 16-bit integers along the first axis             (1)

The error of d16 is at most half of `scale` in each entry of the last axis.
"""

import base64
import zlib
from typing import Any

import numpy as np

TYPES = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "u32": "<u4", "u16": "<u2"}
STEPS = 65535  # of a 16-bit integer
LEVEL = 6  # of zlib


def pack(values: Any, kind: str = "f32") -> dict[str, Any]:
    """An array as plain data for JSON; kind: "f64", "f32", "f16", "u32", "u16" or "d16"."""
    x = np.asarray(values)
    if kind == "d16":
        return _differences(np.asarray(x, float))
    with np.errstate(over="ignore"):
        content = np.ascontiguousarray(x, TYPES[kind])
    return _record(kind, x.shape, content)


def unpack(record: dict[str, Any]) -> np.ndarray:
    """The array of a record, as the viewer calculates it."""
    content = zlib.decompress(base64.b64decode(record["data"]))
    if record["type"] != "d16":
        return np.frombuffer(content, TYPES[record["type"]]).reshape(record["shape"])
    steps = np.frombuffer(content, "<u2").reshape(record["shape"])
    whole = np.cumsum(steps.astype(np.uint64), axis=0) % 65536
    return np.asarray(record["offset"]) + np.asarray(record["scale"]) * whole  # (1)


def _differences(x):
    """Quantised by the range of each entry of the last axis, (1)."""
    if not x.size or not np.isfinite(x).all():
        return pack(x, "f32")
    across = tuple(range(x.ndim - 1))
    low, high = x.min(axis=across), x.max(axis=across)
    scale = np.where(high > low, (high - low) / STEPS, 1.0)
    whole = np.rint((x - low) / scale).astype(np.int64)
    steps = np.diff(whole, axis=0, prepend=0) % 65536
    return _record("d16", x.shape, steps.astype("<u2")) | {"scale": scale.tolist(), "offset": low.tolist()}


def _record(kind, shape, content):
    data = base64.b64encode(zlib.compress(content.tobytes(), LEVEL)).decode()
    return {"type": kind, "shape": list(shape), "data": data}
