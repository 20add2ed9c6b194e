"""A model in which much happens, and what a study keeps of that: found by other processes, too."""

import numpy as np

import torsor as ts


def restrained(t, seen, calls):
    """A rule with a state that is no number: what it has seen."""
    return [-2.0 * seen[0] - 0.5 * seen[1]], [*calls, t]


def machine():
    """Nearly all that may happen in a run: a stop, dry friction, a weld that is released, something that is recorded, sampled
    rules in Python and compiled, and an end that some runs meet."""
    model = ts.Model("machine", gravity=(0, 0, -9.81))
    L, m = model.parameter("L", 1.0, positive=True), model.parameter("m", 1.0, positive=True)
    arm = model.body("arm", mass=m, inertia=(0.1, 0.1, 0.1), at=(L / 2, 0, 0))
    load = model.body("load", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 1, 2 * L))
    joint = model.add(
        ts.Revolute("A", model.ground, arm, point=(0, 0, 0), axis=(0, 1, 0), start=0.1, start_rate=0.2 * L)
    )
    slow = model.add(ts.Controller("slow", 0.05, [joint.coordinate, joint.rate], ["torque"], restrained, state=[]))
    quick = model.add(ts.Controller("quick", 0.02, outputs={"torque": -m * joint.rate}))
    model.add(ts.JointForce("motor", joint, slow["torque"] + quick["torque"]))
    model.add(ts.Limit("stop", joint, upper=0.5 * L, restitution=0.4 * L))
    model.add(ts.Friction("friction", joint, coefficient=0.1, radius=0.02, normal=10.0))
    weld = model.add(ts.Fixed("weld", model.ground, load))
    model.when(ts.time >= 0.1 * L, ts.release(weld), ts.record("height", load.position[2]), name="drop")
    model.when(load.velocity[2] <= -2.9, ts.end(), name="fast")
    return model


def seen(run):
    """What happened in a run."""
    told = {name: run.attrs[name] for name in ("events", "structures", "energy_of_events")}
    told |= {"times": run["event_time"].sum(), "heights": np.nansum(run["height"]), "drops": run["event_impulse"].sum()}
    return told | {"last": run.dataset.event_name.values[-1], "whole": run.dataset.energy[-1]}
