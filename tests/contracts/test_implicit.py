"""Methods for stiff models: their linear equations, how few steps they take, and that nothing is lost of accuracy or of a run."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torsor as ts
from torsor.methods.elimination_of_steps import elimination, tables
from torsor.methods.shifted_equations import factorise, solve
from torsor.simulation import resume

STIFF = ("radau5", "bdf")


def run_of(n, *patterns):
    """The records that the solution of linear equations looks at, for structures with these entries (rows, columns)."""
    kernel = lambda rows, columns: SimpleNamespace(
        name="slope", size_in=lambda k: n, sparsity_out=lambda k: (np.array(rows, int), np.array(columns, int))
    )
    arrays, sizes, starts = tables([kernel(*pattern) for pattern in patterns])
    kernels = [SimpleNamespace(slopes=size, source=start) for size, start in zip(sizes, starts)]
    arrays["place"] = arrays["place"].astype(int)
    return SimpleNamespace(scratch=SimpleNamespace(u=np.zeros(n)), equations=SimpleNamespace(**arrays), kernels=kernels)


@st.composite
def sparse(draw):
    """A matrix with few entries, in places that are drawn, and a shift that is real or complex."""
    n = draw(st.integers(1, 9))
    places = draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=3 * n))
    seed = draw(st.integers(0, 10**6))
    return n, sorted(places), draw(st.sampled_from([5.0, 5.0 + 3.0j])), np.random.default_rng(seed)


@given(sparse(), sparse())
@settings(max_examples=60, deadline=None)
def test_sparse_factors_solve_the_equations_of_every_structure(first, second):
    n = max(first[0], second[0])
    patterns = [tuple(zip(*places)) if places else ((), ()) for _, places, _, _ in (first, second)]
    run, (_, _, shift, rng) = run_of(n, *patterns), first
    kind = complex if isinstance(shift, complex) else float
    factors = np.zeros(run.equations.starts[-1], kind)
    for structure, (rows, columns) in enumerate(patterns):
        values, b = rng.uniform(-1, 1, len(rows)), rng.uniform(-1, 1, n).astype(kind)
        A = shift * np.eye(n, dtype=kind)
        A[list(rows), list(columns)] -= values
        assert factorise(run, structure, values, shift, factors)
        y = b.copy()
        solve(run, structure, factors, y, np.zeros(n, kind))
        assert np.abs(A @ y - b).max() < 1e-10 * max(1.0, np.linalg.cond(A))


def test_a_pivot_that_cancels_is_refused_in_any_units():
    """σ − J with J = [[0, 1], [a, 0]] has the determinant σ² − a."""
    for unit in (1e-6, 1.0, 1e6):
        run, values = run_of(2, ((0, 1), (1, 0))), np.array([unit, 4.0 / unit])
        assert not factorise(run, 0, values, 2.0, np.zeros(run.equations.starts[-1]))
        assert factorise(run, 0, values, 2.1, np.zeros(run.equations.starts[-1]))


def test_only_velocities_fill_the_factors_of_second_order_equations():
    """q̇ = v, v̇ = f(q, v), ẇ = P(q, v): the factors of the velocities are full, and nothing else is added."""
    n = 12
    rows, columns = np.meshgrid(np.arange(n, 2 * n + 1), np.arange(2 * n), indexing="ij")
    entries = [*zip(range(n), range(n, 2 * n)), *zip(rows.ravel().tolist(), columns.ravel().tolist())]
    found = elimination(2 * n + 1, *map(tuple, zip(*entries)))
    assert len(found.column) == len(entries) + n + 1  # and the diagonal of q and w; that of v is there already
    assert set(found.unknown[: n + 1]) == {*range(n), 2 * n}


def resting(load=0.0):
    model = ts.Model("rest", gravity=(0, 0, -load))
    mass = model.body("mass", mass=1.0, inertia=(1, 1, 1))
    rail = model.add(ts.Prismatic("rail", model.ground, mass, axis=(0, 0, 1)))
    model.add(ts.JointForce("spring", rail, value=-1e8 * rail.coordinate[0] - 2e6 * rail.rate[0]))
    return model


@pytest.mark.parametrize("method", STIFF)
@pytest.mark.parametrize("load", [0.0, 9.81])
def test_what_rests_on_a_hard_spring_takes_few_steps(method, load):
    """An explicit method would take some six million."""
    data = ts.simulate(resting(load), 10.0, outputs=10, method=method)
    assert data.attrs["steps"] < 1000
    assert abs(float(data.position[-1, 0, 2]) + load / 1e8) < 1e-15


@pytest.mark.parametrize("method", STIFF)
@pytest.mark.parametrize("tolerance", [1e-5, 1e-8])
def test_a_stiff_linear_motion_is_as_accurate_as_its_tolerance(method, tolerance):
    """x'' + 1001 x' + 1000 x = 0 has the rates 1 and 1000; both are seen, the fast one and then the slow one."""
    model = ts.Model("damped")
    mass = model.body("mass", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    rail = model.add(ts.Prismatic("rail", model.ground, mass, axis=(1, 0, 0), start_rate=1.0))
    model.add(ts.JointForce("oil", rail, value=-1000 * rail.coordinate[0] - 1001 * rail.rate[0]))
    data = ts.simulate(model, 5.0, outputs=[0.001, 0.01, 1.0, 5.0], method=method, tolerance=tolerance)
    t = data.time.values
    position, velocity = (np.exp(-t) - np.exp(-1000 * t)) / 999, (1000 * np.exp(-1000 * t) - np.exp(-t)) / 999
    assert np.abs(data.position[:, 0, 0] - position).max() < 10 * tolerance * data.attrs["model_length"]
    assert np.abs(data.velocity[:, 0, 0] - velocity).max() < 10 * tolerance


@pytest.fixture(scope="module")
def governed():
    """Where the governor is in the end, converged, and how many steps the default method takes for errors below 1e-6."""
    reference = ts.simulate(ts.cases.load("governor"), 10.0, outputs=1, method="radau5", tolerance=1e-10)
    explicit = ts.simulate(ts.cases.load("governor"), 10.0, outputs=1, tolerance=1e-6)
    return reference, explicit.attrs["steps"]


@pytest.mark.parametrize("method, tolerance, factor", [("radau5", 1.5e-5, 50), ("bdf", 5e-8, 10)])
def test_the_governor_takes_many_times_fewer_steps_for_the_same_accuracy(governed, method, tolerance, factor):
    reference, steps = governed
    data = ts.simulate(ts.cases.load("governor"), 10.0, outputs=1, method=method, tolerance=tolerance)
    error = np.abs(data.position - reference.position).max() / data.attrs["model_length"]
    assert error < 1.2e-6 and steps / data.attrs["steps"] > factor, (float(error), steps, data.attrs["steps"])


@pytest.mark.parametrize("method, factor", [("radau5", 1), ("bdf", 100)])
@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_outputs_within_steps_are_as_accurate_as_their_ends(method, factor, formulation):
    """Outputs change nothing in the steps, and lie on the constraints."""
    build, given = (
        lambda: ts.cases.load("four-bar", n=1),
        {"method": method, "tolerance": 1e-7, "formulation": formulation},
    )
    exact = ts.simulate(build(), 0.6, outputs=100, tolerance=1e-10).position
    many, few = (ts.simulate(build(), 0.6, outputs=count, **given) for count in (100, 1))
    assert many.attrs["steps"] == few.attrs["steps"] < 100 and np.array_equal(many.position[-1], few.position[-1])
    assert np.abs(many.position - exact).max() < factor * 1e-7 and many.attrs["position_drift_max"] < 1e-12


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz", "hamiltonian"])
@pytest.mark.parametrize("method", STIFF)
def test_loops_are_closed_and_followed_in_every_formulation(method, formulation):
    exact = ts.simulate(ts.cases.load("four-bar", n=1), 0.6, outputs=3, tolerance=1e-11)
    data = ts.simulate(
        ts.cases.load("four-bar", n=1), 0.6, outputs=3, method=method, tolerance=1e-9, formulation=formulation
    )
    assert np.abs(data.position - exact.position).max() < 1e-6 and data.attrs["position_drift_max"] < 1e-12


@pytest.mark.parametrize("method", STIFF)
def test_a_slope_that_is_pushed_column_by_column_is_the_same(method, monkeypatch, tmp_path):
    run = lambda: ts.simulate(ts.cases.load("governor"), 1.0, outputs=4, method=method, tolerance=1e-6, map="cayley")
    whole = run()
    monkeypatch.setattr("torsor.prepare.state_space.MAX_JACOBIAN_OPERATIONS", 0)
    monkeypatch.setenv("TORSOR_CACHE", str(tmp_path))
    pushed = run()
    assert pushed.attrs["steps"] == whole.attrs["steps"]
    assert np.abs(pushed.position - whole.position).max() < 1e-12


@pytest.mark.parametrize("method", STIFF)
def test_an_adaptive_run_that_was_kept_goes_on_bit_for_bit(method, tmp_path, monkeypatch):
    from torsor.run.runner import Runner

    build, given = lambda: ts.cases.load("governor"), {"outputs": 7, "method": method, "tolerance": 1e-6}
    whole, march, calls = ts.simulate(build(), 1.0, **given), Runner._advance, []

    def interrupted(self, budget):
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return march(self, min(budget, 11))

    monkeypatch.setattr(Runner, "_advance", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        ts.simulate(build(), 1.0, checkpoint=str(tmp_path / "run"), checkpoint_every=0.0, **given)
    monkeypatch.undo()
    data = resume(str(tmp_path / "run"), build())
    assert data.attrs["steps"] == whole.attrs["steps"] and np.array_equal(data.position, whole.position)


@pytest.mark.parametrize("method", STIFF)
def test_jumps_do_not_disturb_what_a_method_has_kept(method):
    """Rebounds of a ball are where they are exactly."""
    model = ts.Model("ball", gravity=(0, 0, -9.81))
    ball = model.body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01), at=(0, 0, 1))
    model.add(ts.Contact("floor", model.ground, ball, plane=(0, 0, 0), restitution=0.7))
    data = ts.simulate(model, 1.5, outputs=3, method=method)
    exact = np.sqrt(2 / 9.81) * (1 + 2 * np.cumsum([0, 0.7, 0.49]))
    assert np.abs(data.event_time.values[:2] - exact[:2]).max() < 1e-9


@pytest.mark.parametrize("method", STIFF)
def test_equations_without_a_solution_are_told_with_the_element(method):
    import casadi as ca

    model = ts.Model("jump")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis=(1, 0, 0)))
    model.add(ts.JointForce("sign", rail, value=-1e6 * ca.sign(rail.rate[0] - 0.5)))
    with pytest.raises(
        ts.RunError,
        match="Newton's method does not solve .* in a step of .* most of all in 'rail'|became too small: the motion .* jumps",
    ):
        ts.simulate(model, 1.0, method=method, formulation="relative")
    with pytest.raises(ts.OptionError, match="tolerance must lie between 1e-14 and 0.1, got 1e-17"):
        ts.simulate(model, 1.0, method=method, tolerance=1e-17)
