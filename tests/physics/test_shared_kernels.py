"""Structures that share kernels: nothing is compiled when contacts open and close, and the motion is that of closed forms."""

import numpy as np
import pytest

import torsor as ts
from torsor.prepare import prepare, structures

G, RESTITUTION, RADIUS = 9.81, 0.5, 0.1


def balls(heights, **options):
    model = ts.Model("balls", gravity=(0, 0, -G))
    for k, height in enumerate(heights):
        at = (float(k), 0, RADIUS + height)
        ball = model.body(f"ball{k}", inertia=ts.inertia.sphere(1.0 + k, RADIUS), at=at)
        floor = ts.Contact(f"floor{k}", model.ground, ball, radius=RADIUS, plane=(0, 0, 0), restitution=RESTITUTION)
        model.add(floor)
        if options.get("friction"):
            model.add(ts.Friction(f"rough{k}", floor, coefficient=options["friction"]))
    return model


def height_of_a_ball(start, t):
    """Height above the floor of a ball that falls from rest and bounces."""
    flight, speed = np.sqrt(2 * start / G), np.sqrt(2 * G * start)
    if t < flight:
        return start - 0.5 * G * t**2
    t -= flight
    while speed > 1e-9:
        speed *= RESTITUTION
        if t < 2 * speed / G:
            return speed * t - 0.5 * G * t**2
        t -= 2 * speed / G
    return 0.0


@pytest.fixture
def built(monkeypatch):
    """Names of the kernels that are compiled, by call."""
    calls, build = [], prepare.kernels.build
    monkeypatch.setattr(
        prepare.kernels, "build", lambda functions, **more: calls.append(list(functions)) or build(functions, **more)
    )
    return calls


@pytest.mark.parametrize("form", ["absolute", "relative"])
def test_many_balls_bounce_as_closed_forms_say_and_few_kernels_are_compiled(form, built):
    heights = np.random.default_rng(1).uniform(0.05, 0.6, 9)
    model = balls(heights)
    data = ts.simulate(model, 1.2, outputs=7, formulation=form)
    z = data.position.sel(axis="z").values - RADIUS
    expected = [[height_of_a_ball(h, t) for h in heights] for t in data.time.values]
    np.testing.assert_allclose(z, expected, atol=1e-9)
    assert data.attrs["events"] > 100 and len(built) <= structures.APART + 1
    forces = data.reaction_force.sel(axis="z").values
    rest = np.abs(z) < 1e-12
    weights = np.broadcast_to(G * (1.0 + np.arange(9)), z.shape)
    np.testing.assert_allclose(forces[rest], weights[rest], rtol=1e-9)
    assert rest[-1].any() and np.all(forces[~rest] == 0.0)


@pytest.mark.parametrize("form", ["absolute", "relative", "hierarchical", "hamiltonian"])
def test_shared_kernels_give_what_kernels_of_each_structure_give(form, monkeypatch):
    results = []
    for apart in (100, 1):
        monkeypatch.setattr(structures, "APART", apart)
        results.append(ts.simulate(balls((0.02, 0.05), friction=0.3), 0.4, outputs=6, formulation=form))
    own, shared = results
    assert own.attrs["structures"] > 2 >= shared.attrs["structures"]
    np.testing.assert_allclose(shared.event_time, own.event_time, atol=1e-12)
    assert list(shared.event_name.values) == list(own.event_name.values)
    for name in ("position", "velocity", "acceleration", "reaction_force", "energy"):
        size = max(1.0, float(np.abs(own[name]).max()))
        np.testing.assert_allclose(shared[name], own[name], atol=1e-12 * size, err_msg=name)


def test_a_state_with_shared_kernels_continues_bit_for_bit(tmp_path, monkeypatch):
    monkeypatch.setattr(structures, "APART", 1)
    model = balls((0.02, 0.05))
    one, two = ts.Simulation(model), ts.Simulation(model)
    one.advance(0.2)
    ts.save_state(one.state, tmp_path / "half")
    two.state = ts.load_state(tmp_path / "half")
    for simulation in (one, two):
        simulation.advance(0.2)
    np.testing.assert_array_equal(one.coordinates, two.coordinates)
    np.testing.assert_array_equal(one.rates, two.rates)


@pytest.fixture
def share_dependent(monkeypatch):
    """Structures with dependent rows share kernels in models of any size."""
    monkeypatch.setattr(structures, "MANY", 0)


def block_on_feet(friction, **start):
    model = ts.Model("block", gravity=(0, 0, -G))
    block = model.body("block", inertia=ts.inertia.box(2.0, 0.6, 0.4, 0.2), at=(0, 0, 0.1), **start)
    for k, (x, y) in enumerate([(-0.3, -0.2), (-0.3, 0.2), (0.3, -0.2), (0.3, 0.2)]):
        foot = model.add(ts.Contact(f"foot{k}", model.ground, block, point=(x, y, 0), plane=(0, 0, 0)))
        model.add(ts.Friction(f"rough{k}", foot, coefficient=friction))
    return model


def test_a_block_on_dependent_feet_slides_and_stops_as_coulomb_says(share_dependent, built):
    mu, speed = 0.3, 1.2
    data = ts.simulate(block_on_feet(mu, velocity=(speed, 0, 0)), 0.6, outputs=6, formulation="absolute")
    assert len(built) <= 2 and data.attrs["structures"] == 2
    stop = speed / (mu * G)
    t = np.minimum(data.time.values, stop)
    x = data.position.sel(axis="x").values[:, 0]
    np.testing.assert_allclose(x, speed * t - 0.5 * mu * G * t**2, atol=1e-8)
    forces = data.reaction_force.sel(joint=[f"foot{k}" for k in range(4)], axis="z").values
    np.testing.assert_allclose(forces.sum(axis=1), 2.0 * G, rtol=1e-8)
    assert forces.min() > 0.0
    np.testing.assert_allclose(forces[-1], 0.5 * G, rtol=1e-6)  # at rest, by symmetry


def rope(count, friction=0.5):
    """A rope of links in a vertical plane, one end lower than the other; its points touch a floor."""
    model, before, length = ts.Model("rope", gravity=(0, 0, -G)), None, 2.0 / count
    along = np.array([np.cos(np.radians(30)), 0, np.sin(np.radians(30))])
    for k in range(count):
        start = k * length * along + np.array([0, 0, 0.1])
        link = model.body(
            f"link{k}", inertia=ts.inertia.rod(1.0 / count, length, axis="x"), at=start + 0.5 * length * along,
            rotation=(0, -np.radians(30), 0),
        )  # fmt: skip
        if before is None:
            model.add(ts.Planar("plane", model.ground, link, axis="y", point=start))
        else:
            model.add(ts.Revolute(f"hinge{k}", before, link, point=start, axis="y"))
        floor = model.add(ts.Contact(f"floor{k}", model.ground, link, point=start, plane=(0, 0, 0)))
        model.add(ts.Friction(f"rough{k}", floor, coefficient=friction))
        before = link
    return model


def test_a_rope_that_falls_on_a_rough_floor_loses_energy_and_is_never_pulled(share_dependent, built):
    data = ts.simulate(rope(3), 0.6, outputs=30, tolerance=1e-6, formulation="relative")
    assert len(built) <= 3
    assert np.diff(data.energy.values).max() < 1e-6 * np.abs(data.energy.values).max()
    names = [f"floor{k}" for k in range(3)]
    normal = data.reaction_force.sel(joint=names, axis="z").values
    assert normal.min() > -1e-6 * G and (normal > 0.1).any()
