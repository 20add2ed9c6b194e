"""Projection by partition: the measure of coordinates, the choice it leads to, and what a projection then changes."""

import json

import numpy as np
import pytest

import torsor as ts
from torsor.formulations.algebra.partition import choose_dependent
from torsor.methods.projections import Partition
from torsor.prepare import state_space
from torsor.prepare.choice import KernelOptions
from torsor.prepare.prepare import prepare
from torsor.prepare.table_adapter import Blocks
from torsor.start.constraints import Examiner

CASES = [(case, way) for case in ("four-bar", "three-link", "snakeboard") for way in ("absolute", "relative")]
LOOPS = [pair for pair in CASES if pair != ("three-link", "relative")]  # a tree has no constraints in joint coordinates


def kernels(case, formulation, wanted=(None, None)):
    system, built = prepare(ts.cases.load(case), formulation, KernelOptions(metric=list(wanted)))
    return system, Blocks(system, built), np.array([0.0]), np.array(system.q), np.array(system.v), np.array(system.p)


def matrices(case, formulation):
    """G of the rows in use, which of them are holonomic, and M⁻¹, at the start."""
    d = ts.compile(ts.cases.load(case), formulation)
    f = d.formulation_object
    examiner = Examiner(f, d.system.length)
    held = np.array([f.rows[k].holonomic for k in f.keep], bool)
    return examiner.G(0.0, d.q, d.p)[f.keep], held, examiner.Minv(d.q, d.p)


def chosen_velocities(case="snakeboard", formulation="absolute"):
    found = prepare(ts.cases.load(case), formulation, KernelOptions(metric=[None, None]))[0].partition
    return [found["names"][k] for k in found["velocities"]]


def poor_velocities():
    """The coupler's x, which has the smallest measure of all x, is computed from the front board's instead of the reverse."""
    return [name for name in chosen_velocities() if name != "A x"] + ["B x"]


# the measure


@pytest.mark.parametrize("case, formulation", CASES)
def test_the_measure_lies_between_0_and_1(case, formulation):
    found = ts.compile(ts.cases.load(case), formulation).partition_measure()
    for what in ("positions", "velocities"):
        assert len(found[what]) == len(found["names"])
        assert np.all(found[what] >= -1e-13) and np.all(found[what] <= 1 + 1e-13)  # a quotient of lengths, to rounding


@pytest.mark.parametrize("case", ["four-bar", "three-link", "snakeboard"])
def test_in_a_diagonal_metric_the_measures_add_up_to_the_number_of_rows(case):
    """Σ Δᵢ = tr(M⁻¹ Gᵀ S⁻¹ G) = tr(S⁻¹ S)."""
    G, held, Minv = matrices(case, "absolute")
    assert np.all(Minv == np.diag(np.diag(Minv)))
    found = ts.compile(ts.cases.load(case), "absolute").partition_measure()
    assert found["positions"].sum() == pytest.approx(held.sum(), abs=1e-11)
    assert found["velocities"].sum() == pytest.approx(len(G), abs=1e-11)


def test_the_measure_is_the_squared_cosine_between_a_coordinate_and_the_normal_of_a_circle():
    """A particle on a circle at the angle θ: Δ = cos²θ for x, sin²θ for y; the figure 3 of the document."""
    for angle in (0.0, 0.3, 1.2):
        model = ts.Model("circle")
        at = (np.cos(angle), np.sin(angle), 0)
        bob = model.body("bob", mass=2.0, inertia=0, at=at)
        model.add(ts.Distance("rod", model.ground, bob, points=((0, 0, 0), at)))
        found = ts.compile(model, "absolute").partition_measure()
        expected = [np.cos(angle) ** 2, np.sin(angle) ** 2, 0.0]
        assert np.abs(found["positions"] - expected).max() <= 1e-15


def test_velocities_have_more_constraints_than_positions_and_larger_measures():
    found = ts.compile(ts.cases.load("snakeboard"), "absolute").partition_measure()
    assert np.all(found["velocities"] >= found["positions"] - 1e-13)  # a larger subspace holds longer projections
    assert found["velocities"].sum() - found["positions"].sum() == pytest.approx(2, abs=1e-12)  # two wheels


