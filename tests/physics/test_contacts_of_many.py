"""Contacts of many bodies: the search finds every pair, tables compute what the graph computes, bodies come to rest in a box."""

import ctypes

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.forces.contact_geometry import ShapeAt, crossing_edges
from torsor.formulations.tables.tree_schedule import TABLES_ABOVE
from torsor.kernels.loops import loops
from torsor.kernels.schedule_functions.pair_search import SEARCH
from torsor.lookup import pair_records
from torsor.lookup.pair_records import LIST_HEADER, facts_of, may_touch, work_size


def found_pairs(x, R, facts):
    """The pairs that the compiled search finds, list by list."""
    count = len(x)
    memory = np.hstack([x, R.transpose(0, 2, 1).reshape(count, 9)]).ravel()
    column = (12 * np.arange(count)).astype(np.int32)
    work = np.zeros(work_size(count))
    search = loops(SEARCH)["next_pairs"]
    pairs, restart = [], 1
    result, error = ctypes.c_int64(), ctypes.c_void_p()
    while True:
        addresses = (
            memory.ctypes.data,
            column.ctypes.data,
            0,
            0,
            1,
            count,
            facts.ctypes.data,
            work.ctypes.data,
            restart,
        )
        search._call(result, error, *addresses)
        if not result.value:
            return pairs
        listed = work.view(np.int64)[LIST_HEADER : LIST_HEADER + 2 * result.value].reshape(-1, 2)
        pairs += [tuple(pair) for pair in listed.tolist()]
        restart = 0


@pytest.mark.parametrize("seed", range(8))
def test_the_search_finds_each_overlap_once(seed):
    random = np.random.default_rng(seed)
    count = int(random.integers(2, 60))
    radii = random.uniform(0.05, 0.15, count) * np.where(random.random(count) < 0.1, 12, 1)
    planes = [None] * count
    for k in range(count):
        if random.random() < 0.08:
            normal = random.standard_normal(3)
            radii[k], planes[k] = np.inf, (normal / np.linalg.norm(normal), random.uniform(-1, 1))
    bodies = np.where(random.random(count) < 0.1, -1, random.integers(0, count, count))
    families = random.integers(-1, 4, count)
    facts = facts_of(radii, bodies, families, planes)
    x = random.uniform(-1, 1, (count, 3))
    R = np.linalg.qr(random.standard_normal((count, 3, 3)))[0]
    expected = set()
    for j in range(count):
        for i in range(j):
            planes_of_two = [k for k in (i, j) if planes[k] is not None]
            if not may_touch(facts, i, j) or len(planes_of_two) == 2:
                continue
            if planes_of_two:
                (p,) = planes_of_two
                other = i + j - p
                near = (R[p] @ planes[p][0]) @ (x[other] - x[p]) - planes[p][1] < radii[other]
            else:
                near = np.linalg.norm(x[i] - x[j]) < radii[i] + radii[j]
            if near:
                expected.add((i, j))
    pairs = found_pairs(x, R, facts)
    assert len(pairs) == len(set(pairs)) and set(pairs) == expected


def test_lists_that_are_too_short_for_all_pairs_continue():
    count = 40
    facts = facts_of(np.full(count, 1.0), np.arange(count), np.full(count, -1), [None] * count)
    x = np.random.default_rng(0).uniform(-0.1, 0.1, (count, 3))
    pairs = found_pairs(x, np.tile(np.eye(3), (count, 1, 1)), facts)
    assert len(set(pairs)) == len(pairs) == count * (count - 1) // 2 > pair_records.list_length(count)


