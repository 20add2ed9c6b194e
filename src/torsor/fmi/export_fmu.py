"""`ts.export_fmu`: a model as a Functional Mock-up Unit, for model exchange and co-simulation, without Python inside.

An FMU is a zip file: a description of the variables (`model_description.py`), the C code (`equations_in_c.py`, and the files of
`c_code`), and binaries made of it (`build_binaries.py`).
"""

import hashlib
import os
import re
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..elements import quantity
from ..errors import ModelError, OptionError
from ..events.controller import Controller
from ..fmus.fmu import refuse_fmus
from ..methods.integrators.tableaus import Tableau
from ..model.model import Model
from ..registry import lookup, registered
from .build_binaries import build, chosen_platforms
from .equations_in_c import equations_header, kernels_header
from .events_in_c import loops_header
from .fmu_variables import (
    Variables,
    dependent_references,
    indicator_variables,
    output_variables,
    parameter_variables,
    state_variables,
)
from .model_description import Header, model_description
from .model_equations import (
    dependency_pattern,
    derive_equations,
    direction_kernel,
    select_outputs,
    whole_evaluation,
)

VERSIONS = ("3.0", "2.0")
C_CODE = Path(__file__).parent / "c_code"
COMMON_FILES = ("model.h", "model.c", "events.c", "fmu.h", "fmu.c")
LAYER = {"2.0": ("fmi2.c", "fmi2_types.h"), "3.0": ("fmi3.c",)}
DATE = (1980, 1, 1, 0, 0, 0)  # of the files in the archive: equal models give equal bytes
BUILD_DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiBuildDescription fmiVersion="3.0">
  <BuildConfiguration modelIdentifier="{}">
    <SourceFileSet language="C99"><SourceFile name="fmi3.c"/></SourceFileSet>
    <Library name="m"/>
  </BuildConfiguration>
