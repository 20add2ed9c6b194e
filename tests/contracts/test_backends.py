"""Every registered backend computes what CasADi's own evaluation computes."""

import subprocess
import sys
from itertools import product

import casadi as ca
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from torsor.errors import OptionError
from torsor.kernels import Kernel, build
from torsor.kernels.backends.llvm import LLVM
from torsor.kernels.emit import OPERATIONS
from torsor.registry import registered

BACKENDS = sorted(registered("backend"))
# Contraction is the only freedom a backend takes, so without it the bits are the same.
EXACT = [
    LLVM(contract=False),
    LLVM(contract=False, level=0),
    LLVM(contract=False, level=3),
    *(cls() for key, cls in registered("backend").items() if key != "llvm"),
]

TINY, LEAST, MOST = 2.2250738585072014e-308, 5e-324, 1.7976931348623157e308
GRID = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    0.5,
    -0.5,
    0.3,
    -0.71,
    0.85,
    3.7,
    -2.6,
    1e-9,
    1e3,
    -1e6,
    710.0,
    -745.0,
    LEAST,
    -LEAST,
    TINY,
    -TINY,
    TINY / 3,
    MOST,
    -MOST,
    np.inf,
    -np.inf,
    np.nan,
]


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORSOR_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def same_bits(a, b):
    """Equal as bits; any two results that are not a number are alike."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return a.shape == b.shape and bool(np.all((a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))))


def truth(f, *arrays):
    """CasADi's evaluation on structural nonzeros."""
    arguments = [ca.DM(f.sparsity_in(i), a) for i, a in enumerate(arrays)]
    return tuple(np.array(out.nonzeros(), dtype=float) for out in f.call(arguments))


def agree(f, *arrays, backend=EXACT[0]):
    kernel = build({"f": f}, backend=backend)["f"]
    arrays = [np.asarray(a, dtype=float) for a in arrays]
    return all(map(same_bits, kernel(*arrays), truth(f, *arrays)))


TWO = set(
    "ADD SUB MUL DIV POW CONSTPOW FMOD REMAINDER ATAN2 HYPOT COPYSIGN LT LE EQ NE AND OR IF_ELSE_ZERO FMIN FMAX "
    "PRINTME LIFT".split()
)
# CasADi replaces these when it makes the node; a constant power is tested with its constant below.
NEVER_ALONE = {"ASSIGN", "LIFT", "CONSTPOW"}


def node(operation, x, y):
    """One operation as a graph."""
    number = getattr(ca, "OP_" + operation)
    return ca.SX.binary(number, x, y) if operation in TWO else ca.SX.unary(number, x)


@pytest.mark.parametrize("backend", EXACT, ids=str)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_has_the_bits_of_the_reference(operation, backend):
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    number = getattr(ca, "OP_" + operation)
    f = ca.Function("f", [x, y], [node(operation, x, y)])
    present = {f.instruction_id(k) for k in range(f.n_instructions())}
    assert number in present or operation in NEVER_ALONE
    kernel = build({"f": f}, backend=backend)["f"]
    grid = GRID[:5] if operation == "PRINTME" else GRID
    for a, b in product(grid, grid if operation in TWO else [0.0]):
        got, want = kernel(np.array([a]), np.array([b]))[0], truth(f, [a], [b])[0]
        # Which zero is smaller is left open by the C standard.
        zeros = operation in ("FMIN", "FMAX") and a == b == 0
        assert same_bits(got, want) or (zeros and got[0] == 0), (a, b, got, want)


@pytest.mark.parametrize("scale", [1e-9, 1, 30, 1e6, 1e300])
def test_sine_and_cosine_of_one_angle_have_the_bits_of_the_reference(scale):
    x = ca.SX.sym("x", 200)
    f = ca.Function("f", [x], [ca.sin(x), ca.cos(x)])
    assert agree(f, scale * np.random.default_rng(0).normal(size=200))


def test_a_graph_of_nothing_but_outputs_is_cut_too():
    x = ca.SX.sym("x", 5000)
    f = ca.Function("f", [x], [x, x[::-1], ca.DM(range(5000))])
    assert agree(f, np.arange(5000.0))


@pytest.mark.parametrize("backend", EXACT, ids=str)
def test_operations_on_constants_have_the_bits_of_the_reference(backend):
    x = ca.SX.sym("x")
    outputs = [
        x + 0.1,
        x / 3,
        7 - x,
        x * np.nan,
        ca.fmin(x, np.inf),
        ca.atan2(1e-320, x),
        ca.power(2.5, x),
        x - np.pi,
        x**3,
        x**0.5,
        x**-1.7,
    ]
    f = ca.Function("f", [x], [ca.vertcat(*outputs)])
    assert ca.OP_CONSTPOW in {f.instruction_id(k) for k in range(f.n_instructions())}
    assert all(agree(f, [value], backend=backend) for value in GRID)


