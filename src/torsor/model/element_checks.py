"""Checks of an element when it is added to a model, in one place for all elements."""

from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.element import ANYTHING, PARTICLE_ORIENTATION, POSITION_LEVEL, VELOCITY_LEVEL, Owned, fill_in, initial
from ..errors import ModelError, TorsorError
from ..joints import Connection, Constraint, Joint
from ..lookup.interval_search import has_tables, stored_table
from ..lookup.lookup_calls import calls, lookups_in
from .body import Body, Frame, Placed
from .parameters import Parameter

WORDS = {
    "parameter": "parameters",
    "input": "inputs",
    "time": "time",
    "pose": "positions, rotations and joint coordinates",
    "velocity": "velocities",
    "state": "states",
    "reaction": "reactions",
    "acceleration": "accelerations",
}

REFERENCE_NAMES = frozenset(
    ("first", "second", "body", "bodies", "joint", "other", "on", "connection")
)  # may be given by their names


def members(model, element):
    """Refuse bodies and joints that are none, belong to another model, or are the same one twice; numbers become such that
    can be calculated with."""
    owner = element.owner
    for name, attribute in initial(element):
        value = getattr(element, attribute)
        if value is None or isinstance(value, Owned):
            continue
        if not element.__dataclass_fields__[name].repr and _has_arrays(value):
            continue  # derived before, as in a model that was read from a file
        if name in REFERENCE_NAMES:  # elements in the place of their names
            simple = find_by_name(model, value)
        elif (simple := quantity.unchanging(quantity.plain(value))) is value:
            continue
        fill_in(element, **{name: simple})
    for name in ("first", "second", "body"):
        body = getattr(element, name, None)
        if not hasattr(element, name) or (body is None and name in element.optional):
            continue
        if not isinstance(body, Placed):
            raise ModelError(f"{owner}: {name} must be a body of model {model.name!r}, got {quantity.show(body)}")
        _belongs(model, owner, "body", body)
    for name, cls in (("joint", Joint), ("other", Joint), ("on", Constraint), ("connection", Connection)):
        given = getattr(element, name, None)
        if hasattr(element, name) and not (given is None and name in element.optional):
            kind = {Joint: "joint", Constraint: "joint or contact", Connection: "joint or connection"}[cls]
            if not isinstance(given, cls):
                raise ModelError(
                    f"{owner}: {name} must be a {kind} of model {model.name!r}, got {quantity.show(given)}"
                )
            _belongs(model, owner, kind, given)
    first: Any = getattr(element, "first", None)
    second: Any = getattr(element, "second", None)
    if first is not None and first is second:
        raise ModelError(f"{owner}: connects body {first.name!r} with itself; give two different bodies")
    if first is not None and not isinstance(first, Body) and not isinstance(second, Body):
        raise ModelError(f"{owner}: {first.name!r} and {second.name!r} are both grounds; one of the two must be a body")


def _has_arrays(value):
    """True if a value is an array or a tuple with arrays."""
    parts = value if isinstance(value, tuple) else (value,)
    return any(isinstance(x, np.ndarray) for x in parts)


def find_by_name(model, given):
    """What a name stands for in a model, or each of several; anything else as it is, to be refused."""
    if isinstance(given, (tuple, list)):
        return tuple(find_by_name(model, x) for x in given)
    return model[given] if isinstance(given, str) and given in model else given


def _belongs(model, owner, what, thing):
    if model._names.get(thing.name) is not thing:
        copies = [path for path in model._names if path.endswith(f".{thing.name}")]
        hint = f"; an instance has a copy of its own: {', '.join(map(repr, copies[:2]))}" if copies else ""
        raise ModelError(f"{owner}: {what} {thing.name!r} does not belong to model {model.name!r}{hint}")


def declaration(model, element):
    """Refuse an element whose equations cannot be written, or contain what they must not."""
    statements = call_element(element, element.statements)
    for state, rate in call_element(element, lambda: element.rates(ca.SX(1))):
        contents(model, element.owner, f"the rate of {state.name!r}", rate, ANYTHING)
    for what, expression, allowed in statements:
        contents(model, element.owner, what, expression, allowed)
        if allowed in (POSITION_LEVEL, VELOCITY_LEVEL):
            smooth(element.owner, expression, 2 if allowed == POSITION_LEVEL else 0, model._symbols)
            _refuse_derived_states(model, element, expression, allowed == POSITION_LEVEL)
    element.mark_checked()


