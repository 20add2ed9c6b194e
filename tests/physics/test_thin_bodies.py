"""Bodies of any shape on a free joint anywhere move alike in all coordinates: how thin they are, and where the joint is, costs
no digits."""

import numpy as np
import pytest

import torsor as ts


def rod(thin, far, backward=False, carried=False):
    """A rod on a free joint, turned by a torque in its own axes; carried: on a body that turns itself."""
    model = ts.Model("rod", gravity=(0, 0, -9.81))
    first = model.ground
    if carried:
        first = model.body("table", mass=3.0, inertia=(0.4, 0.5, 0.6), at=(0.2, -0.1, 0.3))
        model.add(ts.Revolute("axle", model.ground, first, point=(0, 0, 0), axis=(1, 2, 0.5), start_rate=1.5))
    inertia = ts.inertia.box(2.0, 1.0, thin, 0.7 * thin)
    body = model.body("rod", inertia=inertia, at=(0.4, 0.3, -0.2), rotation=(0.5, -0.8, 1.1))
    ends = (body, first) if backward else (first, body)
    model.add(ts.Free("flight", *ends, point=(0.4 + far, 0.3 - 2 * far, 0.7 * far)))
    twist = 2.0 * thin**2 * np.array([0.3, 0, 0]) + [0, 0.2, -0.1]
    model.add(ts.Torque("torque", body, torque=tuple(twist), axes="body"))
    return model


@pytest.mark.parametrize(
    "way", [{}, {"backward": True}, {"carried": True}, {"backward": True, "carried": True}], ids=str
)
@pytest.mark.parametrize("thin", [1e-4, 1e-2, 0.3])
def test_a_thin_rod_on_a_far_free_joint_moves_as_in_absolute_coordinates(way, thin):
    for far in (0.0, 0.5, 20.0):
        one, *others = (
            ts.simulate(rod(thin, far, **way), 1.0, outputs=4, formulation=x, tolerance=1e-10, certify=True)
            for x in ("absolute", "relative", "woronetz")
        )
        for other in others:
            error = sum(float(data.motion_error.max()) for data in (one, other))
            off = np.abs(one.rotation.values - other.rotation.values).max()
            assert off <= 1e-9 + 10 * error, (other.attrs["formulation"], far, off, error)
