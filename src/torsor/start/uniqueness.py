"""Which components of reactions, and which multipliers, redundant constraints leave undetermined.

    N Ĝ = 0             N: all multipliers that move nothing                                              (1)
    F, T = E N̂ᵀ         forces and torques that they exert; a component that is zero for all of them is unique   (2)

N is taken at several assembled configurations and times: a component in world axes may be unique in one position of a loop and
not in another one.
"""

import numpy as np

from .examiner import shortened

SAMPLES = (0.2, 0.4)  # how far sampled configurations are moved: radians, or lengths over the size of the model
LATER = (0.13, 0.37)  # times after the start at which drives are somewhere else [s]
NOTHING = 1e-6  # share of the largest one, below which a component is zero


def undetermined(examiner, absolute, found, t, q, p, connections):
    """What is not unique, as plain data:

    reactions   by name of the connection: three components of the force and three of the torque, True where not unique
    rows        labels of the rows whose multipliers are not unique
    """
    if not found.redundant:
        return {"reactions": {}, "rows": []}
    sharing = {id(absolute.rows[k].constraint) for k in found.shared}
    places = [k for k in examiner.places if id(absolute.rows[k].constraint) in sharing]
    rows, loose = set(), np.zeros((len(connections), 2, 3), bool)
    examined = 0
    for at, place in _samples(examiner, t, q, p):
        N = _forces_that_move_nothing(examiner, places, len(found.redundant), at, place, p)
        if N is None:
            continue
        examined += 1
        every = np.abs(N).max(axis=0)
        rows |= {k for k, size in zip(places, every) if size > NOTHING * every.max()}
        loose |= _components(examiner, absolute, places, N, at, place, p, len(connections))
    if not examined:  # singular wherever it was looked at: all that takes part
        rows = set(found.shared)
        names = {absolute.rows[k].constraint.name for k in rows}
        loose |= np.array([name in names for name in connections])[:, None, None]
    reactions = {name: own.tolist() for name, own in zip(connections, loose) if own.any()}
    return {"reactions": reactions, "rows": [absolute.rows[k].label for k in sorted(rows)]}


def _samples(examiner, t, q, p):
    """Times and assembled configurations: the start, places around it, and where drives are later."""
    yield t, q
    random = np.random.default_rng(7)
    for far in SAMPLES:
        place = examiner.wander(t, q, p, random, far)
        if place is not None:
            yield t, place
    for later in LATER:
        off = np.abs(examiner.g(t + later, q, p) - examiner.g(t, q, p)).max(initial=0.0)
        place = examiner.assemble(t + later, q, p)[0] if off > 0 else None
        if place is not None:
            yield t + later, place


def _forces_that_move_nothing(examiner, places, number, t, q, p):
    """N of (1), so many in these rows, in physical units; None where the configuration is singular."""
    units = examiner.units(t, q, p, places)
    A = examiner.matrix(t, q, p, places)
    (A,), lengths = shortened(A), np.maximum(np.linalg.norm(A, axis=1), 1.0)
    U, s, _ = np.linalg.svd(A, full_matrices=True)
    rank = len(A) - number
    if rank and (len(s) < rank or s[rank - 1] < NOTHING):
        return None
    return U[:, rank:].T / (units * lengths)


def _components(examiner, absolute, places, N, t, q, p, count):
    """Components of forces and torques that are not zero: (2)."""
    exerted = np.zeros((len(N), count, 2, 3))
    for k, multipliers in enumerate(N):
        lam = np.zeros(len(absolute.rows))
        lam[places] = multipliers
        exerted[k] = np.asarray(absolute.examined["exerted"](t, q, p, lam)).reshape(count, 2, 3)
    exerted[:, :, 1] /= examiner.length
    most = np.abs(exerted).max(axis=(1, 2, 3), keepdims=True)
    return (np.abs(exerted) > NOTHING * np.where(most > 0, most, 1.0)).any(axis=0)
