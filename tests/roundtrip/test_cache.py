"""Compiled code survives on disk, and damage to it never matters."""

import json
import os
import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import torsor
import torsor as ts
from torsor.kernels import build, cache, library, load
from torsor.kernels.backends.llvm import LLVM

SOURCE = Path(torsor.__file__).parents[1]

# A graph with every kind of operand, in a file of its own so that several processes can make the same one.
GRAPH = """
import casadi as ca
def graph(n=40):
    x, y = ca.SX.sym("x", 3), ca.SX.sym("y")
    values = [ca.sin(x[0]) * y, x[1] + 0.1, ca.exp(-x[2])]
    for k in range(n):
        values.append(values[-1] * values[-3] + ca.cos(values[-2] * (k + 0.3)))
    return ca.Function("f", [x, y], [ca.vertcat(*values[-3:]), values[1]], ["x", "y"], ["out", "other"])
"""
scope = {}
exec(GRAPH, scope)
graph = scope["graph"]
X, Y = np.array([0.1, -0.7, 1.3]), np.array([2.5])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TORSOR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch):
    """A list that grows by one with every graph that is compiled."""
    done, compile_ = [], LLVM.compile
    monkeypatch.setattr(LLVM, "compile", lambda self, *given: done.append(1) or compile_(self, *given))
    return done


def bits(outputs):
    return [out.tobytes().hex() for out in outputs]


def start(code, **environment):
    """Another Python at work on `code`."""
    path = os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(process):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return json.loads(out)


# The folder `kernels` by itself, without what the package imports for its own use.
ALONE = f"""
import sys, types
sys.modules["torsor"] = types.ModuleType("torsor")
sys.modules["torsor"].__path__ = [{str(SOURCE / "torsor")!r}]
"""

EVALUATE = """
import json, sys
import numpy as np
outputs = kernel(np.array([0.1, -0.7, 1.3]), np.array([2.5]))
print(json.dumps({"bits": [out.tobytes().hex() for out in outputs], "modules": sorted(sys.modules)}))
"""


def test_a_second_process_gets_the_same_bits_without_casadi():
    first = build({"f": graph()}, key="model 1")["f"]
    got = answer(start(ALONE + "from torsor.kernels import load\nkernel = load('model 1')['f']\n" + EVALUATE))
    assert got["bits"] == bits(first(X, Y))
    assert not {"casadi", "numba"} & set(got["modules"])


def test_importing_the_package_loads_no_compiler():
    got = answer(start(ALONE + "import json, sys, torsor.kernels\nprint(json.dumps(sorted(sys.modules)))"))
    assert not {"casadi", "numba", "llvmlite"} & set(got)


def test_a_loaded_kernel_knows_all_that_a_built_one_knows():
    L = ca.SX.sym("L", ca.Sparsity.lower(3))
    functions = {"f": graph(3000), "g": ca.Function("g", [L], [L.T, ca.SX(2, 2)])}
    built, loaded = build(functions, key="two"), load("two")
    assert list(loaded) == list(built)
    for name in built:
        a, b = built[name], loaded[name]
        assert (a.n_in, a.n_out, a.work_size, a.instructions) == (b.n_in, b.n_out, b.work_size, b.instructions)
        assert (a.names_in, a.names_out) == (b.names_in, b.names_out)
        for i in range(a.n_in):
            assert (a.size_in(i), a.shape_in(i)) == (b.size_in(i), b.shape_in(i))
            assert np.array_equal(a.sparsity_in(i), b.sparsity_in(i))
        for i in range(a.n_out):
            assert (a.size_out(i), a.shape_out(i)) == (b.size_out(i), b.shape_out(i))
            assert np.array_equal(a.sparsity_out(i), b.sparsity_out(i))
    assert loaded["f"].work_size > 0
    assert bits(loaded["f"](X, Y)) == bits(built["f"](X, Y))


def test_what_is_cached_is_not_compiled_again(compilations):
    build({"f": graph()})
    build({"f": graph()})
    assert len(compilations) == 1


def test_another_graph_name_option_or_backend_is_another_entry(compilations):
    build({"f": graph()}, key="k")
    build({"f": graph(41)})
    build({"g": graph()})
    build({"f": graph()}, contract=False)
    assert len(compilations) == 4
    assert load("k", contract=False) is None
    assert load("k", backend="reference") is None


def test_a_key_follows_its_graph():
    build({"f": graph(40)}, key="k")
    build({"f": graph(50)}, key="k")
    assert bits(load("k")["f"](X, Y)) == bits(build({"f": graph(50)})["f"](X, Y))


def test_an_unknown_key_loads_nothing():
    assert load("never built") is None


