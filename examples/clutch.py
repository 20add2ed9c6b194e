"""An engine couples to a load: the clutch slips until both turn alike, then it holds.

With the torque c in the slipping clutch and nothing else the slip ω₁ − ω₂ vanishes at a constant rate, and what is lost
does not depend on the clutch at all:

    t = (ω₁ − ω₂)/(c (1/J₁ + 1/J₂)),     loss = ½ J₁ J₂/(J₁ + J₂) (ω₁ − ω₂)²                                        (1)

Later a brake on the load takes hold. The clutch transmits what it can, and slips again.

    python examples/clutch.py
"""

import torsor as ts

J1, J2, SPEED, TORQUE, BRAKE, AFTER = 0.5, 2.0, 100.0, 40.0, 300.0, 2.0


def drive():
    model = ts.Model("clutch")
    engine = model.body("engine", mass=10.0, inertia=(J1, J1, J1))
    load = model.body("load", mass=20.0, inertia=(J2, J2, J2), at=(0, 0, 0.2))
    model.add(ts.Revolute("engine_shaft", model.ground, engine, axis=(0, 0, 1), start_rate=SPEED))
    shaft = model.add(ts.Revolute("load_shaft", model.ground, load, axis=(0, 0, 1)))
    model.add(ts.Clutch("clutch", engine, load, axis=(0, 0, 1), torque=TORQUE))
    brake = model.add(ts.JointForce("brake", shaft, -BRAKE), active=False)
    model.when(ts.time >= AFTER, ts.switch(brake), name="brake_on")
    model.when(ts.falling(shaft.rate), ts.end(), name="stopped")
    return model


def main():
    data = ts.simulate(drive(), 5.0, outputs=500, formulation="relative")
    for name, t in zip(data.event_name.values, data.event_time.values):
        print(f"{name:<14} {t:.9f} s")
    held = float(data.event_time[0])
    exact = SPEED / (TORQUE * (1 / J1 + 1 / J2))
    loss, work = 0.5 * J1 * J2 / (J1 + J2) * SPEED**2, -float(data.work.sel(time=slice(held, AFTER))[0])
    print(f"held after {held:.9f} s, exact {exact:.9f} s; lost {work:.6f} J, exact {loss:.6f} J")
    assert abs(held - exact) < 1e-9 and abs(work - loss) < 1e-6 * loss


if __name__ == "__main__":
    main()
