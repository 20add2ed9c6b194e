"""`ts.export_robot`: a model as a URDF, MJCF or SDF file."""

import os

from ...elements import quantity
from ...errors import OptionError
from ...model.model import Model
from ..robot import Note
from .described_elements import describe
from .text_file import write_text
from .write_mjcf import mjcf_document
from .write_sdf import sdf_document
from .write_urdf import urdf_document

DOCUMENTS = {"urdf": urdf_document, "mjcf": mjcf_document, "sdf": sdf_document}
SUFFIXES = {".urdf": "urdf", ".sdf": "sdf", ".world": "sdf", ".xml": "mjcf", ".mjcf": "mjcf"}


def robot_text(model: Model, format: str) -> tuple[str, list[Note]]:
    """The text of the file, and notes on what of the model it does not contain."""
    description = describe(model)
    text = DOCUMENTS[format](description)
    return text, sorted(description.notes, key=lambda note: (note.kind != "lost", note.importance))


def export_robot(model: Model, path: str | os.PathLike, format: str | None = None) -> list[Note]:
    """Write a model as a robot file that other programs read, and return notes on what is lost.

    path     of the file, which is replaced
    format   "urdf", "mjcf" or "sdf"; None: by the suffix of the name: .urdf; .xml or .mjcf; .sdf or .world

    Written are bodies, joints, springs and dampers on joints, stops, dry friction, relations of joints, motors (joint forces that
    are a number times one input), named frames, shapes, and gravity, as far as the format has them; numbers with all their digits.
    The file shows the configuration in which all joint coordinates are 0. What it does not contain is in the notes. A joint in the
    tree that the format does not have is a ModelError, and nothing is written.

    >>> import torsor as ts
    >>> notes = ts.export_robot(ts.cases.load("pendulum"), "pendulum.xml")
    """
    if not isinstance(model, Model):
        raise OptionError(f"export_robot: give a torsor.Model, got {quantity.show(model)}")
    suffix = os.path.splitext(os.fsdecode(os.fspath(path)))[1].lower()
    chosen = SUFFIXES.get(suffix) if format is None else format
    if chosen not in DOCUMENTS:
        known = ", ".join(map(repr, DOCUMENTS))
        given = f"the suffix {suffix!r} says no format" if format is None else f"unknown format {quantity.show(format)}"
        raise OptionError(f"export_robot: {given}. Known formats: {known}; suffixes: {', '.join(SUFFIXES)}.")
    text, notes = robot_text(model, chosen)
    write_text(text, path)
    return notes
