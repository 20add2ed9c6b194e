"""Starts of many runs at once, with other values of parameters: what `prepare` finds one by one, wherever that is sure.

For trees, and for loops whose constraints hold as they are given, a start is what the user gave, and only has to be looked through:

    the constraints hold to rounding, every joint is what it means, no row depends on others, and kernels have the same units

What of this fails for a run, and whatever a start asks for beyond it (an assembly, other rows or units, redundant constraints), is
left to the full preparation of that run.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ..describe import quantity
from ..errors import TorsorError
from ..formulations.evaluation import Evaluated
from ..formulations.initial import captures, moving, started
from ..formulations.scales import STEP, Scales, sizes
from ..start.diagnosis import DEPENDENT
from ..start.examiner import CLOSED, ROUNDING, Examiner
from ..start.impostors import ALIGNED, ASSEMBLED
from ..start.velocities import consistent_velocities
from .bounds import Bounds
from .prepare import shut
from .repeated import Beginnings
from .task import FARTHEST

ROUND = 1e-7  # by which a moment of inertia may surely be larger than the sum of the others
ALL = 1e-3  # least singular value of rows of length 1 that surely leave nothing free
THIN = 1e-12  # least moment over the largest that is surely positive


class Together:
    """Starts of one formulation of a model, at one time.

    told     what was derived from the model (`derived.py`);   until   end of the runs
    base     values of all parameters of the system;           columns   places of those that vary
    system   at the start with the parameters of the model: others must not differ from it in what is chosen
    """

    def __init__(self, told, system, until, base, columns):
        self.told, self.system, self.model, self.until = told, system, told.model, until
        self.base, self.columns = base, columns
        self.face = told.face()
        self.absolute = self.face.absolute
        self.depending, weights = self.model.derived.get("masses", ((), None))
        self.weights: Any = None if weights is None else Evaluated(weights)
        self.bounds = Bounds(self.model)
        self.bodies = {body.name: k for k, body in enumerate(self.model.bodies)}
        self.labels = [row.label for row in self.absolute.rows]
        free = not (system.partition or self.face.watches)
        self.able = free and not (system.left_out or system.redundant or system.changes)
        self.steady = free and self._steady()

    def _steady(self):
        """Whether no parameter that varies occurs in what a start is found from, but for masses and inertias: then all start as the
        system does, loops and redundant constraints included."""
        used = ["g", "G", "psi", "gamma", "departures", "alignments", "rates", "speeds", "held", "starts"]
        used += ["M", "Minv"] if np.any(self.system.v) and not self._told() else []
        for f in (self.absolute, self.face):
            for name in [name for name in [*used, "adopt"] if name in f.examined]:
                function = f.examined[name].function
                if any(self._varies(function, k) for k in range(function.n_out())):
                    return False
        given = self.absolute.examined["given"].function
        return not any(self._varies(given, k) for k in (0, 1))  # configuration and turns; sizes are compared in numbers

    def _told(self):
        """Whether constraints and joints tell all velocities at the start as it is given, so that masses have no say in them."""
        f, t, inputs = self.absolute, np.array([self.system.t]), np.array(self.system.p[: len(self.model.inputs)])
        if self.system.changes:
            return False
        q, turns = (x.ravel() for x in f.examined["given"](t, inputs)[:2])
        p, wide = np.concatenate([inputs, turns]), len(f.linear())
        moved = [id(j) not in f.released for j in moving(self.model) for _ in range(j.dof)]
        J = f.examined["rates"](t, q, np.zeros(wide), p)[0][np.array(moved, bool)]
        rows = np.vstack([f.examined["G"](t, q, p)[f.active_rows()], J])
        rows = rows * np.where(np.array(f.linear(), bool), self.system.length, 1.0)
        lengths = np.linalg.norm(rows, axis=1)
        rows = rows[lengths > 0] / lengths[lengths > 0, None]
        return len(rows) >= wide and bool(np.linalg.svd(rows, compute_uv=False).min() > ALL)

    def _varies(self, function, k):
        """Whether a result depends on a parameter that varies: these come first in the last argument."""
        return bool(set(function.jac_sparsity(k, function.n_in() - 1).get_triplet()[1]) & set(self.columns))

    def find(self, values):
        """Beginnings for rows of values of all parameters, and which of them are sure."""
        model, n, t = self.model, len(values), np.array([[self.system.t]])
        sure = np.full(n, self.able) & self._sound(values)
        inputs = np.empty((n, len(model.inputs)))
        inputs[:] = model.input_values(dict(zip(model.parameters, values[0].tolist())))
        inputs[:, : values.shape[1]] = values
        given = self.absolute.examined["given"].over(t, inputs)
        if self.steady:
            found = self._alike(given, inputs, self._sound(values))
            if found[1].all() or not self.able:
                return found
        q, turns, weights = (x[:, :, 0] for x in given[:3])
        p = self._captured(t, q, np.concatenate([inputs, turns], axis=1))
        length, levers, rate = sizes(*given[3:])
        sure &= np.isfinite(q).all(axis=1) & np.isfinite(p).all(axis=1) & (np.abs(q).max(axis=1) <= quantity.LARGEST)
        G = self.absolute.examined["G"].over(t, q, p)
        units, lengths, same = self._units(t, q, p, G, length)
        sure &= same & self._assembled(t, q, p, units, length) & self._placed(t, q, p)
        sure &= self._independent(self.absolute, G, length, levers, units)
        v = self._velocities(t, q, p, (length, levers, rate, lengths), sure)
        own_q, own_v, own_p = self._adopted(t, q, v, p)
        if self.face is not self.absolute:
            known = [self.labels.index(row.label) if row.label in self.labels else -1 for row in self.face.rows]
            own = np.where(np.array(known, int) >= 0, np.column_stack([units, np.ones(n)])[:, known], 1.0)
            sure &= self._independent(self.face, self.face.examined["G"].over(t, own_q, own_p), length, levers, own)
        reach = np.abs(own_v / np.where(np.array(self.system.linear, bool), length[:, None], 1.0))
        sure &= _below(reach * self.until, FARTHEST)
        states = own_p[:, list(self.system.state.states)]
        x = np.concatenate([own_q, own_v, np.zeros((n, 1)), states], axis=1)
        mass, inertia = weights.T.copy()
        return Beginnings(x, own_p, np.ones(n, np.int64), length, mass, inertia, rate, levers, lengths), sure

    def systems(self, beginnings, built):
        """The system at each of these beginnings, with its kernels, which count turns."""
        system, b, places = self.system, beginnings, self.system.state
        p = b.p.copy()
        if system.sizes["turns"] and b.turning.any():
            p[:, len(self.model.inputs) :] = built["turns"].over(np.array([system.t]), b.x, p)[0]
        for i in range(len(b)):
            told = {"p": p[i].tolist(), "mass": float(b.mass[i]), "inertia": float(b.inertia[i])}
            if b.turning[i]:
                q, v = places.parted(b.x[i])
                scales = dict(vars(self._scales(b.length[i], b.levers[i], b.units[i], b.rate[i])))
                told |= {"q": q.tolist(), "v": v.tolist(), "length": float(b.length[i]), "scales": scales}
            yield replace(system, **told)

    def _scales(self, length, levers, units, rate):
        """What one run is measured against; rows that vanish have no unit."""
        rows = {label: x for label, x in zip(self.labels, units.tolist()) if x > 0}
        return Scales(float(length), dict(zip(self.bodies, levers.tolist())), rows, float(rate))

    def _captured(self, t, q, p):
        """p with what constraints that hold from the start hold."""
        if captured := captures(self.absolute):
            places = {id(m): len(self.model.parameters) + k for k, m in enumerate(self.model.memories)}
            p[:, [places[id(memory)] for memory, _ in captured]] = self.absolute.examined["held"].over(t, q, p)[:, :, 0]
        return p

    def _assembled(self, t, q, p, units, length):
        """Whether the constraints that act hold as they are, each as what it means."""
        f, released = self.absolute.examined, self.absolute.released
        active = self.absolute.active_rows()
        acts = lambda elements: np.array([id(element) not in released for element in elements], bool)
        sure = _below(np.abs(f["g"].over(t, q, p)[:, :, 0] / units)[:, active], ROUNDING)
        angle, shift = np.moveaxis(f["departures"].over(t, q, p)[:, acts(self.model.joints)], 2, 0)
        sure &= _below(np.maximum(angle, shift / length[:, None]), ASSEMBLED)
        return sure & _below(-f["alignments"].over(t, q, p)[:, acts(self.model.constraints), 0], -ALIGNED)

    def _alike(self, given, inputs, sure):
        """Beginnings that are that of the system but for parameters, masses and inertias; sure where sizes are the same."""
        system, n = self.system, len(inputs)
        own = inputs[:1].copy()
        own[0, : len(self.base)] = self.base
        t = np.array([[system.t]])
        for mine, known in zip(sizes(*given[3:]), sizes(*self.absolute.examined["given"].over(t, own)[3:])):
            sure &= np.all(mine.reshape(n, -1) == known.reshape(1, -1), axis=1)
        tiled = lambda x: np.tile(np.asarray(x, float), (n, 1))
        x, p = tiled(system.state.joined(system.q, system.v, system.p)), tiled(system.p)
        p[:, self.columns] = inputs[:, self.columns]
        mass, inertia = given[2][:, :, 0].T.copy()
        length, rate = np.full(n, system.length), np.full(n, float(system.scales["rate"]))
        return Beginnings(x, p, np.zeros(n, np.int64), length, mass, inertia, rate), sure

    def _sound(self, values):
        """Whether values are surely those that `Model.values` takes: parameters in their range, bodies with mass and inertia."""
        model = self.model
        positive = np.array([p.positive for p in model.parameters.values()], bool)
        sure = np.isfinite(values).all(axis=1) & (np.abs(values) <= quantity.LARGEST).all(axis=1)
        sure &= (values[:, positive] > 0).all(axis=1)
        if self.depending:
            found = self.weights.over(values)[:, :, 0]
            for body in self.depending:
                size = sum(x.numel() for x in body.weights)
                sure &= _bodily(found[:, :size])
                found = found[:, size:]
        return sure & self.bounds(values)

    def _placed(self, t, q, p):
        """Whether joints have the coordinates that they start with, so that no loop has to be closed anew for them."""
        if not (first := {id(joint) for joint in started(self.model)}):
            return np.full(len(q), True)
        told, _ = self.absolute.examined["starts"].over(t, p[:, : len(self.model.inputs)])
        where = np.array([id(j) in first for j in moving(self.model) for _ in range(j.dof)], bool)
        found = self.absolute.examined["coordinates"].over(t, q, p)[:, where, 0]
        return _below(np.abs(found - told[:, :, 0]), CLOSED)

    def _units(self, t, q, p, G, length):
        """What rows are measured in; the same, zero for rows that vanish; whether kernels have the same units as the system's."""
        linear, at = np.array(self.absolute.linear(), bool), shut(self.model, p)
        G = G if np.array_equal(at, p) else self.absolute.examined["G"].over(t, q, at)
        lengths = np.linalg.norm(G * np.where(linear, length[:, None], 1.0)[:, None, :], axis=2)
        units = np.where(lengths > 0, lengths, 1.0)
        wanted = dict(self.system.choice.units)
        same = _rounded(length) == self.system.choice.unit
        if self.labels:
            own = np.array([wanted.get(label, 0.0) for label in self.labels])
            same &= (np.where(lengths > 0, _rounded(units), 0.0) == own).all(axis=1) & (lengths > 0).any(axis=1)
        return units, lengths, same

    def _independent(self, f, G, length, levers, units):
        """Whether no row that acts depends on the rows before it."""
        active = f.active_rows()
        G, units = G[:, active], units[:, active]
        rows, wide = G.shape[1:]
        if not rows or rows > wide:
            return np.full(len(G), not rows)
        carried = [self.bodies.get(name, -1) for name in f.carried()]
        arms = np.c_[levers, length][:, carried]
        columns = np.where(np.array(f.linear(), bool), length[:, None], length[:, None] / arms)
        order = sorted(range(rows), key=lambda k: f.rows[active[k]].constraint.rank)
        A = (G * columns[:, None, :] / units[:, :, None])[:, order]
        A = A / np.maximum(np.linalg.norm(A, axis=2), 1.0)[:, :, None]
        good = np.isfinite(A).all(axis=(1, 2))
        R = np.linalg.qr(np.where(good[:, None, None], A, 0.0).swapaxes(1, 2), mode="r")
        return good & (np.abs(np.diagonal(R, 0, 1, 2)) > DEPENDENT).all(axis=1)

    def _velocities(self, t, q, p, measures, sure):
        """Velocities at the start: none where nothing asks for motion; else as they are found for one run.

        measures   size, levers, rate of motions, which velocities that are given change, and units of rows
        """
        n, wide = len(q), len(self.absolute.linear())
        v, still = np.zeros((n, wide)), np.zeros((1, wide))
        f, inputs = self.absolute.examined, len(self.model.inputs)
        asked = [f["psi"].over(t, q, still, p), f["rates"].over(t, q, still, p)[1], f["speeds"].over(p[:, :inputs])]
        moved = np.any(np.concatenate([x.reshape(n, -1) for x in asked], axis=1) != 0, axis=1)
        for i in np.flatnonzero(moved & sure):
            length, levers, rate, units = (x[i] for x in measures)
            one = self._scales(length, levers, units, rate)
            try:
                v[i], changes = consistent_velocities(self.absolute, Examiner(self.absolute, one), t[0], q[i], p[i])
            except (TorsorError, np.linalg.LinAlgError):
                changes = ["refused"]
            sure[i], measures[2][i] = not changes, one.rate
        return v

    def _adopted(self, t, q, v, p):
        """The same states in the coordinates of the formulation."""
        f = self.face
        if "adopt" not in f.examined:
            return q, v, p
        own_q, own_v = (x[:, :, 0] for x in f.examined["adopt"].over(t, q, v, p))
        inputs = len(self.model.inputs)
        turned = {(j.name, k): inputs + i for i, (j, k) in enumerate(self.absolute.turns)}
        places = [*range(inputs), *[turned[j.name, k] for j, k in f.turns]]
        return own_q, own_v, np.ascontiguousarray(p[:, places])


