"""Result files and checkpoints: used from many threads at once, damaged in many ways, on a disk that is full."""

import os
import pathlib
import random
import shutil
import signal
import threading
import warnings

import models
import numpy as np
import pytest
import xarray as xr

import torsor as ts
from torsor.store import checkpoint as checkpoints
from torsor.store import result_files


def ball(restitution=0.9):
    return models.ball(1, restitution, mass=0.7, inertia=(0.1, 0.2, 0.15))


@pytest.fixture(scope="module")
def result():
    return ts.simulate(ts.cases.load("pendulum"), 1.0, outputs=20)


def together(job, count=6):
    """Run job(0), job(1), … in threads at the same time."""
    problems = []

    def guarded(k):
        try:
            job(k)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=guarded, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, problems


# threads


def test_threads_simulate_save_load_and_keep_checkpoints_at_the_same_time(result, tmp_path):
    models = [ts.cases.load("pendulum"), ball()]
    plain = [ts.simulate(model, 1.0, outputs=20) for model in models]

    def job(k):
        mine = models[k % 2]
        for n in range(3):
            ts.save_result(result, tmp_path / f"{k}.nc")
            assert ts.load_result(tmp_path / f"{k}.nc").identical(result)
            found = ts.simulate(mine, 1.0, outputs=20, checkpoint=tmp_path / f"run{k}-{n}", checkpoint_every=0)
            np.testing.assert_array_equal(found.position, plain[k % 2].position)

    together(job)


def test_a_large_result_is_read_by_several_threads_when_it_is_looked_at(result, tmp_path, monkeypatch):
    monkeypatch.setattr(result_files, "LAZY_FROM_BYTES", 0)
    ts.save_result(result, tmp_path / "result.nc")
    data = result_files.open_result(tmp_path / "result.nc")
    assert list(data.variables) == list(result.variables) and data.attrs == result.attrs

    def job(k):
        for name in data.data_vars:
            np.testing.assert_array_equal(data[name].values, result[name].values)
        np.testing.assert_array_equal(data.position[k::3, 0, ::-1], result.position[k::3, 0, ::-1])
        ts.save_result(result, tmp_path / f"{k}.nc")

    together(job)
    assert result_files.open_result(tmp_path / "result.nc").load().identical(result)


# damage


def damages(whole, chance):
    """A file after single bits flipped, parts lost, parts zeroed, something appended."""
    for _ in range(60):
        broken = bytearray(whole)
        for _ in range(chance.choice((1, 1, 1, 5))):
            broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
        yield bytes(broken)
    for _ in range(10):
        a, b = sorted(chance.sample(range(len(whole)), 2))
        yield from (whole[:a], whole[:a] + whole[b:], whole + whole[:a])
        if any(whole[a:b]):
            yield whole[:a] + bytes(b - a) + whole[b:]
    yield from (b"", whole[:-1], whole + b"\n")


def test_a_damaged_result_is_refused_whatever_the_damage(result, tmp_path):
    path = tmp_path / "result.nc"
    ts.save_result(result, path)
    for broken in damages(path.read_bytes(), random.Random(0)):
        path.write_bytes(broken)
        with pytest.raises(ts.ResultError, match="cannot read"):
            ts.load_result(path)


def test_what_another_program_wrote_is_refused_and_says_how_to_read_it(result, tmp_path):
    result.to_netcdf(tmp_path / "plain.nc")
    with pytest.raises(ts.ResultError, match="does not end with a checksum.*xarray.open_dataset"):
        ts.load_result(tmp_path / "plain.nc")
    for path in (tmp_path, 5, "no\0name"):
        with pytest.raises(ts.ResultError, match="cannot read"):
            ts.load_result(path)
        with pytest.raises(ts.ResultError, match="cannot write"):
            ts.save_result(result, path)
    with pytest.raises(ts.OptionError, match="give a result"):
        ts.save_result(result.position, tmp_path / "array.nc")
    with pytest.raises(ts.ResultError, match="'a/b' cannot be in a file: it contains a slash"):
        ts.save_result(result.rename(energy="a/b"), tmp_path / "slash.nc")


@pytest.fixture
def stopped(tmp_path):
    """Two folders with runs on their way that differ in their output times only."""
    commit, folders = checkpoints.Checkpoint.commit, []
    for times in (np.linspace(0, 5, 101), np.linspace(0, 5, 101) ** 2 / 5):
        folder, left = tmp_path / f"run{len(folders)}", 2

        def counted(self, runner, status):
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGTERM)
            return commit(self, runner, status)

        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            patch.setattr(checkpoints.Checkpoint, "commit", counted)
            ts.simulate(ball(), 5.0, times, checkpoint=folder, checkpoint_every=None, checkpoint_interval=0.1)
        folders.append(folder)
    return folders


@pytest.mark.parametrize("name", ["state", "outputs", "events", "times"])
def test_a_damaged_missing_or_foreign_file_of_a_checkpoint_is_told_before_the_run_goes_on(stopped, tmp_path, name):
    mine, other = stopped
    whole, chance = (mine / name).read_bytes(), random.Random(2)
    flipped = lambda at: whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :]
    broken = [flipped(chance.randrange(len(whole))) for _ in range(6)]
    broken += [whole[: chance.randrange(len(whole))] for _ in range(3)]
    broken += [b"", None, (other / name).read_bytes()]
    for k, content in enumerate(broken):
        copy = tmp_path / f"copy{k}"
        shutil.copytree(mine, copy)
        (copy / name).unlink() if content is None else (copy / name).write_bytes(content)
        before = {f.name: f.read_bytes() for f in copy.iterdir() if f.name != "lock"}
        with pytest.raises(ts.ResultError):
            ts.resume(copy, ball())
        assert {f.name: f.read_bytes() for f in copy.iterdir() if f.name != "lock"} == before
    assert ts.resume(mine, ball()).identical(ts.resume(mine, ball()))


