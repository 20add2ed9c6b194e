"""A large system that several ranks run together: the preparation of each rank.

Every rank describes the whole model and computes the same shares (`formulations/tables/shares.py`). It derives, compiles and
runs the equations of its own share and of the trunk, which is common to all ranks (`rank_runner.py`).
"""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np

from .. import kernels
from ..errors import OptionError
from ..formulations.algebra.scales import Scales
from ..formulations.graphs.outputs import layout
from ..formulations.output_layout import OutputLayout
from ..formulations.schedules.schedule import Schedule
from ..formulations.tables import tree_schedule
from ..formulations.tables.expression_passes import OutputPlaces, add_expressions
from ..formulations.tables.gather_outputs import Gathering
from ..formulations.tables.rank_system import PartSystem
from ..formulations.tables.shares import shares
from ..formulations.tables.system_passes import input_place
from ..prepare import large_systems, table_support
from ..prepare.auto_formulation import AUTO
from ..prepare.prepare import changes_structure
from ..prepare.state_space import Layout

REQUIREMENTS = (
    "{}s need a model of more than {} bodies that runs through tables of class kernels: bodies, joints, constraints, forces and "
    "events of these, given by numbers; no particles"
)


class Part:
    """A system on one rank: its own part, ready to run, and the whole system, which results show."""

    def __init__(self, task, ranks):
        self.ranks = ranks
        self.model = task.model
        self.owner = f"model {task.model.name!r}"
        self.signals = dict(task.model.signals) | task.signals
        whole = self._numeric_system(task)
        ends = [*whole.ends_of_forces.tolist(), *whole.ends.efforts.tolist()]
        self.shares = shares(ranks.count, whole.tree.parents, whole.join_order, ends, self.owner)
        self.own = PartSystem(whole, self.shares, ranks.rank, ranks.count)
        ranks.shares = [self._describe_share(rank) for rank in range(ranks.count)]
        result = large_systems.prepare_system(
            self.own, self.formulation, task.kernel_options(), 0.0, {}, ranks, task.values(),
            given=self._requested_start(task),
        )  # fmt: skip
        if whole.shared_load:
            raise OptionError(
                f"{self.owner} cannot be run by {self.ranks.word}s: {whole.shared_load!r} holds something together with other "
                "contacts or dry friction, so that their loads are not unique"
            )
        if result is None:
            raise OptionError(
                f"{self.owner}: {self.ranks.word}s need a start that satisfies the constraints: give it joint by joint, or by "
                "bodies that fit together in the reference configuration"
            )
        self.system, self.built = result
        self.changes = changes_structure(self.model)
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
        if reason := table_support.reason_against(bare, self.formulation, self.signals):
            requirements = REQUIREMENTS.format(self.ranks.word, tree_schedule.tables_above())
            raise OptionError(f"{self.owner} cannot be run by {self.ranks.word}s: {requirements}; here, {reason}")
        whole = large_systems.system_of(bare, self.formulation, self.signals)
        if whole.groups:
            raise OptionError(
                f"{self.owner} cannot be run by {self.ranks.word}s: {whole.groups[0].owner} searches for contacts among all bodies"
            )
        return whole

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
