"""A tree that is run through a table of class kernels moves as the one that is written as one graph, and as other equations say."""

import mujoco
import numpy as np
import pytest
from mechanisms import GIVES, Draw

import torsor as ts
from torsor import kernels
from torsor.formulations.relative import Relative
from torsor.kernels.schedule_tables import Tables
from torsor.look.dataset import UNIQUE
from torsor.prepare import large_systems
from torsor.prepare.state_space import layout_of


@pytest.fixture(autouse=True)
def every_size(monkeypatch):
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "0")


def tree(seed, n, kinds=tuple(GIVES), forces=True):
    """A random tree of n bodies on two grounds, with any joints, drawn either way round, and forces of all kinds."""
    rng = np.random.default_rng(seed)
    model = ts.Model("tree", gravity=tuple(rng.normal(size=3)))
    draw = Draw(rng, model, 1.0, 1.0, 1.0)
    other = model.add(ts.Ground("other", at=(0.3, 0.2, 0.1), rotation=(0.2, 0.1, 0.4)))
    ends = [model.ground, other]
    for k in range(n):
        body = draw.body(draw.place(2.0))
        pair = (ends[rng.integers(len(ends))], body)
        joint = draw.joint(rng.choice(kinds), *(pair if draw.chance(0.7) else pair[::-1]), draw.place(2.0))
        ends.append(body)
        if not forces:
            continue
        if draw.chance(0.4) and joint.dof == 1:
            model.add(ts.JointForce(f"motor{k}", joint, torque(joint, rng)))
        if draw.chance(0.3):
            model.add(ts.PointForce(f"push{k}", body, force=tuple(rng.normal(size=3)), point=tuple(draw.place(2.0))))
    if forces:
        model.add(ts.SpringDamper("spring", model.ground, model.bodies[-1], stiffness=3.0, damping=0.2, length=0.5))
    return model


HELD = tuple(kind for kind in GIVES if kind != "Free")


def torque(joint, rng):
    return 0.3 * rng.normal() - 0.2 * joint.rate[0] - 0.5 * joint.coordinate[0]


def both(model):
    """ẋ by the table and by the graph, as functions of (t, x, p)."""
    f = Relative(model)
    layout = layout_of(model, f.q.shape[0], f.v.shape[0], f.p.shape[0])
    schedule = f.schedules(layout)["rate"]
    return f, layout, schedule, schedule.unroll(), f.functions()["accelerations"]


