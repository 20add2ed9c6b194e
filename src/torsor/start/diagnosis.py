"""Which constraints are redundant, and which contradict each other.

The rows of G, made dimensionless (`formulations/scales.py`), are examined at several assembled configurations, so that an
accidental position (all bars in line) does not count. A row is redundant where it is a combination of the rows before it in
every one of them, but for noise:

    G_i = Σ c_j G_j        →  λ is not unique in the rows with c_j ≠ 0, and in row i                 (1)

Müller and Terze, remark 5 [mueller2009]; Vlasenko, remark 2.4 [vlasenko2006].
"""

from dataclasses import dataclass, field

import numpy as np

from ..errors import AssemblyError
from .examiner import CLOSED, WELL, least, shortened

BLOCK = 32  # rows that are compared with all rows before them at once
DEPENDENT = 1e-6  # sine of the angle between a row and the rows before it, below which it depends on them


@dataclass
class Diagnosis:
    """What is known about the constraints of a model."""

    rows: int  # how many hold
    keep: list  # places of the rows in use, among all declared ones
    redundant: list = field(default_factory=list)  # places of redundant rows
    shared: list = field(default_factory=list)  # places of rows whose multiplier is not unique
    freedom: int = 0  # degrees of freedom at a generic configuration
    start_freedom: int = 0  # and at the start
    sine: float = 1.0  # the smallest angle between a row in use and the rows before it, where they stand best

    def plain(self):
        return dict(self.__dict__)


def independent(A, likely=None):
    """Rows that do not depend on the rows before them, and the smallest sine among them.

    likely   what they probably are: this is quick to confirm
    """
    (A,) = shortened(A)
    if len(A) <= A.shape[1]:
        sines = np.abs(np.diag(np.linalg.qr(A.T, mode="r")))
        if np.all(sines > DEPENDENT):
            return list(range(len(A))), float(sines.min(initial=1.0))
    if likely is not None and (least_sine := _confirmed(A, likely)) is not None:
        return likely, least_sine
    keep: list[int] = []
    sine, basis = 1.0, np.zeros((min(A.shape), A.shape[1]))
    for start in range(0, len(A), BLOCK):
        first = len(keep)
        block = _beyond(A[start : start + BLOCK], basis[:first])
        for i, row in enumerate(block, start):
            if len(keep) == len(basis):
                return keep, sine
            row = _beyond(row, basis[first : len(keep)])
            if DEPENDENT / 2 < np.sqrt(row @ row) < WELL:  # what rounding left of earlier blocks is no longer small
                row = _beyond(row, basis[: len(keep)])
            size = float(np.sqrt(row @ row))
            if size > DEPENDENT:
                basis[len(keep)] = row / size
                keep.append(i)
                sine = min(sine, size)
    return keep, sine


def _confirmed(A, keep):
    """The smallest sine among these rows, where they are all that do not depend on the rows before them; else None."""
    if not 0 < len(keep) <= A.shape[1]:
        return None
    Q, R = np.linalg.qr(A[keep].T)
    sines = np.abs(np.diag(R))
    rest = np.ones(len(A), bool)
    rest[keep] = False
    others, places = A[rest], np.flatnonzero(rest)
    later = (others @ Q) * (np.array(keep) > places[:, None])  # what only rows behind a row explain of it
    left = (_beyond(others, Q.T) ** 2).sum(axis=1) + (later**2).sum(axis=1)
    return float(sines.min()) if sines.min() > DEPENDENT and left.max(initial=0.0) <= DEPENDENT**2 else None


def suffice(A, keep):
    """Whether some rows stand well to each other, and all others depend on them."""
    (A,) = shortened(A)
    if len(keep) > A.shape[1]:
        return False
    Q, R = np.linalg.qr(A[keep].T)
    others = np.delete(A, keep, axis=0)
    left = np.linalg.norm(_beyond(others, Q.T), axis=1)
    return bool(np.abs(np.diag(R)).min(initial=1.0) > WELL and left.max(initial=0.0) <= DEPENDENT)


def _beyond(rows, basis):
    """What rows say beyond an orthonormal basis; the second time takes away what rounding left."""
    for _ in range(2):
        rows = rows - (rows @ basis.T) @ basis
    return rows


def _kept(rows, A, likely=None):
    """`independent` with the rows in the order of their rank: what holds for good before contacts, these before friction."""
    order = sorted(range(len(rows)), key=lambda k: rows[k].constraint.rank)
    if likely is not None:
        place = {k: i for i, k in enumerate(order)}
        likely = sorted(place[k] for k in likely)
    keep, sine = independent(A[order], likely)
    return sorted(order[k] for k in keep), sine


