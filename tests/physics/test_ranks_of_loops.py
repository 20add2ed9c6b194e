"""Degrees of freedom and redundant constraints of large systems follow from geometry: whatever the masses, units and sizes are."""

import json

import numpy as np
import pytest

import torsor as ts
from torsor.formulations.tables import tree_schedule
from torsor.prepare.prepare import prepare
from torsor.start.row_dependencies import least_norm


def braced_chain(n, seed, size=1.0, masses=0.0):
    """A chain of hinges with planar four-bars on every eighth link, in random planes; masses: decades over which they spread."""
    random = np.random.default_rng(seed)
    model, above, loops = ts.Model("chain", gravity=(0, 0, -9.81)), None, 0
    body = lambda name, at: model.body(
        name, mass=(m := 10 ** random.uniform(0, masses)), inertia=(0.02 * m * size**2,) * 3, at=at
    )
    for k in range(n):
        here = np.array([0.1 * np.sin(k), 0, -0.5 * k]) * size
        link = body(f"b{k}", here + [0, 0, -0.25 * size])
        model.add(ts.Revolute(f"j{k}", model.ground if above is None else above, link, point=here, axis="xy"[k % 2]))
        if k % 8 == 1:
            u, w, axis = np.linalg.qr(random.standard_normal((3, 3)))[0].T * size
            bars = [body(f"p{k}{c}", here + x) for c, x in zip("abc", (0.5 * u, 0.5 * u + w, u + 0.5 * w))]
            hinges = [(link, bars[0], 0 * u), (link, bars[1], w), (bars[0], bars[2], u), (bars[1], bars[2], u + w)]
            for i, (one, two, at) in enumerate(hinges):
                model.add(ts.Revolute(f"q{k}_{i}", one, two, point=here + at, axis=axis / size))
            loops += 1
        above = link
    return model, loops


@pytest.mark.parametrize("n, size, masses", [(50, 200.0, 0.0), (58, 1e-3, 6.5)])
def test_degrees_of_freedom_of_a_chain_with_planar_loops(n, size, masses):
    """Each four-bar adds three bodies, four hinges, one degree of freedom, and three rows that repeat others."""
    model, loops = braced_chain(n, n, size, masses)
    assert tree_schedule.is_large(len(model.bodies))
    system, _ = prepare(model, "hierarchical")
    assert system.freedom == system.start_freedom == n + loops
    assert len(system.redundant) == 3 * loops
    assert {system.declared[k][0].split("_")[0] for k in system.redundant} == {f"q{k}" for k in range(1, n, 8)}


def test_a_redundant_pivot_is_not_divided_by(monkeypatch):
    """The same accelerations and reactions as in joint coordinates, with masses over more than six decades."""
    model, _ = braced_chain(12, 5, masses=6.5)
    other = ts.simulate(model, 1e-3, outputs=1, formulation="relative")
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "0")
    table = ts.simulate(braced_chain(12, 5, masses=6.5)[0], 1e-3, outputs=1, formulation="hierarchical")
    assert table.attrs["degrees_of_freedom"] == other.attrs["degrees_of_freedom"]
    assert table.attrs["smallest_pivot"] > 1e-9
    for name in ("acceleration", "angular_acceleration"):
        np.testing.assert_allclose(table[name], other[name], atol=1e-8 * np.abs(other[name].values).max())
    for name, flag in (("reaction_force", "reaction_unique"), ("reaction_torque", "reaction_torque_unique")):
        unique = other[flag].values
        assert (table[flag].values == unique).all()
        one, two = (data[name].values[:, unique] for data in (table, other))
        np.testing.assert_allclose(one, two, atol=1e-7 * np.abs(two).max())


