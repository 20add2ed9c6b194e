"""Links of a large system by classes: motion of the link and its body, and accelerations of its joint."""

from typing import NamedTuple

import casadi as ca
import numpy as np

from ..algebra import spatial_algebra
from ..algebra.tree_kinematics import velocity_terms
from .join_classes import SIX
from .recursion_classes import ARMATURE_END, fold_constants, function, link_from_numbers, split_column

LINK = 18  # numbers of the motion of a link's frame: R, o, u in the world, ω in its axes


class Motions(NamedTuple):
    """Offsets of motions in the memory of a kernel, and the vector that contains the joint velocities.

    link, body   motion of each link's frame and of its body
    grounds      motion of each ground
    above        motion of the parent's frame of each link, or of its ground
    data         offsets of the numbers of each link among the constants
    vector       name of the vector of the joint velocities; offset: where they begin in it
    """

    link: np.ndarray
    body: np.ndarray
    grounds: np.ndarray
    above: np.ndarray
    data: np.ndarray
    vector: str
    offset: int


class LinkClass:
    """Functions of a class of links.

    motion         (x, v, data, motion of the parent's frame) → motion of the link's frame, motion of its body
    acceleration   accelerations of the bodies → acceleration of the link's frame, v̇ of its joint
    change         the same for changes of velocity: without the terms that are quadratic in velocities
    """

    def __init__(self, branch, numbers):
        column, c, self.data = fold_constants(numbers)
        link, _, _, center = link_from_numbers(branch, column)
        B = ca.reshape(column[ARMATURE_END:], 3, 3)  # link axes to body axes
        parent = ca.SX.sym("above", LINK)
        own = ca.SX.sym("own", LINK)
        R, o, u, w_parent = split_column(parent, (9, 3, 3, 3))
        R = ca.reshape(R, 3, 3)
        E = link.E
        d = link.d
        w = E.T @ w_parent + link.spin
        R_link = R @ E
        origin = o + R @ d
        velocity = u + R @ spatial_algebra.cross(w_parent, d) + R_link @ link.slide
        center_velocity = spatial_algebra.cross(w, center)
        body = [origin + R_link @ center, ca.vec(R_link @ B.T), velocity + R_link @ center_velocity, B @ w]
        results = [ca.vertcat(ca.vec(R_link), origin, velocity, w), ca.vertcat(*body)]
        self.motion = function("motion", [link.x, link.v, c, parent], results)
        biases = velocity_terms(E, d, w_parent, link.spin, link.slide, link.spin_bias, link.slide_bias)
        no_biases = [ca.SX.zeros(3), ca.SX.zeros(3)]
        self.acceleration = self._joint(link, c, (parent, own), B, center, biases, True)
        self.change = self._joint(link, c, (parent, own), B, center, no_biases, False)

    @staticmethod
    def _joint(link, c, motions, B, center, biases, centripetal):
        """v̇ of a joint from the accelerations of its body and of its parent's frame, and the acceleration of its own frame."""
        of_body = ca.SX.sym("found", SIX)
        of_parent = ca.SX.sym("inherited", SIX)
        linear, angular = split_column(of_body, (3, 3))
        R, _, _, w = split_column(motions[1], (9, 3, 3, 3))
        alpha = B.T @ angular
        a = ca.reshape(R, 3, 3).T @ linear - spatial_algebra.cross(alpha, center)
        a -= spatial_algebra.cross(w, spatial_algebra.cross(w, center)) if centripetal else 0
        alpha_parent, a_parent = split_column(of_parent, (3, 3))
        b_w, b_v = biases
        relative_w = alpha - link.E.T @ alpha_parent - b_w
        relative_v = a - link.E.T @ (a_parent + spatial_algebra.cross(alpha_parent, link.d)) - b_v
        S = ca.sparsify(ca.vertcat(link.S_w, link.S_v))
        rate = ca.SX(0, 1)
        if link.v.shape[0]:
            rate = ca.solve(ca.densify(S.T @ S), S.T @ ca.vertcat(relative_w, relative_v))
        return function("joint", [link.x, link.v, c, *motions, of_body, of_parent], [ca.vertcat(alpha, a), rate])
