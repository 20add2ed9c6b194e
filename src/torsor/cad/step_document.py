"""The parts of a STEP file: names, nested places, colours, solids."""

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError
from ..exchange.robot import Note
from .open_cascade import module, pose_of, sub_shapes
from .parts import Part

DEEPEST = 200  # levels of an assembly


def read_step_parts(path: Any) -> tuple[list[Part], list[Note]]:
    """The parts of a STEP file, and notes on what is no solid."""
    file = str(Path(path))
    reader = module("STEPCAFControl").STEPCAFControl_Reader()
    reader.SetColorMode(True)
    reader.SetNameMode(True)
    done = module("IFSelect").IFSelect_ReturnStatus.IFSelect_RetDone
    if reader.ReadFile(file) != done:
        raise ModelError(f"{file}: cannot be read as a STEP file: it is damaged, or of a schema that is not known")
    _refuse_unknown_units(reader, file)
    document = module("TDocStd").TDocStd_Document(module("TCollection").TCollection_ExtendedString("XCAF"))
    if not reader.Transfer(document):
        raise ModelError(f"{file}: the STEP file has no shapes that can be read")
    found = _Walk(document, file)
    if not found.parts:
        others = ", ".join(note.element for note in found.notes[:5])
        raise ModelError(f"{file}: has no solids{f', only {others}' if others else ''}; a mechanism is made of solids")
    return found.parts, found.notes


def _refuse_unknown_units(reader, file):
    sequence = module("collections").Sequence_TCollection_AsciiString
    lengths, angles, solid_angles = sequence(), sequence(), sequence()
    reader.Reader().FileUnits(lengths, angles, solid_angles)
    names = [lengths.Value(k).ToCString().strip() for k in range(1, lengths.Length() + 1)]
    if not names or not all(names):
        raise ModelError(
            f"{file}: its unit of length is not known; a STEP file gives it as SI_UNIT(.MILLI.,.METRE.), SI_UNIT($,.METRE.) or a "
            "CONVERSION_BASED_UNIT such as 'INCH'; export it again with a unit"
        )


class _Walk:
    """The tree of an XCAF document, from the top down."""

    def __init__(self, document, file):
        self.file = file
        self.parts: list[Part] = []
        self.notes: list[Note] = []
        tools = module("XCAFDoc").XCAFDoc_DocumentTool
        self.shapes, self.colours = tools.ShapeTool_s(document.Main()), tools.ColorTool_s(document.Main())
        tops = module("collections").Sequence_TDF_Label()
        self.shapes.GetFreeShapes(tops)
        several = tops.Length() > 1
        for k in range(1, tops.Length() + 1):
            self.visit(tops.Value(k), (), np.eye(4), None, several)

    def visit(self, label, path, pose, colour, named):
        if len(path) > DEEPEST:
            raise ModelError(f"{self.file}: assemblies are nested more than {DEEPEST} levels deep")
        target = label
        reference = module("TDF").TDF_Label()
        if self.shapes.GetReferredShape_s(label, reference):
            target = reference
        try:
            here = pose @ pose_of(self.shapes.GetLocation_s(label).Transformation())
        except ModelError as error:
            raise ModelError(f"{self.file}: {'/'.join(path) or 'the assembly'}: {error}") from None
        assembly = self.shapes.IsAssembly_s(target)
        name = _name(label) if target is label else _name(label) or _name(target)
        names = (*path, name or f"part{len(self.parts) + 1}") if named or not assembly else path
        colour = self.colour(label) or self.colour(target) or colour
        if not assembly:
            self.part(target, names, here, colour)
            return
        children = module("collections").Sequence_TDF_Label()
        self.shapes.GetComponents_s(target, children, False)
        for k in range(1, children.Length() + 1):
            self.visit(children.Value(k), names, here, colour, True)

    def part(self, label, names, pose, colour):
        shape = self.shapes.GetShape_s(label)
        if not sub_shapes(shape, "SOLID"):
            message = "has no solid, only surfaces or curves: it has no mass"
            self.notes.append(Note("ignored", f"mesh {'/'.join(names)!r}", message, self.file))
            return
        if colour is None:
            colour = next((c for face in sub_shapes(shape, "FACE") if (c := self.shape_colour(face))), None)
        self.parts.append(Part(names, pose, shape, colour))

    def colour(self, label):
        return self._first_colour(lambda kind, found: self.colours.GetColor_s(label, kind, found))

    def shape_colour(self, face):
        return self._first_colour(lambda kind, found: self.colours.GetColor(face, kind, found))

    def _first_colour(self, look):
        kinds = module("XCAFDoc").XCAFDoc_ColorType
        for kind in (kinds.XCAFDoc_ColorSurf, kinds.XCAFDoc_ColorGen):
            found = module("Quantity").Quantity_ColorRGBA()
            if look(kind, found):
                srgb = found.GetRGB().Values(module("Quantity").Quantity_TypeOfColor.Quantity_TOC_sRGB)
                return tuple(float(min(max(x, 0.0), 1.0)) for x in (*srgb, found.Alpha()))
        return None


def _name(label):
    name = module("TDataStd").TDataStd_Name()
    found = label.FindAttribute(module("TDataStd").TDataStd_Name.GetID_s(), name)
    text = name.Get().ToExtString().strip() if found else ""
    return (
        "" if text.startswith("=>[") else text.replace("/", "_")
    )  # what Open CASCADE calls an instance without a name
