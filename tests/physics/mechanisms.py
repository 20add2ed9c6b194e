"""Random mechanisms of 2 to 6 bodies.

A mechanism is drawn from a seed: its kind (a tree, a loop of some geometry, a tree with closures, something that rolls),
joints, places, masses, forces and contacts, in units of a length of 1e-8 to 1e8 m, a mass of 1e-9 to 1e9 kg and a time, so
that all sizes move alike. The drawing may be turned and shifted as a whole in the world.
"""

from dataclasses import dataclass, field

import casadi as ca
import numpy as np
from random_elements import contacts, drives, floor, forces, numbers, rubbing

import torsor as ts
from torsor.lie import so3

IDENTITY = (np.eye(3), np.zeros(3))  # pose of a drawing in the world: rotation, position in units of length
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
    pose: tuple = IDENTITY
    prefix: str = ""  # of the names of forces, drives, contacts and friction
    active: bool = True  # elements are added active
    joints: list = field(default_factory=list)
    words: list = field(default_factory=list)

    def __getattr__(self, name):  # numbers of the generator: uniform, integers, choice
        return getattr(self.rng, name)

    def chance(self, p):
        return self.rng.random() < p

    def direction(self):
        u = self.rng.normal(size=3)
        return u / np.linalg.norm(u)

    def place(self, spread=1.0):
        return self.length * spread * self.rng.uniform(-1, 1, 3)

    def point(self, x):
        """A point of the drawing in the world."""
        R, shift = self.pose
        return tuple(R @ x + self.length * shift)

    def vector(self, u):
        """A vector of the drawing in world axes."""
        return tuple(self.pose[0] @ u)

    def orientation(self, rotation):
        """A rotation vector of the drawing, seen from the world: itself, or a matrix."""
        return tuple(rotation) if self.pose is IDENTITY else self.pose[0] @ matrix_of(rotation)

    def centre(self, body):
        """The centre of mass of a body in the drawing."""
        R, shift = self.pose
        return R.T @ (numbers(body.start_position) - self.length * shift)

    def add(self, element):
        return self.model.add(element, active=self.active)

    def body(self, at, thin=0.15):
        """A body of any shape: principal moments of a box of random sides, sometimes a thin rod."""
        rng, name = self.rng, f"b{len(self.model.bodies)}"
        m = self.mass * 10 ** rng.uniform(-1, 1)
        sides = self.length * rng.uniform(0.2, 1.0, 3)
        if rng.random() < thin:
            sides[1:] *= 10 ** rng.uniform(-3, -1)
        x, y, z = sides**2
        J = m / 12 * np.array([y + z, x + z, x + y])
        return self.model.body(
            name, mass=m, inertia=tuple(J), at=self.point(at), rotation=self.orientation(rng.normal(size=3))
        )

    def joint(self, kind, first, second, point, axis=None, moving=True):
        """A joint between two bodies; moving: with coordinates and rates at the start that are not zero."""
        options, axis = {}, self.direction() if axis is None else axis
        name, dof = f"j{len(self.joints)}", GIVES[kind]
        if kind in ("Revolute", "Prismatic", "Screw", "Cylindrical", "Universal", "Planar"):
            options["axis"] = self.vector(axis)
        if kind == "Universal":
            other = np.cross(axis, self.direction())
            options["second_axis"] = self.vector(other / np.linalg.norm(other))
        if kind == "Screw":
            options["pitch"] = self.length * self.uniform(0.2, 1.0) * self.choice([-1, 1])
        if moving and dof and kind not in ("Free", "Spherical"):
            unit = [self.length if u == "m" else 1.0 for u in units(kind)]
            options["start"] = tuple(self.uniform(-0.5, 0.5, dof) * unit)
            options["start_rate"] = tuple(self.uniform(-2, 2, dof) * unit / self.time)
            if kind == "Planar":
                for name_of in ("start", "start_rate"):
                    options[name_of] = self.planar_coordinates(axis, options[name_of])
        elif moving and kind == "Spherical":
            options["start_rate"] = self.vector(self.uniform(-2, 2, 3) / self.time)
        joint = self.model.add(getattr(ts, kind)(name, first, second, point=self.point(point), **options))
        self.joints.append(joint)
        return joint

    def planar_coordinates(self, axis, given):
        """Coordinates of a planar joint in the world: its directions n₁, n₂ follow from the axis, and do not turn with it."""
        if self.pose is IDENTITY:
            return tuple(given)
        drawing, world = so3.normals(np.asarray(axis)), so3.normals(np.asarray(self.vector(axis)))
        return (*(world @ self.vector(drawing.T @ given[:2])), given[2])


def units(kind):
    return {
        "Revolute": ["rad"], "Prismatic": ["m"], "Screw": ["rad"], "Cylindrical": ["rad", "m"], "Universal": ["rad", "rad"],
        "Planar": ["m", "m", "rad"],
    }[kind]  # fmt: skip


def mechanism(seed, sizes=True, most=6, rough=False):
    """The model of a seed, how long to run it, and what it is in words."""
    draw = drawing(seed, sizes, most, rough)
    return draw.model, 2.0 * draw.time, describe(draw)


