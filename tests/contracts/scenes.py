"""What elements are tried on: bodies that are placed askew."""

import torsor as ts


def bodies():
    """A model with two bodies."""
    model = ts.Model("scene", hints=False)  # starts by many turns
    first = model.body("first", mass=2.0, inertia=(0.3, 0.4, 0.5), at=(0.1, 0.2, 0.3), rotation=(0.3, -0.5, 0.2))
    second = model.body("second", mass=1.0, inertia=(0.2, 0.3, 0.25), at=(1.0, -0.4, 0.6), rotation=(-0.7, 0.1, 0.4))
    return model, first, second


def scene():
    """A model with two bodies, a joint between them and another one to the ground, by the names under which elements take them."""
    model, first, second = bodies()
    joint = model.add(ts.Revolute("joint", first, second, point=(0.4, 0, 0), axis=(0, 1, 1)))
    other = model.add(ts.Revolute("other", model.ground, first, point=(0, 0.3, -0.3), axis=(0, 1, 1)))
    return model, {"first": first, "second": second, "body": second, "joint": joint, "other": other}
