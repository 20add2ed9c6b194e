"""Access to Open CASCADE (OCP), which is imported when it is first used. It counts in millimetres; torsor counts in metres."""

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import ModelError

METRES = 1e-3  # one unit of Open CASCADE


@cache
def module(name: str) -> Any:
    """A module of OCP, such as "BRepGProp". Its messages to standard output are switched off."""
    try:
        found = import_module(f"OCP.{name}")
        messages = import_module("OCP.Message")
    except ImportError:
        raise ModelError("CAD files need Open CASCADE: pip install torsor[cad]") from None
    messenger = messages.Message.DefaultMessenger_s()
    messenger.RemovePrinters(import_module("OCP.Message").Message_Printer.get_type_descriptor_s())
    return found


def vector(x: Any) -> np.ndarray:
    """The components of a point, vector or direction of Open CASCADE."""
    return np.array([x.X(), x.Y(), x.Z()])


def pose_of(transformation: Any) -> np.ndarray:
    """A rigid transformation as a 4 × 4 matrix, lengths in metres. ModelError where it scales or mirrors."""
    H = np.eye(4)
    H[:3] = [[transformation.Value(i, j) for j in (1, 2, 3, 4)] for i in (1, 2, 3)]
    R = H[:3, :3]
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-9 or np.linalg.det(R) < 0:
        raise ModelError(f"a part is placed by a transformation that scales or mirrors it, by {R.tolist()}")
    u, _, v = np.linalg.svd(R)
    H[:3, :3] = u @ v  # the nearest rotation: files have few digits
    H[:3, 3] *= METRES
    return H


def sub_shapes(shape: Any, kind: str) -> list[Any]:
    """The solids, faces … of a shape; kind: "SOLID", "FACE"."""
    enumeration = module("TopAbs").TopAbs_ShapeEnum
    explorer = module("TopExp").TopExp_Explorer(shape, getattr(enumeration, f"TopAbs_{kind}"))
    cast = getattr(
        module("TopoDS").TopoDS,
        kind.capitalize() if hasattr(module("TopoDS").TopoDS, kind.capitalize()) else f"{kind.capitalize()}_s",
    )
    found = []
    while explorer.More():
        found.append(cast(explorer.Current()))
        explorer.Next()
    return found
