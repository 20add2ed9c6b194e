"""The data of a run, as compiled code sees it: everything by name, found from the address of one record."""

import numpy as np

from ..kernels.records import COMPLEX, COUNT, INDICES, MATRIX, REAL, VECTOR, Array, Record, rows
from ..kernels.signatures import SIGNATURES

# One row per structure: the addresses of its kernels (0: there is none), and what belongs to them.
KERNELS = rows(
    **dict.fromkeys(SIGNATURES, COUNT),
    rows=COUNT,  # constraint rows in use
    efforts=COUNT,  # that depend on reactions or accelerations: they follow the multipliers
    constrained=COUNT,  # whether there are any, here or on another rank
    last=COUNT,  # place in F of how well they are conditioned
    watched=COUNT,  # whether that is watched, since what was chosen may have to be chosen again:
    poor=REAL,  # below this conditioning,
    rich=REAL,  # or above
    best=REAL,  # the best conditioning so far
    slopes=COUNT,  # entries of ∂k/∂u,
    source=COUNT,  # and the place of their destinations in the equations of an implicit step
)


class Plan(Record):
    """What a run does; it does not change on the way."""

    adaptive: COUNT
    dense: COUNT  # outputs are read from steps that pass them; else steps end there
    projects: COUNT  # positions and velocities are brought onto the constraints after each step,
    corrections: COUNT  # with so many steps of Newton's method, 0: as many as it needs
    step: REAL  # of a method with a fixed one [s]
    tolerance: REAL
    position_tolerance: REAL  # to which constraints hold, in units of the rows
    velocity_tolerance: REAL
    position_threshold: REAL  # above which they are corrected after a step: the tolerance, or what a projection says
    velocity_threshold: REAL
    smallest_step: REAL
    longest_step: REAL  # of those that no output ends
    mass: REAL  # of all bodies
    inertia: REAL  # sum of their moments
    configuration: COUNT  # numbers of q in x
    velocities: COUNT  # numbers of v; x goes on after q as ẋ does after them
    linear: INDICES  # 1 for a velocity that is a length per time, 0 for an angular one
    gains: VECTOR  # α and β of Baumgarte, and those of rows that stop rotations alone
    bends: VECTOR  # times at which steps end, since something bends or jumps there,
    beyond: VECTOR  # and those at which the next ones begin
    potential_jumps: COUNT  # 1: the potential energy may jump there, or with inputs
    agree: COUNT  # address of the function by which ranks agree on numbers, 0 where there is one
    common_configuration: COUNT  # numbers of q that every rank computes: the first ones
    common_velocities: COUNT  # and of v


class Method(Record):
    """A method: its step, by address, and its tables."""

    step: COUNT
    implicit: COUNT  # whether it passes over what is stiff
    order: REAL  # by which the length of a step follows from its error
    gain: REAL  # by which the next step may be longer than that, since the method changes
    steady: REAL  # a step that could be longer by less than this factor stays as long as it is,
    growth: REAL  # and none grows by more
    hold: REAL  # factor by which the step after one that is accepted may be shorter, at most
    stages: COUNT
    A: MATRIX
    b: VECTOR
    c: VECTOR
    first: INDICES  # rows of A that belong to each stage of a product of exponentials
    numbers: COUNT  # address of the record of its own numbers, 0: there is none
    estimate: VECTOR  # weights of the error of a step,
    rough: VECTOR  # and of a second, rougher one; empty: none
    dense: MATRIX  # of the stages within a step, those that follow from A alone included; empty: none
    spare: MATRIX  # likewise, without stages after that at the end of the step; empty: none


class Past(Record):
    """States that a method keeps of earlier steps, the newest first."""

    kept: COUNT  # how many; a jump of the state sets it to 0
    times: VECTOR
    xs: MATRIX
    rates: MATRIX  # ẋ of each
    order: COUNT  # of a method that changes it,
    next: COUNT  # that it takes where the last step is accepted,
    held: COUNT  # and steps for which order and length have been the same
    helping: COUNT  # steps of a one-step method to be taken before several states are used again,
    pause: COUNT  # how many they were the last time,
    attempts: COUNT  # attempts of steps since then,
    failures: COUNT  # and those that were refused
    exact: (
        COUNT  # whether the first row of rates is that of the state, and not that of the equations of the step before
    )
    ended: REAL  # time at the end of the last step that was solved
    ways: MATRIX  # to the stages of the last step that was solved, by which the next are guessed:
    began: REAL  # when that began,
    span: REAL  # and how long it was
    slope: VECTOR  # ∂k/∂u that is in use, as long as Newton's method converges well with it,
    sloped: COUNT  # whether there is one,
    shift: REAL  # σ for which it was factored,
    contraction: REAL  # and by which its last corrections shrank


