"""Ranks of MPI through the command line: they give what one process gives, and end together, however one of them ends."""

import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import torsor as ts
from torsor.cli import status_of

COMB = """
import os, time
import torsor as ts

model = ts.Model("comb", gravity=(1, 0, -9.81))
above = model.ground
for k in range(8):
    stem = model.body(f"stem{k}", mass=2.0, inertia=(0.3, 0.2, 0.1), at=(k, 0, 0))
    model.add(ts.Revolute(f"s{k}", above, stem, point=(k - 0.5, 0, 0), axis=(0, 1, 0)))
    above = hung = stem
    for i in range(8):
        link = model.body(f"b{k}_{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(k, 0, -i - 1))
        model.add(ts.Revolute(f"j{k}_{i}", hung, link, point=(k, 0, -i - 0.5), axis=(1, 0, 0)))
        hung = link
until = 0.05
"""
ENDING = """
if os.environ.get("PMI_RANK") == "1":
    from torsor.run import rank_runner as parted
    catch_up = parted.RankRunner._evaluate_new_outputs
    def fails(self):
        catch_up(self)
        if self.outputs_evaluated > 3:
            END
    parted.RankRunner._evaluate_new_outputs = fails
"""
ENDS = {
    "raises": ('raise RuntimeError("the cable was pulled")', "has ended: the cable was pulled"),
    "killed": ("os.kill(os.getpid(), 9)", "was lost: its process has ended"),
}
FIXED = ["--method", "rkmk4", "--step", "0.005"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with models, of which two end rank 1 on the way; kernels are compiled once for all tests."""
    path = tmp_path_factory.mktemp("ranks")
    (path / "comb.py").write_text(COMB)
    for name, (end, _) in ENDS.items():
        (path / f"{name}.py").write_text(COMB + ENDING.replace("END", end))
    return path


def command(folder, *arguments):
    """A command in a process of its own, whose temporary files are in the folder."""
    environment = os.environ | {"TMPDIR": str(folder), "TORSOR_CACHE": str(folder / "cache")}
    return subprocess.Popen(
        [sys.executable, "-m", "torsor", *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_two_ranks_give_what_one_process_gives(folder):
    alone = command(folder, "run", "comb.py", *FIXED, "--formulation", "hierarchical", "--out", "alone.nc")
    said, trouble = alone.communicate(timeout=300)
    assert alone.returncode == 0, trouble
    both = command(folder, "run", "comb.py", *FIXED, "--ranks", "2", "--out", "both.nc")
    said, trouble = both.communicate(timeout=300)
    assert both.returncode == 0 and "comb: finished" in said, trouble
    one, two = ts.load_result(folder / "alone.nc"), ts.load_result(folder / "both.nc")
    assert two.attrs["ranks"] == 2 and two.attrs["steps"] == one.attrs["steps"]
    for name in ("position", "rotation", "velocity", "coordinate", "rate", "energy"):
        a, b = two[name].values, one[name].values
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * (1 + np.abs(b).max()), err_msg=name)


@pytest.mark.parametrize("end", ENDS)
def test_a_rank_that_ends_ends_the_run_and_results_are_kept(folder, end):
    running = command(
        folder,
        "run",
        f"{end}.py",
        "--ranks",
        "2",
        "--until",
        "1e3",
        "--outputs",
        "100000",
        *FIXED,
        "--out",
        f"{end}.nc",
    )
    said, trouble = running.communicate(timeout=300)
    assert running.returncode == 3 and "rank 1 (" in trouble and ENDS[end][1] in trouble
    data = ts.load_result(folder / f"{end}.nc")
    assert data.sizes["time"] > 3 and np.isfinite(data["position"].values).all()


def test_what_cannot_be_run_by_ranks_is_told_once(folder):
    running = command(folder, "run", "three-link", "--ranks", "2")
    said, trouble = running.communicate(timeout=300)
    assert running.returncode == 2 and trouble.count("cannot be run by ranks") == 1


def test_numbers_of_ranks_that_are_none_are_refused(capsys):
    assert status_of(["run", "chain", "--ranks", "0"]) == 2
    assert "--ranks must be a positive number, got 0" in capsys.readouterr().err


def test_a_process_that_mpi_has_not_started_has_no_ranks(folder):
    """In a process of its own, since MPI is started in it."""
    code = "import torsor as ts; ts.simulate(ts.cases.load('chain'), 1.0, ranks=True)"
    found = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=300)
    assert "OptionError: ranks: this process is the only one of MPI" in found.stderr


def test_ranks_that_do_not_start_end_the_others(folder):
    """A rank that ends before it imports torsor cannot send a notice: the others end after a time limit, or MPI ends them before.
    The message says which rank is missing, or that not all have started."""
    code = """
import os
if os.environ["PMI_RANK"] == "1":
    raise SystemExit("there is no package")
from torsor.parallel import mpi, mpi_processes
mpi_processes.MISSING_TIME = 100.0
mpi.START_TIMEOUT = 1.0
mpi.world()
"""
    starter = [shutil.which("mpiexec", path=os.path.dirname(sys.executable)) or "mpiexec", "-n", "2"]
    found = subprocess.run(
        [*starter, sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=300
    )
    said = found.stdout + found.stderr
    assert found.returncode != 0
    assert "not all ranks have started" in said or re.search(r"\brank 1\b", said, re.IGNORECASE), said


def test_without_a_starter_it_is_said_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr("shutil.which", lambda *given, **more: None)
    assert status_of(["run", "chain", "--ranks", "2"]) == 2
    assert "there is no mpiexec" in capsys.readouterr().err
