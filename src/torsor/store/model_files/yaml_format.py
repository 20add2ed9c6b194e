"""The format of torsor's own model files, which `ts.read` and the command line recognise by `torsor:` or by their suffix."""

import re
from typing import Any

import numpy as np

from ...exchange.format import Format
from ...exchange.robot import Imported, ImportedJoint, Placement
from ...registry import register
from . import run_section
from .problems import Problems
from .read_model import open_file

HEADER = re.compile(rb"(?m)^torsor[ \t]*:")


@register("yaml")
class ModelFile(Format):
    """YAML files with a mechanism in torsor's own words."""

    shows, suffixes = "torsor: 1", (".yaml", ".yml")

    @staticmethod
    def recognises(content):
        return bool(HEADER.search(content.data[:100_000])) or str(content.file).lower().endswith(ModelFile.suffixes)

    @staticmethod
    def read(path: Any) -> Imported:  # type: ignore[override]  # it has no options
        """Read a model file. All problems in it are reported at once, each with file, line and column."""
        problems = Problems()
        builder = open_file(path, problems)
        model = builder.build()
        starts = run_section.configurations(builder)
        run = run_section.run_arguments(builder, starts)
        expected = run_section.expectations(builder)
        problems.raise_all()
        links = {b.name: Placement(b.name, np.zeros(3), np.eye(3)) for b in model.bodies}
        joints = {j.name: ImportedJoint(j, j.coordinate, j.rate) for j in model.joints}
        return Imported(model, [], links, joints, {}, keyframes=starts, run=run, expect=expected)
