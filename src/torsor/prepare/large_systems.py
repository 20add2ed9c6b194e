"""Large systems, prepared with arrays and class kernels: only one link, constraint, force and join of each class is symbolic.

The start, the system and the kernels of a run are computed from arrays (`formulations/tables/numeric_system.py`). Which models this
supports is said in `table_support.py`. The equations of all other models are derived as a whole (`prepare.py`).
"""

import casadi as ca
import numpy as np

from .. import kernels
from ..elements.quantity import time
from ..formulations.algebra.scales import scales
from ..formulations.fingerprint import fingerprint
from ..formulations.graphs.outputs import coordinate_labels, coordinate_units, layout
from ..formulations.tables import tree_schedule
from ..formulations.tables.group_schedule import Manifold
from ..formulations.tables.numeric_tree import linear_by_kind
from ..formulations.tables.system_passes import Passes
from ..formulations.tables.system_schedule import SystemKernels
from ..formulations.tables.tree_outputs import Outputs
from ..kernels.signatures import check_sizes
from ..parallel.ranks import SINGLE_RANK
from .choice import Choice, close_two_sided
from .event_lowering import lower_events
from .state_space import Layout
from .system import System
from .table_events import event_kernels
from .table_support import METRIC, TREES, changes_or_has_inputs, reason_against, system_of, tables_of


def fix_parameters(model, signals, values):
    """A copy of a large model with its parameters replaced by values, and its signals. Other models are returned unchanged."""
    if (
        not model.parameters
        or not tree_schedule.is_large(tree_schedule.size_of_model(model))
        or changes_or_has_inputs(model)
    ):
        return model, signals
    key = tuple(values.items())
    if model.derived.get("fixed", (None, None))[0] != key:
        from ..model.fixed_parameters import Fixing  # imported here because few models need it

        model.derived["fixed"] = key, Fixing(model, values)
    copy = model.derived["fixed"][1]
    return copy.parent, {name: copy.to_parent_symbols(expression) for name, expression in signals.items()}


def load_or_prepare(model, formulation, options, t, signals, values):
    """The system of a large model and its kernels; None if it cannot run through tables. The last result is kept with the model."""
    if not tree_schedule.is_large(tree_schedule.size_of_model(model)) or not tables_of(formulation):
        return None
    mark = fingerprint(model, signals)
    key = (formulation, options.map, options.baumgarte, t, tuple(values.items()), mark)
    if model.derived.get("large", (None,))[0] != key:
        fixed_model, fixed_signals = fix_parameters(model, signals, values)
        plain = system_of(fixed_model, formulation, fixed_signals)
        result = None
        if plain is not None:
            result = prepare_system(plain, formulation, options, t, fixed_signals, values=values)
        if result is not None:
            result[0].fingerprint = mark
            plain.forget()
        model.derived["large"] = key, result
    return model.derived["large"][1]


