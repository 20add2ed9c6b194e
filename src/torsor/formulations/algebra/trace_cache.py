"""A decorator that traces a symbolic function once and calls the traced function afterwards.

A small operation on symbols costs CasADi some 20 µs, nearly all of it for the conversion of the arguments. A step of a recursion
consists of about a hundred operations; as a traced function it is one call for every further link.
"""

from functools import wraps

import casadi as ca


def trace_once(step):
    """Decorate a function of matrices that returns several matrices: trace it once for every set of sparsity patterns.

    The resulting graph is the same as without the decorator; constant arguments are folded.
    """
    traces: dict = {}

    @wraps(step)
    def call(*arguments):
        matrices = [x if isinstance(x, ca.SX) else ca.SX(x) for x in arguments]
        patterns = [x.sparsity() for x in matrices]
        key = tuple((*p.shape, p.hash()) for p in patterns)
        if key not in traces:
            symbols = [ca.SX.sym("x", p) for p in patterns]
            traces[key] = ca.Function(step.__name__, symbols, list(step(*symbols)))
        return traces[key].call(matrices)

    return call
