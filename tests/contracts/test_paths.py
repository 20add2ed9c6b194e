"""Every result says which way it ran and why; a reason names the element or the option that decides."""

import pytest

import torsor as ts


def chain(count=4, closed=False):
    """A chain of rods in a plane; closed: its end is connected to the ground."""
    model, before = ts.Model("chain", gravity=(0, 0, -9.81)), None
    for k in range(count):
        rod = model.body(f"rod{k}", inertia=ts.inertia.rod(1.0, 1.0, axis="x"), at=(k + 0.5, 0, 0))
        model.add(ts.Revolute(f"hinge{k}", before or model.ground, rod, point=(k, 0, 0), axis="y"))
        before = rod
    if closed:
        model.add(ts.SpringDamper("spring", model.ground, before, points=((0, 0, 1), (count, 0, 0)), stiffness=10.0))
    return model


def path_of(model, **options):
    data = ts.simulate(model, 0.01, outputs=1, progress=False, **options)
    return data.attrs["path"], data.attrs["path_reason"]


def test_a_small_model_is_one_graph():
    path, reason = path_of(chain())
    assert path == "straight" and "up to 64 bodies" in reason and "4" in reason


@pytest.mark.parametrize(
    "options, culprit",
    [
        ({"method": "radau5"}, "slope"),
        ({"projection": "partition"}, "projection"),
        ({"formulation": "absolute"}, "'absolute'"),
    ],
)
def test_the_option_is_named_for_which_a_large_model_is_one_graph(monkeypatch, options, culprit):
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "2")
    path, reason = path_of(chain(), **options)
    assert path == "straight" and culprit in reason


def test_the_element_is_named_for_which_a_large_model_is_one_graph(monkeypatch):
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "2")
    model = chain()
    model.add(ts.Nonholonomic("sum", sum(model[f"rod{k}"].velocity[2] for k in range(3))))  # of three bodies
    path, reason = path_of(model)
    assert path == "straight" and "'sum'" in reason


def test_a_large_model_runs_through_tables(monkeypatch):
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "2")
    path, reason = path_of(chain(closed=True))
    assert path == "tables" and "4 bodies" in reason


@pytest.mark.parametrize("options, runs, path, why", [
    ({"step": 0.005}, 32, "lanes", "32 runs"),
    ({"step": 0.005}, 3, "batch", "32 runs or more"),
    ({}, 32, "batch", "fixed step"),
])  # fmt: skip
def test_a_study_says_how_it_computes_its_runs(monkeypatch, options, runs, path, why):
    monkeypatch.setenv("TORSOR_LEVEL", "2")  # lanes need compiler optimisation
    model = chain(1)
    torque = model.parameter("torque", 1.0)
    model.add(ts.JointForce("motor", model["hinge0"], torque))
    values = {"torque": [0.1 * k for k in range(runs)]}
    data = ts.study(model, 0.01, parameters=values, outputs=1, progress=False, **options)
    assert data.attrs["path"] == path and why in data.attrs["path_reason"]


def test_a_start_that_tables_do_not_support_runs_as_one_graph(monkeypatch):
    """A given start of a model with loops: "auto" chooses tables for the model's own start only."""
    results = []
    for above in ("64", "2"):
        monkeypatch.setenv("TORSOR_TABLES_ABOVE", above)
        model = chain()
        model.add(ts.Distance("rod", model.ground, model["rod1"], points=((0, 0, 1), (1.5, 0, 0))))
        results.append(ts.simulate(model, 0.01, outputs=1, progress=False, start={"hinge3": 0.3}))
    small, large = results
    assert large.attrs["path"] == "straight" and "`start=`" in large.attrs["path_reason"]
    assert float(abs(large.position - small.position).max()) < 1e-12
