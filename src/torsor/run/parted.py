"""A large system that several ranks run together: what each prepares, and a runner that agrees with those of the others.

Every rank describes the whole model, finds out alike which share is whose (`formulations/shares.py`), and writes, compiles and runs
the equations of its share and of the trunk. What a run needs of the others is told through `ranks.py`; results are put
together on rank 0, slice by slice, so that they are there when a rank is lost.
"""

import ctypes
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from ..errors import OptionError
from ..formulations import tree_schedule
from ..formulations.gathering import Gathering
from ..formulations.outputs import layout
from ..formulations.part_system import PartSystem
from ..formulations.scales import Scales
from ..formulations.shares import shares
from ..methods.codes import FINISHED
from . import endings, large
from .ranks import Lost
from .runner import Runner
from .waist import Layout

NEEDED = (
    "{}s need a model of more than {} bodies that consists of bodies, joints, constraints at position "
    "level between two bodies, forces and gravity, all given by numbers: no recorded signals, events, states, moving grounds"
)
FORMULATIONS = ("hierarchical", "auto")
COMMON = 16  # numbers on which loops agree at once


class Part:
    """What a rank has of a system: its own part, ready to run, and the whole as results show it."""

    def __init__(self, task, ranks):
        self.ranks, self.model = ranks, task.model
        self.owner = f"model {task.model.name!r}"
        whole = self._whole(task)
        self.shares = shares(ranks.count, whole.tree.parents, whole.merged, whole.forced.tolist(), self.owner)
        self.own = PartSystem(whole, self.shares, ranks.rank, ranks.count)
        ranks.shares = [self._told(rank) for rank in range(ranks.count)]
        found = large.prepared(self.own, "hierarchical", task.map, task.projection.baumgarte, 0.0, {}, ranks)
        if found is None:
            raise OptionError(
                f"{self.owner}: {self.ranks.word}s need a start that is given: joint by joint, or by bodies that fit "
                "together in the reference configuration, with constraints that are satisfied there"
            )
        self.system, self.built = found
        self.gathering = Gathering(self.own)
        self.targets = ranks.to_first(self.gathering.target)
        self.shown = self._shown(whole)

    def _whole(self, task):
        if task.formulation not in FORMULATIONS:
            raise OptionError(
                f"{self.owner}: {self.ranks.word}s run formulation 'hierarchical', not {task.formulation!r}"
            )
        if task.projection.metric != large.METRIC:
            raise OptionError(
                f"{self.owner}: {self.ranks.word}s run projections 'least-squares' (in the mass metric), 'baumgarte' and 'none', "
                f"not {task.projection!r}"
            )
        signals = dict(task.model.signals) | task.signals
        bare, _ = large.fixed(task.model, {}, task.values())
        whole = None if signals else large.system_of(bare, "hierarchical", {})
        if whole is None:
            raise OptionError(
                f"{self.owner} cannot be run by {self.ranks.word}s: {NEEDED.format(self.ranks.word, tree_schedule.LARGE)}"
            )
        return whole

    def _shown(self, whole):
        """The whole system, as results tell it."""
        own, rows = self.system, whole.loop_rows
        sizes = [int(whole.tree.sizes(what).sum()) for what in ("size", "dimension")]
        passes = SimpleNamespace(system=whole, tree=whole.tree, layout=Layout(*sizes, 0), turns=[])
        choice = replace(own.choice, keep=tuple(range(rows)))
        system = large.described(passes, Scales(**own.scales), layout(whole.shown, rows, []), choice, own.t, {})
        large.tell_redundancy(system, whole, self.own.redundancy)
        return system

    def _told(self, rank):
        """What a rank has, in words."""
        whole = self.own.whole
        bodies = [whole.tree.bodies[k].name for k in np.flatnonzero(self.shares.bodies == rank)]
        names = list(dict.fromkeys(name.split(".")[0] for name in bodies))
        some = ", ".join(names[:3]) + (f" … {names[-1]}" if len(names) > 3 else "")
        return f"{len(bodies)} bodies of {some}"


class RankRunner(Runner):
    """The runner of one rank; it decides what those of all others decide."""

    def __init__(self, part, *manner):
        self.part, self.ranks = part, part.ranks
        super().__init__(part.system, part.built, *manner)

    @property
    def shown(self):
        return self.part.shown

    def _agreed(self, number):
        return float(self.ranks.largest(number)[0])

    def _planned(self, *manner):
        plan, tree = super()._planned(*manner), self.part.own.tree
        known = self.part.own.cut.known
        plan.agree = ctypes.cast(self.ranks.agree, ctypes.c_void_p).value
        plan.common_configuration, plan.common_velocities = (
            int(tree.sizes(what)[:known].sum()) for what in ("size", "dimension")
        )
        return plan

    def _scratch(self):
        scratch = super()._scratch()
        scratch.common = np.zeros(max(COMMON, self.plan.common_configuration + self.plan.common_velocities))
        return scratch

    def _advance(self, budget):
        with self.ranks.waiting():
            status = super()._advance(budget)
        self.ranks.check()
        return status

    def _interrupted(self, error):
        self.ranks.ended("it was interrupted")
        return super()._interrupted(error)

    def run(self, *given, **more):
        try:
            return super().run(*given, **more)
        except Lost as lost:
            self.ranks.trouble = lost
            return str(lost)

    # results

    def told(self):
        known = f"{int(self.part.shares.known.sum())} bodies known to all"
        word = self.ranks.word
        return {f"{word}s": self.ranks.count, f"{word}_shares": json.dumps([*self.ranks.shares, known])}

    def begin(self, times, last=True):
        super().begin(times, last)
        self.gathered = np.zeros((len(times), self.part.gathering.size)) if self.ranks.rank == 0 else None

    def _catch_up(self):
        new = slice(self.evaluated, self.written)
        if new.start == new.stop or self.ranks.trouble is not None:
            return
        with self.ranks.waiting():
            self._evaluate(np.arange(new.start, new.stop))
        self.ranks.check()
        told = self.ranks.to_first(self.part.gathering.own(self.outputs[new]))
        if told is not None:
            for target, own in zip(self.part.targets, told):
                self.part.gathering.into(self.gathered[new], own, target)
            self._look(self.times[new], self.gathered[new])
        self.evaluated = new.stop

    def collect(self, message):
        """What was reached, on rank 0; None on all others."""
        self._catch_up()
        self.out.written = self.evaluated
        if self.ranks.rank:
            return None
        self.outputs = self.gathered
        return super().collect(message)

    def _rows_used(self):
        return list(self.part.shown.choice.keep)

    def _message(self, status):
        """What a status means; where a run came to its end, with the joint that was fastest, and its rank."""
        if status == FINISHED:
            return "finished"
        v, sizes = self.system.state.parted(self.state.x)[1], np.where(self.system.linear, self.system.length, 1.0)
        speeds = np.abs(v / sizes)
        k = int(np.argmax(speeds)) if len(speeds) else 0
        every = self.ranks.gathered((speeds[k], self.system.coordinates[k]) if len(speeds) else (0.0, "nothing"))
        rank = int(np.argmax([speed for speed, _ in every]))
        where = f"fastest is {every[rank][1]!r} of {self.ranks.named(rank)}"
        return f"{endings.STATUS[status]}; {where}"
