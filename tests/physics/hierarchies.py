"""Random models made of components inside components, with trees and loops."""

import numpy as np

import torsor as ts

JOINTS = (ts.Revolute, ts.Prismatic, ts.Spherical, ts.Universal, ts.Cylindrical, ts.Planar, ts.Fixed)


def _joint(random, model, name, first, second, point):
    kind = JOINTS[random.integers(len(JOINTS))]
    fields = kind.__dataclass_fields__
    axis = random.standard_normal(3)
    given = {"axis": axis} if "axis" in fields else {}
    if "second_axis" in fields:
        given["second_axis"] = np.cross(axis, random.standard_normal(3))
    return model.add(kind(name, first, second, point=point, **given))


def component(random, depth, name="part", loops=True, finish=None):
    """A model of up to three bodies in a row, components hung on them, and bars that close loops; its port is its first body.

    finish   called with every model that is done
    """
    model = ts.Model(name, gravity=(0.3, -0.2, -9.81))
    bodies = []
    for k in range(random.integers(1, 4)):
        at = random.uniform(-1, 1, 3)
        inertia = ts.inertia.box(random.uniform(0.5, 2), *random.uniform(0.2, 1, 3))
        bodies.append(model.body(f"b{k}", inertia=inertia, at=at))
        if k:
            _joint(random, model, f"j{k}", bodies[k - 1], bodies[k], at + random.uniform(-0.3, 0.3, 3))
    hung = []
    for k in range(random.integers(0, 3) if depth else 0):
        inner = component(random, depth - 1, f"{name}{k}", loops, finish)
        turn = random.standard_normal(3)
        child = model.include(f"c{k}", inner, at=random.uniform(-2, 2, 3), rotation=turn)
        _joint(random, model, f"h{k}", bodies[random.integers(len(bodies))], child.port, random.uniform(-1, 1, 3))
        model.add(ts.SpringDamper(f"s{k}", bodies[0], child.port, stiffness=20.0, damping=0.5, length=1.0))
        hung.append(child)
    if loops and len(hung) > 1:
        model.add(ts.Distance("bar", hung[0].port, hung[1].port))
    model.expose("port", bodies[0])
    if finish is not None:
        finish(model)
    return model


def hierarchy(seed, loops=True, finish=None):
    """A model of components on a ground, or free; finish: see `component`."""
    random = np.random.default_rng(seed)
    model = ts.Model("system", gravity=(0, 0, -9.81))
    inner = lambda k: component(random, 2, f"part{k}", loops, finish)
    parts = [model.include(f"p{k}", inner(k), at=(3.0 * k, 0, 0)) for k in range(2)]
    if random.random() < 0.8:
        _joint(random, model, "foot", model.ground, parts[0].port, random.uniform(-1, 1, 3))
    _joint(random, model, "between", parts[0].port, parts[1].port, random.uniform(-1, 1, 3))
    if loops and random.random() < 0.5:
        model.add(ts.Distance("rod", model.ground, parts[1].port, points=((0, 0, 2), parts[1].port.start_position)))
    if finish is not None:
        finish(model)
    return model
