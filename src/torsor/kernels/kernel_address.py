"""Kernels called from Numba.

    from torsor.kernels.kernel_address import call

    @njit(cache=True)
    def step(address, x, out, work):
        call(address, (x, out, work))

`call` is code that Numba copies into its caller, and Numba does not look here to see whether a cached caller is out
of date. A change of what `call` does therefore needs a new name, so that no cached loop is taken for a current one.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic


@intrinsic
def call(typingctx, address, arrays):
    """Call the kernel at an address with the data of a tuple of C-contiguous float64 arrays: inputs, outputs, work."""
    if not isinstance(address, types.Integer):
        raise TypingError(f"call: the address must be an integer, not {address}")
    if not isinstance(arrays, types.BaseTuple):
        raise TypingError(f"call: the arrays must be a tuple, not {arrays}")
    for array in arrays:
        if not (isinstance(array, types.Array) and array.dtype == types.float64 and array.layout == "C"):
            raise TypingError(f"call: C-contiguous float64 arrays are needed, not {array}")

    def code(context, builder, signature, values):
        location, items = values
        structures = cgutils.unpack_tuple(builder, items, len(arrays))
        pointers = [
            context.make_array(kind)(context, builder, structure).data for kind, structure in zip(arrays, structures)
        ]
        function = ir.FunctionType(ir.VoidType(), [p.type for p in pointers])
        wide = context.cast(builder, location, address, types.intp)
        builder.call(builder.inttoptr(wide, function.as_pointer()), pointers)
        return context.get_dummy_value()

    return types.void(address, arrays), code
