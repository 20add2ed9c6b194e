"""A system that is run in numbers, by classes of links, constraints, forces and joins, moves as its equations in symbols say."""

import casadi as ca
import numpy as np
import pytest
from hierarchies import hierarchy

import torsor as ts
from torsor.formulations.tables import elimination_order
from torsor.formulations.tables.numeric_system import NumericSystem
from torsor.formulations.tables.system_schedule import SystemKernels
from torsor.prepare import large_systems
from torsor.prepare.state_space import Layout
from torsor.start.large_start import first_impostor

SAME = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration", "coordinate", "rate",
        "coordinate_acceleration", "kinetic_energy", "potential_energy", "work")  # fmt: skip


@pytest.fixture
def every_size(monkeypatch):
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "0")


def agree(table, other, tolerance):
    """Everything that does not depend on the coordinates, and reactions as far as they are unique."""
    assert table.attrs["degrees_of_freedom"] == other.attrs["degrees_of_freedom"]
    flags = {"reaction_force": "reaction_unique", "reaction_torque": "reaction_torque_unique"}
    for what in (*SAME, *flags):
        one, two = table[what].values, other[what].values
        if what in flags:
            unique = other[flags[what]].values
            assert (table[flags[what]].values == unique).all()
            one, two = one[:, unique], two[:, unique]
        np.testing.assert_allclose(one, two, atol=tolerance * (1 + np.abs(two).max(initial=0.0)), err_msg=what)


@pytest.mark.parametrize("case, options", [("car", {}), ("four-bar", {"n": 3}), ("bricard", {}), ("slider-crank", {})])
def test_cases_with_loops(case, options, every_size):
    """Redundant constraints, springs and dampers, bodies of several grounds."""
    model = ts.cases.load(case, **options)
    table, other = (
        ts.simulate(model, 0.3, outputs=3, tolerance=1e-11, formulation=f) for f in ("hierarchical", "absolute")
    )
    agree(table, other, 1e-7)
    assert table.attrs["position_drift_max"] < 1e-11


@pytest.mark.parametrize("seed", [3, 8])
def test_random_hierarchies(seed, every_size):
    model = hierarchy(seed)
    assert large_systems.system_of(model, "hierarchical", {}) is not None
    table, other = (
        ts.simulate(model, 0.3, outputs=3, tolerance=1e-11, formulation=f) for f in ("hierarchical", "absolute")
    )
    agree(table, other, 1e-7)


@pytest.mark.parametrize("options", [{"projection": "none"}, {"projection": "baumgarte"}, {"map": "cayley"}], ids=str)
def test_projections_and_maps(options, every_size):
    runs = [
        ts.simulate(ts.cases.load("four-bar", n=2), 0.3, outputs=3, method="rkmk4", step=1e-3, formulation=f, **options)
        for f in ("hierarchical", "relative")
    ]
    agree(*runs, 1e-7)


