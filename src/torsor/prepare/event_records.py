"""The records of a run with events, in addition to those of any run.

All discrete data are in p. A structure is the set of engaged constraints; it is read from certain places of p. The table of kernels
has one row for every structure that has occurred so far.

A place is an index into p. A slot is an index into the values that the kernel `slots` computes for events.
"""

import numpy as np

from ..kernels.records import COUNT, INDICES, MATRIX, REAL, VECTOR, Array, Record, rows
from ..methods.run_records import Run

VALUE, RATE, PACE = 0, 1, 2  # rows of the matrices phi: values, rates and paces of the watched functions
REACTION = 3  # value of WATCH.like
LAST_SAMPLE = 6  # index of the sample at the end of a step; sample 0 is its start

WATCH = rows(
    condition=COUNT,  # 1: a condition that holds or not; 0: a crossing
    strict=COUNT,  # 1: the condition is strict
    both=COUNT,  # 1: crossings in both directions count
    undecided_near_zero=COUNT,  # 1: near zero, when it becomes enabled, the event is undecided until the next instant
    answer=COUNT,  # action on accumulation: an error, end the run, or ignore the event
    time=COUNT,  # place of the time of the event, −1: none
    count=COUNT,  # place of the number of times it has fired, −1: none
    rated=COUNT,  # 1: its function has a rate
    like=COUNT,  # its function has the dimension of: 1 a position, 2 a velocity, 3 a reaction; 0 none of them
    unit=REAL,  # typical size of its function in a model of this size, with rates and forces of 1
    approach=COUNT,  # slot of the relative acceleration of the constraint that it strikes, −1: none
    half=COUNT,  # 1: it is one half of the condition of another event
    period=REAL,  # of a clock, 0: it is no clock [s]
    first=REAL,  # periods of a clock before its first tick
    rest=REAL,  # time of a clock before its first tick in addition to these periods [s]
    during=COUNT,  # its conditions on p: first row in DURING
    during_end=COUNT,  # row after the last
    ops=COUNT,  # its operations: first row in OP
    ops_end=COUNT,  # row after the last
)
DURING = rows(place=COUNT, value=REAL)  # a condition on p: p[place] = value
OP = rows(  # an elementary step
    code=COUNT,  # see `event_codes.py`
    place=COUNT,  # the first place that it sets
    slot=COUNT,  # the first slot that it reads
    count=COUNT,  # number of slots, of a step with its own code
    friction=COUNT,  # index in FRICTION
    row=COUNT,  # constraint row
    step=COUNT,  # index in `Program.steps`, of a step with its own code
)
ONESIDED = rows(  # a constraint that only pushes
    place=COUNT,  # place of its state: engaged or not
    row=COUNT,  # its first constraint row
    lift=COUNT,  # the event that opens it
    loaded=COUNT,  # place of the flag that it takes a share of the load of redundant contacts
    single=COUNT,  # 1: it has one gap
)
HEADING = rows(  # a direction of sliding that is followed
    place=COUNT,  # first place of its components
    slot=COUNT,  # first slot of its components; the slot before is the speed
    parts=COUNT,  # number of components
    stop=COUNT,  # the event that stops it
    crawl=COUNT,  # place of the speed below which the direction stays constant
    row=COUNT,  # its first constraint row
    drift=COUNT,  # first slot of the rate of the sliding velocity
)
FRICTION = rows(  # an element of dry friction
    stick=COUNT,  # place of the flag that it sticks
    slip=COUNT,  # place of the flag that it slides
    heading=COUNT,  # first place of the direction of sliding
    speed=COUNT,  # slot of the sliding speed; the components of the direction follow
    parts=COUNT,  # number of components of the direction
    host=COUNT,  # place of the state of the contact it belongs to, −1: none
    armed=COUNT,  # place of the flag that it is armed, −1: always
    row=COUNT,  # its first constraint row
    sliding=COUNT,  # slot of the coefficient of sliding, −1: its load is not that of a contact
    static=COUNT,  # slot of the coefficient of sticking, −1 likewise
    host_row=COUNT,  # constraint row of its contact, −1: none
    stops=COUNT,  # event: it begins to stick
    starts=COUNT,  # event: it begins to slide
    reverses=COUNT,  # event: it slides on in another direction
    pulled=COUNT,  # first slot of the direction in which it would begin to slide
    drift=COUNT,  # first slot of the rate of the sliding velocity
)
STRUCK = rows(  # a constraint that is struck at an instant
    row=COUNT,  # its constraint row
    place=COUNT,  # place of its state
    restitution=REAL,
    slot=COUNT,  # slot of the relative acceleration
    stays=COUNT,  # 0 as restitution decides, 1 closed, 2 open, 3 closed even if it separates slowly
    takes_part=COUNT,  # 1: it is part of the impact
    leaving=REAL,  # speed of separation
    side=REAL,  # allowed side: 1 for g ≥ 0, −1 for g ≤ 0
)
SLIDING = rows(row=COUNT, normal=COUNT, push=REAL)  # a tangential row, its normal row, μ times the direction
HISTORY = rows(time=REAL, interval=REAL, shrank=COUNT, vanished=COUNT)  # of an event, to detect accumulation


