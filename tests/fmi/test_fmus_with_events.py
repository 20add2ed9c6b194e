"""Exported FMUs with events: contacts, releases, locks, friction and samples happen as in torsor, at the same instants."""

import shutil
import subprocess
import zipfile

import numpy as np
import pytest

import torsor as ts
from torsor.fmi import build_binaries

fmpy = pytest.importorskip("fmpy")
pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
STEP, END, POINTS, G = 1e-3, 1.0, 10, 9.81


def machine(last=None):
    """A ball that bounces, a door that is unlocked and caught, a block that slides and sticks, and a sampled force.

    last   height of the ball under which the run ends, after the first rebound
    """
    model = ts.Model("machine", gravity=(0, 0, -G))
    ball = model.body("ball", inertia=ts.inertia.sphere(0.1, 0.02), at=(0, 0, 0.52), velocity=(0.3, 0, 0))
    model.add(
        ts.Contact("floor", model.ground, ball, radius=0.02, plane=(0, 0, 0), restitution=model.parameter("e", 0.8))
    )
    door = model.body("door", inertia=ts.inertia.box(4.0, 0.5, 0.02, 0.4), at=(1, 0, 0.2))
    hinge = model.add(ts.Revolute("hinge", model.ground, door, point=(1, 0, 0), axis=(0, 0, 1)))
    latch = model.add(ts.Lock("latch", hinge))
    push = model.add(ts.JointForce("push", hinge, 3.0), active=False)
    door_is = model.modes("door_is", "shut", "opening", "open")
    shut, opening, opened = (door_is[mode] for mode in door_is.names)
    model.when(ts.time >= 0.2, ts.release(latch), ts.switch(push), ts.enter(opening), name="unlatch", during=shut)
    caught = (ts.engage(latch), ts.switch(push, on=False), ts.enter(opened))
    model.when(hinge.coordinate >= 1.0, *caught, name="catch", during=opening)
    block = model.body("block", mass=2.0, inertia=(0.1, 0.1, 0.1), at=(3, 0, 0), velocity=(-1.0, 0, 0))
    slope = model.add(ts.Prismatic("slope", model.ground, block, axis=(np.cos(0.3), 0, np.sin(0.3))))
    model.add(ts.Friction("friction", slope, coefficient=0.25))
    sampler = model.add(ts.Controller("sampler", 0.125, outputs={"sample": 10 * slope.rate}))
    model.add(ts.JointForce("brake", slope, -0.1 * sampler["sample"]))
    model.signal("height", ball.position[2])
    model.signal("sample", sampler["sample"])
    model.signal("mode", door_is.number)
    if last is not None:
        model.when(ts.falling(ball.position[2] - last), ts.end(), name="over", during=opening)
    return model


@pytest.fixture(scope="module")
def fmus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fmus")
    options = build_binaries.OPTIONS
    build_binaries.OPTIONS = [*options, "-O0"]  # compiles in less time, and gives the same bits
    names = ["height", "sample", "mode", "hinge.coordinate", "slope.coordinate", "slope.rate"]
    for version, model in (("3.0", machine()), ("2.0", machine(last=0.1))):
        ts.export_fmu(
            model, folder / f"machine{version[0]}.fmu", version, outputs=names, step=STEP, formulation="relative"
        )
    build_binaries.OPTIONS = options
    return folder


def run_of(model, **options):
    return ts.simulate(model, END, outputs=POINTS, step=STEP, method="rkmk4", formulation="relative", **options)


def last_values(found, name, times):
    """The last value of a variable at each time: after an event there."""
    return np.array([found[name][np.abs(found["time"] - t) < 1e-9][-1] for t in times])


def compare(found, run, tolerance):
    for name in ("height", "sample", "mode"):
        assert np.abs(last_values(found, name, run.time.values) - run[name].values).max() <= tolerance, name
    for name in ("hinge", "slope"):
        expected = run.coordinate.sel(joint_coordinate=name).values
        assert np.abs(last_values(found, f"{name}.coordinate", run.time.values) - expected).max() <= tolerance, name


