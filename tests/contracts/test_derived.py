"""What is derived from a model is derived once, whatever its parameters are; the start follows the values."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from models import double_pendulum

import torsor as ts
from torsor import kernels
from torsor.formulations.graphs.outputs import Outputs, layout
from torsor.prepare import derivation, prepare

FORMULATIONS = ["absolute", "relative", "woronetz"]


def four_bar(size=None):
    """A planar loop whose crank has a length of its own choice; equal sides make every hinge but one redundant in part."""
    model = ts.Model("loop", gravity=(0, 0, -9.81))
    c = model.parameter("c", 0.4, positive=True) if size is None else size
    bars = [model.body(n, mass=1.0, inertia=(0.01, 0.01, 0.01), at=p) for n, p in
            (("crank", (0, 0, c / 2)), ("rod", (0.5, 0, c)), ("rocker", (1, 0, c / 2)))]  # fmt: skip
    points = [(0, 0, 0), (0, 0, c), (1, 0, c), (1, 0, 0)]
    ends = [model.ground, *bars, model.ground]
    for k, point in enumerate(points):
        model.add(ts.Revolute(f"h{k}", ends[k], ends[k + 1], point=point, axis=(0, 1, 0)))
    model.add(ts.Drive("turn", model["h0"], 0.5 * model.time))
    return model


@pytest.fixture
def counted(monkeypatch):
    """How often equations were derived, and how many entries were written to the cache."""
    counts = {"derived": 0, "stored": 0}
    for cls in ts.registered("formulation").values():

        def made(self, model, *rest, _init=cls.__init__):
            counts["derived"] += 1
            _init(self, model, *rest)

        if "__init__" in vars(cls):
            monkeypatch.setattr(cls, "__init__", made)
    store = kernels.cache.store

    def kept(*arguments):
        counts["stored"] += 1
        return store(*arguments)

    monkeypatch.setattr(kernels.cache, "store", kept)
    return counts


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("build, values", [(double_pendulum, ("l", "m")), (four_bar, ("c",))])
def test_new_values_derive_and_store_nothing(build, values, formulation, counted):
    model = build()
    ts.simulate(model, 0.05, outputs=2, formulation=formulation)
    counted.update(derived=0, stored=0)
    for k in range(4):
        ts.simulate(model, 0.05, outputs=2, formulation=formulation, parameters=dict.fromkeys(values, 0.6 + 0.01 * k))
    assert counted == {"derived": 0, "stored": 0}


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("build, name", [(double_pendulum, "l"), (four_bar, "c")])
def test_a_second_model_of_the_same_description_derives_nothing(build, name, formulation, counted):
    """As a second process would: nothing is in memory, everything is on the disk."""
    ts.simulate(build(), 0.05, outputs=2, formulation=formulation)
    counted.update(derived=0, stored=0)
    ts.simulate(build(), 0.05, outputs=2, formulation=formulation, parameters={name: 0.61})
    assert counted == {"derived": 0, "stored": 0}


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("build, name", [(double_pendulum, "length"), (four_bar, "size")])
def test_a_value_means_what_the_same_number_means(build, name, formulation):
    """Start and motion with a parameter are those of a model that has the number in its place."""
    options = {"until": 0.3, "outputs": 5, "formulation": formulation, "tolerance": 1e-11}
    with_parameters = build()
    for value in (0.45, 0.7):
        one = ts.simulate(with_parameters, **options, parameters={name[0] if build is double_pendulum else "c": value})
        two = ts.simulate(build(**{name: value}), **options)
        for what in ("position", "rotation", "velocity", "coordinate", "rate"):
            np.testing.assert_allclose(one[what].values, two[what].values, atol=2e-9, err_msg=what)


def test_a_value_that_changes_the_degrees_of_freedom_is_noticed():
    """Four points of a rod on two hinges: with both hinges on one axis a door, else a structure that cannot move."""
    model = ts.Model("door", gravity=(0, 0, -9.81))
    tilt = model.parameter("tilt", 0.0)
    leaf = model.body("leaf", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    model.add(ts.Revolute("low", model.ground, leaf, point=(0, 0, -1), axis=(0, 0, 1)))
    model.add(ts.Revolute("high", model.ground, leaf, point=(0, 0, 1), axis=(tilt, 0, 1)))
    for value, freedom in ((0.0, 1), (0.3, 0), (0.0, 1)):
        assert ts.info(model, parameters={"tilt": value})["degrees_of_freedom"]["generic"] == freedom


def test_signals_of_a_call_are_told_apart_by_what_they_say():
    """Expressions that come and go may be given the same place in memory."""
    model = double_pendulum()
    for k in range(30):
        data = ts.simulate(model, 0.01, outputs=1, signals={"s": k * model["b"].position[0] + k})
        np.testing.assert_allclose(data.s.values, k * data.position.sel(body="b", axis="x").values + k, atol=1e-12)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_new_values_of_a_model_with_events_derive_and_store_nothing(formulation, counted):
    """Structures that were met before are diagnosed anew for every value, and compiled once."""
    model = ts.Model("bounce", gravity=(0, 0, -9.81))
    height = model.parameter("height", 0.4)
    ball = model.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, height))
    model.add(ts.Contact("floor", model.ground, ball, point=(0, 0, height), plane=(0, 0, 0), normal=(0, 0, 1)))
    ts.simulate(model, 1.0, outputs=5, formulation=formulation)
    counted.update(derived=0, stored=0)
    for k in range(3):
        value = 0.3 + 0.05 * k
        data = ts.simulate(model, 1.0, outputs=5, formulation=formulation, parameters={"height": value})
        assert data.event_time.values[0] == pytest.approx(np.sqrt(2 * value / 9.81), abs=1e-9)
    assert counted == {"derived": 0, "stored": 0}


@pytest.mark.parametrize("case", ["four-bar", "car", "booster"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_layout_of_results_is_known_before_they_are_derived(case, formulation):
    model = ts.cases.load(case)
    dynamics = ts.compile(model, formulation=formulation)
    f = dynamics.formulation_object
    assert Outputs(f, model.signals).layout == layout(model, len(f.all_rows.rows), model.signals)


def test_starts_in_memory_are_limited():
    model = double_pendulum()
    for k in range(70):
        ts.info(model, formulation="absolute", parameters={"m": 0.5 + 0.01 * k})
    told = derivation.derive(model, "absolute", {})
    assert len(told.systems) == 64


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_start_that_is_kept_is_the_start(formulation, tmp_path, monkeypatch):
    """The second model begins from what the first left on the disk, number for number; with another value, from its own."""
    monkeypatch.setenv("TORSOR_CACHE", str(tmp_path))
    found = [prepare.prepare(four_bar(), formulation)[0] for _ in range(2)]
    told = prepare.prepare(four_bar(), formulation, parameters={"c": 0.5})[0]
    monkeypatch.setattr(prepare, "_compute_start", lambda *_: pytest.fail("a start was computed that is kept"))
    found.append(prepare.prepare(four_bar(), formulation)[0])
    for other in found[1:]:
        assert json.dumps(asdict(other)) == json.dumps(asdict(found[0]))
    assert (found[0].p[0], told.p[0]) == (0.4, 0.5)
