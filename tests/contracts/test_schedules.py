"""A schedule is the kernel that its unrolled graph is: same values, same signature, and code that does not know how many rows
there are."""

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torsor.errors import OptionError
from torsor.formulations.schedules.schedule import Schedule
from torsor.kernels import build, load
from torsor.kernels.backends.llvm import LLVM
from torsor.kernels.schedule_tables import Tables

x, y, c = ca.SX.sym("x", 2), ca.SX.sym("y"), ca.SX.sym("c", 3)
CLASSES = [
    ca.Function("swing", [x, y, c], [ca.sin(x[0]) * x[1] + y * c[0], y + c[1]]),
    ca.Function("mix", [x, y, c], [x[0] - x[1] * y, ca.fmin(c[2] * y, x[0])]),
    ca.Function("long", [x, y, c], [ca.sumsqr(ca.vertcat(*[ca.cos(k * x[0] + y) for k in range(60)])), y * y - c[0]]),
]
START = ca.Function("start", [c], [c[0]])


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TORSOR_CACHE", str(tmp_path))


def chain(kinds, numbers):
    """Each row reads what the row before it has written."""
    n = len(kinds)
    s = Schedule("k", takes={"x": 2 * n}, gives={"out": n})
    memory, constants, i = s.reserve(n + 1), s.keep(numbers), np.arange(n)
    s.call([START], ["constants", "memory"], [0], [[constants], [memory]])
    places = [2 * i, memory + i, constants + i, i, memory + i + 1]
    s.call(CLASSES, ["x", "memory", "constants", "out", "memory"], kinds, places)
    return s


def evaluated(library, values):
    return library["k"](values)[0]


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=30), st.integers(0, 2**32 - 1), st.sampled_from([15, 1500]))
def test_a_schedule_computes_what_its_graph_computes(kinds, seed, part):
    random = np.random.default_rng(seed)
    s = chain(kinds, random.uniform(-1, 1, len(kinds) + 3))
    values = random.uniform(-2, 2, 2 * len(kinds))
    found = evaluated(build({"k": s}, LLVM(contract=False, part=part)), values)
    np.testing.assert_array_equal(found, s.unroll()(values).full().ravel())
    np.testing.assert_array_equal(found, evaluated(build({"k": s}, "reference"), values))


def test_rows_are_data_and_the_code_is_compiled_once(monkeypatch):
    random, compiled = np.random.default_rng(3), []
    compile_ = LLVM.compile
    monkeypatch.setattr(LLVM, "compile", lambda self, *given: compiled.append(1) or compile_(self, *given))
    for n in (1, 5, 1000):
        s, values = chain(np.arange(n) % 3, random.uniform(-1, 1, n + 3)), random.uniform(-1, 1, 2 * n)
        kernel = build({"k": s}, key=f"rows {n}")["k"]
        np.testing.assert_allclose(kernel(values)[0], s.unroll()(values).full().ravel(), rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(evaluated(load(f"rows {n}"), values), kernel(values)[0])
        counts = np.bincount(np.arange(n) % 3, minlength=3)
        single = [build({"f": f})["f"].instructions for f in CLASSES]
        assert kernel.instructions == np.dot(counts, single)
        assert kernel.work_size >= n + 1 and kernel.size_in(0) == 2 * n and kernel.size_out(0) == n
    assert len(compiled) == 1 + len(CLASSES)  # the classes by themselves, for their counts


def test_two_kernels_with_the_same_code_have_rows_of_their_own():
    a, b = chain([0, 1], [1.0] * 5), chain([1, 0, 2], [0.5] * 6)
    one, other = build({"k": a}), build({"k": b})
    both = build({"first": a, "second": b})
    values = np.linspace(-1, 1, 6)
    for s, kernels, n in ((a, (one["k"], both["first"]), 2), (b, (other["k"], both["second"]), 3)):
        for kernel in kernels:
            np.testing.assert_allclose(
                kernel(values[: 2 * n])[0], s.unroll()(values[: 2 * n]).full().ravel(), rtol=1e-13
            )


def relay(n, steps, seed=0):
    """Numbers handed on from room to room, each time by rows in another order."""
    random = np.random.default_rng(seed)
    s, places = Schedule("k", takes={"x": n}, gives={"out": n}), [np.arange(n)]
    for _ in range(steps):
        places.append(s.reserve(n) + random.permutation(n))
    places.append(np.arange(n))
    vectors, u = ["x", *["memory"] * steps, "out"], ca.SX.sym("u")
    for k in range(steps + 1):
        order = slice(None, None, -1 if k % 2 else 1)
        f = ca.Function("one", [u], [u * u - 0.3 * k])
        s.call([f], vectors[k : k + 2], np.zeros(n, int), [places[k][order], places[k + 1][order]])
    return s


@settings(deadline=None, max_examples=10)
@given(st.integers(1, 20), st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_vectors_that_are_needed_at_different_times_share_memory(n, steps, seed):
    s, values = relay(n, steps, seed), np.random.default_rng(seed).uniform(-1, 1, n)
    assert s.memory <= 2 * n and s.memory_plan.size == steps * n
    found = evaluated(build({"k": s}, LLVM(contract=False)), values)
    np.testing.assert_array_equal(found, s.unroll()(values).full().ravel())


def test_columns_of_tables_are_kept_once():
    """Of passes that differ in where columns begin, and in their direction; those that grow evenly are one for all lengths."""
    s = relay(100, 4)
    alone, twice = Tables({"a": s}), Tables({"a": s, "b": relay(100, 4)})
    assert alone.pool.size <= 100 * (4 + 2) + 1 and twice.pool.size == alone.pool.size
    even = Tables({"a": relay(50, 0), "b": relay(100, 0)})
    assert even.pool.size == 100 + 100 + 1  # places, and classes, which are all zero
    np.testing.assert_array_equal(*(t.pool for t in (alone, Tables.read(alone.lengths(), _bytes(alone)))))


def _bytes(tables):
    return b"".join(x.tobytes() for x in tables.arrays())


@pytest.mark.parametrize("damage", [b"", b"{", b"0" * 100])
def test_a_damaged_entry_counts_as_absent(damage, tmp_path):
    build({"k": chain([0], [1.0] * 4)}, key="some")
    for path in tmp_path.rglob("*"):
        if path.is_file():
            path.write_bytes(damage)
    assert load("some") is None


@pytest.mark.parametrize(
    "vectors, kinds, places, told",
    [
        (["x", "memory", "constants", "out", "nothing"], [0], [[0]] * 5, "no vector 'nothing'"),
        (["x", "memory", "constants", "out"], [0], [[0]] * 4, "do not match"),
        (["x", "memory", "constants", "x", "memory"], [0], [[0]] * 5, "do not match"),
        (["x", "memory", "constants", "out", "memory"], [3], [[0]] * 5, "one of 3 classes"),
        (["x", "memory", "constants", "out", "memory"], [1], [[3], [0], [0], [0], [0]], "offsets 3 to 5 of 'x'"),
        (["x", "memory", "constants", "out", "memory"], [1], [[0], [-1], [0], [0], [0]], "offsets -1 to 0 of 'memory'"),
        (["memory", "memory", "constants", "out", "memory"], [1], [[2], [0], [0], [0], [0]], "not in one block"),
    ],
)
def test_rows_that_would_leave_their_vectors_are_refused(vectors, kinds, places, told):
    s = Schedule("k", takes={"x": 4}, gives={"out": 2})
    s.reserve(3), s.reserve(2), s.keep(np.zeros(5))
    with pytest.raises(OptionError, match=told):
        s.call(CLASSES, vectors, kinds, places)
