"""Velocities at a start that satisfy the constraints, keep what the user gave, and change least otherwise.

Each level chooses among the velocities that the levels before it leave free:

    0   the constraints                    G v = −g_t
    1   given velocities of bodies and rates of joints: exactly, else the velocities with the least T(v − w) of all w that have
        the given values
    2   rates that are left open: the least T(v − v₀), where v₀ has all joints at rest whose rates are left open
    3   the least T(v)

    T(u) = ½ uᵀ M u                        kinetic energy of a change                                  (1)
    min T(v − w) with A w = b   =   ½ (A v − b)ᵀ (A M⁻¹ Aᵀ)⁻¹ (A v − b)                                  (2)

T and the sets of velocities do not depend on axes, on the order of elements or on how often a constraint is declared, nor does v.
A joint rate is r = J v + r₀, with r₀ of a ground that moves by itself. v₀ of level 2 moves bodies that open joints connect as one
body, and has the given rates where that is possible; else its kinetic distance to motions that have them is the least. Rates that
levels 0 and 1 determine are not open.
"""

from typing import NamedTuple

import numpy as np

from ..errors import AssemblyError
from ..formulations.initial import moving, speeds
from ..joints import Joint
from .examiner import CLOSED, WELL, shortened, solved

FREE = 1e-6  # a row of length 1 on velocities that are free to choose, below which it is given by the levels before it
NOISE = 1e-13  # entries of orthonormal vectors that are rounding
MET = 1e-12  # residual of rows of length 1 over the largest velocity, below which masses have no say
CHANGED = 1e-9  # change of a velocity over the largest one, above which it is reported


class Rates(NamedTuple):
    """Rates of all joints that have coordinates, r = J v + r₀, one row per coordinate.

    joints      names of the joints, per row
    acts        whether they hold
    left_open   rates that nobody gave, of joints that hold
    reference   what these are where nothing asks for something else
    """

    J: np.ndarray
    r0: np.ndarray
    joints: np.ndarray
    acts: np.ndarray
    left_open: np.ndarray
    reference: np.ndarray


class Found(NamedTuple):
    """Velocities by levels, and how they were found.

    v           velocities
    residuals   of the constraints, without units; then of each level of given values, in their units
    chosen      rates of joints that follow from levels 2 and 3
    free        a basis of the changes of velocities that levels 0 and 1 leave, per row of v
    """

    v: np.ndarray
    residuals: list
    chosen: np.ndarray
    free: np.ndarray


def consistent_velocities(formulation, examiner, t, q, p, keep=None):
    """v that satisfies the velocity constraints and keeps what was given; and a list of what was changed or completed.

    keep   rows in use: these are satisfied to rounding, also where others disagree with them a little
    """
    model, columns = formulation.model, examiner.columns
    n = len(columns)
    rates = open_rates(formulation, t, q, p)
    E, r0, names = given_rows(formulation, rates)
    e = formulation.examined["speeds"](p[: len(model.inputs)]).ravel() - r0
    units = examiner.units(t, q, p)
    g_t = examiner.psi(t, q, np.zeros(n), p) / units
    whole, alone = np.zeros(n), np.zeros(n, bool)
    for row, value in zip(E, e):
        if np.count_nonzero(row) == 1:
            whole[row != 0], alone[row != 0] = value, True
    complete = alone.all() and np.array_equal(E @ whole, e)  # each velocity was given by itself, and once
    weight = _lengths(E, columns)
    examiner.scales.rate = max(examiner.scales.rate, np.abs(g_t).max(initial=0.0), np.abs(e / weight).max(initial=0.0))
    off = np.abs(examiner.psi(t, q, whole, p) / units).max(initial=0)
    if complete and off <= 1e-12 * examiner.speed(whole):
        return whole, []
    if not (g_t.any() or e.any() or rates.r0.any()):
        return np.zeros(n), []  # nothing asks for motion
    found = by_levels(examiner, t, q, p, [(E, e)], rates)
    v = examiner.onto(t, q, found.v, p, examiner.places if keep is None else keep)
    scale = examiner.speed(v)
    wrong = np.abs(found.residuals[0]) > CLOSED * scale
    if wrong.any():
        _refuse_contradictions(examiner, np.flatnonzero(wrong), -examiner.psi(t, q, v, p), units * CLOSED * scale)
    lost = np.abs(found.residuals[1] / weight) > CHANGED * scale
    if lost.any():
        _refuse_slipping(formulation, examiner, (t, q, p), (E, e), names, lost)
    told, kept = e + r0, e + r0 - found.residuals[1]
    changes = [f"{names[k]}: {told[k]:.6g} became {kept[k]:.6g}" for k in np.flatnonzero(lost)]
    return v, changes + completed(formulation, examiner, rates, found, v)


