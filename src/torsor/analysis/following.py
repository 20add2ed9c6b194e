"""A configuration that follows its constraints while these change: Newton's method from one instant to the next.

It begins where the way so far leads on, so that a branching of the way is passed straight; or, where there is none so far, Newton's
first step is a prediction along the tangent. The steps after that must become short quickly or, at a singular position, residuals
steadily small; where they do not, the way is divided. Where it cannot be divided any more the constraints do not let the mechanism
go on, a dead point, or a stop does not.
"""

import numpy as np

from .fitting import EXACT, ROUNDING, constrained

STRIDE = 0.3  # rad, or the size of the model: longest first step
NEARLY = 1e-2 * EXACT  # residual of an ill-conditioned position, which rounding keeps from becoming less
PIECE = 16  # places that are reached in one go
NEWTON = 30  # steps: at a singular position each halves what is left
STEADY = 0.4  # by which residuals must become less, where steps do not become short quickly
SHRINK = 0.35  # by which every further step must be shorter
SAME = 1e-4  # rad, or the size of the model: distance of assemblies that are one, also at a singular position
PASSING = 1e-4  # likewise: length of a step that passes a singular position
MET = 1e-6  # gap of a stop that is met
SHORTEST = 1e-12  # part of a way, below which it is not divided


class Follower:
    """A driven twin on its way.

    inputs   x → (t, p): instants and inputs at places of the way, a row for each, without the angles that turns are counted of
    """

    def __init__(self, driven, inputs):
        self.problem, self.inputs, self._counted = driven.problem, inputs, driven.turns
        self._turns = self.problem.dynamics.kernels["turns"]
        self.square = square(self.problem)

    def at(self, x, turns):
        """Instants and inputs at places of the way, or at one of them: a row for each."""
        t, p = self.inputs(np.atleast_1d(x))
        p[:, self._counted] = turns
        return t[:, None], p

    def rows(self, x, t, q, p):
        """What has to vanish, and its derivative."""
        return self.problem.held(t, q, p)

    def corrected(self, x, q, turns, ahead=None):
        """The configurations at x near q, a row for each, their counted angles, and which of them were found.

        ahead   û to begin with: where the way leads on; None: Newton's own first step is that
        """
        problem, (t, p) = self.problem, self.at(x, turns)
        before, less = np.full(len(q), np.inf), np.full(len(q), np.inf)  # size of the last step, and residual there
        if ahead is not None:
            q, before = problem.move(q, ahead), np.abs(ahead).max(axis=1, initial=0.0)
        q, alive, found = q.copy(), np.arange(len(q)), np.zeros(len(q), bool)
        for k in range(NEWTON):
            few = t[alive], q[alive], p[alive]
            (g, G), (d, B) = self.rows(x[alive], *few), problem.gaps(*few)
            off = np.abs(g).max(axis=1, initial=0.0)
            none = np.zeros((len(alive), 0)), np.zeros((len(alive), 0, problem.n))
            u = constrained(*none, g, G, d, B, np.zeros(len(alive)))[0]
            size = np.abs(u).max(axis=1, initial=0.0)
            slow = size > SHRINK * before[alive]
            poor = ~(size <= STRIDE) | slow & ~((k > 0) & (off < STEADY * less[alive]))
            inside = d.min(axis=1, initial=0.0) >= -EXACT
            found[alive] = inside & ((off <= ROUNDING) | poor & (off <= NEARLY))
            on = (off > ROUNDING) & ~poor
            q[alive[on]], before[alive], less[alive] = problem.move(q[alive[on]], u[on]), size, off
            alive = alive[on]
            if not len(alive):
                break
        return q, self._turns.over(t, q, p)[0], found

    def one(self, x, q, turns, ahead=None):
        """The configuration at one place near q and its counted angles, or None: as the way leads on or, where that does not lead
        there, by Newton's method alone."""
        for guess in (None,) if ahead is None else (ahead[None, :], None):
            there, angles, found = self.corrected(np.array([x]), q[None, :], turns, guess)
            if found[0]:
                return there[0], angles[0]
        return None

    def all(self, q, turns, x):
        """Configurations and counted angles at all places that are reached; and where it came last.

        Every some places it goes step by step, and from there to those in between in all pieces at once.
        """
        states, counted = np.repeat(q[None, :], len(x), axis=0), np.repeat(turns[None, :], len(x), axis=0)
        knots, last, along = [*range(0, len(x) - 1, PIECE), len(x) - 1], (x[0], q, turns), None
        for before, k in zip(knots, knots[1:]):
            last = self.go(*last[1:], x[before], x[k], along)
            if last[0] != x[k]:
                break
            states[k], counted[k] = last[1:]
            along = self.problem.local(states[before : before + 1], states[k : k + 1])[0] / (x[k] - x[before])
        else:
            before = len(x) - 1
        self._between(states, counted, x, knots, before)
        before = self._agreeing(states, counted, x, knots, before)
        for j in range(
            before + 1, len(x)
        ):  # the piece in which it ends, or in which a long step led to another assembly
            last = self.go(states[j - 1], counted[j - 1], x[j - 1], x[j])
            if last[0] != x[j]:
                return states[:j], counted[:j], last
            states[j], counted[j] = last[1:]
        return states, counted, last

    def _between(self, states, counted, x, knots, end):
        """Fill in what lies between the knots, up to one of them."""
        for k in range(1, PIECE):
            inner = np.array([j + k for j in knots if j + k < min(j + PIECE, end)], int)
            if not len(inner):
                break
            first = np.array([min(j + PIECE, end) for j in inner - k], int) if k == 1 else inner - 1
            base = inner - k if k == 1 else inner - 2
            ahead = self.problem.local(states[base], states[first]) / (x[first] - x[base])[:, None]
            ahead *= (x[inner] - x[inner - 1])[:, None]
            states[inner], counted[inner], fine = self.corrected(x[inner], states[inner - 1], counted[inner - 1], ahead)
            for j in inner[~fine]:
                _, states[j], counted[j] = self.go(states[j - 1], counted[j - 1], x[j - 1], x[j])

    def _agreeing(self, states, counted, x, knots, end):
        """The knot up to which what lies between the knots leads to these: all of them, but where a step was so long that it led to
        another assembly."""
        for before, k in zip(knots, knots[1:]):
            if k <= end and k - before > 1:
                ahead = self.problem.local(states[k - 2 : k - 1], states[k - 1 : k])[0] / (x[k - 1] - x[k - 2])
                at, q, _ = self.go(states[k - 1], counted[k - 1], x[k - 1], x[k], ahead)
                if at != x[k] or np.abs(self.problem.local(q[None, :], states[k : k + 1])).max() > SAME:
                    return before
        return end

    def go(self, q, turns, begin, end, along=None):
        """From one place of the way to another: where it came, the configuration and the counted angles there.

        along   û per unit of the way, where it came from
        """
        x, step, side = begin, end - begin, self.side(begin, q, turns)
        while x != end and step:
            goal = end if abs(end - x) <= abs(step) * (1 + 1e-12) else x + step
            found = self.one(goal, q, turns, None if along is None else along * (goal - x))
            way = np.zeros(1) if found is None else self.problem.local(q[None, :], found[0][None, :])[0]
            there = 0.0 if found is None else self.side(goal, *found)
            if found is not None and (side * there >= 0 or np.abs(way).max() <= PASSING):
                along, side = way / (goal - x), there or side
                (q, turns), x, step = found, goal, 2 * step
            else:
                step /= 2
                if abs(step) < SHORTEST * max(abs(end - begin), 1e-300):
                    break
        return x, q, turns

    def side(self, x, q, turns):
        """The sign of the determinant of the constraints, 0 where they are not as many as velocities.

        It changes where a singular position is passed and nowhere else, and assemblies that are neighbours have different ones: a
        step between which it differs has led to another assembly, or past a singular position, which a short step shows.
        """
        if self.square is None:
            return 0.0
        t, p = self.at(x, turns)
        _, G = self.rows(np.atleast_1d(x), t, q[None, :], p)
        return float(np.linalg.slogdet(G[0][self.square])[0])

    def met(self, x, q, turns):
        """Names of the stops that are met."""
        t, p = self.at(x, turns)
        d, _ = self.problem.gaps(t, q[None, :], p)
        return [name for (_, _, name), gap in zip(self.problem.stops, d[0]) if gap < MET]


def square(problem, more=0):
    """Places of the rows of constraints in use and of so many behind them, where these are as many as velocities; else None."""
    keep = set(problem.dynamics.system.keep)
    places = [k for k, row in enumerate(problem.rows) if row in keep]
    places += range(len(problem.rows), len(problem.rows) + more)
    return places if len(places) == problem.n else None


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
