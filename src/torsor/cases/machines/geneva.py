"""A Geneva drive with four slots: the crank turns steadily, the wheel a quarter turn in each of its revolutions.

    ψ = atan2(a sin φ, a cos φ − c) − ψ₀,   a = c sin(π/4),   |φ| ≤ π/4      (1)

The pin of the crank enters a slot along it, so that neither its entry nor its exit is an impact. While it is outside, the wheel
is locked. Every slot is a point on a plane of the wheel, engaged and released by events.
"""

from math import cos, pi, sin

import casadi as ca

import torsor as ts

from ...registry import register
from ..base import Case

SPACING = 0.1  # c, of the two shafts [m]
ARM = SPACING * sin(pi / 4)  # a, of the pin [m]
SPEED = 2 * pi  # of the crank [rad/s]
ENTRY = (SPACING / 2, -SPACING / 2, 0.0)  # of the pin into a slot


@register("geneva")
class Geneva(Case):
    title = "Geneva drive: slots that the pin enters and leaves, and a lock in between"
    source = "own; closed form"
    until = 4.0
    equations = False

    @staticmethod
    def build():
        model = ts.Model("geneva")
        crank_shape = [
            ts.shapes.cylinder(0.035, 0.01, at=(0, 0, -0.012), colour="steelblue"),
            ts.shapes.box(
                (ARM, 0.012, 0.006),
                at=(ENTRY[0] / 2, ENTRY[1] / 2, -0.012),
                rotation=(0, 0, -pi / 4),
                colour="steelblue",
            ),
            ts.shapes.cylinder(0.005, 0.024, at=ENTRY, colour="red"),
        ]
        slots = [  # angles of their axes at the start, from the wheel's centre outward
            5 * pi / 4 + k * pi / 2 for k in range(4)
        ]
        wheel_shape = [ts.shapes.cylinder(ARM, 0.008, colour="brass")]
        for angle in slots:
            at = (0.65 * ARM * cos(angle), 0.65 * ARM * sin(angle), 0.001)
            wheel_shape.append(ts.shapes.box((0.7 * ARM, 0.011, 0.009), at=at, rotation=(0, 0, angle), colour="black"))
        crank = model.body("crank", mass=0.4, inertia=(3e-4, 3e-4, 3e-4), shape=crank_shape)
        wheel = model.body("wheel", mass=0.3, inertia=(4e-4, 4e-4, 4e-4), at=(SPACING, 0, 0), shape=wheel_shape)
        turn = model.add(ts.Revolute("turn", model.ground, crank, axis="z"))
        index = model.add(ts.Revolute("index", model.ground, wheel, point=(SPACING, 0, 0), axis="z"))
        model.add(ts.Drive("motor", turn, SPEED * ts.time))
        pin = crank.frame(at=ENTRY)
        planes = []
        for k, angle in enumerate(slots):
            frames = (wheel.frame(rotation=(0, 0, angle)), pin)
            slot = ts.PointOnPlane(f"slot{k}", wheel, crank, frames=frames, normal="y")
            planes.append(model.add(slot, active=k == 0))
        lock = model.add(ts.Lock("lock", index), active=False)

        phase = model.modes("phase", *(f"{what}{k}" for k in range(4) for what in ("turning", "resting")))
        for k, plane in enumerate(planes):
            following = (k + 1) % 4
            turning, resting, after = (phase[x] for x in (f"turning{k}", f"resting{k}", f"turning{following}"))
            rest = (ts.release(plane), ts.engage(lock), ts.enter(resting))
            go = (ts.release(lock), ts.engage(planes[following]), ts.enter(after))
            model.when(ts.rising(-ca.cos(turn.coordinate[0])), *rest, name=f"leave{k}", during=turning)
            model.when(ts.rising(ca.sin(turn.coordinate[0])), *go, name=f"enter{following}", during=resting)
        return model
