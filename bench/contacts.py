"""Stools with 3 to 8 feet, quadrupeds and grippers: dropped, pulled, tipped, slid, in seeded variants.

    python bench/contacts.py [--first 0] [--count 200] [--formulations absolute,relative,woronetz]
    python bench/contacts.py --smoke

A run is right where no contact pulls by more than 1e-9 of the weight, events add no energy, the energy balance closes, and it ends.
`TORSOR_LEVEL=0` compiles faster.
"""

import argparse
import time
import warnings

import casadi as ca
import numpy as np
from scipy.spatial.transform import Rotation

import torsor as ts

G = 9.81
ACTIONS = ("dropped", "pulled", "tipped", "slid")
FORMULATIONS = ("absolute", "relative", "woronetz")


def stool(random, action):
    """A seat on 3 to 8 feet. Returns the model, its start and its weight."""
    count, mass, height, radius = (
        int(random.integers(3, 9)),
        random.uniform(0.5, 20),
        random.uniform(0.2, 0.8),
        random.uniform(0.15, 0.5),
    )
    restitution, friction = random.choice([0.0, 0.0, 0.3, 0.6]), random.choice([0.0, 0.2, 0.6])
    angles = 2 * np.pi * (np.arange(count) + 0.3) / count
    feet = np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.zeros(count)])
    centre = np.array([*random.uniform(-0.3 * radius, 0.3 * radius, 2), height])
    given = {}
    if action == "slid":
        given = {"velocity": (*random.uniform(-2, 2, 2), 0), "angular_velocity": (0, 0, random.uniform(-5, 5))}
    model = ts.Model(f"stool{count}", gravity=(0, 0, -G))
    body = model.body("seat", inertia=ts.inertia.box(mass, 2 * radius, 2 * radius, 0.3 * height), at=centre, **given)
    model.add(ts.Free("free", model.ground, body, point=centre))
    for k, foot in enumerate(feet):
        contact = model.add(
            ts.Contact(f"foot{k}", model.ground, body, point=foot, plane=(0, 0, 0), restitution=restitution)
        )
        if friction:
            model.add(ts.Friction(f"rough{k}", contact, coefficient=friction))
    at, start = (*random.uniform(-radius, radius, 2), height), None
    if action == "dropped":
        tilt = random.normal(size=3) * 0.1
        low = ((feet - centre) @ Rotation.from_rotvec(tilt).as_matrix().T)[:, 2].min()
        start = {"free": (*tilt, 0, 0, -height - low + random.uniform(1e-3, 0.2))}
    elif action == "pulled":
        model.add(ts.PointForce("pull", body, force=(0, 0, mass * G * random.uniform(1, 5) * ts.time), point=at))
    elif action == "tipped":
        push = random.uniform(0.2, 1.5) * mass * G
        force = (push * ca.sin(3 * ts.time), 0.3 * push * ca.sin(5 * ts.time), 0)
        model.add(ts.PointForce("push", body, force=force, point=at))
    return model, start, mass * G


def quadruped(random, action):
    """Twelve joints with servos, four round feet."""
    model, goal = ts.Model("quadruped", gravity=(0, 0, -G)), {"hip": 0.0, "thigh": 0.9, "calf": -1.8}
    friction, restitution = random.choice([0.0, 0.6]), random.choice([0.0, 0.2])
    stiffness, damping = random.uniform(60, 150), random.uniform(1, 3)
    trunk = model.body("trunk", inertia=ts.inertia.box(6.0, 0.4, 0.2, 0.1), at=(0, 0, 0.45))
    model.add(ts.Free("root", model.ground, trunk, point=(0, 0, 0.45)))
    for name, x, y in (("FR", 0.19, -0.05), ("FL", 0.19, 0.05), ("RR", -0.19, -0.05), ("RL", -0.19, 0.05)):
        s = np.sign(y) * 0.08
        hip = model.body(f"{name}_hip", inertia=ts.inertia.box(0.6, 0.06, 0.06, 0.06), at=(x, y, 0.45))
        thigh = model.body(f"{name}_thigh", inertia=ts.inertia.box(0.9, 0.04, 0.04, 0.2), at=(x, y + s, 0.345))
        calf = model.body(f"{name}_calf", inertia=ts.inertia.box(0.15, 0.02, 0.02, 0.2), at=(x, y + s, 0.132))
        for a, b, point, axis, part in (
            (trunk, hip, (x, y, 0.45), "x", "hip"),
            (hip, thigh, (x, y + s, 0.45), "y", "thigh"),
            (thigh, calf, (x, y + s, 0.237), "y", "calf"),
        ):
            joint = model.add(ts.Revolute(f"{name}_{part}_joint", a, b, point=point, axis=axis))
            law = stiffness * (goal[part] - joint.coordinate[0]) - damping * joint.rate[0]
            model.add(ts.JointForce(f"{name}_{part}_servo", joint, law))
        foot = ts.Contact(
            f"foot_{name}",
            model.ground,
            calf,
            point=(x, y + s, 0.024),
            radius=0.023,
            plane=(0, 0, 0),
            restitution=restitution,
        )
        contact = model.add(foot)
        if friction:
            model.add(ts.Friction(f"rough_{name}", contact, coefficient=friction))
    start = {f"{leg}_{part}_joint": angle for leg in ("FR", "FL", "RR", "RL") for part, angle in goal.items()}
    tilt = random.normal(size=3) * 0.1 if action == "dropped" else np.zeros(3)
    start["root"] = (*tilt, 0, 0, (0.40 if action == "dropped" else 0.30) - 0.45)
    if action == "slid":
        start["root.rate"] = (0, 0, 0, 0.5, 0.2, 0)
    elif action == "tipped":
        model.add(ts.PointForce("push", trunk, force=(40 * ca.sin(4 * ts.time), 60 * ca.sin(3 * ts.time), 0)))
    elif action == "pulled":
        model.add(ts.PointForce("pull", trunk, force=(0, 0, 200 * ts.time)))
    return model, start, 12.6 * G


