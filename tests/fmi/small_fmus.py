"""Small FMUs in C, compiled once for each process: a bouncing ball, a first-order lag, van der Pol's oscillator, a feedthrough, a
stair with time events, and one that misbehaves. For FMI 2 and 3, each with both interfaces."""

import pathlib
import subprocess
import tempfile
import zipfile
from functools import cache

import fmpy

SOURCE = pathlib.Path(__file__).with_name("small_fmu.c")
HEADERS = pathlib.Path(fmpy.__file__).parent / "c-code"
# number, states, inputs, outputs (names; those in capitals are discrete), event indicators, parameters with start values
MODELS = {
    "bounce": (1, ["h", "v"], ["push"], ["height", "COUNT"], 1, {"h0": 1.0, "e": 0.8, "g": 9.81}),
    "lag": (2, ["x"], ["u"], ["y"], 0, {"T": 0.5}),
    "pol": (3, ["x", "v"], [], ["y"], 0, {"mu": 1.0}),
    "feed": (4, [], ["a", "b"], ["y", "clock"], 0, {"gain": -3.0}),
    "stair": (5, [], [], ["COUNT"], 0, {"period": 0.25}),
    "bad": (6, ["x"], [], ["y"], 0, {"how": 0.0}),
}
STARTS = {"bounce": [1.0, 0.0], "pol": [2.0, 0.0], "bad": [1.0]}
CAPABLE = 'canGetAndSetFMU{0}="true" canSerializeFMU{0}="true"'


@cache
def folder():
    return pathlib.Path(tempfile.mkdtemp(prefix="small_fmus_"))


@cache
def small_fmu(name, version=3, capable=True, units=""):
    """The path of an FMU. capable: its state can be saved; units: XML of the unit of its first input and output."""
    number, states, inputs, outputs, indicators, parameters = MODELS[name]
    path = folder() / f"{name}{version}{'' if capable else '_plain'}{'_units' if units else ''}.fmu"
    binary = folder() / f"{name}{version}.so"
    if not binary.exists():
        flags = [
            "-O1",
            "-shared",
            "-fPIC",
            f"-DMODEL={number}",
            f"-DVERSION={version}",
            f'-DTOKEN="{name}"',
            f"-I{HEADERS}",
        ]
        subprocess.run(["gcc", *flags, SOURCE, "-o", binary, "-lm"], check=True)
    describe = _description_2 if version == 2 else _description_3
    description = describe(name, states, inputs, outputs, indicators, parameters, capable, units)
    platform = fmpy.platform if version == 2 else fmpy.platform_tuple
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description)
        archive.write(binary, f"binaries/{platform}/{name}{fmpy.sharedLibraryExtension}")
    return str(path)


def _description_2(name, states, inputs, outputs, indicators, parameters, capable, units):
    variables, rates = [], []
    real = lambda more="": f"<Real {more}/>"
    unit = ' unit="own"' if units else ""
    for k, x in enumerate(states):
        start = STARTS.get(name, [0.0, 0.0])[k]
        variables.append((x, k, 'causality="local" variability="continuous" initial="exact"', real(f'start="{start}"')))
    for k, x in enumerate(states):
        rates.append(len(variables) + 1)
        variables.append(
            (f"der({x})", 10 + k, 'causality="local" variability="continuous"', real(f'derivative="{k + 1}"'))
        )
    variables += [
        (x, 20 + k, 'causality="input" variability="continuous"', real(f'start="0"{unit}'))
        for k, x in enumerate(inputs)
    ]
    first = len(variables) + 1
    for k, x in enumerate(outputs):
        kind = "discrete" if x.isupper() else "continuous"
        variables.append((x, 30 + k, f'causality="output" variability="{kind}"', real(unit if not x.isupper() else "")))
    for k, (x, value) in enumerate(parameters.items()):
        variables.append(
            (x, 40 + k, 'causality="parameter" variability="fixed" initial="exact"', real(f'start="{value}"'))
        )
    lines = "".join(
        f'<ScalarVariable name="{x}" valueReference="{r}" {how}>{what}</ScalarVariable>'
        for x, r, how, what in variables
    )
    can = CAPABLE.format("state") if capable else ""
    of_outputs = "".join(f'<Unknown index="{first + k}"/>' for k in range(len(outputs)))
    of_rates = "".join(f'<Unknown index="{k}"/>' for k in rates)
    derivatives = f"<Derivatives>{of_rates}</Derivatives>" if rates else ""
    return (
        f'<?xml version="1.0"?><fmiModelDescription fmiVersion="2.0" modelName="{name}" guid="{name}" '
        f'numberOfEventIndicators="{indicators}">'
        f'<ModelExchange modelIdentifier="{name}" completedIntegratorStepNotNeeded="true" {can}/>'
        f'<CoSimulation modelIdentifier="{name}" canHandleVariableCommunicationStepSize="true" {can}/>{units}'
        f"<ModelVariables>{lines}</ModelVariables><ModelStructure><Outputs>{of_outputs}</Outputs>{derivatives}</ModelStructure>"
        "</fmiModelDescription>"
    )


def _description_3(name, states, inputs, outputs, indicators, parameters, capable, units):
    variables = ['<Float64 name="time" valueReference="99" causality="independent" variability="continuous"/>']
    unit = ' unit="own"' if units else ""
    for k, x in enumerate(states):
        start = STARTS.get(name, [0.0, 0.0])[k]
        variables.append(
            f'<Float64 name="{x}" valueReference="{k}" causality="local" initial="exact" start="{start}"/>'
        )
        variables.append(f'<Float64 name="der({x})" valueReference="{10 + k}" causality="local" derivative="{k}"/>')
    variables += [
        f'<Float64 name="{x}" valueReference="{20 + k}" causality="input" start="0"{unit}/>'
        for k, x in enumerate(inputs)
    ]
    for k, x in enumerate(outputs):
        kind = "discrete" if x.isupper() else "continuous"
        own = "" if x.isupper() else unit
        variables.append(
            f'<Float64 name="{x}" valueReference="{30 + k}" causality="output" variability="{kind}"{own}/>'
        )
    for k, (x, value) in enumerate(parameters.items()):
        variables.append(
            f'<Float64 name="{x}" valueReference="{40 + k}" causality="parameter" variability="fixed" start="{value}"/>'
        )
    can = CAPABLE.format("State") if capable else ""
    structure = "".join(f'<Output valueReference="{30 + k}"/>' for k in range(len(outputs)))
    structure += "".join(f'<ContinuousStateDerivative valueReference="{10 + k}"/>' for k in range(len(states)))
    structure += "".join('<EventIndicator valueReference="0"/>' for _ in range(indicators))
    return (
        f'<?xml version="1.0"?><fmiModelDescription fmiVersion="3.0" modelName="{name}" instantiationToken="{name}">'
        f'<ModelExchange modelIdentifier="{name}" {can}/>'
        f'<CoSimulation modelIdentifier="{name}" canHandleVariableCommunicationStepSize="true" {can}/>{units}'
        f"<ModelVariables>{''.join(variables)}</ModelVariables><ModelStructure>{structure}</ModelStructure></fmiModelDescription>"
    )
