"""Contract of every projection: it reaches the constraints in a few steps and leaves a state that satisfies them alone."""

import numpy as np
import pytest

import torsor as ts
from torsor.methods.projections import projection_of
from torsor.prepare.choice import KernelOptions
from torsor.prepare.prepare import prepare
from torsor.prepare.table_adapter import Blocks

CASES = ["three-link", "four-bar", "satellite-1", "heavy-top"]
METRICS = ["mass", "plain", "pseudoinverse"]
PROJECTING = [key for key, cls in ts.registered("projection").items() if cls.projects and cls.stages is None]


def kernels(case, metric):
    system, built = prepare(ts.cases.load(case), options=KernelOptions(metric=metric))
    return system, Blocks(system, built), np.array([0.0]), np.array(system.q), np.array(system.v), np.array(system.p)


def disturbed(built, q, v, size, seed=3):
    random = np.random.default_rng(seed)
    return built["retract"](q, size * random.standard_normal(len(v)))[0], v + size * random.standard_normal(len(v))


def projected(built, t, q, v, p, steps):
    for _ in range(steps):
        q, _ = built["positions"](t, q, p, built["factor"](t, q, p)[0])
    F = built["factor"](t, q, p)[0]
    return q, built["velocities"](t, q, v, p, F)[0]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("case", CASES)
def test_a_disturbed_state_returns_to_the_constraints_in_a_few_steps(case, metric):
    system, built, t, q, v, p = kernels(case, metric)
    q, v = disturbed(built, q, v, 1e-3)
    q, v = projected(built, t, q, v, p, 4)
    F = built["factor"](t, q, p)[0]
    # Newton from 1e-3 squares the error: 1e-6, 1e-12, rounding
    assert np.abs(built["positions"](t, q, p, F)[1]).max() <= 1e-13 * system.length
    assert np.abs(built["velocities"](t, q, v, p, F)[1]).max() <= 1e-12 * max(1.0, np.abs(v).max())


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("case", CASES)
def test_a_state_on_the_constraints_is_not_moved(case, metric):
    system, built, t, q, v, p = kernels(case, metric)
    q1, v1 = projected(built, t, q, v, p, 1)
    assert np.abs(q1 - q).max() <= 1e-14 * system.length
    assert np.abs(v1 - v).max() <= 1e-13 * max(1.0, np.abs(v).max())


@pytest.mark.parametrize("metric", METRICS)
def test_the_correction_of_velocities_is_the_least_in_its_metric(metric):
    model = ts.cases.load("three-link")
    system, built, t, q, v, p = kernels("three-link", metric)
    _, w = disturbed(built, q, v, 1e-2)
    corrected = built["velocities"](t, q, w, p, built["factor"](t, q, p)[0])[0]
    f = ts.registered("formulation")["absolute"](model)
    G = f.start_functions["G"](0.0, q, p)
    M = np.linalg.inv(f.start_functions["Minv"](q, p)) if metric == "mass" else np.eye(len(w))
    # least change with G (v + d) = 0 by an independent route: a dense KKT system
    n, m = len(w), len(G)
    kkt = np.block([[M, G.T], [G, np.zeros((m, m))]])
    d = np.linalg.solve(kkt, np.concatenate([np.zeros(n), -G @ w]))[:n]
    assert np.abs(corrected - w - d).max() <= 1e-12  # both are solved to rounding, condition about 1e2


def weighted_kernels(weights):
    model, projection = ts.cases.load("three-link"), ts.registered("projection")["weighted"](weights)
    system, built = prepare(model, options=KernelOptions(metric=projection.metric))
    q, v, p = (np.array(x) for x in (system.q, system.v, system.p))
    return model, Blocks(system, built), np.zeros(1), q, v, p


