"""A model made ready for analysis: its equations in some coordinates, a consistent start, and what is unknown at any state.

Everything is compared without units, as at the start of a run (`formulations/scales.py`), with E = m L² of the whole model:

    v = C v̂,     Ĝ = G C / unit,     λ = E λ̂ / unit,     forces: C f / E                               (1)
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..errors import ModelError, OptionError
from ..registry import lookup
from ..run.automatic import prepared
from ..run.derived import derived
from ..run.prepare import face_of
from ..run.waist import layout_of
from ..start.diagnosis import diagnose, independent, suffice
from ..start.examiner import Examiner
from .equations import Equations, Unknown
from .given import finite, model_given

STEPS = 30  # of Newton's method for efforts that depend on reactions
ROUNDING = 1e-13  # (1) of what was solved for
SINGULAR = 1e-7  # sine of the angle between rows below which a position is singular


@dataclass(frozen=True)
class Place:
    """A state of a model: time, configuration, velocities, inputs; and which of the elements that events switch do not act."""

    t: float
    q: np.ndarray
    v: np.ndarray
    p: np.ndarray
    released: tuple = ()

    def moved(self, **changes):
        return replace(self, **changes)


@dataclass(frozen=True)
class Rows:
    """Which rows hold at a place: those in use, and independent ones among those that hold positions."""

    keep: list
    held: list


def equations_of(told, key, f, choice):
    """The equations behind a choice, derived once per formulation of a model; what `prepare` asks for in the place of kernels."""
    known = told.model.derived.setdefault("equations", {})
    if (told.formulation, told.mark) not in known:
        own = lookup("formulation", told.formulation)(told.model)
        own.measure(f.scales)
        states = layout_of(told.model, own.q.shape[0], own.v.shape[0], own.p.shape[0]).states
        known[told.formulation, told.mark] = Equations(own, states)
    return known[told.formulation, told.mark]


class Mechanism:
    """A model in the coordinates of a formulation.

    system      the start and all names, as in a run
    equations   see `equations.py`
    start       the place at which the model starts
    time        that was asked for; None: that of the state that an analysis is about
    """

    def __init__(self, model, formulation="auto", parameters=None, time=None, asked="analysis"):
        model_given(model, asked)
        t = finite(0.0 if time is None else time, f"{asked}: time")
        model.seal()
        self.model, self.parameters = model, model.values(parameters)
        self.time = None if time is None else t
        chosen, self.system, self.equations = prepared(
            model, formulation, parameters=parameters, t=t, needs=("equations",), build=equations_of
        )
        self.formulation = chosen.formulation
        self._told = derived(model, self.formulation, dict(model.signals))
        q, v, p = (np.array(x, float) for x in (self.system.q, self.system.v, self.system.p))
        self.start = Place(t, q, v, p, tuple(self.system.choice.released))
        self._examiners: dict = {}
        self._kept: dict = {}

    # names and units

    @property
    def names(self):
        """Of the velocities, one each."""
        return list(self.system.coordinates)

    @property
    def states(self):
        """Of the user's states."""
        return [name for name, _ in self.system.states]

    @cached_property
    def columns(self):
        """C of (1)."""
        return self.examiner(self.start).columns

    @cached_property
    def energy(self):
        """E of (1), over s²."""
        size = self.system.mass * self.system.length**2
        return size if size > 0 else max(self.system.inertia, 1e-300)

    # rows

    def face(self, place):
        return face_of(self._told, self.system, place.released)

    def examiner(self, place):
        """Numeric access to the rows that hold at a place."""
        if place.released not in self._examiners:
            face = self.face(place)
            self._examiners[place.released] = Examiner(face, face.scales)
        return self._examiners[place.released]

    def rows(self, place):
        """Which rows are used; refused where the constraints lose rank at this very position."""
        examiner, at = self.examiner(place), (place.t, place.q, place.p)
        known, keep = {row: k for k, row in enumerate(examiner.places)}, self._kept.get(place.released)
        if keep is None or not suffice(examiner.matrix(*at), [known[row] for row in keep]):
            keep = self._kept[place.released] = diagnose(examiner, *at).keep
        found, sine = independent(examiner.matrix(*at, keep))
        if len(found) < len(keep) or sine < SINGULAR:
            lost = [str(examiner.rows[known[keep[k]]]) for k in set(range(len(keep))) - set(found)]
            raise ModelError(
                f"model {self.model.name!r}: this is a singular position, where the constraints do not determine what moves "
                f"({'; '.join(lost) or 'rows depend on each other'}); there is no linear model here"
            )
        positions = [k for k, row in zip(examiner.places, examiner.rows) if row.holonomic]
        if len(positions) == len(examiner.rows):
            return Rows(keep, keep)
        held, _ = independent(examiner.matrix(*at, positions)) if positions else ([], 1.0)
        return Rows(keep, [positions[k] for k in held])

    def row_units(self, place, rows):
        return self.examiner(place).units(place.t, place.q, place.p, rows)

    # what is unknown

    def nothing(self):
        """No accelerations, no reactions, no efforts."""
        sizes = self.equations.sizes
        return Unknown(*(np.zeros(sizes[name]) for name in ("v", "rows", "efforts")))

    def directions(self, place, keep):
        """Unit changes of accelerations, of multipliers of the rows in use and of efforts, in the units of (1)."""
        n, m, k = (self.equations.sizes[name] for name in ("v", "rows", "efforts"))
        r = len(keep)
        a, lam, y = np.zeros((n, n + r + k)), np.zeros((m, n + r + k)), np.zeros((k, n + r + k))
        a[:, :n] = np.diag(self.columns)
        lam[keep, n : n + r] = np.diag(self.energy / self.row_units(place, keep))
        y[:, n + r :] = np.eye(k)
        return {"a": a, "lam": lam, "y": y}

    def weighed(self, place, keep, found):
        """The equations (1), (3) of the rows in use and (2), in the units of (1)."""
        balance = found["balance"] * self.columns[:, None] / self.energy
        held = found["constraints"][keep] / self.row_units(place, keep)[:, None]
        return np.vstack([balance, held, found["efforts"]])

    def matrix(self, place, keep, unknown):
        """The derivative of the equations by what is unknown in them."""
        e, at = self.equations, (place.t, place.q, place.v, place.p)
        return self.weighed(place, keep, e.slopes(*at, unknown, self.directions(place, keep)))

    def changed(self, place, keep, unknown, step):
        """What is unknown, changed by a column in the units of (1)."""
        moves = self.directions(place, keep)
        return Unknown(*(x + moves[name] @ step for x, name in zip(unknown, ("a", "lam", "y"))))

    def counted(self, place):
        """The place with its angles that are counted over full turns, less than half a turn from those of the place before."""
        if not self.equations.f.turns:
            return place
        p = np.array(place.p)
        p[len(self.model.inputs) :] = self.equations["turns"](place.t, place.q, p)[0]
        return place.moved(p=p)

    def imposed(self, place, keep):
        """The least velocities that satisfy the rows in use: zero unless something is driven or stands on what moves."""
        return self.examiner(place).onto(place.t, place.q, np.zeros(len(self.columns)), place.p, keep)

    def solved(self, place, keep):
        """Accelerations, multipliers and efforts at a place: linear but for efforts, which need Newton's method."""
        e, at, unknown = self.equations, (place.t, place.q, place.v, place.p), self.nothing()
        for _ in range(STEPS):
            off = self.weighed(place, keep, e.residuals(*at, unknown))[:, 0]
            step = np.linalg.solve(self.matrix(place, keep, unknown), -off)
            unknown = self.changed(place, keep, unknown, step)
            if not e.sizes["efforts"] or np.abs(step).max(initial=0.0) <= ROUNDING * max(1.0, np.abs(off).max()):
                break
        self.refuse_no_numbers(place, "accelerations", *unknown)
        return unknown

    # results

    def results(self, place, unknown):
        """Everything that a result holds, flat, in the order of `system.layout`."""
        given = np.concatenate([unknown.lam, unknown.y])
        return self.equations.evaluated("results")(place.t, place.q, place.v, place.p, unknown.a, given).ravel()

    def shown(self, place):
        """What a result shows of poses and motions, by name; reactions are left out."""
        flat, ends = self.results(place, self.nothing()), np.cumsum([size for _, size in self.system.layout])
        return dict(zip([name for name, _ in self.system.layout], np.split(flat, ends[:-1])))

    def coordinates(self, place):
        """Joint coordinates by name; those of the bodies where there are no joints."""
        parts = self.shown(place)
        if self.system.joint_coordinates:
            return dict(zip(self.system.joint_coordinates, parts["coordinate"].tolist()))
        labels = [f"{body} {axis}" for body in self.system.bodies for axis in "xyz"]
        return dict(zip(labels, parts["position"].tolist()))

    def refuse_no_numbers(self, place, what, *found):
        """Refuse a place at which something is not a finite number."""
        if not all(np.isfinite(x).all() for x in found):
            where = ", ".join(f"{name} = {x:.6g}" for name, x in list(self.coordinates(place).items())[:6])
            raise ModelError(f"model {self.model.name!r}: {what} are not numbers at this state ({where})")

    def refuse_in_constraints(self, rows, slopes, inputs, first):
        """Refuse inputs that constraints depend on: a linear model would need their derivatives, too."""
        names = [*self.parameters]
        for k, place in enumerate(inputs, first):
            for level, which in (("g", rows.held), ("psi", rows.keep)):
                touched = [row for row in which if slopes[level][row, k] != 0]
                if touched:
                    row = self.equations.f.rows[touched[0]]
                    raise OptionError(
                        f"linearise: input {names[place]!r} occurs in constraint {row.constraint.name!r}, where its rates act, "
                        "too; inputs may occur in forces, masses and rates of states. An imposed motion can be a force here"
                    )