def simulate(file, kind, **options):
    return fmpy.simulate_fmu(str(file), stop_time=END, output_interval=END / POINTS, fmi_type=kind, **options)


@pytest.mark.parametrize("version", [2, 3])
def test_another_tool_finds_no_fault(fmus, version):
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(fmus / f"machine{version}.fmu")) == []


def test_co_simulation_is_the_run_of_torsor(fmus):
    run = run_of(machine())
    assert {"floor.touch", "unlatch", "catch"} <= set(run.event_name.values.tolist())
    compare(simulate(fmus / "machine3.fmu", "CoSimulation"), run, 1e-12)


def test_model_exchange_locates_the_same_events(fmus):
    compare(simulate(fmus / "machine3.fmu", "ModelExchange", relative_tolerance=1e-10), run_of(machine()), 1e-7)


@pytest.mark.parametrize(("kind", "tolerance"), [("CoSimulation", 1e-11), ("ModelExchange", 1e-7)])
def test_a_ball_bounces_as_in_its_closed_form(fmus, kind, tolerance):
    e = 0.7
    options = {} if kind == "CoSimulation" else {"relative_tolerance": 1e-10}
    found = simulate(fmus / "machine3.fmu", kind, start_values={"e": e}, **options)
    start, speed = np.sqrt(2 * 0.5 / G), np.sqrt(2 * 0.5 * G)
    for t, z in zip(found["time"], found["height"]):
        begin, v = start, speed * e
        if t < start:
            expected = 0.52 - G * t**2 / 2
        else:
            while t > begin + 2 * v / G:
                begin, v = begin + 2 * v / G, v * e
            expected = 0.02 + v * (t - begin) - G * (t - begin) ** 2 / 2
        assert abs(z - expected) <= tolerance, t


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_an_event_ends_the_run(fmus, kind):
    run = ts.simulate(machine(last=0.1), END, step=STEP, method="rkmk4", formulation="relative")
    found = simulate(fmus / "machine2.fmu", kind, relative_tolerance=1e-9 if kind == "ModelExchange" else None)
    assert abs(found["time"][-1] - run.attrs["time_reached"]) < (1e-9 if kind == "CoSimulation" else 1e-6)


def test_a_saved_state_gives_the_same_events_again(fmus, tmp_path):
    from fmpy.fmi3 import FMU3Slave

    file = str(fmus / "machine3.fmu")
    about, where = fmpy.read_model_description(file), fmpy.extract(file, str(tmp_path))
    references = [
        v.valueReference for v in about.modelVariables if v.causality == "output" or v.name.startswith("state")
    ]

    def make():
        one = FMU3Slave(
            guid=about.guid,
            unzipDirectory=where,
            modelIdentifier=about.coSimulation.modelIdentifier,
            instanceName="one",
        )
        one.instantiate()
        one.enterInitializationMode(startTime=0.0)
        one.exitInitializationMode()
        return one

    one, other = make(), make()
    one.doStep(0.0, 0.31)
    data = one.serializeFMUState(one.getFMUState())
    one.doStep(0.31, 0.6)
    first = one.getFloat64(references)
    for instance in (one, other):  # the same, and one that was made for this
        instance.setFMUState(instance.deserializeFMUState(data))
        assert instance.serializeFMUState(instance.getFMUState()) == data
        instance.doStep(0.31, 0.6)
        assert list(instance.getFloat64(references)) == list(first)
        instance.freeInstance()


def test_the_code_compiles_without_a_warning(fmus, tmp_path):
    with zipfile.ZipFile(fmus / "machine3.fmu") as archive:
        archive.extractall(tmp_path)
    strict = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
    subprocess.run(["gcc", *strict, tmp_path / "sources" / "fmi3.c"], check=True)


def test_events_that_an_fmu_does_not_support_are_refused(tmp_path):
    model = ts.cases.load("four-bar")
    model.when(ts.time >= 0.1, ts.end(), name="over")
    with pytest.raises(ts.ModelError, match="redundant constraints"):
        ts.export_fmu(model, tmp_path / "a.fmu", formulation="absolute")
    assert list(tmp_path.iterdir()) == []