class Program(Record):
    """The watched functions and the steps of their events. It is constant during a run."""

    events: Array(WATCH)
    during: Array(DURING)
    ops: Array(OP)
    bits: INDICES  # places that define the structure
    onesided: Array(ONESIDED)
    headings: Array(HEADING)
    frictions: Array(FRICTION)
    states: INDICES  # places of the user's states
    units: VECTOR  # units of all rows
    rounded: VECTOR  # the same, rounded as in the kernels
    meets: INDICES  # index of every row among those of contacts and friction, −1: another row
    switches: Array(np.int64, 2)  # for each row of the model the places that are all 1 while it is active, then −1
    moving: INDICES  # 1 for places that constraints depend on
    clocks: INDICES  # events of clocks
    steps: INDICES  # addresses of the code of steps that have their own


class Structures(Record):
    """The structures so far: p at `Program.bits`, and the rows of the model in use.

    One of them may be flagged: its kernels contain the rows of all constraints that events switch, and read from p which are
    active. It serves every structure whose rows are independent and which has no kernels of its own. Another one may be soft: it is
    flagged, too, and its contacts have some compliance, so that it serves structures whose rows depend on each other. In systems
    that run through tables the flagged structure is the only one.
    """

    keys: MATRIX
    rows: Array(np.int64, 2)
    places: Array(np.int64, 2)  # of every row of the model among the rows in use, −1: it is not in use
    flagged: COUNT  # the flagged structure, −1: none
    soft: COUNT  # the soft structure, −1: none
    confirmed: VECTOR  # p at the bits where its rows were found independent last
    dependent: COUNT  # 1: the structure that is required has dependent rows, so that it needs kernels of its own
    only: COUNT  # 1: the flagged structure serves every other one, dependent rows included


class Events(Record):
    """The state of the events. It lasts between calls of the loop and is part of checkpoints."""

    side: INDICES  # sign of each function: 1 positive, −1 negative, 0 undecided
    due: INDICES  # 1: the event is to fire now
    fired: INDICES  # 1: it has fired at this instant
    enabled: INDICES
    disabled: INDICES
    idle: INDICES  # 1: the event strikes a constraint that is engaged, and watches its gap
    parting: INDICES  # 1: a contact opens so slowly that its gap may be slightly negative
    armed: INDICES  # 1: sliding was fast enough for the event that stops it to be located at zero speed
    history: Array(HISTORY)
    phi: MATRIX  # values, rates and paces of the functions at the present state
    scale: VECTOR  # largest value of each function so far
    speed: VECTOR  # largest rate of each function so far
    wanted: VECTOR  # p at the bits of a structure whose kernels are required
    contacts_of: COUNT  # structure whose kernel of contacts is required
    decided: COUNT  # 1: all contacts were solved together at this instant
    opening: COUNT  # 1: all contacts that are due to open do so together
    structure: COUNT
    pending: COUNT  # 1 inside an instant
    passes: COUNT  # number of passes through the events of this instant
    failed: COUNT  # event that a message names
    beginning: COUNT  # 1 at the start of the run, 2 while contacts at rest are decided there
    struck: COUNT  # number of constraints that are struck
    answered: COUNT  # 1: the controller that the event calls has returned
    energy: REAL  # sum of the changes of energy by events
    number: REAL  # a number for a message
    fastest: REAL  # largest rate: lengths over the size of the model, angles as they are [1/s]
    rebounds_end: REAL  # time at which the rebounds of a contact are over
    followed: REAL  # longest part of a step over which the functions can be interpolated
    load: REAL  # largest multiplier, as a force [N]
    largest_slip: VECTOR  # largest sliding speed since sliding began, at the events that stop sliding [m/s]
    slip_step: REAL  # longest step that friction allows now [s]
    fall: REAL  # rate that bodies would reach without constraints; rates are not resolved below its rounding [1/s]


