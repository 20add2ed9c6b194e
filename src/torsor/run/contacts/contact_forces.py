"""Normal forces of closed contacts that are not independent: a table on four legs.

The accelerations of such contacts are unique, their forces are not. With the forces λ⁰ that the equations have found, and
A = G M⁻¹ Gᵀ as all other constraints leave it, a change of forces changes the accelerations of the contacts, which vanish now, to

    a = A (λ − λ⁰),        0 ≤ a  ⟂  λ ≥ 0                                                              (1)

Where a = 0 is possible all contacts stay closed. Of all such forces the least are taken, which is what equally stiff contacts
have; contacts that would pull even then bear no load: they are marked as not loaded, and
`formulations/graphs/contact_load_sharing.py` finds the
forces of the others. Else the contacts with a > 0 open. Friction that sticks keeps its rows at a = 0 with forces of any sign;
friction that slides turns a normal force into −μ λ u/|u| along its rows.

Both problems are solved by an active set as in nonnegative least squares [lawson1974]: the contact that approaches fastest is
added, those that would pull are dropped. All is in units of the rows: u λ, A/(u u).
"""

from ...kernels import call
from ...kernels.compiled import compiled
from ...methods.status_codes import RUNNING
from ...prepare.event_codes import LOADS_CHANGED, NEEDS_CONTACT_KERNEL
from ...prepare.event_records import REACTION, VALUE
from ..events.event_tolerances import zero_tolerance
from .impact_friction import solve_small
from .impulses import place_of
from .redundant_impacts import wants_contacts, without_units

TAKES_NO_PART, CLOSED, HOLDS, PUSHES = (
    0,
    1,
    2,
    3,
)  # what a row is: any other, contact, sticking friction, contact in the active set
DEPENDS = 1e-9  # diagonal after elimination over that before it, below which a row depends on those that are in
OPENS = 1e-8  # acceleration over the one that the largest force causes, above which a contact opens
ABOUT_TO = 1e-6  # of the largest force: what a contact whose force has just vanished is taken to pull by
MUCH_LESS = 1e-4  # of the largest acceleration: contacts that accelerate by less do not open
SOFT = 1e-9  # of the diagonal of A: compliance of contacts, by which their least forces are found
UNLOADED = 1e-4  # of the largest force: a contact that bears less bears nothing


@compiled
def redundant_contacts(run, i, p):
    """True if some closed contacts of structure i have no row in use."""
    for contact in run.program.onesided:
        if p[contact.place] == 1.0 and place_of(run, i, contact.row, p) < 0:
            return True
    return False


@compiled
def needs_decision(run, p, phi):
    """True if a closed contact pulls, or its force has just vanished, or it bears no load and might."""
    events = run.events
    for contact in run.program.onesided:
        if p[contact.place] == 1.0:
            pulls = phi[VALUE, contact.lift] < -zero_tolerance(run, contact.lift, 0.0, 0.0)
            if pulls or events.due[contact.lift] == 1 or p[contact.loaded] == 0.0:
                return True
    return False


@compiled
def _set_forces(run, p, phi):
    """Forces λ⁰ in met.before. A force that has just vanished is about to pull. Returns the largest."""
    met, program, largest = run.meeting, run.program, 0.0
    for k in range(met.before.size):
        met.before[k], met.soft[k], met.state[k] = 0.0, 0.0, TAKES_NO_PART
    for contact in program.onesided:
        if p[contact.place] == 1.0:
            a = program.meets[contact.row]
            met.state[a] = CLOSED
            met.before[a] = phi[VALUE, contact.lift] * program.units[contact.row]
            largest = max(largest, abs(met.before[a]))
    for contact in program.onesided:
        if p[contact.place] == 1.0 and run.events.due[contact.lift] == 1 and p[contact.loaded] == 1.0:
            a = program.meets[contact.row]
            met.before[a] = min(met.before[a], -ABOUT_TO * largest)
    return largest


