"""Kernels for several runs side by side: every number of the graph becomes a vector with a lane for each run.

The text of a kernel is that of one run (`emit`), with vectors in the place of numbers: an array holds the lanes of its first
number, then those of its second, and so on. Functions of the C library are called lane by lane; all else is one operation for all
lanes, which gives each lane the bits that it has alone.
"""

import re
from dataclasses import dataclass, replace

from . import worker
from .backends.base import Size
from .backends.llvm import LLVM, module
from .emit import Emitted, Table, emit

NUMBER = re.compile(r"(?<![\w.%])(?:0x[0-9a-fA-F]{16}|-?\d+\.\d+)(?![\w.])")
CALL = re.compile(r"(%\w+) = call double @([\w.]+)\((.*)\)")


@dataclass(frozen=True)
class Lanes(LLVM):
    """Code for the CPU of this machine, with so many lanes."""

    schedules = False
    searches = False
    lanes: int = 4

    def compile(self, functions, seldom=()):
        """Object code of all functions, and the size of each."""
        table = Table(self.contract)
        emitted = [self.to_lanes(emit(f, f"k{i}", table, self.part)) for i, f in enumerate(functions)]
        symbols = set().union(*(e.symbols for e in emitted))
        definitions = [d for e in emitted for d in e.definitions]
        return worker.compile_all([[(self._declare(module(definitions, symbols)), self.level)]]), [
            Size(self.lanes * e.work, e.instructions) for e in emitted
        ]

    def to_lanes(self, emitted: Emitted):
        """A kernel with vectors in the place of numbers."""
        texts = [replace(d, text=self.text(d.text)) for d in emitted.definitions]
        symbols = {(self._wide(name), arity) for name, arity in emitted.symbols}
        return Emitted(texts, symbols, emitted.work, emitted.instructions)

    def text(self, scalar):
        return "\n".join(self._line(line) for line in scalar.split("\n"))

    def _line(self, line):
        if line.startswith(("define", "declare", "call void")):
            return line
        if (found := CALL.fullmatch(line)) and self._wide(found[2]) == found[2]:
            return self._call(*found.groups())
        vector = f"<{self.lanes} x double>"
        line = re.sub(r"\bi1\b", f"<{self.lanes} x i1>", line.replace("double", vector))
        line = re.sub(r"@(llvm\.\w+)\.f64", rf"@\1.v{self.lanes}f64", line)
        line = NUMBER.sub(lambda number: f"<{', '.join([f'double {number[0]}'] * self.lanes)}>", line)
        return re.sub(r"((?:load|store) .*ptr %\w+)$", r"\1, align 8", line)

    def _call(self, result, callee, given):
        """A function of the C library, lane by lane."""
        vector, before, name = f"<{self.lanes} x double>", "poison", result[1:]
        arguments = [x.split(" ", 1)[1] for x in given.split(", ")]
        lines = []
        for k in range(self.lanes):
            own = []
            for m, x in enumerate(arguments):
                if NUMBER.fullmatch(x):
                    own.append(f"double {x}")
                    continue
                lines.append(f"%x{name}_{m}_{k} = extractelement {vector} {x}, i64 {k}")
                own.append(f"double %x{name}_{m}_{k}")
            after = result if k == self.lanes - 1 else f"%v{name}_{k}"
            lines.append(f"%y{name}_{k} = call double @{callee}({', '.join(own)})")
            lines.append(f"{after} = insertelement {vector} {before}, double %y{name}_{k}, i64 {k}")
            before = after
        return "\n".join(lines)

    def _wide(self, name):
        """An operation that LLVM knows itself, for vectors."""
        return re.sub(r"^(llvm\.\w+)\.f64$", rf"\1.v{self.lanes}f64", name)

    def _declare(self, text):
        """Operations on vectors are declared with them."""
        vector = f"<{self.lanes} x double>"
        wide = lambda line: line.replace("double", vector) if f".v{self.lanes}f64" in line else line
        return "\n".join(wide(line) if line.startswith("declare") else line for line in text.split("\n"))