def prepare_system(plain, formulation, options, t, signals, ranks=SINGLE_RANK, values=None, given=None):
    """The system of a large model, or of the share of a rank, and its kernels; None if its start must be computed in another
    way.

    values   of the parameters that are inputs of the kernels, by name
    given    q and v of the links at the start, and p; None: those of the model
    """
    from ..start import large_start as start  # imported here because most models do not need it

    model = plain.model
    tree = plain.tree
    requested = given is not None
    given = given if requested else start.given_link_state(plain.tree)
    if not ranks.all(given is not None):
        return None
    sizes = scales(model, *plain.whole.tree.size_measures())
    state = Layout(len(given[0]), len(given[1]), 0)
    hierarchical = tables_of(formulation) != TREES
    redundancy = _redundancy(plain, sizes, options.map, ranks, t, values) if hierarchical else None
    passes = (SystemKernels if hierarchical else Passes)(plain, state, sizes.unit)
    state = passes.layout = _layout_with_inputs(passes, state)
    parts = layout(plain.shown, passes.loop_rows, signals)
    built = kernels.build(  # no variable refers to the schedules, so their memory is freed before the start is assembled
        check_sizes(_kernels(passes, parts, signals, options, hierarchical)),
        seldom=("outputs",), exchange=ranks.exchange, waiting=ranks.waiting,
    )  # fmt: skip
    keep, flagged = tuple(range(passes.loop_rows)), any(plain.whole.switches)
    choice = Choice(options.map, options.baumgarte, (), keep, (), METRIC, sizes.unit, (), flagged=flagged)
    system = describe_large_system(passes, sizes, parts, choice, t, signals)
    inputs = model.input_layout
    p = np.zeros(state.p)
    p[inputs.model_inputs] = (
        given[2][inputs.model_inputs] if requested else model.input_values(values if model.parameters else {})
    )
    x = state.join_blocks(given[0], given[1], p)
    velocities = start.given_body_velocities(tree)
    adopts = not requested and ranks.any(start.jointed_bodies_have_velocities(tree, velocities))
    if adopts:
        adopted = kernels.build({"adopted": passes.velocities_of_joints()})["adopted"]
        x = start.adopt_body_velocities(adopted, built["outputs"], passes, x, p, velocities)
        if not ranks.all(x is not None):
            return None
    if hierarchical:
        add_redundancy(system, plain, redundancy)
        x = start.assemble_large_start(system, built, t, x, p, plain, not (ranks.count > 1 or requested or adopts))
        if not ranks.all(x is not None):
            return None
        if passes.turns:
            p[inputs.turns] = built["turns"](np.array([t]), x, p)[0]
    if flagged:
        closed = close_two_sided(model, p)
        units = ranks.gather(start.switched_row_units(passes, sizes, built["outputs"], parts, t, x, closed))
        system.scales["rows"] = {label: unit for own in reversed(units) for label, unit in own.items()}
    if plain.whole.frictions:
        plain.whole.shared_load = _shared_load(model, system, state, built, t, x, p)
        if not ranks.all(not plain.whole.shared_load):
            return None
    q, v = state.split_blocks(x)
    system.q, system.v, system.p = q.tolist(), v.tolist(), p.tolist()
    return system, built


def _shared_load(model, *start):
    """Name of a constraint that shares its load with dry friction; start: further arguments of `dependent_friction`."""
    from ..start.dependent_friction import dependent_friction  # imported here because most models do not need it

    system, state, *rest = start
    program = lower_events(model, [label for label, _ in system.rows])
    return dependent_friction(model, system, state, program.tables["switches"], *rest)


def _redundancy(plain, sizes, map, ranks, t, values):
    """Redundant rows of the whole system, at its start and in general. Rank 0 computes them for all ranks.

    They are also set on `plain`, for the kernels of this share.
    """
    from ..start import large_start as start  # imported here because most models do not need it
    from ..start import loop_rows as loops

    if not plain.whole.lasting_loops.any():
        return None
    redundancy = None
    if not plain.cut or plain.cut.rank == 0:
        whole = plain.whole
        q, v = start.given_link_state(whole.tree)
        passes = Passes(whole, Layout(len(q), len(v), 0), sizes.unit)
        passes.layout = _layout_with_inputs(passes, passes.layout)
        p = np.zeros(passes.layout.p)
        p[: len(whole.model.inputs)] = whole.model.input_values(values if whole.model.parameters else {})
        numbers = loops.Loops(whole, passes, sizes, t, p)
        numbers.built = kernels.build(numbers.schedules(map))
        redundancy = loops.diagnose_loops(numbers, passes.layout.join_blocks(q, v, p))
    redundancy = ranks.gather(redundancy)[0]
    here = plain.rows_of_whole if plain.cut else np.arange(len(plain.constraints))
    plain.redundancy = redundancy
    plain.dropped = redundancy[1].dropped[here]
    vars(plain).pop("joins", None)
    return redundancy


def add_redundancy(system, plain, redundancy):
    """Enter redundant rows, reactions that are not unique and degrees of freedom in the description of a system or of a share."""
    if redundancy is None:
        return
    at_start, general = redundancy
    whole = plain.whole
    here = plain.rows_of_whole if plain.cut else np.arange(len(plain.constraints))
    system.redundant = np.sort(general.redundant).tolist()
    system.left_out = system.redundant
    free = {c.name: general.free[k].tolist() for c, k in zip(plain.constraints, here) if general.free[k].any()}
    system.undetermined = {
        "reactions": free,
        "rows": [system.declared[k][0] for k in np.flatnonzero(general.rows)],
    }
    system.shared = list(free)
    freedom = int(whole.tree.sizes("dimension").sum())
    system.freedom, system.start_freedom = freedom - general.rank, freedom - at_start.rank


