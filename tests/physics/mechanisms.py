"""Random mechanisms of 2 to 6 bodies.

A mechanism is drawn from a seed: its kind (a tree, a loop of some geometry, a tree with closures, something that rolls),
joints, places, masses, forces and contacts, in units of a length of 1e-8 to 1e8 m, a mass of 1e-9 to 1e9 kg and a time, so
that all sizes move alike.
"""

from dataclasses import dataclass, field

import casadi as ca
import numpy as np

import torsor as ts

GIVES = {  # degrees of freedom of a joint
    "Revolute": 1, "Prismatic": 1, "Screw": 1, "Cylindrical": 2, "Universal": 2, "Spherical": 3, "Planar": 3, "Free": 6, "Fixed": 0,
}  # fmt: skip
KINDS = {
    "tree": 0.35, "planar loop": 0.12, "spherical loop": 0.08, "spatial loop": 0.12, "closed tree": 0.2, "rolling": 0.08,
    "gear": 0.05,
}  # fmt: skip


@dataclass
class Draw:
    """A model under construction, with its units."""

    rng: np.random.Generator
    model: ts.Model
    length: float
    mass: float
    time: float
    most: int = 6  # bodies
    joints: list = field(default_factory=list)

    def __getattr__(self, name):  # numbers of the generator: uniform, integers, choice
        return getattr(self.rng, name)

    def chance(self, p):
        return self.rng.random() < p

    def direction(self):
        u = self.rng.normal(size=3)
        return u / np.linalg.norm(u)

    def place(self, spread=1.0):
        return self.length * spread * self.rng.uniform(-1, 1, 3)

    def body(self, at, thin=0.15):
        """A body of any shape: principal moments of a box of random sides, sometimes a thin rod."""
        rng, name = self.rng, f"b{len(self.model.bodies)}"
        m = self.mass * 10 ** rng.uniform(-1, 1)
        sides = self.length * rng.uniform(0.2, 1.0, 3)
        if rng.random() < thin:
            sides[1:] *= 10 ** rng.uniform(-3, -1)
        x, y, z = sides**2
        J = m / 12 * np.array([y + z, x + z, x + y])
        return self.model.body(name, mass=m, inertia=tuple(J), at=tuple(at), rotation=tuple(rng.normal(size=3)))

    def joint(self, kind, first, second, point, axis=None, moving=True):
        """A joint between two bodies; moving: with coordinates and rates at the start that are not zero."""
        options, axis = {}, self.direction() if axis is None else axis
        name, dof = f"j{len(self.joints)}", GIVES[kind]
        if kind in ("Revolute", "Prismatic", "Screw", "Cylindrical", "Universal", "Planar"):
            options["axis"] = tuple(axis)
        if kind == "Universal":
            other = np.cross(axis, self.direction())
            options["second_axis"] = tuple(other / np.linalg.norm(other))
        if kind == "Screw":
            options["pitch"] = self.length * self.uniform(0.2, 1.0) * self.choice([-1, 1])
        if moving and dof and kind not in ("Free", "Spherical"):
            unit = [self.length if u == "m" else 1.0 for u in units(kind)]
            options["start"] = tuple(self.uniform(-0.5, 0.5, dof) * unit)
            options["start_rate"] = tuple(self.uniform(-2, 2, dof) * unit / self.time)
        elif moving and kind == "Spherical":
            options["start_rate"] = tuple(self.uniform(-2, 2, 3) / self.time)
        joint = self.model.add(getattr(ts, kind)(name, first, second, point=tuple(point), **options))
        self.joints.append(joint)
        return joint


def units(kind):
    return {
        "Revolute": ["rad"], "Prismatic": ["m"], "Screw": ["rad"], "Cylindrical": ["rad", "m"], "Universal": ["rad", "rad"],
        "Planar": ["m", "m", "rad"],
    }[kind]  # fmt: skip


