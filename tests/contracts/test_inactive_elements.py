"""Every registered element: added with active=False it changes nothing, in a run and in what is told about a model."""

import numpy as np
import pytest
from scenes import scene

import torsor as ts

KINDS = {key: cls for kind in ("joint", "constraint", "force", "rule") for key, cls in ts.registered(kind).items()}


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
