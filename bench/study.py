"""What a study costs beside its integration, and rollouts beside MuJoCo's: best of several, in the same run.

python bench/study.py overhead|threads|rollouts|happenings|dask|kill ... [--smoke]   all of the first three without an argument
"""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import torsor as ts
from torsor.run.many.repeated_runs import Repeater
from torsor.run.runner import Runner

RUNS, UNTIL = 10_000, 5.0
CPU = time.process_time  # of one thread: other programs do not count


def double_pendulum():
    model = ts.Model("double", gravity=(0, 0, -9.81))
    given = (("k", 3.0), ("c", 0.05), ("l1", 0.5), ("m2", 0.8))
    k, c, l1, m2 = (model.parameter(name, value, positive=True) for name, value in given)
    a = model.body("a", inertia=ts.inertia.rod(1.0, 0.5, axis="x"), at=(l1 / 2, 0, 0))
    b = model.body("b", mass=m2, inertia=(1e-4, 0.01, 0.01), at=(l1 + 0.2, 0, 0))
    model.add(ts.Revolute("s", model.ground, a, point=(0, 0, 0), axis=(0, 1, 0)))
    elbow = model.add(ts.Revolute("e", a, b, point=(l1, 0, 0), axis=(0, 1, 0), start=0.3))
    model.add(ts.TorsionSpring("spring", elbow, stiffness=k, damping=c))
    return model


def sets(n):
    random = np.random.default_rng(1)
    return {name: random.uniform(low, high, n) for name, low, high in (("k", 2, 5), ("l1", 0.4, 0.6), ("m2", 0.5, 0.9))}


def timed(call, times=3, clock=time.perf_counter):
    """Seconds that a call takes at best, and those of compiled loops alone in it, all threads together."""
    best, run, spent = (np.inf, 0.0), Repeater.run, []

    def watched(self, *given):
        loop, before = self.loop, [0.0]

        def clocked(*numbers):
            began = time.thread_time()
            status = loop(*numbers)
            before[0] += time.thread_time() - began
            return status

        self.loop = clocked
        try:
            return run(self, *given)
        finally:
            self.loop = loop
            spent.append(before[0])

    Repeater.run = watched
    try:
        for _ in range(times):
            spent.clear()
            began = clock()
            call()
            best = min(best, (clock() - began, sum(spent)))
    finally:
        Repeater.run = run
    return best


