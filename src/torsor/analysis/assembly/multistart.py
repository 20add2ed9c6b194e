"""Multistart: random starting configurations, unwound joint angles, and all distinct assemblies of a mechanism."""

import numpy as np

from ...start.levenberg_marquardt import RESIDUAL_ZERO
from . import least_squares
from .assembly_tolerances import SAME_POSES

FAMILY_STEP = 0.01  # rad, or the size of the model: distance at which a neighbour of a movable assembly is searched
STARTS_PER_ROUND = 32  # random starts that are solved together


def random_configurations(problem, q, random):
    """Random configurations, up to half a turn and up to the size of the model away from q."""
    angles = np.array(problem.dynamics.system.linear, bool)
    displacement = random.uniform(-1.0, 1.0, (len(q), problem.n)) * np.where(angles, 1.0, np.pi)
    return problem.move(q, displacement)


def unwind_angles(fit_problem, q, start):
    """Turn joint angles by full turns to within half a turn of the start, where residuals and violations stay the same."""
    problem = fit_problem.problem
    residual, violation = np.linalg.norm(fit_problem.target_rows(q)[0], axis=1), fit_problem.violation(q)
    for k in _angles(problem.f):
        away = problem.local(start, q)[:, k]
        turns = np.round(away / (2 * np.pi))
        if not turns.any():
            continue
        u = np.zeros((len(q), problem.n))
        u[:, k] = -2 * np.pi * turns
        trial = problem.move(q, u)
        same = np.linalg.norm(fit_problem.target_rows(trial)[0], axis=1) <= residual + RESIDUAL_ZERO
        same &= fit_problem.violation(trial) <= violation + RESIDUAL_ZERO
        q = np.where(same[:, None], trial, q)
    return q


def random_starts(fit_problem, q, random, attempt):
    """Random configurations to start from.

    With stops, every second round starts from fits without stops whose angles are turned by full turns into the stops: otherwise a
    stop blocks angles that must pass half a turn.
    """
    first = random_configurations(fit_problem.problem, q, random)
    if not fit_problem.has_stops or attempt % 2 == 0:
        return first
    return _turn_inside_stops(fit_problem, least_squares.minimise(fit_problem.without_stops(), first).q)


def _turn_inside_stops(fit_problem, q):
    """Turn joint angles by a full turn where this reduces the overrun of stops and leaves the residual unchanged."""
    problem = fit_problem.problem

    def total_overrun(q):
        return -np.minimum(fit_problem.gaps(q)[0], 0.0).sum(axis=1)

    residual = np.linalg.norm(fit_problem.target_rows(q)[0], axis=1)
    for k in _angles(problem.f):
        for round in (-2 * np.pi, 2 * np.pi):
            u = np.zeros((len(q), problem.n))
            u[:, k] = round
            trial = problem.move(q, u)
            same = np.linalg.norm(fit_problem.target_rows(trial)[0], axis=1) <= residual + RESIDUAL_ZERO
            q = np.where((same & (total_overrun(trial) < total_overrun(q)))[:, None], trial, q)
    return q


def _angles(f):
    """Indices of velocities that are rates of single joint angles in the tree."""
    return [
        f.offset[id(link)] + k
        for link in getattr(f, "links", ())
        if link.group.additive
        for k in range(link.v.shape[0])
        if link.joint.angular[k]
    ]


def find_all(fit_problem, start, tries):
    """All distinct exact fits that random starts lead to, the nearest to the start first.

    Returns the fits, the degrees of freedom at each, and True for each isolated one.
    """
    problem, random = fit_problem.problem, np.random.default_rng(1)
    group, starts = fit_problem.repeat(STARTS_PER_ROUND), np.repeat(start, STARTS_PER_ROUND, axis=0)
    configurations: list[np.ndarray] = []
    signatures: list[np.ndarray] = []
    for k in range(max(tries * 8 // STARTS_PER_ROUND, 4)):
        first = random_starts(group, starts, random, k)
        if k == 0:
            first[0] = start[0]
        fit = least_squares.minimise(group, first)
        q = unwind_angles(group, fit.q, starts)[fit.exact]
        for x, signature in zip(q, _signatures(problem, fit_problem.repeat(len(q)), q)):
            if not any(np.abs(signature - other).max() < SAME_POSES for other in signatures):
                configurations.append(x)
                signatures.append(signature)
    q = np.array(configurations).reshape(len(configurations), start.shape[1])
    group = fit_problem.repeat(len(q))
    q = q[np.argsort(np.linalg.norm(problem.local(np.repeat(start, len(q), axis=0), q), axis=1))]
    freedom = least_squares.freedom(group, q) if len(q) else np.zeros(0, int)
    return (
        least_squares.Fit(q, np.linalg.norm(group.target_rows(q)[0], axis=1), group.violation(q)),
        freedom,
        _is_isolated(group, q, freedom),
    )


def _is_isolated(group, q, freedom):
    """True for fits without exact neighbours. A fit with a freedom is tested by a small step along its freest direction."""
    isolated, some = freedom == 0, np.flatnonzero(freedom > 0)
    if len(some):
        part, here = group.select(some), q[some]
        trial = least_squares.minimise(
            part, group.problem.move(here, FAMILY_STEP * least_squares.freest_direction(part, here))
        )
        away = np.abs(group.problem.local(here, trial.q)).max(axis=1)
        isolated[some] = ~(trial.exact & (away > FAMILY_STEP / 2))
    return isolated


def _signatures(problem, group, q):
    """Poses of all bodies as vectors, lengths divided by the size of the model."""
    H = problem.dynamics.poses(q, group.p, group.t[0])
    return (H / np.array([[1, 1, 1, problem.length]] * 4)).reshape(len(q), H[:1].size if len(q) else 0)
