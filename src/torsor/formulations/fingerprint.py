"""A fingerprint of a model: everything that its equations are made from, before anything is derived."""

import hashlib
import inspect
import marshal
import pathlib
from functools import cache

import casadi as ca

from ..describe.quantity import time
from ..registry import registered
from .signal_values import REACTIONS


@cache
def sources():
    """Digest of the code that turns a description into equations: with it changes what a fingerprint stands for."""
    root = pathlib.Path(__file__).parent.parent
    rooms = ("lie", "describe", "events", "joints", "forces", "formulations", "start")
    files = [f for room in rooms for f in sorted((root / room).rglob("*.py"))]
    digest = hashlib.sha256()
    for f in files:
        digest.update(f.read_bytes())
    return digest.hexdigest()


def _foreign():
    """Sources of the formulations that are defined outside this package: with them, too, changes what a fingerprint stands
    for. Where there is no file, the code of the methods counts."""
    found = []
    for key, cls in registered("formulation").items():
        for own in cls.__mro__:
            if own is not object and own.__module__.partition(".")[0] not in (__package__.partition(".")[0], "abc"):
                found.append(f"{key} {_source(own)}")
    return found


def _source(cls):
    try:
        content = pathlib.Path(inspect.getfile(cls)).read_bytes()
    except (TypeError, OSError):
        content = b"".join(marshal.dumps(x.__code__) for x in vars(cls).values() if inspect.isfunction(x))
    return hashlib.sha256(content).hexdigest()


_DIGESTS: dict = {}


def _digest(trace):
    """Hash of a trace, kept with it."""
    if id(trace) not in _DIGESTS:
        text = "\n".join([trace.function.serialize(), str(trace.holonomic), *trace.directions])
        _DIGESTS[id(trace)] = (trace, hashlib.sha256(text.encode()).hexdigest())
    return _DIGESTS[id(trace)][1]


def _changes(model):
    """Names and expressions of everything that may change while a model runs."""
    yield ["switched", *[element.name for element in model.switched]], []
    yield ["memories", *[f"{m.name}={m.value!r}" for m in model.memories]], []
    yield ["states", *[state.name for state in model.states]], [state.rate for state in model.states]
    for event in model.events:
        w = event.watch
        during = [f"{memory.name}={value!r}" for memory, value in event.during]
        yield ["event", event.name, str((w.state, w.strict, w.both, event.settles)), *during, event.accumulate], [w.phi]
        for step in [step for action in event.actions for step in action.steps(model)]:
            target = getattr(step.target, "name", step.target)
            yield ["step", step.kind, str(target), str(len(step.values))], list(step.values)


def fingerprint(model, signals):
    """Hash of a model and of recorded signals: expressions of the model's symbols."""
    known = model.derived
    if "declared" not in known:
        known["declared"] = _declared(model)
    whole, symbols = known["declared"]
    foreign = _foreign()
    if not signals and not foreign:
        return whole
    column = ca.vertcat(*[ca.densify(ca.SX(x)) for x in signals.values()], ca.SX(0, 1))
    text = ca.Function("signals", [symbols], [column]).serialize()
    return hashlib.sha256("\n".join([whole, *foreign, *signals, text]).encode()).hexdigest()


def _declared(model):
    """Hash of the declared equations, the start as given, and the names; and all symbols that occur."""
    symbols, expressions, names = [time], [], [sources(), ca.CasadiMeta.version(), model.name]
    symbols += model.inputs
    for ground in model.grounds:
        symbols += ground.symbols
        expressions += ground.path
        names.append(ground.name)
    for body in model.bodies:
        symbols += [*body.symbols, body.acceleration, body.angular_acceleration]
        expressions += [body.mass, body.start_position, body.start_rotation]
        for optional in (body.inertia, body.start_velocity, body.start_angular_velocity):
            names.append(str(optional is None))
            expressions += [] if optional is None else [optional]
        names.append(body.name)
    for c in model.constraints:
        names += [c.name, c.key]
        trace = c.traced()
        if trace is None:
            stated = c.equations()
            expressions += [
                x for x in (stated.position, stated.velocity, stated.coordinates, stated.rates) if x is not None
            ]
            names += [str(stated.position is None), *stated.directions]
        else:
            expressions += c.placed
            names += [_digest(trace), c.first.name, c.second.name]
        symbols += [getattr(c, k) for k in REACTIONS if getattr(c, k, None) is not None]
    for j in model.joints:
        symbols += [j.coordinate, j.rate, j.turn]
        for optional in (j.start, j.start_rate):
            names.append(str(optional is None))
            expressions += [] if optional is None else [optional]
    for force in model.all_forces:
        names += [force.name, force.key]
        expressions += [x for x in (force.potential(), force.dissipation()) if x is not None]
        expressions += [x for pair in force.efforts() for x in pair]
    for what, values in _changes(model):
        names += what
        expressions += values
    column = ca.veccat(*symbols)
    f = ca.Function("definition", [column], [ca.densify(ca.veccat(*expressions, ca.SX(0, 1)))])
    return hashlib.sha256("\n".join([*names, f.serialize()]).encode()).hexdigest(), column
