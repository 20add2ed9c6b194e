"""Runs that are killed at random moments and resumed, again and again: the result must be that of a run left in peace.

    python bench/kill.py [kills]

Every session is a process of its own that starts or resumes a run with a checkpoint at every few steps, and is ended by SIGKILL
after a random time: while it integrates, while it writes a checkpoint or the result, or before it has written anything. A run
counts when a session reaches its end; its result is compared bit for bit, and the next run begins.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import casadi as ca
import numpy as np

import torsor as ts

SAME, DIFFERENT, BROKEN = 0, 10, 11
UNEQUAL = ("wall_seconds", "prepare_seconds")  # attributes that tell how long something took


def ball():
    """A ball that bounces until it rests: every event changes the structure."""
    model = ts.Model("ball", gravity=(0.5, 0, -9.81))
    body = model.body("ball", mass=0.7, inertia=(0.1, 0.2, 0.15), at=(0, 0, 1))
    model.add(ts.Contact("floor", model.ground, body, normal=(0, 0, 1), restitution=0.9))
    return model


def belt():
    """A block on a moving belt, tied to a wall by a spring: it sticks and slips."""
    model = ts.Model("belt", gravity=(0, 0, -9.81))
    moving = model.add(ts.Ground("moving", at=(0.4 * ts.time, 0, 0)))
    block = model.body("block", mass=1.2, inertia=(0.1, 0.1, 0.1), velocity=(0.4, 0, 0))
    model.add(ts.EnergyForce("spring", energy=25.0 * block.position[0] ** 2))
    on = model.add(ts.Contact("on", moving, block, normal=(0, 0, 1)))
    model.add(ts.Friction("rub", on, coefficient=0.25, static=0.45))
    return model


def loops():
    return ts.cases.load("four-bar", n=2)


def turning():
    """A planar four-bar on a table that swings: which of its rows are redundant changes."""
    model = ts.Model("turning", gravity=(0, -2.0, 0))
    table = model.add(ts.Ground("table", rotation=(0, 2 * ca.sin(ts.time), 0)))
    places = [np.array(x, float) for x in ((0, 0, 0), (0.2, 0.5, 0), (1.2, 0.8, 0), (1.0, 0, 0))]
    chain = [table]
    for k in range(3):
        at = (places[k] + places[k + 1]) / 2
        chain.append(model.body(f"link{k}", mass=1 + k, inertia=(0.01, 0.02, 0.03), at=at))
    chain.append(table)
    for k, name in enumerate("ABCD"):
        rate = {"start_rate": 1.5} if k == 0 else {}
        model.add(ts.Revolute(name, chain[k], chain[k + 1], point=places[k], axis=(0, 0, 1), **rate))
    return model


RUNS = {  # model, arguments of simulate
    "four-bar loops": (loops, {"until": 10.0, "outputs": 400}),
    "a loop that turns, rows chosen anew": (turning, {"until": 6.0, "outputs": 150, "formulation": "woronetz"}),
    "bouncing ball": (ball, {"until": 10.0, "outputs": 300}),
    "stick and slip": (belt, {"until": 10.0, "outputs": 200, "formulation": "hamiltonian"}),
}
CHECKPOINTS = {"checkpoint_every": None, "checkpoint_interval": 0.1}


def differences(one, other):
    """Names of variables and attributes that are not the same, bit for bit."""
    values = lambda x: x.values.tolist() if x.dtype.kind in "OU" else x.values.tobytes()
    names = set(one.variables) ^ set(other.variables)
    names |= {k for k in set(one.variables) & set(other.variables) if values(one[k]) != values(other[k])}
    return names | {k for k in {*one.attrs, *other.attrs} - {*UNEQUAL} if one.attrs.get(k) != other.attrs.get(k)}


class Run:
    """One kind of run, its model and its undisturbed result."""

    def __init__(self, name):
        build, self.options = RUNS[name]
        self.name, self.model = name, build()
        self.reference = ts.simulate(self.model, **self.options)

    def session(self, folder):
        """Start or resume the run and compare its result."""
        try:
            if os.path.exists(os.path.join(folder, "state")):
                found = ts.resume(folder, self.model)
            else:
                found = ts.simulate(self.model, checkpoint=folder, **CHECKPOINTS, **self.options)
            different = differences(found, self.reference)
            if different:
                print(f"{self.name}: differs in {sorted(different)}", file=sys.stderr)
            return DIFFERENT if different else SAME
        except BaseException:
            traceback.print_exc()
            return BROKEN

    def begin(self, folder):
        """A session in a process of its own; returns what ends it and what waits for it."""
        if not hasattr(os, "fork"):
            child = subprocess.Popen([sys.executable, __file__, "--session", self.name, folder])
            return child.kill, child.wait
        number = os.fork()
        if number == 0:
            os._exit(self.session(folder))

        def wait():
            status = os.waitpid(number, 0)[1]
            return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

        return lambda: os.kill(number, signal.SIGKILL), wait


def torment(run, kills, chance, patience=None):
    """Kill sessions of a run until `kills` of them were killed and the last run came to its end. Returns counts."""
    counts = {"kills": 0, "runs": 0, "different": 0, "broken": 0, "before the first checkpoint": 0}
    folder = tempfile.mkdtemp()
    if patience is None:  # how long a session takes that is not killed
        start = time.perf_counter()
        run.begin(folder)[1]()
        patience = time.perf_counter() - start
        shutil.rmtree(folder)
    while True:
        end, wait = run.begin(folder)
        if counts["kills"] < kills:
            time.sleep(chance.uniform(0, 0.5 * patience))
            end()
        status = wait()
        if status < 0 or status == 1:  # 1: how a killed process ends on Windows
            counts["kills"] += 1
            counts["before the first checkpoint"] += not os.path.exists(os.path.join(folder, "state"))
            continue
        counts["runs"] += 1
        counts["different"] += status == DIFFERENT
        counts["broken"] += status not in (SAME, DIFFERENT)
        shutil.rmtree(folder)
        if counts["kills"] >= kills:
            return counts


def cost(run):
    """Milliseconds of one checkpoint."""
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, "run")
        from torsor.store.checkpoint import Checkpoint

        times, commit = [], Checkpoint.commit

        def timed(*arguments):
            start = time.perf_counter()
            told = commit(*arguments)
            times.append(1e3 * (time.perf_counter() - start))
            return told

        Checkpoint.commit = timed
        try:
            ts.simulate(run.model, checkpoint=place, **CHECKPOINTS, **run.options)
        finally:
            Checkpoint.commit = commit
    return len(times), float(np.median(times))


def main(kills=1000, seed=0):
    chance, failed, total, began = random.Random(seed), 0, 0, time.perf_counter()
    for k, name in enumerate(RUNS):
        run = Run(name)
        checkpoints, each = cost(run)
        share = kills * (k + 1) // len(RUNS) - kills * k // len(RUNS)
        counts = torment(run, share, chance)
        failed, total = failed + counts["different"] + counts["broken"], total + counts["kills"]
        told = ", ".join(f"{value} {what}" for what, value in counts.items())
        print(f"{name}: {told}; {checkpoints} checkpoints a run, {each:.2f} ms each", flush=True)
    print(f"{total} kills, {failed} runs that were not as if nothing had happened; {time.perf_counter() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--session"]:
        sys.exit(Run(sys.argv[2]).session(sys.argv[3]))
    sys.exit(main(*(int(x) for x in sys.argv[1:3])))
