"""A component travels as a file: saved by its author, checked, used in a row and tested by somebody without its source.

python examples/component_in_a_file.py
"""

import numpy as np

import torsor as ts


def leg(stiffness=4e4):
    """A foot on the ground's spring and a column on it: the author's secret."""
    model = ts.Model("leg")
    k = model.parameter("stiffness", stiffness, positive=True)
    foot = model.body("foot", inertia=ts.inertia.cylinder(3.0, 0.1, 0.05), at=(0, 0, 0.1))
    column = model.body("column", inertia=ts.inertia.cylinder(8.0, 0.03, 0.6), at=(0, 0, 0.5))
    slide = model.add(ts.Prismatic("slide", foot, column, axis=(0, 0, 1)))
    model.add(ts.TorsionSpring("spring", slide, stiffness=k, damping=300.0))
    model.expose("foot", foot)
    model.expose("head", column.frame((0, 0, 0.3)))
    return model


# the author
ts.testing.assert_momentum(leg(), 0.2)
ts.save_component(leg(), "leg.tsc")

# somebody else, who has the file
for what, several in ts.interface("leg.tsc").items():
    print(what, several)
part = ts.load_component("leg.tsc", like={"ports": {"foot": "body", "head": "frame of a body"}})
ts.testing.assert_placement(part, 0.2)

table = ts.Model("table", gravity=(0, 0, -9.81))
top = table.body("top", mass=120.0, inertia=(20.0, 20.0, 40.0), at=(0, 0, 0.85))
corners = np.array([(0.6, 0.6), (-0.6, 0.6), (-0.6, -0.6), (0.6, -0.6)])
places = np.column_stack([corners, np.zeros(4)])
legs = table.include("leg", part, count=4, at=places, stiffness=5e4)
for k, one in enumerate(legs):
    table.add(ts.Fixed(f"floor{k}", table.ground, one.foot, point=places[k]))
    table.add(ts.Spherical(f"corner{k}", top, one.head.body, frames=(top.frame((*corners[k], -0.05)), one.head)))
data = ts.simulate(table, 5.0)
sinks = 0.85 - data.position.sel(body="top", axis="z")[-1].item()
expected = 9.81 * (120.0 + 4 * 8.0) / (4 * 5e4)  # what stands on the springs, over their stiffness
print(f"the top sinks by {1e3 * sinks:.4f} mm, as {1e3 * expected:.4f} mm from its weight")
assert abs(sinks - expected) < 1e-8
