"""How long graphs take to compile and how fast they run, for one operation of the graph.

    python bench/compile.py [--level 0..3] [--part LINES] [--exact]

Graphs: the solution of banded positive definite systems by a factorisation written out, and products of rotations.
"""

import argparse
import os
import tempfile
from time import perf_counter

import casadi as ca
import numpy as np
from numba import njit

from torsor.kernels import build, cache, load
from torsor.kernels.backends.llvm import LLVM
from torsor.kernels.emit import Table, emit
from torsor.kernels.kernel_address import call


def factorisation(n, band):
    """x of A x = b for a banded matrix A of n rows and three right-hand sides."""
    P = ca.SX.sym("A", ca.Sparsity.banded(n, band))
    D, L, p = ca.ldl(ca.triu2symm(ca.triu(P)))
    b = ca.SX.sym("b", n, 3)
    f = ca.Function("factorisation", [P, b], [ca.ldl_solve(b, D, L, p)], {"cse": True})
    rows, columns = map(np.array, f.sparsity_in(0).get_triplet())
    random = np.random.default_rng(0)
    return f, [random.normal(size=rows.size) + 4 * band * (rows == columns), random.normal(size=3 * n)]


def rotations(n):
    """Inertias carried from body to body along a chain of n rotations about alternating axes."""
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    M, out = ca.DM(np.diag([1.0, 2, 3, 4, 4, 4])), []
    for i in range(n):
        c, s = ca.cos(q[i]), ca.sin(q[i])
        R = ca.SX.eye(3)
        R[i % 2 : i % 2 + 2, i % 2 : i % 2 + 2] = ca.blockcat([[c, -s], [s, c]])
        X = ca.blockcat([[R, ca.SX(3, 3)], [ca.skew([0.1, 0.2, 0.3]) @ R, R]])
        column = M[:, i % 3]
        out.append(v[i] / column[i % 3])
        M = X.T @ (M - column @ column.T / column[i % 3]) @ X + np.diag([1.0, 2, 3, 4, 4, 4])
    return ca.Function("rotations", [q, v], [ca.vertcat(*out)], {"cse": True}), [np.linspace(0.1, 1, n), np.ones(n)]


@njit
def repeat(address, x, y, out, work, times):
    for _ in range(times):
        call(address, (x, y, out, work))


def run_time(kernel, x, y):
    """Seconds of one call, the best of several rounds of about 20 ms."""
    arrays = kernel.address, x, y, np.empty(kernel.size_out(0)), kernel.work()
    best, times = np.inf, 1
    for _ in range(12):
        start = perf_counter()
        repeat(*arrays, times)
        spent = (perf_counter() - start) / times
        best, times = min(best, spent), max(1, int(0.02 / spent))
    return best


def measure(f, arrays, backend):
    cache.clear()
    start = perf_counter()
    emitted = emit(f, "k0", Table(backend.contract), backend.part)
    printed = perf_counter()
    kernel = build({"f": f}, backend=backend, key="bench")["f"]
    built = perf_counter()
    load("bench", backend=backend)
    loaded = perf_counter()
    seconds, n = run_time(kernel, *arrays), emitted.instructions
    print(
        f"{f.name():14} {n:10,d} {1e6 * (printed - start) / n:12.2f} {1e6 * (built - printed) / n:13.1f} "
        f"{built - printed:9.2f} {1e3 * (loaded - built):10.2f} {1e9 * seconds / n:12.3f} {1e6 * seconds:11.1f}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--level", type=int, default=LLVM.level)
    parser.add_argument("--part", type=int, default=LLVM.part)
    parser.add_argument("--exact", action="store_true", help="no fused products: the bits of CasADi's evaluation")
    chosen = parser.parse_args()
    backend = LLVM(contract=not chosen.exact, level=chosen.level, part=chosen.part)
    print("graph          operations  emit [µs/op]  build [µs/op] build [s]  load [ms]  run [ns/op]    run [µs]")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORSOR_CACHE"] = folder
        build({"warm": rotations(2)[0]}, backend=backend)
        for f, arrays in (
            rotations(7),
            rotations(30),
            rotations(100),
            factorisation(30, 29),
            factorisation(100, 8),
            factorisation(100, 16),
            factorisation(150, 20),
        ):
            measure(f, arrays, backend)


if __name__ == "__main__":
    main()