def gripper(random, action):
    """Two fingers with three or four frictional pads each lift a cube from four corners."""
    model, mass, friction = ts.Model("gripper", gravity=(0, 0, -G)), random.uniform(0.05, 0.3), random.uniform(0.3, 1.0)
    hand = model.body("hand", mass=1.0, inertia=(0.01,) * 3, at=(0, 0, 0.2))
    lift = model.add(ts.Prismatic("lift", model.ground, hand, point=(0, 0, 0.2), axis="z"))
    cube = model.body("cube", inertia=ts.inertia.box(mass, 0.04, 0.04, 0.04), at=(0, 0, 0.02))
    model.add(ts.Free("loose", model.ground, cube, point=(0, 0, 0.02)))
    for k, (x, y) in enumerate(((0.02, 0.02), (-0.02, 0.02), (0.02, -0.02), (-0.02, -0.02))):
        model.add(ts.Contact(f"corner{k}", model.ground, cube, point=(x, y, 0), plane=(0, 0, 0)))
    force = random.uniform(2, 8) if action != "slid" else 0.5
    four, three = ((0.02, 0.04), (-0.02, 0.04), (0.02, 0), (-0.02, 0)), ((0.0, 0.03), (0.015, 0.01), (-0.015, 0.01))
    for s, side in ((1, "L"), (-1, "R")):
        finger = model.body("finger" + side, mass=0.05, inertia=(1e-5,) * 3, at=(s * 0.03, 0, 0.02))
        slide = model.add(ts.Prismatic("slide" + side, hand, finger, point=(s * 0.03, 0, 0.02), axis=(-s, 0, 0)))
        uneven = 1 + (0.1 * s if action == "tipped" else 0)
        model.add(ts.JointForce("grip" + side, slide, force * uneven - 2.0 * slide.rate[0]))
        for k, (y, z) in enumerate(four if force > 4 else three):
            pad = ts.Contact(
                f"pad{side}{k}", finger, cube, point=(s * 0.02, y, z), normal=(-s, 0, 0), plane=(s * 0.025, 0, 0.02)
            )
            model.add(ts.Friction(f"rough{side}{k}", model.add(pad), coefficient=friction))
    up = 4.0 if action in ("pulled", "slid") else 1.0
    ramp = ca.fmin(1, ca.fmax(0, 20 * (ts.time - 0.15)))
    model.add(ts.JointForce("lifter", lift, G * (1.1 + mass) + up * ramp - 5 * lift.rate[0]))
    return model, None, (1.1 + mass) * G


def variant(seed):
    """Model, start, weight and name of a variant: three of four are stools."""
    random = np.random.default_rng(seed)
    build = random.choice([stool] * 6 + [quadruped, gripper])
    action = str(random.choice(ACTIONS))
    model, start, weight = build(random, action)
    return model, start, weight, f"{model.name} {action}"


def faults(data, model, weight):
    """What is wrong with a run, in words."""
    contacts = [c.name for c in model.constraints if isinstance(c, ts.Contact)]
    pull = (
        -data.multiplier.sel(constraint=[c for c in data.constraint.values if c.split("[")[0] in contacts]).min()
        / weight
    )
    gained = np.diff(data.energy_by_events.values).max(initial=0.0)
    off = np.abs(data.energy - data.energy[0] - data.work - data.energy_by_events).max()
    found = [f"a contact pulls by {float(pull):.1e} of the weight"] if pull > 1e-9 else []
    found += [f"events add {gained:.1e} J"] if gained > 1e-9 * weight else []
    return found + ([f"the energy balance is off by {float(off):.1e} J"] if off > 1e-6 * weight else [])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--formulations", default=",".join(FORMULATIONS))
    parser.add_argument("--smoke", action="store_true")
    given = parser.parse_args()
    forms, count = given.formulations.split(","), given.count
    if given.smoke:
        forms, count = ["relative"], 2
    warnings.simplefilter("ignore")
    wrong = 0
    for seed in range(given.first, given.first + count):
        for form in forms:
            model, start, weight, name = variant(seed)
            began = time.perf_counter()
            try:
                data = ts.simulate(model, 0.5, outputs=50, formulation=form, start=start, progress=False)
                found = faults(data, model, weight)
            except ts.RunError as error:
                found = [str(error)[:200]]
            wrong += bool(found)
            print(
                f"{seed:4d} {form:9s} {name:20s} {time.perf_counter() - began:6.1f} s  {'; '.join(found) or 'right'}",
                flush=True,
            )
    print(f"{count * len(forms) - wrong} of {count * len(forms)} runs are right")


if __name__ == "__main__":
    main()
