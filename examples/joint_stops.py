"""A door between two stops: it is blown open, hits the outer stop, falls shut and comes to rest against the frame.

The stops are one element on the hinge's coordinate. The rebounds lose energy, which the result accounts for; what is left
of them in the end is summed up, and the closer holds the door against the frame.

    python examples/joint_stops.py
"""

from math import radians

import torsor as ts


def door():
    model = ts.Model("door", gravity=(0, 0, -9.81))
    leaf = model.body("leaf", inertia=ts.inertia.box(25.0, 0.9, 0.04, 2.0), at=(0.45, 0, 1))
    hinge = model.add(ts.Revolute("hinge", model.ground, leaf, point=(0, 0, 1), axis=(0, 0, 1), start=radians(1)))
    model.add(ts.Limit("stops", hinge, lower=0.0, upper=radians(110), restitution=0.4))
    model.add(ts.TorsionSpring("closer", hinge, stiffness=4.0, damping=1.0, rest=radians(-20)))
    gust = model.add(ts.JointForce("gust", hinge, 45.0))
    model.when(ts.time >= 1.0, ts.switch(gust, on=False), name="calm")
    return model


def main():
    data = ts.simulate(door(), 20.0, outputs=[20.0])
    happened = list(zip(data.event_name.values, data.event_time.values, data.event_energy.values))
    for name, t, energy in [*happened[:4], happened[-1]]:
        print(f"{name:<14} {t:12.9f} s  energy {energy:12.3e} J")
    print(f"{len(happened)} events in all, of which the last closes the stop for good")
    angle, push = float(data.coordinate[-1, 0]), float(data.multiplier.sel(constraint="stops[0]")[-1])
    print(f"at the end the door stands at {angle:.1e} rad, and the frame holds it with {push:.6f} N m")
    print(
        f"energy by events {data.attrs['energy_of_events']:.6f} J, balance error {data.attrs['energy_balance_error']:.1e} J"
    )
    assert abs(angle) < 1e-12 and abs(push - 4.0 * radians(20)) < 1e-9


if __name__ == "__main__":
    main()