@compiled
def _couple_friction(run, i, p):
    """Friction that sticks holds: its rows take part with forces of any sign. Friction that slides is added to the columns of
    its contact."""
    met, program, later = run.meeting, run.program, run.trial.later
    n = met.after.size
    for f in program.frictions:
        first = program.meets[f.row]
        for c in range(f.parts):
            if p[f.stick] == 1.0 and place_of(run, i, f.row + c, p) >= 0:
                met.state[first + c] = HOLDS
            elif p[f.stick] == 0.0 and f.sliding >= 0 and p[f.host] == 1.0:
                normal, push = program.meets[f.host_row], later[f.sliding] * p[f.heading + c]
                for k in range(n):
                    met.A[normal * n + k] -= push * met.A[(first + c) * n + k]


@compiled
def _solve(run, size):
    """Forces of the active set met.order[:size] with a = 0 there, in met.lam1. False where the set is singular."""
    met, M = run.meeting, run.meeting.M
    n = met.after.size
    for r in range(size):
        a = met.order[r]
        M[r, size] = 0.0
        for k in range(n):
            M[r, size] += met.A[k * n + a] * met.before[k]
        for c in range(size):
            M[r, c] = met.A[met.order[c] * n + a]
        M[r, r] += met.soft[a]
    if not solve_small(M, size):
        return False
    for r in range(size):
        met.lam1[met.order[r]] = M[r, size]
    return True


@compiled
def _beyond(run, a, size):
    """What is left of the diagonal of row a when the active set met.order[:size] is held, over the diagonal."""
    met, M = run.meeting, run.meeting.M
    n = met.after.size
    own = met.A[a * n + a] + met.soft[a]
    for r in range(size):
        M[r, size] = met.A[a * n + met.order[r]]
        for c in range(size):
            M[r, c] = met.A[met.order[c] * n + met.order[r]]
        M[r, r] += met.soft[met.order[r]]
    if size > 0 and not solve_small(M, size):
        return 0.0
    left = own
    for r in range(size):
        left -= met.A[met.order[r] * n + a] * M[r, size]
    return left / own if own > 0.0 else 0.0


@compiled
def _accelerations(run):
    """a = A (λ − λ⁰) of all rows, in met.after; those of compliant contacts are less by what they give way."""
    met = run.meeting
    n = met.after.size
    for k in range(n):
        met.after[k] = met.soft[k] * met.lam[k]
    for c in range(n):
        change = met.lam[c] - met.before[c]
        for k in range(n if change != 0.0 else 0):
            met.after[k] += met.A[c * n + k] * change


@compiled
def _drop(run, size):
    """Go from met.lam towards met.lam1 as far as all push; drop the contacts whose force vanishes there. Returns the size of the
    active set, and whether all of the way could be gone."""
    met, part = run.meeting, 1.0
    for r in range(size):
        a = met.order[r]
        if met.state[a] == PUSHES and met.lam1[a] <= 0.0:
            part = min(part, met.lam[a] / (met.lam[a] - met.lam1[a]) if met.lam[a] > met.lam1[a] else 0.0)
    kept = 0
    for r in range(size):
        a = met.order[r]
        force = met.lam[a] + part * (met.lam1[a] - met.lam[a])
        drops = part < 1.0 and met.state[a] == PUSHES and met.lam1[a] <= 0.0 and force <= 1e-12 * abs(met.lam1[a])
        met.lam[a] = 0.0 if drops else force
        if drops:
            met.state[a] = CLOSED
        else:
            met.order[kept] = a
            kept += 1
    return kept, part >= 1.0


@compiled
def pushing_forces(run, largest):
    """Solve (1): forces in met.lam, accelerations in met.after; met.state is PUSHES for the contacts that push.

    largest   force of all, by which accelerations are compared

    Returns whether a solution was found. met.state is the state of each row, met.soft how compliant: of all forces the least are
    found where contacts are.
    """
    met, size = run.meeting, 0
    n = met.after.size
    for k in range(n):
        met.lam[k] = 0.0
        met.state[k] = CLOSED if met.state[k] == PUSHES else met.state[k]
    for k in range(n):
        if met.state[k] == HOLDS and _beyond(run, k, size) > DEPENDS:
            met.order[size] = k
            size += 1
    for _ in range(20 + 10 * n):
        for _ in range(size + 1):
            if size == 0:
                break
            if not _solve(run, size):
                return False
            size, whole = _drop(run, size)
            if whole:
                break
        _accelerations(run)
        best, fastest = -1, 0.0
        for k in range(n):
            if met.state[k] == CLOSED and met.A[k * n + k] > 0.0:
                speed = -met.after[k] / (met.A[k * n + k] * largest)
                if speed > max(fastest, 1e-11) and _beyond(run, k, size) > DEPENDS:
                    best, fastest = k, speed
        if best < 0:
            return True
        met.state[best] = PUSHES
        met.order[size] = best
        size += 1
    return False


