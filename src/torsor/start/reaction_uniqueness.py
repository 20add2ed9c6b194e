"""Components of reactions, and multipliers, that redundant constraints leave undetermined.

    N Ĝ = 0             N: all self-equilibrated multipliers, which have no effect on the motion           (1)
    F, T = E N̂ᵀ         forces and torques that they exert; a component that is zero for all of them is unique   (2)

N is computed at several assembled configurations and times, since a component in world axes may be unique in one position of a
loop and not in another.
"""

import numpy as np

from .constraints import limit_row_lengths
from .start_tolerances import REACTION_ZERO

SAMPLE_DISTANCES = (0.2, 0.4)  # distances of sampled configurations from the start: rad, or lengths / size of the model
LATER_TIMES = (0.13, 0.37)  # times after the start at which drives have moved [s]


def undetermined_reactions(examiner, absolute, diagnosis, t, q, p, connections):
    """Reactions and multipliers that are not unique, as plain data:

    reactions   by name of the connection: three components of the force and three of the torque, True if not unique
    rows        labels of the rows whose multipliers are not unique
    """
    if not diagnosis.redundant:
        return {"reactions": {}, "rows": []}
    sharing = {id(absolute.rows[k].constraint) for k in diagnosis.shared}
    indices = [k for k in examiner.places if id(absolute.rows[k].constraint) in sharing]
    rows = set()
    not_unique = np.zeros((len(connections), 2, 3), bool)
    regular = 0
    for time, configuration in _sample_configurations(examiner, t, q, p):
        N = _null_multipliers(examiner, indices, len(diagnosis.redundant), time, configuration, p)
        if N is None:
            continue
        regular += 1
        sizes = np.abs(N).max(axis=0)
        rows |= {k for k, size in zip(indices, sizes) if size > REACTION_ZERO * sizes.max()}
        not_unique |= _components(examiner, absolute, indices, N, time, configuration, p, len(connections))
    if not regular:  # all samples are singular: everything that takes part in a dependency counts
        rows = set(diagnosis.shared)
        names = {absolute.rows[k].constraint.name for k in rows}
        not_unique |= np.array([name in names for name in connections])[:, None, None]
    reactions = {name: own.tolist() for name, own in zip(connections, not_unique) if own.any()}
    return {"reactions": reactions, "rows": [absolute.rows[k].label for k in sorted(rows)]}


def _sample_configurations(examiner, t, q, p):
    """Times and assembled configurations: the start, configurations around it, and those at later times if drives move."""
    yield t, q
    random = np.random.default_rng(7)
    for distance in SAMPLE_DISTANCES:
        configuration = examiner.sample_nearby(t, q, p, random, distance)
        if configuration is not None:
            yield t, configuration
    for later in LATER_TIMES:
        change = np.abs(examiner.g(t + later, q, p) - examiner.g(t, q, p)).max(initial=0.0)
        configuration = examiner.assemble(t + later, q, p)[0] if change > 0 else None
        if configuration is not None:
            yield t + later, configuration


def _null_multipliers(examiner, indices, count, t, q, p):
    """N of (1) in physical units: `count` vectors of multipliers of these rows; None if the configuration is singular."""
    units = examiner.units(t, q, p, indices)
    A = examiner.matrix(t, q, p, indices)
    lengths = np.maximum(np.linalg.norm(A, axis=1), 1.0)
    (A,) = limit_row_lengths(A)
    U, s, _ = np.linalg.svd(A, full_matrices=True)
    rank = len(A) - count
    if rank and (len(s) < rank or s[rank - 1] < REACTION_ZERO):
        return None
    return U[:, rank:].T / (units * lengths)


def _components(examiner, absolute, indices, N, t, q, p, count):
    """Components of forces and torques that are not zero: (2)."""
    exerted = np.zeros((len(N), count, 2, 3))
    for k, multipliers in enumerate(N):
        lam = np.zeros(len(absolute.rows))
        lam[indices] = multipliers
        exerted[k] = np.asarray(absolute.start_functions["exerted"](t, q, p, lam)).reshape(count, 2, 3)
    exerted[:, :, 1] /= examiner.length
    most = np.abs(exerted).max(axis=(1, 2, 3), keepdims=True)
    return (np.abs(exerted) > REACTION_ZERO * np.where(most > 0, most, 1.0)).any(axis=0)
