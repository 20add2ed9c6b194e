"""A block that sticks and slips, for tests of all kinds."""

import torsor as ts


def belt():
    """Starts to slip, sticks and slips again on a belt, tied by a spring that hardens: no method is exact."""
    model = ts.Model("belt", gravity=(0, 0, -9.81))
    moving = model.add(ts.Ground("moving", at=(0.4 * ts.time, 0, 0)))
    block = model.body("block", mass=1.2, inertia=(0.1, 0.1, 0.1), velocity=(0.4, 0, 0))
    rail = model.add(ts.Prismatic("rail", moving, block, axis=(1, 0, 0)))
    x = block.position[0]
    model.add(ts.EnergyForce("spring", energy=25 * x**2 + 300 * x**4))
    model.add(ts.Friction("rub", rail, coefficient=0.25, static=0.45))
    return model
