"""modelDescription.xml of an FMU, for FMI 2.0 and 3.0."""

from dataclasses import dataclass
from xml.etree import ElementTree as ET

from .fmu_variables import Variable, Variables

BASE_UNITS = {  # exponents of the base units
    "s": {"s": 1}, "m": {"m": 1}, "rad": {"rad": 1}, "m/s": {"m": 1, "s": -1}, "rad/s": {"rad": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2}, "rad/s2": {"rad": 1, "s": -2}, "kg": {"kg": 1}, "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2}, "J": {"kg": 1, "m": 2, "s": -2}, "W": {"kg": 1, "m": 2, "s": -3},
}  # fmt: skip
ABILITIES_2 = {
    "canGetAndSetFMUstate": "true", "canSerializeFMUstate": "true", "canNotUseMemoryManagementFunctions": "false",
}  # fmt: skip
ABILITIES_3 = {"canGetAndSetFMUState": "true", "canSerializeFMUState": "true"}


@dataclass(frozen=True)
class Header:
    """What a model description says besides variables."""

    name: str
    identifier: str  # of the binary
    token: str
    description: str
    tool: str
    step: float  # of co-simulation [s]
    stop: float  # of the default experiment [s]
    derivatives: bool  # whether directional derivatives are provided


def model_description(version: str, header: Header, variables: Variables) -> bytes:
    """The file as bytes."""
    root = _fmi2(header, variables) if version == "2.0" else _fmi3(header, variables)
    ET.indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="utf-8") + b"\n"


def _add(parent, tag, **attributes):
    return ET.SubElement(parent, tag, {k: _text(v) for k, v in attributes.items() if v is not None})


def _text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, float) else str(value)


def _units(root, variables, tag):
    used = sorted({v.unit for v in variables.all if v.unit})
    units = _add(root, "UnitDefinitions") if used else None
    for unit in used:
        _add(_add(units, tag, name=unit), "BaseUnit", **BASE_UNITS[unit])


def _causality(v: Variable) -> dict:
    """Causality, variability and initial of a variable."""
    if v.causality == "independent":
        return {"causality": "independent", "variability": "continuous"}
    if v.causality == "parameter":
        return {"causality": "parameter", "variability": "tunable", "initial": "exact"}
    if v.causality == "input":
        return {"causality": "input", "variability": "continuous"}
    initial = "calculated" if v.start is None else "exact"
    return {"causality": v.causality, "variability": "continuous", "initial": initial}


def _fmi2(header: Header, variables: Variables):
    root = ET.Element("fmiModelDescription", {
        "fmiVersion": "2.0", "modelName": header.name, "guid": header.token, "description": header.description,
        "generationTool": header.tool, "variableNamingConvention": "structured",
        "numberOfEventIndicators": str(len(variables.indicators)),
    })  # fmt: skip
    common = {"modelIdentifier": header.identifier, **ABILITIES_2, "providesDirectionalDerivative": header.derivatives}
    exchange = _add(root, "ModelExchange", **common, completedIntegratorStepNotNeeded=False)
    simulation = _add(root, "CoSimulation", **common, canHandleVariableCommunicationStepSize=True)
    for kind in (exchange, simulation):
        _add(_add(kind, "SourceFiles"), "File", name="fmi2.c")
    _units(root, variables, "Unit")
    _add(_add(root, "LogCategories"), "Category", name="logStatusError", description="calls that fail")
    _add(root, "DefaultExperiment", startTime=0.0, stopTime=header.stop, stepSize=header.step)
    listed = _add(root, "ModelVariables")
    first_state = 1 + len(variables.parameters)
    for k, v in enumerate(variables.all[: len(variables.all) - len(variables.indicators)]):
        entry = _add(
            listed, "ScalarVariable", name=v.name, valueReference=k, description=v.description or None, **_causality(v)
        )
        derivative = None if v.state is None else first_state + v.state + 1
        _add(entry, "Real", unit=v.unit or None, start=v.start, derivative=derivative)
    structure = _add(root, "ModelStructure")
    _structure(structure, variables, _FMI2)
    return root


def _fmi3(header: Header, variables: Variables):
    root = ET.Element("fmiModelDescription", {
        "fmiVersion": "3.0", "modelName": header.name, "instantiationToken": header.token,
        "description": header.description, "generationTool": header.tool, "variableNamingConvention": "structured",
    })  # fmt: skip
    derivatives = {
        "providesDirectionalDerivatives": header.derivatives, "providesAdjointDerivatives": header.derivatives
    }  # fmt: skip
    common = {"modelIdentifier": header.identifier, **ABILITIES_3, **derivatives}
    _add(root, "ModelExchange", **common, needsCompletedIntegratorStep=True)
    _add(root, "CoSimulation", **common, canHandleVariableCommunicationStepSize=True, fixedInternalStepSize=header.step)
    _units(root, variables, "Unit")
    _add(_add(root, "LogCategories"), "Category", name="logStatusError", description="calls that fail")
    _add(root, "DefaultExperiment", startTime=0.0, stopTime=header.stop, stepSize=header.step)
    listed = _add(root, "ModelVariables")
    first_state = 1 + len(variables.parameters)
    for k, v in enumerate(variables.all):
        derivative = None if v.state is None else first_state + v.state
        _add(
            listed, "Float64", name=v.name, valueReference=k, description=v.description or None, **_causality(v),
            unit=v.unit or None, derivative=derivative, start=v.start,
        )  # fmt: skip
    _structure(_add(root, "ModelStructure"), variables, _FMI3)
    return root


class _FMI2:
    """Unknowns in groups, variables by their number, which starts at 1."""

    groups = ("Outputs", "Derivatives", "InitialUnknowns")
    indicator = None  # indicators have no variables

    @staticmethod
    def add(structure, groups, kind, reference, dependencies):
        if kind not in groups:
            groups[kind] = _add(structure, kind)
        text = None if dependencies is None else " ".join(str(k + 1) for k in dependencies)
        _add(groups[kind], "Unknown", index=reference + 1, dependencies=text)


class _FMI3:
    """Unknowns in one list, variables by their value reference."""

    groups = ("Output", "ContinuousStateDerivative", "InitialUnknown")
    indicator = "EventIndicator"

    @staticmethod
    def add(structure, groups, kind, reference, dependencies):
        text = None if dependencies is None else " ".join(map(str, dependencies))
        _add(structure, kind, valueReference=reference, dependencies=text)


def _structure(structure, variables, style):
    """Outputs, derivatives and initial unknowns with what they depend on. Parameters are no knowns but at the start."""
    outputs, derivatives, initial = style.groups
    references = variables.references
    first = 1
    parameters = {first + k for k, v in enumerate(variables.parameters) if v.causality == "parameter"}
    groups: dict = {}
    for kind, unknowns in ((outputs, variables.outputs), (derivatives, variables.derivatives)):
        for v in unknowns:
            known = [k for k in variables.dependencies[v.name] if k not in parameters]
            style.add(structure, groups, kind, references[v.name], known)
    for v in (*variables.outputs, *variables.derivatives):
        style.add(structure, groups, initial, references[v.name], None)
    for v in variables.indicators if style.indicator else ():
        style.add(structure, groups, style.indicator, references[v.name], None)
