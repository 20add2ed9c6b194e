"""A wheel on two wishbones, a loop of four hinges: where it rests under the car's weight, and how it swings about that.

python examples/modes_of_a_suspension.py [picture.png]
"""

import sys

import torsor as ts

model = ts.Model("suspension", gravity=(0, 0, -9.81))
damping = model.parameter("damping", 1800.0)
car = model.body("car", mass=300.0, inertia=(50.0, 50.0, 50.0), at=(0, 0, 0.5))
lower = model.body("lower", inertia=ts.inertia.rod(4.0, 0.4, axis="x"), at=(0.4, 0, 0.2))
upper = model.body("upper", inertia=ts.inertia.rod(3.0, 0.3, axis="x"), at=(0.45, 0, 0.5))
wheel = model.body("wheel", mass=25.0, inertia=(1.0, 1.8, 1.0), at=(0.7, 0, 0.3))
model.add(ts.Prismatic("guide", model.ground, car, axis="z"))
model.add(ts.Revolute("lower_pin", car, lower, point=(0.2, 0, 0.2), axis="y"))
model.add(ts.Revolute("upper_pin", car, upper, point=(0.3, 0, 0.5), axis="y"))
model.add(ts.Revolute("lower_eye", lower, wheel, point=(0.6, 0, 0.2), axis="y"))
model.add(ts.Revolute("upper_eye", upper, wheel, point=(0.6, 0, 0.5), axis="y"))
strut, road = ((0.3, 0, 0.7), (0.45, 0, 0.2)), ((0.7, 0, 0), (0.7, 0, 0.3))
model.add(ts.SpringDamper("strut", car, lower, points=strut, stiffness=4e4, damping=damping, length=0.66))
model.add(ts.SpringDamper("tyre", model.ground, wheel, points=road, stiffness=2e5, damping=100.0, length=0.32))

rest = ts.equilibrium(model)
print(rest, f"\nforce in the lower pin {rest.reactions['lower_pin'][0].round(1)} N")
for value in (0.0, 1800.0):
    print(f"damper {value:g} N s/m:", *ts.linearise(model, at=rest, parameters={"damping": value}).modes, sep="\n  ")
rest.linear.plot().savefig(sys.argv[1] if len(sys.argv) > 1 else "modes.png", dpi=100)
