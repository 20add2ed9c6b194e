"""Post-stabilisation: runs stay on their constraints and have the motion of every other projection, whatever the model is."""

import numpy as np
import pytest

import torsor as ts

FORMS = [key for key in ts.registered("formulation") if key not in ("relative-first", "auto")]


def door():
    """Two hinges of one axis: five rows of ten are redundant."""
    m = ts.Model("door", gravity=(3.0, 1.0, -9.81))
    b = m.body("door", mass=10, inertia=(1, 1.2, 0.4), at=(0.5, 0.1, 1))
    m.add(ts.Revolute("h0", m.ground, b, point=(0, 0, 0.2), axis=(0, 0, 1), start_rate=1.0))
    m.add(ts.Revolute("h1", m.ground, b, point=(0, 0, 1.8), axis=(0, 0, 1)))
    return m


def driven_table():
    """A loop on a ground that turns over: the rows that are redundant change on the way."""
    m, t = ts.Model("table", gravity=(0, -2.0, 0)), ts.time
    ground = m.add(ts.Ground("table", rotation=(0, 0.8 * t**2, 0)))
    P = [np.array(p, float) for p in ((0, 0, 0), (0.2, 0.5, 0), (1.2, 0.8, 0), (1.0, 0, 0))]
    links = [m.body(f"l{k}", mass=1 + k, inertia=(0.01, 0.02, 0.03), at=(P[k] + P[k + 1]) / 2) for k in range(3)]
    for k, (first, second) in enumerate(zip([ground, *links], [*links, ground])):
        m.add(ts.Revolute("ABCD"[k], first, second, point=P[k], axis=(0, 0, 1), **({} if k else {"start_rate": 1.5})))
    return m


def edge():
    """A blade on ice: a row at velocity level beside three at position level."""
    m = ts.Model("edge", gravity=(3.0, 0, -9.0))
    skate = m.body("skate", mass=1.3, inertia=(0.1, 0.2, 0.25), angular_velocity=(0, 0, 2.0))
    m.add(ts.Planar("ice", m.ground, skate, axis=(0, 0, 1)))
    m.add(ts.KnifeEdge("blade", m.ground, skate, across=(0, 1, 0)))
    return m


def bouncing():
    """A slider-crank whose slider strikes a wall and whose pin breaks off in the end: rows come and go."""
    m = ts.cases.load("slider-crank")
    joint = m.joints[-1]
    m.when(ts.time >= 0.35, ts.release(joint), name="broken")
    return m


MODELS = {
    "loops": lambda: ts.cases.load("four-bar", n=3), "closed chain": lambda: ts.cases.load("bricard"), "redundant": door,
    "rows that change": driven_table, "velocity level": edge, "rolling": lambda: ts.cases.load("snakeboard"), "events": bouncing,
}  # fmt: skip


PAIRS = [(name, form) for k, name in enumerate(MODELS) for n, form in enumerate(FORMS) if (k + n) % 2 == 0]


@pytest.mark.parametrize(("name", "form"), PAIRS)
def test_the_motion_is_that_of_other_projections_and_stays_on_the_constraints(name, form):
    run = lambda projection: ts.simulate(
        MODELS[name](), 0.6, outputs=6, tolerance=1e-11, projection=projection, formulation=form
    )
    post, other = run("post"), run("least-squares")
    np.testing.assert_allclose(post.position.values, other.position.values, atol=1e-7 * other.attrs["model_length"])
    speed = max(np.abs(post.velocity.values).max(), np.abs(post.angular_velocity.values).max())
    assert post.attrs["position_drift_max"] <= 1e-12 * post.attrs["model_length"]
    assert post.attrs["velocity_drift_max"] <= 1e-12 * speed


@pytest.mark.parametrize("form", FORMS)
def test_the_car_in_steps_of_a_millisecond_is_that_of_a_converged_run(form):
    heights = lambda data: data.position.sel(axis="z", body=["car_body", "left_wheel.ring"]).values
    exact = ts.simulate(ts.cases.load("car"), 1.5, outputs=30, tolerance=1e-13, formulation="relative")
    data = ts.simulate(
        ts.cases.load("car"), 1.5, outputs=30, method="rkmk4", step=1e-3, projection="post", formulation=form
    )
    assert np.abs(heights(data) - heights(exact)).max() < 1e-8


