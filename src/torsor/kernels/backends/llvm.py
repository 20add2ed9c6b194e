"""Native code by LLVM, without a C compiler.

The IR comes from `emit`. CasADi has already removed common subexpressions and the code is straight, so no optimisation
passes run on it: code generation alone gives the same speed. Graphs of more than some thousand operations are
compiled by several processes at once, because llvmlite holds a lock while it works.
"""

import ctypes
import ctypes.util
import os
import sys
from dataclasses import dataclass, field
from functools import cache
from itertools import count

from ...errors import OptionError
from ...registry import register
from .. import erfinv, table_lookup, worker
from ..emit import LIBM, Emitted, Table, emit
from ..emit_schedule import emit_schedule
from ..number_type import DOUBLE, NumberType
from .base import Backend, Size

# Parts are separate functions. Scheduling for the CPU's exact pipeline takes longer and does not run faster.
ATTRIBUTES = 'attributes #0 = { noinline nounwind "tune-cpu"="generic" }\n'


LEVEL = "TORSOR_LEVEL"  # the variable that sets the effort of code generation
LEVELS = ("0", "1", "2", "3")


def usual_level():
    """How much effort code generation takes where nobody asks for more or less."""
    given = os.environ.get(LEVEL, "2")
    if given not in LEVELS:
        raise OptionError(f"the environment variable {LEVEL} must be one of {', '.join(LEVELS)}, got {given!r}")
    return int(given)


