"""A closed loop, for tests of all kinds."""

import numpy as np

import torsor as ts


def four_bar(start=None, name="four-bar"):
    """Three links on four pins A to D, in the plane of x and z: a crank, A, that turns fully, and a rocker.

    start   angles of pins, by name
    """
    model = ts.Model(name, gravity=(0, 0, -9.81))
    places = np.array(((0, 0, 0), (0.2, 0, 0.5), (1.2, 0, 0.8), (1.0, 0, 0)))
    middle = (places[1:] + places[:-1]) / 2
    links = [model.body(f"link{k}", mass=1.0, inertia=(0.02, 0.05, 0.04), at=middle[k]) for k in range(3)]
    chain = [model.ground, *links, model.ground]
    for k, pin in enumerate("ABCD"):
        given = {"start": start[pin]} if start and pin in start else {}
        model.add(ts.Revolute(pin, chain[k], chain[k + 1], point=places[k], axis="y", **given))
    return model
