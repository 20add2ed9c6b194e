"""Which constraints are redundant, and which contradict each other.

The rows of G are examined at several assembled configurations, so that an accidental position (all bars in line) does not
count. A row is redundant where it is a combination of the rows before it in every one of them:

    G_i = Σ c_j G_j        →  λ is not unique in the rows with c_j ≠ 0, and in row i                 (1)

Müller and Terze, remark 5 [mueller2009]; Vlasenko, remark 2.4 [vlasenko2006].
"""

from dataclasses import dataclass, field

import numpy as np

from ..errors import AssemblyError

DEPENDENT = 1e-9  # squared sine of the angle between a row and the rows before it, below which it depends on them


@dataclass
class Diagnosis:
    """What is known about the constraints of a model."""

    rows: int  # how many hold
    keep: list  # places of the rows in use, among all declared ones
    redundant: list = field(default_factory=list)  # places of redundant rows
    shared: list = field(default_factory=list)  # places of rows whose multiplier is not unique
    freedom: int = 0  # degrees of freedom at a generic configuration
    start_freedom: int = 0  # and at the start

    def plain(self):
        return dict(self.__dict__)


def rank_of_rows(G, Minv):
    """Rows that do not depend on the rows before them, and the smallest squared sine among them."""
    S = G @ Minv @ G.T
    size = np.sqrt(np.maximum(np.diag(S), 0.0))
    empty = size <= 1e-9 * size.max(initial=0.0)  # a row that says nothing in these coordinates, but for rounding
    S = S / np.outer(np.where(empty, np.inf, size), np.where(empty, np.inf, size))
    keep, least = [], 1.0
    for i in range(len(S)):
        pivot = S[i, i]
        if pivot > DEPENDENT:
            keep.append(i)
            least = min(least, pivot)
            if i + 1 < len(S):
                c = S[i + 1 :, i]
                S[i + 1 :, i + 1 :] -= np.outer(c, c / pivot)
    return keep, least


def _kept(rows, G, Minv):
    """`rank_of_rows` with the rows in the order of their rank: what holds for good before contacts, these before friction."""
    order = sorted(range(len(rows)), key=lambda k: rows[k].constraint.rank)
    keep, least = rank_of_rows(G[order], Minv)
    return sorted(order[k] for k in keep), least


def diagnose(examiner, t, q, p, samples=2, seed=7):
    """Examine the constraint matrix at the start and at sampled assembled configurations."""
    G0, Minv = examiner.G(t, q, p), examiner.Minv(q, p)
    n = G0.shape[0]
    freedom = G0.shape[1]
    if n == 0:
        return Diagnosis(0, [], freedom=freedom, start_freedom=freedom)
    at_start, least = _kept(examiner.rows, G0, Minv)
    best, where = (len(at_start), least, at_start), q
    if len(at_start) < min(G0.shape):
        random = np.random.default_rng(seed)
        for k in range(samples):
            sample = examiner.wander(t, q, p, random, 0.2 * (k + 1))
            if sample is None:
                continue
            keep, least = _kept(examiner.rows, examiner.G(t, sample, p), Minv)
            if (len(keep), least) > best[:2] and len(keep) > best[0]:
                best, where = (len(keep), least, keep), sample
    keep = best[2]
    redundant = sorted(set(range(n)) - set(keep))
    shared = _shared(examiner.G(t, where, p), Minv, keep, redundant) if redundant else []
    declared = lambda places: [examiner.places[k] for k in places]
    known = (declared(keep), declared(redundant), declared(shared))
    return Diagnosis(n, *known, freedom - len(keep), freedom - len(at_start))


def _shared(G, Minv, keep, redundant):
    """Rows that take part in a dependency: (1)."""
    K = G[keep]
    S = K @ Minv @ K.T
    c = np.linalg.solve(S, K @ Minv @ G[redundant].T)
    length = np.sqrt(np.einsum("ij,jk,ik->i", G[redundant], Minv, G[redundant]))
    weight = np.sqrt(np.diag(S))[:, None] / np.where(length > 0, length, np.inf)[None, :]  # an empty row shares nothing
    taking_part = np.abs(c * weight).max(axis=1) > 1e-6
    return sorted(set(np.array(keep)[taking_part].tolist()) | set(redundant))


def refuse_contradictions(examiner, diagnosis, t, q, v, p, rows):
    """Refuse redundant rows that ask for another velocity or acceleration than the rows they depend on."""
    if not diagnosis.redundant:
        return
    keep, redundant = diagnosis.keep, diagnosis.redundant
    velocity, gamma = examiner.psi(t, q, v, p, redundant), examiner.gamma(t, q, v, p)
    K, Minv = examiner.G(t, q, p, keep), examiner.Minv(q, p)
    S = K @ Minv @ K.T
    S += 1e-13 * np.trace(S) / len(S) * np.eye(len(S))
    a = Minv @ K.T @ np.linalg.solve(S, examiner.gamma(t, q, v, p, keep))
    acceleration = examiner.G(t, q, p, redundant) @ a - examiner.gamma(t, q, v, p, redundant)
    for off, what, scale in (
        (velocity, "velocity", examiner.speed(v)),
        (acceleration, "acceleration", max(1.0, np.abs(a).max(), np.abs(gamma).max())),
    ):
        wrong = [(redundant[k], x) for k, x in enumerate(off) if abs(x) > 1e-6 * scale]
        if wrong:
            names = "; ".join(f"{rows[k]} (off by {x:.3g})" for k, x in wrong[:5])
            raise AssemblyError(
                f"model {examiner.name!r}: contradictory constraints: {names}. These rows depend on the other constraints, "
                f"which prescribe a different {what}; remove them or make the prescribed motions agree."
            )