def test_two_processes_may_compile_the_same_at_once():
    code = GRAPH + "from torsor.kernels import build\nkernel = build({'f': graph(3000)}, key='k')['f']\n" + EVALUATE
    first, second = [answer(process) for process in [start(code), start(code)]]
    assert first["bits"] == second["bits"] == bits(load("k")["f"](X, Y))


DAMAGE = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "zeros": lambda data: bytes(len(data)),
    "end lost": lambda data: data[:-100] + bytes(100),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_entry_is_compiled_again(folder, compilations, damage):
    want = bits(build({"f": graph()}, key="k")["f"](X, Y))
    for path in folder.iterdir():
        path.write_bytes(damage(path.read_bytes()))
    assert load("k") is None
    assert bits(build({"f": graph()}, key="k")["f"](X, Y)) == want
    assert len(compilations) == 2
    assert bits(load("k")["f"](X, Y)) == want


def test_an_unusable_folder_does_not_stop_a_run(tmp_path, monkeypatch, compilations):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("TORSOR_CACHE", str(tmp_path / "file" / "cache"))
    assert len(build({"f": graph()}, key="k")["f"](X, Y)) == 2
    assert load("k") is None
    assert cache.size() == 0
    cache.clear()


def test_a_full_disk_does_not_stop_a_run(monkeypatch, folder):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert len(build({"f": graph()}, key="k")["f"](X, Y)) == 2
    assert list(folder.iterdir()) == []


posix = pytest.mark.skipif(os.name != "posix", reason="owners and permissions are those of POSIX")


@posix
@pytest.mark.parametrize("what", ["folder", "entry"])
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757, 0o722])
def test_what_others_may_write_is_neither_used_nor_added_to_and_told_once(folder, compilations, what, mode):
    """As ssh does it with keys: code that others may have put there is not run."""
    build({"f": graph()}, key="k")
    kept = sorted(path.name for path in folder.iterdir())
    for path in [folder] if what == "folder" else folder.iterdir():
        path.chmod(mode if what == "folder" else mode & 0o666)
    with pytest.warns(UserWarning, match="others may write to it") as told:
        assert load("k") is None
        assert len(build({"f": graph(41)}, key="k" if what == "folder" else "l")["f"](X, Y)) == 2
        assert load("k") is None
    assert len(told) == 1 and len(compilations) == 2
    if what == "folder":
        assert sorted(path.name for path in folder.iterdir()) == kept
    folder.chmod(0o700)
    for path in folder.iterdir():
        path.chmod(0o600)
    assert load("k") is not None


@posix
def test_what_belongs_to_another_user_is_not_used(folder, monkeypatch):
    build({"f": graph()}, key="k")
    status = os.stat(folder)
    monkeypatch.setattr(os, "getuid", lambda: status.st_uid + 1)
    if status.st_uid == 0:  # what belongs to the administrator is trusted
        assert load("k") is not None
        os.chown(folder, 4242, -1)
    with pytest.warns(UserWarning, match="belongs to another user"):
        assert load("k") is None


@posix
def test_an_entry_that_is_a_link_counts_as_absent(folder, tmp_path):
    build({"f": graph()}, key="k")
    for path in list(folder.iterdir()):
        path.rename(tmp_path / path.name)
        path.symlink_to(tmp_path / path.name)
    assert load("k") is None


def test_an_entry_under_another_name_counts_as_absent(folder, compilations):
    """Each entry is whole, and is the one of another graph."""
    want = bits(build({"f": graph(4)}, key="k")["f"](X, Y))
    mine = {path: path.read_bytes() for path in folder.iterdir()}
    build({"f": graph(5)}, key="l")
    others = [path for path in folder.iterdir() if path not in mine]
    for other, whole in zip(others, mine.values()):
        other.write_bytes(whole)
    assert load("l") is None
    assert bits(build({"f": graph(4)}, key="k")["f"](X, Y)) == want
    assert bits(build({"f": graph(5)}, key="l")["f"](X, Y)) != want
    assert len(compilations) == 3


def test_another_version_invalidates(monkeypatch, compilations):
    build({"f": graph()}, key="k")
    monkeypatch.setattr(cache, "versions", lambda: "casadi of tomorrow")
    assert load("k") is None
    build({"f": graph()}, key="k")
    assert len(compilations) == 2


def test_another_cpu_invalidates(monkeypatch):
    build({"f": graph()}, key="k")
    monkeypatch.setattr(LLVM, "target", lambda self: "another")
    assert load("k") is None