def mechanism(seed, sizes=True, most=6, rough=False):
    """The model of a seed, how long to run it, and what it is in words.

    sizes   of all sizes, or of about 1
    most    bodies
    rough   with a floor that something falls on, and dry friction
    """
    rng = np.random.default_rng(seed)
    wild = sizes and rng.random() < 0.7
    length, mass = (10 ** rng.uniform(-8, 8), 10 ** rng.uniform(-9, 9)) if wild else 10 ** rng.uniform(-0.5, 0.5, 2)
    time = 10 ** rng.uniform(-1, 1)
    gravity = 10 * length / time**2 * (rng.random() < 0.8)
    down = rng.normal(size=3)
    model = ts.Model(
        f"m{'_'.join(map(str, np.atleast_1d(seed)))}", gravity=tuple(gravity * down / np.linalg.norm(down))
    )
    draw = Draw(rng, model, float(length), float(mass), float(time), most)
    kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    {
        "tree": tree, "planar loop": planar_loop, "spherical loop": spherical_loop, "spatial loop": spatial_loop,
        "closed tree": closed_tree, "rolling": rolling, "gear": gear,
    }[kind](draw)  # fmt: skip
    forces(draw)
    told = [kind]
    if draw.chance(0.25):
        told.append(drives(draw))
    if draw.chance(0.2):
        told.append(contacts(draw))
    if rough:
        told.append(floor(draw))
        told.append(rubbing(draw))
    words = f"{', '.join(filter(None, told))}; {len(model.bodies)} bodies, {', '.join(j.key for j in draw.joints)}"
    return model, 2.0 * draw.time, f"{words}; length {length:.1e}, mass {mass:.1e}, time {time:.1e}"


def tree(draw, count=None, free=True, moving=True):
    kinds = (
        ["Revolute"] * 4
        + ["Prismatic", "Screw", "Cylindrical", "Universal", "Spherical", "Planar"]
        + ["Free", "Fixed"] * free
    )
    for _ in range(count or draw.integers(2, draw.most + 1)):
        bodies = [draw.model.ground, *draw.model.bodies]
        parent = bodies[draw.integers(len(bodies))]
        at = draw.place(2.0)
        body = draw.body(at)
        ends = (body, parent) if draw.chance(0.2) else (parent, body)
        draw.joint(str(draw.choice(kinds)), *ends, at + draw.place(0.5), moving=moving)


def _ring(draw, points, axes, kinds):
    """Bodies in a row from ground to ground, joints at `points`."""
    ends = [draw.model.ground]
    for a, b in zip(points, points[1:]):
        ends.append(draw.body((a + b) / 2 + draw.place(0.1)))
    ends.append(draw.model.ground)
    for k, (a, b) in enumerate(zip(ends, ends[1:])):
        draw.joint(kinds[k], a, b, points[k], axes[k], moving=False)
    pushed = draw.joints[0]
    draw.model.add(ts.JointForce("push", pushed, value=_torque(draw, pushed)))


def _torque(draw, joint):
    size = draw.mass * draw.length**2 / draw.time**2
    kind = type(joint).__name__
    return draw.uniform(-5, 5) * size / (draw.length if kind in ("Prismatic", "Planar") else 1.0)


def planar_loop(draw):
    normal, n = draw.direction(), int(draw.integers(3, max(4, draw.most)))
    u = np.cross(normal, draw.direction())
    u, v = u / np.linalg.norm(u), np.cross(normal, u / np.linalg.norm(u))
    angles = np.sort(draw.uniform(0, 2 * np.pi, n + 1))
    r = draw.length * draw.uniform(0.5, 1.5, n + 1)
    points = [r[k] * (np.cos(angles[k]) * u + np.sin(angles[k]) * v) for k in range(n + 1)]
    kinds, axes = ["Revolute"] * (n + 1), [normal] * (n + 1)
    if draw.chance(0.3):
        kinds[-1], axes[-1] = "Prismatic", u
    if draw.chance(0.2):
        kinds[1] = "Cylindrical"
    _ring(draw, points, axes, kinds)


def spherical_loop(draw):
    n, centre = int(draw.integers(3, max(4, draw.most - 1))), draw.place(0.5)
    axes = [draw.direction() for _ in range(n + 1)]
    points = [centre + draw.length * draw.uniform(0.5, 1.5) * a for a in axes]
    _ring(draw, points, axes, ["Revolute"] * (n + 1))


