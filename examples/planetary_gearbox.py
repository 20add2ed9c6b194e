"""A planetary gearbox: the sun drives, the ring is held, the carrier turns slowly; against Willis' equation.

The planet is a body with an inertia of its own, on a pin of the carrier; gears connect it to the sun and to the ring.

    python examples/planetary_gearbox.py
"""

import torsor as ts

teeth = {"sun": 24, "planet": 18, "ring": 60}
model = ts.Model("gearbox")
sun = model.body("sun", inertia=ts.inertia.disk(0.5, 0.048, axis="z"))
carrier = model.body("carrier", inertia=ts.inertia.disk(1.0, 0.09, axis="z"))
planet = model.body("planet", inertia=ts.inertia.disk(0.3, 0.036, axis="z"), at=(0.084, 0, 0))
on_sun = model.add(ts.Revolute("input", model.ground, sun, axis="z"))
on_carrier = model.add(ts.Revolute("output", model.ground, carrier, axis="z"))
pin = model.add(ts.Revolute("pin", carrier, planet, axis="z"))
model.add(ts.Gear("sun_planet", on_sun, pin, teeth=(teeth["sun"], teeth["planet"]), carrier=on_carrier))
model.add(ts.Gear("planet_ring", pin, on_carrier, ratio=-teeth["ring"] / teeth["planet"]))  # the ring is held
model.add(ts.JointForce("motor", on_sun, 0.2))

data = ts.simulate(model, 1.0)
rate = dict(zip(data.joint_coordinate.values, data.rate.values[-1]))
ratio = rate["input"] / rate["output"]
print(f"input {rate['input']:.2f} rad/s, output {rate['output']:.2f} rad/s, ratio {ratio:.6f} (Willis: {1 + 60 / 24})")
assert abs(ratio - (1 + teeth["ring"] / teeth["sun"])) < 1e-9
