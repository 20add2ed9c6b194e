"""Cost and exactness of events: 10⁴ switches in one run, memory over ten times as many, times against closed forms.

./dev python bench/events.py [--smoke]
"""

import resource
import sys

import casadi as ca
import numpy as np

import torsor as ts

G = 9.81
SHORTER = 300 if "--smoke" in sys.argv else 1  # runs, where it is only tried whether all of it runs


def ball(restitution):
    """A ball that falls from 1 m on a floor."""
    model = ts.Model("ball", gravity=(0, 0, -G))
    body = model.body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01), at=(0, 0, 1))
    model.add(ts.Contact("floor", model.ground, body, plane=(0, 0, 0), restitution=restitution))
    return model


def toggle():
    """A constraint that a clock engages and releases."""
    model = ts.Model("toggle")
    body = model.body("body", mass=1.0, inertia=(0.01, 0.01, 0.01), velocity=(1, 0, 0))
    model.add(ts.Prismatic("rail", model.ground, body, axis=(1, 0, 0)))
    guide = model.add(ts.PointOnPlane("guide", model.ground, body, normal=(0, 1, 0)))
    state = model.modes("state", "held", "free")
    wave = ca.sin(2 * np.pi * ts.time)
    model.when(wave <= 0, ts.release(guide), ts.enter(state["free"]), during=state["held"])
    model.when(wave >= 0, ts.engage(guide), ts.enter(state["held"]), during=state["free"])
    return model


def belt(mu=0.2, static=0.4, speed=0.5, k=100.0, m=1.0):
    """A block on a belt, held by a spring: it sticks and slips."""
    model = ts.Model("belt", gravity=(0, 0, -G))
    moving = model.add(ts.Ground("belt", at=(speed * ts.time, 0, 0)))
    block = model.body("block", mass=m, inertia=(0.1, 0.1, 0.1), velocity=(speed, 0, 0))
    guide = model.add(ts.Prismatic("guide", moving, block, axis=(1, 0, 0)))
    model.add(ts.Friction("friction", guide, coefficient=mu, static=static))
    model.add(ts.PointForce("spring", block, force=(-k * block.position[0], 0, 0)))
    # closed form: sticks until k x = μ_s m g, then swings about μ m g / k until it has the speed of the belt again
    w, far, rest = np.sqrt(k / m), static * m * G / k, mu * m * G / k
    phase = np.arctan2(speed / w, far - rest)
    slides, sticks = (np.pi + 2 * phase) / w, 2 * (far - rest) / speed
    return model, lambda n: far / speed + np.cumsum([0, *[slides if i % 2 == 0 else sticks for i in range(n - 1)]])


def cost(name, model, until):
    """µs per switch in the loop, once the kernels are there; and how much memory ten times as many take."""
    ts.simulate(model, until / 100 / SHORTER, outputs=2, formulation="absolute")
    for span in (until / SHORTER, 10 * until / SHORTER):
        data = min(
            (ts.simulate(model, span, outputs=2, formulation="absolute") for _ in range(3)),
            key=lambda d: d.attrs["wall_seconds"],
        )
        n, memory = data.sizes["event"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        per = data.attrs["wall_seconds"] / n * 1e6
        print(
            f"{name:22} {n:7} switches  {per:7.1f} µs each  {data.attrs['steps'] / n:5.1f} steps each  {memory:6.0f} MB at most"
        )


def switch_alone(model, until):
    """µs of a switch without the steps between switches: what is left of the cost over tolerances with no step at all."""
    costs = []
    for tolerance in (1e-8, 1e-9, 1e-10, 1e-11):
        options = {"outputs": 2, "tolerance": tolerance, "formulation": "absolute"}
        data = [ts.simulate(model, until / SHORTER, **options) for _ in range(3)]
        best = min(data, key=lambda d: d.attrs["wall_seconds"])
        costs.append(
            (best.attrs["steps"] / best.sizes["event"], best.attrs["wall_seconds"] / best.sizes["event"] * 1e6)
        )
    per_step, alone = np.polyfit(*zip(*costs), 1)
    print(f"stick-slip: {per_step:.1f} µs a step, {alone:.1f} µs a switch beyond its steps")


def main():
    cost("elastic ball", ball(1.0), 9030.0)
    cost("engaged and released", toggle(), 5000.0)
    cost("stick-slip", belt()[0], 3160.0)
    switch_alone(belt()[0], 3160.0)
    print()
    e, first = 0.8, np.sqrt(2 / G)
    data = ts.simulate(ball(e), 8.0, outputs=2, formulation="absolute")
    n = data.sizes["event"]
    exact = first + 2 * first * np.cumsum([0, *e ** np.arange(1, n - 1)])
    print(f"ball: {n} bounces, largest error {np.abs(data.event_time.values[:-1] - exact).max():.1e} s, "
          f"end of the series {abs(data.event_time.values[-1] - first * (1 + e) / (1 - e)):.1e} s")  # fmt: skip
    model, times = belt()
    for formulation in ("absolute", "relative", "woronetz"):
        data = ts.simulate(model, 10.0, outputs=2, formulation=formulation)
        error = np.abs(data.event_time.values - times(data.sizes["event"])).max()
        print(f"stick-slip, {formulation}: {data.sizes['event']} switches, largest error {error:.1e} s")


if __name__ == "__main__":
    main()