def test_the_result_of_a_complete_run_is_its_own(tmp_path):
    for k, restitution in enumerate((0.9, 0.5)):
        ts.simulate(ball(restitution), 1.0, checkpoint=tmp_path / f"{k}")
    one, other = (tmp_path / f"{k}" / "result.nc" for k in range(2))
    whole = one.read_bytes()
    for content, words in ((other.read_bytes(), "another run"), (whole[:-9], "cannot read"), (None, "no such file")):
        one.unlink() if content is None else one.write_bytes(content)
        with pytest.raises(ts.ResultError, match=words):
            ts.resume(tmp_path / "0", ball())
    one.write_bytes(whole)
    assert ts.resume(tmp_path / "0", ball()).attrs["status"] == "finished"


# a disk that is full


@pytest.mark.parametrize("limit", [10, 20_000, 60_000])
def test_a_run_that_runs_out_of_space_lets_go_and_goes_on_later(tmp_path, limit):
    """The system refuses to let files grow: journals, states and results fail in the middle of a write."""
    resource = pytest.importorskip("resource")
    model, folder = ball(), tmp_path / "run"
    reference = ts.simulate(model, 8.0, outputs=800)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    held, handler = 0, signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
        with pytest.raises(ts.ResultError, match="cannot write"):
            ts.simulate(model, 8.0, outputs=800, checkpoint=folder, checkpoint_every=0)
        held = len(os.listdir(folder))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert held
    if pathlib.Path(folder, "state").exists():
        found = ts.resume(folder, model)
    else:  # before the first checkpoint: the folder is free again
        found = ts.simulate(model, 8.0, outputs=800, checkpoint=folder)
    np.testing.assert_array_equal(found.position, reference.position)


# names


@pytest.mark.parametrize(
    "name", ["é", "a.b", "with blanks inside", "x[1]", "Größe→μ", "0", "_", "日本", "a" * 200, "50%"]
)
def test_names_that_a_file_can_hold_survive(name, tmp_path):
    model = ball()
    signals = {name: model["ball"].position[2]}
    data = ts.simulate(model, 0.1, outputs=2, signals=signals, checkpoint=tmp_path / "run")
    ts.save_result(data, tmp_path / "result.nc")
    for found in (data, ts.load_result(tmp_path / "result.nc"), ts.simulate(model, 0.1, outputs=2, signals=signals)):
        xr.testing.assert_equal(found[name], found.position.sel(body="ball", axis="z", drop=True).rename(name))


@pytest.mark.parametrize(
    "name",
    ["", "a/b", "/", "..", "../../x", "a\nb", "a\0b", "\x7f", "trail ", " lead", "x" * 201, "ü" * 101, "e\u0301", "\ud800", 3, None,
     ("a",), b"a", "-a", ".a"],
)  # fmt: skip
def test_names_that_no_file_can_hold_are_refused_before_anything_is_computed(name, monkeypatch):
    monkeypatch.setattr("torsor.run.task.Task.prepare", None)  # nothing is prepared
    model = ball()
    with pytest.raises(ts.OptionError, match="signal .* cannot have a variable of that name"):
        ts.simulate(model, 0.1, signals={name: model["ball"].position[2]})
    with pytest.raises(ts.ModelError, match="cannot be the name of a result"):
        model.when(model.time >= 1, ts.record(name, model["ball"].position[2]))
    for describe in (
        lambda: model.signal(name, model.time),
        lambda: model.parameter(name, 1.0),
        lambda: model.body(name, mass=1, inertia=(1, 1, 1)),
        lambda: model.add(ts.Ground(name)),
        lambda: model.expose(name, model["ball"]),
        lambda: model.modes(name, "a", "b"),
        lambda: model.modes("machine", name, "b"),
        lambda: model.when(model.time >= 1, ts.end(), name=name or "a/b"),
        lambda: ts.Model(name),
    ):
        with pytest.raises(ts.ModelError):
            describe()


def test_components_of_a_signal_do_not_replace_other_signals():
    model = ball()
    position = model["ball"].position
    with pytest.raises(ts.OptionError, match=r"'s\[1\]': a result has a variable of that name already"):
        ts.simulate(model, 0.1, signals={"s": position, "s[1]": position[0]})


def test_threads_derive_models_of_their_own_at_the_same_time():
    def told(k):
        model = ts.Model(f"chain{k}", gravity=(0, 0, -9.81))
        before = model.ground
        for n in range(2):
            rod = model.body(f"rod{n}", inertia=ts.inertia.rod(1.0 + k, 1.0, axis="z"), at=(0, 0, -0.5 - n))
            hinge = model.add(ts.Revolute(f"hinge{n}", before, rod, point=(0, 0, -n), axis="y"))
            model.add(ts.TorsionSpring(f"spring{n}", hinge, stiffness=5.0))
            before = rod
        linear = ts.linearise(model, at=ts.equilibrium(model))
        data = ts.simulate(model, 0.5, outputs=1, start={"hinge1": 0.3})
        return [linear.A.tolist(), ts.compile(model, "absolute").instructions, data.coordinate.values.tolist()]

    found = {}
    together(lambda k: found.update({k: told(k)}), 4)
    assert [found[k] for k in range(4)] == [told(k) for k in range(4)]
