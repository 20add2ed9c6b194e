"""Mechanisms that other programs describe: URDF, MJCF and SDF files read into a `Model`."""

import os
from typing import Any

from .reader import read
from .robot import Imported, ImportedJoint, Note, Placement, Visual

__all__ = ["Imported", "ImportedJoint", "Note", "Placement", "Visual", "read", "read_mjcf", "read_urdf"]


def read_urdf(path: str | os.PathLike, **options: Any) -> Imported:
    """Read a URDF file; see `torsor.exchange.urdf.read_urdf`."""
    from .urdf import read_urdf

    return read_urdf(path, **options)


def read_mjcf(path: str | os.PathLike, **options: Any) -> Imported:
    """Read an MJCF file; see `torsor.exchange.mjcf.read_mjcf`."""
    from .mjcf import read_mjcf

    return read_mjcf(path, **options)
