"""A kernel for many rows of numbers: one small loop in native code, whatever the kernel is.

    for each row i:   kernel(in₀ + i s₀, …, out₀ + i r₀, …, work)

An input that is the same for all rows has the stride 0. The loop knows how many pointers a kernel takes, and nothing else of it.
"""

import ctypes
from functools import cache
from itertools import count

import numpy as np

from ..errors import OptionError

PORTION = 20_000_000  # operations between two looks at Ctrl-C: some hundredths of a second

_numbers = count()


def over(kernel, arrays):
    """Outputs of a kernel, a row for each row of its inputs: each a single row for all, or as many rows as the others."""
    if len(arrays) != kernel.n_in:
        raise OptionError(f"kernel {kernel.name!r} takes {kernel.n_in} arrays, not {len(arrays)}.")
    inputs = [_input_rows(kernel, i, x) for i, x in enumerate(arrays)]
    lengths = {len(x) for x in inputs if x.ndim == 2}
    if len(lengths) > 1:
        raise OptionError(f"kernel {kernel.name!r}: inputs have {' and '.join(map(str, sorted(lengths)))} rows")
    n = lengths.pop() if lengths else 1
    outputs = tuple(np.empty((n, kernel.size_out(i))) for i in range(kernel.n_out))
    work, loop = kernel.work(), _loop(kernel.n_in + kernel.n_out)
    alive = [*inputs, *outputs]
    strides = np.array([x.strides[0] if x.ndim == 2 else 0 for x in alive], np.int64)
    bases = np.array([x.ctypes.data for x in alive], np.int64)
    portion = max(PORTION // max(kernel.instructions, 1), 1)
    for first in range(0, n, portion):
        at = bases + first * strides
        rows = min(portion, n - first)
        loop(kernel.address, rows, at.ctypes.data, strides.ctypes.data, work.ctypes.data)
    return outputs


def _input_rows(kernel, i, array):
    """An input as the loop reads it: one row, or contiguous rows."""
    array = np.ascontiguousarray(array)
    if array.dtype != np.float64 or array.ndim not in (1, 2) or array.shape[-1] != kernel.size_in(i):
        raise OptionError(
            f"kernel {kernel.name!r}, input {i} ({kernel.names_in[i]}): rows of {kernel.size_in(i)} float64 values are needed, "
            f"not {array.dtype} of shape {array.shape}."
        )
    return array


@cache
def _loop(pointers):
    """The loop for kernels of so many inputs and outputs."""
    import llvmlite.binding as llvm

    from . import worker
    from .backends.llvm import _engine

    image = worker.compile_one(_text(pointers), 2)
    library = llvm.JITLibraryBuilder().add_current_process().add_object_img(image).export_symbol("over")
    owner = library.link(_engine(), f"rows{next(_numbers)}")
    kinds = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    loop = ctypes.CFUNCTYPE(None, *kinds)(owner["over"])
    loop.owner = owner  # type: ignore[attr-defined]  # the code lives as long as this does
    return loop


def _text(pointers):
    """The loop in LLVM's language."""
    places = "".join(
        f"  %b{k} = getelementptr i64, ptr %bases, i64 {k}\n  %a{k} = load i64, ptr %b{k}\n"
        f"  %t{k} = getelementptr i64, ptr %strides, i64 {k}\n  %s{k} = load i64, ptr %t{k}\n"
        for k in range(pointers)
    )
    moved = "".join(
        f"  %m{k} = mul i64 %i, %s{k}\n  %n{k} = add i64 %a{k}, %m{k}\n  %p{k} = inttoptr i64 %n{k} to ptr\n"
        for k in range(pointers)
    )
    given = ", ".join([*[f"ptr %p{k}" for k in range(pointers)], "ptr %work"])
    return (
        "define void @over(ptr %kernel, i64 %count, ptr %bases, ptr %strides, ptr %work) {\n"
        f"begin:\n{places}  br label %look\n"
        "look:\n  %i = phi i64 [0, %begin], [%next, %row]\n  %more = icmp slt i64 %i, %count\n"
        "  br i1 %more, label %row, label %end\n"
        f"row:\n{moved}  call void %kernel({given})\n  %next = add i64 %i, 1\n  br label %look\n"
        "end:\n  ret void\n}\n"
    )
