"""Which models can run through tables of class kernels (`large_systems.py`), and why others cannot.

A model may contain bodies, joints, constraints on at most two bodies, forces between bodies or along joints, gravity, own states
whose rates depend on motions, contacts and other constraints that events switch, dry friction, controllers, inputs, and signals of
all these. Parameters have fixed values, or are inputs of forces, states and events. A reason names the first element or option
that tables do not support.
"""

import casadi as ca
import numpy as np

from ..elements.lazy_attributes import storage_of
from ..formulations.algebra.rotor_inertia import armature_of
from ..formulations.algebra.tree_kinematics import motion_group
from ..formulations.tables import tree_schedule
from ..formulations.tables.expression_passes import depend_on_outputs_only, depends_on_motion_only
from ..formulations.tables.implicit_efforts import unsupported_friction
from ..formulations.tables.numeric_system import NumericSystem
from ..formulations.tables.numeric_tree import has_declared_velocities
from ..formulations.tables.stated_rows import StatedRows
from ..joints import Joint
from ..joints.alignment import strict_equations
from ..model.include import owners_in
from ..registry import registered
from .choice import SHARE

TREES = "tree"  # class kernels for trees without constraints in addition to their joints
METRIC = "mass"  # the only metric of projections that tables support


def formulations_that_declare(what):
    """Keys of the formulations that declare something of themselves; those that run trees only come first."""
    found = {key: cls for key, cls in registered("formulation").items() if cls.declares(what)}
    return sorted(found, key=lambda key: found[key].tables != TREES)


def tables_of(formulation):
    """The class kernels of a formulation: "tree", "components"; None if it has none."""
    cls = registered("formulation").get(formulation)
    return None if cls is None else cls.declares("tables")


def changes_or_has_inputs(model):
    """True if a model has rules, events, switched elements, states or inputs."""
    return bool(first_change(model) or model.states or model.declared_inputs)


def first_change(model):
    """The first rule, event or switched element of a model, in words; empty if there is none."""
    for element in (*model.rules, *model.events, *model.switched_elements):
        return f"{_owner(element)} changes something during the run"
    return ""


def system_of(model, formulation, signals):
    """The `NumericSystem` of a model that can run through tables; None if it cannot or is small."""
    return None if reason_against(model, formulation, signals) else model.derived["plain"]


def reason_against(model, formulation, signals, needs=(), metric=METRIC):
    """Why a model without parameters cannot run through tables, in words; empty if it can.

    needs    kernels that the method requires beyond those of every run
    metric   metric of the projection
    """
    limit = tree_schedule.tables_above()
    if not tree_schedule.is_large(tree_schedule.size_of_model(model)):
        return f"models of up to {limit} bodies are compiled as one graph, and this one has {len(model.bodies)}"
    if not tables_of(formulation):
        return f"formulation {formulation!r} has no class kernels"
    if further := sorted(set(needs) - {SHARE}):
        return f"the method needs kernels that are derived from the whole model: {', '.join(further)}"
    if metric != METRIC:
        return f"the projection uses another metric than {METRIC!r}: {metric!r}"
    reason = _reason_in_model(model, signals)
    if reason:
        return reason
    known = model.derived.setdefault("tables", {})
    if formulation not in known:
        known[formulation] = _reason_in_elements(model, formulation)
    return known[formulation]


def _reason_in_model(model, signals):
    """The first part of a model that is not a body, constraint or force, and that tables do not support; empty if there is none."""
    if model.armable:
        return f"{_owner(model.armable[0])} is armed by events"
    for event in model.events:
        if not _event_is_supported(model, event):
            return f"{_owner(event)} depends on something else than motions, reactions, inputs and time"
    if not model.gravity.is_constant():
        return "gravity is not constant"
    for body in model.bodies:
        if body.particle:
            return f"{_owner(body)} is a particle"
    if depend_on_outputs_only(model, signals):
        return ""
    name = next(name for name, expression in signals.items() if not depend_on_outputs_only(model, {name: expression}))
    return f"signal {name!r} contains something else than time, motions and reactions"


def _event_is_supported(model, event):
    """True if the condition of an event, and what its actions use, have class kernels."""
    steps = [step for action in event.actions for step in action.steps(model)]
    if any(step.kind == "strike" and not step.target.one_sided for step in steps):
        return False  # the side that is struck follows from derivatives of the whole model
    expressions = [event.watch.phi, *(e for action in event.actions for e in action.expressions())]
    column = ca.vertcat(*[ca.vec(ca.SX(e)) for e in expressions])
    owners = owners_in(model, column)
    if any(isinstance(element, Joint) and element.quasi and name == "coordinate" for element, name in owners):
        return False  # its rate is not the derivative of its coordinates
    return depend_on_outputs_only(model, {"event": column})