def test_the_measure_is_that_of_the_given_state():
    d = ts.compile(ts.cases.load("three-link"), "absolute")
    data = ts.simulate(ts.cases.load("three-link"), 0.5, outputs=1)
    R = data.rotation.values[-1].transpose(0, 2, 1).reshape(-1, 9)
    q = np.hstack([data.position.values[-1], R]).ravel()
    found = d.partition_measure(q, 0.5)
    assert np.abs(found["positions"] - d.partition_measure()["positions"]).max() > 0.01
    assert found["positions"].sum() == pytest.approx(11, abs=1e-11)
    with pytest.raises(ts.OptionError, match="q must have"):
        d.partition_measure(q[:-1])


# the choice


@pytest.mark.parametrize("case, formulation", LOOPS)
def test_the_chosen_coordinates_can_be_computed_from_the_others(case, formulation):
    G, held, Minv = matrices(case, formulation)
    partition = kernels(case, formulation)[0].partition
    for rows, dependent in ((G[held], partition["positions"]), (G, partition["velocities"])):
        assert len(set(dependent)) == len(rows)
        assert dependent == (choose_dependent(rows, Minv) if len(rows) else [])
        if len(rows):
            assert np.linalg.cond(rows[:, dependent]) < 1e3  # lengths of about 1 m: nothing near singular


def test_a_tree_in_joint_coordinates_has_nothing_to_choose():
    partition = kernels("three-link", "relative")[0].partition
    assert partition["positions"] == partition["velocities"] == []


# what a projection does


@pytest.mark.parametrize("case, formulation", LOOPS)
def test_only_dependent_coordinates_change(case, formulation):
    system, built, t, q, v, p = kernels(case, formulation)
    random = np.random.default_rng(5)
    q = built["retract"](q, 1e-3 * random.standard_normal(len(v)))[0]
    v = v + 1e-3 * random.standard_normal(len(v))
    F = built["factor"](t, q, p)[0]
    moved, g = built["positions"](t, q, p, F)
    corrected, psi = built["velocities"](t, q, v, p, F)
    still = np.ones(len(v), bool)
    still[system.partition["velocities"]] = False
    assert np.abs(psi).max() > 1e-5  # there was something to correct
    assert np.array_equal(corrected[still], v[still])
    assert not np.array_equal(corrected, v)
    # positions: what undoes the step is its negative, so that moving q by steps in dependent coordinates reaches `moved`
    if system.partition["positions"]:
        assert np.abs(g).max() > 1e-5
        step = displacement(built, q, moved, len(v))
        still = np.ones(len(v), bool)
        still[system.partition["positions"]] = False
        assert np.abs(step[still]).max(initial=0.0) <= 1e-12 < np.abs(step).max()
    else:
        assert np.array_equal(moved, q)


def displacement(built, start, end, n):
    """u with retract(start, u) = end, by Gauss–Newton on the kernel itself."""
    u, h = np.zeros(n), 1e-6
    for _ in range(6):
        J = np.column_stack([
            (built["retract"](start, u + h * e)[0] - built["retract"](start, u - h * e)[0]) / (2 * h) for e in np.eye(n)
        ])  # fmt: skip
        u = u + np.linalg.lstsq(J, end - built["retract"](start, u)[0], rcond=None)[0]
    return u


@pytest.mark.parametrize("case, formulation", LOOPS)
def test_a_few_steps_reach_the_constraints(case, formulation):
    system, built, t, q, v, p = kernels(case, formulation)
    random = np.random.default_rng(5)
    q = built["retract"](q, 1e-3 * random.standard_normal(len(v)))[0]
    for _ in range(4):
        q = built["positions"](t, q, p, built["factor"](t, q, p)[0])[0]
    F = built["factor"](t, q, p)[0]
    v = built["velocities"](t, q, v + 1e-3 * random.standard_normal(len(v)), p, F)[0]
    assert np.abs(built["positions"](t, q, p, F)[1]).max() <= 1e-13 * system.length
    assert np.abs(built["velocities"](t, q, v, p, F)[1]).max() <= 1e-12 * max(1.0, np.abs(v).max())