class State(Record):
    """What the further run depends on. x has three places that take turns: a kernel's result is read where it was written,
    since copying what was just stored stalls longer than most kernels run."""

    time: REAL
    step: REAL  # to be tried next
    longest: REAL  # step that may be tried now: a longer one was refused
    unsolved: REAL  # what Newton's method left of an equation that it did not solve,
    worst: COUNT  # and the component of ẋ in which that was
    pivot: REAL  # conditioning of the constraints at the last projection
    least_pivot: REAL
    position_residual: REAL  # the largest so far, before projection
    velocity_residual: REAL
    steps: COUNT
    rejections: COUNT
    evaluations: COUNT
    projections: COUNT
    dodged: COUNT  # times in a row that a singular position was stepped around
    rejected: COUNT  # rejections in a row
    cuts: COUNT  # fixed steps that were cut, since the equations of an implicit method were not solved
    uncut: REAL  # time up to which the step that was cut last is counted
    at: COUNT  # place of the present x
    fresh: COUNT  # whether F in the scratch belongs to x
    rated: COUNT  # whether ẋ in the scratch does, or LOST
    xs: MATRIX
    p: VECTOR

    @property
    def x(self):
        return self.xs[self.at]


class Scales(Record):
    """What errors are measured against: the size of the model, and what it has met so far."""

    length: REAL
    angle: REAL
    speed: REAL  # largest linear and angular speed
    spin: REAL
    energy: REAL  # most work
    works_at_rest: COUNT  # whether work is done while no coordinate moves (`work_at_rest`)
    states: VECTOR  # largest values of the user's states
    state_rates: VECTOR  # change of their rates where all else changes by its own scale,
    state_damping: VECTOR  # and -∂ż/∂z of each [1/s]
    states_measured: COUNT  # steps and rejections after which both were measured last
    states_pause: COUNT  # further ones before they are measured again
    linear_rounding: REAL  # of accelerations
    angular_rounding: REAL


class Scratch(Record):
    """Vectors to work with; those named like an argument of kernels (`signatures`) are that."""

    t: VECTOR
    u: VECTOR
    e: VECTOR
    rough: VECTOR  # a second error
    left: VECTOR  # of an error, by the projection
    F: VECTOR
    xdot: VECTOR
    lam: VECTOR
    K: MATRIX  # stages of a step: the first belongs to its start
    points: MATRIX  # states that a method keeps, as ways from the present one
    ways: MATRIX  # to the stages of an implicit step, while they are solved for
    g: VECTOR
    psi: VECTOR
    turn: VECTOR
    spin: VECTOR
    energy: VECTOR  # kinetic, potential
    work: VECTOR
    h: VECTOR
    d: VECTOR
    dd: VECTOR
    L: VECTOR
    m: VECTOR
    b: VECTOR
    known: VECTOR
    way: VECTOR
    a: VECTOR
    state_slope: VECTOR  # of the user's states, then its factors,
    state_pivots: VECTOR  # the rows that were exchanged,
    state_change: VECTOR  # and a correction
    tried: VECTOR  # the state for which a better choice is requested
    common: VECTOR  # numbers on which ranks agree


class Equations(Record):
    """Linear equations of implicit steps, σ − ∂k/∂u: how they are solved (`elimination`), one structure after the other, and with
    which factors."""

    unknown: INDICES
    starts: INDICES
    column: INDICES
    diagonal: INDICES
    source: INDICES
    rows: INDICES  # of the entries of ∂k/∂u,
    columns: INDICES  # column by column
    place: INDICES  # to work with: entries of a row by columns
    factors: VECTOR  # with a real shift,
    turned: COMPLEX  # and with a complex one
    known: COUNT  # whether they belong to the slope and shift that are kept
    b: VECTOR  # right-hand sides and solutions
    c: COMPLEX
    y: VECTOR  # to work with
    z: COMPLEX
    guess: VECTOR  # where Newton's method began
    found_motion: COUNT  # whether it has found the motion
    last: REAL  # size of its last correction,
    ratio: REAL  # over that of the one before


class Span(Record):
    """The last step, to be looked at between its ends."""

    start: REAL
    length: REAL
    at: COUNT  # place of x at its start
    structure: COUNT
    filled: COUNT  # whether all stages are known that it takes,
    poor: COUNT  # or constraints are nearly dependent in some, which are left out
    pivot: REAL  # how well they are conditioned at its start
    p: VECTOR  # at its start
    K: MATRIX  # its stages: that of the scratch
    weights: VECTOR  # of them
    u: VECTOR  # from its start to a state within,
    xdot: VECTOR
    x: VECTOR  # which is here,
    y: VECTOR  # or here


class Outputs(Record):
    """States at the times that are wanted."""

    times: VECTOR
    end: REAL  # of the run
    more: COUNT  # whether others follow in another portion, so that the run does not go on to its end
    written: COUNT
    x: MATRIX
    p: MATRIX
    by_events: VECTOR  # energy that events have changed so far


class Evaluation(Record):
    """Outputs of recorded states."""

    structure: COUNT
    which: INDICES  # states whose outputs are wanted
    times: VECTOR
    x: MATRIX
    p: MATRIX
    outputs: MATRIX


class Run(Record):
    """All of it."""

    here: COUNT  # its own address, for steps that are called
    kernels: Array(KERNELS)
    plan: Plan
    method: Method
    state: State
    past: Past
    scales: Scales
    scratch: Scratch
    equations: Equations
    span: Span
    out: Outputs

    def __init__(self, **parts):
        super().__init__(**parts)
        self.here = self.address


def addresses(built):
    """A row of KERNELS for a library of kernels."""
    row = np.zeros(1, KERNELS)
    for name in SIGNATURES:
        row[name] = built[name].address if name in built else 0
    return row