@compiled
def _share(run, i, x, p, phi, largest):
    """Mark the contacts that bear a load: those that push with the least forces of all, as `sharing.py` finds them. A contact
    whose force has just vanished bears none. Returns whether that has changed."""
    met, program, changed, soft = run.meeting, run.program, False, 0.0
    n = met.after.size
    call.meeting(run.kernels[i], run.scratch, x, p, met.A, met.B, met.before)
    without_units(run)
    _set_forces(run, p, phi)
    for k in range(n):
        soft = max(soft, SOFT * met.A[k * n + k])
    for contact in program.onesided:
        a = program.meets[contact.row]
        met.soft[a] = soft * (program.rounded[contact.row] / program.units[contact.row]) ** 2
        if run.events.due[contact.lift] == 1:
            met.state[a] = TAKES_NO_PART
    if not pushing_forces(run, largest):
        return False
    for contact in program.onesided:
        if p[contact.place] == 1.0:
            a = program.meets[contact.row]
            bears = 1.0 if met.state[a] == PUSHES and met.lam[a] > UNLOADED * largest else 0.0
            if p[contact.loaded] != bears:
                p[contact.loaded], changed = bears, True
    return changed


@compiled
def _open(run, p, most, largest):
    """Exactly the lifts of the contacts that accelerate away are due, and happen together."""
    events, met = run.events, run.meeting
    n = met.after.size
    for contact in run.program.onesided:
        a = run.program.meets[contact.row]
        if p[contact.place] == 1.0:
            leaves = met.state[a] != PUSHES and met.after[a] > MUCH_LESS * most * met.A[a * n + a] * largest
            events.due[contact.lift] = 1 if leaves and met.A[a * n + a] > 0.0 else 0
    events.opening = 1


@compiled
def decide_redundant(run, i, x, p, phi):
    """Decide which of the closed contacts of structure i bear loads, and which open, where some are redundant.

    Returns a status: SHARED_ANEW where loads are shared otherwise from now on, so that forces are to be computed again. Where
    contacts open exactly their lifts are due afterwards.
    """
    events, met, program, s = run.events, run.meeting, run.program, run.scratch
    if not needs_decision(run, p, phi):
        return RUNNING
    if wants_contacts(run, i):
        return NEEDS_CONTACT_KERNEL
    call.slots(run.kernels[i], s, x, p, s.xdot, s.lam, run.trial.later)
    call.meeting(run.kernels[i], s, x, p, met.A, met.B, met.before)
    without_units(run)
    largest = _set_forces(run, p, phi)
    _couple_friction(run, i, p)
    if not largest > 0.0 or not pushing_forces(run, largest):
        return RUNNING
    n, most = met.after.size, 0.0
    for contact in program.onesided:
        a = program.meets[contact.row]
        if p[contact.place] == 1.0 and met.A[a * n + a] > 0.0:
            most = max(most, met.after[a] / (met.A[a * n + a] * largest))
    if most > OPENS:
        _open(run, p, most, largest)
        return RUNNING
    changed = _share(run, i, x, p, phi, largest)
    for m in range(
        events.due.size if changed else 0
    ):  # forces that are not unique jump: their events are looked at as new ones
        if program.events[m].like == REACTION:
            events.due[m], events.enabled[m] = 0, 0
    for contact in program.onesided:
        if p[contact.place] == 1.0:
            events.due[contact.lift] = 0
    return LOADS_CHANGED if changed else RUNNING
