"""The data of a run with events, beside that of any run.

Everything discrete is in p. A structure is the set of its constraints that are engaged, read from some places of p; there is
one row of kernels for every structure that was met so far.
"""

import numpy as np

from ..kernels.record import COUNT, INDICES, MATRIX, REAL, VECTOR, Array, Record, rows
from ..methods.records import Run

VALUE, RATE, PACE = 0, 1, 2  # rows of what is known about watched functions
REACTION = 3  # what a watched function is like
END = 6  # place among the samples of a step that belongs to its end; the first belongs to its start

WATCH = rows(
    condition=COUNT,  # it holds or not; else it is a crossing
    strict=COUNT,
    both=COUNT,  # in both directions
    settles=COUNT,
    answer=COUNT,  # to accumulation: an error, the end, or to ignore it
    time=COUNT,  # place in p of the time of the event, −1: none
    count=COUNT,  # place in p of how often it happened
    rated=COUNT,  # its function has a rate
    like=COUNT,  # and is like 1 a position, 2 a velocity, 3 a reaction,
    unit=REAL,  # of this size in a model of its size, where rates and forces are 1
    approach=COUNT,  # slot of the relative acceleration of the constraint that it strikes
    half=COUNT,  # of another event
    period=REAL,  # of a clock, 0: it is none [s]
    first=REAL,  # periods before it rings for the first time,
    rest=REAL,  # and seconds beside them
    during=COUNT,  # its conditions, from here
    during_end=COUNT,  # to before here
    ops=COUNT,  # what it does, likewise
    ops_end=COUNT,
)
DURING = rows(place=COUNT, value=REAL)  # what p must be
OP = rows(code=COUNT, place=COUNT, slot=COUNT, friction=COUNT, row=COUNT)
ONESIDED = rows(  # a constraint that only pushes
    place=COUNT,
    row=COUNT,
    lift=COUNT,  # the event that opens it
    loaded=COUNT,  # place in p of whether it takes a share of what redundant contacts hold
    single=COUNT,  # 1 where it has one gap
)
HEADING = rows(  # a direction of sliding, to be followed
    place=COUNT,
    slot=COUNT,  # of its components, after the speed
    parts=COUNT,
    stop=COUNT,  # the event that stops it
    crawl=COUNT,  # place of the speed below which it is not followed
    row=COUNT,  # first of those that hold it
    drift=COUNT,  # slot of the rate of the sliding velocity
)
FRICTION = rows(
    stick=COUNT,  # places in p: whether it sticks,
    slip=COUNT,  # whether it slides,
    heading=COUNT,  # and in which direction
    speed=COUNT,  # slot of the sliding speed; the direction follows
    parts=COUNT,  # components of the direction
    host=COUNT,  # place of the contact that it acts in, −1: none
    armed=COUNT,  # place of whether it is armed, −1: always
    row=COUNT,  # first of its rows
    sliding=COUNT,  # slots of the coefficients, −1: its load is no contact's
    static=COUNT,
    host_row=COUNT,
    stops=COUNT,  # events: it sticks,
    starts=COUNT,  # it lets go,
    reverses=COUNT,  # it slides on in another direction
    pulled=COUNT,  # slots: direction of what pulls,
    drift=COUNT,  # rate of sliding
)
STRUCK = rows(
    row=COUNT,
    place=COUNT,
    restitution=REAL,
    slot=COUNT,  # of the relative acceleration
    stays=COUNT,  # 0 as restitution has it, 1 closed, 2 open, 3 closed even if it is left slowly
    takes_part=COUNT,
    leaving=REAL,  # speed of leaving
    side=REAL,  # on which it is kept: 1 for g ≥ 0, −1 for g ≤ 0
)
SLIDING = rows(row=COUNT, normal=COUNT, push=REAL)  # a tangential row, its normal row, μ times the direction
HISTORY = rows(time=REAL, interval=REAL, shrank=COUNT, vanished=COUNT)


class Program(Record):
    """What is watched, and what follows."""

    events: Array(WATCH)
    during: Array(DURING)
    ops: Array(OP)
    bits: INDICES  # places in p that make the structure
    onesided: Array(ONESIDED)
    headings: Array(HEADING)
    frictions: Array(FRICTION)
    states: INDICES  # places in p that stand for the states of the user
    units: VECTOR  # of all rows
    rounded: VECTOR  # the same, as kernels have them
    meets: INDICES  # place of every row among those of contacts and friction, −1: none
    moving: INDICES  # 1 for places in p that are part of constraints
    clocks: INDICES  # events that happen by the clock


class Structures(Record):
    """Which structures are known: p at the bits, and which rows of the model are in use."""

    keys: MATRIX
    rows: Array(np.int64, 2)


