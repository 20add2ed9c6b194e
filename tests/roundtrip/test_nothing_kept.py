"""Runs give the same bits where nothing can be kept on the disk: without a home, without a folder, on a full disk."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import torsor

RUN = """
import numpy as np
import torsor as ts
data = ts.simulate(ts.cases.load("pendulum"), 0.1, outputs=4)
print(b"".join(np.ascontiguousarray(data[name].values).tobytes() for name in ("position", "rate", "energy")).hex())
"""


def bits(environment, limit=None):
    """Of a run in another process; limit: bytes that a file may have."""
    known = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    source = str(Path(torsor.__file__).parents[1])
    small = None if limit is None else lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN], env=known | {"PYTHONPATH": source} | environment, capture_output=True,
        text=True, preexec_fn=small,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return bits({"TORSOR_CACHE": str(tmp_path_factory.mktemp("cache"))})


def test_without_a_home(kept):
    assert bits({"HOME": "/nonexistent/home"}) == kept


def test_with_a_file_in_the_place_of_the_folder(kept, tmp_path):
    (tmp_path / "file").write_text("no folder")
    assert bits({"TORSOR_CACHE": str(tmp_path / "file" / "cache")}) == kept


def test_with_no_room_for_a_file(kept, tmp_path):
    assert bits({"TORSOR_CACHE": str(tmp_path)}, limit=100) == kept
    assert not [entry for entry in tmp_path.iterdir() if entry.stat().st_size > 100]
