"""A row of equal components is what the same components are that are included one by one."""

import pickle

import numpy as np
import pytest
from test_light_description import calls

import torsor as ts
from torsor.cases import car
from torsor.errors import ModelError
from torsor.formulations.fingerprint import fingerprint


def cell(symbols=True):
    """Two bodies with a spring; mass and stiffness are parameters, or numbers."""
    model = ts.Model("cell")
    k, m = (model.parameter("k", 30.0, positive=True), model.parameter("m", 2.0)) if symbols else (30.0, 2.0)
    a = model.body("a", mass=m, inertia=(0.1, 0.2, 0.2), velocity=(0, 0.3, 0))
    b = model.body("b", mass=1.0, inertia=(0.1, 0.2, 0.2), at=(0.5, 0, 0))
    hinge = model.add(ts.Revolute("hinge", a, b, point=(0.25, 0, 0), axis=(0, 1, 0), start_rate=0.4))
    model.add(ts.SpringDamper("spring", a, b, points=((0, 0, 0.1), (0.5, 0, 0.1)), stiffness=k))
    model.expose("a", a)
    model.expose("end", b.frame((0.1, 0, 0)))
    model.expose("hinge", hinge)
    model.expose("angle", hinge.coordinate)
    return model


def one_by_one(component, places, rotations, parameters):
    model = ts.Model("m", gravity=(0, 0, -1))
    for k, (at, rotation, given) in enumerate(zip(places, rotations, parameters)):
        model.include(f"cell{k}", component, at=at, rotation=rotation, **given)
    return model


def row(component, **given):
    model = ts.Model("m", gravity=(0, 0, -1))
    return model, model.include("cell", component, **given)


PLACES = np.array([[1.0 + 2 * k, 0, 0.5 * k] for k in range(4)])
TURN = (0.1, 0.2, 0.3)


@pytest.mark.parametrize("symbols", [False, True])
@pytest.mark.parametrize("given", [
    {"at": PLACES}, {"at": PLACES.tolist()}, {"at": lambda k: (1 + 2 * k, 0, 0.5 * k)}, {"at": (1, 0, 0), "pitch": (2, 0, 0.5)},
    {"at": lambda k: (1, 0, 0), "pitch": (2, 0, 0.5)},
], ids=range(5))  # fmt: skip
def test_places_may_be_an_array_a_function_or_a_pitch(given, symbols):
    model, instances = row(cell(symbols), count=4, rotation=TURN, **given)
    same = one_by_one(cell(symbols), PLACES, [TURN] * 4, [{}] * 4)
    assert [x.name for x in instances] == ["cell0", "cell1", "cell2", "cell3"]
    assert fingerprint(model, {}) == fingerprint(same, {})


def test_rotations_and_parameters_may_differ_along_the_row():
    turns = [(0, 0, 0.1 * k) for k in range(4)]
    stiffness, mass = [1.0, 2.0, 3.0, 4.0], lambda k: 1.0 + k
    model, _ = row(cell(), count=4, at=PLACES, rotation=turns.__getitem__, k=stiffness, m=mass)
    same = one_by_one(cell(), PLACES, turns, [{"k": stiffness[k], "m": mass(k)} for k in range(4)])
    assert fingerprint(model, {}) == fingerprint(same, {})
    assert not model.parameters


def test_a_parameter_of_the_model_around_may_be_that_of_the_whole_row():
    model = ts.Model("m")
    k = model.parameter("k", 5.0)
    model.include("cell", cell(), count=3, pitch=(0, 0, k), k=k)
    assert list(model.parameters) == ["k", "cell0.m", "cell1.m", "cell2.m"]


def test_ports_of_a_row_are_those_of_its_instances():
    model, instances = row(cell(), count=3, pitch=(1, 0, 0))
    for k, instance in enumerate(instances):
        assert instance.a is model[f"cell{k}.a"] and instance.hinge is model[f"cell{k}.hinge"] is instance["hinge"]
        assert instance.end is instance.end and instance.end.body is model[f"cell{k}.b"]
        assert model.knows(instance.angle)
    assert instances[1] is model["cell1"]
    twin = pickle.loads(pickle.dumps(model))
    assert twin["cell1"].end.body is twin["cell1.b"] and twin["cell2"]["spring"] is twin["cell2.spring"]


def test_a_row_of_cars_costs_a_few_calls_for_each_body():
    """The components of a component are not opened again: what its copies share is found once."""
    component = car.car()
    build = lambda n: ts.Model("row").include("car", component, count=n, pitch=(0, 5, 0))
    build(2)
    few, more, most = (calls(build, n) for n in (10, 20, 100))
    assert most - more == pytest.approx(8 * (more - few), rel=0.02)
    assert (most - more) / (80 * len(component.bodies)) < 150


@pytest.mark.parametrize("count", [0, -1, 2.0, "3", True, [1]])
def test_a_count_is_a_positive_whole_number(count):
    with pytest.raises(ModelError, match="instances 'cell': count must be a whole number from 1 to 1000000, got"):
        row(cell(), count=count)


@pytest.mark.parametrize(("given", "words"), [
    ({"at": PLACES}, "instances 'cell': at has 4 rows for 3 instances; give one for each"),
    ({"k": [1.0, 2.0]}, "instances 'cell': k has 2 rows for 3 instances"),
    ({"at": [(0, 0), (1, 0), (2, 0)]}, "instance 'cell0': at must be 3 numbers"),
    ({"at": lambda k: (0, 0, 1 / (1 - k))}, "instance 'cell1': at cannot be found from its index: ZeroDivisionError"),
    ({"rotation": lambda k: "up" if k == 2 else None}, "instance 'cell2': rotation"),
    ({"pitch": (1, 0)}, "instances 'cell': pitch must be 3 numbers"),
    ({"k": lambda k: -k}, "parameter 'cell0.k': must be positive, got"),
    ({"stiffness": 3.0}, "instance 'cell': unknown parameter 'stiffness' of 'cell'. Known: k, m."),
])  # fmt: skip
def test_what_does_not_fit_is_refused_and_nothing_of_the_row_stays(given, words):
    model = ts.Model("m")
    with pytest.raises(ModelError, match=words):
        model.include("cell", cell(), count=3, **given)
    assert (list(model._names), model.bodies, model.forces, model.parameters) == (["ground"], [], [], {})


def test_a_pitch_needs_a_count_and_names_must_be_free():
    model = ts.Model("m")
    with pytest.raises(
        ModelError, match="instance 'cell': pitch is the way from one of a row to the next: give `count`"
    ):
        model.include("cell", cell(), pitch=(1, 0, 0))
    model.body("cell2", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(ModelError, match="instance 'cell2': model 'm' has something of that name already"):
        model.include("cell", cell(), count=4, pitch=(1, 0, 0))
    assert list(model._names) == ["ground", "cell2"]


def test_each_of_a_row_moves_as_the_first():
    model, instances = row(cell(), count=3, pitch=(0, 1, 0))
    data = ts.simulate(model, 0.2, outputs=4, tolerance=1e-10)
    for k in (1, 2):
        np.testing.assert_allclose(
            data.position.sel(body=f"cell{k}.b").values - (0, k, 0), data.position.sel(body="cell0.b").values, atol=1e-9
        )
