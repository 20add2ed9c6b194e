"""When the tables of a model that are looked up over time bend or jump.

A table bends at its points: a linear one in its slope, Akima's in its second derivative, a cubic one, which is held outside, at its
ends; one that takes the nearest value jumps between them. With an argument a t + b that is at

    t = (x − b) / a                                                                                     (1)

A step ends just before and the next one begins just after, so that no stage of it is on the other side by rounding: where
everything rests, rounding would be all that moves. Other functions of time, and signals, reach points at times that are not known
beforehand.
"""

import casadi as ca
import numpy as np

from ..describe.parameters import Input
from ..describe.quantity import time
from ..formulations.fingerprint import looked_up_in
from ..tables.search import stored

CLOSE = 1e-12  # of the run: instants that are closer count as one
BESIDE = 4.0  # roundings of time and of the argument by which a step ends before an instant, and the next one begins after it


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

    def __call__(self, p, until, start=None):
        """Times at which steps end, and those at which the next ones begin.

        until   end of the run, which may be passed: it tells what is close
        start   of the run, where no step ends; None: none is known
        """
        p = p[: len(self.model.inputs)] if len(p) else self.model.input_values(self.model.values())
        several = [_instants(table, k, [float(x) for x in line(p)]) for table, k, line in self.found]
        times, room = (np.concatenate(x) for x in zip(*several))
        order = np.argsort(times, kind="stable")
        if start is not None:
            order = order[np.abs(times[order] - start) > CLOSE * until]
        return _grouped(times[order], room[order], until)


def _instants(table, axis, line):
    """Times at which a table bends, and how closely they are known."""
    points, (a, b) = table.bends(axis), line
    times = (points - b) / a if a != 0 else np.zeros(0)  # (1)
    far = np.abs(times)
    rounding = np.spacing(far) + (np.spacing(abs(b)) + np.spacing(abs(a) * far)) / abs(a or 1.0)
    return times, BESIDE * rounding


def _grouped(times, room, until):
    """Instants that are as good as one as one, from before to beyond."""
    if not len(times):
        return times, times
    first = np.flatnonzero(np.diff(times, prepend=-np.inf) > CLOSE * until + 2 * room)
    room = np.maximum.reduceat(room, first)
    return times[first] - room, times[np.append(first[1:], len(times)) - 1] + room
