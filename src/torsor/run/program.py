"""The events of a model as flat data: what is watched, which elementary steps follow, where they find their numbers."""

from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ..events import ANSWERS, Clock
from . import codes
from .event_records import DURING, FRICTION, HEADING, ONESIDED, OP, WATCH


@dataclass(frozen=True, eq=False)
class Approach:
    """Stands for the relative acceleration of a one-sided constraint, which only a formulation knows."""

    constraint: object


@dataclass(frozen=True, eq=False)
class Side:
    """Stands for the side of a struck constraint on which it is kept, as the function that is watched has it: the cosine of
    the angle between ∂φ and ∂g. Zero where φ has nothing to do with g."""

    constraint: object
    phi: ca.SX


@dataclass(frozen=True, eq=False)
class Rate:
    """Stands for the rate of a signal of time, poses and velocities."""

    signal: ca.SX


@dataclass
class Plan:
    """What `lowered` finds. places: of memories and parameters in p; slots: expressions that steps take their values from."""

    names: list
    guards: list
    slots: list
    records: list  # (label, event, slot)
    constraints: list  # switched ones, in the order of the bits
    places: dict
    frictions: list = field(default_factory=list)  # names of dry friction, in the order of `lands`
    asked: dict = field(
        default_factory=dict
    )  # event -> the controller whose function is called, and the slot of its inputs
    clocks: list = field(default_factory=list)  # of events: the place of the count in p, and the clock
    measured: list = field(default_factory=list)  # for each event the row that has the unit of its function, or None
    tables: dict = field(default_factory=dict)  # fields of the record `Program`, but for units


def lowered(model, rows):
    """The events of a model as a Plan; rows: labels of the rows of the formulation, in order."""
    inputs = [*model.parameters.values(), *model.memories]
    places = {id(x): k for k, x in enumerate(inputs)}
    row = {label: k for k, label in enumerate(rows)}
    acting = {id(e) for e in model.switched}
    switched = [c for c in model.constraints if id(c) in acting]
    clocks = {k: event for k, event in enumerate(model.events) if isinstance(event.watch, Clock)}
    guards = [ca.SX(0) if k in clocks else event.watch.phi for k, event in enumerate(model.events)]
    plan = Plan([e.name for e in model.events], guards, [], [], switched, places)
    frictions = [c for c in model.constraints if hasattr(c, "heading")]
    plan.clocks = [(places[id(event.remembered["count"])], event.watch) for event in clocks.values()]
    plan.frictions = [f.name for f in frictions]
    plan.measured = [_measured(event.source, row) for event in model.events]
    lands = _lands(plan, row, frictions)
    during: list = []
    ops: list = []
    watches = []
    for k, event in enumerate(model.events):
        needs = [(memory, value) for memory, value in event.during if id(memory) in places or memory.value != value]
        needs += _acting(event.source, places)
        steps = [step for action in event.actions for step in action.steps(model)]
        own = [op for step in steps for op in _lower(step, k, plan, row, frictions)]
        ranges = (len(during), len(during) + len(needs), len(ops), len(ops) + len(own))
        watches.append((*_watch(model, event, places, own), *ranges))
        during += [(places[id(memory)], value) for memory, value in needs]
        ops += own
    for friction, f in zip(frictions, lands):
        f += [k for k, event in enumerate(model.events) if event.source is friction]  # it sticks, slides, reverses
        f += [_slot(plan, *friction.pulled()), _slot(plan, *map(Rate, ca.vertsplit(friction.sliding())))]
    lifts = {id(event.source): k for k, event in enumerate(model.events)}  # the last event of a contact opens it
    one_sided = [
        (places[id(c.active)], row[f"{c.name}[0]"], lifts[id(c)], places[id(c.loaded)], not c.sides)
        for c in switched
        if hasattr(c, "gaps")
    ]
    held = in_constraints(model)
    slides = np.array([tuple(f) for f in lands], FRICTION)
    crawls = [places[id(f.crawl)] for f in frictions if len(f.direction) > 1]
    several = slides[slides["parts"] > 1]
    plan.tables = {
        "events": np.array(watches, WATCH),
        "during": np.array(during, DURING),
        "ops": np.array([tuple(op) for op in ops], OP),
        "bits": np.array([places[id(c.active)] for c in switched], np.int64),
        "onesided": np.array(one_sided, ONESIDED),
        "frictions": slides,
        "headings": np.array(
            [
                (f["heading"], f["speed"] + 1, f["parts"], f["stops"], crawl, f["row"], f["drift"])
                for f, crawl in zip(several, crawls)
            ],
            HEADING,
        ),
        "states": np.array([places[id(state)] for state in model.states], np.int64),
        "meets": _meets(model, rows),
        "moving": np.array([x.symbol.element_hash() in held for x in inputs], np.int64),
        "clocks": np.array(list(clocks), np.int64),
    }
    return plan


def _acting(source, places):
    """Pairs (memory, value) that hold while the element that brought an event along is armed, or acts: only then is the event
    looked at."""
    if source is None:
        return []
    known = source._armed if source.armable else source._active
    return [(known, 1.0)] if id(known) in places else []