@pytest.mark.parametrize("case, formulation", CASES)
def test_a_run_satisfies_the_constraints_at_all_outputs(case, formulation):
    data = ts.simulate(ts.cases.load(case), 2.0, formulation=formulation, projection="partition")
    assert data.position_drift.max() <= 1e-12
    assert data.velocity_drift.max() <= 1e-12


@pytest.mark.parametrize("case", ["four-bar", "three-link", "snakeboard"])
def test_the_motion_is_that_of_the_least_change(case):
    run = lambda projection: ts.simulate(ts.cases.load(case), 1.0, projection=projection, tolerance=1e-11)
    difference = np.abs(run("partition").position - run("least-squares").position).max()
    assert difference <= 1e-8  # both follow the same motion to the tolerance, times a few hundred steps


@pytest.mark.parametrize("case", ["four-bar", "three-link"])
def test_coordinates_are_chosen_anew_while_a_mechanism_turns(case):
    data = ts.simulate(ts.cases.load(case), 5.0, projection="partition", formulation="absolute")
    assert data.attrs["choices"] > 0
    assert data.position_drift.max() <= 1e-12 and data.velocity_drift.max() <= 1e-12


@pytest.mark.parametrize("fused", [(True, False), (False, True)])
def test_choices_made_anew_may_be_too_large_for_one_kernel(fused, monkeypatch, tmp_path):
    """The stages of a step are called as the kernels of each choice have them, as one or in parts."""
    whole = ts.simulate(ts.cases.load("three-link"), 2.0, projection="partition", formulation="absolute")
    monkeypatch.setenv("TORSOR_CACHE", str(tmp_path))
    made, whole_functions = iter(fused), state_space.StateKernels.functions
    monkeypatch.setattr(
        state_space.StateKernels, "functions", lambda self, *_, **__: whole_functions(self, False, next(made, False))
    )
    data = ts.simulate(ts.cases.load("three-link"), 2.0, projection="partition", formulation="absolute")
    assert data.attrs["choices"] > 0 and next(made, None) is None
    assert np.abs(data.position - whole.position).max() <= 1e-9


# a choice that is forced


def test_a_forced_choice_is_used_and_reported():
    poor = poor_velocities()
    system, built, t, q, v, p = kernels("snakeboard", "absolute", (None, poor))
    names = system.partition["names"]
    assert {names[k] for k in system.partition["velocities"]} == set(poor)
    v = v + 1e-3 * np.random.default_rng(2).standard_normal(len(v))
    corrected = built["velocities"](t, q, v, p, built["factor"](t, q, p)[0])[0]
    changed = {names[k] for k in np.flatnonzero(corrected != v)}
    assert "B x" in changed and "A x" not in changed and changed <= set(poor)
    data = ts.simulate(ts.cases.load("snakeboard"), 0.5, projection=Partition(velocities=tuple(poor)))
    assert data.velocity_drift.max() <= 1e-12
    assert str(tuple(poor)) in json.loads(data.attrs["options"])["projection"]


def test_places_do_as_well_as_names():
    system = kernels("snakeboard", "absolute")[0]
    places = system.partition["velocities"]
    assert kernels("snakeboard", "absolute", (None, places))[0].partition["velocities"] == places


WITHOUT_X = [f"{b} {axis}" for b in "ABCD" for axis in ("y", "z", "about x", "about y", "about z")]


@pytest.mark.parametrize(
    "given, words",
    [
        (
            lambda: ["nose x", *chosen_velocities()[1:]],
            "partition of velocities: unknown coordinate 'nose x'. Known: A x",
        ),
        (lambda: [99, *chosen_velocities()[1:]], "unknown coordinate 99"),
        (lambda: chosen_velocities()[1:], "20 different dependent coordinates are needed, got 19"),
        (lambda: [*chosen_velocities()[1:], chosen_velocities()[1]], "20 different dependent coordinates are needed"),
        (lambda: [*chosen_velocities(), "B x"], "20 different dependent coordinates are needed, got 21"),
        (lambda: WITHOUT_X, "A y, .* cannot be computed from the others at the start: this partition is singular"),
    ],
    ids=["unknown", "no such place", "too few", "twice", "too many", "singular"],
)
def test_a_choice_that_cannot_work_is_refused(given, words):
    with pytest.raises(ts.OptionError, match=words):
        ts.simulate(ts.cases.load("snakeboard"), 0.1, projection=Partition(velocities=tuple(given())))


