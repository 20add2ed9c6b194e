"""The events of a model as tables: watched functions, elementary steps, and the values that these steps use."""

from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ..events import ANSWERS, Clock
from ..formulations.algebra.constraint_rows import constraint_switches
from ..kernels.records import table
from . import event_codes
from .event_records import DURING, FRICTION, HEADING, ONESIDED, OP, WATCH


@dataclass(frozen=True, eq=False)
class Approach:
    """Placeholder for the relative acceleration of a one-sided constraint, which the formulation provides."""

    constraint: object


@dataclass(frozen=True, eq=False)
class Side:
    """Placeholder for the allowed side of a struck constraint, from the watched function: the cosine of the angle between ∂φ and
    ∂g. Zero if φ does not depend on g."""

    constraint: object
    phi: ca.SX


@dataclass(frozen=True, eq=False)
class Rate:
    """Placeholder for the time derivative of a signal of time, poses and velocities."""

    signal: ca.SX


@dataclass
class Plan:
    """The events of a model as tables: the result of `lower_events`."""

    names: list  # of the events
    guards: list  # watched functions
    slots: list  # expressions of the values that steps use
    records: list  # (label, event, slot)
    constraints: list  # switched constraints, in the order of the bits
    places: dict  # places of memories and parameters in p, by identity
    frictions: list = field(default_factory=list)  # names of dry friction, in the order of their table
    calls: dict = field(default_factory=dict)  # event → its controller in Python, and the first slot of its inputs
    clocks: list = field(default_factory=list)  # for each clock the place of its count in p, and the clock
    steps: list = field(default_factory=list)  # modules and names of the code of steps that have their own
    measured: list = field(default_factory=list)  # for each event the row that has the unit of its function, or None
    tables: dict = field(default_factory=dict)  # fields of the record `Program`, without units


def lower_events(model, rows):
    """The events of a model as a `Plan`, which is computed once for a model and not changed.

    rows   labels of the constraint rows of the formulation, in order
    """
    plans = model.derived.setdefault("event plans", {})
    key = tuple(rows)
    if key not in plans:
        plans[key] = _lower_all(model, key)
    return plans[key]


def _lower_all(model, rows):
    """The events of a model as a new `Plan`."""
    inputs = [*model.parameters.values(), *model.memories]
    places = {id(x): k for k, x in enumerate(inputs)}
    row = {label: k for k, label in enumerate(rows)}
    switched_ids = {id(e) for e in model.switched_elements}
    switched = [c for c in model.constraints if id(c) in switched_ids]
    clocks = {k: event for k, event in enumerate(model.events) if isinstance(event.watch, Clock)}
    guards = [ca.SX(0) if k in clocks else event.watch.phi for k, event in enumerate(model.events)]
    plan = Plan([e.name for e in model.events], guards, [], [], switched, places)
    frictions = [c for c in model.constraints if c.dry_friction]
    plan.clocks = [(places[id(event.remembered["count"])], event.watch) for event in clocks.values()]
    plan.frictions = [f.name for f in frictions]
    plan.measured = [_unit_row(event.source, row) for event in model.events]
    friction_rows = _friction_rows(plan, row, frictions)
    plan.tables = _event_tables(model, plan, row, frictions)
    for friction, friction_row in zip(frictions, friction_rows):
        events = [k for k, event in enumerate(model.events) if event.source is friction]
        friction_row["stops"], friction_row["starts"], friction_row["reverses"] = events
        friction_row["pulled"] = _add_slots(plan, *friction.direction_of_slip())
        friction_row["drift"] = _add_slots(plan, *map(Rate, ca.vertsplit(friction.sliding())))
    friction_table = table(FRICTION, friction_rows)
    used = in_constraints(model)
    plan.tables |= {
        "bits": np.array([places[id(c.active)] for c in switched], np.int64),
        "onesided": _one_sided_table(model, switched, places, row),
        "frictions": friction_table,
        "headings": _heading_table(friction_table, frictions, places),
        "states": np.array([places[id(state)] for state in model.states], np.int64),
        "meets": _contact_rows(model, rows),
        "switches": _row_switches(model, rows, places),
        "moving": np.array([x.symbol.element_hash() in used for x in inputs], np.int64),
        "clocks": np.array(list(clocks), np.int64),
    }
    return plan