def open_rates(formulation, t, q, p):
    """Rates of joints: those that nobody gave are left open, and are zero where nothing asks for something else."""
    joints = moving(formulation.model)
    J, r = formulation.examined["rates"](t, q, np.zeros(len(formulation.linear())), p)
    acts = np.array([id(j) not in formulation.released for j in joints for _ in range(j.dof)], bool)
    given = np.array([j.start_rate is not None for j in joints for _ in range(j.dof)], bool)
    names = np.array([j.name for j in joints for _ in range(j.dof)], object)
    return Rates(J, r.ravel(), names, acts, acts & ~given, np.zeros(len(J)))


def by_levels(examiner, t, q, p, given, rates):
    """Velocities that satisfy the constraints, and all others by levels.

    given   pairs of rows and values, E v = e, in the order in which they are to be kept
    rates   of joints
    """
    columns = examiner.columns
    A, g_t, _ = _constraints(examiner, t, q, p)
    x, N = _solutions(A, -g_t)
    residuals, spread = [-g_t - A @ x], _Spread(examiner, q, p)
    every = [_of_length_one(E, e, columns) for E, e in given]
    for rows, values in every:
        x, N = spread.nearest(x, N, rows, values)
    residuals += [e - E @ (x * columns) for E, e in given]
    free, chosen = N, np.zeros(len(rates.J), bool)
    if N.shape[1]:
        J, values = _of_length_one(rates.J, rates.reference - rates.r0, columns)
        chosen = rates.left_open & (np.linalg.norm(J @ N, axis=1) > FREE)
        if chosen.any():
            owner = [row.constraint.name for row in examiner.rows]
            rigid = np.isin(owner, [*set(rates.joints[chosen])])
            joined = np.array([isinstance(row.constraint, Joint) for row in examiner.rows], bool)
            z, Z = _solutions(np.vstack([A[rigid], J[chosen]]), np.concatenate([-g_t[rigid], values[chosen]]))
            known = np.vstack([A[joined & ~rigid], J[rates.acts & ~chosen], *[rows for rows, _ in every]])
            z, Z = spread.nearest(z, Z, known, known @ x)
            across = _complement(Z)
            x, N = spread.nearest(x, N, across, across @ z)
        x, N = spread.nearest(x, N, np.eye(len(x)), np.zeros(len(x)))
    return Found(x * columns, residuals, chosen, free)