def overhead():
    """Beyond compiled loops, on one thread: processor time."""
    model = double_pendulum()
    for label, n, options in (
        ("last values", RUNS, {"reduce": "last"}),
        ("100 outputs kept", RUNS // 5, {"outputs": 100}),
    ):
        whole, loops = timed(
            lambda n=n, options=options: ts.study(model, UNTIL, sets(n), executor=1, **options), 3, CPU
        )
        print(
            f"{label:18} {n} runs: {whole:.2f} s, loops {loops:.2f} s, beyond them {(whole - loops) / n * 1e6:.0f} us a run"
        )


def threads():
    """All processors against compiled loops alone on one of them."""
    model, cores = double_pendulum(), len(os.sched_getaffinity(0))
    _, loops = timed(lambda: ts.study(model, UNTIL, sets(RUNS), reduce="last", executor=1))
    whole, _ = timed(lambda: ts.study(model, UNTIL, sets(RUNS), reduce="last"))
    print(
        f"{cores} threads: {whole:.2f} s; loops alone on one {loops:.2f} s: {loops / whole / cores:.2f} x cores (bar 0.7)"
    )


def arm(links=6):
    model, before = ts.Model("arm", gravity=(0, 0, -9.81)), None
    for k in range(links):
        body = model.body(f"l{k}", inertia=ts.inertia.box(1.0, 0.3, 0.05, 0.05), at=(0.3 * k + 0.15, 0, 0))
        axis = (0, 1, 0) if k % 2 else (0, 0, 1)
        joint = model.add(ts.Revolute(f"j{k}", before or model.ground, body, point=(0.3 * k, 0, 0), axis=axis))
        model.add(ts.JointForce(f"motor{k}", joint, model.input(f"u{k}")))
        before = body
    return model


def mjcf(integrator, links=6):
    text = ""
    for k in reversed(range(links)):
        axis, at = ("0 1 0" if k % 2 else "0 0 1"), ("0 0 0" if k == 0 else "0.3 0 0")
        shape = '<geom type="box" size=".15 .025 .025" pos=".15 0 0" mass="1"/>'
        text = f'<body pos="{at}"><joint name="j{k}" type="hinge" axis="{axis}"/>{shape}{text}</body>'
    motors = "".join(f'<motor joint="j{k}"/>' for k in range(links))
    option = (
        f'<option timestep="0.002" integrator="{integrator}"><flag contact="disable" constraint="disable"/></option>'
    )
    return f"<mujoco>{option}<worldbody>{text}</worldbody><actuator>{motors}</actuator></mujoco>"


def rollouts(runs=1000, steps=500, links=6):
    """Random torques, fixed steps: `study` beside MuJoCo's steps from Python, and its own rollouts by threads."""
    import mujoco
    from mujoco import rollout

    model, cores = arm(links), len(os.sched_getaffinity(0))
    torques = np.random.default_rng(0).normal(size=(runs, steps, links))
    inputs = {f"u{k}": np.ascontiguousarray(torques[:, :, k]) for k in range(links)}
    for method, integrator in (("rkmk4", "RK4"), ("lie-euler", "Euler")):
        options = {"inputs": inputs, "step": 0.002, "method": method, "reduce": "last"}
        m = mujoco.MjModel.from_xml_string(mjcf(integrator))
        datas, start = [mujoco.MjData(m) for _ in range(cores)], np.zeros((runs, 1 + 2 * links))
        for n in (1, cores):
            clock = CPU if n == 1 else time.perf_counter
            ours, _ = timed(lambda n=n, o=options: ts.study(model, 0.002 * steps, executor=n, **o), 3, clock)
            theirs, _ = timed(lambda m=m, d=datas[:n], s=start: rollout.rollout(m, d, s, torques), 2, clock)
            print(
                f"{method}, {n} threads: {ours:.2f} s; mujoco.rollout {theirs:.2f} s, {theirs / ours:.1f} times as long"
            )
        began = CPU()
        by_hand(mujoco, m, datas[0], torques[: runs // 10])
        print(f"{method}: mj_step from Python {10 * (CPU() - began):.2f} s on one thread")


def by_hand(mujoco, m, data, torques):
    for run in torques:
        mujoco.mj_resetData(m, data)
        for u in run:
            data.ctrl[:] = u
            mujoco.mj_step(m, data)


def ball():
    model = ts.Model("ball", gravity=(0, 0, -9.81))
    height, bounce = model.parameter("height", 1.0, positive=True), model.parameter("bounce", 0.5)
    body = model.body("ball", mass=0.2, inertia=(1e-3, 1e-3, 1e-3), at=(0, 0, height))
    model.add(ts.Contact("floor", model.ground, body, point=(0, 0, 0), normal=(0, 0, 1), restitution=bounce))
    return model, {"height": (0.8, 1.2), "bounce": (0.4, 0.6)}


def sampled(**law):
    model = ts.Model("sampled", gravity=(0, 0, -9.81))
    mass = model.parameter("mass", 1.0, positive=True)
    arm = model.body("arm", mass=mass, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    joint = model.add(ts.Revolute("joint", model.ground, arm, axis=(0, 1, 0), start=0.3))
    seen = [joint.coordinate, joint.rate]
    rule = ts.Controller("rule", 0.02, seen, ["torque"], lambda t, u: [-5 * u[0] - u[1]], **law)
    model.add(ts.JointForce("motor", joint, model.add(rule)["torque"]))
    model.add(ts.Friction("friction", joint, coefficient=0.1, radius=0.02))
    return model, {"mass": (0.8, 1.2)}


def happenings(runs=1000):
    """Runs with events, of one second on one thread: processor time beside that of compiled loops alone."""
    for label, (model, ranges) in {
        "ball that bounces": ball(),
        "rule compiled, dry friction": sampled(compiled=True),
        "rule in Python, dry friction": sampled(),
    }.items():
        random, spent, advance = np.random.default_rng(1), [0.0], Runner._advance
        values = {name: random.uniform(*ends, runs) for name, ends in ranges.items()}

        def watched(self, budget, spent=spent, advance=advance):
            began = time.thread_time()
            status = advance(self, budget)
            spent[0] += time.thread_time() - began
            return status

        study = lambda values, model=model: ts.study(model, 1.0, values, reduce="last", executor=1)
        study({name: x[:4] for name, x in values.items()})
        Runner._advance, best = watched, (np.inf, 0.0)
        for _ in range(3):
            spent[0], began = 0.0, CPU()
            study(values)
            best = min(best, (CPU() - began, spent[0]))
        Runner._advance, (whole, loops) = advance, best
        beyond = (whole - loops) / runs * 1e3
        print(f"{label:29} {runs} runs: {whole / loops:.1f} times the loops alone, {beyond:.2f} ms a run beyond them")


def dask(runs=2000, kill=False):
    """One worker process, then two; kill: one of the two dies on the way, and the numbers are the same."""
    from dask.distributed import Client

    model, found = double_pendulum(), {}
    for n in (1, 2):
        with Client(n_workers=n, threads_per_worker=1, processes=True, dashboard_address=None) as client:
            ts.study(model, UNTIL, sets(50), reduce="last", executor=client)
            found[n] = timed(lambda: ts.study(model, UNTIL, sets(runs), reduce="last", executor=client))[0]  # noqa: B023
    print(
        f"dask: {found[1]:.2f} s by one worker, {found[2]:.2f} s by two: {found[1] / found[2]:.2f} times as fast (bar 1.7)"
    )
    if not kill:
        return
    expected = ts.study(model, UNTIL, sets(10 * runs), reduce="last")
    with Client(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as client:
        with ThreadPoolExecutor(1) as beside:
            ts.study(model, UNTIL, sets(50), reduce="last", executor=client)
            study = beside.submit(ts.study, model, UNTIL, sets(10 * runs), reduce="last", executor=client)
            time.sleep(1.0)
            victim = client.run(os.getpid)
            os.kill(next(iter(victim.values())), 9)
            print("killed one of two workers:", "same bits" if study.result().identical(expected) else "OTHER NUMBERS")


if __name__ == "__main__":
    jobs = {
        "overhead": overhead,
        "threads": threads,
        "rollouts": rollouts,
        "happenings": happenings,
        "dask": dask,
        "kill": lambda: dask(kill=True),
    }
    asked = [name for name in sys.argv[1:] if name != "--smoke"]
    if "--smoke" in sys.argv:
        RUNS, UNTIL = 40, 0.1
        jobs |= {"rollouts": lambda: rollouts(40, 5), "happenings": lambda: happenings(4), "dask": lambda: dask(4)}
    for name in asked or ["overhead", "threads", "rollouts"]:
        jobs[name]()
