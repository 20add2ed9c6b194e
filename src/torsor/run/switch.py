"""The data of a run with events, as flat arrays, and the small functions on them that all its parts share.

Everything discrete is in p. A structure is the set of its constraints that are engaged, read from some places of p; the
table holds the kernels of every structure that was met so far.
"""

from collections import namedtuple

from numba import njit, types
from numba.experimental import structref

from .compiled import INLINE, PLAIN
from .records import Kernels, Plan, Scratch, State, copy

# how an event that is due was found; 1 is also "due now"
FALLING, RISING, AT_START, FALLING_AGAIN, FLAT, RISING_AGAIN = 1, 2, 3, 4, 5, 6

END = 6  # row of the samples of a step that belongs to its end; the first belongs to its start
MIDDLE = 0.47  # place within a part of a step where it is seen whether functions are followed well
PHASE = 1.0  # what phases of watched functions may go through in a part of a step
FOLLOWED = (
    0.02  # of its size: if a watched function is further from the cubic through its samples, the part is too long
)
BENT = 0.2  # likewise from a line, where a function has no rate
ROUGH = 1e-6  # of the largest value that it had: what is smaller is not followed
FINEST = 1e-4  # of a step, or of what paces allow: shorter parts are taken as they are, since a function may jump there
MANY = 1000  # parts of a step, at most; a fixed step may have a hundred times as many
NEAR = 1e-12  # of the largest value that a watched function had: closer to zero it is neither positive nor negative
QUIET = 0.5  # change of a function in a step over its distance from zero, below which it is not looked at more closely
OFF = 1e-3  # of its size: what a function that is held at zero may be off it on the dense output
LEAVES = 1e-9  # rate of a function at zero over its largest rate, above which it leaves zero on that side
LEANS = 1e-6  # cosine of the angle between a watched function and a constraint, from which it tells the side of it
ROUNDING = 1e-15  # of the time: what a function changes in that is rounding too
REBOUND = 1e-11  # height of a rebound over the size of the model, below which the rest of the rebounds is summed up
APART = (
    1e-9  # impulse at one contact over what an impact at another asks for, below which they do not influence each other
)
PASSES = 16  # through an instant, before Python has its turn
FAR = 1e-6  # residual over the size of the model, above which a constraint is not engaged
CRAWL = 1e-8  # sliding speed over the largest speed, below which the direction of sliding is held within a step
STILL = 1e-9  # sliding speed over the largest speed, below which sliding in two directions that slows down is stopped
GIVES_WAY = 1e-9  # distance from its limit over the largest force, below which friction lets go together with another
ALIGNED = 1e-12  # to which the direction of what begins to slide is found
PUSHED = 1e-7  # acceleration over the largest, above which what is at its limit is pushed back
SLOW = 1e-7  # sliding speed over the largest speed, below which friction tries to stick

# What events do. events: [condition, strict, both directions, settles, answer to accumulation, place of the time of the
#   event in p, place of its count, its function has a rate, and is like 1 a position, 2 a velocity, 3 a reaction,
#   slot of the relative acceleration of the constraint that it strikes, half of another event]
#   during and ops: rows from start to start of the next event
#   during: [place in p], needed: their values; ops: [code, place in p, slot, further, row of the constraint]
#   bits: places in p that make the structure; onesided: [place in p, row] of constraints that only push
#   headings: [place of a direction in p, slot, number of components, event that stops it] to be followed while sliding
#   crawls: places of the speeds below which they are not; moving: 1 for places in p that are part of constraints
#   meets: place of every row among those of contacts and friction
Program = namedtuple(
    "Program", "events during_start during needed ops_start ops bits onesided headings crawls lands meets moving"
)

# Kernels per structure. keys: p at the bits; addresses: the loop's kernels, guards, slots, energies, impulse,
#   spin and along, meeting; sizes: [last of F, rows, watched choice, fused stages, contacts or friction depend on each
#   other]; rows: which rows of the model are in use
Table = namedtuple("Table", "keys addresses sizes rows numbers")

# What survives between calls. side: 1 positive, -1 negative, 0 undecided; due: 1 where an event is to fire now;
#   fired: 1 where it has fired at this instant; scale, speed: largest value and rate that its function has had
#   armed: 1 where something has slid fast enough to be stopped when it turns about zero
#   history: [time of the last firing, last interval, how often intervals shrank, how often they vanished]
#   marks: [structure, inside an instant, passes through it, outputs written, entries in the log, event that failed,
#   the very start]
#   values: [energy changed by events, a number for messages, length of the model, largest speed, settled at,
#   number of struck constraints, longest step that watched functions can be followed in, largest multiplier,
#   speed that what constraints hold would reach by itself: speeds are not rounded finer]
Events = namedtuple("Events", "side due fired enabled disabled armed history phi scale speed marks values wanted")

