"""States of earlier steps, for methods that go on from several of them."""

from ..kernels.compiled import compiled
from .vector_functions import copy, first_rate

CLOSE = 1e-3  # distance of two states over the step, below which older ones are forgotten


@compiled
def remember(run, k, t, h, nearly=False):
    """The present state and its rate are the newest ones; what is later than them, since the run has gone back, is forgotten.
    The rate is left in the first row of K. Returns whether the state was not known before.

    nearly   the rate may be that with which the last step ended (second row of rates), which saves its evaluation
    """
    past, state, K = run.past, run.state, run.scratch.K
    while past.kept > 0 and past.times[0] > t:
        shift(past, 0, 1)
        past.kept -= 1
    if past.kept > 0 and past.times[0] == t:
        copy(past.rates[0], K[0])
        return False
    if past.kept > 0 and t - past.times[0] < CLOSE * h:
        past.kept = 0
    known = nearly and past.kept > 0 and past.ended == t
    if known:
        copy(past.rates[1], K[0])
    else:
        state.evaluations += 1 if nearly and state.rated == 0 else 0
        first_rate(run, k, t)
    past.exact = 0 if known else 1
    shift(past, 1, 0)
    past.times[0] = t
    copy(state.xs[state.at], past.xs[0])
    copy(K[0], past.rates[0])
    past.kept = min(past.kept + 1, past.times.size)
    return True


@compiled
def shift(past, to, start):
    """Move all states that are kept by one place, from `start` on to `to` on."""
    last = past.times.size - 2
    for m in range(last + 1):
        j = m if to < start else last - m
        past.times[j + to] = past.times[j + start]
        copy(past.xs[j + start], past.xs[j + to])
        copy(past.rates[j + start], past.rates[j + to])