def test_positions_are_named_in_their_own_message():
    with pytest.raises(ts.OptionError, match="partition of positions: 18 different"):
        ts.simulate(ts.cases.load("snakeboard"), 0.1, projection=Partition(positions=("A x",)))


# what a good choice is good for


def test_the_best_choice_changes_velocities_less_than_a_poor_one():
    """One Euler step from states of an accurate run, then the velocities alone are projected (sec. 5.4.2)."""
    h, model = 0.01, ts.cases.load("snakeboard")
    good, poor = (kernels("snakeboard", "absolute", (None, names)) for names in (None, poor_velocities()))
    M = np.diag(1 / np.diag(matrices("snakeboard", "absolute")[2]))
    d = ts.compile(model, "absolute")
    data = ts.simulate(model, 2.0, outputs=50, tolerance=1e-12)
    R = data.rotation.values.transpose(0, 1, 3, 2).reshape(51, 4, 9)
    q = np.concatenate([data.position.values, R], axis=2).reshape(51, -1)
    v = np.concatenate([data.velocity.values, data.angular_velocity.values], axis=2).reshape(51, -1)
    cost = np.zeros(2)
    for t, x, w in zip(data.time.values, q, v):
        free, moved = w + h * d.accelerations(x, w, t), d.kernels["advance"](x, h * w)[0]
        for k, (_, built, _, _, _, p) in enumerate((good, poor)):
            now = np.array([t + h])
            change = built["velocities"](now, moved, free, p, built["factor"](now, moved, p)[0])[0] - free
            cost[k] += change @ M @ change
    assert cost[1] / cost[0] > 1.0


def linkage():
    """A light crank and rod on a heavy rocker, and a wheel that a velocity-level gear turns with the crank. Among velocities
    all three of the linkage follow from the wheel's, wherever it is; among positions crank and rod follow from the rocker,
    which at its turning points tells nothing of them."""
    model, axis = ts.Model("linkage"), (0, 0, 1)
    crank = model.body("crank", mass=0.01, inertia=(1e-4, 1e-4, 1e-4), at=(0.15, 0, 0))
    rod = model.body("rod", mass=0.01, inertia=(1e-3, 1e-3, 1e-3), at=(0.6, 0.26, 0))
    rocker = model.body("rocker", mass=60.0, inertia=(30, 30, 30), at=(0.95, 0.26, 0))
    wheel = model.body("wheel", mass=10.0, inertia=(3000, 3000, 5000), at=(0, 0, 1))
    turns = model.add(ts.Revolute("crank-joint", model.ground, crank, point=(0, 0, 0), axis=axis, start_rate=5.0))
    model.add(ts.Revolute("rod-joint", crank, rod, point=(0.3, 0, 0), axis=axis))
    model.add(ts.Revolute("end", rod, rocker, point=(0.9, 0.52, 0), axis=axis))
    model.add(ts.Revolute("rocker-joint", model.ground, rocker, point=(1, 0, 0), axis=axis))
    follows = model.add(ts.Revolute("wheel-joint", model.ground, wheel, point=(0, 0, 1), axis=axis))
    model.add(ts.Nonholonomic("gear", follows.rate - 0.5 * turns.rate))
    return model


def test_a_poor_partition_is_chosen_anew_although_the_formulation_has_a_good_one_of_its_own():
    run = lambda projection: ts.simulate(linkage(), 2.0, outputs=20, formulation="woronetz", projection=projection)
    plain, parted = run("least-squares"), run("partition")
    assert plain.attrs["choices"] == 0 and parted.attrs["choices"] > 0
    assert np.abs(parted.position - plain.position).max() < 1e-8


def test_a_run_ends_where_it_comes_to_rest_in_a_singular_position():
    """The satellite's motion ends where its velocities depend on each other: trials of different length near it are conditioned
    by many orders of magnitude apart, and no choice is better than the one that is there."""
    data = ts.simulate(ts.cases.load("satellite-1"), 60.0, outputs=600, formulation="woronetz")
    assert data.attrs["status"] == "finished" and data.attrs["steps"] < 1000
