"""A damped pendulum, for runs that are stopped and go on."""

import torsor as ts


def pendulum(name="pendulum", length=1.0, damping=0.1, body="bob"):
    model = ts.Model(name, gravity=(0, 0, -9.81))
    damping = model.parameter("damping", damping)
    bob = model.body(body, mass=1.0, inertia=(0.1, 0.1, 0.1), at=(length, 0, 0))
    model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.EnergyForce("friction", dissipated=damping * bob.angular_velocity[1] ** 2 / 2))
    return model
