"""States, checkpoints and portions of studies belong to a model with its Python functions: other ones are refused or not taken."""

import functools
import os
import subprocess
import sys
import types

import numpy as np
import pytest

import torsor as ts
from torsor.prepare.function_digest import digest

GAIN = 1.0
SOURCE = """
import functools, math
import numpy as np
gain, table = 1.0, np.arange(3.0)
WORDS = {"low", "high", "middle"}
def limited(x): return min(x, gain)
class Base:
    limit = 2.0
    def __init__(self, k): self.k = k
    def __call__(self, t, u): return self.bounded(self.k * u[0])
    def bounded(self, x): return max(-self.limit, min(self.limit, x))
class Law(Base):
    def method(self, t, u): return self(t, u) + table[1]
def closed(k, offset=0.5, *, scale=1.0):
    def law(t, u): return limited(k * u[0]) + offset + scale
    return law
def plain(t, u, offset=0.5): return limited(u[0]) + offset * math.sin(t) if "low" in WORDS else 0.0
laws = [plain, closed(2.0), Law(3.0), Law(3.0).method, functools.partial(plain, offset=1.0), functools.lru_cache(plain),
        lambda t, u: closed(u[0])(t, u)]
"""
CHANGES = {  # of one constant, function, default, enclosed value or inherited method: every law that refers to it is another one
    "a global number": ("gain, table = 1.0", "gain, table = 1.5", {0, 1, 4, 5, 6}),
    "a global array": ("np.arange(3.0)", "np.arange(3.0) + 1", {2, 3}),
    "a global set": ('"middle"', '"centre"', {0, 4, 5}),
    "a function that is called": ("min(x, gain)", "min(x, 2 * gain)", {0, 1, 4, 5, 6}),
    "an inherited method": ("max(-self.limit", "max(0 * self.limit", {2, 3}),
    "an inherited __call__": ("self.k * u[0]", "self.k + u[0]", {2, 3}),
    "an inherited attribute": ("limit = 2.0", "limit = 3.0", {2, 3}),
    "a default": ("u, offset=0.5)", "u, offset=0.6)", {0, 4, 5}),
    "a keyword default": ("scale=1.0", "scale=2.0", {1, 6}),
    "an enclosed number": ("closed(2.0)", "closed(2.5)", {1}),
    "an object": ("[plain, closed(2.0), Law(3.0)", "[plain, closed(2.0), Law(4.0)", {2}),
    "the object of a method": ("Law(3.0).method", "Law(4.0).method", {3}),
    "an argument of partial": ("partial(plain, offset=1.0)", "partial(plain, offset=2.0)", {4}),
}


def laws(source=SOURCE):
    """The laws of a module that is made from source."""
    module = types.ModuleType("laws_of_a_user")
    exec(compile(source, "laws_of_a_user", "exec"), vars(module))
    return module.laws


@pytest.mark.parametrize("change", CHANGES)
def test_a_digest_changes_with_everything_that_a_function_refers_to_and_with_nothing_else(change):
    old, new, expected = CHANGES[change]
    assert old in SOURCE
    before, after = ([digest(law) for law in laws(text)] for text in (SOURCE, SOURCE.replace(old, new, 1)))
    assert {k for k, (a, b) in enumerate(zip(before, after)) if a != b} == expected
    assert len(set(before)) == len(before)


def test_a_digest_is_the_same_in_every_process(tmp_path):
    (tmp_path / "laws_of_a_user.py").write_text(SOURCE)
    code = "from torsor.prepare.function_digest import digest; import laws_of_a_user as m; print(*map(digest, m.laws))"
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    found = [
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": paths},
        ).stdout.split()
        for seed in ("1", "2")
    ]  # fmt: skip
    assert found[0] == found[1] == [digest(law) for law in laws()]


def test_whatever_a_function_refers_to_has_a_digest():
    class Stubborn:
        def __reduce_ex__(self, protocol):
            raise RuntimeError

        def __repr__(self):
            raise RuntimeError

    around = {"me": None, "open": open(os.devnull), "stubborn": Stubborn(), "model": pushed(one), "random": np.random}  # noqa: SIM115
    around["me"] = around
    deep = []
    for _ in range(10**4):
        deep = [deep]
    with around["open"]:
        for thing in (
            lambda: around,
            deep,
            np.array([around], object),
            np.random.default_rng(1),
            ts.compile(pushed(one)),
        ):
            assert digest(thing) == digest(thing)
    assert digest(np.random.default_rng(1)) != digest(np.random.default_rng(2))


def one(t, u):
    return GAIN


def two(t, u):
    return -GAIN


class Push:
    def __init__(self, force):
        self.force = force

    def __call__(self, t, u):
        return self.force

    def push(self, t, u):
        return self.force


