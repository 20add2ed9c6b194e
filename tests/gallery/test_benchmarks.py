"""The benchmarks that the README names run to the end, at small sizes; its first command leaves nothing that git would see."""

import importlib.metadata
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
NAMED = re.findall(r"^\./dev python (bench/\S+\.py)(.*)$", README, re.MULTILINE)
NEEDS = {"bench/study.py": "mujoco", "bench/inverse_kinematics.py": "example-robot-data", "bench/ranks.py": "mpi4py"}


def test_the_readme_names_benchmarks():
    assert len(NAMED) >= 12 and all((ROOT / path).is_file() for path, _ in NAMED)


@pytest.mark.parametrize("path, more", NAMED, ids=[path for path, _ in NAMED])
def test_a_benchmark_runs_to_its_end(path, more):
    if path in NEEDS:
        try:
            importlib.metadata.distribution(NEEDS[path])
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"needs {NEEDS[path]}")
    words = [word for word in shlex.split(more) if word != "--peers" and not word.startswith("peers/")]
    found = subprocess.run(
        [sys.executable, ROOT / path, *words, "--smoke"], capture_output=True, text=True, timeout=300, cwd=ROOT
    )
    assert found.returncode == 0, found.stderr[-2000:]
    assert found.stdout.strip()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone")
def test_the_first_command_leaves_nothing_untracked():
    first = re.search(r"^\./dev (torsor run .*)$", README, re.MULTILINE)[1]
    words = shlex.split(first)
    written = [words[words.index("--out") + 1], os.path.join(words[words.index("--plot") + 1], "energy.png")]
    for path in (*written, ".venv/bin/python"):
        ignored = subprocess.run(["git", "check-ignore", "-q", path], cwd=ROOT, check=False)
        assert ignored.returncode == 0, path
