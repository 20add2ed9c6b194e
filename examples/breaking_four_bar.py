"""A four-bar linkage whose crank is driven faster and faster, until the pin between coupler and rocker breaks.

The pin bears 60 N. When it breaks, the loop is gone: one degree of freedom becomes three, and the rocker falls back while
crank and coupler are thrown about. Nothing jumps at that instant: to release a joint changes forces, not velocities.

    python examples/breaking_four_bar.py
"""

import casadi as ca
import numpy as np

import torsor as ts

BEARS = 60.0  # largest force in the pin [N]
LENGTH = np.hypot(1.5, 0.5)  # of the coupler [m]


def linkage():
    model = ts.Model("four-bar", gravity=(0, 0, -9.81))
    crank = model.body("crank", inertia=ts.inertia.rod(0.5, 0.5, axis="z"), at=(0, 0, 0.25))
    slope = (0, -np.arctan2(0.5, 1.5), 0)
    coupler = model.body("coupler", inertia=ts.inertia.rod(1.5, LENGTH, axis="x"), at=(0.75, 0, 0.75), rotation=slope)
    rocker = model.body("rocker", inertia=ts.inertia.rod(1.0, 1.0, axis="z"), at=(1.5, 0, 0.5))
    shaft = model.add(ts.Revolute("A", model.ground, crank, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Revolute("B", crank, coupler, point=(0, 0, 0.5), axis=(0, 1, 0)))
    pin = model.add(ts.Revolute("C", coupler, rocker, point=(1.5, 0, 1), axis=(0, 1, 0)))
    model.add(ts.Revolute("D", model.ground, rocker, point=(1.5, 0, 0), axis=(0, 1, 0)))
    model.add(ts.JointForce("motor", shaft, 3.0))
    model.add(ts.Breakable("overload", pin, force=BEARS))
    model.signal("pull", ca.norm_2(pin.reaction_force))
    return model, coupler.point((LENGTH / 2, 0, 0)) - rocker.point((0, 0, 0.5))


def main():
    model, gap = linkage()
    data = ts.simulate(model, 3.0, outputs=3000, signals={"gap": ca.norm_2(gap)})
    (when,), (name,) = data.event_time.values, data.event_name.values
    before, after = data.sel(time=slice(0, when)), data.sel(time=slice(when, None))
    print(f"{name} at {when:.9f} s, in a linkage of {data.attrs['degrees_of_freedom']} degree of freedom")
    print(f"force in the pin: up to {float(before.pull.max()):.3f} N before, {float(after.pull.max()):.1f} N after")
    print(f"pin and eye:      {float(before.gap.max()):.1e} m apart before, {float(after.gap[-1]):.3f} m at the end")
    print(
        f"energy:           error {data.attrs['energy_balance_error']:.1e} J, by events {data.attrs['energy_of_events']} J"
    )
    assert BEARS - 2 < float(before.pull.max()) <= BEARS and float(after.gap[-1]) > 0.1


if __name__ == "__main__":
    main()
