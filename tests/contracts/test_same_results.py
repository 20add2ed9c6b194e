"""What a user sees does not depend on the formulation: variables, names, multipliers, what is redundant."""

import json

import numpy as np
import pytest

import torsor as ts

FORMS = ("absolute", "relative", "woronetz", "hierarchical")
NAMES = ("three-link", "car", "snakeboard", "slider-crank", "heavy-top")


@pytest.mark.parametrize("name", NAMES)
def test_results_have_the_same_variables_names_and_multipliers(name):
    """At the start, where the states are the same. Rows that are redundant may be chosen differently: then λ is not unique."""
    runs = {f: ts.simulate(ts.cases.load(name), 1e-3, outputs=1, formulation=f) for f in FORMS}
    first = runs.pop("absolute")
    redundant = json.loads(first.attrs["redundant_constraints"])
    for data in runs.values():
        assert set(data.variables) == set(first.variables)
        assert {k: v for k, v in data.sizes.items()} == {k: v for k, v in first.sizes.items()}
        assert data.attrs["redundant_constraints"] == first.attrs["redundant_constraints"]
        assert data.attrs["degrees_of_freedom"] == first.attrs["degrees_of_freedom"]
        if redundant:
            continue
        assert data.constraint.values.tolist() == first.constraint.values.tolist()
        scale = np.abs(first.multiplier.values).max()
        np.testing.assert_allclose(data.multiplier.values, first.multiplier.values, atol=1e-7 * scale)


@pytest.mark.parametrize("name", ["slider-crank", "heavy-top"])
def test_info_tells_the_same_rows_and_the_same_redundancy(name):
    told = [ts.info(ts.cases.load(name), formulation=form) for form in FORMS]
    for what in ("constraint_rows", "redundant", "not_unique", "degrees_of_freedom", "loops", "velocity_level"):
        assert all(info[what] == told[0][what] for info in told), what


def test_impulses_of_joints_that_carry_a_tree_are_not_told():
    """A rod on a hinge falls on a stop: the impulse of the stop is the same in all coordinates, that of the hinge is not known in
    joint coordinates."""
    model = ts.Model("flap", gravity=(0, 0, -9.81))
    rod = model.body("rod", inertia=ts.inertia.rod(1.0, 1.0, axis="x"), at=(0.5, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Limit("stop", hinge, upper=0.3, restitution=0.5))
    one, two = (ts.simulate(model, 0.4, outputs=2, formulation=form) for form in ("absolute", "relative"))
    assert one.constraint.values.tolist() == two.constraint.values.tolist()
    stops = [str(x) for x in one.constraint.values if str(x).startswith("stop")]
    struck = [data.event_impulse.sel(constraint=stops).values for data in (one, two)]
    np.testing.assert_allclose(struck[0], struck[1], rtol=1e-8, atol=1e-9)
    assert np.abs(struck[0]).max() > 0.1
    assert np.isnan(two.event_impulse.sel(constraint="hinge[0]")).all()
    assert np.isfinite(one.event_impulse.sel(constraint="hinge[0]")).all()
