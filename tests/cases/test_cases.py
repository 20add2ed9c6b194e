"""The library of cases: names, data and options as their sources give them."""

import numpy as np
import pytest

import torsor as ts
from torsor.cases import satellite

BODIES = {
    "satellite-1": ["hull", "base_rod", "slider_rod", "slider"],
    "three-link": ["link1", "link2", "link3"],
    "four-bar": ["crank0", "crank1", "crank2", "coupler0", "coupler1"],
    "platform": ["table1", "table2", "table3"],
    "manipulator": [f"link{k}.{part}" for k in (1, 2, 3) for part in ("motor.housing", "motor.rotor", "beam")],
    "panels": ["hub", *(f"{wing}{k}" for wing in ("right", "left") for k in (1, 2, 3, 4))],
    "snakeboard": ["A", "B", "C", "D"],
    "car": [
        "car_body", *(f"{side}{part}" for side in ("left", "right")
                      for part in (".beam", ".damper.piston", ".damper.cylinder", "_wheel.ring")),
    ],
    "andrews": [f"K{k}" for k in range(1, 8)],
    "bricard": [f"rod{k}" for k in range(1, 6)],
    "booster": ["core", "booster"],
}  # fmt: skip
JOINTS = {
    "satellite-1": ["pivot", "shoulder", "elbow", "slide"],
    "three-link": ["A", "B", "C"],
    "four-bar": ["A0", "A1", "A2", "B0", "C0", "B1", "C1"],
    "platform": ["joint1", "joint2", "joint3"],
    "manipulator": [x for k in (1, 2, 3) for x in (f"link{k}.motor.shaft", f"link{k}.clamp", f"mount{k}")],
    "panels": ["plane", *(f"{wing}_hinge{k}" for wing in ("right", "left") for k in (1, 2, 3, 4))],
    "snakeboard": ["plane", "pin_A", "pin_C", "pin_D"],
    "car": ["guide", *(f"{side}{joint}" for side in ("left", "right")
                       for joint in (".damper.slide", ".foot", "_pivot", "_head", "_axle"))],
    "andrews": ["O", "K1_K2", "P3", "P4", "P6", "K4_K5", "A5", "K6_K7", "A7", "B"],
    "bricard": [f"P{k}" for k in range(6)],
    "booster": ["nose_x", "nose_y", "nose_z"],
}  # fmt: skip
FREEDOM = {
    "satellite-1": 1, "satellite-2": 2, "satellite-3": 1, "three-link": 7, "four-bar": 1, "heavy-top": 3, "free-body": 6,
    "pendulum": 2, "platform": 3, "manipulator": 3, "panels": 11, "snakeboard": 4, "car": 6, "andrews": 1, "bricard": 1,
    "slider-crank": 1, "governor": 4, "cart-pole": 2, "chain": 7, "booster": 9, "train": 21, "bush": 21,
}  # fmt: skip


@pytest.mark.parametrize("case", ts.cases.names())
def test_every_case_runs_as_recommended(case):
    data = ts.simulate(ts.cases.load(case), **ts.cases.recommended(case))
    assert data.attrs["status"] == "finished"
    assert data.time.values[-1] == ts.cases.until(case)
    assert data.attrs["energy_balance_relative"] < 1e-6


@pytest.mark.parametrize("case", ts.cases.names())
def test_every_case_says_what_it_is_and_where_it_comes_from(case):
    line = ts.cases.describe(case)
    assert "\n" not in line and len(line) > 20 and line.endswith(")")


def test_seed_and_benchmark_cases_are_there():
    wanted = (
        "satellite satellite-1 satellite-2 satellite-3 three-link platform manipulator panels snakeboard car booster "
        "pendulum four-bar heavy-top free-body andrews bricard slider-crank governor cart-pole chain train bush"
    )
    assert set(wanted.split()) <= set(ts.cases.names())
    assert ts.cases.names() == sorted(ts.cases.names())


@pytest.mark.parametrize("case", BODIES)
def test_bodies_and_joints_have_their_agreed_names(case):
    model = ts.cases.load(case)
    assert [b.name for b in model.bodies] == BODIES[case]
    connections = [c.name for c in model.constraints if hasattr(c, "placed")]
    assert connections == JOINTS[case]


def test_the_wheels_of_the_snakeboard_have_their_agreed_names():
    model = ts.cases.load("snakeboard")
    assert [c.name for c in model.constraints if not hasattr(c, "placed")] == ["wheel_A", "wheel_C"]


def test_the_events_of_the_booster_have_their_agreed_names():
    model = ts.cases.load("booster")
    assert [event.name for event in model.events] == ["slide", "nozzle", "separation"]
    assert {name: machine.names for name, machine in model.machines.items()} == {
        "stage": ("held", "sliding", "free"), "valve": ("closed", "open"),
    }  # fmt: skip


def test_components_are_reached_by_the_names_of_their_hierarchy():
    car, arm = ts.cases.load("car"), ts.cases.load("manipulator")
    assert car["left"].beam is car["left.beam"] and car["left.damper"].piston is car["left.damper.piston"]
    assert car["right_wheel"].ring is car["right_wheel.ring"]
    assert arm["link2"].beam is arm["link2.beam"] and arm["link2.motor"].rotor is arm["link2.motor.rotor"]


@pytest.mark.parametrize("case", FREEDOM)
def test_degrees_of_freedom_are_those_of_the_mechanism(case):
    data = ts.simulate(ts.cases.load(case), 0.01, outputs=1)
    assert data.attrs["degrees_of_freedom"] == FREEDOM[case]


@pytest.mark.parametrize("case", ts.cases.names())
def test_every_case_starts_where_it_was_told_to(case):
    data = ts.simulate(ts.cases.load(case), 0.01, outputs=1)
    assert data.attrs["start_changes"] == "[]"


