"""FMUs as elements of a model run to their closed forms, in both interfaces and versions, and fail in words."""

import pickle
import shutil
import zipfile

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torsor as ts

pytest.importorskip("fmpy")
pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
from small_fmus import small_fmu  # noqa: E402

COUPLED, EXCHANGED = "co-simulation", "model exchange"
WAYS = [(version, interface) for version in (2, 3) for interface in (COUPLED, EXCHANGED)]
OSCILLATOR = lambda t, x: [x[1], -4 * x[2] - x[1], (x[0] - x[2]) / 0.5]  # a mass, its force a lag of its displacement


def alone(name, version=3, capable=True, **options):
    """A model with a body at rest and an FMU."""
    model = ts.Model("alone")
    model.body("b", mass=1.0, inertia=(1, 1, 1))
    model.add(ts.FMU("f", small_fmu(name, version, capable), **options))
    return model


def oscillator(interface, mass=1.0, **options):
    """A mass on a rail; its force follows its displacement with a lag, which is an FMU."""
    model = ts.Model("oscillator")
    body = model.body("b", mass=model.parameter("mass", mass), inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("r", model.ground, body, axis="x", start=1.0))
    fmu = model.add(ts.FMU("f", small_fmu("lag"), inputs={"u": rail.coordinate}, interface=interface, **options))
    model.add(ts.JointForce("s", rail, -4 * fmu["y"] - rail.rate))
    return model


def bounce(t, e=0.8, g=9.81):
    """Height of a ball that falls from 1 m."""
    speed, s = np.sqrt(2 * g), np.sqrt(2 / g)
    if t < s:
        return 1 - g * t**2 / 2
    while True:
        speed *= e
        if t < s + 2 * speed / g:
            return speed * (t - s) - g * (t - s) ** 2 / 2
        s += 2 * speed / g


@pytest.fixture(scope="module")
def end_of_oscillator():
    return solve_ivp(OSCILLATOR, (0, 2), [1, 0, 0], rtol=1e-12, atol=1e-12).y[0, -1]


@pytest.mark.parametrize(("version", "interface"), WAYS)
def test_small_fmus_run_to_their_closed_forms(version, interface):
    model = ts.Model("all")
    model.body("b", mass=1.0, inertia=(1, 1, 1))
    give = {"lag": {"u": 1.0}, "feed": {"a": ts.time, "b": 2.0}}
    for name in ("lag", "feed", "stair", "bounce", "pol"):
        model.add(ts.FMU(name, small_fmu(name, version), interface=interface, inputs=give.get(name)))
    data = ts.simulate(model, 1.6, outputs=16, tolerance=1e-11)
    t = data.time.values
    pol = solve_ivp(
        lambda t, x: [x[1], (1 - x[0] ** 2) * x[1] - x[0]], (0, 1.6), [2, 0], t_eval=t, rtol=1e-12, atol=1e-12
    )
    exact = {"lag.y": 1 - np.exp(-t / 0.5), "feed.y": 2 - 3 * t, "feed.clock": t, "stair.COUNT": np.floor(t / 0.25 + 1e-9),
        "bounce.height": [bounce(x) for x in t], "bounce.COUNT": (t > 0.4516) * 1.0 + (t > 1.174), "pol.y": pol.y[0]}  # fmt: skip
    for name, values in exact.items():
        assert abs(data[name].values - values).max() < 1e-9, name  # those of the FMU itself, which bisects to 1e-15
    if interface == EXCHANGED:
        times = data.event_time.values[data.event_name == "bounce.event"]
        assert abs(times[:2] - [np.sqrt(2 / 9.81), np.sqrt(2 / 9.81) * 2.6]).max() < 1e-9


@pytest.mark.parametrize(("order", "slope"), [(0, 1), (1, 2), (2, 2)])
def test_the_order_of_a_coupling_is_that_of_its_extrapolation(end_of_oscillator, order, slope):
    given = dict(extrapolation=order, interface=COUPLED)
    errors = [
        float(ts.simulate(oscillator(step=h, **given), 2.0, outputs=1).coordinate[-1, 0]) - end_of_oscillator
        for h in (0.01, 0.005)
    ]
    assert abs(np.log2(errors[0] / errors[1]) - slope) < 0.15


@pytest.mark.parametrize("formulation", ["absolute", "relative", "hamiltonian"])
def test_model_exchange_has_the_accuracy_of_the_run(end_of_oscillator, formulation):
    data = ts.simulate(oscillator(EXCHANGED), 2.0, outputs=1, formulation=formulation)
    assert abs(float(data.coordinate[-1, 0]) - end_of_oscillator) < 1e-10


