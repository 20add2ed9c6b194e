"""The runners of a system that several ranks run together: each runs its part, and agrees with the others.

Ranks exchange data through `parallel/ranks.py`. What a time loop decides about is the same on all ranks, bit for bit: watched
functions of events, residuals and impulses are computed by one rank and sent to all (`formulations/tables/shared_values.py`),
errors and speeds are the largest of all ranks (`methods/rank_agreement.py`). Rank 0 calls the functions of controllers, and gathers
the results slice by slice, so that they are kept if a rank is lost.
"""

import ctypes
import json
from typing import Any

import numpy as np

from ..methods.status_codes import FINISHED
from ..parallel.ranks import RankLost
from ..prepare.table_structures import TableStructures
from . import run_messages
from .events import event_messages
from .events.event_runner import EventRunner
from .runner import Runner

LARGEST_EXCHANGE = 16  # numbers on which loops agree at once


class OneOfSeveral(Runner):
    """What the runner of one rank does differently from one that runs alone. All ranks take the same decisions."""

    part: Any
    ranks: Any

    @property
    def output_system(self):
        return self.part.whole_system

    def _largest_over_ranks(self, number):
        return float(self.ranks.largest(number)[0])

    def _make_plan(self, options):
        plan, tree = super()._make_plan(options), self.part.own.tree
        known = self.part.own.cut.known
        plan.agree = ctypes.cast(self.ranks.agree, ctypes.c_void_p).value
        plan.common_configuration, plan.common_velocities = (
            int(tree.sizes(what)[:known].sum()) for what in ("size", "dimension")
        )
        return plan

    def _scratch(self):
        scratch = super()._scratch()
        scratch.common = np.zeros(max(LARGEST_EXCHANGE, self.plan.common_configuration + self.plan.common_velocities))
        return scratch

    def _march(self, budget):
        with self.ranks.waiting():
            status = super()._march(budget)
        self.ranks.check()
        return status

    def _interrupt_message(self, error):
        self.ranks.notify_end("it was interrupted")
        return super()._interrupt_message(error)

    def run(self, *arguments, **options):
        try:
            return super().run(*arguments, **options)
        except RankLost as lost:
            self.ranks.trouble = lost
            return str(lost)

    def result_attributes(self):
        """Further attributes of the dataset: number of ranks and their shares."""
        known = f"{int(self.part.shares.known.sum())} bodies known to all"
        word = self.ranks.word
        return {f"{word}s": self.ranks.count, f"{word}_shares": json.dumps([*self.ranks.shares, known])}

    def begin(self, times, last=True):
        super().begin(times, last)
        size = self.part.gathering.size + len(self.part.signals)
        self.gathered: Any = np.zeros((len(times), size)) if self.ranks.rank == 0 else None

    def _evaluate_new_outputs(self):
        new = slice(self.outputs_evaluated, self.written)
        if new.start == new.stop or self.ranks.trouble is not None:
            return
        with self.ranks.waiting():
            self._evaluate(np.arange(new.start, new.stop))
        self.ranks.check()
        parts = self.ranks.to_first(self.part.gathering.own(self.outputs[new]))
        if parts is not None:
            for target, own in zip(self.part.targets, parts):
                self.part.gathering.into(self.gathered[new], own, target)
            if self.part.signal_values is not None:
                self.part.signal_values.add(self.times[new], self.out.x[new], self.out.p[new], self.gathered[new])
            self._find_undefined(self.times[new], self.gathered[new])
        self.outputs_evaluated = new.stop

    def collect(self, message):
        """The results up to the time that was reached, on rank 0; None on all others."""
        self._evaluate_new_outputs()
        self.out.written = self.outputs_evaluated
        if self.ranks.rank:
            return None
        self.outputs = self.gathered
        return super().collect(message)

    def _used_rows(self):
        return list(self.part.whole_system.choice.keep)

    def _message(self, status):
        """The message of a status; if the run failed, with the fastest joint coordinate and its rank."""
        if status == FINISHED:
            return "finished"
        v, sizes = (
            self.system.state.split_blocks(self.state.x)[1],
            np.where(self.system.linear, self.system.length, 1.0),
        )
        speeds = np.abs(v / sizes)
        k = int(np.argmax(speeds)) if len(speeds) else 0
        fastest = self.ranks.gather((speeds[k], self.system.coordinates[k]) if len(speeds) else (0.0, "nothing"))
        rank = int(np.argmax([speed for speed, _ in fastest]))
        where = f"fastest is {fastest[rank][1]!r} of {self.ranks.name_of(rank)}"
        return f"{run_messages.STATUS[status]}; {where}"


class RankRunner(OneOfSeveral):
    """The runner of one rank."""

    def __init__(self, part, options):
        self.part = part
        self.ranks = part.ranks
        super().__init__(part.system, part.built, options)


class RankEventRunner(OneOfSeveral, EventRunner):
    """The runner of one rank of a system with events."""

    def __init__(self, part, options):
        self.part = part
        self.ranks = part.ranks
        structures = TableStructures(part, part.system, part.built)
        EventRunner.__init__(self, structures, part.system, part.built, options)

    def _call_controller(self):
        """Let rank 0 call a function of the user, and send its answer to all."""
        call, found = self.controllers.calls[self.events.failed], None
        if self.ranks.rank == 0:
            answered = super()._call_controller()
            found = answered, self.controllers.reason, self.state.p[call.answers]
        answered, self.controllers.reason, self.state.p[call.answers] = self.ranks.gather(found)[0]
        return answered

    def _velocities_of_whole(self):
        whole = self.part.whole_system
        return whole.linear, self.part.own.velocities_of_whole

    def _message(self, status):
        return event_messages.message(self, status) or super()._message(status)


def rank_runner(part, options):
    """The runner of a part, with events if the model has any."""
    return (RankEventRunner if part.changes else RankRunner)(part, options)
