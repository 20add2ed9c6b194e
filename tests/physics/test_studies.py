"""Studies: the same numbers as runs one by one, whoever carries them out; what fails does not stop the others."""

import concurrent.futures
import multiprocessing
import types

import models
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from happenings import machine, seen

import torsor as ts
from torsor.studies import job_dispatch, run_request_batch

MASSES = [0.5, 1.0, 1.5, 2.5]


def double_pendulum():
    model = models.double_pendulum()
    model.signal("height", model["b"].position[2])
    return model


@pytest.fixture(scope="module")
def model():
    return double_pendulum()


@pytest.fixture(scope="module")
def result(model):
    return ts.study(model, 1.0, {"m": MASSES, "l": 0.6}, outputs=10)


def test_a_study_holds_what_each_run_alone_gives(model, result):
    assert dict(result.sizes)["run"] == 4 and list(result.m) == MASSES and set(result.l.values) == {0.6}
    for k, m in enumerate(MASSES):
        alone = ts.simulate(model, 1.0, outputs=10, parameters={"m": m, "l": 0.6})
        for name, x in alone.data_vars.items():
            if "time" in x.dims:
                np.testing.assert_array_equal(result[name].isel(run=k), x, err_msg=str(name))
                assert result[name].attrs == x.attrs
        assert result.steps[k] == alone.attrs["steps"] and result.message[k] == ""


def total(run):
    """A reduction that has a name, so that other processes find it."""
    return {"top": run["height"].max(), "ends": run["position"][-1]}


def test_the_same_bits_come_from_threads_processes_and_dask(model, result):
    from dask.distributed import Client

    asked = {"parameters": {"m": MASSES, "l": 0.6}, "outputs": 10}
    further = {"signals": {"twice": 2 * model["b"].position, "one": 1.0}}
    beside = ts.study(model, 1.0, **asked, **further)
    spawned = concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
    with spawned, concurrent.futures.ThreadPoolExecutor(3) as threads:
        with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0") as dask:
            for executor in (1, 3, threads, dask):
                xr.testing.assert_identical(ts.study(model, 1.0, **asked, executor=executor), result)
            few = ts.study(model, 1.0, **asked, reduce=lambda run: {"top": run["height"].max()}, executor=dask)
            np.testing.assert_array_equal(few.top, result.height.max("time"))
        xr.testing.assert_identical(ts.study(model, 1.0, **asked, **further, executor=spawned), beside)
        busy, lengths = machine(), {"L": np.linspace(0.8, 1.2, 4)}
        told = ts.study(busy, 0.4, lengths, outputs=4, reduce=seen)
        xr.testing.assert_identical(ts.study(busy, 0.4, lengths, outputs=4, reduce=seen, executor=spawned), told)
    np.testing.assert_array_equal(beside["twice[2]"], 2 * result.height)


