"""A model with events for an FMU: kernels that serve every structure, and the memory of a run at its start.

The FMU takes its steps and handles its events with the loops of a run (`run/events`), which are written in C. They read which
constraints are engaged from p, so that one set of kernels serves every structure, and a second one those whose rows depend on
each other (`prepare/structures.py`).
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from ..errors import ModelError, OptionError
from ..kernels.loops import loops
from ..look.run_request import Options
from ..methods.integrator import integrator_of
from ..prepare.event_kernels import columns_of
from ..prepare.event_records import Log
from ..prepare.state_space import contact_kernels_of, kernels_of
from .run_memory import Memory, memory_of_run

LOOP = "torsor.run.events.event_loop"
OUTSIDE = "torsor.run.events.outside_steps"
# kernels that the loops of a run with fixed steps call
EVENT_KERNELS = (
    "factor", "rate", "stage", "retract", "advance", "differential", "positions", "velocities", "turns", "spin", "guards", "slots",
    "energies", "impulse", "meeting", "renewed",
)  # fmt: skip
ENTRIES = {
    (LOOP, "march_events"): "march_events",
    (OUTSIDE, "indicate"): "indicate",
    (OUTSIDE, "accept_step"): "accept_step",
    (OUTSIDE, "decide_friction_at_start"): "decide_friction_at_start",
}


@dataclass
class EventRun:
    """What an FMU needs for events.

    formulation  its key
    structures   CasADi functions of each structure by name
    memory       that of a run at its start
    entries      functions in C by module and name of the loop
    names        of the events
    frictions    number of elements of dry friction
    clocks       period, first, rest, and place in p of the count of each clock
    """

    formulation: str
    system: Any
    structures: list
    memory: Memory
    entries: dict
    names: list
    clocks: list
    frictions: int


def derive_event_run(
    model: Any, formulation: str, parameters: Any, signals: dict, until: float, step: float, method: str
):
    """The run of a model with events, for an FMU."""
    options = Options(step=step, method=method, formulation=formulation)
    task = options.task(model, until, signals, parameters)
    system, runner = task.prepare()
    if system.through_tables:
        raise OptionError(
            f"export_fmu: {model.owner} is so large that it runs through tables, which FMUs do not support yet"
        )
    structures = runner.structures
    if structures.program.calls:
        name = structures.program.names[next(iter(structures.program.calls))]
        raise ModelError(f"export_fmu: event {name!r} calls a function in Python, which an FMU cannot contain")
    known = structures.shared(system.t, np.array(system.q), np.array(system.p))
    if known is None:
        raise ModelError(
            f"export_fmu: {model.owner} has events together with redundant constraints that always hold, or with a formulation "
            f"that chooses its coordinates for each set of engaged constraints ({task.formulation!r}), which FMUs do not support "
            "yet: remove the redundant constraints, or take formulation='absolute' or 'relative'"
        )
    kernels = [_kernels(structures, s.choice) for s in known]
    callable_kernels = [[n for n in EVENT_KERNELS if n in made] for made in kernels]
    _use(runner, known)
    program = structures.program
    steps = {loops(module)[name].address: f"step_{k}" for k, (module, name) in enumerate(program.steps)}
    integrator = integrator_of(method)
    entries = ENTRIES | {key: f"step_{k}" for k, key in enumerate(program.steps)} | {integrator.loop: "method_step"}
    watches = program.tables["events"]
    clocks = [(watches[k], int(watches[k]["count"])) for k in program.tables["clocks"]]
    return EventRun(
        task.formulation, system, kernels, memory_of_run(runner, callable_kernels, steps, "method_step"), entries, program.names,
        [(float(w["period"]), float(w["first"]), float(w["rest"]), place) for w, place in clocks],
        len(program.frictions),
    )  # fmt: skip


def _kernels(structures, choice):
    """The kernels of a structure as CasADi functions."""
    derivation = structures.derivation
    f = derivation.equations.with_choice(choice)
    columns = partial(columns_of, program=structures.program)
    signals = dict(derivation.model.signals) | derivation.signals
    made = kernels_of(f, "exp", False, signals, columns, needs=("local",))
    if structures.program.tables["meets"].max(initial=-1) >= 0:
        made |= contact_kernels_of(derivation.equations.with_choice(structures.contact_choice(choice)))
    return {name: _dense(g) for name, g in made.items()}


def _dense(function):
    """The function with dense results."""
    given = [ca.SX.sym(function.name_in(k), function.sparsity_in(k)) for k in range(function.n_in())]
    found = function.call(given)
    return (
        ca.Function(function.name(), given, [ca.densify(x) for x in found])
        if any(not x.is_dense() for x in found)
        else function
    )


def _use(runner, known):
    """Let a runner that is at its start use these structures only."""
    structures = runner.structures
    dependent = len(known) > 1 and not structures._has_independent_rows(
        structures.key_of(runner.state.p), runner.state.time, np.array(runner.system.q), runner.state.p
    )
    structures.known = known
    if structures.program.tables["meets"].max(initial=-1) >= 0:
        for s in known:
            s.contacts = structures.contact_library(s)
    runner.begin(np.zeros(0))
    runner._tabulate()
    runner.run_.kernels["watched"] = 0
    runner.events.structure = int(dependent)
    rows, slots = runner.log.impulse.shape[1], runner.log.slots.shape[1]
    entries = 4 * max(len(structures.program.names), 1)  # the log is emptied before it is full
    runner.log = Log(
        time=np.zeros(entries), energy=np.zeros(entries), event=np.zeros(entries, np.int64), impulse=np.zeros((entries, rows)),
        slots=np.zeros((entries, slots)),
    )  # fmt: skip
    runner.run_.log = runner.log
