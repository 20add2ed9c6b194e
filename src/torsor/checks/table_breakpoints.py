"""Breakpoints: times at which the equations of a model are not smooth, at points of tables and where conditions on time switch.

A table is not smooth at its points: a linear one in its slope, an Akima table in its second derivative, a cubic one that is
constant outside at its ends. A table of nearest values jumps between its points. With an argument a t + b, a point x is reached at

    t = (x − b) / a                                                                                     (1)

A step ends just before a breakpoint and the next one begins just after it, so that rounding does not put a stage on the other side.
Other functions of time, and signals, reach points of tables at times that are not known before the run. Conditions on time alone
are found by `time_switches.py`.
"""

import casadi as ca
import numpy as np

from ..elements.quantity import time
from ..events import Clock
from ..formulations.fingerprint import table_lookups, time_dependent_expressions
from ..lookup.interval_search import stored_table
from ..model.hints import warn
from ..model.parameters import Input
from .rate_jumps import name_forces_that_jump
from .time_switches import switching_times, time_switches

SAME_TIME = 1e-12  # difference of two breakpoints / length of the run, below which they count as one
STEP_MARGIN = 4.0  # distance of the end of a step from a breakpoint / rounding of time and of the argument


class Breakpoints:
    """The breakpoints of a model over time."""

    def __init__(self, model):
        fixed = [q.symbol for q in model.parameters.values() if not isinstance(q, Input)]
        known = {s.element_hash() for s in [time, *fixed]}
        self.model = model
        self.tables = []  # content, axis, and the line a t + b of the argument
        inputs = ca.vertcat(*model.inputs, ca.SX(0, 1))
        watched = [event.watch.phi for event in model.events if not isinstance(event.watch, Clock)]
        self.switches = time_switches(time_dependent_expressions(model), watched, fixed, inputs)
        for number, arguments in table_lookups(model):
            for k, u in enumerate(arguments):
                a = ca.jacobian(u, time)
                if (
                    {s.element_hash() for s in ca.symvar(u)} <= known
                    and ca.depends_on(u, time)
                    and not ca.depends_on(a, time)
                ):
                    line = ca.Function("line", [inputs], [a, ca.substitute(u, time, 0)])
                    self.tables.append((stored_table(number).content, k, line))

    @property
    def any(self) -> bool:
        """True if the model may have breakpoints."""
        return bool(self.tables or self.switches)

    def suspects(self) -> str:
        """The end of a message that names forces that jump with a rate, and so at times not known before the run."""
        return name_forces_that_jump(self.model)

    def warn_of_tiny_steps(self, t, step) -> None:
        """Warn once of forces that jump with a rate, if steps have become very short."""
        message = "" if self.model.derived.get("collapse") else self.suspects()
        if message:
            self.model.derived["collapse"] = True
            warn(self.model, f"model {self.model.name!r}: steps of {step:.2g} s at t = {t:.6g} s{message}")

    def depends_on(self, columns) -> bool:
        """True if the breakpoints depend on one of these inputs of the model."""
        functions = [line for _, _, line in self.tables] + [switch.frequency for switch in self.switches]
        arguments = [(f, 0) for f in functions] + [(switch.phi, 1) for switch in self.switches]
        return any(
            not set(columns).isdisjoint(f.jac_sparsity(out, k).get_triplet()[1])
            for f, k in arguments
            for out in range(f.n_out())
        )

    def __call__(self, p, until, start=None):
        """Times at which steps end, and times at which the next steps begin.

        until   end of the run, to which differences of times are compared; breakpoints may lie beyond it
        start   start of the run, which is no breakpoint; None if it is not known
        """
        p = p[self.model.input_layout.model_inputs] if len(p) else self.model.input_values(self.model.values())
        of_tables = [_table_times(table, k, [float(x) for x in line(p)]) for table, k, line in self.tables]
        begin = 0.0 if start is None else start
        t, width = switching_times(self.switches, p, begin, until if until > begin else begin + until)
        times, margins = (np.concatenate(x) for x in zip(*of_tables, (t, STEP_MARGIN * width)))
        order = np.argsort(times, kind="stable")
        if start is not None:
            order = order[np.abs(times[order] - start) > SAME_TIME * until]
        return _merge(times[order], margins[order], until)


def breakpoints_of(model):
    """The breakpoints of a model; the result is cached."""
    if "bends" not in model.derived:
        model.derived["bends"] = Breakpoints(model)
    return model.derived["bends"]


def _table_times(table, axis, line):
    """Times at which a table is not smooth, and the margins of steps around them."""
    points = table.bends(axis)
    a, b = line
    times = (points - b) / a if a != 0 else np.zeros(0)  # (1)
    far = np.abs(times)
    rounding = np.spacing(far) + (np.spacing(abs(b)) + np.spacing(abs(a) * far)) / abs(a or 1.0)
    return times, STEP_MARGIN * rounding


def _merge(times, margins, until):
    """Merge breakpoints that count as one: the times before and after each group."""
    if not len(times):
        return times, times
    first = np.flatnonzero(np.diff(times, prepend=-np.inf) > SAME_TIME * until + 2 * margins)
    margins = np.maximum.reduceat(margins, first)
    return times[first] - margins, times[np.append(first[1:], len(times)) - 1] + margins
