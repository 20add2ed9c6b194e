"""Events of a model in C: the places of the records of its run (for `equations.h`), and the loops that work on them (`loops.h`)."""

from ..kernels.emit_c import number
from ..kernels.loops_in_c.loop_to_c import c_loops
from ..kernels.signatures import SIGNATURES
from .event_run import EventRun

PLACES = {  # names in C of fields of the records
    "TIME": "state.time", "AT": "state.at", "FRESH": "state.fresh", "RATED": "state.rated", "XS": "state.xs", "P": "state.p",
    "PAST": "past.kept", "END": "out.end", "LOGGED": "log.count", "STRUCTURE": "events.structure", "PENDING": "events.pending",
    "PASSES": "events.passes", "BEGINNING": "events.beginning", "INDICATORS": "step.phi",
}  # fmt: skip


def event_constants(events: EventRun) -> dict:
    """Constants of the events by name."""
    memory = events.memory
    places = {f"RUN_{name}": memory.fields.get(path, 0) for name, path in PLACES.items()}
    return {
        "WORDS": len(memory.words), "CLOCKS": len(events.clocks), "FRICTIONS": events.frictions, **places,
    }  # fmt: skip


def loops_header(events: EventRun) -> str:
    """The start of the records, the loops, and the functions that they call by address."""
    memory = events.memory
    filled = [(k, word) for k, word in enumerate(memory.words) if word != 0]
    tables = [
        _table("int32_t START_PLACES", [k for k, _ in filled]),
        _table("uint64_t START_WORDS", [f"UINT64_C({word % 2**64})" for _, word in filled]),
        f"static const int32_t ADDRESSES[{len(memory.addresses)}][2] = {{"
        + ", ".join(f"{{{at}, {target}}}" for at, target in memory.addresses)
        + "};",
        _table("int32_t CODE_PLACES", [at for at, _ in memory.code]),
        f"static const double CLOCK[{max(len(events.clocks), 1)}][4] = {{"
        + ", ".join(f"{{{', '.join(number(float(x)) for x in clock)}}}" for clock in events.clocks or [(0.0,) * 4])
        + "};",
    ]
    calls = [name for _, name in memory.code if name.startswith("call_")]
    code = ", ".join(f"(void (*)(void)){name}" for _, name in memory.code)
    return "\n".join([
        "/* Records of the run of one model, and the loops of torsor that work on them, written by torsor. */",
        *tables, "", *[_call(name) for name in calls], c_loops(events.entries),
        f"static void (*const CODE[{len(memory.code)}])(void) = {{{code}}};", "",
    ])  # fmt: skip


def _table(name, values):
    return f"static const {name}[{len(values)}] = {{{', '.join(map(str, values))}}};"


def _call(name):
    """A kernel as the loops call it: addresses of all vectors, and of working memory that C code does not need."""
    kernel = name.removeprefix("call_")
    signature = SIGNATURES[kernel.partition("_")[2]]
    given = [f"a{k}" for k in range(len(signature.takes) + len(signature.gives))]
    takes = len(signature.takes)
    casts = [
        f"(const double *)(const void *){x}" if k < takes else f"(double *)(void *){x}" for k, x in enumerate(given)
    ]
    head = f"static void {name}({', '.join(f'char *{x}' for x in [*given, 'work'])})"
    return f"{head}\n{{\n  (void)work;\n  kernel_{kernel}({', '.join(casts)});\n}}\n"
