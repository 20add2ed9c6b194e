"""A start other than the one that a model tells, in numbers and in absolute coordinates: it is brought onto the constraints.

Positions: bodies are placed along the joints, outward from the grounds, each joint with the coordinates that are wanted or that it
has at the model's start. Where that leaves loops open, Newton's method closes them with the wanted coordinates held, and those of
joints that are in no loop; where that cannot be, it closes them with the least change. Velocities follow level by level, each
without disturbing the one before:

    0   the constraints                             G v = −g_t
    1   what is wanted                              rates of joints, velocities of bodies
    2   rates of all other joints                   as at the model's start
    3   velocities of bodies that hang on nothing   as at the model's start
"""

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..describe.quantity import time
from ..describe.topology import spanning_tree
from ..formulations.initial import captures, holds, moving
from ..formulations.tree import pose
from ..lie import poses, se3
from .diagnosis import diagnose
from .examiner import shortened
from .velocities import by_levels, of_length_one

REACHED = 1e-9  # over the size of the model: what is closer to what was wanted is there


class Motion(NamedTuple):
    """How a model stands and moves.

    poses               of bodies, by name
    speeds              of bodies, velocities and angular velocities, by name
    coordinates, rates  of all joints that move, in the order of the model
    p                   parameters, memories and states, then turns of the absolute coordinates
    """

    poses: dict[str, np.ndarray]
    speeds: dict[str, tuple[np.ndarray, np.ndarray]]
    coordinates: np.ndarray
    rates: np.ndarray
    p: np.ndarray


