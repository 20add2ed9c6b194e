"""Runs of an order in compiled code, many at once: where a model lets nothing happen but motion, and starts are sure.

What is not carried out here is carried out one by one (`session.py`); the numbers are the same.
"""

import warnings
from dataclasses import replace
from threading import Lock

import numpy as np

from ..errors import TorsorError
from ..kernels.deriving import DERIVING
from ..look.balance import losses
from ..look.dataset import at_outputs, attributes, in_use, labels, manifest, unique
from ..run import large, stiffness
from ..run.again import Prepared
from ..run.beginnings import Together
from ..run.doubts import Doubts
from ..run.elsewhere import Starts
from ..run.lanes import SideBySide, laned, suited
from ..run.prepare import prepare
from ..run.repeated import Beginnings, Repeater
from ..run.runner import Runner
from ..run.task import refuse_endless
from ..start.continuity import occurs, refuse_jumps
from .ended import numbers
from .portion import LOST

MANY = 32  # runs for which kernels with lanes are worth compiling
ROOM = 2**26  # bytes of outputs that are computed at once


class Quick:
    """An order that compiled code carries out; `able` tells whether it can be."""

    def __init__(self, order, task):
        self.order, self.task, self.lock = order, task, Lock()
        self.free: list = []  # repeaters that no thread uses
        self.able, self._described, self._last = False, None, None
        with DERIVING:
            asked = task.method
            first = Prepared(task)
            self.columns = [list(task.model.parameters).index(name) for name in order.names]
            plain = type(first.runner) is Runner and not large.in_tables(task) and asked != stiffness.AUTO
            self.system, self.able = first.own, plain and not _bends(first.runner, self.columns)
            if self.able:
                abreast = order.runs >= MANY and suited(first.runner)
                self.library = laned(task.derived(), first.own.choice) if abreast else None
                self.free.append(self._runs(first))
                base = np.array([*task.model.values(task.parameters).values()], float)
                self.together = Together(task.derived(), first.own, task.until, base, self.columns)
                self.doubts = Doubts(task)
                self.base = base
                self.watched = occurs(task.model, self.columns)
        row = sum(size for _, size in self.system.layout) * len(order.times) * 8
        self.most = int(max(1, min(4096, ROOM // max(row, 1))))

    def carry_out(self, values, held, stop):
        """Which of these runs are done here, what they give, (run, time, …) by name, and numbers of each."""
        (beginnings, sure), repeater = self._beginnings(values), self._taken()
        try:
            which = np.flatnonzero(sure)
            found = repeater.run(self.order.times, beginnings.some(which), held and held.some(which), stop)
        finally:
            with self.lock:
                self.free.append(repeater)
        done = np.zeros(len(values), bool)
        good = found.over & np.isfinite(found.outputs).all(axis=(1, 2))
        variables = self._variables(found.outputs, found.work)
        began = beginnings.some(which)
        good &= self.doubts.right(
            self.order.times, variables, began.length, began.p, np.full(len(began), bool(self.system.redundant))
        )
        done[which] = good
        counts = numbers(variables) | {"steps": found.steps, "rejections": found.rejections, "time_reached": found.time}
        sizes, manner = (began.mass, began.length, began.rate), (self.task.until, self.task.tolerance, self.task.step)
        counts[LOST] = losses(self.order.times, variables, found.steps, found.energy, sizes, manner)
        pick = lambda x: x if good.all() else x[good]
        return done, {n: (dims, pick(x)) for n, (dims, x) in variables.items()}, {n: pick(x) for n, x in counts.items()}

    @property
    def used(self):
        """Labels of the constraints in use."""
        return in_use(self.system, self.system.told)

    def described(self):
        """Labels, attributes of variables by name, and the manifest of a run."""
        if self._described is None:
            none = self._variables(np.zeros((1, 0, sum(size for _, size in self.system.layout))), np.zeros((1, 0)))
            told = manifest(self.system, _Kept(self.system.told), self.task.options())
            named = [*none, *unique(self.system, self.system.told)]
            self._described = labels(self.system, self.system.told), {name: attributes(name) for name in named}, told
        return self._described

    def _taken(self):
        """A repeater that this thread has for itself."""
        with self.lock:
            if self.free:
                return self.free.pop()
        with DERIVING:
            return self._runs(Prepared(replace(self.task)))

    def _runs(self, prepared):
        """What carries out runs in one thread: side by side where they can be."""
        return Repeater(prepared) if self.library is None else SideBySide(prepared, self.library)

    def _beginnings(self, values):
        """Starts of the runs, and which of them can be run here."""
        same = len(values) > 1 and np.all(values == values[0])  # as where inputs alone differ
        few = values[:1] if same else values
        whole = np.tile(self.base, (len(few), 1))
        whole[:, self.columns] = few[:, : len(self.columns)]
        with DERIVING, np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            beginnings, sure = self.together.find(whole)
            sure &= not self.order.starts and (self.order.start is None)
            for i in np.flatnonzero(~sure if not self.watched else np.full(len(few), True)):
                sure[i] = self._alone(whole[i], few[i], beginnings, i, sure[i])
        every = np.zeros(len(values), np.int64)
        return (beginnings.some(every), sure[every]) if same else (beginnings, sure)

    def _alone(self, row, given, beginnings: Beginnings, i, sure):
        """The start of one run, prepared for itself. Whether it can be run here: where nothing else is chosen about its kernels."""
        task, model = self.task, self.task.model
        try:
            values = model.values(dict(zip(model.parameters, row.tolist())))
            refuse_jumps(model, values, task.until)
            if sure:
                return True
            ways = (task.map, task.projection.baumgarte, task.projection.metric)
            system, built = prepare(model, task.formulation, *ways, task.signals, values, needs=task.needs())
            if (start := self.order.start_of(given)) is not None:
                system, _ = self._starts(values, system, built, (*ways, task.needs())).at(start)
            refuse_endless(model, system, task.until)
        except TorsorError:
            return False
        if system.choice != self.system.choice or system.watches != self.system.watches:
            return False
        beginnings.x[i], beginnings.p[i] = system.state.joined(system.q, system.v, system.p), system.p
        beginnings.turning[i], beginnings.length[i] = 0, system.length
        beginnings.mass[i], beginnings.inertia[i] = system.mass, system.inertia
        beginnings.rate[i] = system.scales["rate"]
        return True

    def _starts(self, values, *told):
        """Starts elsewhere, with these values of parameters: those that were asked for last are kept."""
        if self._last is None or self._last[0] != values:
            self._last = values, Starts(replace(self.task, parameters=values), *told)
        return self._last[1]

    def _variables(self, outputs, work):
        """Variables over time, by name, with the run as first dimension."""
        n, m, wide = outputs.shape
        found = at_outputs(self.system, outputs.reshape(n * m, wide), work.ravel(), None, _Kept(self.system.told))
        return {name: (dims, x.reshape(n, m, *x.shape[1:])) for name, (dims, x) in found.items()}


class _Kept:
    """What `at_outputs` asks of a trajectory without events."""

    events: dict = {}
    status, reached, wall = "", 0.0, 0.0

    def __init__(self, used):
        self.used = used


def _bends(runner, columns):
    """True if the instants at which steps end depend on a parameter that varies."""
    return runner.bends is not None and runner.bends.depends_on(columns)
