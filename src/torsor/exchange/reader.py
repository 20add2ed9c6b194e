"""One door for all formats: the root element says what a file is."""

from inspect import signature

from ..errors import ModelError, OptionError
from . import document


def read(path, **options):
    """Read a URDF or an MJCF file; options as those of `read_urdf` and `read_mjcf`.

    The root element decides: <robot> is URDF, <mujoco> is MJCF, whatever the file is called.
    """
    root = document.parse(path)
    if root.tag == "robot":
        from .urdf import read_urdf as reader
    elif root.tag == "mujoco":
        from .mjcf import read_mjcf as reader
    else:
        reader = None
    if reader is not None:
        known = list(signature(reader).parameters)[1:]
        unknown = [name for name in options if name not in known]
        if unknown:
            message = f"unknown option {unknown[0]!r} for a <{root.tag}> file. Known: {', '.join(known)}."
            raise OptionError(f"{root.file}: {message}")
        return reader(path, **options)
    raise ModelError(f"{root.where}: the root element is <{root.tag}>; known are <robot> (URDF) and <mujoco> (MJCF)")
