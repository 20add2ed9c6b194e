"""A system at a start that was asked for: brought onto the constraints, in the coordinates of its formulation."""

import sys
import warnings
from dataclasses import replace
from functools import cached_property

import casadi as ca
import numpy as np

from ..describe.quantity import time
from ..errors import AssemblyError, OptionError
from ..events import Clock
from ..formulations import tree_schedule
from ..formulations.fingerprint import time_dependent
from ..lie import poses
from . import large
from .beside import state_of
from .prepare import Start, described, face_of, run_kernels
from .program import in_constraints
from .wanted import Names

LARGE = 1e-3  # of the size of the model, or rad; of speeds, of the largest: changes of what was asked for that are warned of
TOLD = 1e-9  # likewise, that are told
SHOWN = 8  # changes that a warning lists


class Starts:
    """Starts of a system that is prepared: where the model says, or elsewhere.

    system, built   at the model's own start, and its kernels
    options         map, whether the constraints are stabilised, metric of projections, kernels that the method needs
    """

    def __init__(self, task, system, built, options):
        self.task, self.own, self.built, self.options = task, system, built, options
        self.model = task.model

    @cached_property
    def names(self):
        return Names(self.model, self.own)

    @cached_property
    def told(self):
        return self.task.derived()

    @cached_property
    def _elsewhere(self):
        from ..start.elsewhere import Elsewhere
        from ..start.examiner import Examiner
        from ..start.placing import Motion

        face = face_of(self.told, self.own, self.own.choice.released)
        row, bodies = self._outputs(self.own, self.built), self.own.bodies
        R = row["rotation"].reshape(-1, 3, 3).swapaxes(1, 2)
        x, v, w = (row[name].reshape(-1, 3) for name in ("position", "velocity", "angular_velocity"))
        placed = dict(zip(bodies, poses.stacked(R, x)))
        p = np.concatenate([self.own.p[: len(self.model.inputs)], np.zeros(len(face.absolute.turns))])
        motion = Motion(placed, dict(zip(bodies, zip(v, w))), row["coordinate"], row["rate"], p)
        examiner = Examiner(face.absolute, face.absolute.scales)
        keep = [k for k in examiner.places if k not in self.own.left_out]
        known = {self.own.t: {"likely": keep, "mobility": self.own.freedom}}
        return face, Elsewhere(face.absolute, examiner, self.own.joint_coordinates, motion, known)

    def _outputs(self, system, built):
        """Outputs at the start of a system, by name."""
        t, p = np.array([system.t]), np.array(system.p)
        x = state_of(built, system.state, system.t, system.q, system.v, p)
        xdot, lam = built["rate"](t, x, p, built["factor"](t, x, p)[0], np.zeros(4))
        flat, at, found = built["outputs"](t, x, p, xdot, lam)[0], 0, {}
        for name, size in system.layout:
            found[name], at = flat[at : at + size], at + size
        return found

    def at(self, start, t=None):
        """The system at a start, and its kernels; what was changed of it is among its `changes`, and warned of where it is much.

        t   when it begins [s]; None: at 0
        """
        wanted = self.names.wanted({} if start is None else start)
        if t is None:
            t = 0.0
            self._warn_of_time(wanted.time)
        if (direct := self._directly(wanted, float(t))) is not None:
            return direct, self.built
        if (tables := self._tables) is not None:
            return self._in_tables(tables, wanted, float(t)), self.built
        face, elsewhere = self._elsewhere
        q, v, p, found, completed = elsewhere.start(float(t), wanted)
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            raise AssemblyError(f"model {self.model.name!r}: start: it is not made of finite numbers")
        if self.own.watches:
            system, built = self._wholly(float(t), q, v, p, found)
        else:
            system, built = self._simply(face, float(t), q, v, p)
        worst, missing, changes = self._off(wanted, system, built)
        if worst > LARGE:
            more = f" and {len(changes) - SHOWN} more" if len(changes) > SHOWN else ""
            told = f"the start that was asked for does not satisfy the constraints: {'; '.join(changes[:SHOWN])}{more}"
            if self.task.exactly and (wanted.named or missing > LARGE):
                raise AssemblyError(f"model {self.model.name!r}: {told}")
            warnings.warn(f"model {self.model.name!r}: {told}", stacklevel=_outside())
        return replace(system, changes=changes + completed), built

    def _warn_of_time(self, when):
        """Warn where a start was at another time than 0, and the model depends on time."""
        if when and (time_dependent(self.model) or any(_timed(event) for event in self.model.events)):
            warnings.warn(
                f"model {self.model.name!r}: the start was at t = {when:.6g} s, and the run begins at t = 0, although forces, "
                "imposed motions or events of the model depend on time. To go on at that time, use sim.reset(start, "
                f"time={when:.6g}) of a Simulation, or torsor.resume(folder, model, until=…) of a run with a checkpoint",
                stacklevel=_outside(),
            )

    def _directly(self, wanted, t):
        """The system where only states are asked for, or where its configuration and velocities are the coordinates and rates of
        joints without constraints; None where they are not, or constraints or grounds follow the time or the states."""
        own, places = self.own, dict(self.own.states)
        q, v, p = (np.array(x) for x in (own.q, own.v, own.p))
        moves = own.keep or any(ground.moves for ground in self.model.grounds)
        if (t != own.t and moves) or any(name in wanted.states for name in self._followed):
            return None
        p[[places[name] for name in wanted.states]] = list(wanted.states.values())
        if not wanted.moves:
            return replace(own, t=t, p=p.tolist())
        if wanted.bodies or not self._joints_are_state:
            return None
        places = {label: k for k, label in enumerate(own.coordinates)}
        for target, values in ((q, wanted.coordinates), (v, wanted.rates)):
            target[[places[label] for label in values]] = list(values.values())
        return replace(own, t=t, q=q.tolist(), v=v.tolist(), p=p.tolist(), changes=[])

    @cached_property
    def _followed(self):
        """Names of the states that constraints follow."""
        found = in_constraints(self.model) if self.model.states else ()
        return [state.name for state in self.model.states if state.symbol.element_hash() in found]

    @cached_property
    def _joints_are_state(self):
        """Whether configuration and velocities are the coordinates and rates of joints, in any order, without constraints: seen at
        another state than the start."""
        own = self.own
        if own.keep or own.sizes["turns"] or len(own.q) != len(own.v):
            return False
        if sorted(own.coordinates) != sorted(own.joint_coordinates):
            return False
        q, v = np.array(own.q) + 0.1, np.array(own.v) - 0.2
        row = self._outputs(replace(own, q=q.tolist(), v=v.tolist()), self.built)
        order = [self._places[label] for label in own.coordinates]
        return all(
            np.allclose(row[name][order], x, rtol=TOLD, atol=TOLD) for name, x in (("coordinate", q), ("rate", v))
        )

    @cached_property
    def _places(self):
        return {label: k for k, label in enumerate(self.own.joint_coordinates)}

    @cached_property
    def _tables(self):
        """The model in numbers, where it runs through tables of shared code; else None."""
        signals = dict(self.model.signals) | self.task.signals
        if len(self.model.bodies) <= tree_schedule.LARGE or self.options[2] != large.METRIC or self.options[3]:
            return None
        bare, seen = large.fixed(self.model, signals, self.task.values())
        return large.system_of(bare, self.task.formulation, seen)

    def _in_tables(self, plain, wanted, t):
        """The system of a large tree or forest at a start, which is asked for by joints and by bodies that no joint holds."""
        from ..start.plain import elsewhere

        own, count = self.own, len(self.model.bodies)
        where = f"model {self.model.name!r}: start: {count} bodies run through tables of shared code"
        if own.keep:
            raise OptionError(
                f"{where}, which start as the model says where they have loops; formulation='absolute' takes any start"
            )
        row = self._outputs(own, self.built)
        hung = {b.name for b, joint in zip(plain.tree.bodies, plain.tree.joints) if joint.name in self.model}
        held = [body for body, _ in wanted.bodies if body in hung]
        if held and not wanted.whole:
            raise OptionError(
                f"{where}, which take coordinates and rates of joints, and places and velocities of bodies that no joint "
                f"holds; {held[0]!r} hangs on a joint"
            )
        coordinates, rates = row["coordinate"].copy(), row["rate"].copy()
        for target, values in ((coordinates, wanted.coordinates), (rates, wanted.rates)):
            target[[self._places[label] for label in values]] = list(values.values())
        places: dict[str, list[int]] = {}
        for label, place in self._places.items():
            places.setdefault(label.rpartition("[")[0] or label, []).append(place)
        named = {label.rpartition("[")[0] or label for label in [*wanted.coordinates, *wanted.rates]}
        joints = {name: (coordinates[places[name]], rates[places[name]]) for name in named}
        q, v = elsewhere(plain.tree, np.array(own.q), np.array(own.v), joints, wanted.bodies)
        return replace(own, t=t, q=q.tolist(), v=v.tolist(), changes=[])

    def _simply(self, face, t, q, v, p):
        """Where nothing is chosen about kernels they serve every start."""
        q, v, p = face.adopt(t, q, v, p)
        if face.turns:
            place = self.own.state.joined(q, v, p)
            p[len(self.model.inputs) :] = self.built["turns"](np.array([t]), place, p)[0]
        return replace(self.own, t=t, q=q.tolist(), v=v.tolist(), p=p.tolist()), self.built

    def _wholly(self, t, q, v, p, found):
        """Rows and dependent coordinates are chosen at the start."""
        from ..start.given import Given

        scales = self._elsewhere[1].examiner.scales
        start = Start(Given(q, p, scales, self.own.mass, self.own.inertia), q, v, found, [])
        system = described(self.told, list(self.options), t, run_kernels, start, self.own.keep)
        return system, self.told.library(system.choice, run_kernels)

    def _off(self, wanted, system, built):
        """How far a system is from what was asked for, how far its coordinates are, and what has become of that, in words."""
        from ..start.given import unreachable

        row, length, changes, worst, missing = self._outputs(system, built), system.length, [], 0.0, 0.0
        units = [length if unit == "m" else 1.0 for unit in system.coordinate_units]
        speeds = [row["rate"] / units, row["velocity"] / length, row["angular_velocity"]]
        fastest = max(*(np.abs(x).max(initial=0.0) for x in speeds), system.scales["rate"], 1e-300)
        asked = {} if wanted.whole else {self._places[label]: x for label, x in wanted.coordinates.items()}
        for at, other, _ in self._elsewhere[1].holding.other_way(row["coordinate"], [*asked], [*asked.values()]):
            row["coordinate"][at] = other
        told = [] if wanted.whole else [("coordinate", wanted.coordinates, 1.0), ("rate", wanted.rates, fastest)]
        for name, values, scale in told:
            away = [(row[name][self._places[label]] - x) / units[self._places[label]] for label, x in values.items()]
            off = np.abs(away) / scale
            worst = max(worst, off.max(initial=0.0))
            if name == "coordinate" and off.max(initial=0.0) > TOLD:
                missing = float(np.linalg.norm(away))
                changes.append(unreachable(missing))
            for label, value, far in zip(values, values.values(), off):
                if far > TOLD:
                    here = row[name][self._places[label]]
                    changes.append(f"{label}{'.rate' * (name == 'rate')}: {value:.6g} became {here:.6g}")
        for (body, what), value in wanted.bodies.items():
            k, size = system.bodies.index(body), value.size
            here = row[what][k * size : (k + 1) * size]
            unit = {"position": length, "velocity": length * fastest, "angular_velocity": fastest}.get(what, 1.0)
            off = np.abs(here - value.ravel(order="F")).max() / unit
            worst = max(worst, off)
            if off > TOLD:
                changes.append(f"{body}.{what}: changed by up to {off * unit:.3g}")
        return worst, missing, changes


def _timed(event):
    """Whether an event happens by the clock, or its condition contains time."""
    return isinstance(event.watch, Clock) or bool(ca.depends_on(ca.SX(event.watch.phi), time))


def _outside():
    """How many callers away the code is that asked for all this."""
    frame, count = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("torsor", "contextlib"):
        frame, count = frame.f_back, count + 1
    return count