def belt(n, pitch=0.15):
    """A closed belt of shoes in a plane, carried by a sledge."""
    model = ts.Model("belt", gravity=(0, 0, -9.81))
    hull = model.body("hull", inertia=ts.inertia.box(2000.0, 3.0, 1.5, 0.8))
    model.add(ts.Prismatic("lift", model.ground, hull, axis="x"))
    corners = pitch / (2 * np.sin(np.pi / n)) * np.exp(2j * np.pi * np.arange(n + 1) / n)
    shoes = []
    for k, (a, b) in enumerate(zip(corners, corners[1:])):
        middle, turn = (a + b) / 2, (0, -np.angle(b - a), 0)
        inertia = ts.inertia.box(8.0, pitch, 0.4, 0.03)
        shoes.append(model.body(f"shoe{k}", inertia=inertia, at=(middle.real, 0, middle.imag), rotation=turn))
    for k, corner in enumerate(corners[1:]):
        point = (corner.real, 0, corner.imag)
        model.add(ts.Revolute(f"pin{k}", shoes[k], shoes[(k + 1) % n], point=point, axis="y"))
    model.add(ts.Planar("plane", hull, shoes[0], axis="y"))
    return model


@pytest.mark.parametrize("n", [70, 200])
def test_a_belt_of_n_shoes_has_n_and_one_degrees_of_freedom(n):
    system, _ = prepare(belt(n), "hierarchical")
    assert system.freedom == n + 1 and len(system.redundant) == 3


def test_a_singular_start_does_not_count(monkeypatch):
    """A parallelogram that starts flat: one more degree of freedom there, and one afterwards."""
    model = ts.Model("flat")
    bars = [
        model.body(f"b{k}", mass=1.0, inertia=(0.1,) * 3, at=at)
        for k, at in enumerate([(0.5, 0, 0), (1.5, 0, 0), (2.5, 0, 0)])
    ]
    ends = [(model.ground, bars[0], 0), (bars[0], bars[1], 1), (model.ground, bars[2], 2), (bars[1], bars[2], 3)]
    for k, (one, two, x) in enumerate(ends):
        model.add(ts.Revolute(f"h{k}", one, two, point=(x, 0, 0), axis="z"))
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "0")
    system, _ = prepare(model, "hierarchical")
    assert (system.freedom, system.start_freedom, len(system.redundant)) == (1, 2, 3)


def test_loops_whose_plane_turns_keep_their_rank(monkeypatch):
    """Rows in use come to depend on each other where the plane of a loop turns: others are taken, in every evaluation."""

    def model():
        table = ts.Model("turning", gravity=(0, 0, -9.81))
        disk = table.body("disk", mass=5.0, inertia=(1.0, 1.0, 1.0))
        table.add(ts.Revolute("axle", table.ground, disk, point=(0, 0, 0), axis="x", start_rate=4.0))
        bars = [
            table.body(f"b{k}", mass=1.0, inertia=(0.1,) * 3, at=at)
            for k, at in enumerate([(0, 0.5, 0), (1, 1, 0), (2, 0.5, 0)])
        ]
        ends = [
            (disk, bars[0], (0, 0)),
            (bars[0], bars[1], (0, 1)),
            (bars[1], bars[2], (2, 1)),
            (bars[2], disk, (2, 0)),
        ]
        for k, (one, two, (x, y)) in enumerate(ends):
            table.add(ts.Revolute(f"h{k}", one, two, point=(x, y, 0), axis="z"))
        return table

    other = ts.simulate(model(), 2.0, outputs=10, tolerance=1e-11, formulation="absolute")
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "0")
    run = ts.simulate(model(), 2.0, outputs=10, tolerance=1e-11, formulation="hierarchical")
    np.testing.assert_allclose(run["position"], other["position"], atol=1e-6)
    assert len(json.loads(run.attrs["redundant_constraints"])) == 3 and run.attrs["smallest_pivot"] > 1e-4
    unique = other["reaction_unique"]
    assert unique.sel(joint="axle").all() and unique.sel(axis="x").all()
    assert not unique.sel(joint=[f"h{k}" for k in range(4)], axis=["y", "z"]).any()


@pytest.mark.parametrize("seed", range(3))
def test_least_solutions_are_those_of_the_pseudoinverse(seed):
    random = np.random.default_rng(seed)
    A = random.standard_normal((6, 9))
    A[4] = A[0] - 2 * A[1]
    b = A @ random.standard_normal(9)
    np.testing.assert_allclose(least_norm(lambda v: A @ v, lambda r: A.T @ r, b), np.linalg.pinv(A) @ b, atol=1e-9)
