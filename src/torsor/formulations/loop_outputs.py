"""What results hold of the constraints that close loops of a large system, and of its forces."""

import casadi as ca
import numpy as np

from ..describe.quantity import time
from ..joints import Joint
from .classes import function
from .join_classes import SIX
from .lie_derivative import parts, rate, together, velocities
from .system_passes import added_up
from .tree_schedule import rooms, starts


class LoopOutputs:
    """Passes that tell what acts on the bodies besides the joints of the tree.

    on          places of the wrench on every body
    potentials  of the forces that everybody knows, and of my own;   drift: largest residuals at position and velocity level
    """

    def __init__(self, kernels, s, at):
        self.kernels, self.system = kernels, kernels.system
        self.motion = kernels.motion(s)
        self.on, sums = kernels.applied(s, self.motion)
        self.potentials = [at + 1 for at in sums]
        self.ends, self.frames = kernels.ends(self.motion), kernels.frames
        self._reactions(s, at)

    def _reactions(self, s, at):
        """Wrenches of the loops on the bodies, their reactions, and residuals."""
        system, first = self.system, self.system.first_loop
        count = len(system.loops)
        self.drift = s.room(2 * (count + 1))
        s.call([ca.Function("none", [time], [ca.SX.zeros(2)])], ["t", "memory"], [0], [[0], [self.drift]])
        zeros = s.room(SIX)
        classes, kinds = system.rows
        if count:
            connections = {id(c): k for k, c in enumerate(system.shown.constraints)}
            shown = 3 * np.array([connections[id(c)] for c in system.loops])
            ends, rows = system.touched[first:], self.kernels.row
            before, after = np.full(ends.shape, zeros), np.full(ends.shape, zeros)
            bodies = np.nonzero(ends >= 0)
            before[bodies], after[bodies] = added_up(ends[bodies], self.on, rooms(s, np.full(len(bodies[0]), SIX)))
            drift = self.drift + 2 * np.arange(count)
            told = [at[name] + shown for name in ("reaction_force", "reaction_torque")]
            vectors = ["memory", "memory", "constants", "lam", *["memory"] * 5, "row", "row", "memory"]
            given = [*self.ends[first:].T, self.frames[first:], rows]
            own = [_reaction(c, self.kernels.unit) for c in classes]
            s.call(own, vectors, kinds[first:], [*given, *before.T, drift, *after.T, *told, drift + 2])
        self.drift += 2 * count

    def joints(self, s, at):
        """Coordinates, rates and accelerations of the joints that close loops."""
        system, first = self.system, self.system.first_loop
        joints = [j for j in system.shown.joints if j.dof]
        place = dict(zip(map(id, joints), starts([j.dof for j in joints])))
        chosen = [k for k, c in enumerate(system.loops) if isinstance(c, Joint) and c.dof]
        if not chosen:
            return
        classes, kinds = system.rows
        own = first + np.array(chosen)
        bodies, loops = {id(b): k for k, b in enumerate(system.shown.bodies)}, [system.loops[k] for k in chosen]
        moved = [
            3 * np.array([bodies.get(id(end), 0) for end in ends])
            for ends in zip(*[(c.first, c.second) for c in loops])
        ]
        found = [at[name] + m for m in moved for name in ("acceleration", "angular_acceleration")]
        first_of = np.array([place[id(c)] for c in loops])
        told = [at[name] + first_of for name in ("coordinate", "rate", "coordinate_acceleration")]
        counted = np.array([self.kernels.counted[k] for k in chosen])
        vectors = ["memory", "memory", "constants", "p", *["row"] * 7]
        places = [*self.ends[own].T, self.frames[own], counted, *found, *told]
        s.call([_motion(c) for c in classes], vectors, kinds[own], places)


def _reaction(rows, unit):
    """What a constraint exerts on its ends, its reaction on the second one in world axes, and its residuals."""
    lam, worst = ca.SX.sym("lam", rows.size), ca.SX.sym("worst", 2)
    before = [ca.SX.sym("before", 0 if J is None else SIX) for J in rows.G]
    after = [b if J is None else b + J.T @ lam for b, J in zip(before, rows.G)]
    sign, end, J = (1, rows.ends[1], rows.G[1]) if rows.G[1] is not None else (-1, rows.ends[0], rows.G[0])
    F, T = parts(sign * (J.T @ lam))
    second = rows.ends[1]
    at = second.position + second.rotation @ rows.frames[1][:, -1]
    torque = end.rotation @ T - ca.cross(at - end.position, F)
    sized = ca.SX(rows.units(unit)) / unit
    drift = [ca.mmax(ca.fabs(x / sized)) for x in (rows.g, rows.psi)]
    inputs = [*(x.motion for x in rows.ends), rows.c, lam, *before, worst]
    return function("reaction", inputs, [*after, F, torque, ca.fmax(worst, ca.vertcat(*drift))])


def _motion(rows):
    """Coordinates of a joint, its velocities and their rates."""
    free = [end for end, J in zip(rows.ends, rows.G) if J is not None]
    found = [[ca.SX.sym("a", 0 if J is None else 3) for _ in range(2)] for J in rows.G]
    total = rate(rows.rates, free) if rows.rates.shape[0] else rows.rates
    for end, J, a in zip(rows.ends, rows.G, found):
        if J is not None:
            total += ca.jacobian(rows.rates, velocities(end)) @ together(*a)
    inputs = [*(x.motion for x in rows.ends), rows.c, rows.turn, *found[0], *found[1]]
    return function("motion", inputs, [rows.coordinates, rows.rates, total])