def test_turns_of_joints_that_close_loops_are_counted(every_size):
    """A parallelogram that falls through several turns: its hinges turn with it."""
    model = ts.Model("parallelogram", gravity=(30.0, 0, -9.81))
    bars = [model.body(f"b{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(k, 0, 0.5 + 0.5 * (k == 1))) for k in range(3)]
    turned = {"axis": (0, 1, 0)}
    model.add(ts.Revolute("h0", model.ground, bars[0], point=(0, 0, 0), **turned))
    model.add(ts.Revolute("h1", bars[0], bars[1], point=(0, 0, 1), **turned))
    model.add(ts.Revolute("h2", bars[1], bars[2], point=(2, 0, 1), **turned))
    model.add(ts.Revolute("h3", bars[2], model.ground, point=(2, 0, 0), **turned))
    model.add(ts.Torque("motor", bars[0], torque=(0, 60.0, 0)))
    table, other = (ts.simulate(model, 2.0, outputs=20, formulation=f) for f in ("hierarchical", "absolute"))
    np.testing.assert_allclose(table["coordinate"], other["coordinate"], atol=1e-5)
    assert np.abs(table["coordinate"].values).max() > 3 * np.pi


def chain_with_loops(n):
    """A chain in which every second link is braced to the one before the last by a rod."""
    model = ts.Model("braced", gravity=(0, 0, -9.81))
    above, links = model.ground, []
    for k in range(n):
        links.append(model.body(f"link{k}", mass=1.0, inertia=(0.1, 0.1, 0.01), at=(0.1 * k, 0, -k - 0.5)))
        kind = ts.Spherical(f"j{k}", above, links[-1], point=(0.1 * k, 0, -k))
        model.add(kind)
        if k >= 2 and k % 2:
            model.add(ts.Distance(f"rod{k}", links[k - 2], links[k]))
        model.add(ts.SpringDamper(f"s{k}", model.ground, links[-1], stiffness=2.0, damping=0.1, length=0.3 * k))
        above = links[-1]
    return model


@pytest.mark.parametrize("n", [80])
def test_a_large_chain_with_loops(n):
    model = chain_with_loops(n)
    assert large_systems.system_of(model, "hierarchical", {}) is not None
    data = ts.simulate(model, 0.2, outputs=4, formulation="hierarchical", tolerance=1e-10)
    assert data.attrs["position_drift_max"] < 1e-9 and abs(data.attrs["energy_balance_error"]) < 1e-6


def test_code_does_not_grow_with_the_number_of_instances():
    """Two trains of different length are made of the same classes."""
    texts = []
    for n in (6, 30):
        plain = NumericSystem(chain_with_loops(n))
        kernels = SystemKernels(plain, Layout(9 * n, 3 * n, 0), 1.0)
        texts.append([kernels.factor().serialize(), kernels.velocities().serialize(), len(kernels.classes)])
    assert texts[0] == texts[1]


def test_joins_keep_borders_small_and_take_every_constraint_once():
    n = 200
    ends = [(k - 1, k) for k in range(n)] + [(k, k + 2) for k in range(0, n - 2, 3)]
    found = elimination_order.joins(n, ends, [""] * len(ends))
    assert sorted(found.constraint) == list(range(len(ends)))
    assert np.diff(found.first).max() <= 3 and not found.border_of(found.size - 1)


LOADS = {
    "springs in joints": lambda m, j, b, k: ts.TorsionSpring(f"f{k}", j, stiffness=3.0 + k, damping=0.2, rest=0.1 * k),
    "torques in joints": lambda m, j, b, k: ts.JointForce(
        f"f{k}", j, value=(1 + k) * ca.sin(j.coordinate) - 0.3 * j.rate
    ),
    "motors": lambda m, j, b, k: ts.CosineTorque(f"f{k}", j, amplitude=2.0, frequency=0.5 + k),
    "drag": lambda m, j, b, k: ts.PointForce(f"f{k}", b, force=-(0.2 + 0.1 * k) * b.velocity * ca.norm_2(b.velocity)),
    "a force that grows": lambda m, j, b, k: ts.PointForce(f"f{k}", b, force=(0, k * ts.time, 0), point=(0.1, 0, -k)),
    "a potential in time": lambda m, j, b, k: ts.EnergyForce(
        f"f{k}", energy=(1 + ts.time) * (2 + k) * b.position[0] ** 2
    ),
    "a spring that winds": lambda m, j, b, k: ts.SpringDamper(
        f"f{k}", m.ground, b, stiffness=9.0, damping=0.1, length=1 + 0.1 * ca.sin(3 * ts.time)
    ),
}


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("closed", [False, True], ids=["tree", "loop"])
def test_forces_by_classes(load, closed, every_size):
    """Forces along joints and forces given by expressions, in trees with a joint that was drawn from its end, and in loops."""
    model = ts.Model("loaded", gravity=(0, 0, -9.81))
    above: ts.Ground | ts.Body = model.ground
    for k in range(4):
        link = model.body(f"link{k}", mass=1.0 + k, inertia=(0.1, 0.2, 0.15), at=(0.1 * k, 0, -k - 0.5))
        ends = (link, above) if k == 2 else (above, link)
        kind = ts.Prismatic if k == 1 else ts.Revolute
        joint = model.add(kind(f"j{k}", *ends, point=(0, 0.1, -k), axis=(k % 2, 1, 0.3 * k), start_rate=0.4))
        model.add(LOADS[load](model, joint, link, k))
        above = link
    if closed:
        model.add(ts.Distance("rod", model.ground, above))
    ways = ["absolute", "hierarchical"] + ["relative"] * (not closed and "joints" in load)
    other, *tables = (ts.simulate(model, 0.3, outputs=3, tolerance=1e-11, formulation=f) for f in ways)
    for way, table in zip(ways[1:], tables):
        assert large_systems.system_of(model, way, {}) is not None
        agree(table, other, 1e-7)


def test_runs_of_one_model_are_prepared_once(every_size, monkeypatch):
    """A second run gives the same bits without preparation; one that records something else is prepared."""
    asked: list = []
    prepared = large_systems.prepare_system
    monkeypatch.setattr(
        large_systems, "prepare_system", lambda *given, **more: asked.append(given[1:5]) or prepared(*given, **more)
    )
    model = ts.cases.load("four-bar", n=2)
    run = lambda **more: ts.simulate(
        model, 0.02, outputs=2, step=1e-2, method="rkmk4", formulation="hierarchical", **more
    )
    first, again = run(), run()
    assert len(asked) == 1 and first.equals(again)
    system = model.derived["plain"]
    assert sum(x.nbytes for thing in (system, system.tree) for x in vars(thing).values() if hasattr(x, "nbytes")) < 1000
    recorded = run(signals={"height": model.bodies[0].position[2]})
    assert len(asked) == 2 and np.array_equal(recorded["height"], first.position[:, 0, 2])
    assert recorded.attrs["model_hash"] != first.attrs["model_hash"]


def test_forces_of_one_shape_share_their_code():
    """Numbers inside of expressions are data, too."""
    model = ts.Model("loaded")
    for k in range(9):
        body = model.body(f"b{k}", mass=1.0, inertia=(1, 1, 1), at=(k, 0, 0))
        model.add(ts.PointForce(f"f{k}", body, force=-(0.25 + 0.1 * k) * body.velocity))
    classes, kinds, _ = NumericSystem(model).force_classes
    assert len(classes) == 1 and not kinds.any()


def test_a_force_that_is_not_by_class_is_derived_as_ever(every_size):
    """A torque in one joint that follows the angle of another one."""
    model = ts.cases.load("chain", n=4)
    model.add(ts.JointForce("tendon", model["joint2"], value=-2.0 * model["joint1"].coordinate))
    assert large_systems.system_of(model, "hierarchical", {}) is None
    runs = [ts.simulate(model, 0.3, outputs=3, tolerance=1e-11, formulation=f) for f in ("hierarchical", "absolute")]
    agree(*runs, 1e-7)


def test_recorded_signals(every_size):
    """Of bodies, joints, reactions and time, scalars and vectors, those of the model and those of one run."""
    model = ts.cases.load("four-bar", n=2)
    joint, body = model.joints[1], model.bodies[2]
    model.signal("height", body.position[2] + 0.1 * ts.time)
    model.signal("speed", body.rotation @ ca.cross(body.angular_velocity, ca.SX([0.1, 0.2, 0.3])) + body.acceleration)
    more = {"strain": ca.norm_2(joint.reaction_force) + joint.rate[0], "turned": ca.sin(model.joints[-1].coordinate[0])}
    table, other = (
        ts.simulate(model, 0.3, outputs=3, tolerance=1e-11, formulation=f, signals=more)
        for f in ("hierarchical", "absolute")
    )
    assert large_systems.system_of(model, "hierarchical", more) is not None
    for name in ("height", "speed[0]", "speed[2]", "turned"):
        np.testing.assert_allclose(table[name], other[name], atol=1e-7)
    assert set(other.data_vars) == set(table.data_vars)


def test_axes_and_lengths_are_data():
    """Hinges about any axes and rods of any length are of few classes, however many of them there are."""

    def kinds(n):
        random, model = np.random.default_rng(1), ts.Model("any")
        above, before = model.ground, model.ground
        for k in range(n):
            body = model.body(f"b{k}", mass=1.0, inertia=(1, 2, 2.5), at=(k, 0, 0))
            model.add(ts.Revolute(f"j{k}", above, body, point=(k - 0.5, 0, 0), axis=random.normal(size=3)))
            if k > 1:
                model.add(ts.Distance(f"rod{k}", before, body, points=random.normal(size=(2, 3))))
            above, before = body, above
        return len(NumericSystem(model).rows[0])

    assert kinds(30) <= 14


@pytest.mark.parametrize("case, formulation", [("four-bar", "hierarchical"), ("chain", "relative")])
def test_compiled_systems_in_numbers(case, formulation, monkeypatch):
    """Kernels of a large system, called one by one, are those of its equations in symbols."""
    symbols = ts.compile(ts.cases.load(case, n=3), formulation=formulation)
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "0")
    numbers = ts.compile(ts.cases.load(case, n=3), formulation=formulation)
    random = np.random.default_rng(2)
    q, v = (np.array(x) + 0.05 * random.normal(size=len(x)) for x in (symbols.q, symbols.v))
    assert numbers.coordinates == symbols.coordinates
    q, v = symbols.projected(q, v)
    for one, two in zip(numbers.projected(q, v), (q, v)):
        np.testing.assert_allclose(one, two, atol=1e-11)
    for what in ("accelerations", "body_accelerations"):
        one, two = (getattr(d, what)(q, v) for d in (numbers, symbols))
        np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-8)
    assert max(np.abs(x).max(initial=0.0) for x in numbers.residuals(q, v)) < 1e-11
    if case == "chain":
        np.testing.assert_allclose(numbers.mass_matrix(q), symbols.mass_matrix(q), atol=1e-12)