class Log(Record):
    """Events that have fired: their energies, impulses on all rows, and all slots before the event."""

    count: COUNT
    time: VECTOR
    event: INDICES
    energy: VECTOR
    impulse: MATRIX
    slots: MATRIX


class SavedState(Record):
    """Copy of the state before a step, to return to. Its fields are those of `State`."""

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
    """The step that is searched for events, with its dense output."""

    span: REAL  # its length
    low: REAL  # bracket of the first event, as fractions of the step
    high: REAL
    rate: VECTOR  # ẋ at its start
    rate1: VECTOR  # ẋ at its end
    k1: VECTOR  # the same in the algebra at its start
    K: MATRIX  # its stages
    poor: COUNT  # as in `Span`
    u1: VECTOR  # element of the algebra from its start to its end
    off: VECTOR  # change of u1 by the projection
    u: VECTOR  # element of the algebra from its start to a state inside
    x: VECTOR  # the state inside
    xdot: VECTOR
    phi: MATRIX
    samples: Array(float, 3)  # phi at several instants
    sides: INDICES


class Trial(Record):
    """The state at an instant while its events act, and working memory."""

    x: VECTOR
    p: VECTOR
    other: VECTOR
    before: VECTOR  # state before an impact
    slots: VECTOR
    later: VECTOR  # slots after a change
    phi: MATRIX
    r: VECTOR  # velocity residuals that impulses remove
    r0: VECTOR
    r1: VECTOR
    unit: VECTOR
    impulse: VECTOR  # on the rows in use
    impulses: VECTOR  # on all rows
    given: VECTOR  # impulses on all rows by elementary steps with their own code,
    inputs: VECTOR  # and their working memory: values of p,
    rate: VECTOR  # ẋ,
    lam: VECTOR  # and multipliers
    asks: COUNT  # what elementary steps ask for, see `event_firing.py`
    dv: VECTOR
    energies: VECTOR
    struck: Array(STRUCK)
    at: VECTOR  # value of each function when it fired


class FrictionProblem(Record):
    """Friction in an impact and at an instant."""

    slides: INDICES  # 1 slides, 0 sticks, 2 has to slide, −1 takes no part
    way: MATRIX  # directions of sliding
    sliding: Array(SLIDING)
    matrix: MATRIX
    tries: INDICES
    grip: VECTOR  # coefficients of friction
    want: VECTOR
    group: INDICES  # group of each row; rows of a group act on each other
    own: VECTOR
    chain: INDICES  # rows of a group, in the order in which they were found
    coupling: VECTOR  # impulses on all rows by a residual of one
    rubbed: VECTOR
    rubbing: VECTOR
    creating: INDICES  # 1: rows of groups that would create energy


class ContactProblem(Record):
    """The problem of contacts that are not independent."""

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
    M: MATRIX  # equations of the active set


class EventRun(Run):
    """All records of a run with events."""

    program: Program
    structures: Structures
    events: Events
    log: Log
    kept: SavedState
    step: Step
    trial: Trial
    rub: FrictionProblem
    meeting: ContactProblem