class _Spread:
    """Kinetic distance of velocities to what rows say about them: (2), in dimensionless velocities."""

    def __init__(self, examiner, q, p):
        self._examiner, self._at, self._inverse = examiner, (q, p), None

    def nearest(self, x, N, A, b):
        """Of all x + N s those that have the least kinetic distance to A w = b: one of them, and a basis of their differences."""
        if not (len(A) and N.shape[1]):
            return x, N
        A, b = _independent(A, b)
        inside, rest = A @ N, b - A @ x
        U, s, Vt = np.linalg.svd(inside, full_matrices=True)
        rank = int((s > FREE).sum())
        seen, unseen = Vt[:rank].T, Vt[rank:].T
        step = seen @ ((U[:, :rank].T @ rest) / s[:rank])
        if np.abs(rest - inside @ step).max() > MET * max(np.abs(rest).max(), np.abs(x).max(initial=0.0)):
            step = seen @ self._least(A, inside @ seen, rest)
        return x + N @ step, _cleaned(N @ unseen)

    def _least(self, A, inside, rest):
        """s with the least kinetic distance of `inside` s to `rest`, values of the orthonormal rows A: (2)."""
        W = A @ self.inverse() @ A.T
        size = 1 / np.sqrt(np.diag(W))
        L = np.linalg.cholesky(W * size[:, None] * size)
        weighted = np.linalg.solve(L, size[:, None] * np.column_stack([inside, rest]))
        Q, R = np.linalg.qr(weighted[:, :-1])
        return np.linalg.solve(R, Q.T @ weighted[:, -1])

    def inverse(self):
        """M⁻¹ of dimensionless velocities."""
        if self._inverse is None:
            C = self._examiner.columns
            found = self._examiner.Minv(*self._at) / C[:, None] / C
            self._inverse = found / np.abs(found).max(initial=0.0)
        return self._inverse


def _constraints(examiner, t, q, p):
    """Rows of the constraints of at most length 1 on dimensionless velocities, −G v beside them, and units of the rows."""
    units = examiner.units(t, q, p)
    g_t = examiner.psi(t, q, np.zeros(len(examiner.columns)), p) / units
    return *shortened(examiner.matrix(t, q, p), g_t), units


def _lengths(A, columns):
    """Lengths of rows on dimensionless velocities, 1 for those that vanish."""
    size = np.linalg.norm(A * columns, axis=1)
    return np.where(size > 0, size, 1.0)


def _of_length_one(A, b, columns):
    """Rows of length 1 on dimensionless velocities, and values beside them."""
    size = _lengths(A, columns)
    return A * columns / size[:, None], b / size


def _independent(A, b):
    """Orthonormal rows that say the same as A x = b, in the sense of least squares where these rows contradict each other."""
    if len(A) <= A.shape[1]:
        Q, R = np.linalg.qr(A.T)
        if np.abs(np.diag(R)).min() > WELL:
            return Q.T, np.linalg.solve(R.T, b)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    rank = int((s > FREE).sum())
    return Vt[:rank], (U[:, :rank].T @ b) / s[:rank]


def _solutions(A, b):
    """The least x that fits A x = b best, and a basis of the differences of all such x."""
    n = A.shape[1]
    if not len(A):
        return np.zeros(n), np.eye(n)
    x, N = solved(A, b, FREE)
    return x, _cleaned(N)


def _cleaned(N):
    """A basis without rounding: what a light body does must not push heavy ones."""
    return np.where(np.abs(N) > NOISE, N, 0.0)


def _complement(N):
    """Orthonormal rows that vanish on the orthonormal columns of N."""
    n, size = N.shape
    return np.linalg.qr(N, mode="complete")[0][:, size:].T if size else np.eye(n)


def _refuse_contradictions(examiner, wrong, off, limit):
    """Refuse rows that no velocities satisfy together: those that are left over where the others hold, then these others."""
    over = [k for k in wrong if abs(off[k]) > limit[k]] or list(wrong)
    told = [f"{examiner.rows[k]} (off by {off[k]:.3g}){examiner.rows[k].between}" for k in over[:5]]
    others = dict.fromkeys(examiner.rows[k].constraint.name for k in wrong if k not in over)
    against = f", against {', '.join(list(others)[:5])}" if others else ""
    raise AssemblyError(
        f"model {examiner.name!r}: contradictory prescribed velocities: {'; '.join(told)}{against}. No velocities satisfy all "
        "constraints at the start; remove one of them or make the prescribed motions agree."
    )


