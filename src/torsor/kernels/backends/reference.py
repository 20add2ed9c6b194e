"""CasADi's own evaluation behind the interface of native code: slow, and the truth that other backends are held to."""

import ctypes
from dataclasses import dataclass

from ...registry import register
from .base import Backend, Size


@register("reference")
@dataclass(frozen=True)
class Reference(Backend):
    """Kernels that call CasADi's virtual machine."""

    def compile(self, functions, seldom=()):
        """The functions as CasADi stores them; work is not used."""
        from ...model.expressions import text  # late, as CasADi is

        return [text(f).encode() for f in functions], [Size(0, _operations(f)) for f in functions]

    def link(self, images, count):
        """Addresses of callbacks, one for each function."""
        from ...model.expressions import function

        callbacks = [_callback(function(image.decode())) for image in images[:count]]
        return [ctypes.cast(c, ctypes.c_void_p).value for c in callbacks], callbacks

    def target(self):
        """Any machine that runs CasADi."""
        return "any"


def _operations(f):
    """Number of arithmetic operations."""
    import casadi

    others = {casadi.OP_INPUT, casadi.OP_OUTPUT, casadi.OP_CONST}
    return sum(f.instruction_id(k) not in others for k in range(f.n_instructions()))


def _callback(f):
    """A C function pointer that evaluates `f` on the arrays it is given."""
    inputs, outputs = [f.nnz_in(i) for i in range(f.n_in())], [f.nnz_out(i) for i in range(f.n_out())]
    buffer, evaluate = f.buffer()

    def call(*pointers):
        views = [
            memoryview((ctypes.c_double * size).from_address(p)).cast("B").cast("d") if size else None
            for size, p in zip(inputs + outputs, pointers)
        ]
        for i, view in enumerate(views[: len(inputs)]):
            if view is not None:
                buffer.set_arg(i, view)
        for i, view in enumerate(views[len(inputs) :]):
            if view is not None:
                buffer.set_res(i, view)
        evaluate()

    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(inputs) + len(outputs) + 1))(call)