@register("llvm")
@dataclass(frozen=True)
class LLVM(Backend):
    """Code for the CPU of this machine.

    contract   sums may be fused with products: faster, and more accurate, but not the bits of CasADi's own evaluation
    level      effort of code generation, 0 to 3: 2, or what the user's environment says; 0 for what is called seldom: five times
               as fast to compile, a third slower
    part       lines of IR in one function; longer graphs are cut
    share      operations for which one more process is worth starting
    portion    characters of IR that are compiled in one go, without listening to Ctrl-C: about a tenth of a second
    lanes      runs that a kernel evaluates together: every number of its arrays is a vector with a lane for each (`NumberType`)
    """

    contract: bool = True
    level: int = field(default_factory=lambda: usual_level())
    part: int = 1500
    share: int = 8_000
    portion: int = 150_000
    lanes: int = 1

    @property
    def schedules(self):
        return self.lanes == 1

    @property
    def searches(self):
        return self.lanes == 1

    def compile(self, functions, seldom=()):
        """Object code of all functions, and the size of each."""
        kind = NumberType(self.lanes)
        table = Table(self.contract, kind)
        known: dict[str, Emitted] = {}
        emitted = [
            self._emit_schedule(f, f"k{i}", table, known) if f.is_a("Schedule") else emit(f, f"k{i}", table, self.part)
            for i, f in enumerate(functions)
        ]
        total = sum(_operations(e.instructions) for e in emitted)
        symbols = set().union(*(e.symbols for e in emitted))
        processes = min(worker.available(), 1 + total // self.share)
        groups: list[list] = [[] for _ in range(processes)]
        for level, chosen in ((self.level, set(range(len(emitted))) - {*seldom}), (0, seldom)):
            definitions = [d for i in sorted(chosen) for d in emitted[i].definitions]
            for group, share in zip(groups, share_out(definitions, processes)):
                group += [(module(few, symbols, kind), level) for few in portions(share, self.portion)]
        groups = [group for group in groups if group] or [[]]
        return worker.compile_all(groups), [Size(self.lanes * e.work, e.instructions) for e in emitted]

    def _emit_schedule(self, schedule, symbol, table, known):
        """A schedule, with those of its classes that no other one has brought along: `known` holds them by their text."""
        own: list[Emitted] = []
        classes: list[list[Emitted]] = []
        for one in schedule.passes:
            classes.append([])
            for f in one.classes:
                text = f.serialize()
                if text not in known:
                    known[text] = emit(f, f"c{len(known)}", table, self.part)
                    own.append(known[text])
                classes[-1].append(known[text])
        scratch = max((e.work for several in classes for e in several), default=0)
        names = [[e.definitions[0].name for e in several] for several in classes]
        driver = emit_schedule(schedule, symbol, names, scratch)
        definitions = [driver, *(d for e in own for d in e.definitions)]
        operations = [[e.instructions for e in several] for several in classes]
        return Emitted(definitions, set().union(*(e.symbols for e in own)), scratch, operations)

    def link(self, images, count):
        """Addresses of the kernels k0, k1, … in object code."""
        return self.link_schedules(images, count, {})[:2]

    def link_schedules(self, images, count, tables, looked_up=()):
        """The same, and the addresses of what is named after kernels that are schedules: see `emit_schedule`."""
        import llvmlite.binding as llvm

        library = llvm.JITLibraryBuilder().add_current_process()
        for image in images:
            library.add_object_img(image)
        for name, address in libm().items():
            library.import_symbol(name, address)
        for i, address in enumerate(looked_up):
            library.import_symbol(f"table_{i}", address)
        for i in range(count):
            library.export_symbol(f"k{i}")
        names = {i: [f"k{i}_{what}" for what in several] for i, several in tables.items()}
        for several in names.values():
            for name in several:
                library.export_symbol(name)
        owner = library.link(_engine(), f"torsor{next(_numbers)}")
        found = {i: [owner[name] for name in several] for i, several in names.items()}
        return [owner[f"k{i}"] for i in range(count)], owner, found

    def target(self):
        """Versions, CPU and its features."""
        import llvmlite

        return f"llvmlite {llvmlite.__version__} {' '.join(worker.host())}"


def _operations(size):
    """Operations of a kernel, or of all classes of a schedule."""
    return size if isinstance(size, int) else sum(map(_operations, size))


def share_out(definitions, processes):
    """Definitions in as many groups of about equal length."""
    groups: list[list] = [[] for _ in range(processes)]
    lengths = [0] * processes
    for definition in definitions:
        shortest = lengths.index(min(lengths))
        groups[shortest].append(definition)
        lengths[shortest] += len(definition.text)
    return groups


def portions(definitions, length):
    """Definitions in portions of about this many characters, in their order."""
    found: list[list] = []
    space = 0
    for definition in definitions:
        if space <= 0:
            found.append([])
            space = length
        found[-1].append(definition)
        space -= len(definition.text)
    return found


def module(definitions, symbols, kind=DOUBLE):
    """The IR text of one module: declarations of what it calls, then its functions; kind: `NumberType` of the kernels."""
    symbols = set(symbols)
    inverse = ("erfinv", 1) in symbols
    if inverse:
        symbols = (symbols | erfinv.SYMBOLS) - {("erfinv", 1)}
    tables = table_lookup.declarations(symbols)
    symbols = {s for s in symbols | (table_lookup.SYMBOLS if tables else set()) if not table_lookup.is_lookup(s[0])}
    parts = [
        f"declare {kind.type_of(name)} @{name}({', '.join([kind.type_of(name)] * arity)}) nounwind memory(none)\n"
        for name, arity in sorted(symbols)
    ]
    if inverse:
        parts.append(erfinv.definition())
    parts.append(tables)
    here = {d.name for d in definitions}
    called = {name: text for d in definitions for name, text in d.declarations.items()}
    parts += [text for name, text in called.items() if name not in here]
    parts += [d.text for d in definitions]
    parts.append(ATTRIBUTES)
    return "".join(parts)


@cache
def libm():
    """Addresses of the C library's functions, by name: those of this process, as CasADi uses them."""
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    if not hasattr(library, "erf"):
        library = ctypes.CDLL(ctypes.util.find_library("m"))
    return {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name, _ in LIBM.values()}


_numbers = count()


@cache
def _engine():
    """The linker and loader of this process. What belongs to one object is placed together: parts that lie further apart than
    code can reach, as in a process that has mapped much memory, would end it. On Windows that linker is not complete."""
    import llvmlite.binding as llvm

    worker.initialize()
    return llvm.create_lljit_compiler(worker.machine(2), use_jit_link=sys.platform != "win32")
