"""A run that is stopped, killed or moved to another process goes on as if nothing had happened; what cannot go on says why."""

import importlib.util
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from models import damped_pendulum as pendulum

import torsor as ts
from torsor.run.output_times import EqualIntervals
from torsor.store import checkpoint as checkpoints
from torsor.store import checkpointed_run, journal
from torsor.store import environment as circumstances

BENCH = pathlib.Path(__file__).parents[2] / "bench" / "kill.py"
_spec = importlib.util.spec_from_file_location("kill", BENCH)
kill = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(kill)

OFTEN = {"checkpoint_every": 0}


def same(one, other):
    assert kill.differences(one, other) == set()
    assert list(one.attrs) == list(other.attrs) and list(one.variables) == list(other.variables)
    for name in one.variables:
        assert one[name].dims == other[name].dims and one[name].attrs == other[name].attrs, name
        assert one[name].dtype.kind == other[name].dtype.kind, name


def stopped(model, folder, after=3, **options):
    """A run that is told to stop after some checkpoints, as SIGTERM does it."""
    commit = checkpoints.Checkpoint.commit

    def counted(self, runner, status):
        nonlocal after
        after -= 1
        if after == 0:
            os.kill(os.getpid(), signal.SIGTERM)
        return commit(self, runner, status)

    checkpoints.Checkpoint.commit = counted
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            data = ts.simulate(model, checkpoint=folder, **options)
    finally:
        checkpoints.Checkpoint.commit = commit
    assert data.attrs["status"] == "interrupted", "the run was over before it was stopped"
    assert "torsor.resume" in str(told[0].message) and told[0].filename == __file__
    return data


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "run")


# the result


@pytest.mark.parametrize("name", kill.RUNS)
def test_a_run_in_a_folder_has_the_result_of_one_in_memory(name, folder, monkeypatch):
    """Results are streamed in portions of some outputs, with checkpoints at every slice."""
    monkeypatch.setattr(checkpointed_run, "PORTION_BYTES", 30_000)
    run = kill.Run(name)
    same(ts.simulate(run.model, checkpoint=folder, **OFTEN, **run.options), run.reference)
    assert sorted(os.listdir(folder)) == ["lock", "result.nc", "state"]
    same(ts.resume(folder, run.model), run.reference)


@pytest.mark.parametrize("name", kill.RUNS)
def test_a_stopped_run_goes_on_to_the_same_result(name, folder):
    run = kill.Run(name)
    part = stopped(run.model, folder, **kill.CHECKPOINTS, **run.options)
    n = part.sizes["time"]
    assert 0 < n < run.reference.sizes["time"]
    np.testing.assert_array_equal(part.position.values, run.reference.position.values[:n])
    same(ts.resume(folder, run.model), run.reference)


def test_kernels_that_are_no_longer_in_the_cache_are_built_again(folder, tmp_path, monkeypatch):
    """In another process with an empty cache, after rows were chosen anew."""
    name = "a loop that turns, rows chosen anew"
    run = kill.Run(name)
    part = stopped(run.model, folder, after=10, **kill.CHECKPOINTS, **run.options)
    assert part.attrs["choices"] > 0
    code = f"import runpy, sys; k = runpy.run_path({str(BENCH)!r}); sys.exit(k['Run']({name!r}).session({folder!r}))"
    environment = os.environ | {"TORSOR_CACHE": str(tmp_path / "empty")}
    assert subprocess.run([sys.executable, "-c", code], env=environment, timeout=300).returncode == kill.SAME


def test_output_times_that_were_given_one_by_one_are_kept(folder):
    times = [0.5, 1.0, 7.25, 8.0]
    reference = ts.simulate(pendulum(), 9.0, times)
    stopped(pendulum(), folder, until=9.0, outputs=times, checkpoint_every=None, checkpoint_interval=0.5)
    same(ts.resume(folder, pendulum()), reference)