@st.composite
def graphs(draw):
    """A random graph of up to 60 operations on a few inputs and constants, some results of which are outputs."""
    x = ca.SX.sym("x", 4)
    values = [*ca.vertsplit(x), ca.SX(draw(st.floats(-3, 3))), ca.SX(0.5)]
    for _ in range(draw(st.integers(1, 60))):
        a, b = (values[draw(st.integers(0, len(values) - 1))] for _ in range(2))
        values.append(node(draw(st.sampled_from([name for name in OPERATIONS if name != "PRINTME"])), a, b))
    return ca.Function("f", [x], [ca.vertcat(*values[-5:]), values[len(values) // 2]])


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(graphs(), st.lists(st.floats(allow_subnormal=True), min_size=4, max_size=4), st.sampled_from([3, 7, 1500]))
def test_random_graphs_have_the_bits_of_the_reference_however_they_are_cut(f, values, part):
    assert agree(f, values, backend=LLVM(contract=False, part=part))


def factorisation(n, band, columns):
    """The solution of a banded positive definite system, by a factorisation written out."""
    P = ca.SX.sym("A", ca.Sparsity.banded(n, band).sub(list(range(n)), list(range(n)))[0])
    A = ca.triu2symm(ca.triu(P))
    D, L, p = ca.ldl(A)
    b = ca.SX.sym("b", n, columns)
    f = ca.Function("f", [P, b], [ca.ldl_solve(b, D, L, p)])
    rows, cols = map(np.array, f.sparsity_in(0).get_triplet())
    random = np.random.default_rng(1)
    return f, [random.normal(size=rows.size) + 4 * band * (rows == cols), random.normal(size=n * columns)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_long_graph_agrees_with_the_reference(backend):
    f, arrays = factorisation(60, 8, 2)
    kernel = build({"f": f}, backend=backend)["f"]
    # The system is well conditioned, so fused products change the last digits only.
    assert np.allclose(kernel(*arrays)[0], truth(f, *arrays)[0], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("share", [10**9, 1000], ids=["alone", "shared"])
@pytest.mark.parametrize("part", [100, 1500])
def test_a_long_graph_in_parts_has_the_bits_of_the_reference(part, share):
    f, arrays = factorisation(60, 8, 2)
    backend = LLVM(contract=False, part=part, share=share)
    assert agree(f, *arrays, backend=backend)
    assert 0 < build({"f": f}, backend=backend)["f"].work_size < f.n_instructions() / 2


def test_a_worker_that_cannot_start_does_not_matter(monkeypatch):
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    f, arrays = factorisation(40, 6, 1)
    assert agree(f, *arrays, backend=LLVM(contract=False, part=200, share=100))


def test_contraction_changes_the_last_digits_only():
    x, y = ca.SX.sym("x", 50), ca.SX.sym("y", 50)
    f = ca.Function("f", [x, y], [ca.dot(x, y), x * y + x])
    random = np.random.default_rng(2)
    arrays = [random.uniform(1, 2, 50), random.uniform(1, 2, 50)]
    got, want = build({"f": f}, contract=True)["f"](*arrays), truth(f, *arrays)
    # All terms are positive: each of 50 roundings is at most half a unit in the last place of the sum.
    assert all(np.all(np.abs(g - w) <= 25 * np.spacing(w)) for g, w in zip(got, want))


@pytest.mark.parametrize("backend", BACKENDS)
class TestArguments:
    """What inputs and outputs may be."""

    def test_sparse_ones_hold_their_nonzeros(self, backend):
        X = ca.SX.sym("X", ca.Sparsity.lower(4))
        Y = ca.SX(5, 3)
        Y[1, 0], Y[4, 2], Y[0, 2] = X[3, 1], 2 * X[2, 2], 3
        f = ca.Function("f", [X], [Y, X.T])
        assert agree(f, np.arange(1.0, 11), backend=backend)
        kernel = build({"f": f}, backend=backend)["f"]
        assert (kernel.size_in(0), kernel.shape_in(0)) == (10, (4, 4))
        assert (kernel.size_out(0), kernel.shape_out(0)) == (3, (5, 3))
        assert [list(part) for part in kernel.sparsity_out(0)] == [[1, 0, 4], [0, 2, 2]]
        assert [list(part) for part in kernel.sparsity_in(0)] == [list(part) for part in X.sparsity().get_triplet()]

    def test_outputs_may_be_constant_or_empty_or_inputs(self, backend):
        x, y = ca.SX.sym("x", 3), ca.SX.sym("y")
        outputs = [x, ca.SX([1, -0.0, np.pi]), ca.SX(2, 2), ca.vertcat(y, y, 0, x[1]), ca.SX.zeros(0, 1)]
        f = ca.Function("f", [x, y], outputs)
        assert agree(f, [1.0, 2.0, np.nan], [4.0], backend=backend)

    def test_inputs_may_be_absent_empty_or_unused(self, backend):
        x, y = ca.SX.sym("x", 0), ca.SX.sym("y", 2, 2)
        assert agree(ca.Function("f", [], [ca.SX([1, 2])]), backend=backend)
        assert agree(ca.Function("f", [x, y], [y[0, 1] + 1]), [], [1.0, 2, 3, 4], backend=backend)
        assert agree(ca.Function("f", [y], [ca.SX(2)]), [1.0, 2, 3, 4], backend=backend)

    def test_a_full_matrix_is_read_column_by_column(self, backend):
        X = ca.SX.sym("X", 2, 3)
        kernel = build({"f": ca.Function("f", [X], [X[0, :].T])}, backend=backend)["f"]
        assert list(kernel(np.array([[1.0, 2, 3], [4, 5, 6]]))[0]) == [1, 2, 3]

    def test_graphs_of_matrices_are_expanded(self, backend):
        X = ca.MX.sym("X", 3, 3)
        assert agree(ca.Function("f", [X], [X @ X]).expand(), np.arange(9.0), backend=backend)
        kernel = build({"f": ca.Function("f", [X], [X @ X])}, backend=backend)["f"]
        assert list(kernel(np.eye(3))[0]) == list(np.eye(3).ravel())

    def test_several_functions_share_a_library(self, backend):
        x = ca.SX.sym("x", 2)
        library = build(
            {"one": ca.Function("f", [x], [ca.sin(x)]), "two words": ca.Function("f", [x], [x + 1])}, backend=backend
        )
        assert list(library) == ["one", "two words"]
        assert list(library["two words"](np.zeros(2))[0]) == [1, 1]
        assert library["one"].instructions == 2

    def test_wrong_arrays_are_refused_with_what_is_needed(self, backend):
        x = ca.SX.sym("x", 2)
        kernel = build({"f": ca.Function("f", [x], [x], ["speed"], ["out"])}, backend=backend)["f"]
        with pytest.raises(OptionError, match="input 0 .speed.: 2 float64 values are needed, not 3 of type float64"):
            kernel(np.zeros(3))
        with pytest.raises(OptionError, match="not 2 of type int64"):
            kernel(np.zeros(2, dtype=np.int64))
        with pytest.raises(OptionError, match="takes 1 arrays, not 2"):
            kernel(np.zeros(2), np.zeros(2))

    def test_compiled_loops_call_it_by_address(self, backend):
        x, v = ca.SX.sym("x", 2), ca.SX.sym("v")
        kernel = build({"f": ca.Function("f", [x, v], [x * v, v + 1])}, backend=backend)["f"]
        out, rate = np.zeros(2), np.zeros(1)
        _loop()(kernel.address, np.array([1.0, 2.0]), np.array([3.0]), out, rate, kernel.work())
        assert (list(out), list(rate)) == ([3, 6], [4])

    def test_a_kernel_outlives_its_library(self, backend):
        x = ca.SX.sym("x")
        kernel = build({"f": ca.Function("f", [x], [x + 1])}, backend=backend)["f"]
        assert isinstance(kernel, Kernel)
        assert kernel(np.ones(1))[0] == 2


def _loop():
    numba = pytest.importorskip("numba")
    from torsor.kernels.kernel_address import call

    @numba.njit
    def loop(address, x, v, out, rate, work):
        call(address, (x, v, out, rate, work))

    return loop


def test_free_variables_are_refused():
    x, free = ca.SX.sym("x"), ca.SX.sym("free")
    f = ca.Function("f", [x], [x + free], {"allow_free": True})
    with pytest.raises(OptionError, match="OP_PARAMETER"):
        build({"f": f})


def test_unknown_backends_and_options_are_refused():
    with pytest.raises(OptionError, match="Did you mean 'llvm'"):
        build({}, backend="lvm")
    with pytest.raises(OptionError, match="speed"):
        build({}, speed=3)


def test_the_environment_sets_the_effort_of_code_generation(monkeypatch):
    monkeypatch.setenv("TORSOR_LEVEL", "0")
    assert LLVM().level == 0 and LLVM(level=3).level == 3
    monkeypatch.delenv("TORSOR_LEVEL")
    assert LLVM().level == 2
    monkeypatch.setenv("TORSOR_LEVEL", "fast")
    with pytest.raises(OptionError, match="TORSOR_LEVEL must be one of 0, 1, 2, 3, got 'fast'"):
        LLVM()


SCATTERED = """
import ctypes, mmap
import torsor as ts

system, many, UNBACKED = ctypes.CDLL(None), 2**33, 0x4000
system.mmap.restype = ctypes.c_void_p
system.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
system.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
mapped = lambda size: system.mmap(None, size, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | UNBACKED, -1, 0)
holes = [(mapped(pages * mmap.PAGESIZE), pages * mmap.PAGESIZE, mapped(many)) for pages in (1, 2, 4, 8, 16, 32)]
for place, size, _ in holes:
    system.munmap(place, size)
ts.simulate(ts.cases.load("pendulum"), 0.1, outputs=1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="maps memory as Linux does")
def test_code_and_its_numbers_lie_together_where_memory_is_scattered():
    """Small gaps beside large maps, as in a worker that shares gigabytes with others: parts of one object stay together."""
    done = subprocess.run([sys.executable, "-c", SCATTERED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