def _below(x, limit):
    """Whether all numbers of a row are at most so large."""
    return (x <= limit).all(axis=1)


def _rounded(x):
    """`formulations.scales.rounded` of positive numbers."""
    return STEP ** np.round(np.log(np.where(x > 0, x, 1.0)) / np.log(STEP))


def _bodily(weights):
    """Whether masses and inertias, column by column, are surely those of bodies: positive, and no moment larger than the sum of the
    others; rows of one number are masses of particles."""
    mass = weights[:, 0]
    sure = (mass >= quantity.SMALLEST) & (mass <= quantity.LARGEST)
    if weights.shape[1] == 1:
        return sure
    J = weights[:, 1:].reshape(-1, 3, 3)
    size, least = np.abs(J).max(axis=(1, 2)), 10 * quantity.SMALLEST**2
    sure &= np.isfinite(J).all(axis=(1, 2)) & (size <= quantity.LARGEST) & (size > 0)
    sure &= np.abs(J - J.swapaxes(1, 2)).max(axis=(1, 2)) <= 1e-12 * size
    moments = np.linalg.eigvalsh(np.where(sure[:, None, None], J, np.eye(3)))
    sure &= moments[:, 0] > np.maximum(THIN * size, least)
    return sure & (moments[:, 2] <= (moments[:, 0] + moments[:, 1]) * (1 + ROUND))
