"""Every registered force: generalised force, energy and power belong together; internal forces have their reactions."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from documented import documented
from scenes import scene

import torsor as ts
from torsor.formulations.absolute import Absolute
from torsor.lie import so3

STEP = 1e-5  # central differences of functions of size 10 to 100: truncation 1e-8, rounding 1e-9
DIFFERENCE = 1e-6
ROUNDING = 1e-11  # a hundred operations on numbers of size 100

FORCES = {**ts.registered("force"), **documented("force")}
CASES = [pytest.param((cls, k), id=f"{key}-{k}") for key, cls in FORCES.items() for k in range(len(cls.variants))]
RUBBING = [  # constraints that act as forces while they slide
    pytest.param((cls, k), id=f"{key}-{k}")
    for key, cls in ts.registered("constraint").items()
    if issubclass(cls, ts.Force)
    for k in range(len(cls.variants))
]
INTERNAL = ("joint-force", "cosine-torque", "spring-damper", "spring", "torsion-spring", "energy")


class Loaded:
    """A model with one force: generalised force f, potential U, power P at (t, q, v)."""

    def __init__(self, model, force):
        self.force = model.add(force)
        self.formulation = f = Absolute(model)
        self.bodies = model.bodies
        f_all = ca.vertcat(*[f.loads.on[id(b)] for b in model.bodies])
        D = force.dissipation()
        D = ca.SX(0) if D is None else f.substitution.of(D)
        results = [f_all, f.loads.potential, f.loads.power, D]
        self._f = ca.Function("f", [ts.time, f.q, f.v, f.p], [ca.densify(ca.SX(x)) for x in results])
        q, u = ca.SX.sym("q", f.manifold.size), ca.SX.sym("u", f.manifold.dimension)
        self._step = ca.Function("step", [q, u], [f.manifold.retract(q, u)])
        self.turns = np.full(f.p.shape[0], 0.4)

    def __call__(self, t, q, v):
        f, U, P, D = (x.full().ravel() for x in self._f(t, q, v, self.turns))
        return f, U[0], P[0], D[0]

    def move(self, q, u):
        return self._step(q, u).full().ravel()


@pytest.fixture(params=CASES)
def loaded(request):
    cls, k = request.param
    model, offered = scene()
    return Loaded(model, cls.examples(offered)[k])


def state(seed=3):
    random = np.random.default_rng(seed)
    rotation = lambda: so3.exp(random.uniform(-0.6, 0.6, 3)).ravel(order="F")
    q = np.concatenate([np.r_[random.uniform(-1, 1, 3), rotation()] for _ in range(2)])
    return q, random.uniform(-1, 1, 12)


def added(case):
    """An example of a force in its scene."""
    cls, k = case
    model, offered = scene()
    return model.add(cls.examples(offered)[k])


BY_EFFORT = [case for case in CASES if added(*case.values).efforts()]
BY_ENERGY = [case for case in CASES if not added(*case.values).efforts()]
DISSIPATING = [case for case in CASES if added(*case.values).dissipation() is not None]
on_one_body = lambda case: getattr(added(*case.values), "body", None) is not None
BETWEEN = [case for case in CASES if case.values[0][0].key in INTERNAL and not on_one_body(case)]


def test_every_internal_force_is_there():
    assert {case.values[0][0].key for case in BETWEEN} == set(INTERNAL)


@pytest.mark.parametrize("case", BY_EFFORT)
def test_a_force_declares_efforts_or_energies(case):
    force = added(case)
    assert force.potential() is None and force.dissipation() is None


@pytest.mark.parametrize("loaded", BY_ENERGY, indirect=True)
def test_generalised_force_is_minus_the_gradient_of_energy_and_dissipation(loaded):
    """f = −∂U/∂(δx, δθ) − ∂D/∂v, where nothing else is declared."""
    q, v = state()
    for k, unit in enumerate(np.eye(12)):
        U = [loaded(0.3, loaded.move(q, h * unit), v)[1] for h in (STEP, -STEP)]
        D = [loaded(0.3, q, v + h * unit)[3] for h in (STEP, -STEP)]
        expected = -(U[0] - U[1] + D[0] - D[1]) / (2 * STEP)
        np.testing.assert_allclose(loaded(0.3, q, v)[0][k], expected, atol=DIFFERENCE)


def test_power_is_what_changes_the_energy(loaded):
    """d(T + U)/dt = P on any motion that obeys M v̇ = f: here dU/dt + f·v = P, since dT/dt = f·v."""
    q, v = state()
    f, _, P, _ = loaded(0.3, q, v)
    U = [loaded(0.3 + h, loaded.move(q, h * v), v)[1] for h in (STEP, -STEP)]
    np.testing.assert_allclose(P, f @ v + (U[0] - U[1]) / (2 * STEP), atol=DIFFERENCE)


@pytest.mark.parametrize("loaded", BETWEEN, indirect=True)
def test_action_is_reaction(loaded):
    """Forces between bodies change neither the total momentum nor the total angular momentum."""
    q, v = state()
    f, *_ = loaded(0.3, q, v)
    assert np.abs(f).max() > 0.1
    forces = f[:3], f[6:9]
    torques = [q[k + 3 : k + 12].reshape(3, 3).T @ f[j + 3 : j + 6] for k, j in ((0, 0), (12, 6))]
    moment = sum(np.cross(x, F) + T for x, F, T in zip((q[:3], q[12:15]), forces, torques))
    np.testing.assert_allclose(sum(forces), 0, atol=ROUNDING)
    np.testing.assert_allclose(moment, 0, atol=ROUNDING)


@pytest.mark.parametrize("case", RUBBING)
def test_dry_friction_opposes_sliding_and_is_internal(case):
    """While it slides: power −c|u| < 0, as action and reaction; while it does not, no force."""
    cls, k = case
    model, offered = scene()
    example = cls.examples(offered)[k]
    if (
        getattr(example, "normal", 0) is None
    ):  # a load that is a reaction: with reactions in tests/physics/test_friction.py
        example = replace(example, normal=20.0)
    rub = model.add(example)
    f = Absolute(model)
    rub_force = ca.vertcat(*[f.loads.on[id(b)] for b in model.bodies])
    u = f.substitution.of(ca.vertcat(rub.sliding()))
    F = ca.Function("F", [ts.time, f.q, f.v, f.p], [rub_force, u])
    q, v = state()
    named = lambda slip, way: {rub.slip.name: slip, rub.direction[0].name: way}
    given = lambda slip, way: np.array([named(slip, way).get(s.name(), 0.4) for s in ca.symvar(f.p)])
    for slip in (0.0, 1.0):
        way = np.sign(float(F(0.3, q, v, given(0.0, 1.0))[1]))
        force = F(0.3, q, v, given(slip, way))[0].full().ravel()
        if slip == 0.0:
            np.testing.assert_array_equal(force, 0)
            continue
        assert force @ v < 0
        forces = force[:3], force[6:9]
        torques = [q[k + 3 : k + 12].reshape(3, 3).T @ force[j + 3 : j + 6] for k, j in ((0, 0), (12, 6))]
        moment = sum(np.cross(x, Fk) + T for x, Fk, T in zip((q[:3], q[12:15]), forces, torques))
        np.testing.assert_allclose(sum(forces), 0, atol=ROUNDING)
        np.testing.assert_allclose(moment, 0, atol=ROUNDING)


@pytest.mark.parametrize("loaded", DISSIPATING, indirect=True)
def test_dissipation_never_gives_energy(loaded):
    q, v = state()
    still = loaded(0.3, q, 0 * v)[2]
    assert loaded(0.3, q, v)[2] < still


def one_body(*forces, **options):
    """A body at a known pose with forces on it: its generalised force at rest in the reference configuration."""
    model = ts.Model("one")
    body = model.body("body", mass=1.0, inertia=(0.1, 0.2, 0.25), at=(1, 2, 3), rotation=(0.2, 0.5, -0.4))
    for make in forces:
        model.add(make(body, **options))
    f = Absolute(model)
    value = ca.Function("f", [ts.time, f.q, f.v], [f.loads.on[id(body)]])
    R = np.array(ca.evalf(body.start_rotation))
    return R, value(0.0, np.r_[1, 2, 3, R.ravel(order="F")], np.zeros(6)).full().ravel()


def test_a_force_at_a_point_is_the_force_and_its_moment():
    F, arm = np.array([1.0, -2.0, 0.5]), np.array([0.3, -0.1, 0.7])
    point = tuple(np.array([1, 2, 3]) + arm)
    R, world = one_body(lambda b: ts.PointForce("f", b, force=tuple(F), point=point))
    np.testing.assert_allclose(world, np.r_[F, R.T @ np.cross(arm, F)], atol=ROUNDING)
    R, body = one_body(lambda b: ts.PointForce("f", b, force=tuple(F), point=point, axes="body"))
    np.testing.assert_allclose(body, np.r_[R @ F, np.cross(R.T @ arm, F)], atol=ROUNDING)
    R, center = one_body(lambda b: ts.PointForce("f", b, force=tuple(F)))
    np.testing.assert_allclose(center, np.r_[F, 0, 0, 0], atol=ROUNDING)


def test_torque_in_world_and_in_body_axes():
    T = np.array([1.0, -2.0, 0.5])
    R, world = one_body(lambda b: ts.Torque("t", b, torque=tuple(T)))
    np.testing.assert_allclose(world, np.r_[0, 0, 0, R.T @ T], atol=ROUNDING)
    _, body = one_body(lambda b: ts.Torque("t", b, torque=tuple(T), axes="body"))
    np.testing.assert_allclose(body, np.r_[0, 0, 0, T], atol=ROUNDING)


def wheel(**start):
    """A wheel on a hinge along z, with inertia 0.5 about it."""
    model = ts.Model("wheel", hints=False)  # starts by many turns
    disk = model.body("disk", mass=1.0, inertia=(0.3, 0.3, 0.5))
    return model, model.add(ts.Revolute("hinge", model.ground, disk, axis=(0, 0, 1), **start))


def test_a_torsion_spring_is_continuous_over_many_turns():
    """q̈ = −(k/J) q from ten turns away: q(t) = q₀ cos(√(k/J) t), through every half turn without a jump."""
    start, k = 20 * np.pi + 0.3, 0.02
    model, hinge = wheel(start=start)
    model.add(ts.TorsionSpring("spring", hinge, stiffness=k))
    data = ts.simulate(model, 20.0, outputs=100, tolerance=1e-10)
    exact = start * np.cos(np.sqrt(k / 0.5) * data["time"].values)
    np.testing.assert_allclose(data["coordinate"].values[:, 0], exact, atol=1e-6 * start)  # tolerance 1e-10, 20 s
    np.testing.assert_allclose(data["energy"], 0.5 * k * start**2, rtol=1e-7)


def test_a_cosine_torque_drives_a_wheel():
    """J q̈ = a cos(2π f t + φ)."""
    a, f, phase = 2.0, 0.7, 0.5
    model, hinge = wheel()
    model.add(ts.CosineTorque("motor", hinge, amplitude=a, frequency=f, phase=phase))
    data = ts.simulate(model, 3.0, outputs=30, tolerance=1e-10)
    w, t = 2 * np.pi * f, data["time"].values
    rate = a / 0.5 / w * (np.sin(w * t + phase) - np.sin(phase))
    np.testing.assert_allclose(data["rate"].values[:, 0], rate, atol=1e-8)
    np.testing.assert_allclose(
        data["coordinate_acceleration"].values[:, 0], a / 0.5 * np.cos(w * t + phase), atol=1e-12
    )


def test_a_force_may_be_any_function_of_signals():
    """A torque −c q̇ − k sin q + time, written in joint signals and in body signals, is one and the same."""
    values = []
    for written in ("joint", "body"):
        model, hinge = wheel(start=0.4, start_rate=0.3)
        disk = model["disk"]
        q, rate = hinge.coordinate, hinge.rate
        if written == "body":
            q, rate = ca.atan2(disk.rotation[1, 0], disk.rotation[0, 0]), disk.angular_velocity[2]
        value = -0.3 * rate - 2 * ca.sin(q) + 0.1 * ts.time
        if written == "joint":
            model.add(ts.JointForce("motor", hinge, value=value))
        else:
            model.add(ts.Torque("motor", disk, torque=(0, 0, value)))
        values.append(ts.simulate(model, 2.0, outputs=10, tolerance=1e-10)["coordinate"].values)
    np.testing.assert_allclose(values[0], values[1], atol=1e-8)


@pytest.mark.parametrize("length", [0, 0.5, None])
def test_a_spring_whose_ends_meet_stays_finite(length):
    model = ts.Model("meeting")
    bob = model.body("bob", mass=1.0, inertia=0, at=(0, 0, 0), velocity=(0, 0, 0))
    model.add(ts.SpringDamper("spring", model.ground, bob, stiffness=3.0, damping=0.2, length=length))
    data = ts.simulate(model, 0.5, outputs=2)
    assert np.all(np.isfinite(data["position"])) and np.all(np.isfinite(data["energy"]))


def test_forces_on_a_joint_coordinate_choose_by_index():
    """A cylindrical joint: index 0 turns, index 1 shifts along the axis."""
    model = ts.Model("sleeve")
    body = model.body("body", mass=2.0, inertia=(0.3, 0.3, 0.5))
    joint = model.add(ts.Cylindrical("sleeve", model.ground, body, axis=(0, 0, 1)))
    model.add(ts.JointForce("turn", joint, value=1.0, index=0))
    model.add(ts.JointForce("shift", joint, value=3.0, index=1))
    data = ts.simulate(model, 1.0, outputs=2)
    np.testing.assert_allclose(data["coordinate_acceleration"], [[2.0, 1.5]] * 3, atol=1e-12)
    np.testing.assert_allclose(data["coordinate"][-1], [1.0, 0.75], atol=1e-8)


# torques on one body, springs that let go


def test_a_cosine_torque_on_one_body_turns_it_as_the_closed_form_says():
    """J ω̇ = C cos(2π k t) about a principal axis: ω = C sin(2π k t)/(2π k J), and the other body feels nothing."""
    model = ts.Model("alone")
    rotor = model.body("rotor", mass=1.0, inertia=(0.2, 0.3, 0.4), rotation=(0.3, -0.2, 0.5))
    model.add(ts.CosineTorque("motor", body=rotor, axis=(0, 2, 0), amplitude=1.5, frequency=2.0))
    data = ts.simulate(model, 1.0, outputs=20)
    w = 1.5 * np.sin(4 * np.pi * data.time.values) / (4 * np.pi * 0.3)
    np.testing.assert_allclose(data.angular_velocity.values[:, 0], np.outer(w, (0, 1, 0)), atol=1e-8)


def test_two_torques_on_bodies_are_one_along_the_joint():
    """As the motor of the manipulator in the thesis: forward on the rotor, backward on the housing."""
    runs = []
    for split in (True, False):
        model = ts.Model("motor")
        parts = [model.body(name, mass=1.0, inertia=(0.2, 0.3, 0.4), at=(x, 0, 0)) for name, x in (("a", 0), ("b", 1))]
        joint = model.add(ts.Revolute("shaft", *parts, point=(0, 0, 0), axis="y"))
        law = {"amplitude": 3.0, "frequency": 0.5, "phase": 0.2}
        if split:
            model.add(ts.CosineTorque("forward", body=parts[1], axis="y", **law))
            model.add(ts.CosineTorque("backward", body=parts[0], axis="-y", **law))
        else:
            model.add(ts.CosineTorque("motor", joint, **law))
        runs.append(ts.simulate(model, 1.0, outputs=5).position.values)
    np.testing.assert_allclose(*runs, atol=1e-8)  # both to the default tolerance


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "give a `joint`, or a `body`"),
        ({"joint": 1, "body": 1, "axis": "x"}, "give a `joint`, or a `body`"),
        ({"body": 1}, "needs an `axis`"),
        ({"joint": 1, "axis": "x"}, "belongs to a torque on a `body`"),
        ({"body": 1, "axis": "x", "index": 1}, "`index` belongs"),
    ],
)
def test_a_cosine_torque_needs_a_joint_or_a_body(given, words):
    model = ts.Model("m")
    body = model.body("b", mass=1.0, inertia=(1, 1, 1))
    things = {"joint": model.add(ts.Revolute("j", model.ground, body, axis="z")), "body": body}
    with pytest.raises(ts.ModelError, match=words):
        model.add(ts.CosineTorque("t", **{k: things.get(k, v) for k, v in given.items()}))


@pytest.mark.parametrize("delta", [0.0, 0.5])
def test_a_spring_exerts_no_force_below_its_cutoff(delta):
    """A mass on a line is drawn towards the origin with k (l − l₀); within δ of it, it goes on at constant speed."""
    model = ts.Model("line")
    ball = model.body("ball", mass=2.0, inertia=(1, 1, 1), at=(1.5, 0, 0))
    model.add(
        ts.CutoffSpring("s", model.ground, ball, points=((0, 0, 0), (1.5, 0, 0)), stiffness=8, length=0, cutoff=delta)
    )
    dynamics = ts.compile(model, formulation="absolute")
    for x in (1.5, 0.6, 0.4, 0.1, -0.3, -0.7):
        q = dynamics.q.copy()
        q[0] = x
        assert dynamics.accelerations(q)[0] == pytest.approx(-4 * x if abs(x) >= delta else 0.0, abs=1e-14)
    with pytest.raises(ts.ModelError, match="cutoff must not be negative"):
        model = ts.Model("line")
        ball = model.body("ball", mass=2.0, inertia=(1, 1, 1), at=(1.5, 0, 0))
        model.add(ts.CutoffSpring("s", model.ground, ball, stiffness=8, cutoff=-1))
