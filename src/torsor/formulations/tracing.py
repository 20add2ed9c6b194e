"""What is alike is derived once: the steps of recursions, and the geometry of joints.

A small operation on symbols costs CasADi some 20 µs, nearly all of it to find out what it was given. A step of a recursion
is a hundred of them; traced once as a function, it is one call for every further link.
"""

from functools import wraps

import casadi as ca


def traced(step):
    """A function of matrices that returns several, traced once for every set of patterns of its arguments. The graph is that of
    the function itself: constants that are given are folded as they would be there."""
    known: dict = {}

    @wraps(step)
    def call(*arguments):
        given = [x if isinstance(x, ca.SX) else ca.SX(x) for x in arguments]
        patterns = [x.sparsity() for x in given]
        key = tuple((*p.shape, p.hash()) for p in patterns)
        if key not in known:
            symbols = [ca.SX.sym("x", p) for p in patterns]
            known[key] = ca.Function(step.__name__, symbols, list(step(*symbols)))
        return known[key].call(given)

    return call