def diagnose(examiner, t, q, p, samples=2, seed=7, likely=None, mobility=None):
    """Examine the constraint matrix at the start and at sampled assembled configurations.

    likely     places of the rows that will probably be in use
    mobility   degrees of freedom that the mechanism is known to have, from other coordinates or another configuration: where the
               start has as many, no sample has less
    """
    A = examiner.matrix(t, q, p)
    n, freedom = A.shape
    if n == 0:
        return Diagnosis(0, [], freedom=freedom, start_freedom=freedom)
    own = {place: k for k, place in enumerate(examiner.places)}
    likely = None if likely is None else [own[place] for place in likely if place in own]
    at_start, sine = _kept(examiner.rows, A, likely)
    keep, best = at_start, A
    if len(at_start) < min(A.shape) and freedom - len(at_start) != mobility:
        random = np.random.default_rng(seed)
        for k in range(samples):
            sample = examiner.wander(t, q, p, random, 0.2 * (k + 1), A)
            if sample is None:
                continue
            there = examiner.matrix(t, sample, p)
            found, angle = _kept(examiner.rows, there, keep)
            if len(found) > len(keep):
                keep, sine, best = found, angle, there
    keep = sorted(_better(examiner.rows, best, keep, sine))
    redundant = sorted(set(range(n)) - set(keep))
    shared = _shared(shortened(best)[0], keep, redundant) if redundant else []
    declared = lambda places: [examiner.places[k] for k in places]
    known = (declared(keep), declared(redundant), declared(shared))
    return Diagnosis(n, *known, freedom - len(keep), freedom - len(at_start), sine)


def _best(rows, A):
    """As many rows as are independent, each time the one that says most beyond the rows before it, in the order of ranks."""
    (A,) = shortened(A)
    keep: list[int] = []
    rank = np.array([row.constraint.rank for row in rows])
    for level in np.unique(rank):
        sizes = np.where(rank == level, np.linalg.norm(A, axis=1), 0.0)
        while len(keep) < A.shape[1] and sizes.max() > DEPENDENT:
            k = int(np.argmax(sizes * (1 + 1e-6 * (len(A) - np.arange(len(A))) / len(A))))  # of equal ones the first
            direction = A[k] / np.linalg.norm(A[k])
            A = A - np.outer(A @ direction, direction)
            keep.append(k)
            A[keep] = 0.0
            sizes = np.where(rank == level, np.linalg.norm(A, axis=1), 0.0)
    return keep


def _better(rows, A, keep, sine):
    """The rows in use, or others that stand much better to each other."""
    if len(keep) == len(A) or sine > WELL:
        return keep
    found = _best(rows, A)
    stand = lambda places: np.linalg.svd(shortened(A[places])[0], compute_uv=False).min(initial=1.0)
    return found if len(found) > len(keep) or (len(found) == len(keep) and stand(found) > 2 * stand(keep)) else keep


def anew(examiner, keep, t, q, p):
    """Which rows to use from here on, where those in use have come to depend on each other: a loop whose plane turns."""
    places = {place: k for k, place in enumerate(examiner.places)}
    found = _better(examiner.rows, examiner.matrix(t, q, p), [places[k] for k in keep], 0.0)
    return sorted(examiner.places[k] for k in found)


def _shared(A, keep, redundant):
    """Rows that take part in a dependency: (1)."""
    lengths = np.linalg.norm(A[redundant], axis=1)
    speaking = A[redundant] / np.where(lengths > DEPENDENT, lengths, np.inf)[:, None]  # an empty row shares nothing
    weights = np.linalg.norm(A[keep], axis=1)[:, None]
    c = least(A[keep].T, speaking.T) if keep else np.zeros((0, len(redundant)))
    taking_part = np.abs(c * weights).max(axis=1, initial=0.0) > 1e-6
    return sorted(set(np.array(keep, int)[taking_part].tolist()) | set(redundant))


def refuse_contradictions(examiner, diagnosis, t, q, v, p, rows, speed=0.0):
    """Refuse redundant rows that ask for another velocity or acceleration than the rows they depend on.

    speed   that something had from which v was found: what stops altogether is left with its rounding
    """
    if not diagnosis.redundant:
        return
    keep, redundant = diagnosis.keep, diagnosis.redundant
    units = examiner.units(t, q, p, redundant)
    told, gamma = (examiner.gamma(t, q, v, p, x) / examiner.units(t, q, p, x) for x in (keep, redundant))
    a = least(examiner.matrix(t, q, p, keep), told)
    velocity = examiner.psi(t, q, v, p, redundant) / units
    acceleration = examiner.matrix(t, q, p, redundant) @ a - gamma
    rate = max(examiner.speed(v), speed)
    for off, what, scale in (
        (velocity, "velocity", rate),
        (acceleration, "acceleration", max(rate**2, *(np.abs(x).max(initial=0.0) for x in (a, told, gamma)))),
    ):
        wrong = [(redundant[k], x * units[k]) for k, x in enumerate(off) if abs(x) > 10 * CLOSED * scale]
        if wrong:
            names = "; ".join(f"{rows[k]} (off by {x:.3g}){rows[k].between}" for k, x in wrong[:5])
            raise AssemblyError(
                f"model {examiner.name!r}: contradictory constraints: {names}. These rows depend on the other constraints, "
                f"which prescribe a different {what}; remove them or make the prescribed motions agree."
            )