def test_the_weighted_correction_is_the_least_in_its_metric():
    """Against a dense KKT system, of velocities with weights; with the weight of one coordinate large it keeps its value."""
    model = ts.cases.load("three-link")
    f = ts.registered("formulation")["absolute"](model)
    names = f.coordinate_names()
    heavy = {names[2]: 1e12, names[7]: 3.0}
    model, built, t, q, v, p = weighted_kernels(heavy)
    _, w = disturbed(built, q, v, 1e-2)
    corrected = built["velocities"](t, q, w, p, built["factor"](t, q, p)[0])[0]
    scale = [prepare(model)[0].choice.unit if linear else 1.0 for linear in f.linear()]
    M = np.diag([heavy.get(name, 1.0) / unit**2 for name, unit in zip(names, scale)])
    G = f.start_functions["G"](0.0, q, p)
    M[2, 2] = 1e6  # for the KKT system, which 1e12 would condition badly
    kkt = np.block([[M, G.T], [G, np.zeros((len(G), len(G)))]])
    d = np.linalg.solve(kkt, np.concatenate([np.zeros(len(w)), -G @ w]))[: len(w)]
    np.testing.assert_allclose(corrected, w + d, atol=2e-6 * np.abs(w).max())
    assert abs(corrected[2] - w[2]) < 1e-10 * abs(corrected - w).max()


def test_equal_weights_are_the_plain_metric():
    """A common factor of all weights changes nothing but rounding."""
    given = {"outputs": 4, "formulation": "relative", "method": "rkmk4", "step": 5e-3}
    names = ts.registered("formulation")["relative"](ts.cases.load("slider-crank")).coordinate_names()
    run = lambda projection: ts.simulate(ts.cases.load("slider-crank"), 0.2, projection=projection, **given)
    plain, equal = run("least-squares:metric=plain"), run("weighted:weights=" + "+".join(f"4*{name}" for name in names))
    np.testing.assert_allclose(equal.position, plain.position, atol=1e-13)
    np.testing.assert_array_equal(run("weighted").position, plain.position)
    assert not np.array_equal(run(f"weighted:weights=100*{names[0]}").position, plain.position)


def test_wrong_weights_are_refused():
    for weights in ({"hinge": -1}, {"hinge": "much"}, {3: 1.0}, "hinge"):
        with pytest.raises(ts.OptionError, match="weights must be positive numbers"):
            ts.Weighted(weights)
    with pytest.raises(ts.OptionError, match="unknown coordinate 'nothing'.*Known: "):
        ts.simulate(ts.cases.load("slider-crank"), 0.1, projection="weighted:weights=2*nothing", formulation="relative")


def door(hinges):
    """A door on hinges of one axis: all but the first are redundant."""
    model = ts.Model("door", gravity=(3.0, 1.0, -9.81))
    body = model.body("door", mass=10, inertia=(1, 1.2, 0.4), at=(0.5, 0.1, 1))
    for k in range(hinges):
        model.add(ts.Revolute(f"h{k}", model.ground, body, point=(0, 0, 0.3 * k), axis=(0, 0, 1)))
    return model


def in_line():
    """A four-bar with equal bars, all of them in line: one more velocity is free here than elsewhere."""
    model = ts.Model("in-line")
    P = [(0, 0, 0), (1, 0, 0), (3, 0, 0), (2, 0, 0)]
    bars = [model.body(f"b{k}", mass=1 + k, inertia=(0.1,) * 3, at=(np.add(P[k], P[k + 1])) / 2) for k in range(3)]
    for k, (first, second) in enumerate(zip([model.ground, *bars], [*bars, model.ground])):
        model.add(ts.Revolute("ABCD"[k], first, second, point=P[k], axis=(0, 0, 1)))
    return model


@pytest.mark.parametrize("form", ["absolute", "relative"])
@pytest.mark.parametrize("model", [door(1), door(2), door(4), in_line()], ids=["1 hinge", "2", "4", "in line"])
def test_post_stabilisation_is_the_pseudoinverse_whatever_rows_depend_on_each_other(model, form):
    """All declared rows in use, redundant ones too, or at a position where the rank is lower: against singular values that
    NumPy cuts off, for residuals that rows agree about and for those that they do not."""
    f = ts.registered("formulation")[form](model)
    f.metric, f.keep = "pseudoinverse", f.active_rows()
    dynamics, random = ts.compile(model, form), np.random.default_rng(5)
    found, q, p = f.functions(accelerations=False), dynamics.q, dynamics.p
    F, G = np.zeros(found["factor"].size1_out(0)), f.start_functions["G"](0.0, q, p)
    truth = np.linalg.pinv(G, rcond=1e-6)
    assert np.linalg.matrix_rank(G, 1e-6) < len(G) or model.name == "door" and len(model.joints) == 1
    for _ in range(3):
        v = random.standard_normal(len(dynamics.v))
        corrected = found["velocities"](0.0, q, v, p, F)[0].full().ravel()
        np.testing.assert_allclose(corrected, v - truth @ (G @ v), atol=1e-9)
        moved = dynamics.kernels["retract"](q, 1e-9 * v)[0]  # the rank is lower there still, but for 1e-9
        g, there = (
            f.start_functions["g"](0.0, moved, p).ravel(),
            np.linalg.pinv(f.start_functions["G"](0.0, moved, p), rcond=1e-6),
        )
        back = found["positions"](0.0, moved, p, F)[0].full().ravel()
        np.testing.assert_allclose(
            back, dynamics.kernels["retract"](moved, -there @ g)[0], atol=1e-12
        )  # the smooth cut leaves 1e-3


