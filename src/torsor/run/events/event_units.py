"""Units of rows and of watched functions, in numbers: a mechanism of any size has the events of its copy of size 1.

    row        u of `formulations/algebra/scales.py`; friction in a contact has that of the contact, in both directions
    function   of a contact or of friction: from its row, u for lengths and speeds, L/u for multipliers; any other: what it
               changes by where coordinates change by L or 1 rad, and per rate of velocities and force of multipliers

How they are used is said in `event_tolerances.py`.
"""

import numpy as np

from ...prepare.event_records import RATE, VALUE

POSITION, VELOCITY, REACTION = 1, 2, 3  # what a function is like


def row_units(system, frictions):
    """Units of all rows of a system."""
    known = system.scales["rows"]
    units = np.array([known.get(label, 1.0) for label, _ in system.rows], float)
    for f in frictions:
        host = f["host_row"] if f["host_row"] >= 0 else f["row"]
        units[f["row"] : f["row"] + f["parts"]] = units[host]
    return units


def function_units(program, system, rows, guards, x, p, multipliers, rate):
    """Units of all watched functions at the start of a run.

    rows                units of the rows
    guards              kernel of values and rates of the functions
    multipliers         how many numbers of reactions the kernel takes; those of the rows in use come first
    rate                at which the system may be expected to move [1/s]
    """
    like = program.tables["events"]["like"]
    units = np.zeros(len(like))
    for m, row in enumerate(program.measured):
        if row is not None:
            units[m] = system.length / rows[row] if like[m] == REACTION else rows[row]
    own = np.array([row is None for row in program.measured], bool)
    layout, sizes = system.state, np.where(np.array(system.linear, bool), system.length, 1.0)

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
    moving = [(v, np.zeros(multipliers)) for v in np.diag(rate * sizes)]
    forces = np.zeros((len(system.keep), multipliers))
    np.fill_diagonal(forces, force * system.length / rows[system.keep])
    loaded = [(np.zeros(layout.v), lam) for lam in forces]
    ways = ((POSITION, RATE, moving, rate), (VELOCITY, VALUE, moving, rate), (REACTION, VALUE, loaded, force))
    for kind, row, directions, size in ways:
        some = own & (like == kind)
        if some.any():
            units[some] = changes(row, directions)[some] / size
    return units
