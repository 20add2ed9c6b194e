"""Large systems, prepared in numbers: nothing is written in symbols but one link, constraint, force and join of each class.

What a start, a system and the kernels of a run need follows from arrays (`formulations/plain_system.py`). A system of bodies,
joints, constraints between two bodies at position level, forces between bodies or along joints, gravity, and signals of all these
is prepared like that, with numbers for its parameters. Everything else is derived as ever.
"""

import casadi as ca
import numpy as np

from .. import kernels
from ..describe.quantity import time
from ..formulations import tree_schedule
from ..formulations.fingerprint import fingerprint
from ..formulations.group_schedule import Manifold
from ..formulations.outputs import coordinate_labels, coordinate_units, layout
from ..formulations.plain_system import PlainSystem
from ..formulations.plain_tree import declared
from ..formulations.scales import scales
from ..formulations.system_passes import Passes
from ..formulations.system_schedule import SystemKernels
from ..formulations.told_signals import readable
from ..formulations.tree_outputs import Outputs
from ..joints import Joint
from ..joints.alignment import strictly
from ..joints.base import Connection
from ..kernels.signatures import checked
from ..lie import SE3, SO3, se3
from .choice import Choice
from .ranks import ALONE
from .system import System
from .waist import Layout

FORMULATIONS = ("relative", "hierarchical")
METRIC = "mass"  # in which a projection changes least


def fixed(model, signals, values):
    """A model without parameters, and signals of it: itself, where it has none; small ones stay as they are."""
    if not model.parameters or len(model.bodies) <= tree_schedule.LARGE or _changing(model):
        return model, signals
    key = tuple(values.items())
    if model.derived.get("fixed", (None, None))[0] != key:
        from ..describe.fixing import Fixing  # late: few models need it

        model.derived["fixed"] = key, Fixing(model, values)
    copy = model.derived["fixed"][1]
    return copy.parent, {name: copy.moved(expression) for name, expression in signals.items()}


def _changing(model):
    """Whether something happens in a model, or changes besides its motion."""
    return model.rules or model.events or model.switched or model.states or model.declared_inputs


def system_of(model, formulation, signals):
    """A model in numbers, where it is large and all that this file asks for; else None."""
    if formulation not in FORMULATIONS or len(model.bodies) <= tree_schedule.LARGE or not _plain(model, signals):
        return None
    known = model.derived.setdefault("tables", {})
    if formulation not in known:
        known[formulation] = _taken(model, formulation)
    return model.derived["plain"] if known[formulation] else None


def _taken(model, formulation):
    """Whether all joints, constraints and forces of a model are such as there are classes for."""
    system = model.derived.setdefault("plain", None) or PlainSystem(model)
    model.derived["plain"], tree = system, system.tree
    fine = tree.numbers is not None and all(
        _fits(model, joint, group) for joint, group in zip(tree.examples, tree.groups)
    )
    if not fine or system.frames is None or system.parts is None:
        return False
    if formulation == "relative" and (system.loops or np.any(system.pushed < 0)):
        return False
    kinds = dict(zip(map(id, system.traces[system.first_loop :]), system.loops))
    return all(map(_closing, kinds.values()))


def ready(model, formulation, map, baumgarte, t, signals, values):
    """The system of a large model and its kernels; None where it is derived as ever. The last one is kept with the model."""
    if formulation not in FORMULATIONS or len(model.bodies) <= tree_schedule.LARGE:
        return None
    ask = (formulation, map, baumgarte, t, tuple(values.items()), fingerprint(model, signals))
    if model.derived.get("large", (None,))[0] != ask:
        bare, seen = fixed(model, signals, values)
        plain = system_of(bare, formulation, seen)
        found = None if plain is None else prepared(plain, formulation, map, baumgarte, t, seen)
        if found is not None:
            found[0].fingerprint = ask[-1]
            plain.forget()
        model.derived["large"] = ask, found
    return model.derived["large"][1]


def _plain(model, signals):
    """Whether a model is made of bodies, constraints, forces, gravity and signals of these alone, and its
    grounds stand still."""
    if _changing(model) or model.parameters or any(g.moves for g in model.grounds) or not model.gravity.is_constant():
        return False
    if not all(isinstance(c, Connection) for c in model.constraints) or any(b.particle for b in model.bodies):
        return False
    return readable(model, signals)