@pytest.mark.parametrize("projection", ["post", "least-squares:metric=plain", "partition"])
def test_other_projections_are_not_forgotten(projection, every_size):
    """Tables project in the mass metric alone; everything else is derived as ever."""
    model = ts.cases.load("four-bar", n=2)
    options = {"outputs": 3, "method": "rkmk4", "step": 1e-3, "projection": projection}
    table, other = (ts.simulate(model, 0.2, formulation=f, **options) for f in ("hierarchical", "relative"))
    np.testing.assert_allclose(table["coordinate"], other["coordinate"], atol=1e-9)
    np.testing.assert_allclose(table["position_drift"], other["position_drift"], atol=1e-15)


@pytest.mark.parametrize("formulation", ["relative", "hierarchical"])
def test_parameters_have_numbers(formulation, every_size):
    """Parameters in masses, places, lengths, forces, gravity and signals; their values are those of the run."""
    model = ts.Model("given", gravity=(0, 0, -9.81))
    m, a, k = model.parameter("m", 2.0), model.parameter("a", 0.4), model.parameter("k", 30.0)
    model.gravity = (0, k / 100, -9.81)
    above = model.ground
    for i in range(4):
        link = model.body(f"link{i}", mass=m + i, inertia=(0.1 * m, 0.2, 0.15), at=(0, 0, -a * (i + 0.5)))
        joint = model.add(ts.Revolute(f"j{i}", above, link, point=(0, 0, -a * i), axis=(i % 2, 1, 0), start_rate=0.5))
        model.add(ts.TorsionSpring(f"s{i}", joint, stiffness=k, damping=0.1))
        above = link
    model.signal("lift", k * above.position[2])
    if formulation == "hierarchical":
        model.add(ts.Distance("rod", model.ground, above, points=((0.5, 0.2, 0), (0, 0, -4 * a + 0.3))))
    for values in ({}, {"a": 0.55, "k": 55.0}):
        bare, seen = large_systems.fix_parameters(model, dict(model.signals), model.values(values))
        assert large_systems.system_of(bare, formulation, seen) is not None
        table, other = (
            ts.simulate(model, 0.2, outputs=3, tolerance=1e-11, formulation=f, parameters=values)
            for f in (formulation, "absolute")
        )
        agree(table, other, 1e-7)
        np.testing.assert_allclose(table["lift"], other["lift"], atol=1e-7)
        assert table.attrs["model_hash"] == other.attrs["model_hash"]


