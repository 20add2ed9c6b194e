"""Ranks of MPI that are given different things, or of which one fails, all end with the message of that one; the next run works."""

import os
import shutil
import subprocess
import sys

import pytest

MODEL = """
import os, sys
import torsor as ts
rank = int(os.environ["PMI_RANK"])
BEFORE

def model(mass=2.0, count=40):
    found = ts.Model("rows", gravity=(0, 0, -9.81))
    stiffness = found.parameter("stiffness", 3.0)
    for i in range(count):
        first = found.body(f"a{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, i, 0))
        second = found.body(f"b{i}", mass=mass, inertia=(0.1, 0.1, 0.1), at=(1.5, i, 0))
        hinge = found.add(ts.Revolute(f"j{i}", found.ground, first, point=(0, i, 0), axis="y"))
        found.add(ts.Revolute(f"h{i}", first, second, point=(1, i, 0), axis="y"))
        found.add(ts.TorsionSpring(f"s{i}", hinge, stiffness=stiffness))
    return found

def run(name, made=model, **options):
    given = {"until": 0.02, "outputs": 2, "method": "rkmk4", "step": 0.005, "formulation": "hierarchical"} | options
    try:
        ts.simulate(made(), **given, ranks=True, progress=False)
        said = "finished"
    except BaseException as error:
        said = f"{type(error).__name__}: {' '.join(str(error).split())}"
    sys.stdout.write(f"{rank}|{name}|{said}\\n")
    sys.stdout.flush()
"""
RECOVER = """
other = {
    "step": {"step": 0.01}, "until": {"until": 0.03}, "outputs": {"outputs": 3}, "method": {"method": "heun"},
    "map": {"map": "cayley"}, "projection": {"projection": "none"}, "parameter 'stiffness'": {"parameters": {"stiffness": 30.0}},
    "the model (mass)": {"made": lambda: model(mass=5.0)}, "the model (size)": {"made": lambda: model(count=41)},
}
for name, options in other.items():
    run(name, **(options if rank == 1 else {}))
run("refused by all", method="radau5")
for who in (0, 1):
    run(f"refused by {who}", **({"method": "nonsense"} if rank == who else {}))

    def leaves(*given, who=who):
        if rank == who:
            sys.exit("there is no licence")

    from torsor.run import rank_part as parted
    prepared, parted.shares = parted.shares, leaves
    if rank != who:
        parted.shares = prepared
    run(f"left by {who} in the run")
    parted.shares = prepared
    run("good")
from mpi4py import MPI
MPI.COMM_WORLD.Barrier()  # no rank ends while another one still ends its last run
"""
ENDS = {  # what one rank does before and after a first run, and what the others are told
    "raises before": ("from mpi4py import MPI\nif rank == WHO: raise RuntimeError('no such file')", "", "no such file"),
    "leaves before": ("from mpi4py import MPI\nif rank == WHO: sys.exit(0)", "", "its program is over"),
    "raises between": ("", "run('good')\nif rank == WHO: raise RuntimeError('no such file')", "no such file"),
}


def ranks(code, folder):
    """What two ranks print and what they exit with."""
    starter = [shutil.which("mpiexec", path=os.path.dirname(sys.executable)) or "mpiexec", "-n", "2"]
    found = subprocess.run(
        [*starter, sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120
    )
    return [line.split("|") for line in found.stdout.splitlines() if line.count("|") == 2], found


def test_ranks_that_are_given_different_things_refuse_and_the_next_run_works(tmp_path):
    said, found = ranks(MODEL.replace("BEFORE", "") + RECOVER, tmp_path)
    assert found.returncode == 0, found.stderr
    by_name = {}
    for rank, name, text in said:
        by_name.setdefault(name, []).append((int(rank), text))
    good = by_name.pop("good")
    assert [text for _, text in good] == ["finished"] * 4
    for name, told in by_name.items():
        assert {rank for rank, _ in told} == {0, 1} and all(text != "finished" for _, text in told), name
        for rank, text in told:
            if name.startswith(("refused by", "left by")):
                failing = name.split()[2]
                expected = "there is no licence" if name.startswith("left") else ""
                assert expected in text and (str(rank) == failing or failing == "all" or f"rank {failing}" in text), (
                    name
                )
            else:
                assert "ranks must be given the same: " + name.partition(" (")[0] in text, name


@pytest.mark.parametrize("end, who", [*((end, 1) for end in ENDS), ("raises before", 0)])
def test_a_rank_whose_program_ends_ends_the_run_of_the_others(tmp_path, end, who):
    before, between, why = (text.replace("WHO", str(who)) for text in ENDS[end])
    said, _ = ranks(MODEL.replace("BEFORE", before) + between + "\nrun('last')", tmp_path)
    (last,) = [(rank, text) for rank, name, text in said if name == "last"]
    assert last[0] == str(1 - who) and f"rank {who}" in last[1] and why in last[1] and "RunError" in last[1]