def _owner(thing):
    """How messages call a part of a model."""
    return getattr(thing, "owner", None) or f"{type(thing).__name__.lower()} {thing.name!r}"


def _reason_in_elements(model, formulation):
    """The first joint, constraint or force for which there is no class kernel; empty if there are all."""
    system = model.derived.setdefault("plain", None) or NumericSystem(model)
    model.derived["plain"] = system
    tree = system.tree
    for element in (*tree.bodies, *tree.joints):
        if (element.placed_numbers if isinstance(element, Joint) else element.numbers) is None:
            return f"{_owner(element)} has a mass or a place that is not a number"
    if tree.numbers is None:
        return "masses or places of joints are not numbers"
    if model.parameters and (given := _parametric_start(tree)):
        return f"{given} has a start that depends on parameters"
    for joint, group in zip(tree.examples, tree.groups):
        if not _joint_is_supported(model, joint, group):
            return f"{_owner(joint)} has coordinates for which there is no class of links"
    for joint in (j for j in model.joints if armature_of(j) is not None):
        if tables_of(formulation) != TREES or motion_group(joint).free:
            return f"{_owner(joint)} has an armature, for which there is no class in formulation {formulation!r}"
    for constraint, trace in zip(system.constraints, system.traces):
        if trace is None:
            return f"{_owner(constraint)} contains something else than motions of two bodies, joints between them, inputs and time"
    if system.frames is None:
        return "a constraint has frames that are not numbers"
    if system.parts is None:
        return f"{_owner(system.unsupported_force)} depends on something else than motions of one joint or two bodies, and time"
    if friction := unsupported_friction(system):
        return f"{_owner(friction)} depends on something else than motions, reactions and multipliers of constraints, and time"
    if group := next((g for g in system.groups if not g.searched() or system.gate_of(g) is not None), None):
        return f"{_owner(group)} is switched by events, or has numbers that are not constant"
    if system.groups and tables_of(formulation) == TREES:
        return f"formulation {formulation!r} has class kernels for forces along joints only, and {_owner(system.groups[0])} is none"
    for state in model.states:
        if not depends_on_motion_only(system, ca.SX(state.rate)):
            return f"state {state.name!r} depends on something else than motions, inputs and time"
    if moving := next((ground for ground in system.grounds if ground.moves), None):
        if tables_of(formulation) == TREES:
            return f"formulation {formulation!r} has class kernels for grounds at rest only, and {_owner(moving)} moves"
        if system.groups:
            return f"{_owner(moving)} moves, and {_owner(system.groups[0])} has class kernels for grounds at rest only"
    if tables_of(formulation) == TREES:
        if system.loops:
            return f"formulation {formulation!r} has class kernels for trees only, and {_owner(system.loops[0])} closes a loop"
        if np.any(system.links_of_forces < 0):
            force = system.forces[int(np.argmax(system.links_of_forces < 0))]
            return f"formulation {formulation!r} has class kernels for forces along joints only, and {_owner(force)} is none"
    for trace, loop in {id(t): (t, c) for t, c in zip(system.traces[system.first_loop :], system.loops)}.values():
        if not _can_close_loop(trace, loop):
            return f"{_owner(loop)} closes a loop by equations for which there is no class of rows"
    return ""


def _parametric_start(tree):
    """The first body or joint whose start is not a number; empty if there is none."""
    for element in (*tree.bodies, *tree.joints):
        of_body = ("start_velocity", "start_angular_velocity")
        for what in ("start", "start_rate") if isinstance(element, Joint) else of_body:
            given = storage_of(element, what)
            if isinstance(given, ca.SX) and not given.is_constant():
                return _owner(element)
    return ""


def _joint_is_supported(model, joint, group):
    """True if the coordinates of a joint are those of results or a rotation, or if it is the implied joint of a free body."""
    if group.free:
        return joint.name not in model
    return group.rotations or (has_declared_velocities(joint) and not joint.quasi)


def _can_close_loop(trace, constraint):
    """True if a constraint is supported as a loop closure: without angles as quasi-coordinates."""
    if isinstance(trace, StatedRows):
        return True
    counted = constraint.has_coordinates and constraint.quasi and any(constraint.angular)
    with strict_equations() as cosines:
        aligned = constraint.has_coordinates or (constraint.equations() and not cosines)
    return not counted and aligned