def _event_tables(model, plan, row, frictions):
    """The tables WATCH, DURING and OP."""
    during: list = []
    ops: list = []
    watches = []
    for k, event in enumerate(model.events):
        conditions = [(m, value) for m, value in event.during if id(m) in plan.places or m.value != value]
        conditions += _source_conditions(event.source, plan.places)
        steps = [step for action in event.actions for step in action.steps(model)]
        event_ops = [op for step in steps for op in _lower(step, k, plan, row, frictions)]
        watch = _watch(model, event, plan.places, event_ops)
        watch |= {"during": len(during), "during_end": len(during) + len(conditions)}
        watch |= {"ops": len(ops), "ops_end": len(ops) + len(event_ops)}
        watches.append(watch)
        during += [{"place": plan.places[id(memory)], "value": value} for memory, value in conditions]
        ops += event_ops
    return {
        "events": table(WATCH, watches),
        "during": table(DURING, during),
        "ops": table(OP, ops),
    }


def _one_sided_table(model, switched, places, row):
    """The table ONESIDED."""
    lifts = {id(event.source): k for k, event in enumerate(model.events)}  # the last event of a contact opens it
    one_sided = [
        {
            "place": places[id(c.active)],
            "row": row[f"{c.name}[0]"],
            "lift": lifts[id(c)],
            "loaded": places[id(c.loaded)],
            "single": not c.sides,
        }
        for c in switched
        if c.one_sided
    ]
    return table(ONESIDED, one_sided)


def _heading_table(friction_table, frictions, places):
    """The table HEADING: dry friction in more than one direction."""
    crawls = [places[id(f.crawl)] for f in frictions if len(f.direction) > 1]
    several = friction_table[friction_table["parts"] > 1]
    headings = [
        {
            "place": f["heading"],
            "slot": f["speed"] + 1,
            "parts": f["parts"],
            "stop": f["stops"],
            "crawl": crawl,
            "row": f["row"],
            "drift": f["drift"],
        }
        for f, crawl in zip(several, crawls)
    ]
    return table(HEADING, headings)


def _source_conditions(source, places):
    """Conditions (memory, value) under which an event is watched: the element that declares it is armed, or acts."""
    if source is None:
        return []
    memory = source._armed if source.armable else source._active
    return [(memory, 1.0)] if id(memory) in places else []


def _watch(model, event, places, ops):
    """One row of WATCH by field, without its ranges."""
    w = event.watch
    time, count = (places[id(event.remembered[x])] if x in event.remembered else -1 for x in ("time", "count"))
    kinds = {model.kind_of(s) for s in ca.symvar(w.phi)}
    rated = not kinds & {"reaction", "acceleration"}  # a function of time and state only
    dimensions = {"reaction": 3, "velocity": 2, "pose": 1}  # of its symbols; the first that occurs counts
    like = next((number for kind, number in dimensions.items() if kind in kinds), 0)
    approaches = [op["slot"] + 1 for op in ops if op["code"] == event_codes.STRIKE]
    clock = {"period": w.period, "first": w.first, "rest": w.rest} if isinstance(w, Clock) else {}
    return {
        "condition": w.state,
        "strict": w.strict,
        "both": w.both,
        "undecided_near_zero": event.undecided_near_zero,
        "answer": ANSWERS.index(event.accumulate),
        "time": time,
        "count": count,
        "rated": rated,
        "like": like,
        "approach": approaches[0] if approaches else -1,
        "half": event.half,
        **clock,
    }


def _unit_row(source, row):
    """The constraint row that has the unit of an event of a contact or of dry friction; None for other events."""
    return row[f"{source.name}[0]"] if source is not None and (source.one_sided or source.dry_friction) else None


def _contact_rows(model, rows):
    """Index of every row among those of contacts and friction, -1 for other rows; see `Formulation.meeting`."""
    intermittent = {c.name for c in model.constraints if c.intermittent}
    own = np.array([label.rsplit("[", 1)[0] in intermittent for label in rows], bool)
    return np.where(own, np.cumsum(own) - 1, -1)


def _row_switches(model, rows, places):
    """For every row the places that are all 1 while it is active, then −1; a row without any is always active."""
    constraints = {c.name: c for c in model.constraints}
    switches = [constraint_switches(constraints[label.rsplit("[", 1)[0]], model) for label in rows]
    table = np.full((len(rows), max([1, *map(len, switches)])), -1, np.int64)
    for row, memories in zip(table, switches):
        row[: len(memories)] = [places[id(memory)] for memory in memories]
    return table


