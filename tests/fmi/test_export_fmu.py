"""Exported FMUs are valid, run in another tool as torsor runs, and answer wrong calls with errors."""

import ctypes
import resource
import shutil
import subprocess
import zipfile

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.cli import status_of
from torsor.fmi import build_binaries

fmpy = pytest.importorskip("fmpy")
pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
STEP, END, POINTS = 1e-3, 0.3, 6


def crane():
    """A tree with a ball joint, an input, a parameter and a state."""
    model = ts.Model("crane", gravity=(0, 0, -9.81))
    trolley = model.body("trolley", mass=10.0, inertia=(1, 1, 1), at=(0, 0, 2))
    load = model.body("load", mass=model.parameter("mass", 5.0), inertia=(0.1, 0.2, 0.3), at=(0, 0.3, 0))
    rail = model.add(ts.Prismatic("rail", model.ground, trolley, axis="x"))
    model.add(ts.Spherical("rope", trolley, load, point=(0, 0, 2)))
    force = model.input("force", 20.0)
    model.add(ts.JointForce("motor", rail, force))
    model.state("work-done", rate=force * rail.rate, start=0.5)
    model.signal("reach", load.position)
    model.signal("power", force * rail.rate)
    return model


def bar():
    """A closed loop."""
    return ts.cases.load("four-bar")


def cart():
    """Tables over time and over signals, and a jump at a time that a parameter gives."""
    model = ts.Model("cart")
    body = model.body("cart", mass=2.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis="x"))
    push = ts.table([0, 0.05, 0.12, 0.4], [0, 8, 8, -2])
    drag = ts.table([-100, 0, 100], [2.0, 0.0, -2.0], outside="extrapolate")
    late = ca.if_else(ts.time > model.parameter("late", 0.217), model.parameter("size", 3.0), 0.0)
    model.add(ts.JointForce("motor", rail, push(ts.time) + drag(rail.rate) + late))
    grid = ts.table(([0, 1, 2], [0, 0.5, 1]), np.arange(9.0).reshape(3, 3) ** 2)
    model.signal("lookup", grid(rail.coordinate + 0.3, rail.rate))
    model.signal("x", rail.coordinate)
    return model


@pytest.fixture(scope="module")
def fmus(tmp_path_factory):
    """Files by model and version."""
    folder = tmp_path_factory.mktemp("fmus")
    found = {}
    for name, make, version in (
        ("crane", crane, "3.0"),
        ("crane", crane, "2.0"),
        ("bar", bar, "3.0"),
        ("cart", cart, "3.0"),
    ):
        found[name, version] = folder / f"{name}{version[0]}.fmu"
        ts.export_fmu(make(), found[name, version], version=version, step=STEP)
    return found


@pytest.fixture(scope="module")
def crane_run():
    return ts.simulate(crane(), END, outputs=POINTS, step=STEP, method="rkmk4", formulation="relative")


def simulate(file, kind, **options):
    return fmpy.simulate_fmu(str(file), stop_time=END, output_interval=END / POINTS, fmi_type=kind, **options)


@pytest.mark.parametrize("key", [("crane", "3.0"), ("crane", "2.0"), ("bar", "3.0")], ids="-".join)
def test_another_tool_finds_no_fault(fmus, key):
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(fmus[key])) == []


@pytest.mark.parametrize("version", ["3.0", "2.0"])
def test_co_simulation_is_the_run_of_torsor(fmus, crane_run, version):
    found = simulate(fmus["crane", version], "CoSimulation")
    for name in ("reach[0]", "reach[1]", "reach[2]", "power"):
        assert np.abs(found[name] - crane_run[name].values).max() <= 1e-12


@pytest.mark.parametrize("version", ["3.0", "2.0"])
def test_model_exchange_converges_to_the_run_of_torsor(fmus, crane_run, version):
    found = simulate(fmus["crane", version], "ModelExchange", relative_tolerance=1e-9)
    last = {k: found["reach[0]"][np.abs(found["time"] - t) < 1e-9][-1] for k, t in enumerate(crane_run.time.values)}
    assert np.abs(np.array(list(last.values())) - crane_run["reach[0]"].values).max() < 1e-6


def test_loops_stay_closed_in_both_kinds(fmus):
    run = ts.simulate(bar(), END, outputs=POINTS, step=STEP, method="rkmk4")
    for kind, error in (("CoSimulation", 1e-12), ("ModelExchange", 1e-6)):
        found = simulate(fmus["bar", "3.0"], kind, relative_tolerance=1e-9)
        for label in run.joint_coordinate.values:
            values = found[f"{label}.coordinate"]
            assert np.abs(values - run.coordinate.sel(joint_coordinate=label).values).max() < error, (kind, label)


