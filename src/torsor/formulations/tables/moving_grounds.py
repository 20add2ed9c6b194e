"""Grounds of a large system: their motions as functions of time, by classes. All grounds at rest are of one class."""

import casadi as ca
import numpy as np

from ...elements.quantity import time
from ...model.body import Ground
from ...model.include import owners_in
from ..algebra.tree_kinematics import Root
from .link_classes import LINK
from .recursion_classes import function, split_column
from .row_classes import MOTION_SIZE
from .stated_rows import StatedRows
from .tree_schedule import allocate_blocks

SIX = 6
POSE = ca.SX.sym("pose", 12)  # position and rotation of a ground at rest


def moving_grounds(system):
    """For each ground of a system 1 + its index if it moves, else 0."""
    return np.array([(1 + k) * ground.moves for k, ground in enumerate(system.grounds)], int)


def moving_ends(system):
    """For both ends of every constraint 1 + the index of the moving ground that it is, else 0."""
    ends = system.ends_of_constraints
    return np.where(ends < 0, np.append(moving_grounds(system), 0)[np.where(ends < 0, -1 - ends, -1)], 0)


def may_impose_motions(system):
    """True if constraints may impose motions: if equations are stated in signals, or joints are on moving grounds."""
    return bool(moving_ends(system).any()) or any(isinstance(trace, StatedRows) for trace in system.traces)


def _roots(grounds, of_rest, of_moving):
    """Classes of grounds, and the class of each: the function of a pose of those at rest, then one for each that moves."""
    functions = [of_rest(*split_column(POSE, (3, 9)))]
    kinds = np.zeros(len(grounds), int)
    for k, ground in enumerate(grounds):
        if ground.moves:
            kinds[k] = len(functions)
            functions.append(of_moving(Root(ground, ca.SX.zeros(3))))
    return [function("ground", [time, POSE], results) for results in functions], kinds


def add_motions(s, passes, at_rest):
    """Append the motions of all grounds as bodies, and as frames of links. Returns their offsets.

    at_rest   True: without the velocities of moving grounds
    """
    grounds = passes.system.grounds
    still = ca.SX.zeros(6)

    def of_rest(x, R):
        return [ca.vertcat(x, R, still), ca.vertcat(R, x, still)]

    def of_moving(root):
        x, R = root.position, ca.vec(root.rotation)
        motion = still if at_rest else ca.densify(ca.vertcat(root.velocity, root.w))
        return [ca.vertcat(x, R, motion), ca.vertcat(R, x, motion)]

    functions, kinds = _roots(grounds, of_rest, of_moving)
    motions = allocate_blocks(s, np.full(len(grounds), MOTION_SIZE))
    frames = allocate_blocks(s, np.full(len(grounds), LINK))
    first = np.zeros(len(grounds), int)
    s.call(functions, ["t", "constants", "memory", "memory"], kinds, [first, passes.ground_poses, motions, frames])
    return motions, frames


def add_carried(s, passes, velocities):
    """Append the angular and linear acceleration, or velocity, of every ground in its own axes. Returns the offsets.

    velocities   True: velocities
    """
    grounds = passes.system.grounds

    def of_moving(root):
        if velocities:
            return [ca.densify(ca.vertcat(root.w, root.rotation.T @ root.velocity))]
        return [ca.densify(ca.vertcat(root.alpha, root.a))]

    functions, kinds = _roots(grounds, lambda x, R: [ca.SX.zeros(SIX)], of_moving)
    offsets = allocate_blocks(s, np.full(len(grounds), SIX))
    s.call(functions, ["t", "constants", "memory"], kinds, [np.zeros(len(grounds), int), passes.ground_poses, offsets])
    return offsets


def add_output_motions(s, passes, gravity, size):
    """Append the motions of all grounds as the outputs need them, with `size` numbers each. Returns the offsets."""
    grounds = passes.system.grounds

    def of_rest(x, R):
        return [ca.vertcat(R, x, ca.SX.zeros(9), -(ca.reshape(R, 3, 3).T @ gravity))]

    def of_moving(root):
        a = root.a - root.rotation.T @ gravity
        return [ca.densify(ca.vertcat(ca.vec(root.rotation), root.position, root.velocity, root.w, root.alpha, a))]

    functions, kinds = _roots(grounds, of_rest, of_moving)
    offsets = allocate_blocks(s, np.full(len(grounds), size))
    s.call(functions, ["t", "constants", "memory"], kinds, [np.zeros(len(grounds), int), passes.ground_poses, offsets])
    return offsets


def at_paths(model, expression):
    """An expression with the poses and velocities of moving grounds as functions of time."""
    if not any(ground.moves for ground in model.grounds):
        return expression
    names = ("position", "rotation", "velocity", "angular_velocity")
    found = [(x, name) for x, name in owners_in(model, ca.SX(expression)) if isinstance(x, Ground) and x.moves]
    pairs = [(getattr(x, name), x.motion()[names.index(name)]) for x, name in found if name in names]
    old, new = ([ca.vec(ca.densify(x)) for x in column] for column in zip(*pairs)) if pairs else ((), ())
    return ca.substitute(ca.SX(expression), ca.vertcat(*old), ca.vertcat(*new)) if pairs else expression
