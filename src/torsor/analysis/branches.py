"""Several assemblies of the same mechanism: random starts, angles brought back to the start, and which of them are the same."""

import numpy as np

from ..lie import Rn
from . import fitting

SAME = 1e-6  # distance of poses, lengths over the size of the model, below which two assemblies are one
BESIDE = 0.01  # rad, or the size of the model: how far from a fit another one of the same family is looked for
ROUND = 32  # random starts that are tried together


def scattered(problem, q, random):
    """Random configurations: angles up to half a turn, lengths up to the size of the model away."""
    angles = np.array(problem.dynamics.system.linear, bool)
    far = random.uniform(-1.0, 1.0, (len(q), problem.n)) * np.where(angles, 1.0, np.pi)
    return problem.move(q, far)


def unwound(one, q, start):
    """Angles of joints brought within half a turn of the start, one after the other, wherever that changes nothing else."""
    problem = one.problem
    residual, off = np.linalg.norm(one.wanted(q)[0], axis=1), one.overrun(q)
    for k in _angles(problem.f):
        away = problem.local(start, q)[:, k]
        turns = np.round(away / (2 * np.pi))
        if not turns.any():
            continue
        u = np.zeros((len(q), problem.n))
        u[:, k] = -2 * np.pi * turns
        trial = problem.move(q, u)
        same = np.linalg.norm(one.wanted(trial)[0], axis=1) <= residual + fitting.EXACT
        same &= one.overrun(trial) <= off + fitting.EXACT
        q = np.where(same[:, None], trial, q)
    return q


def tried(one, q, random, turn):
    """Random configurations to begin with. Every other time, where there are stops, they are fits without these, with angles turned
    fully to where the stops let them be: an angle that has to go past half a turn would be held there."""
    first = scattered(one.problem, q, random)
    if not one.stopped or turn % 2 == 0:
        return first
    return _inside(one, fitting.fitted(one.unstopped(), first).q)


def _inside(one, q):
    """Angles turned fully, one after the other, where less of the stops is overrun then and nothing else changes."""
    problem = one.problem
    over = lambda q: -np.minimum(one.gaps(q)[0], 0.0).sum(axis=1)
    residual = np.linalg.norm(one.wanted(q)[0], axis=1)
    for k in _angles(problem.f):
        for turn in (-2 * np.pi, 2 * np.pi):
            u = np.zeros((len(q), problem.n))
            u[:, k] = turn
            trial = problem.move(q, u)
            same = np.linalg.norm(one.wanted(trial)[0], axis=1) <= residual + fitting.EXACT
            q = np.where((same & (over(trial) < over(q)))[:, None], trial, q)
    return q


def _angles(f):
    """Places of velocities that are rates of single angles of the tree."""
    return [
        f.offset[id(link)] + k
        for link in getattr(f, "links", ())
        if isinstance(link.group, Rn)
        for k in range(link.v.shape[0])
        if link.joint.angular[k]
    ]


def every(one, begin, tries):
    """All exact fits that so many rounds of random starts lead to, the nearest to the start first; the freedom at each, and whether
    it stands alone."""
    problem, random = one.problem, np.random.default_rng(1)
    group, starts = one.times(ROUND), np.repeat(begin, ROUND, axis=0)
    kept: list[np.ndarray] = []
    marks: list[np.ndarray] = []
    for k in range(max(tries * 8 // ROUND, 4)):
        first = tried(group, starts, random, k)
        if k == 0:
            first[0] = begin[0]
        fit = fitting.fitted(group, first)
        q = unwound(group, fit.q, starts)[fit.exact]
        for x, mark in zip(q, _marks(problem, one.times(len(q)), q)):
            if not any(np.abs(mark - other).max() < SAME for other in marks):
                kept.append(x)
                marks.append(mark)
    q = np.array(kept).reshape(len(kept), begin.shape[1])
    group = one.times(len(q))
    q = q[np.argsort(np.linalg.norm(problem.local(np.repeat(begin, len(q), axis=0), q), axis=1))]
    free = fitting.freedom(group, q) if len(q) else np.zeros(0, int)
    return fitting.Fit(q, np.linalg.norm(group.wanted(q)[0], axis=1), group.overrun(q)), free, _alone(group, q, free)


def _alone(group, q, free):
    """Whether there are no others beside a fit: where it has a freedom, to be found a little along it."""
    alone, some = free == 0, np.flatnonzero(free > 0)
    if len(some):
        part, here = group.few(some), q[some]
        trial = fitting.fitted(part, group.problem.move(here, BESIDE * fitting.freest(part, here)))
        away = np.abs(group.problem.local(here, trial.q)).max(axis=1)
        alone[some] = ~(trial.exact & (away > BESIDE / 2))
    return alone


def _marks(problem, group, q):
    """Poses of all bodies, lengths over the size of the model."""
    H = problem.dynamics.poses(q, group.p, group.t[0])
    return (H / np.array([[1, 1, 1, problem.length]] * 4)).reshape(len(q), H[:1].size if len(q) else 0)
