"""Runs of an order, carried out in this process: any number of threads share what was prepared."""

import json
import re
import time as clock
import warnings
from dataclasses import replace
from threading import RLock
from typing import Any

import numpy as np

from ..errors import OptionError, TorsorError
from ..kernels.deriving import DERIVING
from ..look.dataset import attributes, labels, manifest, unique
from ..run.event_endings import at_end
from ..run.held import run_held, run_through
from ..run.task import doubt_of_loads
from .ended import Ended, Group, alike, grouped
from .portion import LOST, Portion, assembled, blank_counts
from .quick import Quick
from .reductions import OneRun, by_words, reduced
from .runners import Runners

TOLD = (  # attributes of runs that are those of the study
    "model", "model_hash", "formulation", "formulation_reason", "method", "method_reason", "degrees_of_freedom",
    "redundant_constraints", "options", "torsor", "versions", "machine",
)  # fmt: skip
INTERRUPTED = "not run: the study was interrupted"
HELD = re.compile(r" (The run is|\d+ steps, \d+ outputs) kept in `data` of this error\.")  # which nobody gets here


class Session:
    """An order that is carried out here."""

    def __init__(self, order):
        self.order, self.task = order, order.task()
        self.lock = RLock()
        self._quick: Any = None
        self.runners, self.most = Runners(order), 16

    def carry_out(self, first, values, pushes=(), stop=lambda: False):
        """The runs with these values of parameters, one row each, and of inputs that are held over intervals (run, interval)."""
        began, n = clock.perf_counter(), len(values)
        portion, pieces = Portion(first, [""] * n, blank_counts(n)), list[tuple]()
        quick, held = self.quick(), self.order.held(pushes)
        for start in range(0, n, self.most):
            left = np.arange(start, min(start + self.most, n))
            if quick is not None and not stop():
                left = self._together(quick, portion, pieces, left, values, held, stop)
            if len(left):
                self._in_turn(portion, pieces, left, values, held, stop)
        portion.variables = assembled(n, portion.aligned(pieces), len(self.order.times))
        portion.counts[LOST][[message != "" for message in portion.messages]] = np.nan  # which tells what is wrong
        portion.seconds = clock.perf_counter() - began
        return portion

    def quick(self):
        """What carries out many runs at once; None where the model does not allow it."""
        with self.lock:
            if self._quick is None:
                try:
                    self._quick = Quick(self.order, replace(self.task))
                    self.most = self._quick.most
                except OptionError:
                    raise
                except TorsorError:  # the model does not start with its own parameters; it may with others
                    self._quick = False
            return self._quick if self._quick and self._quick.able else None

    def _together(self, quick, portion, pieces, places, values, held, stop):
        """Carry out what can be at once. Returns the places that are left."""
        done, variables, counts = quick.carry_out(values[places], held and held.some(places), stop)
        which = places[done]
        if len(which):
            self._warned(portion, quick.system)
            if not portion.told:
                self._describe(portion, quick.system, *quick.described())
            whole = lambda k: self._run(which[k], values, None, held).judged()
            aside = unique(quick.system, quick.system.told)
            group = Group(which, variables, counts, self.order.times, lambda k: aside, whole, quick.used)
            self._kept(portion, pieces, group, values, stop)
        return places[~done]

    def _in_turn(self, portion, pieces, places, values, held, stop):
        """Carry out runs one after the other; what is kept of them is found for many at once."""
        with DERIVING:
            if self._quick:
                self.runners.begin(self._quick.task)
            systems = self.runners.systems(values[places])
        ended = list[Ended]()
        for i, system in zip(places, systems):
            self._tried(
                portion, i, lambda i=i, system=system: ended.append(self._run(i, values, system, held, stop)), stop
            )
        for some in alike(ended):
            group = grouped(some)
            kept = self._right(portion, group, some) | self._stopped(portion, group, some)
            if kept.any():
                some = [one for one, well in zip(some, kept) if well]
                for one in some:
                    self._warned(portion, one.system)
                self._described(portion, some[0])
                self._kept(portion, pieces, group if kept.all() else grouped(some), values, stop)

    def _warned(self, portion, system):
        """Note what `simulate` would warn of at the start of a run."""
        text = system.shared and doubt_of_loads(self.order.model, system.shared)
        if text and text not in portion.warned:
            portion.warned.append(text)

    def _stopped(self, portion, group, some):
        """Which runs of a group stopped, and leave the outputs that they reached where these are asked for. All are counted."""
        for name, x in group.counts.items():
            portion.counts[name][group.places] = x
        if self.order.reduce is not None:
            return np.zeros(len(some), bool)
        return np.array([portion.messages[one.place] != "" and not one.trajectory.complete for one in some])

    def _right(self, portion, group, some):
        """Which runs of a group are right; of the others a message tells what is wrong."""
        doubts, good = self.runners.doubts, np.array([one.trajectory.complete for one in some])
        good &= doubts is not None and len(group.times) > 0
        if good.any():
            of = lambda name: np.array([getattr(one.system, name) for one in some])
            redundant = np.array([bool(one.system.redundant) for one in some])
            good &= doubts.right(group.times, group.variables, of("length"), of("p"), redundant)
        for k in np.flatnonzero(~good):
            interrupted = some[k].trajectory.status == "interrupted"
            good[k] = self._tried(portion, some[k].place, some[k].judged, lambda told=interrupted: told)
        return good

    def _kept(self, portion, pieces, group, values, stop):
        """Keep of a group of runs what is asked for, as pieces."""
        for name, x in group.counts.items():
            portion.counts[name][group.places] = x
        keep, reduce, used = self.order.keep, self.order.reduce, {"constraint": np.array(group.used, dtype=str)}
        if by_words(reduce) and (keep is None or all(_components(name, group.variables) for name in keep)):
            every = {name: (("run", *dims), x) for name, (dims, x) in self._chosen(group.variables).items()}
            whole = OneRun(every, group.times, {}, None, ends=group.ends)
            keep_all = lambda: pieces.append((group.places, reduced(reduce, whole)[0], used))
            self._tried(portion, group.places, keep_all)
            return
        for k, i in enumerate(group.places):
            variables = {name: (dims, x[k]) for name, (dims, x) in group.variables.items()} | group.more(k)
            run = OneRun(
                self._chosen(variables), group.times, self.order.parameters(values[i]),
                lambda k=k: group.whole(k), group.used,
                {name: x[k] for name, x in group.ends.items()},
            )  # fmt: skip
            add = lambda i=i, run=run: pieces.append(_piece(i, used, *reduced(reduce, run, portion)))
            self._tried(portion, i, add, stop)

    def _tried(self, portion, places, action, stop=lambda: False):
        """Do something for a run, or several; whether it could be done. If not, a message tells why."""
        try:
            message = INTERRUPTED if stop() else ""
            if not message:
                action()
        except OptionError:  # wrong in all runs alike
            raise
        except TorsorError as error:
            message = HELD.sub("", str(error)) or type(error).__name__
        except Exception as error:  # of a function of the user
            message = f"reduce: {type(error).__name__}: {error}"
        for i in np.atleast_1d(places) if message else ():
            portion.messages[i] = message
        return not message

    def _described(self, portion, run):
        """Tell of a portion what one of its runs tells of all of them."""
        if not portion.told:
            system, trajectory = run.system, run.trajectory
            named = [*grouped([run]).variables, *run.aside()]
            told = manifest(system, trajectory, run.task.options())
            self._describe(portion, system, labels(system, trajectory.used), {n: attributes(n) for n in named}, told)

    def _describe(self, portion, system, labels, attributes, manifest):
        """Labels, attributes of variables, and what the manifest of a run tells of all of them."""
        options = {k: v for k, v in json.loads(manifest["options"]).items() if k != "parameters"}
        portion.told = {name: manifest[name] for name in TOLD} | {"options": json.dumps(options)}
        portion.labels, portion.attributes = dict(labels), dict(attributes)
        portion.rows = [label for label, _ in system.declared]

    def _run(self, i, values, system, held, stop=lambda: False):
        """One run, from a system at the model's start where that is known: graphs are made by one thread at a time, compiled code
        runs beside it."""
        order, row = self.order, values[i]
        with DERIVING, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = order.parameters(row)
            if system is None:
                checked = order.model.values(given)
                given = {name: checked[name] for name in order.names}
            asked = replace(self.task, parameters=given, start=order.start_of(row))
            task, started, runner = self.runners.of(asked, system)
        if held is None:
            trajectory = run_through(runner, order.times, stop)
        else:
            trajectory = run_held(runner, order.times, held.some([i]), stop=stop)
        early = order.reduce is not None and trajectory.status.startswith("ended")
        end = at_end(runner) if early else None
        self.runners.give_back(runner, trajectory)
        return Ended(i, task, started, trajectory, end)

    def _chosen(self, variables):
        """The variables that are kept, or that a function of a run may look at."""
        keep = self.order.keep
        if keep is None:
            plain = self.order.reduce is None or isinstance(self.order.reduce, (str, tuple))
            return {name: x for name, x in variables.items() if not plain or "time" in x[0]}
        found = {name: _components(name, variables) for name in keep}
        for name, components in found.items():
            if not components:
                raise OptionError(f"study: keep: there is no variable {name!r}. Known: {', '.join(variables)}.")
        return {label: variables[label] for components in found.values() for label in components}


def _components(name, variables):
    """The variable of this name, or those of the components of a vector."""
    return [name] if name in variables else [label for label in variables if label.startswith(f"{name}[")]


def _piece(i, used, found, labels):
    """What is kept of one run."""
    return np.array([i]), {name: (("run", *dims), x[None]) for name, (dims, x) in found.items()}, used | labels
