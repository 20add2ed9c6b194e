"""Impulses on bodies at events: velocities jump as momentum demands, through joints, constraints and closed contacts."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts

FORMULATIONS = ("absolute", "relative", "woronetz", "hamiltonian", "hierarchical", "hamiltonian-absolute")
METHODS = ("rkmk54", "rkmk4", "radau5", "generalized-alpha", "implicit-midpoint", "variational", "bdf")
IMPULSE = np.array([1.0, 2.0, 3.0])


def step_of(method):
    """A fixed step where a method needs one."""
    return {} if ts.registered("integrator")[method].adaptive() else {"step": 0.01}


def free_body():
    """A body at rest that is hit at 0.5 s, outside of its centre of mass."""
    model = ts.Model("free")
    body = model.body("body", mass=2.0, inertia=(0.1, 0.2, 0.3), at=(1, 0, 0))
    model.when(ts.time >= 0.5, ts.kick(body, IMPULSE, point=(1.0, 0.5, 0.2)), name="hit")
    return model


def rod(impulse=(0.0, 0.0, -3.0)):
    """A rod of 1 m and 2 kg that hangs from a hinge, without gravity, and is hit at its end at 0.25 s."""
    model = ts.Model("rod")
    body = model.body("rod", inertia=ts.inertia.rod(2.0, 1.0, axis="x"), at=(0.5, 0, 0))
    model.add(ts.Revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    model.when(ts.time >= 0.25, ts.kick(body, impulse, point=(1, 0, 0)), name="hit")
    return model


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_free_body_takes_the_impulse_and_its_moment(formulation):
    """Δv = J/m, Δω = I⁻¹ r × J, ΔT = ½ J·Δu."""
    data = ts.simulate(free_body(), 0.5, outputs=1, formulation=formulation)
    spin = np.cross((0, 0.5, 0.2), IMPULSE) / (0.1, 0.2, 0.3)
    np.testing.assert_allclose(data.velocity[-1, 0], IMPULSE / 2.0, atol=1e-14)
    np.testing.assert_allclose(data.angular_velocity[-1, 0], spin, atol=1e-13)
    at_point = IMPULSE / 2.0 + np.cross(spin, (0, 0.5, 0.2))
    np.testing.assert_allclose(data.event_energy, [IMPULSE @ at_point / 2], rtol=1e-14)


@pytest.mark.parametrize("method", METHODS)
def test_a_hinge_passes_on_what_it_must(method):
    """Δω = J l/(m l²/3) of a rod, with every kind of method; the hinge bears m Δv − J = J/2."""
    until = 1.0
    data = ts.simulate(rod(), until, outputs=4, method=method, formulation="absolute", **step_of(method))
    omega = 3.0 / (2.0 / 3)
    exact = 2e-3 if "step" in step_of(method) and method != "rkmk4" else 1e-9  # order 2 in coordinates of the body
    np.testing.assert_allclose(data.rate[1, 0], omega, atol=1e-11)
    np.testing.assert_allclose(data.rate[2:, 0], omega, atol=exact)
    np.testing.assert_allclose(data.coordinate[-1, 0], omega * (until - 0.25), atol=max(exact, 1e-7))
    hinge = [k for k, name in enumerate(data.constraint.values) if name.startswith("hinge")]
    np.testing.assert_allclose(np.linalg.norm(data.event_impulse.values[0, hinge]), 3.0 / 2, atol=1e-12)


def test_a_blow_at_the_centre_of_percussion_is_not_felt_at_the_hinge():
    model = ts.Model("bat")
    bat = model.body("bat", inertia=ts.inertia.rod(2.0, 1.0, axis="x"), at=(0.5, 0, 0))
    model.add(ts.Revolute("grip", model.ground, bat, point=(0, 0, 0), axis=(0, 1, 0)))
    model.when(ts.time >= 0.25, ts.kick(bat, (0, 0, 1), point=(2 / 3, 0, 0)), name="hit")
    data = ts.simulate(model, 0.5, outputs=2, formulation="absolute")
    np.testing.assert_allclose(data.event_impulse, 0, atol=1e-14)


@pytest.mark.parametrize("case", ["four-bar", "slider-crank", "bricard"])
def test_the_work_of_an_impulse_is_that_along_its_mean_velocity(case):
    """ΔT = J·(u⁻ + u⁺)/2 with the velocity u of the point, through loops; all formulations move alike."""
    ends = []
    for formulation in FORMULATIONS:
        model = ts.cases.load(case)
        body = model.bodies[1]
        model.signal("u", body.velocity)
        model.when(ts.time >= 0.05, ts.record("before", along(body, (0, 3, 4))), ts.kick(body, (0, 3, 4)), name="hit")
        data = ts.simulate(model, 0.05, outputs=1, formulation=formulation)
        after = 3 * data.velocity.values[-1, 1, 1] + 4 * data.velocity.values[-1, 1, 2]
        work = (float(data["before"].values[-1]) + after) / 2
        np.testing.assert_allclose(data.event_energy.values[-1], work, rtol=1e-9)
        assert abs(work) > 1e-3 and data.attrs["velocity_drift_max"] < 1e-9
        ends.append(np.concatenate([data.velocity.values[-1].ravel(), data.angular_velocity.values[-1].ravel()]))
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], atol=1e-9 * (1 + np.abs(ends[0]).max()))


def along(body, direction):
    return sum(c * body.velocity[k] for k, c in enumerate(direction))


def ball_on_floor(impulse, friction=None):
    model = ts.Model("floor", gravity=(0, 0, -10))
    ball = model.body("ball", mass=2.0, inertia=(1, 1, 1), at=(0, 0, 0))
    model.add(ts.PlanarTranslation("upright", model.ground, ball, axis=(0, 1, 0)))
    floor = model.add(ts.Contact("floor", model.ground, ball, point=(0, 0, 0), normal=(0, 0, 1)))
    if friction:
        model.add(ts.Friction("rubbing", floor, coefficient=friction))
    model.when(ts.time >= 0.5, ts.kick(ball, impulse), name="hit")
    return model


@pytest.mark.parametrize("formulation", ["absolute", "relative", "hamiltonian"])
def test_a_closed_contact_holds_off_a_push_and_lets_go_of_a_pull(formulation):
    """Down: it stays, and bears J. Up: it flies, v = J/m. Aside, with friction: m Δv = J_x − μ J_z."""
    run = lambda *given: ts.simulate(ball_on_floor(*given), 0.75, outputs=3, formulation=formulation)
    down = run((0, 0, -6))
    np.testing.assert_allclose(down.velocity[-1, 0], 0, atol=1e-12)
    impulse = dict(zip(down.constraint.values, down.event_impulse.values[down.event_name.values == "hit"][0]))
    np.testing.assert_allclose(impulse["floor[0]"], 6, atol=1e-11)
    up = run((0, 0, 6))
    np.testing.assert_allclose(up.velocity[2:, 0, 2], [3, 3 - 10 * 0.25], atol=1e-9)
    np.testing.assert_allclose(up.position[-1, 0, 2], 3 * 0.25 - 5 * 0.25**2, atol=1e-9)
    aside = run((4, 0, -6), 0.5)
    np.testing.assert_allclose(aside.velocity[2, 0, 0], (4 - 0.5 * 6) / 2, atol=1e-9)
    sticks = run((2, 0, -6), 0.5)  # less than friction can hold
    np.testing.assert_allclose(sticks.velocity[-1, 0], 0, atol=1e-9)


@pytest.mark.parametrize("impulse", [-6.0, 6.0])
def test_a_box_on_four_corners_reacts_as_on_one_plane(impulse):
    """The impulses of the corners are not unique, what they do is."""
    model = ts.Model("box", gravity=(0, 0, -10))
    box = model.body("box", inertia=ts.inertia.box(2.0, 1.0, 1.0, 0.2), at=(0, 0, 0.1))
    for k, (x, y) in enumerate([(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)]):
        model.add(ts.Contact(f"corner{k}", model.ground, box, point=(x, y, 0), normal=(0, 0, 1)))
    model.when(ts.time >= 0.1, ts.kick(box, (0, 0, impulse)), name="hit")
    data = ts.simulate(model, 0.2, outputs=2)
    after = max(impulse, 0) / 2.0
    np.testing.assert_allclose(data.velocity[1, 0], (0, 0, after), atol=1e-9)
    np.testing.assert_allclose(data.angular_velocity[-1, 0], 0, atol=1e-9)
    np.testing.assert_allclose(data.velocity[-1, 0, 2], after - (1.0 if after else 0.0), atol=1e-9)


def test_a_kick_follows_its_signals_and_happens_every_time():
    """J = m v doubles the velocity at 0.5 s and at 1 s."""
    model = ts.Model("boosts")
    body = model.body("body", mass=3.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    model.when(ts.crossing(ca.sin(2 * ca.pi * (ts.time + 1e-3))), ts.kick(body, body.mass * body.velocity))
    for given in ({}, {"step": 0.01, "method": "rkmk4"}):
        data = ts.simulate(model, 1.25, outputs=5, **given)
        np.testing.assert_allclose(data.velocity[:, 0, 0], [1, 1, 2, 2, 4, 4], atol=1e-12)
        np.testing.assert_allclose(data.event_energy, [4.5, 18], atol=1e-11)


def test_an_impulse_in_body_axes_and_one_that_turns():
    """Two kicks of one event add up: Δv = R J/m, Δω = I⁻¹ L."""
    model = ts.Model("both")
    turned = ((0, -1, 0), (1, 0, 0), (0, 0, 1))
    body = model.body("body", mass=2.0, inertia=(2, 3, 4), rotation=turned)
    first = ts.kick(body, (4, 0, 0), angular_impulse=(0, 0, 2), axes="body")
    model.when(ts.time >= 0.1, first, ts.kick(body, angular_impulse=(3, 0, 0)))
    data = ts.simulate(model, 0.1, outputs=1)
    np.testing.assert_allclose(data.velocity[-1, 0], (0, 2, 0), atol=1e-14)
    np.testing.assert_allclose(data.angular_velocity[-1, 0], (0, -3 / 3, 2 / 4), atol=1e-14)


def test_a_released_joint_passes_on_nothing(monkeypatch):
    """Release, then kick: the rod flies as a free body; also through tables, as large systems do."""
    for above in ("64", "0"):
        monkeypatch.setenv("TORSOR_TABLES_ABOVE", above)
        model = rod()
        model.events[0].then(ts.release(model["hinge"]), ts.kick(model["rod"], (0, 0, 3), point=(1, 0, 0)))
        model.when(ts.time >= 0.5, ts.kick(model["rod"], (0, 0, 2)))
        data = ts.simulate(model, 0.75, outputs=3, formulation="relative")
        omega = 3.0 / (2.0 / 3) - 3 * 0.5 / (2.0 / 12)  # about the hinge, then back about the centre of mass
        np.testing.assert_allclose(data.angular_velocity[1:, 0, 1], omega, atol=1e-9)
        np.testing.assert_allclose(data.velocity[1:, 0, 2], [-2.25 + 1.5, -0.75 + 1, 0.25], atol=1e-9)


def test_an_included_model_and_a_stored_one_kick_alike(tmp_path):
    plain = ts.simulate(free_body(), 1.0, outputs=4)
    outer = ts.Model("outer")
    outer.include("one", free_body())
    outer.include("two", free_body(), at=(0, 5, 0))
    both = ts.simulate(outer, 1.0, outputs=4)
    for k, place in enumerate([(0, 0, 0), (0, 5, 0)]):
        np.testing.assert_allclose(both.position[:, k], plain.position[:, 0] + place, atol=1e-9)
    ts.save_component(free_body(), tmp_path / "free.torsor", formulations=())
    again = ts.simulate(ts.load_component(tmp_path / "free.torsor"), 1.0, outputs=4)
    np.testing.assert_array_equal(again.position, plain.position)


def test_what_cannot_be_kicked_is_refused():
    model = ts.Model("refused")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    bob = model.body("bob", mass=1.0, inertia=0, at=(3, 0, 0))
    wrong = [
        (ts.kick(model.ground, (1, 0, 0)), "one body"),
        (ts.kick(body, (1, 0)), "impulse"),
        (ts.kick(body, (1, 0, 0), point=(1, 2)), "point"),
        (ts.kick(body, (1, 0, 0), axes="up"), "'world' or 'body'"),
        (ts.kick(bob, (1, 0, 0), angular_impulse=(0, 0, 1)), "particle"),
    ]
    for action, message in wrong:
        with pytest.raises(ts.ModelError, match=message):
            model.when(ts.time >= 1, action)
    assert not model.events and not model.forces