def in_constraints(model):
    """Hashes of the symbols that constraints depend on, directly or through the rates of the user's states."""
    symbols = {s.element_hash() for c in model.constraints if c.trace() is None for s in _symbols(c)}
    left = {state.symbol.element_hash(): state for state in model.states}
    while found := [left.pop(x) for x in symbols & left.keys()]:
        symbols |= {s.element_hash() for state in found for s in ca.symvar(state.rate)}
    return symbols


def _symbols(constraint):
    """Symbols in the equations of a constraint."""
    equations = constraint.equations()
    return ca.symvar(equations.velocity if equations.position is None else equations.position)


def _add_slots(plan, *expressions):
    """Append expressions to the slots. Returns the slot of the first."""
    plan.slots += expressions
    return len(plan.slots) - len(expressions)


def _friction_rows(plan, row, frictions):
    """Rows of FRICTION by field, one for each dry friction, without its events and the slots that come last."""
    result = []
    for f in frictions:
        heading = ca.vertsplit(f.heading())
        slot = _add_slots(plan, f.speed(), *heading)
        coefficients = f.coefficients()
        hosts = f.within() if f.host is None else [f.host]
        sliding, static = [_add_slots(plan, x) for x in coefficients] if coefficients else (-1, -1)
        result.append({
            "stick": plan.places[id(f.active)],
            "slip": plan.places[id(f.slip)],
            "heading": plan.places[id(f.direction[0])],
            "speed": slot,
            "parts": len(heading),
            "host": next((plan.places[id(x.active)] for x in hosts if id(x.active) in plan.places), -1),
            "armed": plan.places.get(id(f._armed), -1),
            "row": row[f"{f.name}[0]"],
            "sliding": sliding,
            "static": static,
            "host_row": row[f"{f.host.name}[0]"] if f.host is not None else -1,
        })  # fmt: skip
    return result


def _lower(step, event, plan, row, frictions):
    """Rows of OP by field, of one elementary step."""
    if step.loop is not None:
        return [_lower_call(step, plan)]
    place = plan.places.get(id(getattr(step.target, "active", step.target)), -1)
    if step.kind == "set":
        slot = _add_slots(plan, *step.values)
        return [{"code": event_codes.SET, "place": plan.places[id(step.target)], "slot": slot}]
    if step.kind == "release":
        return [*_lower_release(step.target, plan, frictions), {"code": event_codes.RELEASE, "place": place}]
    if step.kind == "engage":
        return [{"code": event_codes.ENGAGE, "place": place, "slot": _add_slots(plan, *step.values)}]
    if step.kind == "strike":
        side = ca.SX(1) if step.target.one_sided else Side(step.target, plan.guards[event])
        slot = _add_slots(plan, *step.values, Approach(step.target), side)
        return [{"code": event_codes.STRIKE, "place": place, "slot": slot, "row": row[f"{step.target.name}[0]"]}]
    if step.kind == "land":
        return [{"code": event_codes.STICK_OR_SLIDE, "friction": frictions.index(step.target)}]
    if step.kind == "decide":
        return [{"code": event_codes.DECIDE}]
    if step.kind == "ask":
        plan.calls[event] = (step.target, _add_slots(plan, *step.values))
        return [{"code": event_codes.CALL_CONTROLLER}]
    if step.kind == "record":
        plan.records.append((step.target, event, _add_slots(plan, *step.values)))
        return []
    return [{"code": event_codes.END}]


def _lower_call(step, plan):
    """The row of OP of a step with its own code; the memories of its target stand one after the other in p."""
    places = [plan.places[id(memory)] for memory in step.target or ()]
    first = places[0] if places else -1
    assert places == list(range(first, first + len(places))), f"step {step.kind!r}: its memories are apart in p"
    if step.loop not in plan.steps:
        plan.steps.append(step.loop)
    slot = _add_slots(plan, *step.values)
    number = plan.steps.index(step.loop)
    return {"code": event_codes.CALL_STEP, "place": first, "slot": slot, "count": len(step.values), "step": number}


def _lower_release(target, plan, frictions):
    """Operations on the elements that belong to a released one: its friction slides, its stops open."""

    def belongs(element):
        return any(host is target for host in (getattr(element, "host", None), *element.within()))

    sliding = [
        {"code": event_codes.SET, "place": plan.places[id(f.slip)], "slot": _add_slots(plan, ca.SX(1))}
        for f in frictions
        if belongs(f)
    ]
    switched = [c for c in plan.constraints if belongs(c) and not c.starts_active]
    opened = [{"code": event_codes.RELEASE, "place": plan.places[id(c.active)]} for c in switched]
    return [*sliding, *opened]
