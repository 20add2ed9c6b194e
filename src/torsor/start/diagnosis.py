"""Find redundant constraints, and refuse contradictory ones.

The rows of G, made dimensionless (`formulations/algebra/scales.py`), are examined at several assembled configurations, so that a
singular start (all bars in line) does not count. A row is redundant if it is a linear combination of the rows before it in all of
these configurations, up to a tolerance:

    G_i = Σ c_j G_j        →  λ is not unique in the rows with c_j ≠ 0, and in row i                 (1)

Müller and Terze, remark 5 [mueller2009]; Vlasenko, remark 2.4 [vlasenko2006].
"""

from dataclasses import dataclass, field

import numpy as np

from ..errors import AssemblyError
from .constraints import REDUNDANT_RESIDUAL, WELL_CONDITIONED_SINE, limit_row_lengths, minimum_norm_solution

ROWS_PER_BLOCK = 32  # number of rows that are orthogonalised against all rows before them at once
DEPENDENT_SINE = 1e-6  # sine of the angle between a row and the rows before it, below which it depends on them


@dataclass
class Diagnosis:
    """Redundancy and degrees of freedom of the active constraints of a model."""

    rows: int  # number of active rows
    keep: list  # indices of the independent rows, which are in use, among all declared rows
    redundant: list = field(default_factory=list)  # indices of the redundant rows
    shared: list = field(default_factory=list)  # indices of the rows whose multiplier is not unique
    freedom: int = 0  # degrees of freedom at a generic configuration
    start_freedom: int = 0  # degrees of freedom at the start
    sine: float = (
        1.0  # smallest sine of the angle between a row in use and the rows before it, at the best configuration
    )


def independent(A, likely=None):
    """Indices of the rows that do not depend on the rows before them, and the smallest sine of the angle among them.

    likely   the expected result, which is quick to confirm
    """
    (A,) = limit_row_lengths(A)
    if len(A) <= A.shape[1]:
        sines = np.abs(np.diag(np.linalg.qr(A.T, mode="r")))
        if np.all(sines > DEPENDENT_SINE):
            return list(range(len(A))), float(sines.min(initial=1.0))
    if likely is not None and (smallest := _confirm_independent(A, likely)) is not None:
        return likely, smallest
    keep: list[int] = []
    sine = 1.0
    basis = np.zeros((min(A.shape), A.shape[1]))
    for start in range(0, len(A), ROWS_PER_BLOCK):
        first = len(keep)
        block = _orthogonal_part(A[start : start + ROWS_PER_BLOCK], basis[:first])
        for i, row in enumerate(block, start):
            if len(keep) == len(basis):
                return keep, sine
            row = _orthogonal_part(row, basis[first : len(keep)])
            if (
                DEPENDENT_SINE / 2 < np.sqrt(row @ row) < WELL_CONDITIONED_SINE
            ):  # rounding left by earlier blocks is no longer small
                row = _orthogonal_part(row, basis[: len(keep)])
            size = float(np.sqrt(row @ row))
            if size > DEPENDENT_SINE:
                basis[len(keep)] = row / size
                keep.append(i)
                sine = min(sine, size)
    return keep, sine


def _confirm_independent(A, keep):
    """The smallest sine among these rows if they are the result of `independent`; else None."""
    if not 0 < len(keep) <= A.shape[1]:
        return None
    Q, R = np.linalg.qr(A[keep].T)
    sines = np.abs(np.diag(R))
    rest = np.ones(len(A), bool)
    rest[keep] = False
    others = A[rest]
    indices = np.flatnonzero(rest)
    later = (others @ Q) * (np.array(keep) > indices[:, None])  # components along rows that come after the row
    left = (_orthogonal_part(others, Q.T) ** 2).sum(axis=1) + (later**2).sum(axis=1)
    return float(sines.min()) if sines.min() > DEPENDENT_SINE and left.max(initial=0.0) <= DEPENDENT_SINE**2 else None


def is_well_conditioned_basis(A, keep):
    """True if these rows are well conditioned and all other rows depend on them."""
    (A,) = limit_row_lengths(A)
    if len(keep) > A.shape[1]:
        return False
    Q, R = np.linalg.qr(A[keep].T)
    others = np.delete(A, keep, axis=0)
    left = np.linalg.norm(_orthogonal_part(others, Q.T), axis=1)
    return bool(np.abs(np.diag(R)).min(initial=1.0) > WELL_CONDITIONED_SINE and left.max(initial=0.0) <= DEPENDENT_SINE)


def _orthogonal_part(rows, basis):
    """The part of rows that is orthogonal to an orthonormal basis. It is computed twice, which removes rounding."""
    for _ in range(2):
        rows = rows - (rows @ basis.T) @ basis
    return rows


def _independent_by_precedence(rows, A, likely=None):
    """`independent` with rows in the order of their precedence: lasting constraints, then contacts, then friction."""
    order = sorted(range(len(rows)), key=lambda k: rows[k].constraint.precedence)
    if likely is not None:
        position = {k: i for i, k in enumerate(order)}
        likely = sorted(position[k] for k in likely)
    keep, sine = independent(A[order], likely)
    return sorted(order[k] for k in keep), sine


