"""When the equations of a model bend or jump over time: at points of tables, and where conditions on time switch.

A table bends at its points: a linear one in its slope, Akima's in its second derivative, a cubic one, which is held outside, at its
ends; one that takes the nearest value jumps between them. With an argument a t + b that is at

    t = (x − b) / a                                                                                     (1)

A step ends just before and the next one begins just after, so that no stage of it is on the other side by rounding: where
everything rests, rounding would be all that moves. Other functions of time, and signals, reach points of tables at times that are
not known beforehand. Conditions on time alone are found by `time_switches.py`.
"""

import casadi as ca
import numpy as np

from ..describe.hints import warn
from ..describe.parameters import Input
from ..describe.quantity import time
from ..events import Clock
from ..formulations.fingerprint import looked_up_in, time_dependent
from ..tables.search import stored
from .rate_jumps import name_forces_that_jump
from .time_switches import instants, time_switches

CLOSE = 1e-12  # of the run: instants that are closer count as one
BESIDE = 4.0  # roundings of time and of the argument by which a step ends before an instant, and the next one begins after it


class Bends:
    """The instants of a model."""

    def __init__(self, model):
        fixed = [q.symbol for q in model.parameters.values() if not isinstance(q, Input)]
        known = {s.element_hash() for s in [time, *fixed]}
        self.model, self.tables = model, []
        inputs = ca.vertcat(*model.inputs, ca.SX(0, 1))
        watched = [event.watch.phi for event in model.events if not isinstance(event.watch, Clock)]
        self.switches = time_switches(time_dependent(model), watched, fixed, inputs)
        for number, arguments in looked_up_in(model):
            for k, u in enumerate(arguments):
                a = ca.jacobian(u, time)
                if (
                    {s.element_hash() for s in ca.symvar(u)} <= known
                    and ca.depends_on(u, time)
                    and not ca.depends_on(a, time)
                ):
                    line = ca.Function("line", [inputs], [a, ca.substitute(u, time, 0)])
                    self.tables.append((stored(number).content, k, line))

    @property
    def found(self) -> bool:
        """True if there may be such instants."""
        return bool(self.tables or self.switches)

    def suspects(self) -> str:
        """Forces that jump with a rate, and so at no time that is known beforehand, as the end of a message."""
        return name_forces_that_jump(self.model)

    def hint_at_collapse(self, t, step) -> None:
        """Warn once of forces that jump with a rate, where steps have become very short."""
        told = "" if self.model.derived.get("collapse") else self.suspects()
        if told:
            self.model.derived["collapse"] = True
            warn(self.model, f"model {self.model.name!r}: steps of {step:.2g} s at t = {t:.6g} s{told}")

    def depends_on(self, columns) -> bool:
        """True if the instants depend on one of these inputs of the model."""
        functions = [line for _, _, line in self.tables] + [switch.frequency for switch in self.switches]
        places = [(f, 0) for f in functions] + [(switch.phi, 1) for switch in self.switches]
        return any(
            not set(columns).isdisjoint(f.jac_sparsity(out, place).get_triplet()[1])
            for f, place in places
            for out in range(f.n_out())
        )

    def __call__(self, p, until, start=None):
        """Times at which steps end, and those at which the next ones begin.

        until   end of the run, which may be passed: it tells what is close
        start   of the run, where no step ends; None: none is known
        """
        p = p[: len(self.model.inputs)] if len(p) else self.model.input_values(self.model.values())
        several = [_instants(table, k, [float(x) for x in line(p)]) for table, k, line in self.tables]
        begin = 0.0 if start is None else start
        t, width = instants(self.switches, p, begin, until if until > begin else begin + until)
        times, room = (np.concatenate(x) for x in zip(*several, (t, BESIDE * width)))
        order = np.argsort(times, kind="stable")
        if start is not None:
            order = order[np.abs(times[order] - start) > CLOSE * until]
        return _grouped(times[order], room[order], until)


def bends_of(model):
    """The instants of a model, found once."""
    if "bends" not in model.derived:
        model.derived["bends"] = Bends(model)
    return model.derived["bends"]


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
