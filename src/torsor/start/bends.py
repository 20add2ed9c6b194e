"""When the tables of a model that are looked up over time bend or jump.

A table bends at its points: a linear one in its slope, Akima's in its second derivative, a cubic one, which is held outside, at its
ends; one that takes the nearest value jumps between them. With an argument a t + b that is at

    t = (x − b) / a                                                                                     (1)

Other functions of time, and signals, reach points at times that are not known beforehand.
"""

import casadi as ca
import numpy as np

from ..describe.parameters import Input
from ..describe.quantity import time
from ..formulations.fingerprint import looked_up_in
from ..tables.search import stored

CLOSE = 1e-12  # of the run: instants that are closer count as one
BESIDE = 4.0  # units in the last place by which a step ends before a jump, and the next one begins after it


class Bends:
    """The instants of a model."""

    def __init__(self, model):
        fixed = [q.symbol for q in model.parameters.values() if not isinstance(q, Input)]
        known = {s.element_hash() for s in [time, *fixed]}
        self.model, self.found = model, []
        inputs = ca.vertcat(*model.inputs, ca.SX(0, 1))
        for number, arguments in looked_up_in(model):
            for k, u in enumerate(arguments):
                a = ca.jacobian(u, time)
                if (
                    {s.element_hash() for s in ca.symvar(u)} <= known
                    and ca.depends_on(u, time)
                    and not ca.depends_on(a, time)
                ):
                    line = ca.Function("line", [inputs], [a, ca.substitute(u, time, 0)])
                    self.found.append((stored(number).content, k, line))

    def __call__(self, p, until):
        """Times at which steps end, and those at which the next ones begin."""
        if not self.found:
            return np.zeros(0), np.zeros(0)
        p = p[: len(self.model.inputs)] if len(p) else self.model.input_values(self.model.values())
        several = [_instants(table, k, [float(x) for x in line(p)], until) for table, k, line in self.found]
        times, jumps = (np.concatenate(x) for x in zip(*several))
        order = np.argsort(times, kind="stable")
        return _grouped(times[order], jumps[order], until)


def _instants(table, axis, line, until):
    """Times within a run at which a table bends, and whether it jumps there."""
    (points, jumps), (a, b) = table.bends(axis), line
    times = (points - b) / a if a != 0 else np.zeros(0)  # (1)
    times = times[(times > CLOSE * until) & (times < until)]
    return times, np.full(len(times), jumps)


def _grouped(times, jumps, until):
    """Instants that are as good as one as one; beside jumps there is room."""
    if not len(times):
        return times, times
    first = np.flatnonzero(np.diff(times, prepend=-np.inf) > CLOSE * until)
    last = np.append(first[1:], len(times)) - 1
    room = BESIDE * np.spacing(until) * np.logical_or.reduceat(jumps, first)
    return times[first] - room, np.where(room > 0, times[last], times[first]) + room