def _fits(model, joint, group):
    """Whether the coordinates of a joint are numbers that results hold as they are, or a rotation; or it is no joint of the
    model, but that of a body that nothing holds."""
    if isinstance(group, SE3):
        return joint.name not in model
    return isinstance(group, SO3) or (declared(joint) and not joint.quasi)


def _closing(constraint):
    """Whether a constraint can close a loop here: at position level, its angles, if there are any, counted by their rates."""
    counted = isinstance(constraint, Joint) and constraint.quasi and any(constraint.angular)
    with strictly() as cosines:
        aligned = isinstance(constraint, Joint) or (constraint.equations() and not cosines)
    return constraint.traced().holonomic and not counted and aligned


def prepared(plain, formulation, map, baumgarte, t, signals, ranks=ALONE):
    """The system of a large model, or of a part of it that a rank has, and its kernels; None where its start has to be found
    otherwise."""
    from ..start import plain as start  # late: most models need none

    model, tree, at = plain.model, plain.tree, start.given(plain.tree)
    if not ranks.all(at is not None):
        return None
    sizes = scales(model, *plain.whole.tree.measured())
    state = Layout(len(at[0]), len(at[1]), 0)
    whole = formulation == "hierarchical"
    redundancy = _redundancy(plain, sizes, map, ranks) if whole else None
    passes = (SystemKernels if whole else Passes)(plain, state, sizes.unit)
    state = passes.layout = Layout(state.q, state.v, len(passes.turns))
    parts = layout(plain.shown, passes.loop_rows, signals)
    built = kernels.build(  # nobody else holds the schedules: their memory is free before the start is assembled
        checked(_kernels(passes, parts, signals, map, baumgarte, whole)),
        seldom=("outputs",), exchange=ranks.exchange, waiting=ranks.waiting,
    )  # fmt: skip
    choice = Choice(map, baumgarte, (), _all(passes), (), METRIC, sizes.unit, ())
    system = described(passes, sizes, parts, choice, t, signals)
    x, p = state.joined(at[0], at[1], []), np.zeros(len(passes.turns))
    velocities = start.speeds(tree)
    if ranks.any(start.pushed(tree, velocities)):
        adopted = kernels.build({"adopted": passes.adopted()})["adopted"]
        x = start.adopted(adopted, built["outputs"], passes, x, p, velocities)
        if not ranks.all(x is not None):
            return None
    if whole:
        x = start.assembled(system, built, t, x, p)
        if x is None:
            return None
        tell_redundancy(system, plain, redundancy)
        if passes.turns:
            p = built["turns"](np.array([t]), x, p)[0]
    q, v = state.parted(x)
    system.q, system.v, system.p = q.tolist(), v.tolist(), p.tolist()
    return system, built


def _redundancy(plain, sizes, map, ranks):
    """What is redundant in the whole system at its start, and elsewhere; the kernels of this part are told which rows that are.

    Rank 0 finds it out for all."""
    from ..start import loops
    from ..start import plain as start  # late: most models need none

    if not plain.whole.loops:
        return None
    found = None
    if not plain.cut or plain.cut.rank == 0:
        whole = plain.whole
        q, v = start.given(whole.tree)
        passes = Passes(whole, Layout(len(q), len(v), 0), sizes.unit)
        passes.layout = Layout(len(q), len(v), len(passes.turns))
        numbers = loops.Loops(whole, passes, sizes)
        numbers.built = kernels.build(numbers.schedules(map))
        found = loops.examine(numbers, passes.layout.joined(q, v, []))
    found = ranks.gathered(found)[0]
    here = plain.rows_of_whole if plain.cut else np.arange(len(plain.constraints))
    plain.redundancy, plain.dropped = found, found[1].dropped[here]
    vars(plain).pop("joins", None)
    return found


