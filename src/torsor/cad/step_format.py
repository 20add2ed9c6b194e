"""STEP files (ISO 10303-21): assemblies of CAD programs."""

from pathlib import Path
from typing import Any

from ..elements.quantity import Vector
from ..exchange.format import Format
from ..registry import register
from .assembly_model import model_of_parts
from .assembly_report import ImportedAssembly
from .joint_table import read_densities, read_table


def read_step(
    path: Any,
    *,
    densities: Any = None,
    joints: Any = None,
    gravity: Vector = (0, 0, -9.81),
    meshes: Any = None,
) -> ImportedAssembly:
    """The mechanism that a STEP assembly and a table of joints describe.

    densities   kg/m³ by name of a part, patterns allowed: {"*": 7850, "cover": "1.2 g/cm^3", "motor": "2.5 kg"}; a mass is
                that of the part; one number for all; or a YAML or CSV file
    joints      which parts move on each other, where and how: a YAML or CSV file, or the same as Python data; see
                `torsor.cad.joint_table`. None: all parts are free; `mates` of the result are joints that the faces suggest
    gravity     in the axes of the assembly [m/s²]
    meshes      folder for the triangles that the viewer draws; None: torsor's cache

    Returns an `ImportedAssembly`: a model whose masses and inertias are those of the solids, and the report of the import.
    """
    from .step_document import read_step_parts

    file = str(Path(path))
    parts, notes = read_step_parts(path)
    table = read_table(joints, file)
    given = read_densities(densities, file)
    return model_of_parts(
        parts,
        table,
        notes,
        name=Path(file).stem,
        densities=given,
        gravity=gravity,
        meshes=None if meshes is None else str(meshes),
    )


@register("step")
class STEP(Format):
    """Files that begin with ISO-10303-21: assemblies of solids."""

    shows = "ISO-10303-21"
    suffixes = (".step", ".stp", ".p21")
    texts = ("densities", "joints", "meshes")
    read = staticmethod(read_step)  # type: ignore[assignment]  # its options by name

    @staticmethod
    def recognises(content):
        return content.data[:1000].lstrip().startswith(b"ISO-10303-21")