def test_tables_and_breakpoints_are_those_of_torsor(fmus):
    run = ts.simulate(cart(), END, outputs=POINTS, step=STEP, method="rkmk4")
    found = simulate(fmus["cart", "3.0"], "CoSimulation")
    exchanged = simulate(fmus["cart", "3.0"], "ModelExchange", relative_tolerance=1e-10)
    assert {0.05, 0.12, 0.217} <= {round(float(t), 12) for t in exchanged["time"]}  # events in time
    for name in ("x", "lookup"):
        assert np.abs(found[name] - run[name].values).max() <= 1e-12
        assert abs(exchanged[name][-1] - run[name].values[-1]) <= 1e-6
    names = [v.name for v in fmpy.read_model_description(str(fmus["cart", "3.0"])).modelVariables]
    assert "size" in names and "late" not in names  # the times are constants of the FMU


def test_the_code_compiles_without_a_warning(fmus, tmp_path):
    for name in ("crane", "bar", "cart"):
        with zipfile.ZipFile(fmus[name, "3.0"]) as archive:
            archive.extractall(tmp_path / name)
        strict = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
        subprocess.run(["gcc", *strict, tmp_path / name / "sources" / "fmi3.c"], check=True)


class Instance:
    """An FMU in FMPy, initialised."""

    def __init__(self, file, folder, kind="CoSimulation", initialize=True):
        from fmpy.fmi3 import FMU3Model, FMU3Slave

        about = fmpy.read_model_description(str(file))
        self.references = {v.name: v.valueReference for v in about.modelVariables}
        where = fmpy.extract(str(file), str(folder))
        make = FMU3Slave if kind == "CoSimulation" else FMU3Model
        name = about.coSimulation.modelIdentifier
        self.fmu = make(guid=about.guid, unzipDirectory=where, modelIdentifier=name, instanceName="one")
        self.fmu.instantiate()
        if initialize:
            self.fmu.enterInitializationMode(startTime=0.0)
            self.fmu.exitInitializationMode()

    def get(self, *names):
        return np.array(self.fmu.getFloat64([self.references[n] for n in names]))

    def set(self, name, value):
        self.fmu.setFloat64([self.references[name]], [value])


def states_of(instance):
    return [n for n in instance.references if n.startswith(("state", "own"))]


def test_a_saved_state_gives_the_same_bits_again(fmus, tmp_path):
    one = Instance(fmus["crane", "3.0"], tmp_path)
    names = states_of(one)
    one.fmu.doStep(0.0, 0.05)
    saved = one.fmu.getFMUState()
    data = one.fmu.serializeFMUState(saved)
    one.fmu.doStep(0.05, 0.1)
    first = one.get(*names, "reach[0]")
    one.fmu.setFMUState(one.fmu.deserializeFMUState(data))
    one.fmu.doStep(0.05, 0.1)
    assert np.array_equal(one.get(*names, "reach[0]"), first)
    one.fmu.reset()
    one.fmu.enterInitializationMode(startTime=0.0)
    one.fmu.exitInitializationMode()
    one.fmu.doStep(0.0, 0.15)
    assert np.abs(one.get("reach[0]") - first[-1:]).max() < 1e-12
    one.fmu.freeInstance()


@pytest.mark.parametrize("key", ["crane", "bar"])
def test_derivatives_equal_differences(fmus, key, tmp_path):
    one = Instance(fmus[key, "3.0"], tmp_path, "ModelExchange")
    fmu, h = one.fmu, 1e-5
    knowns = [n for n in one.references if n.startswith(("state.", "state_rate.", "own.")) or n == "force"]
    unknowns = [n for n in one.references if n.startswith("der(") or n.startswith("reach") or n.endswith(".rate")]
    count = len(knowns) - ("force" in knowns)
    values = (ctypes.c_double * count)()
    fmu.enterContinuousTimeMode()
    fmu.getContinuousStates(values, count)
    start = np.array(values)
    rows = [one.references[n] for n in unknowns]

    def at(k, change):
        shifted = start.copy()
        if knowns[k] == "force":
            one.set("force", 20.0 + change)
        else:
            shifted[[n for n in knowns if n != "force"].index(knowns[k])] += change
        fmu.setContinuousStates((ctypes.c_double * count)(*shifted), count)
        found = one.get(*unknowns)
        if knowns[k] == "force":
            one.set("force", 20.0)
        return found

    for k in range(0, len(knowns), 3):
        differences = (at(k, h) - at(k, -h)) / (2 * h)
        fmu.setContinuousStates((ctypes.c_double * count)(*start), count)
        exact = np.array(fmu.getDirectionalDerivative(rows, [one.references[knowns[k]]], [1.0]))
        assert np.abs(exact - differences).max() <= 1e-6 * max(1.0, np.abs(exact).max()), knowns[k]
        seed = np.linspace(1.0, 2.0, len(rows))
        adjoint = fmu.getAdjointDerivative(rows, [one.references[knowns[k]]], list(seed), 1)
        assert np.isclose(adjoint[0], seed @ exact, rtol=1e-12, atol=1e-12)
    fmu.freeInstance()


