"""Random trees of bodies with random joints, starts and springs, for tests of files of other programs."""

import numpy as np

import torsor as ts
from torsor.lie import so3

ACROSS = ("spherical", "fixed", "spatial-translation", "free")  # joints without an axis
EVERY = ("revolute", "prismatic", "universal", "cylindrical", "planar", "schoenflies", "fixed", "spherical",
         "planar-translation", "spatial-translation", "screw", "none", "free")  # fmt: skip


def random_robot(random, kinds, count=5, springs=True, damping=True, reverse=True, name="robot"):
    """A model with `count` bodies on joints of some kinds ("none": a free body), which start anywhere."""
    model = ts.Model(name, gravity=(0.3, -0.2, -9.81), hints=False)
    bodies = [model.ground]
    for k in range(count):
        Q = np.asarray(so3.exp(random.standard_normal(3)))
        J = Q @ np.diag(random.uniform(0.02, 0.03, 3)) @ Q.T
        kind = kinds[random.integers(len(kinds))]
        given = {"at": random.standard_normal(3), "rotation": np.asarray(so3.exp(random.standard_normal(3)))}
        body = model.body(f"b{k}", mass=float(random.uniform(0.5, 2)), inertia=(J + J.T) / 2, **given)
        before = bodies[random.integers(len(bodies))]
        if kind == "free":
            before = model.ground
        if kind != "none":
            backward = reverse and random.random() < 0.3
            ends = (body, before) if backward else (before, body)
            joint = model.add(random_joint(random, f"j{k}", kind, ends))
            for i in range(joint.dof if kind not in ("spherical", "free") else 0):
                if springs and random.random() < 0.5:
                    stiffness, rest = random.uniform(1, 5), random.uniform(-0.3, 0.3)
                    model.add(ts.Spring(f"s{k}_{i}", joint, stiffness=stiffness, rest=rest, index=i))
                if damping and random.random() < 0.5:
                    model.add(ts.Spring(f"d{k}_{i}", joint, damping=random.uniform(0, 1), index=i))
        if kind != "none":  # where a free body carries others, several starts fit
            bodies.append(body)
    return model


def random_joint(random, name, kind, ends):
    """A joint anywhere, with a random start."""
    cls, axis = ts.registered("joint")[kind], random.standard_normal(3)
    given = {"point": tuple(random.standard_normal(3))}
    if kind not in ACROSS:
        given["axis"] = tuple(axis / np.linalg.norm(axis))
    if kind == "universal":
        across = np.cross(axis, random.standard_normal(3))
        given["second_axis"] = tuple(across / np.linalg.norm(across))
    if kind == "screw":
        given["pitch"] = float(random.uniform(0.1, 0.5))
    dof = cls(name, *ends, **given).dof
    if dof:
        given["start"], given["start_rate"] = (tuple(0.4 * random.standard_normal(dof)) for _ in range(2))
    return cls(name, *ends, **given)


def starts_by_motion(model, second="_{}"):
    """Coordinates and rates at the start by the names that a written file gives its joints: those of each motion."""
    found = {}, {}
    for joint in model.joints:
        for k in range(joint.dof):
            name = joint.name if joint.dof == 1 else joint.name + second(k)
            for values, given in zip(found, (joint.start, joint.start_rate)):
                values[name] = float(given[k])
    return found


def accelerations(model, start=None):
    """Accelerations of all bodies by name, at the start or at another one."""
    compiled = ts.compile(model, "absolute")
    state = () if start is None else compiled.state(start)
    a = np.asarray(compiled.accelerations(*state)).reshape(-1, 6)
    return {body.name: a[k] for k, body in enumerate(model.bodies)}


def largest_difference(a, b):
    """The largest difference of accelerations of the bodies of b over the largest acceleration."""
    size = max(np.abs(x).max() for x in a.values())
    return max(np.abs(a[name] - b[name]).max() for name in b) / size