def test_a_case_is_built_afresh_every_time():
    assert ts.cases.load("pendulum") is not ts.cases.load("pendulum")


def test_an_unknown_case_lists_the_known_ones():
    with pytest.raises(ts.OptionError, match=r"unknown case 'threelink'.*three-link"):
        ts.cases.load("threelink")
    with pytest.raises(ts.OptionError, match="Known: .*four-bar.*pendulum"):
        ts.cases.until("nothing")


def test_an_unknown_option_lists_the_known_ones():
    with pytest.raises(ts.OptionError, match=r"case 'four-bar': unknown option 'loops'. Known: n\."):
        ts.cases.load("four-bar", loops=3)
    with pytest.raises(ts.OptionError, match=r"unknown option 'n'. Known: none\."):
        ts.cases.load("pendulum", n=3)


@pytest.mark.parametrize("value", [0, -1, 1.5, "two", None, True, float("inf")])
def test_the_number_of_loops_is_a_positive_whole_number(value):
    with pytest.raises(ts.OptionError, match="n must be a whole number, 1 or more"):
        ts.cases.load("four-bar", n=value)


@pytest.mark.parametrize("value", [0, 4, "first"])
def test_the_motion_of_the_satellite_is_one_two_or_three(value):
    with pytest.raises(ts.OptionError, match="motion must be a whole number, 1 to 3"):
        ts.cases.load("satellite", motion=value)


@pytest.mark.parametrize("motion", [1, 2, 3, "2", 3.0])
def test_the_satellite_takes_its_motion_as_an_option(motion):
    assert ts.cases.load("satellite", motion=motion).name == f"satellite-{int(motion)}"


def test_the_sleeve_of_the_satellite_has_the_inertia_its_document_gives():
    """The document's formulas, a composition of four plates, and the difference of two solid prisms are one tensor."""
    m, a, d, length = satellite.M4, satellite.A4, satellite.D3, satellite.L4
    b = (a - d) / 2
    narrow, wide = m * b * d / (a**2 - d**2), m * b * a / (a**2 - d**2)
    Jx = narrow / 6 * (length**2 + b**2 + 3 * (b + d) ** 2) + wide / 6 * (length**2 + a**2)
    Jz = narrow / 6 * (b**2 + d**2 + 3 * (b + d) ** 2) + wide / 6 * (b**2 + a**2 + 3 * (b + d) ** 2)
    sleeve = satellite.sleeve()
    assert sleeve.mass == pytest.approx(m, rel=1e-15)
    np.testing.assert_allclose(sleeve.tensor, np.diag([Jx, Jx, Jz]), rtol=1e-13, atol=1e-15)
    density = m / ((a**2 - d**2) * length)
    outer, bore = (ts.inertia.box(density * w**2 * length, w, w, length).tensor for w in (a, d))
    np.testing.assert_allclose(sleeve.tensor, outer - bore, rtol=1e-13, atol=1e-15)


def test_the_satellite_has_the_inertias_its_document_gives():
    model = ts.cases.load("satellite-1")
    for name, m, d, length in (("hull", 1800.0, 1.6, 2.4), ("base_rod", 80.0, 0.15, 1.5)):
        Jx, Jz = m * d**2 / 16 + m * length**2 / 12, m * d**2 / 8
        np.testing.assert_allclose(np.diag(ts.quantity.numbers(model[name].inertia)), [Jx, Jx, Jz], rtol=1e-14)
    Jx, Jz = 60 * (0.1**2 + 1.5**2) / 12, 60 * 0.1**2 / 6
    np.testing.assert_allclose(np.diag(ts.quantity.numbers(model["slider_rod"].inertia)), [Jx, Jx, Jz], rtol=1e-14)


def test_the_four_bar_starts_as_the_benchmark_says():
    data = ts.simulate(ts.cases.load("four-bar", n=3), 0.01, outputs=1)
    start = data.isel(time=0)
    tips = start.position.sel(body=["coupler0", "coupler1", "coupler2"]).values
    np.testing.assert_array_equal(tips, [[0.5, 1, 0], [1.5, 1, 0], [2.5, 1, 0]])
    np.testing.assert_array_equal(start.velocity.sel(body="coupler1").values, [1, 0, 0])


def test_the_joints_of_the_three_link_do_what_the_built_in_ones_do():
    """Composed of points on planes and forbidden rotations, or as ball and hinge: one mechanism."""
    composed = ts.cases.load("three-link")
    built_in = ts.Model("three-link-built-in", gravity=(0, -9.81, 0))
    links = [
        built_in.body(
            f"link{k}", mass=1.0, inertia=(0.013, 0.083, 0.083), at=(k - 0.5, 0, 0), velocity=(0, 0, 1 - 2.0 * k),
            angular_velocity=(0, 2, 0),
        )
        for k in (1, 2, 3)
    ]  # fmt: skip
    built_in.add(ts.Spherical("A", built_in.ground, links[0], point=(0, 0, 0)))
    built_in.add(ts.Spherical("B", links[0], links[1], point=(1, 0, 0)))
    built_in.add(ts.Revolute("C", links[1], links[2], point=(2, 0, 0), axis=(0, 0, 1)))
    runs = [ts.simulate(model, 3.0, outputs=30, tolerance=1e-12) for model in (composed, built_in)]
    for name in ("position", "rotation", "coordinate"):
        assert np.abs(runs[0][name].values - runs[1][name].values).max() < 1e-8  # chaotic: 1e-12 grows within 3 s
    at_start = np.abs(runs[0].reaction_force.values[0] - runs[1].reaction_force.values[0])
    assert at_start.max() < 1e-12 * np.abs(runs[0].reaction_force.values).max()