def spatial_loop(draw):
    n = int(draw.integers(2, draw.most))
    while True:
        kinds = [
            str(k)
            for k in draw.choice(["Revolute", "Universal", "Spherical", "Cylindrical", "Prismatic", "Planar"], n + 1)
        ]
        if 7 <= sum(GIVES[k] for k in kinds) <= 11:
            break
    _ring(draw, [draw.place(1.5) for _ in range(n + 1)], [draw.direction() for _ in range(n + 1)], kinds)


def closed_tree(draw):
    """A tree in its reference configuration with one or two closures more."""
    tree(draw, int(draw.integers(2, draw.most)), free=False, moving=False)
    model, freedom = draw.model, sum(GIVES[type(j).__name__] for j in draw.joints)
    for k in range(int(draw.integers(1, 3))):
        a, b = draw.choice(len(model.bodies) + 1, 2, replace=False)
        first, second = ([model.ground, *model.bodies][i] for i in (a, b))
        kind = str(draw.choice(["Distance", "PointOnPlane", "Spherical", "Universal", "Planar", "NoRotation"]))
        rows = {"Distance": 1, "PointOnPlane": 1, "Spherical": 3, "Universal": 4, "Planar": 3, "NoRotation": 3}[kind]
        if freedom - rows < 1:
            continue
        freedom, name, point = freedom - rows, f"c{k}", draw.place(2.0)
        if kind in GIVES:
            draw.joint(kind, first, second, point, moving=False)
        elif kind == "Distance":
            model.add(ts.Distance(name, first, second, points=(tuple(draw.place(2.0)), tuple(point))))
        elif kind == "PointOnPlane":
            model.add(ts.PointOnPlane(name, first, second, point=tuple(point), normal=tuple(draw.direction())))
        else:
            model.add(ts.NoRotation(name, first, second, about=((1, 0, 0), (0, 1, 0), (0, 0, 1))))


def rolling(draw):
    """A sphere, a disk or a blade on a plane, and a tree on it."""
    model, r, kind = draw.model, draw.length * draw.uniform(0.3, 1.0), str(draw.choice(["sphere", "disk", "blade"]))
    m = draw.mass * 10 ** draw.uniform(-1, 1)
    spin = tuple(draw.uniform(-2, 2, 3) / draw.time)
    J = m * r**2
    if kind == "sphere":
        ball = model.body("b0", mass=m, inertia=(0.4 * J, 0.4 * J, 0.4 * J), at=(0, 0, r), angular_velocity=spin)
        model.add(ts.RollingSphere("roll", model.ground, ball, radius=r))
    elif kind == "disk":
        lean = draw.uniform(-0.5, 0.5)
        at = (0, r * np.sin(-lean), r * np.cos(lean))
        ball = model.body(
            "b0", mass=m, inertia=(0.25 * J, 0.5 * J, 0.25 * J), at=at, rotation=(lean, 0, 0), angular_velocity=spin
        )
        model.add(ts.RollingDisk("roll", model.ground, ball, axis=(0, np.cos(lean), np.sin(lean)), radius=r))
    else:
        ball = model.body("b0", mass=m, inertia=(0.25 * J, 0.25 * J, 0.5 * J))
        draw.joints.append(model.add(ts.Planar("plane", model.ground, ball, axis=(0, 0, 1))))
        model.add(ts.KnifeEdge("edge", model.ground, ball, point=(r, 0, 0), across=(0, 1, 0)))
    for _ in range(int(draw.integers(1, max(2, draw.most - 3)))):
        at = np.array([0, 0, r]) + draw.place()
        parent = model.bodies[draw.integers(len(model.bodies))]
        draw.joint(
            str(draw.choice(["Revolute", "Prismatic", "Spherical"])), parent, draw.body(at), at + draw.place(0.3)
        )


def gear(draw):
    """Two hinges coupled by an equation between their angles, and a tree on them."""
    tree(draw, max(1, draw.most - 4), free=False)
    model = draw.model
    wheels = [
        draw.joint("Revolute", model.ground, draw.body(at), at, moving=False) for at in (draw.place(), draw.place())
    ]
    ratio = draw.uniform(-3, 3)
    model.add(ts.Holonomic("teeth", wheels[0].coordinate[0] + ratio * wheels[1].coordinate[0]))
    model.add(ts.JointForce("motor", wheels[0], value=_torque(draw, wheels[0])))