# What is reported: time, event, change of energy, impulses on all rows, values of all slots before the event
Log = namedtuple("Log", "time event energy impulse slots")

# Scratch: the state before a step (0), its end (1), a state within it (s), one row of outputs (o), trial states of an instant;
#   phi and samples: values, then rates, then paces; target: [where a step ends, its length]
Trial = namedtuple(
    "Trial",
    "q0 v0 p0 values0 counts0 scale0 a0 v1 a1 u1 w1 qs vs us target oq ov op ow phi samples sides bracket"
    " slots later q v p other vother r r0 r1 unit impulse impulses dv energies struck sliding matrix ways"
    " group own rubbed rubbing creating tries A B before after after1 lam lam1 bounce grip want",
)


def _reference(name, fields):
    """A kind of object inside compiled code that is handed on as one pointer, with these fields.

    Tuples of a hundred arrays are handed on field by field; functions that take them compile ten times longer.
    """
    kind = structref.register(type(name, (types.StructRef,), {"__module__": __name__}))
    maker = type(name, (structref.StructRefProxy,), {"__module__": __name__})
    structref.define_constructor(maker, kind, list(fields))
    structref.define_attributes(kind)
    return maker


ProgramReference = _reference("ProgramReference", Program._fields)
TableReference = _reference("TableReference", Table._fields)
EventsReference = _reference("EventsReference", Events._fields)
LogReference = _reference("LogReference", Log._fields)
TrialReference = _reference("TrialReference", Trial._fields)
ScratchReference = _reference("ScratchReference", Scratch._fields)
PlanReference = _reference("PlanReference", Plan._fields)
StateReference = _reference("StateReference", State._fields)


@njit(**INLINE)
def kernels_of(table, i):
    """The loop's kernels of a structure."""
    x = table.addresses[i]
    return Kernels(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[15], x[16])


@njit(**PLAIN)
def structure_of(program, table, events, p):
    """The structure that p describes; -1 where its kernels are wanted."""
    for i in range(table.keys.shape[0]):
        same = True
        for k in range(program.bits.size):
            if table.keys[i, k] != p[program.bits[k]]:
                same = False
                break
        if same:
            return i
    for k in range(program.bits.size):
        events.wanted[k] = p[program.bits[k]]
    return -1


@njit(**INLINE)
def use(table, plan, i):
    """Sizes of a structure, where the loop finds them."""
    plan.choices[6] = table.sizes[i, 0]
    plan.choices[7] = table.sizes[i, 1]
    plan.choices[1] = plan.choices[8] if table.sizes[i, 1] > 0 else 0
    plan.choices[5] = table.sizes[i, 2]
    plan.choices[4] = table.sizes[i, 3]
    plan.numbers[7] = table.numbers[i, 0]
    plan.numbers[8] = table.numbers[i, 1]


@njit(**INLINE)
def enabled(program, events, i, p):
    """Whether an event is looked at."""
    if events.disabled[i] == 1:
        return False
    for k in range(program.during_start[i], program.during_start[i + 1]):
        if p[program.during[k]] != program.needed[k]:
            return False
    return True


@njit(**INLINE)
def near(events, m, t, rate):
    """How close to zero the function of an event is neither positive nor negative; a rate may not exist."""
    return NEAR * events.scale[m] + (ROUNDING * abs(t * rate) if abs(rate) < 1e300 else 0.0)


@njit(**INLINE)
def measure(events, m, x, rate):
    """Take note of how large the function of an event is, and its rate."""
    if abs(x) < 1e300:
        events.scale[m] = max(events.scale[m], abs(x))
    if abs(rate) < 1e300:
        events.speed[m] = max(events.speed[m], abs(rate))


@njit(**PLAIN)
def keep(s, state, trial):
    """Take note of the state before a step."""
    copy(state.q, trial.q0)
    copy(state.v, trial.v0)
    copy(state.p, trial.p0)
    copy(state.values, trial.values0)
    for m in range(state.counts.size):
        trial.counts0[m] = state.counts[m]
    copy(s.scale, trial.scale0)


@njit(**PLAIN)
def restore(s, state, trial):
    """Back to the state before the step; what it cost stays counted."""
    copy(trial.q0, state.q)
    copy(trial.v0, state.v)
    copy(trial.p0, state.p)
    copy(trial.values0, state.values)
    spent = state.counts[3]
    for m in range(state.counts.size):
        state.counts[m] = trial.counts0[m]
    state.counts[3] = spent
    copy(trial.scale0, s.scale)
