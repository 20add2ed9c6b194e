"""The type of the numbers in emitted code: one double, or a vector of doubles with a lane for each of several runs.

With several lanes an array holds the lanes of its first number, then those of its second, and so on. Functions of the C library
are called lane by lane; everything else is one operation for all lanes, which gives each lane the bits that it has alone.
"""

from dataclasses import dataclass
from functools import cached_property
from struct import pack


@dataclass(frozen=True)
class NumberType:
    """What `emit` writes for a type of numbers.

    lanes   numbers of one value
    """

    lanes: int = 1

    def _vector(self, kind):
        return kind if self.lanes == 1 else f"<{self.lanes} x {kind}>"

    @cached_property
    def name(self):
        """The type of a number."""
        return self._vector("double")

    @cached_property
    def condition(self):
        """The type of the result of a comparison."""
        return self._vector("i1")

    @cached_property
    def alignment(self):
        """The end of a load or store: arrays are aligned as one double is."""
        return "" if self.lanes == 1 else ", align 8"

    def constant(self, value):
        """A constant, in all lanes, as LLVM reads it without rounding."""
        text = "0x" + pack(">d", value).hex()
        return text if self.lanes == 1 else f"<{', '.join([f'double {text}'] * self.lanes)}>"

    def operation(self, callee):
        """The name of an operation that LLVM knows itself, for numbers of this type."""
        return callee if self.lanes == 1 else callee.replace(".f64", f".v{self.lanes}f64")

    def type_of(self, callee):
        """The type of the arguments and of the result of a function."""
        return self.name if self.lanes > 1 and callee.endswith(f".v{self.lanes}f64") else "double"

    def call(self, n, callee, arguments):
        """Lines that call a function and give its result the number n."""
        if self.lanes == 1 or self.type_of(callee) == self.name:
            return f"%{n} = call {self.name} @{callee}({', '.join(f'{self.name} {x}' for x in arguments)})\n"
        lines, before = [], "poison"
        for k in range(self.lanes):
            own = [f"%x{n}_{m}_{k}" for m in range(len(arguments))]
            for x, lane in zip(arguments, own):
                lines.append(f"{lane} = extractelement {self.name} {x}, i64 {k}\n")
            after = f"%{n}" if k == self.lanes - 1 else f"%v{n}_{k}"
            lines.append(f"%y{n}_{k} = call double @{callee}({', '.join(f'double {x}' for x in own)})\n")
            lines.append(f"{after} = insertelement {self.name} {before}, double %y{n}_{k}, i64 {k}\n")
            before = after
        return "".join(lines)

    def load(self, result, address, pointer, offset):
        """Lines that load the number at an offset."""
        at = f"{address} = getelementptr {self.name}, ptr {pointer}, i64 {offset}\n"
        return f"{at}{result} = load {self.name}, ptr {address}{self.alignment}\n"

    def store(self, value, address, pointer, offset):
        """Lines that store a number at an offset."""
        at = f"{address} = getelementptr {self.name}, ptr {pointer}, i64 {offset}\n"
        return f"{at}store {self.name} {value}, ptr {address}{self.alignment}\n"


DOUBLE = NumberType()
