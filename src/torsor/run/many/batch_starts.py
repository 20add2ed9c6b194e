"""Starts of many runs at once, with other values of parameters: the same starts that `prepare` computes one by one.

For trees, and for loops whose constraints hold in the given position, the start is the given one. It only has to be checked:

    the constraints hold to rounding, every joint is assembled correctly, the active rows are independent, and the kernels have
    the same units

A start that fails a check, or needs more (an assembly, other rows or units, redundant constraints), is marked as not sure. The
full preparation of its run then computes it.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ...elements import quantity
from ...errors import TorsorError
from ...formulations.algebra.numpy_functions import NumericFunction
from ...formulations.algebra.scales import UNIT_BASE, Scales, sizes
from ...formulations.graphs.start_functions import captures, joints_with_coordinates, joints_with_start
from ...prepare.choice import close_two_sided
from ...start.constraints import ASSEMBLY_RESIDUAL, REDUNDANT_RESIDUAL, Examiner
from ...start.diagnosis import DEPENDENT_SINE
from ...start.impostors import ALIGNED_COSINE, IMPOSTOR_AT_START
from ...start.velocities import consistent_velocities
from ..run_tolerances import MOTION_RESOLVED
from .batch_bounds import Bounds
from .repeated_runs import RunStarts

TRIANGLE_MARGIN = 1e-7  # relative excess of a moment of inertia over the sum of the others that is surely accepted
FULL_RANK_FROM = 1e-3  # smallest singular value of rows of length 1 from which they surely determine all velocities
POSITIVE_MOMENT_FROM = 1e-12  # smallest moment of inertia / largest, from which it is surely positive
SYMMETRIC = 1e-12  # asymmetry of an inertia matrix / largest entry


class BatchStarts:
    """Starts of many runs of one formulation of a model, at one time.

    derivation   of the model (`prepare/derivation.py`)
    system       at the start with the parameters of the model; the choice of rows and coordinates is the same in all runs
    until        end of the runs [s]
    base         values of all parameters of the system
    columns      indices of the parameters that vary
    """

    def __init__(self, derivation, system, until, base, columns):
        self.system = system
        self.model = derivation.model
        self.until = until
        self.base = base
        self.columns = columns
        self.formulation = derivation.numeric()
        self.absolute = self.formulation.absolute
        self.parametric_bodies, weights = self.model.derived.get("masses", ((), None))
        self.weights: Any = None if weights is None else NumericFunction(weights)
        self.bounds = Bounds(self.model)
        self.bodies = {body.name: k for k, body in enumerate(self.model.bodies)}
        self.labels = [row.label for row in self.absolute.rows]
        fixed_choice = not (system.partition or self.formulation.watches)
        self.checkable = fixed_choice and not (system.left_out or system.redundant or system.changes)
        self.common_start = fixed_choice and self._has_common_start()

    def _has_common_start(self):
        """True if the start depends on no parameter that varies, apart from masses and inertias.

        All runs then start as the system does, also with loops and redundant constraints.
        """
        used = ["g", "G", "psi", "gamma", "departures", "alignments", "rates", "speeds", "held", "starts"]
        used += ["M", "Minv"] if np.any(self.system.v) and not self._velocities_are_given() else []
        for f in (self.absolute, self.formulation):
            for name in [name for name in [*used, "adopt"] if name in f.start_functions]:
                function = f.start_functions[name].function
                if any(self._varies(function, k) for k in range(function.n_out())):
                    return False
        given = self.absolute.start_functions["given"].function
        return not any(self._varies(given, k) for k in (0, 1))  # configuration and turns; sizes are compared as numbers

    def _velocities_are_given(self):
        """True if constraints and joint rates determine all velocities at the start, so that these do not depend on masses."""
        f, t, inputs = (
            self.absolute,
            np.array([self.system.t]),
            np.array(self.system.p[self.model.input_layout.model_inputs]),
        )
        if self.system.changes:
            return False
        q, turns = (x.ravel() for x in f.start_functions["given"](t, inputs)[:2])
        p, n = np.concatenate([inputs, turns]), len(f.linear())
        active = [id(j) not in f.released for j in joints_with_coordinates(self.model) for _ in range(j.dof)]
        J = f.start_functions["rates"](t, q, np.zeros(n), p)[0][np.array(active, bool)]
        rows = np.vstack([f.start_functions["G"](t, q, p)[f.active_rows()], J])
        rows = rows * np.where(np.array(f.linear(), bool), self.system.length, 1.0)
        lengths = np.linalg.norm(rows, axis=1)
        rows = rows[lengths > 0] / lengths[lengths > 0, None]
        return len(rows) >= n and bool(np.linalg.svd(rows, compute_uv=False).min() > FULL_RANK_FROM)

    def _varies(self, function, k):
        """True if output k of a function depends on a parameter that varies; parameters come first in its last argument."""
        return bool(set(function.jac_sparsity(k, function.n_in() - 1).get_triplet()[1]) & set(self.columns))

    def find(self, values):
        """Starts for rows of values of all parameters, and for each start whether it is sure."""
        model, n, t = self.model, len(values), np.array([[self.system.t]])
        sure = np.full(n, self.checkable) & self._are_valid(values)
        inputs = np.empty((n, len(model.inputs)))
        inputs[:] = model.input_values(dict(zip(model.parameters, values[0].tolist())))
        inputs[:, : values.shape[1]] = values
        given = self.absolute.start_functions["given"].over(t, inputs)
        if self.common_start:
            starts, common = self._common_starts(given, inputs, self._are_valid(values))
            if common.all() or not self.checkable:
                return starts, common
        q, turns, weights = (x[:, :, 0] for x in given[:3])
        p = self._set_captured(t, q, np.concatenate([inputs, turns], axis=1))
        length, levers, rate = sizes(*given[3:])
        sure &= np.isfinite(q).all(axis=1) & np.isfinite(p).all(axis=1) & (np.abs(q).max(axis=1) <= quantity.LARGEST)
        G = self.absolute.start_functions["G"].over(t, q, p)
        units, lengths, same = self._units(t, q, p, G, length)
        sure &= same & self._are_assembled(t, q, p, units, length) & self._have_start_coordinates(t, q, p)
        sure &= self._are_independent(self.absolute, G, length, levers, units)
        v = self._velocities(t, q, p, (length, levers, rate, lengths), sure)
        own_q, own_v, own_p = self._to_formulation(t, q, v, p)
        if self.formulation is not self.absolute:
            f = self.formulation
            indices = [self.labels.index(row.label) if row.label in self.labels else -1 for row in f.rows]
            own_units = np.where(np.array(indices, int) >= 0, np.column_stack([units, np.ones(n)])[:, indices], 1.0)
            sure &= self._are_independent(f, f.start_functions["G"].over(t, own_q, own_p), length, levers, own_units)
        rates = np.abs(own_v / np.where(np.array(self.system.linear, bool), length[:, None], 1.0))
        sure &= _below(rates * self.until, MOTION_RESOLVED)
        states = own_p[:, list(self.system.state.states)]
        x = np.concatenate([own_q, own_v, np.zeros((n, 1)), states], axis=1)
        mass, inertia = weights.T.copy()
        return RunStarts(x, own_p, np.ones(n, np.int64), length, mass, inertia, rate, levers, lengths), sure

    def systems(self, starts, built):
        """The system at each of these starts; built: its kernels, which count turns."""
        system, s, layout = self.system, starts, self.system.state
        p = s.p.copy()
        if system.sizes["turns"] and s.turning.any():
            p[:, self.model.input_layout.turns] = built["turns"].over(np.array([system.t]), s.x, p)[0]
        for i in range(len(s)):
            fields = {"p": p[i].tolist(), "mass": float(s.mass[i]), "inertia": float(s.inertia[i])}
            if s.turning[i]:
                q, v = layout.split_blocks(s.x[i])
                scales = dict(vars(self._scales(s.length[i], s.levers[i], s.units[i], s.rate[i])))
                fields |= {"q": q.tolist(), "v": v.tolist(), "length": float(s.length[i]), "scales": scales}
            yield replace(system, **fields)

    def _scales(self, length, levers, units, rate):
        """Scales of one run; rows that vanish have no unit."""
        rows = {label: x for label, x in zip(self.labels, units.tolist()) if x > 0}
        return Scales(float(length), dict(zip(self.bodies, levers.tolist())), rows, float(rate))

    def _set_captured(self, t, q, p):
        """Set the memories of constraints that keep the value that they have at the start. Returns p."""
        if captured := captures(self.absolute):
            columns = [self.model.input_layout.place(memory) for memory, _ in captured]
            p[:, columns] = self.absolute.start_functions["held"].over(t, q, p)[:, :, 0]
        return p

    def _are_assembled(self, t, q, p, units, length):
        """True where the active constraints hold in the given position, and each joint is assembled correctly."""
        f, released = self.absolute.start_functions, self.absolute.released
        active = self.absolute.active_rows()

        def is_active(elements):
            return np.array([id(element) not in released for element in elements], bool)

        sure = _below(np.abs(f["g"].over(t, q, p)[:, :, 0] / units)[:, active], ASSEMBLY_RESIDUAL)
        angle, shift = np.moveaxis(f["departures"].over(t, q, p)[:, is_active(self.model.joints)], 2, 0)
        sure &= _below(np.maximum(angle, shift / length[:, None]), IMPOSTOR_AT_START)
        return sure & _below(-f["alignments"].over(t, q, p)[:, is_active(self.model.constraints), 0], -ALIGNED_COSINE)

    def _common_starts(self, given, inputs, sure):
        """Starts that differ from that of the system in parameters, masses and inertias only; sure where the sizes are equal."""
        system, n = self.system, len(inputs)
        base_inputs = inputs[:1].copy()
        base_inputs[0, : len(self.base)] = self.base
        t = np.array([[system.t]])
        for own, base in zip(
            sizes(*given[3:]), sizes(*self.absolute.start_functions["given"].over(t, base_inputs)[3:])
        ):
            sure &= np.all(own.reshape(n, -1) == base.reshape(1, -1), axis=1)
        x = np.tile(np.asarray(system.state.join_blocks(system.q, system.v, system.p), float), (n, 1))
        p = np.tile(np.asarray(system.p, float), (n, 1))
        p[:, self.columns] = inputs[:, self.columns]
        mass, inertia = given[2][:, :, 0].T.copy()
        length, rate = np.full(n, system.length), np.full(n, float(system.scales["rate"]))
        return RunStarts(x, p, np.zeros(n, np.int64), length, mass, inertia, rate), sure

    def _are_valid(self, values):
        """True where `Model.values` surely accepts the values: parameters in their range, bodies with valid mass and inertia."""
        model = self.model
        positive = np.array([p.positive for p in model.parameters.values()], bool)
        sure = np.isfinite(values).all(axis=1) & (np.abs(values) <= quantity.LARGEST).all(axis=1)
        sure &= (values[:, positive] > 0).all(axis=1)
        if self.parametric_bodies:
            weights = self.weights.over(values)[:, :, 0]
            for body in self.parametric_bodies:
                size = sum(x.numel() for x in body.weights)
                sure &= _are_masses(weights[:, :size])
                weights = weights[:, size:]
        return sure & self.bounds(values)

    def _have_start_coordinates(self, t, q, p):
        """True where joints have the coordinates that they are to start with, so that no loop has to be closed for them."""
        if not (joints := {id(joint) for joint in joints_with_start(self.model)}):
            return np.full(len(q), True)
        requested, _ = self.absolute.start_functions["starts"].over(t, p[:, self.model.input_layout.model_inputs])
        where = np.array([id(j) in joints for j in joints_with_coordinates(self.model) for _ in range(j.dof)], bool)
        coordinates = self.absolute.start_functions["coordinates"].over(t, q, p)[:, where, 0]
        return _below(np.abs(coordinates - requested[:, :, 0]), REDUNDANT_RESIDUAL)

    def _units(self, t, q, p, G, length):
        """Units of rows; the same with zeros for rows that vanish; True where rounded units are those of the system."""
        linear, at = np.array(self.absolute.linear(), bool), close_two_sided(self.model, p)
        G = G if np.array_equal(at, p) else self.absolute.start_functions["G"].over(t, q, at)
        lengths = np.linalg.norm(G * np.where(linear, length[:, None], 1.0)[:, None, :], axis=2)
        units = np.where(lengths > 0, lengths, 1.0)
        system_units = dict(self.system.choice.units)
        same = _round(length) == self.system.choice.unit
        if self.labels:
            own = np.array([system_units.get(label, 0.0) for label in self.labels])
            same &= (np.where(lengths > 0, _round(units), 0.0) == own).all(axis=1) & (lengths > 0).any(axis=1)
        return units, lengths, same

    def _are_independent(self, f, G, length, levers, units):
        """True where no active row depends on the rows before it, by a QR decomposition of the scaled Jacobian."""
        active = f.active_rows()
        G, units = G[:, active], units[:, active]
        rows, n = G.shape[1:]
        if not rows or rows > n:
            return np.full(len(G), not rows)
        carried = [self.bodies.get(name, -1) for name in f.moved_bodies()]
        arms = np.c_[levers, length][:, carried]
        columns = np.where(np.array(f.linear(), bool), length[:, None], length[:, None] / arms)
        order = sorted(range(rows), key=lambda k: f.rows[active[k]].constraint.precedence)
        A = (G * columns[:, None, :] / units[:, :, None])[:, order]
        A = A / np.maximum(np.linalg.norm(A, axis=2), 1.0)[:, :, None]
        good = np.isfinite(A).all(axis=(1, 2))
        R = np.linalg.qr(np.where(good[:, None, None], A, 0.0).swapaxes(1, 2), mode="r")
        return good & (np.abs(np.diagonal(R, 0, 1, 2)) > DEPENDENT_SINE).all(axis=1)

    def _velocities(self, t, q, p, measures, sure):
        """Velocities at the start: zero where no motion is requested, else computed as for a single run.

        measures   size, levers, characteristic rate and units of rows of each run; the rate is updated by given velocities
        sure       set to False where velocities are inconsistent
        """
        count, n = len(q), len(self.absolute.linear())
        v, zero = np.zeros((count, n)), np.zeros((1, n))
        f, inputs = self.absolute.start_functions, self.model.input_layout.model_inputs
        requested = [f["psi"].over(t, q, zero, p), f["rates"].over(t, q, zero, p)[1], f["speeds"].over(p[:, inputs])]
        moves = np.any(np.concatenate([x.reshape(count, -1) for x in requested], axis=1) != 0, axis=1)
        for i in np.flatnonzero(moves & sure):
            length, levers, rate, units = (x[i] for x in measures)
            scales = self._scales(length, levers, units, rate)
            try:
                v[i], changes = consistent_velocities(self.absolute, Examiner(self.absolute, scales), t[0], q[i], p[i])
            except (TorsorError, np.linalg.LinAlgError):
                changes = ["refused"]
            sure[i] = not changes
            measures[2][i] = scales.rate
        return v

    def _to_formulation(self, t, q, v, p):
        """The same states in the coordinates of the formulation."""
        f = self.formulation
        if "adopt" not in f.start_functions:
            return q, v, p
        own_q, own_v = (x[:, :, 0] for x in f.start_functions["adopt"].over(t, q, v, p))
        inputs = self.model.input_layout
        turns = inputs.turn_places(self.absolute.turns)
        indices = [*range(inputs.count), *[turns[j.name, k] for j, k in f.turns]]
        return own_q, own_v, np.ascontiguousarray(p[:, indices])


def _below(x, limit):
    """True for each row whose numbers are all at most `limit`."""
    return (x <= limit).all(axis=1)


def _round(x):
    """`formulations.scales.rounded` of positive numbers."""
    return UNIT_BASE ** np.round(np.log(np.where(x > 0, x, 1.0)) / np.log(UNIT_BASE))


def _are_masses(weights):
    """True for each row that surely is mass and inertia of a body: positive, no moment larger than the sum of the others.

    weights   mass, then the inertia matrix column by column; rows of one number are masses of particles
    """
    mass = weights[:, 0]
    sure = (mass >= quantity.SMALLEST) & (mass <= quantity.LARGEST)
    if weights.shape[1] == 1:
        return sure
    J = weights[:, 1:].reshape(-1, 3, 3)
    size, least = np.abs(J).max(axis=(1, 2)), 10 * quantity.SMALLEST**2
    sure &= np.isfinite(J).all(axis=(1, 2)) & (size <= quantity.LARGEST) & (size > 0)
    sure &= np.abs(J - J.swapaxes(1, 2)).max(axis=(1, 2)) <= SYMMETRIC * size
    moments = np.linalg.eigvalsh(np.where(sure[:, None, None], J, np.eye(3)))
    sure &= moments[:, 0] > np.maximum(POSITIVE_MOMENT_FROM * size, least)
    return sure & (moments[:, 2] <= (moments[:, 0] + moments[:, 1]) * (1 + TRIANGLE_MARGIN))
