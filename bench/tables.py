"""Tables: how long one of a million points takes to prepare, what a lookup costs, and whether order is kept across its points.

python bench/tables.py

All of the processor.

prepare    from arrays to an expression that kernels can be built of; and one run more with another table, compiled before [s]
lookup     one lookup within a kernel of a thousand, best of several [ns]: at arguments as a run visits them, one after the
           other, and at random ones, where every lookup waits for memory; beside NumPy's `interp` of all arguments at once
order      of rkmk4 under a bent torque over time, with and without steps that end at the points
"""

import time

import casadi as ca
import numpy as np

import torsor as ts
from torsor.kernels import build

COUNT, CALLS = 1_000, 300


def points(count, equal):
    rng = np.random.default_rng(1)
    x = np.linspace(0, 1, count) if equal else np.sort(rng.uniform(size=count))
    return x, rng.normal(size=count)


def best(call, *given, times=5):
    """Seconds of the quickest of several calls."""
    found = []
    for _ in range(times):
        began = time.process_time()
        call(*given)
        found.append(time.process_time() - began)
    return min(found)


def each(call, rows, *more):
    for row in rows:
        call(row, *more)


def prepare():
    made = lambda x, y, kind: ts.table(x, y + np.random.normal(), kind)(ts.time)
    for kind in ("nearest", "linear", "akima", "cubic"):
        print(f"prepare  {kind:8} {best(made, *points(10**6, equal=False), kind, times=3):6.2f} s")
    run = lambda y: ts.simulate(_pendulum(ts.table(np.linspace(0, 10, 10**6), y, "cubic")(ts.time)), 1.0)
    run(np.zeros(10**6))
    took = best(run, np.sin(np.linspace(0, 10, 10**6)), times=1)
    print(f"prepare  a run with another table of a million points: {took:.2f} s in all")


def lookup():
    u = ca.SX.sym("u", COUNT)
    rng = np.random.default_rng(2)
    empty = build({"f": ca.Function("f", [u], [ca.sum1(u)])})["f"]
    for count in (1_000, 10**6):
        for equal in (True, False):
            x, y = points(count, equal)
            for kind in ("linear", "cubic"):
                f = ts.table(x, y, kind)
                g = ca.Function("f", [u], [ca.sum1(ca.vertcat(*[f(v) for v in ca.vertsplit(u)]))])
                kernel = build({"f": g})["f"]
                told = []
                for given in ([np.sort(rng.uniform(0.3, 0.301, COUNT))] * CALLS, rng.uniform(size=(CALLS, COUNT))):
                    took = best(each, kernel, given) - best(each, empty, given)
                    numpy = best(each, np.interp, given, x, y)
                    told += [1e9 * took / (CALLS * COUNT), 1e9 * numpy / (CALLS * COUNT)]
                spacing = "equal" if equal else "irregular"
                print(
                    f"lookup   {kind:8} {count:8,} points, {spacing:9}: {told[0]:5.1f} ns in order (interp {told[1]:5.1f}), "
                    f"{told[2]:5.1f} ns at random (interp {told[3]:5.1f})"
                )


def _pendulum(torque):
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    rod = model.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    joint = model.add(ts.Revolute("hinge", model.ground, rod, point=(0, 0, 0), axis="y"))
    model.add(ts.JointForce("motor", joint, torque))
    return model


def order():
    f = ts.table([0.0, 0.3137, 0.5711, 0.8293, 1.2], [0.0, 6.0, -4.0, 5.0, 1.0])
    sure = ts.simulate(_pendulum(f(ts.time)), 1.1, outputs=1, method="dop853", tolerance=1e-13).coordinate.values[-1, 0]
    for what, argument in (("ends", ts.time), ("does not end", ts.time + 1e-300 * ca.sin(ts.time))):  # no line in time
        model, errors = _pendulum(f(argument)), []
        for step in (0.02, 0.01, 0.005, 0.0025, 0.00125):
            data = ts.simulate(model, 1.1, outputs=1, step=step, method="rkmk4")
            errors.append(abs(data.coordinate.values[-1, 0] - sure))
        slope = -np.polyfit(np.arange(5), np.log2(errors), 1)[0]
        print(
            f"order    of rkmk4 where a step {what} at the points: {slope:.2f}, error {errors[-1]:.1e} with steps of 1.25 ms"
        )


if __name__ == "__main__":
    prepare()
    lookup()
    order()