def test_a_loop_that_came_together_as_what_it_does_not_mean_is_found():
    """A hinge whose axes point against each other satisfies its equations; the first such joint of a loop is told, and when."""
    model = ts.Model("bars", gravity=(0, 0, -9.81))
    last = model.ground
    for k in range(5):
        bar = model.body(f"bar{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(k + 0.5, 0, 0))
        model.add(ts.Revolute(f"foot{k}", model.ground, bar, point=(k + 0.5, 0, 0), axis=(0, 1, 0)))
        model.add(ts.Revolute(f"hinge{k}", last, bar, point=(k, 0, 0), axis=(0, 1, 0)))
        last = bar
    plain = NumericSystem(model)
    assert [c.name for c in plain.loops] == [f"hinge{k}" for k in range(5)]
    times, x = np.array([0.0, 1.0, 2.0]), np.array([[b.reference[0] for b in model.bodies]] * 3)
    R = np.tile(np.eye(3), (3, 5, 1, 1))
    assert first_impostor(plain, 0.1, 1.0, times, x, R) is None
    R[2, 1:] = np.diag([1.0, -1.0, -1.0])  # half a turn about x, from bar1 on
    R[1, 3:] = np.diag([1.0, -1.0, -1.0])
    joint, t = first_impostor(plain, 0.1, 1.0, times, x, R)
    assert (
        joint.name == "hinge1" and t == 2.0
    )  # of those that close loops; hinge3 came later in the model, though earlier in time


def test_the_size_from_which_tables_are_used_can_be_set(monkeypatch):
    """`TORSOR_TABLES_ABOVE` takes a number of bodies; the result is the same on both paths."""
    ways = {}
    for above in ("0", "1000"):
        monkeypatch.setenv("TORSOR_TABLES_ABOVE", above)
        model = ts.cases.load("chain", n=5)
        assert (large_systems.system_of(model, "relative", {}) is not None) == (above == "0")
        ways[above] = ts.simulate(model, 0.1, outputs=2, formulation="relative", tolerance=1e-12)
    agree(*ways.values(), 1e-9)
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "many")
    with pytest.raises(ts.OptionError, match="TORSOR_TABLES_ABOVE is 'many': give the number of bodies"):
        ts.simulate(ts.cases.load("chain", n=5), 0.1, formulation="relative")