class Events(Record):
    """What is known about events; it survives between calls."""

    side: INDICES  # of zero: 1 positive, −1 negative, 0 undecided
    due: INDICES  # 1 where an event is to happen now
    fired: INDICES  # 1 where it has happened at this instant
    enabled: INDICES
    disabled: INDICES
    idle: INDICES  # 1 where an event strikes a constraint that holds, and watches its gap
    parting: INDICES  # 1 where a contact opens so slowly that its gap may be a little negative
    armed: INDICES  # 1 where something has slid fast enough to be stopped when it turns about zero
    history: Array(HISTORY)
    phi: MATRIX  # values, rates and paces of the functions at the present state
    scale: VECTOR  # largest value that each has had
    speed: VECTOR  # largest rate
    wanted: VECTOR  # p at the bits of a structure whose kernels are wanted
    contacts_of: COUNT  # structure whose kernel of contacts is wanted
    decided: COUNT  # 1 where all contacts were decided together at this instant
    opening: COUNT  # 1 where all lifts that are due happen together
    structure: COUNT
    pending: COUNT  # 1 inside an instant
    passes: COUNT  # through it
    failed: COUNT  # event of which a message tells
    beginning: COUNT  # 1 at the very start, 2 while what rests there is settled
    struck: COUNT  # constraints that are struck
    answered: COUNT  # 1 where a function that the event asks has given its answer
    energy: REAL  # changed by events so far
    number: REAL  # for a message
    fastest: REAL  # largest rate: lengths over the size of the model, angles as they are [1/s]
    settled: REAL  # when the rebounds of a contact are over
    followed: REAL  # longest part of a step that functions can be followed in
    load: REAL  # largest multiplier, as a force [N]
    largest_slip: VECTOR  # largest sliding speed since sliding began, at the events that stop sliding [m/s]
    slip_step: REAL  # longest step that friction allows now [s]
    fall: REAL  # rate that what constraints hold would reach by itself: rates are not rounded finer [1/s]


class Log(Record):
    """What has happened: energy and impulses on all rows, and values of all slots before."""

    count: COUNT
    time: VECTOR
    event: INDICES
    energy: VECTOR
    impulse: MATRIX
    slots: MATRIX


class Kept(Record):
    """A state before a step, to go back to."""

    time: REAL
    step: REAL
    longest: REAL
    pivot: REAL
    least_pivot: REAL
    position_residual: REAL
    velocity_residual: REAL
    steps: COUNT
    rejections: COUNT
    projections: COUNT
    dodged: COUNT
    rejected: COUNT
    length: REAL
    angle: REAL
    speed: REAL
    spin: REAL
    energy: REAL
    linear_rounding: REAL
    angular_rounding: REAL
    states: VECTOR
    x: VECTOR
    p: VECTOR


class Step(Record):
    """The step that is looked through."""

    span: REAL  # its length
    low: REAL  # where in it something happens, as parts of it
    high: REAL
    rate: VECTOR  # ẋ at its start
    rate1: VECTOR  # at its end, and as the algebra at its start has it
    k1: VECTOR
    K: MATRIX  # its stages,
    poor: COUNT  # as in Span
    u1: VECTOR  # from start to end
    off: VECTOR  # what the projection has changed in that
    u: VECTOR  # to a state within
    x: VECTOR
    xdot: VECTOR
    phi: MATRIX
    samples: Array(float, 3)
    sides: INDICES


class Trial(Record):
    """The state that an instant works on, and what it is found with."""

    x: VECTOR
    p: VECTOR
    other: VECTOR
    before: VECTOR  # an impact
    slots: VECTOR
    later: VECTOR
    phi: MATRIX
    r: VECTOR  # residuals to be taken away by impulses
    r0: VECTOR
    r1: VECTOR
    unit: VECTOR
    impulse: VECTOR  # on the rows in use
    impulses: VECTOR  # on all rows
    dv: VECTOR
    energies: VECTOR
    struck: Array(STRUCK)
    at: VECTOR  # value of a function when it fired


class Rubbing(Record):
    """Friction in an impact, and at an instant."""

    slides: INDICES  # 1 slides, 0 sticks, 2 has to slide, −1 takes no part
    way: MATRIX  # directions
    sliding: Array(SLIDING)
    matrix: MATRIX
    tries: INDICES
    grip: VECTOR
    want: VECTOR
    group: INDICES  # rows that act on each other
    own: VECTOR
    rubbed: VECTOR
    rubbing: VECTOR
    creating: INDICES  # rows of groups that would create energy


class Meeting(Record):
    """Contacts that are not independent."""

    A: VECTOR
    B: VECTOR
    before: VECTOR  # ψ
    after: VECTOR
    after1: VECTOR
    lam: VECTOR
    lam1: VECTOR
    bounce: VECTOR
    state: INDICES  # of rows, as in `contact_forces`
    order: INDICES  # rows of the active set
    soft: VECTOR  # compliance of rows
    M: MATRIX  # their equations


class EventRun(Run):
    """All of it."""

    program: Program
    structures: Structures
    events: Events
    log: Log
    kept: Kept
    step: Step
    trial: Trial
    rub: Rubbing
    meeting: Meeting
