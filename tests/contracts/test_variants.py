"""Which runs a study has, and who carries them out: starts of several numbers, tables, executors that cannot work."""

import concurrent.futures
import os
import sys
import threading

import numpy as np
import pytest

import torsor as ts
from torsor.studies.executors import Workers
from torsor.studies.job_dispatch import Dispatch
from torsor.studies.run_portion import Portion, blank_counts
from torsor.studies.run_request_batch import unpack_request
from torsor.studies.run_session import Session


@pytest.fixture(scope="module")
def model():
    """A body that hangs on a ball joint, and one that is free."""
    model = ts.Model("ball", gravity=(0, 0, -9.81), hints=False)
    hung = model.body("hung", mass=model.parameter("m", 1.0, positive=True), inertia=(0.1, 0.2, 0.3), at=(1, 0, 0))
    model.body("free", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 1, 0))
    model.add(ts.Spherical("ball", model.ground, hung, point=(0, 0, 0)))
    return model


KEPT = {"reduce": "last", "keep": ["position", "velocity"], "step": 0.01, "method": "rkmk4"}


def test_starts_of_several_numbers_are_those_of_simulate(model):
    turns, masses = np.array([[0.1, 0.2, 0.3], [0.0, -0.4, 0.0]]), [1.0, 2.0]
    start = {"ball": turns, "ball.rate": (1.0, 0.0, 2.0), "free.position": (0, 0, 7)}
    grid = ts.study(model, 0.1, {"m": masses}, start=start, grid=True, **KEPT)
    assert grid.sizes["run"] == 4 and grid["start.ball[1]"].values.tolist() == [0.2, -0.4] * 2
    rows = ts.study(model, 0.1, {"m": masses}, start=start, **KEPT)
    for data in (grid, rows):
        for k, m in enumerate(data.m.values.tolist()):
            one = start | {"ball": [data[f"start.ball[{j}]"].values[k] for j in range(3)]}
            alone = ts.simulate(model, 0.1, outputs=1, parameters={"m": m}, start=one, step=0.01, method="rkmk4")
            np.testing.assert_array_equal(data.position[k], alone.position[-1])
            np.testing.assert_array_equal(data.velocity[k], alone.velocity[-1])


def test_starts_may_be_rotation_matrices(model):
    """As they may in `simulate`: one, also beside three runs, or one for each run."""
    about_z, about_x = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    kept = {"keep": ["rotation"], "outputs": 1, "step": 0.01, "method": "rkmk4"}
    one = ts.study(model, 0.1, {"m": [1.0, 2.0, 3.0]}, start={"free.rotation": about_z}, **kept)
    several = ts.study(model, 0.1, start={"free.rotation": [about_z, about_x]}, **kept)
    for data, expected in ((one, [about_z] * 3), (several, [about_z, about_x])):
        assert data.rotation.sel(body="free").isel(time=0).values.tolist() == expected
    assert several["start.free.rotation[1,2]"].values.tolist() == [0.0, -1.0]
    with pytest.raises(ts.OptionError, match="a 3x3 matrix, a quaternion"):
        ts.study(model, 0.1, start={"free.rotation": np.ones((3, 3))}, **kept)


@pytest.mark.parametrize("what, off", [("position", (0, 0, 5)), ("velocity", (3, 0, 0))])
def test_a_run_whose_start_the_constraints_do_not_allow_fails_and_does_not_start_elsewhere(model, what, off):
    start = {f"hung.{what}": [{"position": (0, 0, -1), "velocity": (0, 0, -1)}[what], off]}
    data = ts.study(model, 0.1, start=start, **KEPT)
    assert data.message.values[0] == "" and f"hung.{what}: changed by up to" in data.message.values[1]
    with pytest.warns(UserWarning, match=f"hung.{what}: changed by up to"):
        ts.simulate(model, 0.1, start={f"hung.{what}": off})


def test_a_start_that_is_not_a_number_fails_alone(model):
    data = ts.study(model, 0.1, start={"ball": [[0.0, 0.0, 0.0], [0.0, np.nan, 0.0]]}, **KEPT)
    assert data.message.values.tolist() == ["", "start 'ball': must be finite, got [0.0, nan, 0.0]"]