class Elsewhere:
    """Starts of one model with given values of its parameters.

    f          the numeric face of its absolute coordinates;   examiner   of these
    own        the motion at the model's own start
    """

    def __init__(self, f, examiner, labels, own: Motion):
        self.f, self.model, self.examiner, self.own = f, f.model, examiner, own
        self.places = {label: k for k, label in enumerate(labels)}
        self.joints = [j for j in self.model.joints if holds(j)]
        starts = np.cumsum([0, *[j.dof for j in moving(self.model)]])
        self.at = {j.name: slice(a, a + j.dof) for j, a in zip(moving(self.model), starts.tolist())}
        self.units = np.array([examiner.length if unit == "m" else 1.0 for unit in self._kinds()])
        in_loops = {joint.name for loop in spanning_tree(self.model).loops() for joint in loop}
        self.quasi = {label for j in moving(self.model) if j.quasi for label in self._labels(j)}
        self.apart = [
            self.places[label]
            for j in self.joints
            if j.dof and j.name not in in_loops and not j.quasi
            for label in self._labels(j)
        ]
        self._relative: dict[str, Any] = {}
        self.loose = self._loose()
        self.tried = 0.0  # how far Newton's method has moved something

    def _kinds(self):
        from ..formulations.outputs import coordinate_units

        return [unit for j in moving(self.model) for unit in coordinate_units(j)]

    def _loose(self):
        """Velocities of bodies that no joint holds, and of the first ones of trees that hang on nothing, by body and quantity."""
        reached, names = {g.name for g in self.model.grounds}, []
        for body in self.model.bodies:
            for _ in self.joints:
                joint = next((j for j in self.joints if (j.first.name in reached) != (j.second.name in reached)), None)
                if joint is None:
                    break
                reached |= {joint.first.name, joint.second.name}
            if body.name not in reached:
                reached.add(body.name)
                names.append(body)
        pairs = [(body, dict(zip(("velocity", "angular_velocity"), self.own.speeds[body.name]))) for body in names]
        return {
            (body.name, what): x
            for body, pair in pairs
            for what, x in pair.items()
            if not (body.particle and what == "angular_velocity")
        }

    def start(self, t, wanted):
        """q, v and p of a start, in absolute coordinates."""
        coordinates, p = self.own.coordinates.copy(), self.own.p.copy()
        for label, value in wanted.coordinates.items():
            coordinates[self.places[label]] = value
        for k, (joint, component) in enumerate(self.f.turns):
            p[len(self.model.inputs) + k] = coordinates[self.at[joint.name]][component]
        q = self._configuration(self._placed(t, wanted, coordinates))
        p = self._captured(t, q, p)
        q = self._closed(t, q, p, wanted)
        p = self._captured(t, q, p)
        return q, self._velocities(t, q, p, wanted), p

    # positions

    def _placed(self, t, wanted, coordinates):
        """Poses of all bodies; those that nothing moves have theirs."""
        found, asked = dict(self.own.poses), {label.rpartition("[")[0] or label for label in wanted.coordinates}
        told = {body: self._told(wanted, body) for body, what in wanted.bodies if what in ("position", "rotation")}
        found |= told
        if wanted.whole:
            return found
        reached = {g.name: (self._ground(t, g), bool(g.moves) and t != 0.0) for g in self.model.grounds}
        waiting = sorted(self.joints, key=lambda j: j.name not in asked)  # those that are asked for carry what follows
        while waiting:
            joint = next((j for j in waiting if (j.first.name in reached) != (j.second.name in reached)), None)
            if joint is None:
                loose = next((j for j in waiting if j.first.name not in reached and j.second.name not in reached), None)
                if loose is None:
                    break
                reached[loose.first.name] = found[loose.first.name], loose.first.name in told
                continue
            waiting.remove(joint)
            outward = joint.first.name in reached
            known, new = (joint.first, joint.second) if outward else (joint.second, joint.first)
            H, moved = reached[known.name]
            if new.name in told:
                moved = True
            elif moved or joint.name in asked:
                step = self._step(joint, coordinates)
                found[new.name], moved = H @ (step if outward else poses.inverted(step)), True
            reached[new.name] = found[new.name], moved
        return found

    def _told(self, wanted, body):
        """The pose that is wanted of a body."""
        R, x = poses.split(self.own.poses[body])
        return poses.stacked(wanted.bodies.get((body, "rotation"), R), wanted.bodies.get((body, "position"), x))

    def _ground(self, t, ground):
        x, R = ground.reference if ground.held else ground.path
        inputs = ca.vertcat(*self.model.inputs, ca.SX(0, 1))
        told = ca.Function("ground", [time, inputs], [ca.densify(ca.SX(R)), ca.densify(ca.SX(x))])
        R, x = told(t, self.own.p[: len(self.model.inputs)])
        return poses.stacked(R.full(), x.full().ravel())

    def _step(self, joint, coordinates):
        """The pose of the second body of a joint in the first."""
        if joint.name not in self._relative:
            inputs, x = ca.vertcat(*self.model.inputs, ca.SX(0, 1)), ca.SX.sym("x", joint.dof)
            A, B = joint.placed
            H = ca.densify(A @ pose(joint, x) @ se3.inverse(B))
            self._relative[joint.name] = ca.Function("relative", [inputs, x], [H])
        x = coordinates[self.at[joint.name]] if joint.dof else []
        return self._relative[joint.name](self.own.p[: len(self.model.inputs)], x).full()

    def _configuration(self, found):
        parts = []
        for body in self.model.bodies:
            R, x = poses.split(found[body.name])
            parts += [x] if body.particle else [x, R.ravel(order="F")]
        return np.concatenate(parts)

    def _captured(self, t, q, p):
        """p with what constraints that hold from the start take note of."""
        captured = captures(self.f)
        if captured:
            first = len(self.model.parameters)
            places = {id(m): first + k for k, m in enumerate(self.model.memories)}
            p[[places[id(memory)] for memory, _ in captured]] = self.f.examined["held"](t, q, p).ravel()
        return p

    def _closed(self, t, q, p, wanted):
        """The configuration on the constraints, with the wanted coordinates where that can be."""
        from .impostors import assembled

        places = [self.places[label] for label in wanted.coordinates if label not in self.quasi]
        own = self.own.coordinates.copy()
        own[places] = [value for label, value in wanted.coordinates.items() if label not in self.quasi]
        moved = any(what in ("position", "rotation") for _, what in wanted.bodies)
        beside = [] if moved else [k for k in self.apart if k not in places]
        self.tried = 0.0
        for held in [[*places, *beside], places] if beside else [places]:
            found = self._held(t, q, p, held, own[held]) if places and not wanted.whole else None
            if found is not None:
                q = found
                break
        q, moved = assembled(self.f, self.examiner, t, q, p)
        self.tried = max(self.tried, moved)
        return q

    def _held(self, t, q, p, held, values):
        """The configuration on the constraints in which coordinates, by place, have these values; None where none is found."""
        units, columns = self.units[held], self.examiner.columns
        off = lambda q: (self._coordinates(t, q, p)[held] - values) / units
        rows = lambda q: self._rates(t, q, p)[0][held] * columns / units[:, None]
        found, self.tried = self.examiner.assemble(t, q, p, more=(off, rows))
        return found

    def _labels(self, joint):
        return [joint.name] if joint.dof == 1 else [f"{joint.name}[{k}]" for k in range(joint.dof)]

    def _coordinates(self, t, q, p):
        return self.f.examined["coordinates"](t, q, p).ravel()

    def _rates(self, t, q, p):
        """∂r/∂v of all joints, and r where nothing moves but the grounds."""
        J, r = self.f.examined["rates"](t, q, np.zeros(len(self.examiner.columns)), p)
        return J, r.ravel()

    # velocities

    def _velocities(self, t, q, p, wanted):
        """Velocities that satisfy the constraints and keep what is wanted."""
        examiner = self.examiner
        told = {(body, what): x for (body, what), x in wanted.bodies.items() if what.endswith("velocity")}
        if wanted.whole:
            given = [self._pair(told, body) for body in self.model.bodies]
            keep = diagnose(examiner, t, q, p).keep
            return examiner.onto(t, q, np.concatenate(given), p, keep)
        n, columns = len(examiner.columns), examiner.columns
        J, r = self._rates(t, q, p)
        rates, named = self.own.rates.copy(), np.zeros(len(self.places), bool)
        for label, value in wanted.rates.items():
            rates[self.places[label]], named[self.places[label]] = value, True
        held = np.array([holds(j) for j in moving(self.model) for _ in range(j.dof)], bool)
        loose = {pair: x for pair, x in self.loose.items() if pair not in told}
        some, values = self._picked(told)
        level = lambda A, b: (lambda rows, size: (rows, b / size))(*of_length_one(A, columns))
        g_t = examiner.psi(t, q, np.zeros(n), p) / examiner.units(t, q, p)
        A, off = shortened(examiner.matrix(t, q, p), g_t)
        levels = [
            (A, -off),
            level(np.vstack([J[named], some]), np.concatenate([(rates - r)[named], values])),
            level(J[~named & held], (rates - r)[~named & held]),
            level(*self._picked(loose)),
        ]
        v = by_levels(levels, n)[0] * columns
        return examiner.onto(t, q, v, p, diagnose(examiner, t, q, p).keep) if len(A) else v

    def _pair(self, told, body):
        """Velocity and angular velocity of a body."""
        v, w = self.own.speeds[body.name]
        v, w = told.get((body.name, "velocity"), v), told.get((body.name, "angular_velocity"), w)
        return np.asarray(v) if body.particle else np.concatenate([v, w])

    def _picked(self, told):
        """Rows that pick velocities of bodies, and their values."""
        n, rows, values = len(self.examiner.columns), [], []
        for (body, what), x in told.items():
            first = self.f.offset[id(self.model[body])] + (len(x) if what == "angular_velocity" else 0)
            rows.append(np.eye(n)[first : first + len(x)])
            values.append(x)
        return np.vstack([np.zeros((0, n)), *rows]), np.concatenate([np.zeros(0), *values])