@pytest.mark.parametrize("seed", range(12))
def test_accelerations_by_classes_are_those_of_the_graph(seed):
    model = tree(seed, 2 + seed)
    f, layout, schedule, table, graph = both(model)
    rng = np.random.default_rng(100 + seed)
    d = ts.compile(model, formulation="relative")
    for _ in range(3):
        q = np.array(f.retractions("exp")["retract"](d.q, rng.uniform(-1, 1, layout.v))).ravel()
        v = rng.uniform(-2, 2, layout.v)
        a, _, power = graph(0.3, q, v, d.p, np.ones(1))
        xdot = table(0.3, layout.join_blocks(q, v, d.p), d.p, np.ones(1), np.zeros(4))[0].full().ravel()
        expected = np.concatenate([v, a.full().ravel(), power.full().ravel()])
        np.testing.assert_allclose(xdot, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("kind", [k for k in GIVES if k != "Fixed"])
def test_runs_by_classes_are_those_of_absolute_coordinates(kind):
    """Other equations, other coordinates."""
    model = tree(7, 5, kinds=(kind, "Revolute"))
    runs = [ts.simulate(model, 0.5, outputs=5, tolerance=1e-11, formulation=f) for f in ("relative", "absolute")]
    for what in ("position", "rotation", "velocity", "work"):
        np.testing.assert_allclose(*(run[what].values for run in runs), atol=1e-8)


@pytest.mark.parametrize("kinds", [("Revolute", "Prismatic"), ("Spherical", "Cylindrical", "Fixed"), HELD], ids=len)
def test_results_of_trees_in_numbers_are_those_of_absolute_coordinates(kinds):
    """Everything that a result holds, where start, kernels and outputs come from arrays."""
    model = tree(5, 9, kinds, forces=False)
    turning = {"velocity": (1, 2, 3), "angular_velocity": (0.3, -2, 1), "rotation": (0.1, 0.5, -0.4)}
    model.body("stone", mass=2.0, inertia=(0.3, 0.4, 0.5), at=(4, 5, 6), **turning)
    assert large_systems.system_of(model, "relative", {}) is not None
    table, other = (
        ts.simulate(model, 0.4, outputs=4, tolerance=1e-11, formulation=f) for f in ("relative", "absolute")
    )
    assert (
        set(table.data_vars) == set(other.data_vars)
        and table.attrs["degrees_of_freedom"] == other.attrs["degrees_of_freedom"]
    )
    for what in set(table.data_vars) - {"multiplier", "position_drift", "velocity_drift", *UNIQUE}:
        one, two = table[what].values, other[what].values
        np.testing.assert_allclose(one, two, atol=1e-7 * (1 + np.abs(two).max(initial=0.0)), err_msg=what)


@pytest.mark.parametrize("n", [1, 30, 200])
def test_a_long_chain_accelerates_as_in_another_engine(n):
    model = ts.cases.load("chain", n=n)
    f, layout, schedule, *_ = both(model)
    axes = np.eye(3)
    links = "".join(
        f'<body pos="{"0 0 0" if k == 0 else "0 0 -1"}"><inertial pos="0 0 -0.5" mass="1" diaginertia="0.1 0.1 0.01"/>'
        f'<joint type="hinge" axis="{" ".join(map(str, axes[k % 3]))}"/>'
        for k in range(n)
    )
    text = f'<mujoco><option gravity="0 0 -9.81"/><worldbody>{links}{"</body>" * n}</worldbody></mujoco>'
    peer = mujoco.MjModel.from_xml_string(text)
    state = mujoco.MjData(peer)
    rng = np.random.default_rng(n)
    q, v = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
    state.qpos[:], state.qvel[:] = q, v
    mujoco.mj_forward(peer, state)
    rate = kernels.build({"rate": schedule})["rate"]
    xdot = rate(np.zeros(1), layout.join_blocks(q, v, []), np.zeros(0), np.ones(1), np.zeros(4))[0]
    np.testing.assert_allclose(xdot[n : 2 * n], state.qacc, rtol=1e-7, atol=1e-9 * np.abs(state.qacc).max())


def test_code_grows_with_the_classes_and_not_with_the_links():
    """Links that differ in numbers only are of one class; what is alike in all of them is folded into its code."""
    short, long = (both(ts.cases.load("chain", n=n))[2] for n in (9, 60))
    kinds = lambda s: [len(one.classes) for one in s.passes]
    assert short.serialize() == long.serialize() and max(kinds(long)) <= 4
    bytes_of = lambda s: Tables({"rate": s}).nbytes
    assert long.constants.size == 9 and bytes_of(long) < 8 * bytes_of(short)
    odd = both(tree(3, 25, kinds=("Revolute",)))[2]
    assert max(kinds(odd)) <= 4 and odd.constants.size > 400  # any axis: drawn either way, at a root or not


@pytest.mark.parametrize("n", [30, 200])
def test_what_a_link_costs(n):
    schedule = both(ts.cases.load("chain", n=n))[2]
    kernel = kernels.build({"rate": schedule})["rate"]
    assert kernel.instructions < 480 * n
    assert 8 * kernel.work_size + kernel.tables.nbytes < 500 * n  # bytes


def test_links_of_very_different_size_keep_all_their_digits():
    """Pendulums of a nanometre beside one of 1e8 m: nothing of them is taken for the rounding of the other."""
    model = ts.Model("sizes", gravity=(0, 0, -9.81))
    sizes = np.array([1e8, 1e-9, 1.0, 1e-5])
    for k, size in enumerate(sizes):
        body = model.body(f"b{k}", mass=1.0, inertia=[0.1 * size**2] * 3, at=(size, 0.1 * size, 0))
        model.add(ts.Revolute(f"j{k}", model.ground, body, point=(0, 0, 0), axis=(0.6, 0.64, 0.48)))
    layout, _, table, graph = both(model)[1:]
    q, v = np.array([0.3, -0.2, 0.5, 0.1]), np.array([1.0, 0.5, -0.7, 0.2])
    a = graph(0.0, q, v, [], np.ones(1))[0].full().ravel()
    xdot = table(0.0, layout.join_blocks(q, v, []), [], np.ones(1), np.zeros(4))[0].full().ravel()
    np.testing.assert_allclose(xdot[4:8], a, rtol=1e-10)
    assert np.all(np.abs(a * sizes) > 0.1)


def test_parameters_in_the_geometry_are_left_to_the_graph():
    model = ts.Model("one", gravity=(0, 0, -9.81))
    mass = model.parameter("m", 2.0)
    body = model.body("body", mass=mass, inertia=(1, 1, 1), at=(1, 0, 0))
    model.add(ts.Revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    f = Relative(model)
    assert f.schedules(layout_of(model, 1, 1, 1)) == {}
    assert ts.simulate(model, 0.1, outputs=1, formulation="relative").attrs["status"] == "finished"
