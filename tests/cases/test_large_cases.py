"""Train and bush: their components alone, the laws of the whole, and the same motion by classes as in absolute coordinates."""

import numpy as np
import pytest

import torsor as ts
from torsor.cases import bush, train
from torsor.formulations.tables.numeric_system import NumericSystem
from torsor.prepare import large_systems

RUN = {"outputs": 5, "tolerance": 1e-10}
CAR = train.BODY_DATA + 2 * train.FRAME + 4 * (train.ARM + train.AXLE)  # mass of a car


@pytest.mark.parametrize("case", ["train", "bush"])
def test_by_classes_they_move_as_in_absolute_coordinates(case, monkeypatch):
    model = ts.cases.load(case, n=2)
    exact = ts.simulate(model, 0.4, formulation="absolute", **RUN)
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "0")
    assert large_systems.system_of(model, "hierarchical", {}) is not None
    table = ts.simulate(ts.cases.load(case, n=2), 0.4, formulation="hierarchical", **RUN)
    ts.testing.assert_same_motion(table, exact, within=1e-8)
    assert table.attrs["degrees_of_freedom"] == exact.attrs["degrees_of_freedom"] == 14
    assert table.attrs["position_drift_max"] < 1e-11


def turned(n, rotation):
    """A bush whose segments are turned."""
    model = ts.Model("bush", gravity=(0, 0, -9.81))
    segments = model.include("segment", bush.segment(), count=n, pitch=(0, 0, -bush.LENGTH), rotation=rotation)
    for k, part in enumerate(segments):
        above = segments[k - 1].bottom if k else model.ground
        model.add(ts.Spherical(f"joint{k}", above, part.top, point=(0, 0, -bush.LENGTH * k)))
    return model


def sizes_of(model):
    """How many classes of links, rows, forces and joins there are."""
    plain = NumericSystem(model)
    return [len(x) for x in (plain.links[2], plain.rows[0], plain.force_classes[0], plain.joins[1])]


@pytest.mark.parametrize("step", [np.pi / 2, 2 * np.pi / 3, 0.7])
def test_turned_components_share_code_whatever_rounding_leaves_of_zeros(step):
    rotation = lambda k: (0, 0, step * k)
    assert sizes_of(turned(8, rotation)) == sizes_of(turned(24, rotation))
    if step == np.pi / 2:
        assert sizes_of(turned(24, rotation)) == sizes_of(bush.bush(24))  # which is turned exactly


def test_turned_components_of_one_class_move_as_in_absolute_coordinates(monkeypatch):
    """The first and the last of a ring are turned alike, but for rounding."""
    arm = ts.Model("arm")
    upper = arm.body("upper", mass=1.0, inertia=(0.1, 0.2, 0.2), at=(0.5, 0, 0))
    lower = arm.body("lower", mass=1.0, inertia=(0.1, 0.2, 0.2), at=(1.5, 0, 0))
    arm.add(ts.Revolute("root", arm.ground, upper, point=(0, 0, 0), axis=(0, 1, 0)))
    arm.add(ts.Revolute("knee", upper, lower, point=(1, 0, 0), axis=(0, 1, 0)))
    arm.add(ts.SpringDamper("spring", arm.ground, lower, stiffness=9.0, points=((0, 0, 1), (1, 0, 0))))
    model = ts.Model("ring", gravity=(0, 0, -9.81))
    model.include("arm", arm, count=5, rotation=lambda k: (0, 0, np.pi / 2 * k))
    exact = ts.simulate(model, 0.3, formulation="absolute", **RUN)
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "0")
    table = ts.simulate(model, 0.3, formulation="hierarchical", **RUN)
    ts.testing.assert_same_motion(table, exact, within=1e-8)


@pytest.mark.parametrize(("case", "n"), [("train", 8), ("bush", 20)])
def test_large_ones_are_run_by_classes(case, n):
    model = ts.cases.load(case, n=n)
    assert large_systems.system_of(model, "hierarchical", {}) is not None
    data = ts.testing.assert_energy_balance(model, 0.2, formulation="hierarchical", **RUN)
    ts.testing.assert_no_drift(data)
    assert data.attrs["degrees_of_freedom"] == 7 * n


def test_the_centre_of_mass_of_a_train_follows_its_pull():
    model = ts.cases.load("train", n=3)
    data = ts.simulate(model, 1.0, **RUN)
    masses = np.array([float(body.mass) for body in model.bodies])
    assert masses.sum() == pytest.approx(3 * CAR)
    centre = data.position.sel(axis="x").values @ masses / masses.sum()
    np.testing.assert_allclose(centre - centre[0], train.PULL * data.time.values**2 / (2 * 3 * CAR), atol=1e-9)
    first, last = (data.position.sel(body=f"car{k}.body", axis="x").values[-1] + train.PITCH * k for k in (0, 2))
    assert first > last + 0.01  # the couplings are stretched


def test_a_car_stands_on_its_springs_and_the_rails_carry_it():
    data = ts.testing.assert_no_drift(train.car(), 0.5, **RUN)
    assert np.abs(data.position.values - data.position.values[0]).max() < 1e-9
    rails = [f"{a}.{b}_rail" for a in ("front", "rear") for b in ("front", "rear")]
    weight = data.reaction_force.sel(joint=rails, axis="z").values
    np.testing.assert_allclose(weight, CAR * train.GRAVITY / 4, rtol=1e-9)


def test_a_bogie_under_the_load_of_its_springs_stands_still():
    half = {"frame": (0, 0, -train.GRAVITY * train.BODY_DATA / 2)}
    model = ts.testing.bench(train.bogie(), loaded=half, gravity=(0, 0, -train.GRAVITY))
    data = ts.testing.assert_no_drift(model, 0.5, **RUN)
    assert data.attrs["degrees_of_freedom"] == 3
    assert np.abs(data.position.values - data.position.values[0]).max() < 1e-9
    ts.testing.assert_placement(train.bogie(), 0.2)


@pytest.mark.parametrize("side", [-1, 1])
def test_a_suspension_swings_as_the_pendulum_that_it_is(side):
    """Its axle held, the arm starts level: m g r = (J + m r²) α."""
    model = ts.testing.bench(train.suspension(side), held=["axle"], gravity=(0, 0, -9.81))
    data = ts.testing.assert_energy_balance(model, 0.3, **RUN)
    turned = side * data.angular_acceleration.sel(body="part.arm", axis="y").values[0]
    assert turned == pytest.approx(-80 * 9.81 * 0.3 / (3.0 + 80 * 0.3**2), rel=1e-12)
    ts.testing.assert_momentum(train.suspension(side), 0.2)


def test_a_segment_of_the_bush_obeys_the_laws_of_every_component():
    """Free, nothing but gravity acts on it; its loop leaves one degree of freedom."""
    data = ts.testing.assert_momentum(bush.segment(), 0.3)
    assert data.attrs["degrees_of_freedom"] == 6 + 1 + 3
    ts.testing.assert_formulations_agree(ts.testing.bench(bush.segment(), held=["top"]), 0.3)
    ts.testing.assert_placement(bush.segment(), 0.2)


@pytest.mark.parametrize("case", ["train", "bush"])
@pytest.mark.parametrize("n", [0, -3, 1.5, "long"])
def test_the_number_of_parts_is_a_positive_whole_number(case, n):
    with pytest.raises(ts.OptionError, match=f"case '{case}': n must be a whole number, 1 or more"):
        ts.cases.load(case, n=n)
