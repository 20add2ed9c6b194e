"""Types and constants of LLVM in C, for `loop_to_c.py`."""

import re
import struct

from ..emit_c import number
from .llvm_text import Unsupported, split

SIZES = {"i1": 1, "i8": 1, "i32": 4, "i64": 8, "double": 8, "ptr": 8}
FUNCTIONS = {
    "llvm.fabs.f64": "fabs", "llvm.sqrt.f64": "sqrt", "llvm.pow.f64": "pow", "llvm.ceil.f64": "ceil", "llvm.floor.f64": "floor",
    "llvm.smax.i64": "largest", "llvm.smin.i64": "smallest", "llvm.umax.i64": "largest_unsigned",
    "llvm.umin.i64": "smallest_unsigned", "llvm.uadd.with.overflow.i64": "add_with_overflow", "llvm.is.fpclass.f64": "in_class",
    "llvm.copysign.f64": "copysign", "llvm.exp.f64": "exp", "llvm.log.f64": "log", "llvm.sin.f64": "sin", "llvm.cos.f64": "cos",
}  # fmt: skip
LIBM = set("sqrt hypot pow exp log log10 sin cos tan asin acos atan atan2 sinh cosh tanh cbrt fmod ceil floor".split())
ACCESSED = {"i1": "i8", "{ i64, i8 }": "sum", "{ i64, double }": "share"}
PRELUDE = """\
#include <stdint.h>

typedef struct { uint64_t f0; uint8_t f1; } Sum;
typedef struct { uint64_t f0; double f1; } Share;
typedef char AddressesHave64Bits[sizeof(char *) == 8 ? 1 : -1];
#define ACCESS(TYPE, NAME)                              \\
  static inline TYPE load_##NAME(const char *place)            \\
  {                                                     \\
    TYPE value;                                         \\
    memcpy(&value, place, sizeof value);                \\
    return value;                                       \\
  }                                                     \\
  static inline void store_##NAME(char *place, TYPE value)     \\
  {                                                     \\
    memcpy(place, &value, sizeof value);                \\
  }
ACCESS(uint8_t, i8)
ACCESS(uint32_t, i32)
ACCESS(uint64_t, i64)
ACCESS(double, double)
ACCESS(char *, ptr)
ACCESS(Sum, sum)
ACCESS(Share, share)
static inline uint64_t largest(int64_t a, int64_t b)
{
  return (uint64_t)(a > b ? a : b);
}
static inline uint64_t smallest(int64_t a, int64_t b)
{
  return (uint64_t)(a < b ? a : b);
}
static inline uint64_t largest_unsigned(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}
static inline uint64_t smallest_unsigned(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}
static inline Sum add_with_overflow(uint64_t a, uint64_t b)
{
  Sum s;
  s.f0 = a + b;
  s.f1 = s.f0 < a;
  return s;
}
static inline int in_class(double x, unsigned mask)
{
  const int kind = fpclassify(x), minus = signbit(x) != 0;
  const unsigned bits = kind == FP_NAN ? 3U
                        : kind == FP_INFINITE ? (minus ? 4U : 512U)
                        : kind == FP_NORMAL ? (minus ? 8U : 256U)
                        : kind == FP_SUBNORMAL ? (minus ? 16U : 128U)
                                               : (minus ? 32U : 64U);
  return (bits & mask) != 0;
}
"""


def lanes(kind):
    """Number and type of the numbers in a vector; None for other types."""
    found = re.fullmatch(r"<(\d+) x (\w+)>", kind)
    return (int(found[1]), found[2]) if found else None


def access_name(kind):
    """What the functions that read and write a type are called."""
    return C_TYPES[kind] if lanes(kind) else ACCESSED.get(kind, kind)


def vector(kind, values):
    """A vector in C."""
    return f"({C_TYPES[kind]}){{{{{', '.join(values)}}}}}"


class _Types(dict):
    """Types in C by those of LLVM. Whole numbers of other widths have the next wider type, and are cut off to their bits."""

    def __missing__(self, kind):
        if vector := lanes(kind):
            return f"Vector{vector[0]}_{vector[1]}"
        if not re.fullmatch(r"i\d+", kind) or int(kind[1:]) > 64:
            raise Unsupported(f"a compiled loop cannot be written in C: the type {kind}")
        return next(f"uint{width}_t" for width in (8, 16, 32, 64) if int(kind[1:]) <= width)


C_TYPES = _Types({
    "i1": "uint8_t", "i8": "uint8_t", "i16": "uint16_t", "i32": "uint32_t", "i64": "uint64_t", "double": "double", "ptr": "char *",
    "void": "void", "{ i64, i1 }": "Sum", "{ i64, i8 }": "Sum", "{ i64, double }": "Share",
})  # fmt: skip


def vector_types(code):
    """Definitions of the vector types in C code, and access to them in memory."""
    for name, count, lane in sorted(set(re.findall(r"\b(Vector(\d+)_(\w+))\b", code))):
        yield f"typedef struct {{ {C_TYPES[lane]} v[{count}]; }} {name};"
        if f"_{name}(" in code:
            yield f"ACCESS({name}, {name})"


def cut(text, kind):
    """A whole number cut off to the bits of its type."""
    width = int(kind[1:])
    if width in (8, 16, 32, 64):
        return f"({C_TYPES[kind]}){text}"
    return f"({C_TYPES[kind]})({text} & {hex(2**width - 1)}{'U' if width <= 32 else 'ULL'})"


def size_of(kind):
    found = re.fullmatch(r"\[(\d+) x (\w+)\]", kind)
    if found:
        return int(found[1]) * SIZES[found[2]]
    if kind.startswith("{"):
        return 8 * len(split(kind.strip("{} ")))
    return SIZES[kind]


def double(text):
    """A number as LLVM prints it, for C."""
    if text.startswith("0x"):
        return number(struct.unpack(">d", bytes.fromhex(text[2:].zfill(16)))[0])
    return number(float(text))