def tell_redundancy(system, plain, redundancy):
    """Redundant rows, reactions that are not unique and degrees of freedom, in a description of a system or of a part of it."""
    if redundancy is None:
        return
    at_start, found = redundancy
    whole = plain.whole
    here = plain.rows_of_whole if plain.cut else np.arange(len(plain.constraints))
    rows = plain.rows_of_loops() if plain.cut else np.arange(whole.loop_rows)
    system.redundant = np.flatnonzero(np.isin(rows, found.redundant)).tolist()
    system.left_out = system.redundant
    free = {c.name: found.free[k].tolist() for c, k in zip(plain.constraints, here) if found.free[k].any()}
    system.undetermined = {"reactions": free, "rows": [system.declared[k][0] for k in np.flatnonzero(found.rows[rows])]}
    system.shared = list(free)
    freedom = int(whole.tree.sizes("dimension").sum())
    system.freedom, system.start_freedom = freedom - found.rank, freedom - at_start.rank


def _all(passes):
    """All rows of loops: which of them are independent is decided wherever they are used."""
    return tuple(range(passes.loop_rows))


def _kernels(passes, parts, signals, map, baumgarte, whole):
    """The kernels of a run."""
    system, state = passes.system, passes.layout
    manifold = Manifold(system.tree.groups, system.tree.traces, state)
    found = {"outputs": Outputs(passes, parts, signals).schedule, **manifold.kernels(map)}
    for name, what in (("turns", "coordinates"), ("spin", "rates")):
        found[name] = passes.counting(name, what)
    if not whole:
        factor = ca.Function("factor", [time, ca.SX.sym("x", state.x), ca.SX.sym("p", state.p)], [ca.SX(1)])
        return found | {"factor": factor, "rate": tree_schedule.Recursion(system.turned, state, passes=passes).schedule}
    return found | {
        "factor": passes.factor(),
        "rate": passes.rate(baumgarte),
        "positions": passes.positions(manifold.back()),
        "velocities": passes.velocities(),
        "tangent": passes.tangent(),
    }


def described(passes, sizes, parts, choice, t, signals):
    """Everything about a system but its start."""
    plain, tree, model = passes.system, passes.tree, passes.system.model
    joints, (mass, J) = [j for j in plain.shown.joints if j.dof], plain.whole.tree.weights
    loops = zip(plain.loops, plain.traces[plain.first_loop :])
    every = [(c.name, k, d) for c, trace in loops for k, d in enumerate(trace.directions)]
    rows = [(f"{name}[{k}]", f"{name}: {direction}") for name, k, direction in every]
    names = [(joint.name, tree.groups[k].dimension) for joint, k in zip(tree.joints, tree.traces)]
    return System(
        sizes={
            "q": passes.layout.q,
            "v": passes.layout.v,
            "parameters": 0,
            "turns": len(passes.turns),
            "multipliers": len(rows),
        },
        bodies=[b.name for b in plain.shown.bodies],
        coordinates=[f"{name}[{k}]" if n > 1 else name for name, n in names for k in range(n)],
        states=[],
        joint_coordinates=coordinate_labels(joints),
        coordinate_units=[unit for j in joints for unit in coordinate_units(j)],
        connections=[c.name for c in plain.shown.constraints if isinstance(c, Connection)],
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
        linear=_linear(tree),
        length=sizes.length,
        scales=dict(vars(sizes)),
        mass=float(mass.sum()),
        inertia=float(np.trace(J, axis1=1, axis2=2).sum()),
        t=t,
        q=[],
        v=[],
        p=[],
        changes=[],
        fingerprint=fingerprint(model, signals),
    )


def _linear(tree):
    """1 for every velocity that is a length per time, 0 for an angular one."""
    kinds = []
    for joint, group in zip(tree.examples, tree.groups):
        if isinstance(group, SE3):
            S = ca.SX.eye(6)
        else:
            S = joint.motion(ca.SX.zeros(group.dimension))
        turning = se3.split(S)[0]
        kinds.append([0 if ca.sparsify(turning[:, k]).nnz() else 1 for k in range(group.dimension)])
    return [x for k in tree.traces for x in kinds[k]]


def in_tables(task):
    """Whether a task runs through tables, in which parameters are numbers."""
    if task.needs() or task.projection.metric != METRIC:
        return False
    bare, seen = fixed(task.model, dict(task.model.signals) | task.signals, task.values())
    return system_of(bare, task.formulation, seen) is not None
