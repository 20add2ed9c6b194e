"""How long one waits: for the import, for a first answer, for a model that is new, and for a call beyond its integration.

    python bench/start.py [--robots FOLDER] [--only WORD]

FOLDER is the `robots` folder of the wheel example-robot-data. Every figure is taken in a process of its own, the best of
several; the cache of kernels begins empty, with the compiled loops alone in it. Seconds on the clock, and in brackets those of
processors, which other work on the machine disturbs less.

    import     `import torsor`
    warm       from `import torsor` to the result in a new process, everything compiled in an earlier one
    cold       one call of `simulate`, 10 ms of motion, nothing of the model known; imports and loops beforehand
    call       one call of `simulate` on a model that ran before, less the integration itself
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import torsor as ts

SIDES = (("left", 1), ("right", -1))


def humanoid():
    """Thirty joints: a free pelvis, two legs of six hinges, a waist of three, two arms of seven."""
    model = ts.Model("humanoid", gravity=(0, 0, -9.81))
    count = iter(range(1000))

    def limb(name, above, point, axes, step, mass):
        for k, axis in enumerate(axes):
            at = [x + 0.4 * s for x, s in zip(point, step)]
            link = model.body(f"{name}{k}", mass=mass, inertia=(0.01, 0.011, 0.004), at=at)
            start = {"start": 0.1 * (-1) ** next(count), "start_rate": 0.2}
            model.add(ts.Revolute(f"{name}-{k}", above, link, point=point, axis=axis, **start))
            above, point = link, [x + s for x, s in zip(point, step)]
        return above, point

    pelvis = model.body("pelvis", mass=8.0, inertia=(0.08, 0.07, 0.06), at=(0, 0, 1))
    model.add(ts.Free("base", model.ground, pelvis, point=(0, 0, 1)))
    chest, neck = limb("waist", pelvis, (0, 0, 1.05), "zxy", (0, 0, 0.12), 4.0)
    for side, sign in SIDES:
        limb(f"{side}-leg", pelvis, (0, 0.1 * sign, 1), "yxzyyx", (0.01, 0, -0.15), 2.0)
        limb(f"{side}-arm", chest, (0, 0.15 * sign, neck[2]), "yxzyzyx", (0, 0.02 * sign, -0.1), 0.9)
    return model


def walker():
    """Two legs of ten bodies on a free pelvis, each with two closed loops: a rod from hip to heel, one from crank to foot."""
    model = ts.Model("walker", gravity=(0, 0, -9.81))
    pelvis = model.body("pelvis", mass=10.0, inertia=(0.09, 0.05, 0.1), at=(0.05, 0, 1.02))
    model.add(ts.Free("base", model.ground, pelvis, point=(0.05, 0, 1.02)))
    for side, sign in SIDES:
        y = 0.135 * sign

        def part(name, above, point, centre, mass, inertia, axis="y", side=side, y=y, joint=ts.Revolute):
            at = (centre[0], y, centre[1])
            body = model.body(f"{side}-{name}", mass=mass, inertia=inertia, at=at)
            turning = {"axis": axis} if joint is ts.Revolute else {}
            hinge = joint(f"{side}-{name}-joint", above, body, point=(point[0], y, point[1]), **turning)
            return body, model.add(hinge)

        roll, _ = part("roll", pelvis, (0, 1), (0.02, 0.98), 1.8, (0.003, 0.004, 0.003), "x")
        yaw, _ = part("yaw", roll, (0, 0.98), (0, 0.95), 1.2, (0.003, 0.004, 0.002), "z")
        hip, _ = part("hip", yaw, (0, 0.93), (0.06, 0.9), 5.5, (0.05, 0.055, 0.03))
        knee, _ = part("knee", hip, (0.12, 0.88), (0.14, 0.87), 0.76, (0.0012, 0.0022, 0.0016))
        shin, bent = part("shin", knee, (0.18, 0.81), (0.35, 0.81), 0.58, (3.6e-4, 0.014, 0.014))
        tarsus, _ = part("tarsus", shin, (0.61, 0.82), (0.71, 0.79), 0.78, (2e-4, 0.017, 0.017))
        heel, pushed = part("heel", tarsus, (0.6, 0.79), (0.604, 0.77), 0.126, (4e-5, 1e-4, 8e-5))
        crank, _ = part("crank", tarsus, (0.67, 0.786), (0.67, 0.786), 0.119, (3e-5, 3e-5, 3e-5))
        plantar, _ = part("plantar", crank, (0.725, 0.786), (0.9, 0.786), 0.119, (1.2e-6, 0.0022, 0.0022))
        foot, _ = part("foot", tarsus, (1.02, 0.78), (1.02, 0.77), 0.15, (5e-4, 2e-4, 7e-4))
        rod, _ = part("rod", hip, (0, 0.93), (0.25, 0.85), 0.157, (0.0037, 0.0037, 4.7e-6), joint=ts.Spherical)
        for joint, stiffness in ((bent, 1500.0), (pushed, 1250.0)):
            model.add(ts.TorsionSpring(f"{joint.name}-spring", joint, stiffness=stiffness))
        model.add(ts.Spherical(f"{side}-achilles", rod, heel, point=(0.6, y, 0.76)))
        model.add(ts.Spherical(f"{side}-push", plantar, foot, point=(1.07, y, 0.786)))
    return model


def robot(path):
    return ts.read(path, strict=False).model


MODELS = {
    "chain of 30 links": lambda: ts.cases.load("chain", n=30),
    "chain of 100 links": lambda: ts.cases.load("chain", n=100),
    "humanoid of 30 joints": humanoid,
    "walker with four loops": walker,
}
ROBOTS = {"g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf", "talos": "talos_data/robots/talos_reduced.urdf"}
BARS = {"chain of 30 links": 1.2, "chain of 100 links": 4.0} | dict.fromkeys([*list(MODELS)[2:], *ROBOTS], 4.0)


def spent():
    """Seconds on the clock and of processors, workers included."""
    return np.array([time.perf_counter(), sum(os.times()[:4])])


def cold(name, formulation="relative"):
    """Seconds of the first call for a model; loops and imports by another model before it."""
    ts.simulate(ts.cases.load("chain", n=2), 0.1, formulation=formulation)
    model = MODELS[name]() if name in MODELS else robot(name)
    start = spent()
    ts.simulate(model, 0.01, outputs=2, formulation=formulation)
    print(*spent() - start)


def call(case, until):
    """Seconds of a call beyond its integration, the least of many."""
    model, least = ts.cases.load(case), float("inf")
    for _ in range(40):
        start = time.perf_counter()
        data = ts.simulate(model, until)
        least = min(least, time.perf_counter() - start - data.attrs["wall_seconds"])
    print(least, least)


TIMED = """
import time; start = time.perf_counter(), time.process_time()
import torsor as ts
{action}
print(time.perf_counter() - start[0], time.process_time() - start[1])
"""


def seconds(code, cache):
    """What a fresh process prints."""
    env = dict(os.environ, TORSOR_CACHE=str(cache), PYTHONPATH=os.pathsep.join(sys.path))
    env |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(cache.parent / "bytecode")}  # as when installed
    out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(out.stderr)
    return [float(x) for x in out.stdout.split()]


def show(what, found, bar):
    clock, processors = np.min(found, axis=0)
    print(f"  {what:35} {clock:8.4f} s [{processors:.4f} s]   (bar {bar} s)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", type=pathlib.Path)
    parser.add_argument("--only", default="", help="figures whose name contains this")
    parser.add_argument("--times", type=int, default=3)
    chosen = parser.parse_args()
    here = f"import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r}); import start; start."
    wanted = lambda name: chosen.only in name
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder)
        several = lambda code, place: [seconds(code, cache / place) for _ in range(chosen.times)]
        if wanted("import"):
            show("import", several(TIMED.format(action=""), "loops"), 0.15)
        for case, until in (("three-link", 10.0), ("booster", ts.cases.until("booster"))):
            if wanted(f"warm {case}"):
                code = TIMED.format(action=f"ts.simulate(ts.cases.load({case!r}), {until})")
                seconds(code, cache / "warm")
                show(f"warm, {case}", several(code, "warm"), 0.6)
        if wanted("call"):
            show("call, three-link", several(here + "call('three-link', 10.0)", "warm"), 0.004)
        places = {name: name for name in MODELS}
        if chosen.robots:
            places |= {name: str(chosen.robots / path) for name, path in ROBOTS.items()}
        for name, given in places.items():
            if wanted(f"cold {name}"):
                found = [seconds(here + f"cold({given!r})", cache / f"{name}{k}") for k in range(chosen.times)]
                show(f"cold, {name}", found, BARS[name])


if __name__ == "__main__":
    main()