@pytest.mark.parametrize("until, n", [(1.0, 7), (0.1, 3), (10 / 3, 1000), (1e-3, 1), (123.456, 99991)])
def test_equal_intervals_are_those_of_numpy(until, n):
    spaced, whole = EqualIntervals(until, n), np.linspace(0, until, n + 1)
    assert len(spaced) == n + 1
    for part in (slice(None), slice(0, n // 2), slice(n // 2, None), slice(n, n + 5), slice(0, 0)):
        assert spaced[part].tobytes() == whole[part].tobytes()


def test_a_run_that_fails_keeps_its_result_in_the_folder(folder):
    model = ts.Model("stiff")
    bob = model.body("bob", mass=1.0, inertia=0, at=(1, 0, 0))
    model.add(ts.EnergyForce("spring", energy=1e8 * bob.position[0] ** 2 / 2))
    for attempt in (
        lambda: ts.simulate(model, 10, method="rkmk4", step=0.01, checkpoint=folder),
        lambda: ts.resume(folder, model),
    ):
        with pytest.raises(ts.RunError, match="no longer finite.*The results are also stored in") as caught:
            attempt()
        assert caught.value.data.sizes["time"] > 1


def test_an_event_that_ends_a_run_ends_it_in_a_folder_too(folder):
    model = kill.ball()
    model.when(model.time >= 1.3, ts.end())
    reference = ts.simulate(model, 5.0)
    same(ts.simulate(model, 5.0, checkpoint=folder, **OFTEN), reference)
    same(ts.resume(folder, model), reference)


# killed


def test_runs_that_are_killed_at_random_are_resumed_to_the_same_result():
    chance = random.Random(1)
    for name, kills in zip(kill.RUNS, (7, 6, 6, 6)):
        counts = kill.torment(kill.Run(name), kills, chance)
        assert counts["kills"] == kills and counts["different"] == counts["broken"] == 0, (name, counts)


def test_what_a_killed_process_wrote_halfway_is_put_aside(folder):
    reference = ts.simulate(pendulum(), 20.0)
    stopped(pendulum(), folder, until=20.0, **kill.CHECKPOINTS)
    for name in ("state.part", "result.nc.part", "partial.nc.part"):
        pathlib.Path(folder, name).write_bytes(b"half")
    with open(os.path.join(folder, "outputs"), "ab") as file:
        file.write(b"rows that no state counts")
    same(ts.resume(folder, pendulum()), reference)
    assert sorted(os.listdir(folder)) == ["lock", "result.nc", "state"]


def test_a_start_that_was_killed_before_its_first_checkpoint_is_started_again(folder):
    os.makedirs(folder)
    for name in ("lock", "outputs", "state.part"):
        pathlib.Path(folder, name).write_bytes(b"x")
    with pytest.raises(ts.ResultError, match="holds no checkpoint.*started again"):
        ts.resume(folder, pendulum())
    same(ts.simulate(pendulum(), 1.0, checkpoint=folder), ts.simulate(pendulum(), 1.0))


# refused, and nothing lost


@pytest.fixture
def halfway(folder):
    """A folder with a run on its way; checks that it can still be resumed after what a test did."""
    stopped(pendulum(), folder, until=20.0, parameters={"damping": 0.2}, **kill.CHECKPOINTS)
    before = pathlib.Path(folder, "state").read_bytes()
    yield folder
    assert pathlib.Path(folder, "state").read_bytes() == before
    same(ts.resume(folder, pendulum()), ts.simulate(pendulum(), 20.0, parameters={"damping": 0.2}))


def test_a_folder_with_a_checkpoint_is_not_used_for_another_run(halfway):
    with pytest.raises(ts.ResultError, match="holds a checkpoint already: resume it"):
        ts.simulate(pendulum(), 20.0, checkpoint=halfway)


@pytest.mark.parametrize(
    "other, signals, words",
    [
        (pendulum("other"), None, "the model's name: stored 'pendulum', given 'other'"),
        (pendulum(body="rod"), None, r"bodies: stored \['bob'\], given \['rod'\]"),
        (pendulum(length=2.0), None, "names agree.* but equations, start or signals differ"),
        (pendulum(), {"t": ts.time}, r"signals: stored \[\], given \['t'\]"),
    ],
)
def test_the_checkpoint_of_another_model_is_refused(halfway, other, signals, words):
    with pytest.raises(ts.ResultError, match=f"another model: {words}"):
        ts.resume(halfway, other, signals)


def test_a_parameter_that_has_another_value_now_is_named(folder):
    stopped(pendulum(), folder, until=20.0, **kill.CHECKPOINTS)
    with pytest.raises(ts.ResultError, match="parameter 'damping': stored 0.1, given 0.3"):
        ts.resume(folder, pendulum(damping=0.3))


@pytest.mark.parametrize("name", ["torsor", "numba", "processor", "source of torsor"])
def test_a_checkpoint_of_another_version_or_processor_is_refused(halfway, name, monkeypatch):
    here = circumstances.environment_facts()
    with monkeypatch.context() as patch:
        patch.setattr(circumstances, "environment_facts", lambda: here | {name: "another"})
        with pytest.raises(ts.ResultError, match=f"another environment: {name}: stored .*, here another"):
            ts.resume(halfway, pendulum())


def test_a_checkpoint_of_another_format_is_refused(halfway, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(journal, "FORMAT", 3)
        with pytest.raises(ts.ResultError, match="checkpoint of format 2; this version of torsor reads format 3"):
            ts.resume(halfway, pendulum())


@pytest.mark.parametrize(
    "damage", [lambda x: x[:-5], lambda x: x[:200] + b"?" + x[201:], lambda x: b"", lambda x: b"{}" + x]
)
def test_a_damaged_state_is_told(halfway, damage):
    path = pathlib.Path(halfway, "state")
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    with pytest.raises(ts.ResultError, match="damaged"):
        ts.resume(halfway, pendulum())
    path.write_bytes(whole)


def test_damaged_results_are_told(folder):
    stopped(pendulum(), folder, until=20.0, **kill.CHECKPOINTS)
    path = pathlib.Path(folder, "outputs")
    whole = path.read_bytes()
    for damage, words in ((whole[:-8], "bytes were written"), (whole[:40] + b"?" + whole[41:], "checksum is wrong")):
        copy = f"{folder}-{words[0]}"
        shutil.copytree(folder, copy)
        pathlib.Path(copy, "outputs").write_bytes(damage)
        with pytest.raises(ts.ResultError, match=words):
            ts.resume(copy, pendulum())


def test_two_processes_do_not_work_in_one_folder(halfway):
    held = checkpoints.Checkpoint(halfway)
    held.lock()
    with pytest.raises(ts.ResultError, match="in use by another process"):
        ts.resume(halfway, pendulum())
    held.release()


def test_a_folder_of_others_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("important")
    with pytest.raises(ts.ResultError, match="other files in it .thesis.tex.; choose an empty folder"):
        ts.simulate(pendulum(), 1.0, checkpoint=tmp_path)
    with pytest.raises(ts.ResultError, match="is not a folder"):
        ts.simulate(pendulum(), 1.0, checkpoint=tmp_path / "thesis.tex")
    with pytest.raises(ts.ResultError, match="no such folder"):
        ts.resume(tmp_path / "nowhere", pendulum())
    with pytest.raises(ts.OptionError, match="checkpoint_interval: give the folder `checkpoint`, too"):
        ts.simulate(pendulum(), 1.0, checkpoint_interval=0.5)
    with pytest.raises(ts.OptionError, match="checkpoint_every must be a positive number"):
        ts.simulate(pendulum(), 1.0, checkpoint=tmp_path / "new", checkpoint_every=-1)
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_a_disk_that_is_full_loses_nothing(folder, monkeypatch):
    left, write = 3, journal.replace

    def full(path, content):
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(28, "No space left on device")
        write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "replace", full)
        with pytest.raises(ts.ResultError, match="No space left on device. The previous checkpoint is complete"):
            ts.simulate(pendulum(), 20.0, checkpoint=folder, **kill.CHECKPOINTS)
    same(ts.resume(folder, pendulum()), ts.simulate(pendulum(), 20.0))


# memory

MEASURED = """
import resource, sys
import torsor as ts
sys.path.insert(0, {bench!r})
import kill
from torsor.store import result_files as files; from torsor.store import checkpointed_run as portions
from torsor.look import result_writer as assemble
portions.PORTION_BYTES = assemble.BLOCK = 2**21
files.LAZY_FROM_BYTES = 2**20
run = lambda n, folder: ts.simulate(kill.loops(), n * 1e-4, outputs=n, method="rkmk4", step=1e-4, checkpoint=folder)
run(1000, {folder!r} + "0" + sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
data = run(int(sys.argv[1]), {folder!r} + sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, data.nbytes // 1024, float(data.position[-1, 0, 0]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the peak of memory is asked from the system")
def test_memory_does_not_grow_with_the_number_of_outputs(folder):
    def measured(n):
        code = MEASURED.format(bench=str(BENCH.parent), folder=folder)
        done = subprocess.run(
            [sys.executable, "-c", code, str(n)], capture_output=True, text=True, check=True, timeout=300
        )
        return [float(x) for x in done.stdout.split()]

    few, size, _ = measured(5_000)
    many, larger, _ = measured(50_000)
    assert larger > 9 * size > 50_000  # [kB] the results themselves
    assert many < few + 0.1 * (larger - size), (few, many, size, larger)