</fmiBuildDescription>
"""


def export_fmu(
    model: Model,
    path: str | os.PathLike,
    version: str = "3.0",
    inputs: list[str] | None = None,
    outputs: Any = None,
    step: float = 1e-3,
    method: str = "rkmk4",
    formulation: str = "auto",
    parameters: Any = None,
    until: float = 10.0,
    platforms: Any = None,
    derivatives: bool = True,
    sources_only: bool = False,
) -> None:
    """Write a model to `path` as an FMU for model exchange and co-simulation, with C code and binaries and no Python inside.

    version      version of FMI, "3.0" or "2.0"
    inputs       names of parameters that become inputs; without it those that `model.input` declares
    outputs      names of signals, JOINT.coordinate, JOINT.rate, BODY.position[0] …, or expressions of signals by name; without it
                 all signals of the model, or all joint coordinates and rates if it has none
    step         length of a step in co-simulation [s]
    method       an explicit method, for co-simulation
    formulation  "relative", "absolute", "woronetz" …; "auto" chooses
    parameters   values of parameters; parameters remain tunable in the FMU
    until        end of the default experiment [s]; times at which forces have kinks or jumps are known up to there
    platforms    "linux", "linux-arm", "windows", "macos", "macos-arm", several in a list, or "all"; without it this machine
    derivatives  True: directional derivatives are provided
    sources_only True: no binary; the tool that imports the FMU compiles its sources

    >>> import torsor as ts
    >>> ts.export_fmu(ts.cases.load("cart-pole"), "cart_pole.fmu", sources_only=True)
    """
    file = _checked_path(path)
    if version not in VERSIONS:
        raise OptionError(f"export_fmu: version must be '3.0' or '2.0', got {quantity.show(version)}")
    length = quantity.number(step)
    if length is None or not 0 < length < float("inf"):
        raise OptionError(f"export_fmu: step must be a positive number of seconds, got {quantity.show(step)}")
    end = quantity.number(until)
    if end is None or not 0 < end < float("inf"):
        raise OptionError(f"export_fmu: until must be a positive number of seconds, got {quantity.show(until)}")
    refuse_unsupported(model)
    targets = [] if sources_only else chosen_platforms(platforms, version)
    files = fmu_files(model, file, version, inputs, outputs, length, method, formulation, parameters, end, derivatives)
    identifier = _identifier(file)
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder, "sources")
        sources.mkdir()
        for name, data in files.items():
            if name.startswith("sources/"):
                Path(folder, name).write_bytes(data)
        for platform in targets:
            target = Path(folder, f"{identifier}.{platform.suffix}")
            build(platform, sources / LAYER[version][0], target)
            files[f"binaries/{platform.folder(version)}/{target.name}"] = target.read_bytes()
    _write_archive(files, file)


def fmu_files(
    model, file, version, inputs, outputs, step, method, formulation, parameters, until, derivatives
) -> dict[str, bytes]:
    """The files of an FMU but for its binaries, by name."""
    tableau = _tableau(method)
    signals = _expressions(outputs)
    model.seal()
    equations = derive_equations(model, formulation, parameters, signals, until, step, method)
    variables = _variables(model, equations, inputs, list(outputs) if isinstance(outputs, Mapping) else outputs)
    rows = [v.place for v in variables.outputs]
    chosen = [select_outputs(kernels, rows) for kernels in equations.structures]
    evaluation = whole_evaluation(equations, equations.kernels, chosen[0])
    places = [v.place for v in variables.parameters]
    pattern = dependency_pattern(equations, evaluation, places, len(rows))
    first = 1 + len(places)
    knowns = [*range(1, first), *range(first, first + len(variables.states))]
    variables.dependencies = dependent_references(variables, pattern, knowns)
    direction = direction_kernel(evaluation) if derivatives else None
    kernels = kernels_header(equations, variables, tableau, chosen, direction)
    identifier = _identifier(file)
    header = equations_header(equations, variables, tableau, step, "", bool(derivatives))
    token = _token(version, identifier, header, kernels, [v.name for v in variables.all])
    header = equations_header(equations, variables, tableau, step, token, bool(derivatives))
    text = f"Formulation: {equations.formulation}, method: {method}"
    about = Header(model.name, identifier, token, text, "torsor", step, until, bool(derivatives))
    files = {"modelDescription.xml": model_description(version, about, variables)}
    files |= {f"sources/{name}": (C_CODE / name).read_bytes() for name in (*COMMON_FILES, *LAYER[version])}
    files |= {"sources/equations.h": header.encode(), "sources/kernels.h": kernels.encode()}
    if equations.events is not None:
        files["sources/loops.h"] = loops_header(equations.events).encode()
    if version == "3.0":
        files["sources/buildDescription.xml"] = BUILD_DESCRIPTION.format(identifier).encode()
    return files


def _variables(model, equations, inputs, outputs):
    system = equations.system
    parameters = parameter_variables(model, system.p, inputs, equations.fixed)
    states, derivatives = state_variables(system, equations.added, equations.x)
    indicators = indicator_variables([] if equations.events is None else equations.events.names)
    variables = Variables(parameters, states, derivatives, output_variables(system, outputs), indicators)
    variables.check_names(model.owner)
    return variables


def refuse_unsupported(model: Any) -> None:
    """Refuse what an FMU does not support, by the name of the element."""
    if not isinstance(model, Model):
        raise OptionError(f"export_fmu: give a torsor.Model, got {quantity.show(model)}")
    for rule in model.rules:
        if isinstance(rule, Controller) and rule.function is not None and not rule.compiled:
            raise ModelError(
                f"export_fmu: {rule.owner} is a function in Python, which an FMU cannot contain: write it with compiled=True or "
                "as expressions, or leave it out and make what it sets inputs of the FMU"
            )
    refuse_fmus(model, "export_fmu")


def _expressions(outputs):
    """Expressions of outputs that are given by name."""
    return dict(outputs) if isinstance(outputs, Mapping) else {}


def _tableau(method):
    cls = lookup("integrator", method)
    if not (isinstance(cls, type) and issubclass(cls, Tableau)):
        explicit = [k for k, x in registered("integrator").items() if isinstance(x, type) and issubclass(x, Tableau)]
        raise OptionError(f"export_fmu: method must be an explicit one ({', '.join(explicit)}), got {method!r}")
    return cls.tableau()


def _checked_path(path):
    file = os.fsdecode(os.fspath(path))
    if not file.endswith(".fmu"):
        raise OptionError(f"export_fmu: the file must have the suffix .fmu, got {file!r}")
    if not os.path.isdir(os.path.dirname(os.path.abspath(file))):
        raise ModelError(f"cannot write {file!r}: its folder does not exist")
    return file


def _identifier(file):
    """The name of the binary: that of the file, as a name in C."""
    name = re.sub(r"\W", "_", os.path.basename(file)[: -len(".fmu")], flags=re.ASCII)
    return name if re.match("[A-Za-z_]", name) else f"model_{name}"


def _token(*parts):
    """An identifier of the content, in the form of a GUID."""
    code = "".join(str(x) for x in parts).encode() + b"".join(
        (C_CODE / name).read_bytes() for name in (*COMMON_FILES, *LAYER["2.0"], *LAYER["3.0"])
    )
    h = hashlib.sha256(code).hexdigest()
    return f"{{{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:32]}}}"


def _write_archive(files, file):
    """Write the archive at once: the file is complete, or as it was before."""
    temporary = f"{file}.{os.getpid()}.part"
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                entry = zipfile.ZipInfo(name, DATE)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, data)
        os.replace(temporary, file)
    except OSError as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise ModelError(f"cannot write {file!r}: {error.strerror or error}") from None