class Inherits(Push):
    pass


def scaled(t, u, force):
    return force


def enclosing(force):
    def law(t, u):
        return force

    return law


PAIRS = {
    "functions": (one, two),
    "objects": (Inherits(1.0), Inherits(-1.0)),
    "methods": (Inherits(1.0).push, Inherits(-1.0).push),
    "partial functions": (functools.partial(scaled, force=1.0), functools.partial(scaled, force=-1.0)),
    "closures": (enclosing(1.0), enclosing(-1.0)),
    "defaults": tuple((lambda t, u, f=f: f) for f in (1.0, -1.0)),
}


def pushed(law):
    """A body on a slide that a controller pushes with 1 N or −1 N: x = ± t²/2."""
    model = ts.Model("pushed")
    speed = model.parameter("speed", 0.0)
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    slide = model.add(ts.Prismatic("slide", model.ground, body, axis="x", start_rate=speed))
    controller = model.add(ts.Controller("controller", 0.1, [slide.coordinate], ["force"], law))
    model.add(ts.JointForce("push", slide, controller["force"]))
    return model


@pytest.mark.parametrize("pair", PAIRS)
def test_a_state_and_a_checkpoint_go_on_with_the_same_law_only(tmp_path, pair):
    law, other = PAIRS[pair]
    begun = ts.Simulation(pushed(law))
    begun.advance(1.0)
    begun.state.save(tmp_path / "state")
    same, another = ts.Simulation(pushed(law)), ts.Simulation(pushed(other))
    same.state = ts.load_state(tmp_path / "state")
    same.advance(1.0)
    assert abs(same.coordinates["slide"] - 2.0) < 1e-9  # x = t²/2
    with pytest.raises(ts.OptionError, match="function of a controller differs"):
        another.state = begun.state
    ts.simulate(pushed(law), 1.0, outputs=2, checkpoint=tmp_path / "run", progress=False)
    assert ts.resume(tmp_path / "run", pushed(law), progress=False)["coordinate"][-1, 0] == pytest.approx(0.5, abs=1e-9)
    with pytest.raises(ts.ResultError, match="function of a controller differs"):
        ts.resume(tmp_path / "run", pushed(other), progress=False)


@pytest.mark.parametrize("pair", PAIRS)
def test_the_folder_of_a_study_belongs_to_its_laws(tmp_path, pair):
    law, other = PAIRS[pair]
    study = lambda law: ts.study(pushed(law), 1.0, {"speed": [0.0, 1.0]}, reduce="last", store=tmp_path, executor=1)
    np.testing.assert_allclose(study(law)["coordinate"].values[:, 0], [0.5, 1.5], atol=1e-9)
    with pytest.raises(ts.ResultError, match="another study"):
        study(other)


def test_a_function_that_counts_its_calls_does_not_change_the_model_that_it_belongs_to(tmp_path):
    calls = []

    def counted(t, u):
        calls.append(t)
        return 1.0

    sim = ts.Simulation(pushed(counted))
    sim.advance(1.0)
    twin = sim.copy()
    twin.advance(1.0)
    sim.state = twin.state
    assert calls and sim.time == 2.0


def test_portions_of_another_study_are_not_taken(tmp_path):
    study = lambda name, speeds: ts.study(
        pushed(one), 1.0, {"speed": speeds}, reduce="last", store=tmp_path / name, executor=1, progress=False
    )
    study("first", [1.0, 2.0]), study("second", [5.0, 6.0])
    for path in (tmp_path / "first").glob("runs-*"):
        (tmp_path / "second" / path.name).write_bytes(path.read_bytes())
    found = study("second", [5.0, 6.0])["coordinate"].values[:, 0]
    np.testing.assert_allclose(found, [5.5, 6.5], atol=1e-9)  # x = v t + t²/2
    assert (tmp_path / "second" / "study.json").exists()


def test_of_two_studies_that_begin_in_one_folder_one_is_refused(tmp_path, monkeypatch):
    """The other one begins between the look into the folder and the creation of its file."""
    from torsor.studies import study_store

    study = lambda speeds: ts.study(pushed(one), 1.0, {"speed": speeds}, reduce="last", store=tmp_path, executor=1)
    place = study_store.place_new

    def late(temporary, path):
        monkeypatch.setattr(study_store, "place_new", place)
        study([5.0, 6.0])
        place(temporary, path)

    monkeypatch.setattr(study_store, "place_new", late)
    with pytest.raises(ts.ResultError, match="belongs to another study"):
        study([1.0, 2.0])
    np.testing.assert_allclose(study([5.0, 6.0])["coordinate"].values[:, 0], [5.5, 6.5], atol=1e-9)