def _layout_with_inputs(passes, layout):
    """The layout of a state and of p: inputs of the model, then counted angles."""
    model = passes.system.model
    states = tuple(passes.input_layout.place(state) for state in model.states)
    return Layout(layout.q, layout.v, len(model.inputs) + len(passes.turns), states)


def _kernels(passes, parts, signals, options, hierarchical):
    """The kernels of a run, as schedules and functions."""
    system = passes.system
    state = passes.layout
    manifold = Manifold(system.tree.groups, system.tree.traces, state)
    functions = {"outputs": Outputs(passes, parts, signals).schedule, **manifold.kernels(options.map)}
    functions["turns"] = passes.counting("turns", "coordinates")
    functions["spin"] = passes.counting("spin", "rates")
    if system.model.events or system.model.switched_elements:
        rows = [name for name, _ in row_names(system.whole)]
        program = lower_events(system.model, rows)
        functions |= event_kernels(passes, parts, program, passes.impulse if hierarchical else None)
    if not hierarchical:
        factor = ca.Function("factor", [time, ca.SX.sym("x", state.x), ca.SX.sym("p", state.p)], [ca.SX(1)])
        return functions | {
            "factor": factor,
            "rate": tree_schedule.Recursion(system.z_aligned, state, passes=passes).schedule,
        }
    return functions | {
        "factor": passes.factor(),
        "rate": passes.rate(options.baumgarte),
        "positions": passes.positions(manifold.back()),
        "velocities": passes.velocities(),
        "tangent": passes.tangent(),
    }


def describe_large_system(passes, sizes, parts, choice, t, signals):
    """The `System`, without its start."""
    plain = passes.system
    tree = passes.tree
    joints = [j for j in plain.shown.joints if j.dof]
    mass, J = plain.whole.tree.weights
    rows = row_names(plain.whole)
    linear = linear_by_kind(tree)
    names = [(joint.name, tree.groups[k].dimension) for joint, k in zip(tree.joints, tree.traces)]
    return System(
        sizes={
            "q": passes.layout.q,
            "v": passes.layout.v,
            "parameters": len(plain.model.inputs),
            "turns": len(passes.turns),
            "multipliers": len(rows),
        },
        bodies=[b.name for b in plain.shown.bodies],
        coordinates=[f"{name}[{k}]" if n > 1 else name for name, n in names for k in range(n)],
        states=[(state.name, place) for state, place in zip(plain.model.states, passes.layout.states)],
        joint_coordinates=coordinate_labels(joints),
        coordinate_units=[unit for j in joints for unit in coordinate_units(j)],
        connections=[c.name for c in plain.shown.constraints if c.connects_bodies],
        layout=parts,
        signals=list(signals),
        rows=rows,
        declared=rows,
        choice=choice,
        watches=0.0,
        redundant=[],
        left_out=[],
        shared=[],
        undetermined={"reactions": {}, "rows": []},
        freedom=passes.layout.v,
        start_freedom=passes.layout.v,
        partition={},
        linear=[x for k in tree.traces for x in linear[k]],
        length=sizes.length,
        scales=dict(vars(sizes)),
        mass=float(mass.sum()),
        inertia=float(np.trace(J, axis1=1, axis2=2).sum()),
        t=t,
        q=[],
        v=[],
        p=[],
        changes=[],
        fingerprint=fingerprint(plain.model, signals),
        through_tables=True,
    )


def row_names(plain):
    """Label and description of every row of the loops."""
    loops = zip(plain.loops, plain.traces[plain.first_loop :])
    directions = [(c.name, k, direction) for c, trace in loops for k, direction in enumerate(trace.directions)]
    return [(f"{name}[{k}]", f"{name}: {direction}") for name, k, direction in directions]


def reason_against_tables(task):
    """Why a task does not run through tables, in words that name the first element or option; empty if it does."""
    model, signals = fix_parameters(task.model, dict(task.model.signals) | task.signals, task.values())
    return reason_against(model, task.formulation, signals, task.needs(), task.projection.metric)


def runs_through_tables(task):
    """True if a task runs through tables. Then its parameters are fixed numbers of the kernels."""
    return not reason_against_tables(task)
