"""Large models, which run through tables of shared code, start and move as their equations in absolute coordinates say."""

import numpy as np
import pytest

import torsor as ts
from torsor.prepare import large_systems

SAME = ("position", "rotation", "velocity", "angular_velocity", "coordinate", "rate", "energy")


@pytest.fixture
def every_size(monkeypatch):
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "0")


def forest(spring=False, free=True, joints=True, n=3):
    """Trees of hinges and ball joints, not in the order of the tree, and bodies that nothing holds."""
    model = ts.Model("forest", gravity=(0, 0, -9.81))
    bodies = []
    for k in range(n if joints else 0):
        a = model.body(f"a{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, k, 0))
        b = model.body(f"b{k}", mass=2.0, inertia=(0.1, 0.2, 0.15), at=(1.5, k, 0))
        kind = ts.Spherical if k == 1 else ts.Revolute
        given = {} if k == 1 else {"axis": "y"}
        model.add(ts.Revolute(f"j{k}", model.ground, a, point=(0, k, 0), axis="y"))
        model.add(kind(f"h{k}", a, b, point=(1, k, 0), **given))
        bodies.append(b)
    for k in range(2 if free else 0):
        bodies.append(model.body(f"f{k}", mass=1.5, inertia=(0.2, 0.3, 0.4), at=(3, k, 1), velocity=(0, 0.1, 0.3 * k)))
    for k, (one, other) in enumerate(zip(bodies, bodies[1:]) if spring else ()):
        model.add(ts.SpringDamper(f"s{k}", one, other, stiffness=50.0, damping=0.1))
    return model


def agree(one, other, tolerance=1e-9):
    for name in SAME:
        scale = 1 + np.abs(other[name].values).max(initial=0.0)
        np.testing.assert_allclose(one[name], other[name], atol=tolerance * scale, err_msg=name)


STARTS = [
    {"j0": 0.1},
    {"h2.rate": 0.5, "j2": -0.3},
    {"h1": (0.1, -0.2, 0.3), "h1.rate": (1.0, 0.5, -0.5)},
    {"h1[2]": 0.4, "h1.rate": (0, 0, 1), "f1.velocity": (1, 2, 3), "f0.position": (5, 0, 0), "f0.angular_velocity": (1, 0, 2)},
]  # fmt: skip


@pytest.mark.parametrize("spring", [False, True])
@pytest.mark.parametrize("start", STARTS, ids=lambda x: next(iter(x)))
def test_forests_start_where_they_are_asked_to(start, spring, every_size):
    model, options = forest(spring), {"outputs": 2, "start": start}
    told = ts.simulate(model, 0.1, formulation="absolute", **options)
    for formulation in ("hierarchical", "relative", "auto"):
        agree(ts.simulate(model, 0.1, formulation=formulation, **options), told)


@pytest.mark.parametrize("spring", [False, True])
def test_a_former_result_is_a_start_of_a_forest(spring, every_size):
    model = forest(spring)
    assert large_systems.system_of(model, "hierarchical", {}) is not None
    whole = ts.simulate(model, 0.2, outputs=2, formulation="absolute", tolerance=1e-11)
    sim = ts.Simulation(model, formulation="hierarchical", start=whole.isel(time=1), tolerance=1e-11)
    sim.advance(0.1)
    np.testing.assert_allclose(sim["position"], whole.position[2], atol=1e-8)
    sim.reset({"j0": 0.2})
    assert sim.coordinates["j0"] == pytest.approx(0.2, abs=1e-14)
    runs = ts.study(model, 0.1, start={"j0": [0.1, 0.3]}, outputs=1, formulation="hierarchical")
    alone = ts.simulate(model, 0.1, start={"j0": 0.3}, outputs=1, formulation="hierarchical")
    np.testing.assert_allclose(runs.position[1], alone.position, atol=1e-12)


def test_what_tables_cannot_start_from_is_refused_with_what_to_do(every_size):
    with pytest.raises(ts.OptionError, match="'a0' hangs on a joint"):
        ts.simulate(forest(), 0.1, start={"a0.velocity": (1, 0, 0)}, formulation="hierarchical")
    with pytest.raises(ts.OptionError, match="loops; formulation='absolute' supports any start"):
        ts.simulate(ts.cases.load("four-bar", n=2), 0.1, start={"A0.rate": 1.0}, formulation="hierarchical")


@pytest.mark.parametrize("spring", [False, True])
def test_models_without_joints_run_in_every_form(spring, every_size):
    model = forest(spring, joints=False)
    told = ts.simulate(model, 0.2, outputs=2, formulation="absolute")
    for formulation in ("hierarchical", "relative", "auto"):
        agree(ts.simulate(model, 0.2, outputs=2, formulation=formulation), told)
    with pytest.raises(ts.OptionError, match="no joints or other constraints"):
        ts.simulate(model, 0.2, threads=2, formulation="hierarchical")


def test_velocities_of_bodies_are_completed_as_in_small_models(monkeypatch):
    """A body of a tree is given a velocity: with the table or without, the others have the least kinetic energy."""

    def tree():
        model = ts.Model("tree")
        last = model.ground
        for k in range(4):
            given = {"velocity": (0, 0, 1.0)} if k == 2 else {}
            body = model.body(f"b{k}", mass=1.0 + k, inertia=(0.1, 0.1, 0.1), at=(k + 0.5, 0, 0), **given)
            model.add(ts.Revolute(f"h{k}", last, body, point=(k, 0, 0), axis="y"))
            last = body
        return model

    small = [ts.simulate(tree(), 0.01, outputs=1, formulation=f) for f in ("absolute", "hierarchical")]
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "0")
    for formulation in ("relative", "hierarchical"):
        for other in small:
            np.testing.assert_allclose(
                ts.simulate(tree(), 0.01, outputs=1, formulation=formulation).velocity[0], other.velocity[0], atol=1e-12
            )
