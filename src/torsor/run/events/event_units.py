"""Units of rows and of watched functions, in numbers: a mechanism of any size has the events of its copy of size 1.

    row        u of `formulations/algebra/scales.py`; friction in a contact has that of the contact, in both directions
    function   of a contact or of friction: from its row, u for lengths and speeds, L/u for multipliers; any other: what it
               changes by where coordinates change by L or 1 rad, and per rate of velocities and force of multipliers

How they are used is said in `event_tolerances.py`.
"""

import numpy as np

from ...prepare.event_records import RATE, VALUE

POSITION, VELOCITY, REACTION = 1, 2, 3  # what a function is like
MOST_DIRECTIONS = 2000  # velocities or multipliers up to which each has a direction of its own
PROBES = 32  # directions with random signs beyond that


def row_units(system, frictions):
    """Units of all rows of a system."""
    known = system.scales["rows"]
    units = np.array([known.get(label, 1.0) for label, _ in system.rows], float)
    for f in frictions:
        host = f["host_row"] if f["host_row"] >= 0 else f["row"]
        units[f["row"] : f["row"] + f["parts"]] = units[host]
    return units


def _directions(sizes, count=None):
    """Vectors along which the norm of a gradient is measured: one of each size along its own axis.

    For many sizes a few vectors with all of them and random signs, scaled so that the sum of squares has the same mean.

    count   how many of the sizes are used; None: all
    """
    used = np.arange(len(sizes) if count is None else count)
    if len(used) <= MOST_DIRECTIONS:
        for k in used:
            direction = np.zeros(len(sizes))
            direction[k] = sizes[k]
            yield direction
        return
    rng = np.random.default_rng(0)
    for _ in range(PROBES):
        direction = np.zeros(len(sizes))
        direction[used] = sizes[used] * rng.choice((-1.0, 1.0), len(used)) / np.sqrt(PROBES)
        yield direction


def function_units(program, system, rows, guards, x, p, multipliers, rate, velocities):
    """Units of all watched functions at the start of a run.

    rows                units of the rows
    guards              kernel of values and rates of the functions
    multipliers         how many numbers of reactions the kernel takes; those of the rows in use come first
    rate                at which the system may be expected to move [1/s]
    velocities          for each velocity of the model 1 if it is linear, and which of them are in x
    """
    like = program.tables["events"]["like"]
    units = np.zeros(len(like))
    for m, row in enumerate(program.measured):
        if row is not None:
            units[m] = system.length / rows[row] if like[m] == REACTION else rows[row]
    own = np.array([row is None for row in program.measured], bool)
    layout, (linear, here) = system.state, velocities
    sizes = np.where(np.array(linear, bool), system.length, 1.0)

    def evaluate_guards(v, lam):
        """Values and rates."""
        moved = x.copy()
        moved[layout.q : layout.q + layout.v] = v
        with np.errstate(all="ignore"):
            return guards(np.array([system.t]), moved, p, np.zeros(layout.algebra), lam)[0].reshape(3, -1)

    def changes(row, directions):
        """What the functions change by along some directions of velocities and multipliers, as one length."""
        at_rest = evaluate_guards(np.zeros(layout.v), np.zeros(multipliers))[row]
        changed = [evaluate_guards(v, lam)[row] - at_rest for v, lam in directions]
        return np.nan_to_num(np.linalg.norm(np.array(changed).reshape(-1, len(like)), axis=0), posinf=0.0)

    force = system.mass * system.length * rate**2
    still = np.zeros(multipliers)
    moving = (
        [(v[here], still) for v in _directions(rate * sizes)] if np.isin(like[own], (POSITION, VELOCITY)).any() else []
    )
    loaded = []
    if (like[own] == REACTION).any():
        loads = np.zeros(multipliers)
        loads[: len(system.keep)] = force * system.length / rows[system.keep]
        loaded = [(np.zeros(layout.v), lam) for lam in _directions(loads, len(system.keep))]
    ways = ((POSITION, RATE, moving, rate), (VELOCITY, VALUE, moving, rate), (REACTION, VALUE, loaded, force))
    for kind, row, directions, size in ways:
        some = own & (like == kind)
        if some.any():
            units[some] = changes(row, directions)[some] / size
    return units