def _refuse_derived_states(model, element, equation, at_position):
    """Refuse states in an equation of a constraint whose rates would bring velocities into positions, or accelerations and
    reactions into velocities: the constraint is differentiated twice, or once."""
    known = {state.symbol.element_hash(): state for state in model.states}
    kinds = lambda x: [(s, model._symbols.get(s.element_hash())) for s in ca.symvar(x)]
    for s, kind in kinds(equation):
        if kind != "state":
            continue
        state = known[s.element_hash()]
        for inner, what in kinds(state.rate):
            if what not in (POSITION_LEVEL if at_position else (*VELOCITY_LEVEL, "input")):
                allowed = (
                    "time, positions and states" if at_position else "time, positions, velocities, states and inputs"
                )
                raise ModelError(
                    f"{element.owner}: follows state {state.name!r}, whose rate contains {inner.name()!r}; the rate of a state "
                    f"that a constraint follows may contain {allowed} only. Let a force follow it instead"
                    f"{_instead(POSITION_LEVEL) if at_position and what == 'input' else ''}"
                )
            if at_position and what == "state":
                _refuse_derived_states(model, element, inner, False)


def _instead(allowed):
    """How a constraint may follow an input all the same."""
    ways = {
        POSITION_LEVEL: ", or take it for an acceleration: way = model.state('way', rate=model.state('speed', rate=input))"
    }
    return (ways | {VELOCITY_LEVEL: ", or a state whose rate it is"}).get(allowed, "")


def call_element(element, what):
    """What an element says about itself; whatever goes wrong there, as an error that names it."""
    try:
        return what()
    except TorsorError:
        raise
    except Exception as error:
        raise ModelError(
            f"{element.owner}: its equations cannot be written: {type(error).__name__}: {error}"
        ) from error


def contents(model, owner, what, expression, allowed):
    """Refuse symbols of other models, symbols that must not occur, and numbers that are none."""
    if not isinstance(expression, ca.SX):
        raise ModelError(f"{owner}: {what} must be an expression (casadi.SX), got {quantity.show(expression)}")
    for s in [] if expression.is_constant() else ca.symvar(expression):
        kind = model._symbols.get(s.element_hash())
        if kind is None:
            whose = s.name().rpartition(".")[0]
            hint = f"; {whose!r} is not added to it, or not yet" if whose and whose not in model._names else ""
            raise ModelError(
                f"{owner}: {what} contains {s.name()!r}, which does not belong to model {model.name!r}{hint}"
            )
        if kind == PARTICLE_ORIENTATION and kind not in allowed:
            raise ModelError(
                f"{owner}: {what} contains {s.name()!r}, and a particle (inertia 0) has no orientation; give it an "
                "inertia, or attach to its centre a force, a spring, a distance or a spherical joint"
            )
        if kind not in allowed:
            words = ", ".join(WORDS[k] for k in allowed if k in WORDS)
            why = f". An input may jump: let a force follow it{_instead(allowed)}" if kind == "input" else ""
            raise ModelError(f"{owner}: {what} contains {s.name()!r}; it may contain numbers, {words} only{why}")
    if not quantity.finite(expression):
        raise ModelError(f"{owner}: {what} contains a number that is not finite")


def smooth(owner, expression, least, kinds=None):
    """Refuse tables in an equation of motion that is differentiated, which have fewer continuous derivatives than it needs: two
    of a position, whose acceleration is to be continuous, and none of a velocity, but that must not jump. Tables of parameters
    alone stay as they are while a model moves.

    kinds   of symbols, by their hashes
    """
    if not has_tables() or expression.is_constant():
        return
    symbols = ca.symvar(expression)
    f = ca.Function("equation", symbols, [expression])
    fixed = {s.element_hash() for s in symbols if (kinds or {}).get(s.element_hash()) == "parameter"}
    for number, u in lookups_in(f, [[s] for s in symbols]) if calls(f) else []:
        table, moves = stored_table(number).content, ca.symvar(ca.vertcat(*u))
        if table.smooth < least and any(s.element_hash() not in fixed for s in moves):
            needs = "two continuous derivatives: take kind='cubic'" if least else "a velocity that does not jump"
            raise ModelError(f"{owner}: follows {table!r}; what imposes a motion needs {needs}")


def port(model, name, thing):
    """Refuse a port that stands for nothing of the model."""
    owned = thing.body if isinstance(thing, Frame) else thing
    if isinstance(thing, ca.SX):
        return contents(model, f"port {name!r}", "its signal", thing, ANYTHING)
    if not (isinstance(owned, (Owned, Parameter)) and model._names.get(owned.name) is owned):
        raise ModelError(
            f"port {name!r}: give a body, a frame, a joint, an element or a signal of model {model.name!r}, "
            f"got {quantity.show(thing)}"
        )