def heap(count=9, **law):
    """Bodies of several shapes that fall onto each other and a plane."""
    random = np.random.default_rng(1)
    model = ts.Model("heap", gravity=(0, 0, -9.81), hints=False)
    shapes = [ts.shapes.sphere(0.1), ts.shapes.box((0.2, 0.15, 0.1)), ts.shapes.capsule(0.05, 0.2)]
    given = [(model.ground, ts.shapes.plane((1, 1)))]
    for k in range(count):
        at = (0.2 * (k % 3) + random.uniform(-0.02, 0.02), 0.2 * (k // 3 % 2), 0.25 + 0.32 * (k // 6))
        body = model.body(
            f"b{k}", mass=1 + 0.1 * k, inertia=(0.01, 0.012, 0.013), at=at, rotation=random.uniform(-0.5, 0.5, 3),
            velocity=random.uniform(-1, 1, 3), angular_velocity=random.uniform(-1, 1, 3),
        )  # fmt: skip
        given.append((body, shapes[k % 3]))
    model.add(ts.ContactGroup("touch", given, **law))
    return model


def test_tables_compute_what_the_graph_computes(monkeypatch):
    law = {"stiffness": 1e3, "damping": 0.3, "friction": 0.4, "slip_speed": 0.1}
    results = {}
    for way, above in (("straight", "1000"), ("tables", "4")):
        monkeypatch.setenv(TABLES_ABOVE, above)
        results[way] = ts.simulate(heap(**law), 0.15, outputs=10, step=1e-3, method="rkmk4")
        assert results[way].attrs["path"] == way
    for name in ("position", "velocity", "acceleration", "energy"):
        a, b = (results[way][name].values for way in ("straight", "tables"))
        np.testing.assert_allclose(a, b, atol=1e-9 * np.abs(a).max())
    assert float(abs(results["tables"].acceleration).max()) > 12


def test_bad_groups_are_refused():
    model = ts.Model("m")
    a = model.body("a", inertia=ts.inertia.sphere(1.0, 0.1))
    b = model.body("b", inertia=ts.inertia.sphere(1.0, 0.1), at=(0.05, 0, 0))
    c = model.body("c", mass=1.0, inertia=(1, 1, 1), at=(3, 0, 0))
    cases = [
        ((a,), {}, "bodies must be two or more"),
        ((a, c), {}, "body 'c' has no shape"),
        ((a, (c, ts.shapes.cone(1, 1))), {}, "no contact of a cone"),
        ((a, "d"), {}, "pairs of a body or ground and shapes"),
        ((a, b), {}, "'a' and body 'b' start 0.15 m inside each other"),
        ((a, (c, ts.shapes.sphere(0.1))), {"families": (1,)}, "families must be 2 whole numbers"),
        ((a, (c, ts.shapes.sphere(0.1))), {"stiffness": -1.0}, "stiffness must be at least 0"),
    ]
    for bodies, given, message in cases:
        with pytest.raises(ts.ModelError, match=message):
            model.add(ts.ContactGroup("touch", bodies, **given))
    model.add(ts.ContactGroup("apart", (a, b), families=(1, 1)))


def test_edges_of_boxes_touch_where_they_cross():
    """Two boxes that stand on their edges, crosswise: the depth is the overlap of heights, the point is between."""
    h = 0.5 * np.sqrt(2)
    for depth in (0.02, -0.02):
        x = np.array([0.1, -0.05, 2 * h - depth])
        given = [np.zeros(3), _turn(0), x, _turn(1)]
        touch = crossing_edges(
            *(ShapeAt("box", [1.0] * 3, ca.SX(ca.DM(p)), ca.SX(ca.DM(R))) for p, R in zip(given[::2], given[1::2]))
        )
        if depth > 0:
            np.testing.assert_allclose(float(touch.depth), depth, atol=1e-12)
            np.testing.assert_allclose(np.array(ca.DM(touch.normal)).ravel(), [0, 0, 1], atol=1e-12)
            np.testing.assert_allclose(np.array(ca.DM(touch.point)).ravel(), [0.1, 0, h - depth / 2], atol=1e-12)
        else:
            assert float(touch.depth) < 0


def _turn(axis):
    c = s = np.sqrt(0.5)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def test_threads_refuse_what_searches_among_all_bodies(monkeypatch):
    monkeypatch.setenv(TABLES_ABOVE, "4")
    with pytest.raises(ts.OptionError, match="contact-group 'touch' searches for contacts among all bodies"):
        ts.simulate(heap(), 0.01, step=1e-3, threads=2)