def diagnose(examiner, t, q, p, samples=2, seed=7, likely=None, mobility=None):
    """Diagnose the constraint Jacobian at the start and at sampled assembled configurations.

    likely     indices of the rows that are expected to be independent
    mobility   degrees of freedom of the mechanism, if known from other coordinates or another configuration: if the start has the
               same number, no configuration is sampled
    """
    A = examiner.matrix(t, q, p)
    n, freedom = A.shape
    if n == 0:
        return Diagnosis(0, [], freedom=freedom, start_freedom=freedom)
    active = {index: k for k, index in enumerate(examiner.places)}
    likely = None if likely is None else [active[index] for index in likely if index in active]
    at_start, sine = _independent_by_precedence(examiner.rows, A, likely)
    keep, best = at_start, A
    if len(at_start) < min(A.shape) and freedom - len(at_start) != mobility:
        random = np.random.default_rng(seed)
        for k in range(samples):
            sample = examiner.sample_nearby(t, q, p, random, 0.2 * (k + 1), A)
            if sample is None:
                continue
            there = examiner.matrix(t, sample, p)
            rows, angle = _independent_by_precedence(examiner.rows, there, keep)
            if len(rows) > len(keep):
                keep, sine, best = rows, angle, there
    keep = sorted(_improve_conditioning(examiner.rows, best, keep, sine))
    redundant = sorted(set(range(n)) - set(keep))
    shared = _rows_in_dependencies(limit_row_lengths(best)[0], keep, redundant) if redundant else []
    return Diagnosis(
        rows=n,
        keep=[examiner.places[k] for k in keep],
        redundant=[examiner.places[k] for k in redundant],
        shared=[examiner.places[k] for k in shared],
        freedom=freedom - len(keep),
        start_freedom=freedom - len(at_start),
        sine=sine,
    )


def _pivoted_rows(rows, A):
    """Independent rows by pivoting: each has the largest part orthogonal to the rows before, in the order of their precedence."""
    (A,) = limit_row_lengths(A)
    keep: list[int] = []
    precedence = np.array([row.constraint.precedence for row in rows])
    for level in np.unique(precedence):
        sizes = np.where(precedence == level, np.linalg.norm(A, axis=1), 0.0)
        while len(keep) < A.shape[1] and sizes.max() > DEPENDENT_SINE:
            k = int(np.argmax(sizes * (1 + 1e-6 * (len(A) - np.arange(len(A))) / len(A))))  # the first of equal ones
            direction = A[k] / np.linalg.norm(A[k])
            A = A - np.outer(A @ direction, direction)
            keep.append(k)
            A[keep] = 0.0
            sizes = np.where(precedence == level, np.linalg.norm(A, axis=1), 0.0)
    return keep


def _improve_conditioning(rows, A, keep, sine):
    """The rows in use, or others that are more or much better conditioned."""
    if len(keep) == len(A) or sine > WELL_CONDITIONED_SINE:
        return keep

    def conditioning(indices):
        return np.linalg.svd(limit_row_lengths(A[indices])[0], compute_uv=False).min(initial=1.0)

    other = _pivoted_rows(rows, A)
    if len(other) > len(keep) or (len(other) == len(keep) and conditioning(other) > 2 * conditioning(keep)):
        return other
    return keep


def choose_independent_rows(examiner, keep, t, q, p):
    """Choose the rows to use from here on, where those in use have become dependent, as in a loop whose plane turns."""
    active = {index: k for k, index in enumerate(examiner.places)}
    rows = _improve_conditioning(examiner.rows, examiner.matrix(t, q, p), [active[k] for k in keep], 0.0)
    return sorted(examiner.places[k] for k in rows)


def _rows_in_dependencies(A, keep, redundant):
    """Indices of the rows that are part of a linear dependency: (1)."""
    lengths = np.linalg.norm(A[redundant], axis=1)
    directions = A[redundant] / np.where(lengths > DEPENDENT_SINE, lengths, np.inf)[:, None]  # zero for an empty row
    weights = np.linalg.norm(A[keep], axis=1)[:, None]
    c = minimum_norm_solution(A[keep].T, directions.T) if keep else np.zeros((0, len(redundant)))
    involved = np.abs(c * weights).max(axis=1, initial=0.0) > 1e-6
    return sorted(set(np.array(keep, int)[involved].tolist()) | set(redundant))


def refuse_contradictions(examiner, diagnosis, t, q, v, p, rows, speed=0.0):
    """Refuse redundant rows that prescribe another velocity or acceleration than the rows they depend on.

    speed   rate of the velocities from which v was computed [1/s]: rounding is relative to it if v is nearly zero
    """
    if not diagnosis.redundant:
        return
    keep = diagnosis.keep
    redundant = diagnosis.redundant
    units = examiner.units(t, q, p, redundant)
    gamma_kept, gamma = (examiner.gamma(t, q, v, p, x) / examiner.units(t, q, p, x) for x in (keep, redundant))
    a = minimum_norm_solution(examiner.matrix(t, q, p, keep), gamma_kept)
    velocity = examiner.psi(t, q, v, p, redundant) / units
    acceleration = examiner.matrix(t, q, p, redundant) @ a - gamma
    rate = max(examiner.speed(v), speed)
    for residuals, what, scale in (
        (velocity, "velocity", rate),
        (acceleration, "acceleration", max(rate**2, *(np.abs(x).max(initial=0.0) for x in (a, gamma_kept, gamma)))),
    ):
        wrong = [
            (redundant[k], x * units[k]) for k, x in enumerate(residuals) if abs(x) > 10 * REDUNDANT_RESIDUAL * scale
        ]
        if wrong:
            names = "; ".join(f"{rows[k]} (off by {x:.3g}){rows[k].between}" for k, x in wrong[:5])
            raise AssemblyError(
                f"model {examiner.name!r}: contradictory constraints: {names}. These rows depend on the other constraints, "
                f"which prescribe a different {what}; remove them or make the prescribed motions agree."
            )
