"""A configuration that follows its constraints while these change: Newton's method from one instant to the next.

The first step of Newton's method is a prediction along the tangent, and those after it must become small quickly; where they do
not, the way is divided. Where it cannot be divided any more the constraints do not let the mechanism go on, a dead point, or a stop
does not.
"""

import numpy as np

from .fitting import EXACT, ROUNDING, constrained

STRIDE = 0.3  # rad, or the size of the model: longest first step
SHRINK = 0.35  # by which every further step must be shorter
MET = 1e-6  # gap of a stop that is met
SHORTEST = 1e-12  # part of a way, below which it is not divided


class Follower:
    """A driven twin on its way.

    inputs   x → (t, p): the instant and the inputs at a place of the way, without the angles that turns are counted of
    """

    def __init__(self, driven, inputs):
        self.problem, self.inputs, self._counted = driven.problem, inputs, driven.turns
        self._turns = self.problem.dynamics.kernels["turns"]

    def at(self, x, turns):
        t, p = self.inputs(x)
        p[self._counted] = turns
        return t, p

    def rows(self, x, t, q, p):
        """What has to vanish, and its derivative."""
        return self.problem.held(t, q, p)

    def corrected(self, x, q, turns):
        """The configuration at x near q and its counted angles, or None."""
        problem, (t, p) = self.problem, self.at(x, turns)
        before, nothing, none = None, np.zeros((1, 0)), np.zeros((1, 0, problem.n))
        for _ in range(15):
            g, G = self.rows(x, t, q[None, :], p)
            off = np.abs(g).max(initial=0.0)
            if off <= ROUNDING:
                return q, self._turns(t, q, p)[0]
            d, B = problem.gaps(t, q[None, :], p)
            u = constrained(nothing, none, g, G, d, B, np.zeros(1))[0]
            size = np.abs(u).max()
            if not size <= STRIDE or before is not None and size > SHRINK * before:
                return (q, self._turns(t, q, p)[0]) if off <= EXACT * 1e-2 else None
            q, before = problem.move(q[None, :], u)[0], size
        return (q, self._turns(t, q, p)[0]) if off <= EXACT else None

    def go(self, q, turns, begin, end):
        """From one place of the way to another: where it came, the configuration and the counted angles there."""
        x, step = begin, end - begin
        while x != end and step:
            goal = end if abs(end - x) <= abs(step) * (1 + 1e-12) else x + step
            found = self.corrected(goal, q, turns)
            if found is not None:
                (q, turns), x, step = found, goal, 2 * step
            else:
                step /= 2
                if abs(step) < SHORTEST * max(abs(end - begin), 1e-300):
                    break
        return x, q, turns

    def met(self, x, q, turns):
        """Names of the stops that are met."""
        t, p = self.at(x, turns)
        d, _ = self.problem.gaps(t, q[None, :], p)
        return [name for (_, _, name), gap in zip(self.problem.stops, d[0]) if gap < MET]


def conditioning(problem, t, q, p, loose=0):
    """How far the constraints are from letting something more move: their least singular value, and what would move and be
    strained there: directions of velocities and of rows, each a row.

    loose   freedoms that the mechanism has everywhere
    """
    _, G = problem.held(t, q, p)
    least = problem.n - loose - 1
    if least < 0:
        return np.ones(len(q)), np.zeros((len(q), problem.n)), np.zeros((len(q), G.shape[1]))
    U, s, Vt = np.linalg.svd(G, full_matrices=False)
    if s.shape[1] <= least:
        return np.zeros(len(q)), Vt[:, -1], U[:, :, -1]
    return s[:, least], Vt[:, least], U[:, :, least]
