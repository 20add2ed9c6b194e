"""Every registered element: added with active=False it changes nothing, in a run and in what is told about a model."""

import warnings

import numpy as np
import pytest
from scenes import scene

import torsor as ts

KINDS = {
    key: cls
    for kind in ("joint", "constraint", "force", "rule")
    for key, cls in ts.registered(kind).items()
    if cls.variants
}


def motion(cls=None):
    """The scene after a while under loads of every direction, with one element that is inactive, or without."""
    model, offered = scene()
    for name, force in (("first", (8.0, -20.0, -40.0)), ("second", (-30.0, 5.0, -10.0))):
        model.add(ts.PointForce(f"pull_{name}", offered[name], force=force, point=(0.3, 0.7, -0.4)))
    if cls is not None:
        element = model.add(cls.examples(offered)[0], active=False)
        assert element.inactive
    data = ts.simulate(model, 0.4, outputs=1, formulation="absolute", method="rkmk4", step=0.05)
    return np.concatenate([data[name].values[-1].ravel() for name in ("position", "rotation", "velocity")])


@pytest.fixture(scope="module")
def without():
    return motion()


@pytest.mark.parametrize("key", KINDS)
def test_an_inactive_element_changes_nothing(key, without):
    np.testing.assert_allclose(motion(KINDS[key]), without, rtol=0, atol=1e-12)


def rubbing_loop(engaged=False):
    """A planar four-bar of spatial hinges, whose reactions are not unique, with inactive friction that depends on them."""
    model = ts.Model("loop", gravity=(0, 0, -9.81))
    points = [(0, 0, 0), (0.1, 0, 1), (1.2, 0, 1.1), (1, 0, 0)]
    places = zip(points, points[1:])
    bodies = [
        model.body(f"b{k}", mass=1, inertia=(0.1, 0.1, 0.1), at=np.mean(ends, 0)) for k, ends in enumerate(places)
    ]
    ends = [model.ground, *bodies, model.ground]
    for k, point in enumerate(points):
        hinge = model.add(ts.Revolute(f"h{k}", ends[k], ends[k + 1], point=point, axis="y"))
        friction = model.add(ts.Friction(f"rub{k}", hinge, coefficient=0.1, radius=0.02), active=False)
    if engaged:
        model.when(ts.time >= 0.05, ts.engage(friction))
    return model


@pytest.mark.parametrize("run", [ts.simulate, ts.study], ids=["simulate", "study"])
def test_friction_that_never_acts_is_not_doubted(run):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(rubbing_loop(), 0.1, outputs=2)
    with pytest.warns(ts.AccuracyWarning, match=r"friction 'rub3': its load is the reaction"):
        run(rubbing_loop(engaged=True), 0.1, outputs=2)


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz", "hierarchical"])
def test_points_of_inactive_constraints_do_not_change_the_size_of_a_model(formulation):
    """Else a small mechanism would be judged by the size of something far off, and lose constraints as rounding."""
    small, far = rubbing_loop(), rubbing_loop()
    far.add(ts.Distance("off", far.ground, far.bodies[1], points=((1e8, 0, 0), (1e8, 2e7, 3e7))), active=False)
    one, two = (ts.simulate(model, 0.1, outputs=2, formulation=formulation) for model in (small, far))
    for name in ("model_length", "degrees_of_freedom", "redundant_constraints"):
        assert one.attrs[name] == two.attrs[name]
    np.testing.assert_allclose(one.position.values, two.position.values, rtol=0, atol=1e-9)