@pytest.mark.parametrize("form", ["absolute", "relative", "woronetz"])
def test_post_stabilisation_takes_one_step_where_least_squares_iterates(form):
    """A step so coarse that one step of Newton's method leaves something: its square."""
    given = {"outputs": 10, "method": "rkmk4", "step": 0.02, "formulation": form}
    run = lambda projection: ts.simulate(ts.cases.load("slider-crank"), 0.5, projection=projection, **given).attrs
    post, full = run("post"), run("least-squares")
    assert full["position_drift_max"] < 1e-11
    assert 1e-8 < post["position_drift_max"] < 10 * post["position_corrected_max"] ** 2


@pytest.mark.parametrize("key", PROJECTING)
def test_every_output_of_a_projecting_run_satisfies_the_constraints(key):
    data = ts.simulate(ts.cases.load("three-link"), 1.0, projection=key, formulation="absolute")
    assert data.attrs["position_drift_max"] <= 1e-12 * data.attrs["model_length"]
    assert data.attrs["velocity_drift_max"] <= 1e-12 * float(np.abs(data.velocity).max())


def test_without_projection_the_constraints_drift_and_baumgarte_bounds_the_drift():
    run = lambda projection: ts.simulate(
        ts.cases.load("three-link"), 10.0, method="rkmk4", step=5e-3, projection=projection, formulation="absolute"
    ).attrs["position_drift_max"]
    free, held = run("none"), run("baumgarte:alpha=20,beta=20")
    assert free > 1e-7  # a step of 5 ms leaves an error that accumulates
    assert held < 0.2 * free


def test_baumgarte_terms_pull_at_the_given_rates():
    """With α = β the residual of a held point follows g̈ + 2α ġ + α² g = 0, critically damped."""
    alpha = 5.0
    model = ts.Model("held")
    body = model.body("body", mass=2.0, inertia=(1, 1, 1))
    model.add(ts.PointOnPlane("plane", model.ground, body, point=(0, 0, 0), normal=(1, 0, 0)))
    system, built = prepare(model, options=KernelOptions(baumgarte=True))
    built = Blocks(system, built)
    q = np.array(system.q)
    q[0], v = 0.1, np.array(system.v)
    v[0] = -0.3
    F = built["factor"](np.zeros(1), q, np.array(system.p))[0]
    a = built["accelerations"](np.zeros(1), q, v, np.array(system.p), F, np.array([alpha, alpha, 0, 0]))[0]
    assert a[0] == pytest.approx(-2 * alpha * v[0] - alpha**2 * q[0], abs=1e-14)


@pytest.mark.parametrize(
    "text, words",
    [
        ("least-squares:metric=round", "mass"),
        ("baumgarte:alpha=-1", "alpha"),
        ("baumgarte:gamma=1", "Known: alpha, beta"),
        ("baumgarte:alpha", "NAME=VALUE"),
        ("leastsquares", "least-squares"),
    ],
)
def test_unknown_options_are_refused_by_name(text, words):
    with pytest.raises(ts.OptionError, match=words):
        projection_of(text)


# only above a threshold of violation


def loose(case, form, projection):
    given = {"method": "rkmk4", "step": 5e-3, "formulation": form, "projection": projection}
    return ts.simulate(ts.cases.load(case), 0.4, outputs=80, **given)


