"""The compiled side of records: how Numba sees them. Only the process that compiles loops imports this (`loop_builder`)."""

from llvmlite import ir
from numba import from_dtype, njit, types
from numba.core import cgutils
from numba.core.datamodel import models, register_default
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, lower_setattr_generic
from numba.np.arrayobj import populate_array

from .kernel_address import call
from .records import COUNT, REAL, Array
from .signatures import SIGNATURES

OPTIONS = {"error_model": "numpy", "boundscheck": False, "_nrt": False}


def compiled(function):
    return njit(**OPTIONS)(function)


def inlined(function):
    return njit(**OPTIONS, forceinline=True)(function)


class Reference(types.Type):
    """A pointer to a record."""

    def __init__(self, record):
        self.record = record
        super().__init__(f"Reference({record.__module__}.{record.__qualname__})")

    def kind(self, field):
        kind = self.record.fields.get(field)
        if isinstance(kind, Array):
            return types.Array(from_dtype(kind.dtype), kind.dimensions, "C")
        return None if kind is None else {REAL: types.float64, COUNT: types.int64}.get(kind) or Reference(kind)


@register_default(Reference)
class ReferenceModel(models.OpaqueModel):
    pass


@infer_getattr
class ReferenceAttribute(AttributeTemplate):
    key = Reference

    def generic_resolve(self, reference, field):
        return reference.kind(field)


def _slot(context, builder, reference, pointer, slot, kind):
    """Where a number stands in a record."""
    place = builder.gep(pointer, [context.get_constant(types.intp, reference.record.offset(slot))])
    return builder.bitcast(place, context.get_value_type(kind).as_pointer())


@lower_getattr_generic(Reference)
def _get(context, builder, reference, pointer, field):
    kind = reference.kind(field)
    if not isinstance(kind, types.Array):
        return builder.load(_slot(context, builder, reference, pointer, field, kind))
    data = builder.load(_slot(context, builder, reference, pointer, field, types.voidptr))
    sizes = [
        builder.load(_slot(context, builder, reference, pointer, f"{field}.{k}", types.intp)) for k in range(kind.ndim)
    ]
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides = [context.get_constant(types.intp, size)]
    for count in reversed(sizes[1:]):
        strides.insert(0, builder.mul(strides[0], count))
    array = context.make_array(kind)(context, builder)
    data = builder.bitcast(data, context.get_data_type(kind.dtype).as_pointer())
    populate_array(array, data, sizes, strides, context.get_constant(types.intp, size), None)
    return array._getvalue()


@lower_setattr_generic(Reference)
def _set(context, builder, signature, arguments, field):
    reference, kind = signature.args
    pointer, value = arguments
    builder.store(value, _slot(context, builder, reference, pointer, field, kind))


def reference(record):
    """A compiled function that makes a reference out of the address of a record."""

    @intrinsic
    def at(context, address):
        def code(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return Reference(record)(types.int64), code

    return at


@intrinsic
def call_step(typing, address, run, k, t, h):
    """Call a step of a method by its address: (run, structure, time, length) → status."""

    def code(context, builder, signature, arguments):
        integer, real = ir.IntType(64), ir.DoubleType()
        result = cgutils.alloca_once(builder, integer)
        error = cgutils.alloca_once(builder, ir.IntType(8).as_pointer())
        types_ = [integer.as_pointer(), ir.IntType(8).as_pointer().as_pointer(), integer, integer, real, real]
        function = ir.FunctionType(ir.IntType(32), types_).as_pointer()
        builder.call(builder.inttoptr(arguments[0], function), [result, error, *arguments[1:]])
        return builder.load(result)

    kinds = (types.int64, types.int64, types.int64, types.float64, types.float64)
    return types.int64(*kinds), code


@intrinsic
def call_agreement(typing, address, numbers, count, what):
    """Call the function by which ranks agree on so many numbers: void agree(double* numbers, int64 count, int64 what)."""

    def code(context, builder, signature, arguments):
        data = context.make_array(numbers)(context, builder, arguments[1]).data
        function = ir.FunctionType(ir.VoidType(), [data.type, ir.IntType(64), ir.IntType(64)]).as_pointer()
        builder.call(builder.inttoptr(arguments[0], function), [data, *arguments[2:]])
        return context.get_dummy_value()

    return types.void(types.int64, numbers, types.int64, types.int64), code


def callers():
    """A compiled function for every kernel, by name: (kernels, scratch, its vectors in the order of its signature).

    Time and the work array are those of the scratch, so that a call reads as the equation does: `ask.factor(k, s, x, p, F)`.
    """
    found = {}
    for name, signature in SIGNATURES.items():
        names = [n for n in (*signature.takes, *signature.gives) if n != "t"]
        vectors = [*(["scratch.t"] if "t" in signature.takes else []), *names, "scratch.work"]
        text = f"def {name}(kernels, scratch, {', '.join(names)}):\n    call(kernels.{name}, ({', '.join(vectors)}))\n"
        space = {"call": call}
        exec(text, space)  # the same for every kernel: written once, here
        found[name] = inlined(space[name])
    return found