def test_derivatives_of_model_exchange_reach_linear_models_equilibria_and_drives():
    poles = np.linalg.eigvals(np.array([[0, 1, 0], [0, -1, -4], [2, 0, -2.0]]))
    found = np.linalg.eigvals(ts.linearise(oscillator(EXCHANGED)).A)
    assert abs(np.sort_complex(found) - np.sort_complex(poles)).max() < 1e-7
    assert abs(ts.equilibrium(oscillator(EXCHANGED)).coordinates["r"]) < 1e-9
    model = ts.Model("driven")
    rail = model.add(ts.Prismatic("r", model.ground, model.body("b", mass=1.0, inertia=(1, 1, 1)), axis="x"))
    fmu = model.add(ts.FMU("f", small_fmu("lag"), inputs={"u": 1.0}, interface=EXCHANGED))
    model.add(ts.Drive("d", rail, value=fmu.state("x")))
    data = ts.simulate(model, 1.0, outputs=2)
    assert abs(data.coordinate.values[:, 0] - (1 - np.exp(-data.time.values / 0.5))).max() < 1e-9
    assert abs(float(data.reaction_force[0, 0].values @ [0, 0, 1])) < 1e-9


@pytest.mark.parametrize("interface", [COUPLED, EXCHANGED])
def test_fmus_are_part_of_simulations_studies_copies_and_files(interface, tmp_path):
    model = oscillator(interface)
    end = float(ts.simulate(model, 2.0, outputs=1).coordinate[-1, 0])
    sim = ts.Simulation(oscillator(interface))
    sim.advance(1.0)
    copy = sim.copy()
    sim.advance(1.0)
    copy.advance(1.0)
    assert sim.coordinates["r"] == copy.coordinates["r"] and abs(sim.coordinates["r"] - end) < 1e-9
    study = ts.study(oscillator(interface), 2.0, parameters={"mass": [1.0, 2.0, 1.0]}, outputs=1)
    assert (
        abs(study.coordinate[[0, 2], -1, 0].values - end).max() < 1e-12 < abs(float(study.coordinate[1, -1, 0]) - end)
    )
    ts.save_model(model, tmp_path / "model.yaml")
    both = ts.Model("both")
    both.include("left", oscillator(interface))
    both.include("right", oscillator(interface), at=(0, 1, 0))
    for other in (pickle.loads(pickle.dumps(model)), ts.read(tmp_path / "model.yaml").model, both):
        assert abs(ts.simulate(other, 2.0, outputs=1).coordinate[-1].values - end).max() < 1e-9


@pytest.mark.parametrize("interface", [COUPLED, EXCHANGED])
def test_a_state_is_saved_with_that_of_the_fmu(interface, tmp_path):
    sim = ts.Simulation(alone("bounce", interface=interface))
    sim.advance(0.8)
    ts.save_state(sim, tmp_path / "state")
    sim.advance(0.7)
    again = ts.Simulation(alone("bounce", interface=interface))
    again.reset(ts.load_state(tmp_path / "state"), time=0.8)
    again.advance(0.7)
    assert abs(sim["f.height"] - bounce(1.5)) < 1e-9 and sim["f.COUNT"] == 2
    if interface == EXCHANGED:  # a state has no discrete part of co-simulation, which starts anew
        assert again["f.COUNT"] == 1 and abs(again["f.height"] - bounce(1.5)) < 1e-9


@pytest.mark.parametrize(("version", "interface"), WAYS)
def test_own_fmus_run_inside(version, interface, tmp_path):
    def ball():
        model = ts.Model("ball", gravity=(0, 0, -9.81))
        body = model.body("b", mass=5.0, inertia=(0.1, 0.2, 0.3), at=(0, 0.3, 0), angular_velocity=(0, 0, 3.0))
        model.add(ts.Spherical("rope", model.ground, body, point=(0, 0, 2)))
        for k in range(3):
            model.signal(f"x{k}", body.position[k])
        return model

    path, given = tmp_path / "ball.fmu", dict(outputs=4, formulation="relative")
    ts.export_fmu(ball(), path, version=f"{version}.0", step=2e-3)
    model = ts.Model("host")
    model.body("b", mass=1.0, inertia=(1, 1, 1))
    model.add(ts.FMU("f", path, interface=interface, step=0.01))  # the vector of rotation is centred anew on the way
    data = ts.simulate(model, 1.0, outputs=4, tolerance=1e-10)
    fixed = {"method": "rkmk4", "step": 2e-3} if interface == COUPLED else {"tolerance": 1e-11}
    own = ts.simulate(ball(), 1.0, **given, **fixed)
    for k in range(3):
        assert abs(data[f"f.x{k}"] - own[f"x{k}"]).max() < (1e-12 if interface == COUPLED else 1e-8)