def describe(draw):
    words = f"{', '.join(filter(None, draw.words))}; {len(draw.model.bodies)} bodies, {', '.join(j.key for j in draw.joints)}"
    return f"{words}; length {draw.length:.1e}, mass {draw.mass:.1e}, time {draw.time:.1e}"


def drawing(seed, sizes=True, most=6, rough=False, pose=IDENTITY):
    """The mechanism of a seed, to which elements may be added.

    sizes   of all sizes, or of about 1
    most    bodies
    rough   with a floor that something falls on, and dry friction
    pose    of the whole in the world: rotation matrix, and position in units of length
    """
    rng = np.random.default_rng(seed)
    wild = sizes and rng.random() < 0.7
    length, mass = (10 ** rng.uniform(-8, 8), 10 ** rng.uniform(-9, 9)) if wild else 10 ** rng.uniform(-0.5, 0.5, 2)
    time = 10 ** rng.uniform(-1, 1)
    gravity = 10 * length / time**2 * (rng.random() < 0.8)
    down = rng.normal(size=3)
    model = ts.Model(
        f"m{'_'.join(map(str, np.atleast_1d(seed)))}",
        gravity=tuple(pose[0] @ (gravity * down / np.linalg.norm(down))),
    )
    draw = Draw(rng, model, float(length), float(mass), float(time), most, pose)
    kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    {
        "tree": tree, "planar loop": planar_loop, "spherical loop": spherical_loop, "spatial loop": spatial_loop,
        "closed tree": closed_tree, "rolling": rolling, "gear": gear,
    }[kind](draw)  # fmt: skip
    forces(draw)
    draw.words.append(kind)
    if draw.chance(0.25):
        draw.words.append(drives(draw))
    if draw.chance(0.2):
        draw.words.append(contacts(draw))
    if rough:
        draw.words.append(floor(draw))
        draw.words.append(rubbing(draw))
    return draw


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
    push(draw, draw.joints[0])


def push(draw, joint):
    """A force along the first coordinate of a joint in the drawing, which may have components along several in the world."""
    efforts = [_torque(draw, joint), *[0.0] * (joint.dof - 1)]
    if isinstance(joint, ts.Planar):
        efforts = draw.planar_coordinates(draw.pose[0].T @ joint.axis, efforts)
    elif isinstance(joint, ts.Spherical):
        efforts = draw.vector(efforts)
    for k in np.flatnonzero(efforts):
        draw.model.add(ts.JointForce(f"push{k}", joint, value=efforts[k], index=int(k)))


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
            model.add(ts.Distance(name, first, second, points=(draw.point(draw.place(2.0)), draw.point(point))))
        elif kind == "PointOnPlane":
            model.add(
                ts.PointOnPlane(name, first, second, point=draw.point(point), normal=draw.vector(draw.direction()))
            )
        else:
            axes = tuple(draw.vector(e) for e in np.eye(3))
            model.add(ts.NoRotation(name, first, second, about=axes))


def rolling(draw):
    """A sphere, a disk or a blade on a plane, and a tree on it."""
    model, r, kind = draw.model, draw.length * draw.uniform(0.3, 1.0), str(draw.choice(["sphere", "disk", "blade"]))
    m = draw.mass * 10 ** draw.uniform(-1, 1)
    spin = {"angular_velocity": tuple(draw.uniform(-2, 2, 3) / draw.time)}
    up, J = draw.vector(np.array([0, 0, 1.0])), m * r**2
    if kind == "sphere":
        moments, at, lean = (0.4 * J, 0.4 * J, 0.4 * J), (0, 0, r), 0.0
    elif kind == "disk":
        lean = draw.uniform(-0.5, 0.5)
        moments, at = (0.25 * J, 0.5 * J, 0.25 * J), (0, r * np.sin(-lean), r * np.cos(lean))
    else:
        moments, at, lean, spin = (0.25 * J, 0.25 * J, 0.5 * J), (0, 0, 0), 0.0, {}
    stands = {"at": draw.point(np.array(at)), "rotation": draw.orientation((lean, 0, 0))}
    ball = model.body("b0", mass=m, inertia=moments, **stands, **spin)
    if kind == "sphere":
        model.add(ts.RollingSphere("roll", model.ground, ball, radius=r, normal=up))
    elif kind == "disk":
        axis = draw.vector(np.array([0, np.cos(lean), np.sin(lean)]))
        model.add(ts.RollingDisk("roll", model.ground, ball, axis=axis, radius=r, normal=up))
    else:
        draw.joints.append(model.add(ts.Planar("plane", model.ground, ball, axis=up, point=draw.point(np.zeros(3)))))
        tip, across = draw.point(np.array([r, 0, 0])), draw.vector(np.array([0, 1.0, 0]))
        model.add(ts.KnifeEdge("edge", model.ground, ball, point=tip, across=across))
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


def matrix_of(rotation):
    """The rotation matrix of a rotation vector."""
    return np.array(ca.DM(so3.exp(ca.DM(rotation))))
