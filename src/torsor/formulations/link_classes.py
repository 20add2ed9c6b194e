"""Links of a large system by classes: motion of the link and its body, and accelerations of its joint."""

from typing import NamedTuple

import casadi as ca
import numpy as np

from . import spatial
from .classes import TENSOR, described, folded, function, split_column
from .join_classes import SIX
from .tree import velocity_terms

LINK = 18  # numbers of the motion of a link's frame: R, o, u in the world, ω in its axes


class Motions(NamedTuple):
    """Places of motions in the memory of a kernel, and where the velocities came from."""

    link: np.ndarray
    body: np.ndarray
    grounds: np.ndarray
    above: np.ndarray
    data: np.ndarray
    vector: str
    offset: int


class LinkClass:
    """Functions of links that are alike: motion of the link and its body, and accelerations of its joint."""

    def __init__(self, branch, numbers):
        column, c, self.data = folded(numbers)
        link, _, _, center = described(branch, column)
        B, above, own = ca.reshape(column[TENSOR:], 3, 3), ca.SX.sym("above", LINK), ca.SX.sym("own", LINK)
        R, o, u, w = split_column(above, (9, 3, 3, 3))
        R, E, d = ca.reshape(R, 3, 3), link.E, link.d
        turning, Rk = E.T @ w + link.spin, R @ E
        at, speed = o + R @ d, u + R @ spatial.cross(w, d) + Rk @ link.slide
        swung = spatial.cross(turning, center)
        body = [at + Rk @ center, ca.vec(Rk @ B.T), speed + Rk @ swung, B @ turning]
        results = [ca.vertcat(ca.vec(Rk), at, speed, turning), ca.vertcat(*body)]
        self.moved = function("moved", [link.x, link.v, c, above], results)
        biases = velocity_terms(E, d, w, link.spin, link.slide, link.spin_bias, link.slide_bias)
        still = [ca.SX.zeros(3), ca.SX.zeros(3)]
        self.accelerated = self._joint(link, c, (above, own), B, center, biases, True)
        self.changed = self._joint(link, c, (above, own), B, center, still, False)

    @staticmethod
    def _joint(link, c, motions, B, center, biases, swings):
        """v̇ of a joint from the accelerations of its body and of its parent's frame, and the acceleration of its own frame."""
        found, inherited = ca.SX.sym("found", SIX), ca.SX.sym("inherited", SIX)
        linear, angular = split_column(found, (3, 3))
        R, _, _, w = split_column(motions[1], (9, 3, 3, 3))
        alpha = B.T @ angular
        a = ca.reshape(R, 3, 3).T @ linear - spatial.cross(alpha, center)
        a -= spatial.cross(w, spatial.cross(w, center)) if swings else 0
        above, pushed = split_column(inherited, (3, 3))
        b_w, b_v = biases
        more_w = alpha - link.E.T @ above - b_w
        more_v = a - link.E.T @ (pushed + spatial.cross(above, link.d)) - b_v
        S = ca.sparsify(ca.vertcat(link.S_w, link.S_v))
        rate = ca.SX(0, 1)
        if link.v.shape[0]:
            rate = ca.solve(ca.densify(S.T @ S), S.T @ ca.vertcat(more_w, more_v))
        return function("joint", [link.x, link.v, c, *motions, found, inherited], [ca.vertcat(alpha, a), rate])