def test_ray_is_asked_through_its_module(model, result):
    """As ray's module is called: `remote` of a function, `future` of what that gives, and the processors of a cluster."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:

        class Told:
            def __init__(self, job):
                self.job = job

            def remote(self, *arguments):
                self.running = pool.submit(self.job, *arguments)
                return self

            def future(self):
                return self.running

        ray = types.ModuleType("ray")
        ray.remote, ray.cluster_resources = Told, lambda: {"CPU": 2.0}
        xr.testing.assert_identical(ts.study(model, 1.0, {"m": MASSES, "l": 0.6}, outputs=10, executor=ray), result)


def test_reductions_are_those_of_all_outputs(model, result):
    asked = {"parameters": {"m": MASSES, "l": 0.6}, "outputs": 10}
    for word, expected in (
        ("last", result.isel(time=-1)), ("min", result.min("time")), ("max", result.max("time")), ("mean", result.mean("time")),
    ):  # fmt: skip
        found = ts.study(model, 1.0, **asked, reduce=word, keep=["position", "energy"])
        assert "time" not in found.dims and "velocity" not in found
        np.testing.assert_allclose(found.position, expected.position, rtol=1e-14, atol=0)
        np.testing.assert_allclose(found.energy, expected.energy, rtol=1e-14, atol=0)
    several = ts.study(model, 1.0, **asked, reduce=["min", "max"], keep="height")
    np.testing.assert_array_equal(several.height_max - several.height_min, np.ptp(result.height.values, axis=1))
    by_function = ts.study(model, 1.0, **asked, reduce=total)
    np.testing.assert_array_equal(by_function.top, result.height.max("time"))
    np.testing.assert_array_equal(by_function.ends, result.position[:, -1])
    turned = ts.study(model, 1.0, **asked, reduce={"z": lambda run: np.exp(1j * run["coordinate"][-1])})
    np.testing.assert_array_equal(turned.z, np.exp(1j * result.coordinate[:, -1].values))
    mixed = {"height": "last", "top": ("height", "max"), "whole": lambda run: float(run.dataset.energy[0])}
    named = ts.study(model, 1.0, **asked, reduce=mixed)
    np.testing.assert_array_equal(named.top, by_function.top)
    np.testing.assert_array_equal(named.whole, result.energy[:, 0])


def test_grids_and_tables_are_runs(model):
    grid = ts.study(model, 0.1, {"m": [1.0, 2.0], "l": [0.4, 0.5, 0.6]}, grid=True, reduce="last", keep="energy")
    assert list(grid.m) == [1, 1, 1, 2, 2, 2] and list(grid.l) == [0.4, 0.5, 0.6] * 2
    table = pd.DataFrame({"m": grid.m.values, "l": grid.l.values})
    xr.testing.assert_identical(ts.study(model, 0.1, table, reduce="last", keep="energy"), grid)
    square = grid.set_index(run=["m", "l"]).unstack("run")
    assert square.energy.shape == (2, 3)
    assert len(ts.to_pandas(grid)) == 6


def test_runs_that_fail_are_told_and_the_others_go_on(model):
    data = ts.study(model, 0.5, {"m": [1.0, -1.0, 2.0]}, reduce="last")
    assert list(data.message.values) == ["", "parameter 'm': must be positive, got -1.0", ""]
    assert np.isnan(data.energy[1]) and np.isfinite(data.energy[[0, 2]]).all() and data.attrs["failed"] == 1
    odd = ts.study(model, 0.5, {"m": [1.0, 2.0]}, reduce={"x": lambda run: 1 / (run.parameters["m"] - 1)})
    assert odd.message[0] == "reduce: ZeroDivisionError: float division by zero" and odd.x[1] == 1.0
    with pytest.raises(ts.RunError, match="all 2 runs of the study failed; the first: parameter 'm': must be positive"):
        ts.study(model, 0.5, {"m": [-1.0, -2.0]})


def test_a_killed_study_goes_on_with_what_is_missing(model, tmp_path, monkeypatch):
    asked = (model, 0.5, {"m": MASSES})
    monkeypatch.setattr(job_dispatch, "MAX_GROWTH", 1)  # a file for each run
    whole = ts.study(*asked, store=tmp_path / "kept", executor=1)
    runs = sorted((tmp_path / "kept").glob("runs-*"))
    runs[1].unlink()  # never written
    damaged = runs[-1].read_bytes()
    runs[-1].write_bytes(damaged[:-1] + bytes([damaged[-1] ^ 1]))
    carried_out, carry_out = [], job_dispatch.Session.carry_out
    monkeypatch.setattr(
        job_dispatch.Session, "carry_out", lambda self, *given: carried_out.append(given[0]) or carry_out(self, *given)
    )
    xr.testing.assert_identical(ts.study(*asked, store=tmp_path / "kept", executor=1), whole)
    assert len(carried_out) < len(MASSES) and carried_out
    with pytest.raises(ts.ResultError, match="belongs to another study"):
        ts.study(model, 0.6, {"m": MASSES}, store=tmp_path / "kept")
    with pytest.raises(ts.ResultError, match="not the folder of a study"):
        ts.study(*asked, store=tmp_path)


def test_two_who_carry_out_the_same_study_in_one_folder_leave_a_whole_one(model, tmp_path, monkeypatch):
    """As where a job is started again while the first one still works; each cuts the runs into portions of its own."""
    asked, one, two = (model, 0.1, {"m": MASSES}), tmp_path / "one", tmp_path / "two"
    one.mkdir()
    (one / ".part-of-somebody-else").touch()
    with monkeypatch.context() as patch:
        patch.setattr(job_dispatch, "MAX_GROWTH", 1)
        whole = ts.study(*asked, reduce="last", store=one, executor=1)
    ts.study(*asked, reduce="last", store=two, executor=1)
    for path in two.glob("runs-*"):
        path.replace(one / path.name)
    assert sum(int(path.name[-9:]) - int(path.name[5:14]) + 1 for path in one.glob("runs-*")) > len(MASSES)
    xr.testing.assert_identical(ts.study(*asked, reduce="last", store=one), whole)


def test_a_study_that_is_interrupted_returns_what_it_has(model, tmp_path, monkeypatch):
    """Ctrl-C, as Python raises it while a study waits for its runs; it goes on where it was from its folder."""
    whole = ts.study(model, 0.2, {"m": MASSES}, reduce="last")
    take = job_dispatch.Dispatch._take

    def taken(self, portion, team):
        take(self, portion, team)
        raise KeyboardInterrupt

    monkeypatch.setattr(job_dispatch.Dispatch, "_take", taken)
    with pytest.warns(UserWarning, match=r"interrupted: \d of 4 runs were not carried out"):
        data = ts.study(model, 0.2, {"m": MASSES}, reduce="last", executor=1, store=tmp_path)
    there = data.message == ""
    assert 1 <= there.sum() < 4 and set(data.message.values[~there]) == {"not run: the study was interrupted"}
    np.testing.assert_array_equal(data.energy[there], whole.energy[there])
    monkeypatch.setattr(job_dispatch.Dispatch, "_take", take)
    xr.testing.assert_identical(ts.study(model, 0.2, {"m": MASSES}, reduce="last", store=tmp_path), whole)


def test_results_that_do_not_fit_in_memory_are_refused_at_once(model, monkeypatch):
    monkeypatch.setattr(job_dispatch, "machine_memory", lambda: 1e9)
    with pytest.raises(
        ts.OptionError, match=r"of 200000 runs would take \d+\.\d GB: give `reduce`, `keep` or fewer `outputs`"
    ):
        ts.study(model, 0.1, {"m": np.linspace(1, 2, 200_000)}, outputs=100)


def pushed_arm(stop=False):
    model = ts.Model("arm", gravity=(0, 0, -9.81))
    a = model.body("a", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    b = model.body("b", mass=model.parameter("m", 1.0), inertia=(0.1, 0.1, 0.1), at=(1.5, 0, 0))
    for name, first, second, at in (("u", model.ground, a, 0.0), ("w", a, b, 1.0)):
        joint = model.add(ts.Revolute(f"of_{name}", first, second, point=(at, 0, 0), axis=(0, 1, 0)))
        model.add(ts.JointForce(f"motor_{name}", joint, model.input(name)))
    if stop:
        model.add(ts.Limit("stop", joint, upper=0.1))
    return model


@pytest.mark.parametrize("stop", [False, True])
@pytest.mark.parametrize("options", [{"method": "rkmk4", "step": 0.01}, {"tolerance": 1e-6}], ids=["fixed", "adaptive"])
def test_rollouts_are_those_of_a_simulation_step_by_step(stop, options, monkeypatch):
    """With fixed steps to the bit; others depend on how long a run is. Compiled code and one run after the other do not differ."""
    model, random = pushed_arm(stop), np.random.default_rng(3)
    u, w, masses = random.normal(size=(3, 10)), random.normal(size=10), [0.8, 1.0, 1.2]
    data = ts.study(model, 0.2, {"m": masses}, inputs={"u": u, "w": w}, keep=["coordinate", "rate"], **options)
    assert data.sizes["time"] == 11 and data.attrs["failed"] == 0
    for k, m in enumerate(masses):
        simulation = ts.Simulation(model, parameters={"m": m}, **options)
        for j in range(10):
            simulation.advance(0.02, u=u[k, j], w=w[j])
            allowed = 0.0 if "step" in options else 1e-6
            np.testing.assert_allclose(data.coordinate[k, j + 1], simulation.coordinates, rtol=0, atol=allowed)
            np.testing.assert_allclose(data.rate[k, j + 1], simulation.rates, rtol=0, atol=allowed)
    monkeypatch.setattr(job_dispatch.Session, "compiled_batch", lambda self: None)
    again = ts.study(model, 0.2, {"m": masses}, inputs={"u": u, "w": w}, keep=["coordinate", "rate"], **options)
    for result in (data, again):
        for name in ("path", "path_reason", "options"):  # they say which way it ran
            result.attrs.pop(name)
    xr.testing.assert_identical(again, data)


def test_bad_input_is_refused(model, monkeypatch):
    for given, message in (
        ({"parameters": {"z": [1.0]}}, "model 'double' has no parameter 'z'. Known: m, l."),
        ({"parameters": {"m": [1.0, 2.0], "l": [1.0]}}, "unequal length: parameter 'm' has 2, parameter 'l' has 1"),
        ({"parameters": {"m": ["a"]}}, "parameter 'm' must be a number or an array of numbers"),
        ({"parameters": {"m": []}}, "parameter 'm' must be a number or an array of numbers"),
        ({"parameters": [1.0]}, "parameters must be arrays by name, or a table"),
        ({"executor": "threads"}, "executor must be None or a number.*got 'threads'"),
        ({"executor": 0}, "from 1 to 10000 threads are allowed, got 0"),
        ({"reduce": "median"}, "reduce must be 'last', 'min', 'max', 'mean'.*got 'median'"),
        ({"reduce": {"x": "median"}}, r"reduce\['x'\] must be one of"),
        ({"reduce": {"x": "max"}}, "there is no variable 'x'. Known: position"),
        ({"keep": "nothing"}, "keep: there is no variable 'nothing'"),
        ({"keep": 3}, "keep must be names of variables, got 3"),
        ({"grid": 1}, "grid must be True or False"),
        ({"method": "euler-2"}, "euler-2"),
        (
            {"step": [0.1, 0.2]},
            r"step is an argument that all runs have in common.*got \[0.1, 0.2\]: make a study for each",
        ),
        (
            {"parameters": {"tolerance": [1e-6]}},
            "tolerance is an argument that all runs have in common and cannot vary",
        ),
        (
            {"inputs": {"force": [1.0]}},
            "model 'double' has no input 'force'. Known: none; declare one with model.input",
        ),
        ({"inputs": [1.0]}, "inputs must be arrays"),
    ):
        with pytest.raises(ts.OptionError, match=message):
            ts.study(model, 0.1, **given)
    arm = pushed_arm()
    for given, message in (
        ({"inputs": {"u": np.zeros((2, 3)), "w": np.zeros((2, 4))}}, "inputs of unequal shape"),
        ({"inputs": {"u": np.zeros((2, 3))}, "parameters": {"m": [1, 2, 3]}}, "parameter 'm' has 3, input 'u' has 2"),
        (
            {"inputs": {"u": np.zeros((3, 3))}, "parameters": {"m": [1, 2]}, "grid": True},
            "the grid has 2, .* not combined",
        ),
        ({"inputs": {"u": [1.0, np.nan]}}, "input 'u' must be an array .* of finite numbers"),
        ({"inputs": {"u": [1.0]}, "parameters": {"u": 1.0}}, "u is given twice, as parameter and as input"),
        ({"inputs": {"m": [1.0]}}, "model 'arm' has no input 'm'. Known: u, w."),
    ):
        with pytest.raises(ts.OptionError, match=message):
            ts.study(arm, 0.1, **given)
    with pytest.raises(ts.OptionError, match="give a torsor.Model"):
        ts.study("double", 0.1)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:

        class Elsewhere(concurrent.futures.Executor):
            """Workers that have another version."""

            def submit(self, job, asked, *more):
                return pool.submit(job, "0.0.1", *more)

        with pytest.raises(ts.OptionError, match=r"a worker has torsor .*, but the study runs 0.0.1"):
            ts.study(model, 0.1, executor=Elsewhere())
    assert run_request_batch.version().startswith(ts.__version__)
