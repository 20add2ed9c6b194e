"""A large system that several ranks run together: the preparation of each rank, and a runner that agrees with the others.

Every rank describes the whole model and computes the same shares (`formulations/tables/shares.py`). It derives, compiles and
runs the equations of its own share and of the trunk, which is common to all ranks. Ranks exchange data through
`parallel/ranks.py`. Rank 0 gathers the results slice by slice, so that they are kept if a rank is lost.
"""

import ctypes
import json
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import kernels
from ..errors import OptionError
from ..formulations.algebra.scales import Scales
from ..formulations.graphs.outputs import layout
from ..formulations.output_layout import OutputLayout
from ..formulations.tables import tree_schedule
from ..formulations.tables.expression_passes import OutputPlaces, add_expressions
from ..formulations.tables.gather_outputs import Gathering
from ..formulations.tables.rank_system import PartSystem
from ..formulations.tables.schedule import Schedule
from ..formulations.tables.shares import shares
from ..formulations.tables.system_passes import input_place
from ..methods.status_codes import FINISHED
from ..parallel.ranks import RankLost
from ..prepare import large_systems, table_support
from ..prepare.auto_formulation import AUTO
from ..prepare.state_space import Layout
from . import run_messages
from .runner import Runner

REQUIREMENTS = (
    "{}s need a model of more than {} bodies that consists of bodies, joints, constraints at position "
    "level between two bodies, forces and gravity, all given by numbers: no events, controllers, moving grounds"
)
LARGEST_EXCHANGE = 16  # numbers on which loops agree at once


class Part:
    """A system on one rank: its own part, ready to run, and the whole system, which results show."""

    def __init__(self, task, ranks):
        self.ranks = ranks
        self.model = task.model
        self.owner = f"model {task.model.name!r}"
        self.signals = dict(task.model.signals) | task.signals
        whole = self._numeric_system(task)
        self.shares = shares(
            ranks.count, whole.tree.parents, whole.join_order, whole.ends_of_forces.tolist(), self.owner
        )
        self.own = PartSystem(whole, self.shares, ranks.rank, ranks.count)
        ranks.shares = [self._describe_share(rank) for rank in range(ranks.count)]
        result = large_systems.prepare_system(
            self.own, self.formulation, task.kernel_options(), 0.0, {}, ranks, task.values(),
            given=self._requested_start(task),
        )  # fmt: skip
        if result is None:
            raise OptionError(
                f"{self.owner}: {self.ranks.word}s need a start that satisfies the constraints: give it joint by joint, or by "
                "bodies that fit together in the reference configuration"
            )
        self.system, self.built = result
        self.gathering = Gathering(self.own)
        self.targets = ranks.to_first(self.gathering.target)
        self.whole_system = self._describe_whole(whole)
        self.signal_values = (
            SignalValues(whole, self.system, self.signals) if ranks.rank == 0 and self.signals else None
        )

    def _numeric_system(self, task):
        """The numeric system of the whole model. Refuses models and options that ranks do not support."""
        supported = table_support.formulations_that_declare("ranks")
        self.formulation = supported[0] if task.formulation == AUTO else task.formulation
        if self.formulation not in supported:
            raise OptionError(
                f"{self.owner}: formulation {task.formulation!r} is not supported with {self.ranks.word}s; use "
                f"{' or '.join(map(repr, supported))}"
            )
        if task.projection.metric != large_systems.METRIC:
            raise OptionError(
                f"{self.owner}: projection {task.projection!r} is not supported with {self.ranks.word}s; use 'least-squares' (in "
                "the mass metric), 'baumgarte' or 'none'"
            )
        bare, self.signals = large_systems.fix_parameters(task.model, self.signals, task.values())
        reason = table_support.first_change(task.model)
        reason = reason or table_support.reason_against(bare, self.formulation, self.signals)
        reason = reason or table_support.reason_against_ranks(
            table_support.system_of(bare, self.formulation, self.signals)
        )
        if reason:
            requirements = REQUIREMENTS.format(self.ranks.word, tree_schedule.tables_above())
            raise OptionError(f"{self.owner} cannot be run by {self.ranks.word}s: {requirements}; here, {reason}")
        return large_systems.system_of(bare, self.formulation, self.signals)

    def _requested_start(self, task):
        """q, v and p of this share at the start that the user gives, computed by rank 0 from the whole system; None: that of the
        model."""
        if task.start is None:
            return None
        q, v, p = self.ranks.gather(task.start_by_one_rank(self.formulation) if self.ranks.rank == 0 else None)[0]
        own, tree = self.own, self.own.whole.tree
        return q[own.indices_of_links(tree.sizes("size"))], v[own.indices_of_links(tree.sizes("dimension"))], p

    def _describe_whole(self, whole):
        """The whole system, as results show it."""
        own, rows = self.system, whole.loop_rows
        size, dimension = (int(whole.tree.sizes(what).sum()) for what in ("size", "dimension"))
        state = Layout(size, dimension, len(whole.model.inputs), own.state.states)
        passes = SimpleNamespace(system=whole, tree=whole.tree, layout=state, turns=[])
        choice = replace(own.choice, keep=tuple(range(rows)))
        system = large_systems.describe_large_system(
            passes, Scales(**own.scales), layout(whole.shown, rows, self.signals), choice, own.t, self.signals
        )
        large_systems.add_redundancy(system, whole, self.own.redundancy)
        system.p = own.p[whole.model.input_layout.model_inputs]
        return system

    def _describe_share(self, rank):
        """The share of a rank in words."""
        whole = self.own.whole
        bodies = [whole.tree.bodies[k].name for k in np.flatnonzero(self.shares.bodies == rank)]
        names = list(dict.fromkeys(name.split(".")[0] for name in bodies))
        some = ", ".join(names[:3]) + (f" … {names[-1]}" if len(names) > 3 else "")
        return f"{len(bodies)} bodies of {some}"


class SignalValues:
    """Computes the recorded signals from the outputs of the whole system, on rank 0.

    whole     the whole system
    system    description of the share of this rank: its states and p contain the inputs
    signals   expressions by name; their values are the last outputs
    """

    def __init__(self, whole, system, signals):
        outputs = OutputLayout(layout(whole.shown, whole.loop_rows, []))
        self.first = outputs.size
        places = partial(input_place, whole.model.input_layout, system.state)
        passes = SimpleNamespace(system=whole, input_place=places)
        takes = {"t": 1, "x": system.state.x, "p": len(system.p), "row": self.first}
        schedule = Schedule("signals", takes, {"signal": len(signals)})
        offsets = {name: part.start for name, part in outputs.slices.items()}
        add_expressions(
            schedule, signals.values(), OutputPlaces(passes, "row", offsets), "signal", np.arange(len(signals))
        )
        self.kernel = kernels.build({"signals": schedule})["signals"]

    def add(self, times, x, p, outputs):
        """Write the signals at some times into the outputs."""
        for k, t in enumerate(times):
            row = np.ascontiguousarray(outputs[k, : self.first])
            outputs[k, self.first :] = self.kernel(np.array([t]), x[k], p[k], row)[0]


class RankRunner(Runner):
    """The runner of one rank. All ranks take the same decisions."""

    def __init__(self, part, options):
        self.part = part
        self.ranks = part.ranks
        super().__init__(part.system, part.built, options)

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

    def _advance(self, budget):
        with self.ranks.waiting():
            status = super()._advance(budget)
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