def test_units_are_converted():
    units = '<UnitDefinitions><Unit name="own"><BaseUnit m="1" factor="0.001" offset="2"/></Unit></UnitDefinitions>'
    model = ts.Model("units")
    model.body("b", mass=1.0, inertia=(1, 1, 1))
    model.add(ts.FMU("f", small_fmu("feed", 2, units=units), inputs={"a": 2.5, "b": 2.0}))
    assert (
        abs(float(ts.simulate(model, 0.1, outputs=1)["f.y"][-1]) - (2 + 1e-3 * -3 * 500)) < 1e-12
    )  # a = 500 of these units


def bad(how, interface, timeout=60.0):
    model = ts.Model("bad")
    rail = model.add(ts.Prismatic("r", model.ground, model.body("b", mass=1.0, inertia=(1, 1, 1)), axis="x"))
    parameters = {"how": how}
    fmu = model.add(ts.FMU("f", small_fmu("bad"), interface=interface, parameters=parameters, timeout=timeout))
    model.add(ts.JointForce("s", rail, fmu["y"]))
    return model


@pytest.mark.parametrize("interface", [COUPLED, EXCHANGED])
@pytest.mark.parametrize(
    ("how", "words"), [(1, "returned error"), (3, "output 'y' of the FMU is nan"), (5, "fatal error")]
)
def test_fmus_that_fail_end_a_run_in_words(how, words, interface):
    with pytest.raises(ts.RunError, match=rf"fmu 'f': .*{words}"):
        ts.simulate(bad(how, interface), 1.0, outputs=2)


def test_a_call_that_never_ends_ends_the_run():
    with pytest.raises(ts.RunError, match=r"fmu 'f': a call into the FMU did not end within 0.2 s"):
        ts.simulate(bad(4, COUPLED, timeout=0.2), 1.0, outputs=2)


def test_an_fmu_without_a_capability_says_so():
    assert (
        abs(
            ts.simulate(alone("bounce", capable=False, interface=COUPLED), 1.0, outputs=2)["f.height"][-1] - bounce(1.0)
        )
        < 1e-9
    )
    with pytest.raises(ts.RunError, match=r"cannot save its state \(canGetAndSetFMUstate\).*co-simulation"):
        ts.simulate(alone("bounce", capable=False, interface=EXCHANGED), 1.0, outputs=2)


def refused(match, path=None, **options):
    model = ts.Model("m")
    with pytest.raises(ts.ModelError, match=match):
        model.add(ts.FMU("f", path or small_fmu("lag"), **options))


def test_what_does_not_fit_is_refused_by_name(tmp_path):
    refused("fmu 'f': input 'uu' is none of the FMU. Did you mean 'u'", inputs={"uu": 1.0})
    refused("fmu 'f': output 'z' is none of the FMU. Known: y", outputs=["z"])
    refused("fmu 'f': parameter 'T' must be a number, got 'long'", parameters={"T": "long"})
    refused("has 'co-simulation' and 'model exchange', got 'both'", interface="both")
    refused("step must be a positive number of seconds, got -1", step=-1)
    refused("extrapolation must be 0, 1 or 2, got 3", extrapolation=3)
    refused("input 'u': unknown signal 'speed'", inputs={"u": "speed"})
    refused("cannot be read: No such file", path=tmp_path / "none.fmu")
    (tmp_path / "text.fmu").write_text("text")
    refused("is no FMU: it is no zip archive", path=tmp_path / "text.fmu")
    with zipfile.ZipFile(small_fmu("lag")) as given, zipfile.ZipFile(tmp_path / "other.fmu", "w") as made:
        made.writestr("modelDescription.xml", given.read("modelDescription.xml"))
        made.writestr("binaries/aarch64-none/lag.so", b"")
    refused("has no binary for this platform.*It has binaries for: aarch64-none", path=tmp_path / "other.fmu")
    with pytest.raises(ts.ModelError, match="export_fmu: fmu 'f' is a program of its own"):
        ts.export_fmu(alone("lag"), tmp_path / "again.fmu")
    with pytest.raises(ts.ModelError, match="fmu 'f': an FMU is a file of its own"):
        ts.save_component(alone("lag"), tmp_path / "part")