@pytest.mark.parametrize("key", ["least-squares", "post", "partition"])
@pytest.mark.parametrize(
    ("case", "form"), [("three-link", "absolute"), ("slider-crank", "relative"), ("slider-crank", "woronetz")]
)
def test_violations_below_the_threshold_are_left_and_those_above_are_corrected(case, form, key):
    """Without a projection the drift grows past any threshold; with one it stays below, and above what rounding leaves."""
    free = loose(case, form, "none")
    limit = float(free.position_drift.max()) / 5
    held = loose(case, form, f"{key}:threshold={limit},velocity_threshold=1e9")
    worst = float(held.position_drift.max())
    assert 1e-3 * limit < worst <= limit
    never = loose(case, form, f"{key}:threshold=1e9")  # as if there were none
    np.testing.assert_allclose(never.position_drift, free.position_drift, rtol=1e-6, atol=1e-12)
    assert float(loose(case, form, key).position_drift.max()) < 1e-3 * worst


def test_the_threshold_holds_for_velocities_apart():
    given = "least-squares:threshold=1e9,velocity_threshold=1e-6"
    data = loose("three-link", "absolute", given)
    assert 1e-8 < float(data.velocity_drift.max()) <= 1e-6
    assert float(data.position_drift.max()) > 1e-9


def test_a_threshold_of_zero_is_the_projection_as_it_was():
    first, second = (loose("three-link", "absolute", p) for p in ("least-squares", "least-squares:threshold=0"))
    assert first.position.equals(second.position)


@pytest.mark.parametrize("text", ["threshold=-1", "threshold=much", "velocity_threshold=nan", "threshold=inf"])
def test_thresholds_that_are_none_are_refused(text):
    with pytest.raises(ts.OptionError, match="must be a number >= 0"):
        projection_of(f"least-squares:{text}")


def test_a_threshold_where_nothing_is_projected_is_refused():
    for text in ("least-squares:threshold=1e-6", "least-squares:metric=plain"):
        with pytest.raises(ts.OptionError, match="meets the constraints by its own equations"):
            ts.simulate(ts.cases.load("four-bar"), 0.1, step=0.01, method="variational", projection=text)


# gains of Baumgarte for rows that stop rotations

GAINS = (3.0, 5.0, 7.0, 11.0)


@pytest.mark.parametrize("form", ["absolute", "relative", "woronetz", "hierarchical"])
@pytest.mark.parametrize("case", ["satellite-1", "slider-crank", "four-bar"])
def test_rows_that_stop_rotations_have_gains_of_their_own(case, form):
    """G a − γ = −2α ψ − β² g row by row, with α and β by what the row stops, at a state off the constraints."""
    model = ts.cases.load(case)
    system, built = prepare(model, form, KernelOptions(baumgarte=True))
    blocks, t, q, v, p = Blocks(system, built), np.zeros(1), np.array(system.q), np.array(system.v), np.array(system.p)
    q, v = disturbed(blocks, q, v, 1e-2)
    F = blocks["factor"](t, q, p)[0]
    stabilised, plain = (blocks["accelerations"](t, q, v, p, F, gains)[0] for gains in (GAINS, (0.0,) * 4))
    f = ts.registered("formulation")[form](model)
    f.keep = list(system.keep)
    G = f.start_functions["G"](0.0, q, p)[f.keep]
    g, psi = blocks["positions"](t, q, p, F)[1][:-1], blocks["velocities"](t, q, v, p, F)[1][:-1]
    # the name of a row tells what it stops
    turns = np.array([f.rows[k].direction.startswith(("rotation", "angular")) for k in f.keep])
    alpha, beta = np.where(turns, GAINS[2], GAINS[0]), np.where(turns, GAINS[3], GAINS[1])
    expected = -2 * alpha * psi - beta**2 * g
    assert np.abs(G @ (stabilised - plain) - expected).max() < 1e-9 * (1 + np.abs(expected).max())
    assert form != "absolute" or (turns.any() and not turns.all())


def test_gains_of_rotations_are_those_of_the_others_where_none_are_given():
    given = ts.Baumgarte(alpha=3, beta=4)
    assert given.gains(None) == (3, 4, 3, 4)
    assert ts.Baumgarte(alpha=3, beta=4, rotation_beta=0).gains(None) == (3, 4, 3, 0)
    assert projection_of("baumgarte:rotation_alpha=2,rotation_beta=1").gains(None) == (10, 10, 2, 1)
    with pytest.raises(ts.OptionError, match="rotation_alpha must be a number >= 0"):
        ts.Baumgarte(rotation_alpha=-1)