def _watch(model, event, places, ops):
    """One row of WATCH, but for its ranges."""
    w = event.watch
    remembered = [places[id(event.remembered[x])] if x in event.remembered else -1 for x in ("time", "count")]
    kinds = {model.kind_of(s) for s in ca.symvar(w.phi)}
    rated = not kinds & {"reaction", "acceleration"}  # a function of time and state alone
    like = {"reaction": 3, "velocity": 2, "pose": 1}  # what its size is measured against: the largest that occurs
    of = next((number for kind, number in like.items() if kind in kinds), 0)
    strikes = [op[2] + 1 for op in ops if op[0] == codes.STRIKE]
    answer = ANSWERS.index(event.accumulate)
    clock = (w.period, w.first, w.rest) if isinstance(w, Clock) else (0.0, 0.0, 0.0)
    return (
        w.state, w.strict, w.both, event.settles, answer, *remembered, rated, of, 0.0, strikes[0] if strikes else -1, event.half,
        *clock,
    )  # fmt: skip


def _measured(source, row):
    """The row by which an event of a contact or of dry friction is measured, None for others."""
    return row[f"{source.name}[0]"] if hasattr(source, "gaps") or hasattr(source, "heading") else None


def _meets(model, rows):
    """For every row its place among those of contacts and friction, -1 for others; see `Formulation.meeting`."""
    ranks = {c.name: c.rank for c in model.constraints}
    found = [k for k, label in enumerate(rows) if ranks[label.rsplit("[", 1)[0]] > 0]
    return np.array([found.index(k) if k in found else -1 for k in range(len(rows))], np.int64)


def in_constraints(model):
    """Identities of the symbols that constraints contain, and the rates of states that they follow."""
    found = {s.element_hash() for c in model.constraints if c.traced() is None for s in _symbols(c)}
    for _ in model.states:
        followed = [state for state in model.states if state.symbol.element_hash() in found]
        found |= {s.element_hash() for state in followed for s in ca.symvar(state.rate)}
    return found


def _symbols(constraint):
    told = constraint.equations()
    return ca.symvar(told.velocity if told.position is None else told.position)


def _slot(plan, *expressions):
    plan.slots += expressions
    return len(plan.slots) - len(expressions)


def _lands(plan, row, frictions):
    """One row of FRICTION per dry friction, but for its events and what follows from them."""
    found = []
    for f in frictions:
        heading = ca.vertsplit(f.heading())
        slot, rough = _slot(plan, f.speed(), *heading), f.coefficients()
        hosts = f.within() if f.host is None else [f.host]
        host = next((plan.places[id(x.active)] for x in hosts if id(x.active) in plan.places), -1)
        armed = plan.places.get(id(f._armed), -1)
        found.append([plan.places[id(m)] for m in (f.active, f.slip, f.direction[0])])
        found[-1] += [slot, len(heading), host, armed]
        found[-1] += [row[f"{f.name}[0]"], *([_slot(plan, x) for x in rough] if rough else (-1, -1))]
        found[-1] += [row[f"{f.host.name}[0]"] if f.host is not None else -1]
    return found


def _lower(step, event, plan, row, frictions):
    """Operations [code, place, slot, further, row] of one elementary step."""
    place = plan.places.get(id(getattr(step.target, "active", step.target)), -1)
    inside = lambda element: any(host is step.target for host in (getattr(element, "host", None), *element.within()))
    if step.kind == "set":
        return [[codes.SET, plan.places[id(step.target)], _slot(plan, *step.values), 0, 0]]
    if step.kind == "release":
        loose = [[codes.SET, plan.places[id(f.slip)], _slot(plan, ca.SX(1)), 0, 0] for f in frictions if inside(f)]
        decided = [
            c for c in plan.constraints if inside(c) and not c.starts_active
        ]  # stops open, friction acts no more
        opened = [[codes.RELEASE, plan.places[id(c.active)], 0, 0, 0] for c in decided]
        return [*loose, *opened, [codes.RELEASE, place, 0, 0, 0]]
    if step.kind == "engage":
        return [[codes.ENGAGE, place, _slot(plan, *step.values), 0, 0]]
    if step.kind == "strike":
        side = ca.SX(1) if hasattr(step.target, "gaps") else Side(step.target, plan.guards[event])
        slot = _slot(plan, *step.values, Approach(step.target), side)
        return [[codes.STRIKE, place, slot, 0, row[f"{step.target.name}[0]"]]]
    if step.kind == "land":
        return [[codes.LAND, 0, 0, frictions.index(step.target), 0]]
    if step.kind == "decide":
        return [[codes.DECIDE, 0, 0, 0, 0]]
    if step.kind == "ask":
        plan.asked[event] = (step.target, _slot(plan, *step.values))
        return [[codes.ASK, 0, 0, 0, 0]]
    if step.kind == "record":
        plan.records.append((step.target, event, _slot(plan, *step.values)))
        return []
    return [[codes.END, 0, 0, 0, 0]]
