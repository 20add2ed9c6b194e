"""Loops: code is made from the bitcode that belongs to the source, damaged files count as absent, and a clear error follows
where there is none."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import torsor as ts
from torsor.kernels import loops

SMALL = "torsor.methods.explicit_step"


@pytest.fixture
def apart(monkeypatch, tmp_path):
    """A user's folder of its own, and an installed package: nothing is kept beside the source."""
    whole = loops._bitcode(SMALL)
    monkeypatch.setenv("TORSOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(loops, "SHIPPED", tmp_path / "bitcode")
    monkeypatch.setattr(loops, "places", lambda: [None])
    (tmp_path / "bitcode").mkdir()
    return whole, tmp_path


def shipped(apart, mark=None):
    (bitcode, entries), path = apart
    file = path / "bitcode" / f"{SMALL}.xz"
    file.write_bytes(loops.pack(mark or loops.digest(SMALL), entries, bitcode))
    return file


def test_a_package_with_its_bitcode_needs_no_compiler(apart, monkeypatch):
    shipped(apart)
    monkeypatch.setattr(loops, "compile_in_other_process", lambda module: pytest.fail("compiled"))
    assert loops.loops.__wrapped__(SMALL)["explicit"].address > 0


def test_code_is_generated_once_and_again_where_it_is_damaged(apart, monkeypatch):
    shipped(apart)
    made, generate = [], loops._generate
    monkeypatch.setattr(loops, "_generate", lambda bitcode: made.append(1) or generate(bitcode))
    for _ in range(2):
        loops.loops.__wrapped__(SMALL)
    assert len(made) == 1
    (entry,) = (apart[1] / "cache").glob("*.bin")
    whole = entry.read_bytes()
    for count, broken in enumerate((b"", whole[: len(whole) // 2], whole[:-1] + b"?")):
        entry.write_bytes(broken)
        assert loops.loops.__wrapped__(SMALL)["explicit"].address > 0
        assert len(made) == count + 2


@pytest.mark.parametrize("damage", ["missing", "another version", "cut", "empty", "no bitcode"])
def test_missing_loops_are_told(apart, monkeypatch, damage):
    file = shipped(apart, "0" * 64 if damage == "another version" else None)
    whole = file.read_bytes()
    {
        "missing": file.unlink, "another version": lambda: None, "cut": lambda: file.write_bytes(whole[: len(whole) // 2]),
        "empty": lambda: file.write_bytes(b""), "no bitcode": lambda: file.write_bytes(b"nothing"),
    }[damage]()  # fmt: skip
    monkeypatch.setattr(loops, "compile_in_other_process", lambda module: None)
    with pytest.raises(ts.TorsorError, match=re.escape(f"missing, or belong to another version ({SMALL})")):
        loops.loops.__wrapped__(SMALL)


def test_a_folder_that_cannot_be_written_does_not_stop_a_run(apart, monkeypatch):
    shipped(apart)
    (apart[1] / "cache").write_text("no folder")
    assert loops.loops.__wrapped__(SMALL)["explicit"].address > 0


def test_the_source_of_a_loop_is_all_that_it_imports():
    found = set(loops.sources("torsor.run.events.event_loop"))
    assert {
        "run/events/event_loop.py",
        "run/contacts/impacts.py",
        "methods/run_records.py",
        "kernels/records.py",
        "kernels/kernel_address.py",
    } <= found
    assert not any(name.startswith(("formulations", "describe", "start", "store", "look")) for name in found)
    assert "run/runner.py" not in found


def test_a_wheel_is_built_with_what_its_builder_brings_along(monkeypatch):
    """pip lays what a build requires on PYTHONPATH: the process that compiles the loops finds it there, behind the source."""
    builder = SimpleNamespace(BuildHookInterface=object)
    monkeypatch.setitem(sys.modules, "hatchling.builders.hooks.plugin.interface", builder)
    monkeypatch.setenv("PYTHONPATH", "brought along")
    found, root = {}, Path(__file__).parents[2]
    hook = runpy.run_path(str(root / "hatch_build.py"))["Loops"]()
    hook.root = str(root)
    monkeypatch.setattr(subprocess, "run", lambda *given, env, **options: found.update(env))
    hook.initialize("standard", {"artifacts": []})
    assert found["PYTHONPATH"] == os.pathsep.join([str(root / "src"), "brought along"])