def test_an_entry_that_cannot_be_linked_is_compiled_again(compilations):
    backend = LLVM()
    build({"f": graph()}, key="k")
    entry = library._full(cache.digest("f", graph().serialize()), backend)
    cache.store(entry, "code", b'{"images": [4], "kernels": {"f": {}}}\nnone')
    assert load("k") is None
    build({"f": graph()}, key="k")
    assert len(compilations) == 2


def test_side_data_comes_back_and_is_cleared():
    assert cache.load("key", "layout") is None
    assert cache.store("key", "layout", b'{"n": 3}')
    assert cache.load("key", "layout") == b'{"n": 3}'
    assert cache.load("key", "other") is None
    assert cache.size() > 8
    cache.clear()
    assert (cache.load("key", "layout"), cache.size()) == (None, 0)


def test_what_was_used_longest_ago_goes_first(monkeypatch, folder):
    monkeypatch.setattr(cache, "LIMIT", 3500)
    for age, name in enumerate("abc"):
        cache.store("key", name, bytes(1000))
        for path in folder.iterdir():
            if path.stat().st_mtime > 1e9:
                os.utime(path, (1000 + age, 1000 + age))
    assert cache.load("key", "a") is not None
    cache.store("key", "d", bytes(1000))
    assert [cache.load("key", name) is not None for name in "abcd"] == [True, False, True, True]


def test_the_folder_stays_within_its_limit_and_is_seldom_looked_through(monkeypatch, folder):
    looks, entries = [], cache._entries
    monkeypatch.setattr(cache, "LIMIT", 100_000)
    monkeypatch.setattr(cache, "_entries", lambda: looks.append(1) or entries())
    for k in range(300):
        cache.store("key", str(k), bytes(1000))
        assert sum(path.stat().st_size for path in folder.iterdir()) <= 110_000
    assert len(looks) < 300 / 4


def test_a_fingerprint_tells_whose_a_number_is():
    """Of two bodies the one moves or the other, along or about the same axis."""
    from torsor.formulations.fingerprint import fingerprint

    found = set()
    for k, what in [(0, "velocity"), (1, "velocity"), (0, "angular_velocity"), (1, "angular_velocity")]:
        model = ts.Model("pair")
        for i in range(2):
            model.body(f"b{i}", mass=1.0, inertia=(1, 1, 1), **({what: (0, 0, 1)} if i == k else {}))
        found.add(fingerprint(model, {}))
    assert len(found) == 4


def test_a_fingerprint_tells_every_number_apart():
    """Zero and nothing at all, too, and the least change of a place."""
    from torsor.formulations.fingerprint import fingerprint

    def mark(mass=1.0, at=(0, 0, 0), speed=None, point=(0, 0, 0), start=None, rate=None, shift=None, gravity=-9.81):
        model = ts.Model("pair", gravity=(0, 0, gravity))
        one = model.body("one", mass=mass, inertia=(1, 1, 1), at=at, velocity=speed)
        two = model.body("two", mass=2.0, inertia=(1, 1, 1), at=(1, 0, 0))
        model.add(ts.Revolute("j", model.ground, one, point=point, axis="y", start=start, start_rate=rate))
        shifted = (1, 0, 0) if shift is None else (1 + model.parameter("shift", shift), 0, 0)
        model.add(ts.Revolute("k", one, two, point=shifted, axis="y"))
        return fingerprint(model, {})

    many = [{}, {"mass": 1.1}, {"at": (0, 0, 1e-12)}, {"speed": (0, 0, 0)}, {"speed": (0, 0, 1)}, {"point": (1e-12, 0, 0)},
            {"start": 0.0}, {"start": 0.1}, {"rate": 0.0}, {"rate": 0.1}, {"shift": 0.0}, {"gravity": -9.8}]  # fmt: skip
    marks = [mark(**given) for given in many]
    assert len(set(marks)) == len(many)
    assert marks == [mark(**given) for given in many] and mark(mass=np.float64(1.1)) == mark(mass=1.1)


def test_a_fingerprint_does_not_depend_on_what_was_described_before():
    """Elements of one kind share a trace; which of them was traced first must not show."""
    from torsor.formulations.fingerprint import fingerprint
    from torsor.joints import base

    def model(name):
        found = ts.Model("model")
        bodies = [found.body(f"b{k}", mass=1.0, inertia=(1, 1, 1), at=(k, 0, 0)) for k in range(2)]
        found.add(ts.Revolute(name, *bodies, axis=(0, 1, 0), point=(0.5, 0, 0)))
        return found

    marks = []
    for first in ("other", "hinge"):
        base._TRACES.clear()
        fingerprint(model(first), {})
        marks.append(fingerprint(model("hinge"), {}))
    assert marks[0] == marks[1]