def _refuse_slipping(formulation, examiner, place, given, names, lost):
    """Refuse given velocities that the position-level constraints allow and a velocity-level one forbids.

    place   t, q and p;   given   rows and values, in their units
    """
    held, (t, q, p) = examiner.holonomic, place
    if held.all():
        return
    A, g_t, units = _constraints(examiner, t, q, p)
    E, e = _of_length_one(*given, examiner.columns)
    w, _ = _Spread(examiner, q, p).nearest(*_solutions(A[held], -g_t[held]), E, e)
    scale = max(examiner.scales.rate, np.abs(w).max(initial=0.0))
    if np.abs(e - E @ w).max(initial=0.0) > CHANGED * scale:
        return  # they contradict each other or the joints anyway: the least change is made and reported
    off = A @ w + g_t
    broken = np.abs(off) > CHANGED * scale
    rows = "; ".join(f"{examiner.rows[k]} (off by {off[k] * units[k]:.3g})" for k in np.flatnonzero(broken)[:5])
    told = ", ".join(names[k] for k in np.flatnonzero(lost)[:5])
    raise AssemblyError(
        f"model {formulation.model.name!r}: the given velocities ({told}) contradict velocity-level constraints: {rows}. "
        "Give velocities that satisfy them, or leave them out."
    )


def given_rows(formulation, rates):
    """Rows E v + r₀ of what the user gave, with names."""
    told, joints = speeds(formulation), moving(formulation.model)
    places = [at + k for _, x, at in told if at is not None for k in range(x.shape[0])]
    picked = np.zeros((len(places), rates.J.shape[1]))
    picked[np.arange(len(places)), places] = 1.0
    rows = np.array([j.start_rate is not None for j in joints for _ in range(j.dof)], bool)
    names = [f"{name}[{k}]" for name, x, _ in told for k in range(x.shape[0])]
    return np.vstack([picked, rates.J[rows]]), np.concatenate([np.zeros(len(places)), rates.r0[rows]]), names


def completed(formulation, examiner, rates, found, v):
    """What was left open and follows from a least change of kinetic energy, in words."""
    if not found.free.shape[1]:
        return []
    model, limit = formulation.model, CHANGED * examiner.speed(v)
    own, size = rates.J @ v + rates.r0, _lengths(rates.J, examiner.columns)
    names = [f"{j.name}.rate[{k}]" for j in moving(model) for k in range(j.dof)]
    moved = found.chosen & (np.abs(own / size) > limit)
    every = [(names[k], own[k]) for k in np.flatnonzero(moved)]
    follows = np.linalg.norm(found.free, axis=1) > FREE
    for body, *_ in floating_trees(model, [j for j in model.joints if id(j) not in formulation.released]):
        at = formulation.offset[id(body)]
        for what, first in (("velocity", 0),) if body.particle else (("velocity", 0), ("angular_velocity", 3)):
            for k in range(3):
                place = at + first + k
                if follows[place] and abs(v[place] / examiner.columns[place]) > limit:
                    every.append((f"{body.name}.{what}[{k}]", v[place]))
    return [f"{name}: left open, became {value:.6g}" for name, value in every]


def floating_trees(model, joints):
    """Bodies that no chain of these joints connects to a ground: lists of those that joints connect, in the order of the model."""
    neighbours: dict[int, list] = {}
    for joint in joints:
        neighbours.setdefault(id(joint.first), []).append(joint.second)
        neighbours.setdefault(id(joint.second), []).append(joint.first)
    reached: set[int] = set()

    def connected(first):
        found, waiting = [], list(first)
        while waiting:
            body = waiting.pop()
            if id(body) not in reached:
                reached.add(id(body))
                found.append(body)
                waiting += neighbours.get(id(body), [])
        return found

    connected(model.grounds)
    order = {id(body): k for k, body in enumerate(model.bodies)}
    trees = [connected([body]) for body in model.bodies]
    return [sorted(tree, key=lambda body: order[id(body)]) for tree in trees if tree]
