"""States and checkpoints are data: whatever somebody writes into them is refused, or does no harm; it never reaches compiled code
as a place outside of its arrays, and never raises anything but a TorsorError. A simulation that refuses a state stays as it was."""

import copy
import json
import shutil
import warnings

import numpy as np
import pytest

import torsor as ts
from torsor.store.checkpoint import Checkpoint
from torsor.store.journal import pack, unpack

METHODS = ["rkmk54", "bdf", "abm4", "generalized-alpha"]
JUNK = [None, -1, 10**4, 1e3, "x", [], [[]], {}, [10**7] * 3, True]


def hammer():
    """A hammer that swings against a stop, with friction, so that structures change."""
    model = ts.Model("hammer", gravity=(0, 0, -9.81))
    head = model.body("head", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, head, point=(0, 0, 0), axis="y"))
    model.add(ts.Limit("stop", hinge, upper=1.0, restitution=0.5))
    model.when(hinge.coordinate >= 0.5, ts.record("speed", hinge.rate), name="half")
    return model


def swing():
    model = ts.Model("swing", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis="y"))
    return model


def forged_arrays(arrays, random):
    """Arrays of which one has other numbers, another shape or another kind."""
    for name in sorted(arrays):
        x = arrays[name]
        found = [x.ravel()[:-1] if x.size else np.zeros(3), np.zeros((2, *x.shape), x.dtype), x.astype(np.complex64)]
        if x.dtype.kind == "i":
            found += [np.full(x.shape, value, x.dtype) for value in (10**7, -(10**7), 2**62, -1, 3)]
        if x.dtype.kind == "f" and x.size:
            found += [np.full(x.shape, np.nan), np.full(x.shape, -1e300)]
        yield {k: y for k, y in arrays.items() if k != name}
        for other in random.permutation(len(found))[:3]:
            yield arrays | {name: found[other]}


def forged_facts(facts, random, most):
    """Facts of which one value, however deep, is something else."""

    def paths(x, at=()):
        pairs = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
        for key, y in pairs:
            yield (*at, key)
            yield from paths(y, (*at, key))

    every = list(paths(facts))
    for k in random.permutation(len(every))[:most]:
        *above, last = every[k]
        other = copy.deepcopy(facts)
        inner = other
        for key in above:
            inner = inner[key]
        inner[last] = JUNK[random.integers(len(JUNK))]
        yield other


@pytest.mark.parametrize("model, method", [(hammer, METHODS[0]), *((swing, method) for method in METHODS[1:])])
def test_a_forged_state_is_refused_or_does_no_harm(tmp_path, model, method):
    random, path = np.random.default_rng(0), tmp_path / "state"
    how = {"step": 0.01} if method in ("abm4", "generalized-alpha") else {}
    sim = ts.Simulation(model(), method=method, **how)
    sim.advance(0.6)
    good = sim.state
    good.save(path)
    facts, arrays = unpack(path.read_bytes(), path)
    forged = [(facts, x) for x in forged_arrays(arrays, random)]
    forged += [(x, arrays) for x in forged_facts(facts, random, 40)]
    refused = 0
    for told, numbers in forged:
        path.write_bytes(pack(told, numbers))
        try:
            sim.state = ts.load_state(path)
        except ts.TorsorError:
            refused += 1
            assert sim.time == good.time
        try:
            sim.advance(0.01)
        except ts.TorsorError:
            pass
        sim.reset()
        sim.state = good
    assert refused > len(forged) / 2
    path.write_bytes(pack(facts, arrays))
    sim.state = ts.load_state(path)
    sim.advance(0.1)


def interrupted(model, folder, monkeypatch):
    """A checkpoint of a run that was killed on the way."""
    commit, count = Checkpoint.commit, []

    def killed(self, *given):
        count.append(0)
        if len(count) > 3:
            raise RuntimeError("killed")
        return commit(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "commit", killed)
        with pytest.raises(RuntimeError, match="killed"):
            ts.simulate(model, 1.0, outputs=10, checkpoint=folder, checkpoint_interval=0.1, progress=False)


def test_a_forged_checkpoint_is_refused_or_does_no_harm(tmp_path, monkeypatch):
    random, model = np.random.default_rng(1), hammer()
    interrupted(model, tmp_path / "whole", monkeypatch)
    facts, arrays = unpack((tmp_path / "whole" / "state").read_bytes(), "state")
    forged = [(facts, x) for x in forged_arrays(arrays, random)]
    chosen = [forged[k] for k in random.permutation(len(forged))[:60]]
    chosen += [(x, arrays) for x in forged_facts(facts, random, 120)]
    refused = 0
    for told, numbers in chosen:
        shutil.rmtree(tmp_path / "forged", ignore_errors=True)
        shutil.copytree(tmp_path / "whole", tmp_path / "forged")
        (tmp_path / "forged" / "state").write_bytes(pack(told, numbers))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                ts.resume(tmp_path / "forged", model, progress=False)
            except ts.TorsorError:
                refused += 1
    assert refused > len(chosen) / 4
    assert ts.resume(tmp_path / "whole", model, progress=False).attrs["status"] == "finished"


@pytest.mark.parametrize(
    "content", [b"", b"torsor checkpoint 2\n", b"torsor checkpoint 2\n" + b"x" * 99, b"\x00" * 10**4]
)
def test_what_is_no_state_is_refused(tmp_path, content):
    (tmp_path / "state").write_bytes(content)
    with pytest.raises(ts.ResultError):
        ts.load_state(tmp_path / "state")


@pytest.mark.parametrize("shape", [[-1], [2**62, 2**62], [1.5], "x", [[1]], [10**9]])
@pytest.mark.parametrize("kind", ["<f8", "|O", "<i8,<f8", "x", "<M8[s]"])
def test_sizes_and_kinds_of_arrays_in_a_state_are_checked(tmp_path, shape, kind):
    import hashlib

    head = json.dumps({"facts": {}, "arrays": [["a", kind, shape]]}).encode()
    body = len(head).to_bytes(8, "little") + head + bytes(64)
    (tmp_path / "state").write_bytes(b"torsor checkpoint 2\n" + hashlib.sha256(body).digest() + body)
    with pytest.raises(ts.ResultError):
        ts.load_state(tmp_path / "state")


@pytest.mark.parametrize("path", [0, 1, True, 2.5, None, b"state", np.int64(1), "\0", [], "."], ids=repr)
def test_what_is_no_path_is_refused(path):
    with pytest.raises(ts.ResultError):
        ts.load_state(path)
    if path != b"state":
        with pytest.raises(ts.ResultError):
            ts.Simulation(swing()).state.save(path)
