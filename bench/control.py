"""What a controller costs: a sample of a law in Python, and of the same law compiled, beyond the integration and the law itself.

A cart is sampled 10⁵ times. The motion between samples is integrated in one fixed step each, so that runs with controllers differ
from the one without by what samples cost. Best of several runs; ratios count where a machine is busy.

./dev python bench/control.py
"""

import time

import torsor as ts

PERIOD, SAMPLES, TURNS = 1e-3, 100_000, 5


def law(t, u):
    return -4.0 * u[0] - 1.0 * u[1]


def named(t, u, s):
    return {"push": -4.0 * u["x"] - s["mean"]}, {"mean": 0.5 * (s["mean"] + u["v"])}


def cart(kind):
    model = ts.Model("cart")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis="x", start=1.0))
    seen, push = [rail.coordinate, rail.rate], 0.0
    if kind == "by name, with a state":
        seen = {"x": rail.coordinate[0], "v": rail.rate[0]}
        push = model.add(ts.Controller("pilot", PERIOD, seen, ["push"], named, {"mean": 0.0}))["push"]
    elif kind != "none":
        given = {"compiled": kind == "compiled", "delay": 0.5 * PERIOD if kind == "delayed" else 0.0}
        push = model.add(ts.Controller("pilot", PERIOD, seen, ["push"], law, **given))["push"]
    model.add(ts.JointForce("motor", rail, push))
    return model


def seconds(model):
    """Wall time of the loop."""
    run = lambda: ts.simulate(model, SAMPLES * PERIOD, outputs=100, method="rkmk4", step=PERIOD).attrs["wall_seconds"]
    return min(run() for _ in range(TURNS))


def alone():
    """Wall time of the function itself."""
    begin = time.perf_counter()
    for _ in range(SAMPLES):
        law(0.1, (0.2, 0.3))
    return time.perf_counter() - begin


def main():
    function, bare = min(alone() for _ in range(TURNS)), seconds(cart("none"))
    print(f"{'function alone':<24}{1e6 * function / SAMPLES:8.2f} µs a call")
    print(f"{'integration alone':<24}{1e6 * bare / SAMPLES:8.2f} µs a step")
    for kind in ("compiled", "python", "delayed", "by name, with a state"):
        cost = seconds(cart(kind)) - bare - (0.0 if kind == "compiled" else function)
        print(f"{kind:<24}{1e6 * cost / SAMPLES:8.2f} µs a sample beyond that")


if __name__ == "__main__":
    main()
