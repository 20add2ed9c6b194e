"""Equilibria of random mechanisms that have one, and what a linear model costs.

Trees of hinges, universal and spherical joints under gravity with springs, every second one closed to a loop by a bar, have a least
potential energy. For each the nearest equilibrium and a stable one are looked for; the residual is told over the largest force.

    python bench/statics.py [COUNT]
"""

import sys
import time

import numpy as np

import torsor as ts


def mechanism(seed):
    """A tree of 2 to 7 bodies; a loop where the seed is odd."""
    rng = np.random.default_rng(seed)
    model = ts.Model(f"m{seed}", gravity=(0, 0, -9.81))
    bodies, at = [model.ground], [np.zeros(3)]
    for k in range(rng.integers(2, 8)):
        i = rng.integers(len(bodies))
        point = at[i] + rng.uniform(-0.3, 0.3, 3)
        x = point + rng.uniform(-0.5, 0.5, 3)
        inertia, mass = tuple(rng.uniform(0.05, 0.08, 3)), rng.uniform(0.2, 3.0)
        body = model.body(f"b{k}", mass=mass, inertia=inertia, at=tuple(x), rotation=tuple(rng.normal(size=3)))
        kind = str(rng.choice(["Revolute", "Spherical", "Universal"]))
        options = {} if kind == "Spherical" else {"axis": tuple(rng.normal(size=3))}
        if kind == "Universal":
            options["second_axis"] = tuple(np.cross(options["axis"], rng.normal(size=3)))
        model.add(getattr(ts, kind)(f"j{k}", bodies[i], body, point=tuple(point), **options))
        bodies.append(body)
        at.append(x)
    for k in range(rng.integers(0, 3)):
        i, j = rng.choice(len(bodies), 2, replace=False)
        points = tuple(tuple(at[n] + rng.uniform(-0.2, 0.2, 3)) for n in (i, j))
        spring = {"stiffness": rng.uniform(5, 200), "length": rng.uniform(0.2, 1.0)}
        model.add(ts.SpringDamper(f"s{k}", bodies[i], bodies[j], points=points, **spring))
    if seed % 2:
        i, j = rng.choice(range(1, len(bodies)), 2, replace=False)
        model.add(ts.Distance("bar", bodies[i], bodies[j], points=(tuple(at[i] + 0.1), tuple(at[j] - 0.1))))
    return model


def equilibria(count):
    found, worst, unstable = 0, 0.0, 0
    for seed in range(count):
        for stable in (False, True):
            try:
                rest = ts.equilibrium(mechanism(seed), stable=stable)
            except ts.ModelError as error:
                print(f"seed {seed}, stable={stable}: {error}")
                continue
            found, worst = found + 1, max(worst, rest.residual)
            unstable += stable and rest.stability == "unstable"
    print(
        f"equilibria: {found} of {2 * count} found, residual at most {worst:.1e}, {unstable} of those downhill unstable"
    )


def cost():
    for name in ("four-bar", "car", "andrews"):
        model, began = ts.cases.load(name), time.process_time()
        ts.linearise(model)
        first, taken = time.process_time() - began, []
        for _ in range(20):
            began = time.process_time()
            np.linalg.eigvals(ts.linearise(model).A)
            taken.append(time.process_time() - began)
        print(f"linear model of {name}: first {1e3 * first:.0f} ms, again {1e3 * min(taken):.1f} ms")


if __name__ == "__main__":
    equilibria(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
    cost()
