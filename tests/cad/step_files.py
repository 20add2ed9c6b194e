"""Assemblies that are built with Open CASCADE and written as STEP files."""

import numpy as np
from OCP.BRepAlgoAPI import BRepAlgoAPI_Cut
from OCP.BRepPrimAPI import BRepPrimAPI_MakeBox, BRepPrimAPI_MakeCylinder
from OCP.gp import gp_Ax2, gp_Dir, gp_Pnt, gp_Trsf
from OCP.Quantity import Quantity_Color, Quantity_TypeOfColor
from OCP.STEPCAFControl import STEPCAFControl_Writer
from OCP.STEPControl import STEPControl_StepModelType
from OCP.TCollection import TCollection_ExtendedString
from OCP.TDataStd import TDataStd_Name
from OCP.TDocStd import TDocStd_Document
from OCP.TopLoc import TopLoc_Location
from OCP.XCAFDoc import XCAFDoc_ColorType, XCAFDoc_DocumentTool

from torsor.cad.open_cascade import module


def box(x, y, z, at=(0, 0, 0)):
    """A cuboid with a corner at a point [mm]."""
    return BRepPrimAPI_MakeBox(gp_Pnt(*at), x, y, z).Shape()


def cylinder(radius, height, at=(0, 0, 0), axis=(0, 0, 1)):
    """A cylinder from its base [mm]."""
    return BRepPrimAPI_MakeCylinder(gp_Ax2(gp_Pnt(*at), gp_Dir(*axis)), radius, height).Shape()


def cut(shape, *tools):
    """A shape without others."""
    for tool in tools:
        shape = BRepAlgoAPI_Cut(shape, tool).Shape()
    return shape


def placed(at=(0, 0, 0), angle=0.0):
    """A place: turned about z, then shifted [mm]."""
    c, s = np.cos(angle), np.sin(angle)
    found = gp_Trsf()
    found.SetValues(c, -s, 0, at[0], s, c, 0, at[1], 0, 0, 1, at[2])
    return TopLoc_Location(found)


def write_step(path, tree, colours=None):
    """Write an assembly: a dictionary of shapes or of further dictionaries by name, each alone or with its place."""
    module("Message")  # switches messages off
    document = TDocStd_Document(TCollection_ExtendedString("XCAF"))
    shapes = XCAFDoc_DocumentTool.ShapeTool_s(document.Main())
    tool = XCAFDoc_DocumentTool.ColorTool_s(document.Main())
    known = {}

    def name(label, text):
        TDataStd_Name.Set_s(label, TCollection_ExtendedString(text))

    def add(content, text):
        if id(content) in known:
            return known[id(content)]
        if not isinstance(content, dict):
            label = shapes.AddShape(content, False)
        else:
            label = shapes.NewShape()
            for child, entry in content.items():
                shape, place = entry if isinstance(entry, tuple) else (entry, TopLoc_Location())
                child = child.rstrip("'")  # marks at the end make keys differ, and are not written
                component = shapes.AddComponent(label, add(shape, child), place)
                name(component, child)
        name(label, text)
        if colours and text in colours:
            colour = Quantity_Color(*colours[text], Quantity_TypeOfColor.Quantity_TOC_sRGB)
            tool.SetColor(label, colour, XCAFDoc_ColorType.XCAFDoc_ColorGen)
        known[id(content)] = label
        return label

    add(tree, "assembly")
    shapes.UpdateAssemblies()
    writer = STEPCAFControl_Writer()
    writer.SetColorMode(True)
    writer.SetNameMode(True)
    assert writer.Transfer(document, STEPControl_StepModelType.STEPControl_AsIs)
    writer.Write(str(path))
    return path


A, B, C, D = np.array([0.0, 0.0]), np.array([100.0, 0.0]), np.array([0.0, 40.0]), np.array([80.0, 90.0])  # mm


def bar(length, z):
    """A flat bar with holes of 8 mm at (0, 0) and (length, 0), 6 mm thick from z on."""
    body = box(length + 20, 20, 6, (-10, -10, z))
    return cut(body, cylinder(4, 10, (0, 0, z - 2)), cylinder(4, 10, (length, 0, z - 2)))


def between(p, q):
    """The place of a bar from p to q."""
    d = q - p
    return placed((*p, 0), np.arctan2(d[1], d[0]))


def four_bar():
    """Ground A–B, crank A–C, coupler C–D, rocker B–D; pins of the frame at A and B, of the crank at C, of the rocker at D."""
    length = lambda p, q: float(np.linalg.norm(q - p))
    pin = cylinder(4, 12, (0, 0, 0))
    return {
        "frame": {
            "base": (bar(100.0, -6), placed()),
            "pin_a": (pin, placed((*A, -6))),
            "pin_b": (pin, placed((*B, -6))),
        },
        "crank": (bar(length(A, C), 0), between(A, C)),
        "coupler": (bar(length(C, D), 6), between(C, D)),
        "rocker": (bar(length(B, D), 0), between(B, D)),
        "pin_c": (pin, placed((*C, 0))),
        "pin_d": (pin, placed((*D, 0))),
    }