def test_calls_in_a_wrong_order_are_errors(fmus, tmp_path):
    from fmpy.fmi1 import FMICallException

    for call in (
        lambda one: one.fmu.doStep(0.0, 0.1),
        lambda one: one.fmu.exitInitializationMode(),
        lambda one: one.get("reach[0]"),
        lambda one: one.set("reach[0]", 1.0),
        lambda one: one.set("force", float("nan")),
        lambda one: one.fmu.terminate(),
    ):
        one = Instance(fmus["crane", "3.0"], tmp_path, initialize=False)
        with pytest.raises(FMICallException):
            call(one)
        one.fmu.freeInstance()
    one = Instance(fmus["crane", "3.0"], tmp_path)
    for wrong in (lambda: one.fmu.enterInitializationMode(), lambda: one.set("state.rail", 1.0)):
        with pytest.raises(FMICallException):
            wrong()
    one.fmu.freeInstance()


def test_inputs_and_parameters_act_while_it_runs(fmus, tmp_path):
    one = Instance(fmus["crane", "3.0"], tmp_path)
    sim = ts.Simulation(crane(), step=STEP, method="rkmk4", formulation="relative")
    for k, force in enumerate((20.0, -35.0, 0.0)):
        one.set("force", force)
        one.fmu.doStep(0.1 * k, 0.1)
        sim.advance(0.1, force=force)
    assert abs(one.get("reach[0]")[0] - sim["reach[0]"]) < 1e-12
    one.fmu.freeInstance()


def test_instances_leave_no_memory_behind_and_need_libc_and_libm_only(fmus, tmp_path):
    with zipfile.ZipFile(fmus["crane", "3.0"]) as archive:
        library = archive.extract("binaries/x86_64-linux/crane3.so", tmp_path)
    needed = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    names = {line.split()[0].rpartition("/")[2].partition(".")[0] for line in needed.splitlines()}
    assert names <= {"linux-vdso", "libm", "libc", "ld-linux-x86-64"}
    token = fmpy.read_model_description(str(fmus["crane", "3.0"])).guid.encode()
    code = ctypes.CDLL(library)
    code.fmi3InstantiateCoSimulation.restype = ctypes.c_void_p
    before = 0
    for k in range(1000):
        made = code.fmi3InstantiateCoSimulation(
            b"a", token, None, 0, 0, 0, 0, None, ctypes.c_size_t(0), None, None, None
        )
        code.fmi3FreeInstance(ctypes.c_void_p(made))
        before = before or (k == 100 and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss <= before + 64  # kB
    assert not code.fmi3InstantiateCoSimulation(
        b"a", b"no", None, 0, 0, 0, 0, None, ctypes.c_size_t(0), None, None, None
    )


def test_what_is_not_supported_is_refused_in_words(tmp_path, monkeypatch):
    model = ts.cases.load("pendulum")
    for options, message in (
        ({"version": "1.0"}, "version must be"),
        ({"method": "radau5"}, "explicit one"),
        ({"step": 0}, "positive number"),
        ({"outputs": ["height"]}, "unknown output 'height'"),
        ({"inputs": ["height"]}, "unknown input 'height'"),
        ({"platforms": "beos"}, "unknown platform 'beos'"),
        ({"platforms": "linux-arm", "version": "2.0"}, "no folder"),
    ):
        with pytest.raises(ts.OptionError, match=message):
            ts.export_fmu(model, tmp_path / "a.fmu", **options)
    with pytest.raises(ts.OptionError, match="suffix .fmu"):
        ts.export_fmu(model, tmp_path / "a.zip")
    python = crane()
    python.add(ts.Controller("pid", 0.1, ["power"], ["answer"], lambda t, u: 1.0))
    with pytest.raises(ts.ModelError, match="'pid' is a function in Python"):
        ts.export_fmu(python, tmp_path / "a.fmu")
    monkeypatch.setattr(build_binaries.shutil, "which", lambda name: None)
    monkeypatch.setattr(build_binaries, "find_spec", lambda name: None)
    with pytest.raises(ts.TorsorError, match="no C compiler"):
        ts.export_fmu(model, tmp_path / "a.fmu")
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_an_fmu(tmp_path):
    assert status_of(["export", "cart-pole", str(tmp_path / "p.fmu"), "--fmi", "2.0"]) == 0
    assert fmpy.read_model_description(str(tmp_path / "p.fmu")).fmiVersion == "2.0"
    assert status_of(["export", "cart-pole", str(tmp_path / "p.zip")]) == 2