def forces(draw):
    """Some forces of all kinds, of the size of weights."""
    model = draw.model
    force, torque = draw.mass * draw.length / draw.time**2, draw.mass * draw.length**2 / draw.time**2
    for k in range(int(draw.integers(0, 4))):
        body = model.bodies[draw.integers(len(model.bodies))]
        kind = draw.integers(5)
        hinged = [j for j in draw.joints if j.dof == 1]
        if kind == 0:
            point = tuple(start_of(body) + draw.place(0.3))
            model.add(ts.PointForce(f"f{k}", body, force=tuple(5 * force * draw.uniform(-1, 1, 3)), point=point))
        elif kind == 1:
            model.add(
                ts.Torque(
                    f"f{k}",
                    body,
                    torque=tuple(torque * draw.uniform(-1, 1, 3)),
                    axes=str(draw.choice(["world", "body"])),
                )
            )
        elif kind == 2:
            k_, c = 5 * force / draw.length, force * draw.time / draw.length
            ends = (tuple(draw.place(3.0)), tuple(draw.place(3.0)))
            model.add(
                ts.SpringDamper(f"f{k}", model.ground, body, points=ends, stiffness=k_, damping=c * draw.uniform())
            )
        elif hinged:
            joint = hinged[draw.integers(len(hinged))]
            unit = force if isinstance(joint, ts.Prismatic) else torque
            size = draw.length if isinstance(joint, ts.Prismatic) else 1.0
            if kind == 3:
                model.add(ts.TorsionSpring(f"f{k}", joint, stiffness=5 * unit / size, damping=unit * draw.time / size))
            else:
                model.add(ts.CosineTorque(f"f{k}", joint, amplitude=unit, frequency=1 / draw.time))


def drives(draw):
    hinged = [j for j in draw.joints if isinstance(j, ts.Revolute) and j.start is not None]
    if not hinged:
        return ""
    joint = hinged[draw.integers(len(hinged))]
    start, rate = float(joint.start[0]), float(joint.start_rate[0])
    way = lambda t: start + rate * t + 0.3 * (1 - ca.cos(2 * t / draw.time))
    draw.model.add(ts.Drive("drive", joint, way))
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
        model.add(
            ts.Limit(
                "stop",
                joint,
                lower=start - size * draw.uniform(0.05, 1),
                upper=start + size * draw.uniform(0.05, 1),
                restitution=e,
            )
        )
        return "stops"
    body = model.bodies[-1]
    n = draw.direction()
    plane = start_of(body) - draw.uniform(2, 5) * draw.length * n
    model.add(ts.Contact("floor", model.ground, body, normal=tuple(n), plane=tuple(plane), restitution=e))
    return "floor"


def floor(draw):
    """Some points of a body above a floor across gravity, with friction or without."""
    model, body = draw.model, draw.model.bodies[draw.integers(len(draw.model.bodies))]
    down = np.array(ca.DM(ca.SX(model.gravity))).ravel()
    n = -down / np.linalg.norm(down) if down.any() else draw.direction()
    lowest = min((start_of(b) for b in model.bodies), key=lambda x: n @ x)
    plane, e, count = lowest - draw.uniform(0.5, 2) * draw.length * n, draw.uniform(0, 0.9), int(draw.integers(1, 4))
    e, mu = e if draw.chance(0.7) else 0.0, draw.uniform(0.05, 0.8) if draw.chance(0.6) else 0.0
    for k in range(count):
        point = tuple(start_of(body) + draw.place(0.5))
        on = ts.Contact(
            f"floor{k}", model.ground, body, point=point, normal=tuple(n), plane=tuple(plane), restitution=e
        )
        model.add(on)
        if mu:
            model.add(ts.Friction(f"rub{k}", on, coefficient=mu, static=mu * draw.choice([1.0, 1.3])))
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
                model.add(ts.Friction(f"rub_{joint.name}_{k}", joint, **law))
                told.append(f"{joint.name}[{k}]")
    return f"friction in {' '.join(told)}" if told else ""


def start_of(body):
    return np.array(ca.DM(body.start_position)).ravel()
