"""Random forces, drives, contacts and friction for a drawing of a mechanism (`mechanisms.py`), in its units."""

import casadi as ca
import numpy as np

import torsor as ts


def numbers(column):
    return np.array(ca.DM(ca.SX(column))).ravel()


def forces(draw):
    """Some forces of all kinds, of the size of weights."""
    model = draw.model
    force, torque = draw.mass * draw.length / draw.time**2, draw.mass * draw.length**2 / draw.time**2
    for k in range(int(draw.integers(0, 4))):
        body = model.bodies[draw.integers(len(model.bodies))]
        kind, name = draw.integers(5), f"{draw.prefix}f{k}"
        hinged = [j for j in draw.joints if j.dof == 1]
        if kind == 0:
            point = draw.point(draw.centre(body) + draw.place(0.3))
            push = draw.vector(5 * force * draw.uniform(-1, 1, 3))
            draw.add(ts.PointForce(name, body, force=push, point=point))
        elif kind == 1:
            twist, axes = torque * draw.uniform(-1, 1, 3), str(draw.choice(["world", "body"]))
            draw.add(ts.Torque(name, body, torque=draw.vector(twist) if axes == "world" else tuple(twist), axes=axes))
        elif kind == 2:
            k_, c = 5 * force / draw.length, force * draw.time / draw.length
            ends = (draw.point(draw.place(3.0)), draw.point(draw.place(3.0)))
            law = {"stiffness": k_, "damping": c * draw.uniform()}
            draw.add(ts.SpringDamper(name, model.ground, body, points=ends, **law))
        elif hinged:
            joint = hinged[draw.integers(len(hinged))]
            unit = force if isinstance(joint, ts.Prismatic) else torque
            size = draw.length if isinstance(joint, ts.Prismatic) else 1.0
            if kind == 3:
                draw.add(ts.TorsionSpring(name, joint, stiffness=5 * unit / size, damping=unit * draw.time / size))
            else:
                draw.add(ts.CosineTorque(name, joint, amplitude=unit, frequency=1 / draw.time))


def drives(draw):
    hinged = [j for j in draw.joints if isinstance(j, ts.Revolute) and j.start is not None]
    if not hinged:
        return ""
    joint = hinged[draw.integers(len(hinged))]
    start, rate = float(joint.start[0]), float(joint.start_rate[0])
    way = lambda t: start + rate * t + 0.3 * (1 - ca.cos(2 * t / draw.time))
    draw.add(ts.Drive(f"{draw.prefix}drive", joint, way))
    return "driven"


def contacts(draw):
    """Stops of a joint, or a floor below everything."""
    model = draw.model
    hinged = [
        j
        for j in draw.joints
        if j.dof == 1 and not any(isinstance(c, ts.Drive) and c.joint is j for c in model.constraints)
    ]
    e = draw.uniform(0.2, 0.9)
    if hinged and draw.chance(0.6):
        joint = hinged[draw.integers(len(hinged))]
        size = draw.length if isinstance(joint, ts.Prismatic) else 1.0
        start = float(joint.start[0]) if joint.start is not None else 0.0
        draw.add(
            ts.Limit(
                f"{draw.prefix}stop",
                joint,
                lower=start - size * draw.uniform(0.05, 1),
                upper=start + size * draw.uniform(0.05, 1),
                restitution=e,
            )
        )
        return "stops"
    body = model.bodies[-1]
    n = draw.direction()
    plane = draw.point(draw.centre(body) - draw.uniform(2, 5) * draw.length * n)
    name = f"{draw.prefix}floor"
    draw.add(ts.Contact(name, model.ground, body, normal=draw.vector(n), plane=plane, restitution=e))
    return "floor"


def floor(draw):
    """Some points of a body above a floor across gravity, with friction or without."""
    model, body = draw.model, draw.model.bodies[draw.integers(len(draw.model.bodies))]
    down = draw.pose[0].T @ numbers(model.gravity)
    n = -down / np.linalg.norm(down) if down.any() else draw.direction()
    lowest = min((draw.centre(b) for b in model.bodies), key=lambda x: n @ x)
    plane, e, count = lowest - draw.uniform(0.5, 2) * draw.length * n, draw.uniform(0, 0.9), int(draw.integers(1, 4))
    e, mu = e if draw.chance(0.7) else 0.0, draw.uniform(0.05, 0.8) if draw.chance(0.6) else 0.0
    for k in range(count):
        where = {
            "point": draw.point(draw.centre(body) + draw.place(0.5)),
            "normal": draw.vector(n),
            "plane": draw.point(plane),
        }
        on = draw.add(ts.Contact(f"{draw.prefix}floor{k}", model.ground, body, **where, restitution=e))
        if mu:
            law = {"coefficient": mu, "static": mu * draw.choice([1.0, 1.3])}
            draw.add(ts.Friction(f"{draw.prefix}rub{k}", on, **law))
    return f"{count} points above a floor, restitution {e:.2g}, friction {mu:.2g}"


def rubbing(draw):
    """Dry friction in some joints, under their own reactions or a given load."""
    model, told = draw.model, []
    driven = {id(c.joint) for c in model.constraints if isinstance(c, ts.Drive)}
    some = [j for j in draw.joints if j.dof and not isinstance(j, (ts.Free, ts.Spherical)) and id(j) not in driven]
    for joint in some:
        for k in range(joint.dof):
            if draw.chance(0.25):
                radius = draw.length * draw.uniform(0.02, 0.2) if joint.angular[k] else None
                load = None if draw.chance(0.5) else draw.mass * draw.length / draw.time**2 * draw.uniform(1, 20)
                law = {"coefficient": draw.uniform(0.05, 0.5), "normal": load, "radius": radius, "index": k}
                draw.add(ts.Friction(f"{draw.prefix}rub_{joint.name}_{k}", joint, **law))
                told.append(f"{joint.name}[{k}]")
    return f"friction in {' '.join(told)}" if told else ""
