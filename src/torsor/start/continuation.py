"""Assembled configurations with requested values of joint coordinates, in absolute coordinates, by continuation.

If a mechanism has several assemblies, the requested one is that which the mechanism reaches by motion, without being taken apart.
So the coordinates follow a straight line from their present values

    ξ(s) = ξ₀ + s (ξ₁ − ξ₀),     0 ≤ s ≤ 1                                                              (1)

in steps of predictor and corrector. The predictor uses tangent and curvature, and steps are so short that Newton's method makes
small corrections only. If no assembly has all requested values, the nearest one is computed (`nearest_assembly.py`).
"""

import numpy as np

from ..formulations.graphs.outputs import coordinate_units
from ..formulations.graphs.start_functions import active_at_start, joints_with_coordinates
from ..model.topology import spanning_tree
from .constraints import ASSEMBLY_RESIDUAL, REDUNDANT_RESIDUAL, minimum_norm_solution
from .diagnosis import independent
from .impostors import IMPOSTOR_AT_START, impostors, misaligned_constraints
from .nearest_assembly import nearest
from .start_tolerances import TARGET_REACHED

# lengths of steps and corrections: rad, or lengths divided by the size of the model
LONGEST_STEP = 0.7
LONGEST_FIRST_STEP = 0.3  # while the curvature is not known
CORRECTION_RATIO = 0.35  # largest correction by Newton's method / predicted step
LARGEST_CORRECTION = 0.1
CORRECTION_AIM = 0.5  # correction that the next step aims at / largest correction
INTERMEDIATE_RESIDUAL = 1e-6  # residual of coordinates and constraints at intermediate steps
TANGENT_RESIDUAL = (
    1e-6  # residual of the tangent equations / their right-hand side, above which they contradict each other
)
SHORTEST_STEP = 1e-3  # part of the line (1)
SINGULAR_STEP = 1e-4  # length of a step that may pass a singular position
NEARBY_DISTANCE = 0.3  # distance of further start points from the base in the search for the nearest assembly
NEARBY_POINTS = 3  # number of these start points