def test_parameters_that_are_called_like_something_of_the_result_are_there():
    model = ts.Model("odd")
    block = model.body("block", mass=1.0, inertia=(1, 1, 1))
    model.add(ts.Prismatic("rail", model.ground, block, axis=(1, 0, 0)))
    names = ["energy", "steps", "body", "coordinate_unit", "free"]
    for name in names:
        model.parameter(name, 1.0)
    data = ts.study(model, 0.1, {name: [2.0, 3.0] for name in names}, reduce="last")
    for name in names:
        assert data[name if name == "free" else f"parameter.{name}"].values.tolist() == [2.0, 3.0]


def test_arrays_with_named_fields_are_tables(model):
    table = np.array([(1.0,), (3.0,)], dtype=[("m", float)])
    assert ts.study(model, 0.1, table, **KEPT).m.values.tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    "given, message",
    [
        ({"start": {"ball": np.zeros((3, 3))}, "parameters": {"m": [1, 2]}}, "'m' has 2, start 'ball' has 3"),
        ({"start": {"ball": np.zeros((2, 4))}}, "ball must be finite numbers of shape"),
        ({"start": {"ball": np.zeros((2, 2, 3))}}, "start 'ball' must be several numbers, or an array of them"),
        ({"parameters": {"m": np.ones(100_000)}, "start": {"ball": np.ones((20_000, 3))}, "grid": True}, "are allowed"),
    ],
)
def test_other_starts_are_refused(model, given, message):
    with pytest.raises(ts.OptionError, match=message):
        ts.study(model, 0.1, **given, **KEPT)


def test_functions_of_the_main_program_travel_to_workers_that_have_another(model, monkeypatch):
    """As those of a notebook, which other processes cannot import."""
    carried = []
    monkeypatch.setattr(
        Session, "carry_out", lambda self, *given: carried.append(self.request) or Portion(0, [""], blank_counts(1))
    )
    main = sys.modules["__main__"]
    exec("factor = 3.0\ndef thrice(run): return factor", main.__dict__)
    try:
        ts.study(model, 0.1, reduce=main.thrice, executor=1)
        packed = carried[0].pack()
    finally:
        del main.thrice, main.factor
    assert unpack_request(packed).reduce(None) == 3.0


@pytest.mark.parametrize(
    "there, message",
    [(True, "must not refer to .* locks and open files"), (False, "defined in a module, or cloudpickle be")],
)
def test_functions_that_cannot_travel_are_told(model, monkeypatch, there, message):
    lock = threading.Lock()
    if not there:
        monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with concurrent.futures.ProcessPoolExecutor(1) as pool, pytest.raises(ts.OptionError, match=message):
        ts.study(model, 0.1, executor=pool, reduce=lambda run: lock.locked())


def ends(run):
    """A function that ends the process that calls it, in one run."""
    if run.parameters["m"] == 6.0:
        os._exit(1)
    return 1.0


def test_executors_that_cannot_work_are_told_and_what_was_done_is_kept(model):
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        with pytest.raises(
            ts.RunError, match="BrokenProcessPool.*it was killed, ran out of memory, or crashed"
        ) as error:
            ts.study(
                model, 0.1, {"m": np.arange(1.0, 9.0)}, executor=pool, **KEPT | {"reduce": {"one": ends}, "keep": None}
            )
        with pytest.raises(ts.OptionError, match="the executor takes no runs: A child process"):
            ts.study(model, 0.1, executor=pool, **KEPT)
    data = error.value.data
    there = data.message.values == ""
    assert there[0] and not there[5] and data.one.values[there].tolist() == [1.0] * there.sum()
    assert set(data.message.values[~there]) == {"not run: the study ended before"}


def test_portions_last_longer_the_more_workers_are_to_be_served():
    """Of runs of a millisecond: half a second, and so long that one process can send them to all; less towards the end."""
    sizes = {}
    for count in (2, 400):
        for runs in (10**7, 2000):
            ours = Dispatch(None, np.zeros((runs, 1)), (), None)
            ours._take(Portion(0, [""] * 100, blank_counts(100), seconds=0.1), Workers(None, count, False))
            sizes[count, runs] = ours.size
    assert sizes == {(2, 10**7): 500, (2, 2000): 500, (400, 10**7): 4000, (400, 2000): 2000}
