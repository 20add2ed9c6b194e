"""Contract of structures: a released constraint is as if it had never been, and an engaged one takes its impulse."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor import kernels
from torsor.formulations.absolute import Absolute
from torsor.start.constraints import Examiner
from torsor.start.diagnosis import diagnose
from torsor.start.model_start import given_start

FORMULATIONS = list(ts.registered("formulation"))


def add_switched(model, element, present, active):
    """An element that an event may switch, or nothing; returns it."""
    if not present:
        return None
    element = model.add(element, active=active)
    model.when(model.time >= 1.0, ts.release(element) if active else ts.engage(element))
    return element


def chain(present=True, active=True):
    """Two bars; the second hinge may let go."""
    model = ts.Model("chain", gravity=(0, 0, -9.81))
    one = model.body("one", mass=1.0, inertia=(0.1, 0.2, 0.3), at=(0.5, 0, 0))
    two = model.body("two", mass=2.0, inertia=(0.2, 0.2, 0.1), at=(1.5, 0, 0.2))
    model.add(ts.Revolute("shoulder", model.ground, one, point=(0, 0, 0), axis=(0, 1, 0)))
    hinge = ts.Revolute("elbow", one, two, point=(1, 0, 0), axis=(0, 1, 0.3))
    model.add(ts.SpringDamper("spring", model.ground, two, stiffness=30.0, damping=2.0, length=0.3))
    return model, add_switched(model, hinge, present, active)


def loop(present=True, active=True):
    """A planar loop of spatial hinges, three of its rows redundant while it is closed; its last pin may open."""
    model = ts.Model("loop", gravity=(0, 0, -9.81))
    points = [(0, 0, 0), (0.5, 0, 1.0), (2.0, 0, 1.3), (1.8, 0, 0)]
    bodies = [model.ground]
    for k in range(3):
        centre = (np.array(points[k]) + np.array(points[k + 1])) / 2
        bodies.append(model.body(f"bar{k}", mass=1 + 0.3 * k, inertia=(0.1, 0.2, 0.1), at=tuple(centre)))
    for k in range(3):
        model.add(ts.Revolute(f"pin{k}", bodies[k], bodies[k + 1], point=points[k], axis=(0, 1, 0)))
    last = ts.Revolute("pin3", bodies[3], model.ground, point=points[3], axis=(0, 1, 0))
    return model, add_switched(model, last, present, active)


def pair(present=True, active=True):
    """Two floating bodies that a weld may hold together: a constraint inside the system only."""
    model = ts.Model("pair")
    one = model.body("one", mass=1.0, inertia=(0.1, 0.2, 0.3), at=(0.5, 0.1, 0))
    two = model.body("two", mass=2.0, inertia=(0.2, 0.3, 0.1), at=(1.5, 0, 0.2))
    return model, add_switched(model, ts.Fixed("weld", one, two), present, active)


def table(present=True, active=True):
    """A body that may slide on a plane, and is kept upright."""
    model = ts.Model("table", gravity=(0, 0, -9.81))
    body = model.body("body", mass=1.0, inertia=(0.1, 0.2, 0.3), at=(0.5, 0.1, 0))
    model.add(ts.NoRotation("upright", model.ground, body))
    return model, add_switched(model, ts.PointOnPlane("top", model.ground, body, normal=(0, 0.6, 0.8)), present, active)


MODELS = [chain, loop, pair, table]


class Structure:
    """One formulation of a model with some constraints released: kernels, and everything in terms of its bodies."""

    def __init__(self, model, key, released=None):
        self.model, self.f = model, ts.registered("formulation")[key](model)
        if released is not None:
            self.f.release(released)
        self.absolute = self.f if isinstance(self.f, Absolute) else self.f.absolute

    def at(self, seed):
        """A random state: assembled, velocities as the rows that hold allow."""
        values, random = self.model.values(), np.random.default_rng(seed)
        examiner = Examiner(self.absolute, 1.0)
        start = given_start(self.absolute, 0.0, values)
        q, p = start.q, start.p
        wandered = examiner.sample_nearby(0.0, q, p, random, 0.2)
        q = q if wandered is None else wandered
        v = random.standard_normal(self.absolute.v.shape[0])
        G, Minv, psi = examiner.G(0.0, q, p), examiner.Minv(q, p), examiner.psi(0.0, q, v, p)
        return q, v - Minv @ G.T @ np.linalg.pinv(G @ Minv @ G.T) @ psi, p

    def take(self, q, v, p):
        """A state of absolute coordinates; dependent rows and velocities are chosen there."""
        self.q, self.v, self.p = self.f.adopt(0.0, q, v, p)
        self.examiner = Examiner(self.f, 1.0)
        self.f.keep = diagnose(self.examiner, 0.0, self.q, self.p).keep
        self.f.choose(self.examiner, 0.0, self.q, self.p)
        self.kernels = self.f.functions()
        self.F = self.kernels["factor"](0.0, self.q, self.p)
        return self

    def accelerations(self):
        """(a, λ) of the state."""
        return self.kernels["accelerations"](0.0, self.q, self.v, self.p, self.F)[:2]

    def watched(self, column, v=None):
        a, lam = self.accelerations()
        watch = self.f.watching("watch", column)
        return watch(0.0, self.q, self.v if v is None else v, self.p, a, lam).full().ravel()

    def bodies(self):
        """Accelerations of all bodies."""
        parts = [x for b in self.model.bodies for x in (b.acceleration, b.angular_acceleration)]
        return self.watched(ca.vertcat(*parts))


@pytest.mark.parametrize("build", MODELS)
@pytest.mark.parametrize("key", FORMULATIONS)
def test_a_released_constraint_is_as_if_it_had_never_been(key, build):
    model, element = build()
    never, _ = build(present=False)
    open_, without = Structure(model, key, [element]), Structure(never, key)
    q, v, p = without.at(3)
    turned = {(j.name, k): x for (j, k), x in zip(without.absolute.turns, p[len(never.inputs) :])}
    turns = [turned.get((j.name, k), 0.0) for j, k in open_.absolute.turns]
    own = np.concatenate([model.input_values(model.values()), turns])
    expected = without.take(q, v, p).bodies()
    open_.take(q, v, own)
    np.testing.assert_allclose(open_.bodies(), expected, rtol=1e-10, atol=1e-10)
    assert not open_.watched(element.multiplier).any()


@pytest.mark.parametrize("build", MODELS)
@pytest.mark.parametrize("key", FORMULATIONS)
def test_one_formulation_serves_all_structures(key, build):
    """Released and engaged again, it gives what a fresh one gives; what the start says is what holds at first."""
    model, element = build()
    idle, waiting = build(active=False)
    f = ts.registered("formulation")[key](idle)
    assert id(waiting) in f.released
    assert all(f.rows[k].constraint is not waiting for k in f.active_rows()) and f.keep == f.active_rows()
    fresh, used = Structure(model, key), Structure(model, key)
    state = fresh.at(5)
    expected = fresh.take(*state).bodies()
    used.f.release([element])
    used.take(*state).bodies()
    used.f.release([])
    np.testing.assert_allclose(used.take(*state).bodies(), expected, rtol=1e-12, atol=1e-12)
    assert len(used.f.rows) == len(fresh.f.rows)


@pytest.mark.parametrize("build", MODELS)
@pytest.mark.parametrize("key", FORMULATIONS)
def test_an_impulse_leaves_velocities_that_the_constraints_allow(key, build):
    model, element = build()
    s = Structure(model, key)
    q, v, p = s.at(7)
    s.take(q, v, p)
    v = np.random.default_rng(8).standard_normal(s.v.size)
    r = s.examiner.psi(0.0, s.q, v, s.p, s.f.keep)
    dv, impulses = (x.full().ravel() for x in s.kernels["impulse"](0.0, s.q, s.p, s.F, r))
    assert np.abs(s.examiner.psi(0.0, s.q, v + dv, s.p)).max() < 1e-11 * max(1.0, np.abs(r).max())
    G, Minv = s.examiner.G(0.0, s.q, s.p, s.f.keep), s.examiner.Minv(s.q, s.p)
    np.testing.assert_allclose(dv, Minv @ G.T @ impulses, atol=1e-10)  # M (v⁺ − v⁻) = Gᵀ Λ
    s.f.metric = "plain"  # of projections; impulses know masses only
    again = s.f.functions()["impulse"](0.0, s.q, s.p, s.F, r)
    np.testing.assert_allclose(again[0].full().ravel(), dv, atol=1e-12)


@pytest.mark.parametrize("key", FORMULATIONS)
def test_an_impulse_of_an_inner_constraint_conserves_momentum(key):
    model, element = pair()
    s = Structure(model, key)
    s.take(*s.at(1))
    v = np.random.default_rng(2).standard_normal(s.v.size)
    dv, _ = s.kernels["impulse"](0.0, s.q, s.p, s.F, s.examiner.psi(0.0, s.q, v, s.p, s.f.keep))
    linear = sum(b.mass * b.velocity for b in model.bodies)
    spin = sum(b.rotation @ (b.inertia @ b.angular_velocity) for b in model.bodies)
    angular = spin + sum(b.mass * ca.cross(b.position, b.velocity) for b in model.bodies)
    before, after = (s.watched(ca.vertcat(linear, angular), v=x) for x in (v, v + dv.full().ravel()))
    np.testing.assert_allclose(after, before, atol=1e-12)


@pytest.mark.parametrize("key", FORMULATIONS)
def test_native_impulses_are_those_of_the_reference(key):
    model, element = loop()
    s = Structure(model, key)
    s.take(*s.at(6))
    r, F = np.random.default_rng(2).standard_normal(len(s.f.keep)), s.F.full().ravel()
    expected = s.kernels["impulse"](0.0, s.q, s.p, F, r)
    got = kernels.build({"impulse": s.kernels["impulse"]})["impulse"](np.zeros(1), s.q, s.p, F, r)
    for one, two in zip(got, expected):
        np.testing.assert_allclose(one, two.full().ravel(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("key", FORMULATIONS)
def test_without_constraints_there_is_no_impulse(key):
    model, element = pair()
    s = Structure(model, key, [element])
    s.take(*s.at(1))
    dv, impulses = s.kernels["impulse"](0.0, s.q, s.p, s.F, np.zeros(0))
    assert impulses.shape == (0, 1) and not dv.full().any()


@pytest.mark.parametrize("build", MODELS)
@pytest.mark.parametrize("key", FORMULATIONS)
def test_a_switched_force_acts_while_its_memory_says_so(key, build):
    accelerations = {}
    for kind in ("none", "off", "on", "plain"):
        model, _ = build()
        body = model.bodies[-1]
        if kind != "none":
            push = model.add(ts.PointForce("push", body, (1, 2, 3)), active=kind != "off")
            spring = ts.SpringDamper("pull", model.ground, body, stiffness=7.0, damping=1.0, length=0.1)
            spring = model.add(spring, active=kind != "off")
        if kind in ("on", "off"):
            model.when(model.time >= 1.0, ts.switch(push, spring, on=kind == "off"))
        s = Structure(model, key)
        s.take(*s.at(9))
        accelerations[kind] = s.bodies()
        energy = s.f.energies()(0.0, s.q, s.v, s.p).full().ravel()
        accelerations[kind, "energy"] = energy
    for one, two in (("none", "off"), ("plain", "on")):
        np.testing.assert_allclose(accelerations[one], accelerations[two], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(accelerations[one, "energy"], accelerations[two, "energy"], rtol=1e-12)
    assert np.abs(accelerations["on"] - accelerations["off"]).max() > 0.1
    assert accelerations["on", "energy"][1] > accelerations["off", "energy"][1]


@pytest.mark.parametrize("build", MODELS)
@pytest.mark.parametrize("key", FORMULATIONS)
def test_watched_columns_are_what_outputs_hold(key, build):
    model, element = build()
    one = model.bodies[0]
    for k, x in enumerate((one.position[0], one.acceleration[2], element.multiplier[0], element.reaction_force[1])):
        model.signal(f"signal{k}", x)
    s = Structure(model, key)
    s.take(*s.at(4))
    outputs = s.f.outputs(model.signals)
    a, lam = s.accelerations()
    flat, found, at = outputs.function()(0.0, s.q, s.v, s.p, a, lam).full().ravel(), {}, 0
    for name, size in outputs.layout:
        found[name], at = flat[at : at + size], at + size
    np.testing.assert_allclose(s.watched(ca.vertcat(*model.signals.values())), found["signals"], rtol=1e-12, atol=1e-12)
    rows = s.f.all_rows.rows
    assert len(found["multiplier"]) == len(rows)
    own = [k for k, row in enumerate(rows) if row.constraint is element]
    np.testing.assert_allclose(s.watched(element.multiplier), found["multiplier"][own], rtol=1e-12, atol=1e-12)
    T, U = s.f.energies()(0.0, s.q, s.v, s.p).full().ravel()
    np.testing.assert_allclose([T, U], [*found["kinetic_energy"], *found["potential_energy"]], rtol=1e-12)


def test_drift_is_that_of_the_constraints_that_hold():
    model, element = table()
    s = Structure(model, "absolute", [element])
    q, v, p = s.at(2)
    q[2] += 0.7  # off the table
    s.take(q, v, p)
    outputs = s.f.outputs({})
    flat, found, at = outputs.function()(0.0, s.q, s.v, s.p, *s.accelerations()).full().ravel(), {}, 0
    for name, size in outputs.layout:
        found[name], at = flat[at : at + size], at + size
    assert found["position_drift"] < 1e-12 and found["velocity_drift"] < 1e-12


def test_only_what_events_switch_can_be_released():
    model, element = chain()
    f = Absolute(model)
    with pytest.raises(ts.ModelError, match="'shoulder'.*always holds"):
        f.release([model["shoulder"]])


def test_events_and_start_values_are_part_of_what_defines_a_model():
    from torsor.formulations.fingerprint import fingerprint

    def mark(active=True, at=1.0, value=2.0, answer="error"):
        model, element = chain(active=active)
        k = model.parameter("k", 1.0)
        model.when(model.time >= at, ts.assign("k", value * k), accumulate=answer)
        return fingerprint(model, {})

    marks = [mark(), mark(active=False), mark(at=1.5), mark(value=3.0), mark(answer="end")]
    assert len(set(marks)) == len(marks) and mark() == marks[0]
