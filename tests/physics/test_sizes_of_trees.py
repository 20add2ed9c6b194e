"""A tree of any size moves as its copy of size 1, in joint coordinates too, where metres stand beside radians."""

import numpy as np
import pytest

import torsor as ts


def tree(length):
    """A free body on a cylindrical joint, and on it a thin rod that is free: coordinates of both units at one joint."""
    model = ts.Model("tree", gravity=(0, 0, -9.81 * length))
    box = lambda m, x, y, z: ts.inertia.box(m, x * length, y * length, z * length)
    place = lambda *x: tuple(length * np.array(x))
    shaft = model.body("shaft", inertia=box(1.0, 0.3, 0.5, 0.7), at=place(0.5, 0.2, -0.1), rotation=(0.1, 0.4, -0.2))
    plate = model.body("plate", inertia=box(4.0, 1.0, 0.6, 0.2), at=place(1.0, -0.6, 0.4), rotation=(0.7, 0.1, 0.3))
    rod = model.body("rod", inertia=box(5.0, 1.0, 1e-3, 1e-3), at=place(-0.4, 1.2, 0.8), rotation=(0.2, -0.6, 0.5))
    model.add(
        ts.Cylindrical("slide", model.ground, shaft, point=place(0.2, 0, 0), axis=(1, 1, 0), start_rate=(1.0, length))
    )
    model.add(ts.Planar("table", shaft, plate, point=place(0.6, 0, 0.3), axis=(0, 1, 1), start_rate=(0, length, 1.0)))
    model.add(ts.Free("flight", plate, rod, start_rate=(0.5, -1, 2, length, 0, 0)))
    model.add(ts.PointForce("push", rod, force=place(1, 2, 3), point=place(0.1, 1.2, 0.8)))
    return model


def in_units(data, length):
    """Joint accelerations with lengths in units of the model's."""
    return data.coordinate_acceleration.values[0] / np.where(data.coordinate_unit.values == "m", length, 1.0)


@pytest.mark.parametrize("length", [1e-8, 1e-4, 1e4, 1e8])
@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_accelerations_do_not_depend_on_the_unit_of_length(formulation, length):
    run = lambda size: in_units(ts.simulate(tree(size), 1e-3, outputs=[0.0], formulation=formulation), size)
    np.testing.assert_allclose(run(length), run(1.0), rtol=1e-8, atol=1e-8 * np.abs(run(1.0)).max())