@pytest.mark.parametrize("form", ["relative", "hierarchical"])
def test_sixty_thousand_steps_of_the_car_do_not_drift(form):
    data = ts.simulate(
        ts.cases.load("car"), 60.0, outputs=240, method="rkmk4", step=1e-3, projection="post", formulation=form
    )
    for drift in (data.position_drift.values, data.velocity_drift.values):
        assert drift.max() < 1e-13
        assert drift[-60:].max() <= 2 * drift[1:60].max()  # rounding, at the end as at the beginning


@pytest.mark.parametrize("form", FORMS)
def test_accelerations_of_the_manipulator_are_those_of_a_converged_run(form):
    shafts = [f"link{k}.motor.shaft" for k in (1, 2, 3)]
    of = lambda data: data.coordinate_acceleration.sel(joint_coordinate=shafts).values
    exact = ts.simulate(ts.cases.load("manipulator"), 2.0, outputs=20, tolerance=1e-13, formulation="relative")
    given = {"method": "rkmk4", "step": 2.5e-4, "projection": "post", "formulation": form}
    data = ts.simulate(ts.cases.load("manipulator"), 2.0, outputs=20, **given)
    assert np.abs(of(exact)).max() > 100
    assert np.abs(of(data) - of(exact)).max() < 1e-8  # [rad/s²]


@pytest.mark.parametrize("form", FORMS)
def test_bars_in_line_are_passed(form):
    """The exact motion is that of a pendulum; all rows that close a loop depend on each other twice a turn."""
    from scipy.integrate import solve_ivp

    k = (1.5 + 2) / (1 + 2) * 9.81
    fall = lambda t, y: (y[1], -k * np.cos(y[0]))
    exact = solve_ivp(fall, (0, 2), (np.pi / 2, -1.0), rtol=1e-12, atol=1e-12, method="DOP853").y[0, -1]
    for given in ({"tolerance": 1e-9}, {"method": "rkmk4", "step": 1e-3}):
        data = ts.simulate(ts.cases.load("four-bar", n=2), 2.0, outputs=4, projection="post", formulation=form, **given)
        # with momenta of joints a correction of positions changes velocities, most of all where rows nearly depend
        limit = 1e-3 if form in ("hamiltonian", "hamiltonian-rotations") else 1e-6
        assert abs(float(data.coordinate.sel(joint_coordinate="A0")[-1]) + np.pi / 2 - exact) < limit


@pytest.mark.parametrize(("L", "m"), [(1e-8, 1.0), (1e8, 1.0), (1.0, 1e-9), (1.0, 1e9)])
def test_sizes_and_masses_do_not_matter(L, m):
    """A four-bar and its copies of other sizes and masses, under gravity that keeps the pace."""

    def four_bar(L, mass):
        model = ts.Model("four-bar", gravity=(0, -9.81 * L, 0))
        P = [np.array(p, float) * L for p in ((0, 0, 0), (0.2, 0.5, 0), (1.2, 0.8, 0), (1.0, 0, 0))]
        bars = [
            model.body(f"b{k}", mass=mass * (1 + k), inertia=(0.03 * mass * L**2,) * 3, at=(P[k] + P[k + 1]) / 2)
            for k in range(3)
        ]
        for k, (first, second) in enumerate(zip([model.ground, *bars], [*bars, model.ground])):
            model.add(ts.Revolute("ABCD"[k], first, second, point=P[k], axis=(0, 0, 1)))
        return model

    one, other = (ts.simulate(four_bar(*x), 1.0, outputs=4, projection="post") for x in ((1.0, 1.0), (L, m)))
    np.testing.assert_allclose(other.position.values / L, one.position.values, atol=1e-8)
    assert other.attrs["position_drift_max"] <= 1e-12 * L