class CoordinateContinuation:
    """Moves joint coordinates of a model to requested values.

    f          numeric formulation in absolute coordinates;   examiner   of its constraints
    slices     slice of the coordinates of each joint, by name
    in_loops   names of the joints that are in loops
    outside_loops   indices of the coordinates of active joints that are in no loop
    """

    def __init__(self, f, examiner):
        self.f = f
        self.examiner = examiner
        joints = joints_with_coordinates(f.model)
        self.in_loops = {joint.name for loop in spanning_tree(f.model).loops() for joint in loop}
        ends = np.cumsum([0, *[j.dof for j in joints]]).tolist()
        self.slices = {j.name: slice(a, b) for j, a, b in zip(joints, ends, ends[1:])}
        self.units = np.array([examiner.length if unit == "m" else 1.0 for j in joints for unit in coordinate_units(j)])
        self.angular = np.array([x for j in joints for x in j.angular], bool)
        self.turn_indices = [self.slices[joint.name].start + k for joint, k in f.turns]  # angles with counted turns
        first = [self.slices[j.name].start for j in joints if j.quasi]
        self.rotation_vectors = [[k, k + 1, k + 2] for k in first]
        alone = [j for j in joints if active_at_start(j) and j.name not in self.in_loops]
        self.outside_loops = [index for j in alone for index in self._indices(j)]
        self._likely: dict[tuple, list] = {}

    def _indices(self, joint):
        own = self.slices[joint.name]
        return range(own.start, own.stop)

    def close(self, t, q, p, targets, coordinates, base):
        """Close the loops with the target coordinates if possible. Returns q, which may still need assembly, and p.

        q, p          as placed along the joints, with loops open
        targets       requested values by index of the coordinate
        coordinates   present values, which joints in no loop keep; None if they need not
        base          an assembled configuration and its p; None if there is none
        """
        others = {
            index: coordinates[index]
            for index in self.outside_loops
            if coordinates is not None and index not in targets
        }
        if self.is_assembled(t, q, p, TARGET_REACHED):
            if self._largest_residual(t, q, p, [*targets], [*targets.values()]) <= TARGET_REACHED:
                return q, p
        for fixed in (targets | others, targets):
            if not fixed:
                continue
            indices, values = [*fixed], np.array([*fixed.values()])
            result = None if base is None else self.follow_line(t, base[0], base[1], indices, values)
            if result is None:
                near, _ = self.correct(t, q, p, indices, values)
                if self._is_proper_assembly(t, near, p):
                    result = near, p
            if result is not None:
                return result
        return self._close_nearest(t, q, p, targets, others, base)

    def _close_nearest(self, t, q, p, targets, others, base):
        """The configuration nearest to the targets that the constraints allow, other coordinates unchanged.

        The search starts from the base, from points near it, since the base itself may be an extremum, and from q. The nearest
        result counts.
        """
        values = targets | others
        random = np.random.default_rng(1)
        fixed = {index: x for index, x in values.items() if index in self.outside_loops}
        moved = {index: x for index, x in targets.items() if index not in self.outside_loops}
        p = p.copy()
        turn_values = p[self.f.model.input_layout.turns]
        for k, index in enumerate(self.turn_indices):
            turn_values[k] = values.get(index, turn_values[k])
        near = []
        if base is not None:
            near = [self.examiner.sample_nearby(t, *base, random, NEARBY_DISTANCE) for _ in range(NEARBY_POINTS)]
        best = q, np.inf
        for first in [*([] if base is None else [base[0]]), *near, q]:
            result = None if first is None else nearest(self, t, first, p, moved, fixed)
            if (
                result is not None
                and result[1] < (1 - REDUNDANT_RESIDUAL) * best[1]
                and self._is_proper_assembly(t, result[0], p)
            ):
                best = result
            if best[1] <= TARGET_REACHED:
                break
        return best[0], p

    def _is_proper_assembly(self, t, q, p):
        """True if q is a configuration in which no constraint is an impostor."""
        if q is None or misaligned_constraints(self.f, t, q, p):
            return False
        joints = [self.f.model.joints[k] for k in impostors(self.f, self.examiner.length, IMPOSTOR_AT_START, t, q, p)]
        return all(id(joint) in self.f.released for joint in joints)

    def coordinates(self, t, q, p):
        """Coordinates ξ of all joints, in the order of the model."""
        return self.f.start_functions["coordinates"](t, q, p).ravel()

    def slopes(self, t, q, p):
        """∂ξ̇/∂v of all coordinates."""
        if self.rotation_vectors:
            return self.f.start_functions["slopes"](t, q, p)
        return self.f.start_functions["rates"](t, q, np.zeros(len(self.examiner.columns)), p)[0]

    def residuals(self, t, q, p, indices, values):
        """Differences of coordinates from these values, lengths divided by the size of the model."""
        every = self.coordinates(t, q, p)
        for at, other, _ in self.shorter_rotation_vectors(every, indices, values):
            every[at] = other
        return (every[indices] - values) / self.units[indices]

    def jacobian(self, t, q, p, indices, values):
        """Derivative of `residuals` with respect to û."""
        J = self.slopes(t, q, p)
        if self.rotation_vectors:
            for at, _, slope in self.shorter_rotation_vectors(self.coordinates(t, q, p), indices, values):
                J[at] = slope @ J[at]
        return J[indices] * self.examiner.columns / self.units[indices][:, None]

    def shorter_rotation_vectors(self, every, indices, values):
        """Equivalent rotation vectors w' = w (1 − 2π/|w|) that are nearer to their values than w: indices, w' and ∂w'/∂w."""
        targets = dict(zip(indices, values))
        for at in self.rotation_vectors:
            w = every[at]
            size = np.linalg.norm(every[at])
            if size > 0 and all(index in targets for index in at):
                value = [targets[index] for index in at]
                ratio = 2 * np.pi / size
                if np.linalg.norm((1 - ratio) * w - value) < np.linalg.norm(w - value):
                    yield at, (1 - ratio) * w, (1 - ratio) * np.eye(3) + ratio * np.outer(w, w) / size**2

    def _largest_residual(self, t, q, p, indices, values):
        return np.abs(self.residuals(t, q, p, indices, values)).max(initial=0.0)

    def correct(self, t, q, p, indices, values, limit=ASSEMBLY_RESIDUAL):
        """The configuration near q with these coordinates, by Newton's method, and the distance it moved; None if it fails."""

        def residuals(q):
            return self.residuals(t, q, p, indices, values)

        def jacobian(q):
            return self.jacobian(t, q, p, indices, values)

        return self.examiner.assemble(t, q, p, extra=(residuals, jacobian), limit=limit)

    def is_assembled(self, t, q, p, limit=REDUNDANT_RESIDUAL):
        """True if the constraints hold."""
        return np.abs(self.examiner.g(t, q, p) / self.examiner.units(t, q, p)).max(initial=0.0) <= limit

    def follow_line(self, t, q, p, indices, values):
        """Move an assembled configuration q along (1) to these coordinates.

        Returns q and p, which has the angles from which turns are counted; None if the values cannot be reached. Whole turns of
        an angle are added at the end instead of being followed.
        """
        p, values = self._count_turns(t, q, p), np.array(values, float)
        first = self.coordinates(t, q, p)[indices]
        way = values - first
        turns = np.where(self.angular[indices], 2 * np.pi * np.trunc(way / (2 * np.pi)), 0.0)
        way = way - turns
        s, longest, before = 0.0, 1.0, None
        A, b = self._tangent_equations(t, q, p, indices, values - turns, way)
        square = self._determining_rows(A, indices)
        sign = self._determinant_sign(A, square)
        while s < 1:
            tangent = minimum_norm_solution(A, b)  # dû/ds
            if s == 0 and np.abs(A @ tangent - b).max(initial=0.0) > TANGENT_RESIDUAL * np.abs(b).max(initial=0.0):
                return None  # the constraints do not permit these coordinates to move together like this
            while True:
                step = min(longest, 1 - s, self._longest_step(tangent, before))
                goal = 1.0 if step >= (1 - s) * (1 - REDUNDANT_RESIDUAL) else s + step
                target = first + goal * way
                trial, ratio = self._predict_and_correct(t, q, p, indices, target, step, tangent, before, goal == 1)
                longest = step * np.clip((CORRECTION_AIM / max(ratio, 1e-9)) ** (1 / 3), 0.3, 2.0)
                if ratio <= 1:
                    p_trial = self._count_turns(t, trial, p)
                    A, b = self._tangent_equations(t, trial, p_trial, indices, values - turns, way)
                    new_sign = self._determinant_sign(A, square)
                    if sign * new_sign >= 0 or step * self._size(tangent) <= SINGULAR_STEP:
                        break
                    longest = step / 2
                if ratio > 1 and longest < SHORTEST_STEP:
                    return None
            before, q, p, s, sign = (step, tangent), trial, p_trial, goal, new_sign or sign
        turn_values = p[self.f.model.input_layout.turns]
        for k, index in enumerate(self.turn_indices):
            turn_values[k] += turns[indices.index(index)] if index in indices else 0.0
        return q, p

    def _longest_step(self, tangent, before):
        """Longest permitted step in s."""
        size = self._size(tangent)
        return (LONGEST_FIRST_STEP if before is None else LONGEST_STEP) / size if size > 0 else 1.0

    def _size(self, tangent):
        return self.examiner.rate(self.examiner.columns * tangent)

    def _determining_rows(self, A, indices):
        """Indices of independent rows that determine all velocities; None if there are too few."""
        keep, _ = independent(A, self._likely.get((len(A), *indices)))
        self._likely = {(len(A), *indices): keep}
        return keep if len(keep) == A.shape[1] else None

    def _determinant_sign(self, A, square):
        """Sign of the determinant of these rows. It changes where a singular position is passed, or another assembly is met."""
        return 0.0 if square is None else float(np.linalg.slogdet(A[square])[0])

    def _predict_and_correct(self, t, q, p, indices, values, step, tangent, before, last):
        """One step along the line, with curvature from the step before; and its correction / largest permitted correction."""
        curvature = 0.0 if before is None else (tangent - before[1]) * step**2 / (2 * before[0])
        move = self.examiner.columns * (step * tangent + curvature)
        limit = ASSEMBLY_RESIDUAL if last else INTERMEDIATE_RESIDUAL
        result, moved = self.correct(t, self.examiner.move(q, move), p, indices, values, limit)
        ratio = moved / (min(CORRECTION_RATIO * self.examiner.rate(move), LARGEST_CORRECTION) + REDUNDANT_RESIDUAL)
        return result, np.inf if result is None else ratio

    def _tangent_equations(self, t, q, p, indices, values, change):
        """Equations A û = b of a change of these coordinates that the constraints permit."""
        A = np.vstack([self.examiner.matrix(t, q, p), self.jacobian(t, q, p, indices, values)])
        return A, np.concatenate([np.zeros(len(A) - len(indices)), change / self.units[indices]])

    def _count_turns(self, t, q, p):
        """A copy of p in which turns are counted from the angles at q."""
        p = p.copy()
        p[self.f.model.input_layout.turns] = self.coordinates(t, q, p)[self.turn_indices]
        return p
