"""A lift that goes up, waits, comes down and waits, as a machine with four modes; a brake holds it while it waits.

Each mode has its own motor speed, which events assign to a parameter. An event belongs to a mode, `during=`, and leads to
the next one, `ts.enter`. While the lift waits, a lock on the guide is engaged, and its multiplier is what the brake bears.

    python examples/lift.py
"""

import numpy as np

import torsor as ts

SPEED, FLOOR, WAIT, TRIPS = 1.5, 6.0, 2.0, 3


def lift():
    model = ts.Model("lift", gravity=(0, 0, -9.81))
    wanted = model.parameter("wanted", SPEED)  # speed of the motor [m/s]
    cabin = model.body("cabin", mass=800.0, inertia=(500, 500, 300))
    guide = model.add(ts.Prismatic("guide", model.ground, cabin, axis=(0, 0, 1)))
    motor = model.add(ts.JointForce("motor", guide, 800 * (9.81 + 4 * (wanted - guide.rate))))
    brake = model.add(ts.Lock("brake", guide), active=False)

    doing = model.modes("doing", "rise", "wait_above", "sink", "wait_below")
    rise, above, sink, below = (doing[mode] for mode in doing.names)
    stop = (ts.engage(brake), ts.switch(motor, on=False), ts.record("speed", guide.rate))
    go = (ts.release(brake), ts.switch(motor))
    top = model.when(guide.coordinate >= FLOOR, *stop, ts.enter(above), name="top", during=rise)
    bottom = model.when(guide.coordinate <= 0, *stop, ts.enter(below), name="bottom", during=sink)
    model.when(ts.time >= top.time + WAIT, *go, ts.assign(wanted, -SPEED), ts.enter(sink), name="down", during=above)
    model.when(ts.time >= bottom.time + WAIT, *go, ts.assign(wanted, SPEED), ts.enter(rise), name="up", during=below)
    model.when(bottom.count >= TRIPS, ts.end(), name="evening")
    model.signal("mode", doing.number)
    return model


def main():
    data = ts.simulate(lift(), 300.0, outputs=3000)
    impulses = data.event_impulse.sel(constraint="brake[0]").values
    for name, t, speed, impulse in zip(data.event_name.values, data.event_time.values, data.speed.values, impulses):
        hit = f"stopped from {speed:6.3f} m/s by {impulse:8.2f} N s" if np.isfinite(speed) else ""
        print(f"{t:12.6f} s  {name:<8} {hit}")
    waits = data.where(data.mode % 2 == 1, drop=True)
    held = waits.multiplier.sel(constraint="brake[0]").values
    print(f"while it waits the brake bears {held.min():.6f} to {held.max():.6f} N, the weight is {800 * 9.81:.6f} N")
    assert data.attrs["status"] == "ended by event 'evening'"


if __name__ == "__main__":
    main()
