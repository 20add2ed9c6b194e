"""Arrays in memory that compiled code finds by an address. Only the process that compiles loops imports this (`loop_builder`)."""

from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

LONG = 2**40  # length that such an array pretends to have: its bounds are not known


def _array_at(kind):
    """A compiled function that makes an array without bounds out of the address of its first number."""

    @intrinsic
    def at(context, address):
        def code(context, builder, signature, arguments):
            data = context.get_data_type(signature.return_type.dtype)
            array = context.make_array(signature.return_type)(context, builder)
            size = context.get_constant(types.intp, context.get_abi_sizeof(data))
            first = builder.inttoptr(arguments[0], data.as_pointer())
            populate_array(array, first, [context.get_constant(types.intp, LONG)], [size], size, None)
            return array._getvalue()

        return types.Array(kind, 1, "C")(types.int64), code

    return at


numbers_at, whole_numbers_at, short_integers_at = (
    _array_at(kind) for kind in (types.float64, types.int64, types.int32)
)
