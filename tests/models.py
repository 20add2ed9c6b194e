"""Models that several tests share. Tests add what they need: elements are found by name, as in `model["hinge"]`."""

import numpy as np

import torsor as ts

GRAVITY = (0, 0, -9.81)
FOUR_BAR = ((0, 0, 0), (0.2, 0, 0.5), (1.2, 0, 0.8), (1.0, 0, 0))  # pins of a crank-rocker in the plane of x and z


def compared_cases():
    """Names of the cases whose equations are compared in all formulations: without the machines of many parts and events."""
    known = ts.registered("case")
    return [name for name in ts.cases.names() if known[name].equations]


def pendulum(mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0), axis="y", name="pendulum", body="bob", **start):
    """A body on a revolute joint, `hinge`, at the origin.

    start   arguments of the joint: start, start_rate
    """
    model = ts.Model(name, gravity=GRAVITY)
    bob = model.body(body, mass=mass, inertia=inertia, at=at)
    model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=axis, **start))
    return model


def damped_pendulum(name="pendulum", length=1.0, damping=0.1, body="bob"):
    """A pendulum with a viscous damper whose constant is the parameter `damping`."""
    model = pendulum(at=(length, 0, 0), name=name, body=body)
    damping = model.parameter("damping", damping)
    model.add(ts.EnergyForce("friction", dissipated=damping * model[body].angular_velocity[1] ** 2 / 2))
    return model


def ball(height=1.0, restitution=0.5, mass=1.0, inertia=(0.01, 0.01, 0.01), gravity=GRAVITY, **start):
    """A free body, `ball`, above a floor through the origin, the contact `floor`.

    start   arguments of the body: velocity, angular_velocity
    """
    model = ts.Model("ball", gravity=gravity)
    body = model.body("ball", mass=mass, inertia=inertia, at=(0, 0, height), **start)
    model.add(ts.Contact("floor", model.ground, body, plane=(0, 0, 0), restitution=restitution))
    return model


def four_bar(
    pins=FOUR_BAR, masses=(1, 1, 1), inertia=(0.02, 0.05, 0.04), axis="y", name="four-bar", gravity=GRAVITY, **pin
):
    """Three bodies, `link0` to `link2`, on four revolute joints, `A` to `D`, the first and the last on the ground.

    masses   of the links; inertia: of each, for a mass of 1
    pin      further arguments of joints, by name: A={"start": 0.3}
    """
    model = ts.Model(name, gravity=gravity)
    pins = np.array(pins, float)
    links = [
        model.body(
            f"link{k}", mass=masses[k], inertia=tuple(masses[k] * np.array(inertia)), at=(pins[k] + pins[k + 1]) / 2
        )
        for k in range(3)
    ]
    for k, (first, second) in enumerate(zip([model.ground, *links], [*links, model.ground])):
        joint = "ABCD"[k]
        model.add(ts.Revolute(joint, first, second, point=pins[k], axis=axis, **pin.get(joint, {})))
    return model


def slider_crank(r=0.2, l=0.6, angle=0.0, gravity=GRAVITY):
    """A crank of length r about y, a rod of length l and a piston along x; drawn with the crank at an angle below the x axis."""
    model = ts.Model("slider-crank", gravity=gravity)
    pin = np.array([r * np.cos(angle), 0, -r * np.sin(angle)])
    end = np.array([pin[0] + np.sqrt(l**2 - pin[2] ** 2), 0, 0])
    crank = model.body("crank", mass=1.0, inertia=(0.01, 0.02, 0.02), at=pin / 2)
    rod = model.body("rod", mass=2.0, inertia=(0.01, 0.06, 0.06), at=(pin + end) / 2)
    piston = model.body("piston", mass=1.5, inertia=(0.01, 0.01, 0.01), at=end)
    model.add(ts.Revolute("shaft", model.ground, crank, point=(0, 0, 0), axis="y"))
    model.add(ts.Revolute("pin", crank, rod, point=pin, axis="y"))
    model.add(ts.Revolute("wrist", rod, piston, point=end, axis="y"))
    model.add(ts.Prismatic("bore", model.ground, piston, point=end, axis="x"))
    return model


def double_pendulum(mass=None, length=None):
    """Two bodies on revolute joints `s` and `e`; without values the second mass and the first length are parameters `m`, `l`."""
    model = ts.Model("double", gravity=GRAVITY)
    m = model.parameter("m", 0.8, positive=True) if mass is None else mass
    l = model.parameter("l", 0.5, positive=True) if length is None else length
    a = model.body("a", mass=1.0, inertia=(1e-4, 0.02, 0.02), at=(l / 2, 0, 0))
    b = model.body("b", mass=m, inertia=(1e-4, 0.01, 0.01), at=(l + 0.2, 0, 0))
    model.add(ts.Revolute("s", model.ground, a, point=(0, 0, 0), axis="y"))
    model.add(ts.Revolute("e", a, b, point=(l, 0, 0), axis="y", start=l, start_rate=2 * l))
    return model


def block_on_a_belt():
    """A block that sticks and slips on a belt, on a spring that hardens, so that no method is exact."""
    model = ts.Model("belt", gravity=GRAVITY)
    moving = model.add(ts.Ground("moving", at=(0.4 * ts.time, 0, 0)))
    block = model.body("block", mass=1.2, inertia=(0.1, 0.1, 0.1), velocity=(0.4, 0, 0))
    rail = model.add(ts.Prismatic("rail", moving, block, axis=(1, 0, 0)))
    x = block.position[0]
    model.add(ts.EnergyForce("spring", energy=25 * x**2 + 300 * x**4))
    model.add(ts.Friction("rub", rail, coefficient=0.25, static=0.45))
    return model
