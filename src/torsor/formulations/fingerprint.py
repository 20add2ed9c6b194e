"""A fingerprint of a model: everything that its equations are made from, before anything is derived."""

import hashlib
import inspect
import marshal
import pathlib
from functools import cache

import casadi as ca
import numpy as np

from ..describe import quantity
from ..describe.body import MADE_OF
from ..describe.include import owners_in
from ..describe.lazy import kept
from ..forces.parts import alike
from ..registry import registered
from ..tables.calls import calls, looked_up
from ..tables.search import used


@cache
def sources():
    """Digest of the code that turns a description into equations: with it changes what a fingerprint stands for."""
    root = pathlib.Path(__file__).parent.parent
    rooms = ("lie", "tables", "describe", "events", "joints", "forces", "formulations", "start")
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


class _Contents:
    """What a model consists of, in its order: names, numbers, and expressions of its symbols.

    numbers   of every quantity, or what takes their place
    """

    def __init__(self, model, *names):
        self.model, self.names, self.numbers, self.expressions = model, list(names), [], []

    def add(self, *values):
        """Quantities of any kind, None where there is none."""
        for x in values:
            x = quantity.numbers_or(x) if isinstance(x, ca.SX) else x
            if x is None:
                self.numbers.append(b"none:")
            elif isinstance(x, ca.SX):
                self.numbers.append(b"expression:")
                self.expressions.append(x)
            else:
                x = x if type(x) is np.ndarray else np.asarray(x, float)
                self.numbers.append(b"%d:" % x.nbytes + x.tobytes())  # which quantity a number belongs to matters

    def add_alike(self, values):
        """The same quantity of many things: at once, where it is nothing but numbers of one size, or there is none."""
        x = _numbers(values)
        if x is None:
            self.add(*values)
        else:
            self.numbers.append(b"%d times %d:" % (len(values), x.nbytes) + x.tobytes())

    def function(self):
        """All expressions as a function of their symbols, and these."""
        column = ca.vertcat(ca.SX(0, 1), *[ca.vec(ca.densify(x)) for x in self.expressions])
        symbols = ca.symvar(column)
        return ca.Function("definition", [ca.vertcat(*symbols, ca.SX(0, 1))], [column]), symbols, column

    def digest(self):
        f, symbols, column = self.function()
        known = labels(self.model, column)
        names = [known.get(s.element_hash(), s.name()) for s in symbols]  # time is nobody's
        digest = hashlib.sha256("\n".join([*self.names, "symbols", *names, f.serialize()]).encode())
        digest.update(b"".join(self.numbers))
        return digest.hexdigest()


def _numbers(values):
    """Values as one array, an empty one where all of them are None; None where they are not numbers of one shape."""
    types = set(map(type, values))
    if types == {type(None)}:
        return np.zeros(0)
    if types == {np.ndarray} and len({x.shape for x in values}) == 1:
        x = np.array(values)
        return x if x.dtype == float else None
    return np.array(values) if types and types <= {float, np.float64} else None


def labels(model, expression):
    """Whose the symbols of an expression are, and which of that one's, in words, by their identity."""
    return {
        s.element_hash(): f"{type(thing).__name__} {thing.name} {name} {k}"
        for thing, name in owners_in(model, expression)
        for k, s in enumerate(ca.symvar(getattr(thing, name)))
    }


def fingerprint(model, signals):
    """Hash of a model and of recorded signals: expressions of the model's symbols."""
    known = model.derived
    if "declared" not in known:
        known["declared"] = _declared(model).digest()
    foreign = _foreign()
    if not signals and not foreign:
        return known["declared"]
    told = _Contents(model, known["declared"], *foreign, *signals)
    told.add(*[ca.SX(x) for x in signals.values()])
    return told.digest()


def time_dependent(model):
    """Expressions of the equations of motion that contain time."""
    known = model.derived
    if "declared expressions" not in known:
        _declared(model)
    if "time_dependent" not in known:
        traces = {id(c.traced()): c for c in model.constraints}
        timed = {mark for mark, c in traces.items() if c.traced() is not None and not timeless(c.traced())}
        stated = [c.equations() for c in model.constraints if id(c.traced()) in timed] if timed else []
        rows = [x for x in (s.velocity if s.position is None else s.position for s in stated) if x is not None]
        every = [*known.pop("declared expressions"), *rows, *[state.rate for state in model.states]]
        known["declared expressions"] = []
        at_all = ca.depends_on(ca.vertcat(ca.SX(0, 1), *[ca.vec(ca.densify(x)) for x in every]), quantity.time)
        known["time_dependent"] = [x for x in every if ca.depends_on(x, quantity.time)] if at_all else []
    return known["time_dependent"]


def timeless(trace):
    """True if equations that a connection shares with all of its kind do not contain time."""
    return not trace.function.jac_sparsity(0, trace.function.n_in() - 1).nnz()


def looked_up_in(model):
    """Numbers of the tables that a model looks up, and the arguments: expressions of its symbols."""
    if "looked_up" not in model.derived:
        f, symbols, _ = _declared(model).function() if used() else (None, [], None)
        model.derived["looked_up"] = looked_up(f, [symbols]) if f is not None and calls(f) else []
    return model.derived["looked_up"]


def _declared(model):
    """The declared equations, the start as given, and the names."""
    told = _Contents(model, sources(), ca.CasadiMeta.version(), model.name)
    told.names += ["inputs", *model.parameters, *[m.name for m in model.memories]]
    _declare_equations(model, told)
    model.derived["declared expressions"] = list(told.expressions)
    for what, values in _changes(model):
        told.names += what
        told.add(*[quantity.constant(x) for x in values])
    return told


def _declare_equations(model, told):
    """The same without what changes while a model runs."""
    for ground in model.grounds:
        told.names.append(ground.name)
        if not ground.held:
            told.names.append("moves")
            told.add(*ground.path)
    for still in zip(*[ground.reference for ground in model.grounds if ground.held]):
        told.add_alike(still)
    told.names += [body.name for body in model.bodies]
    for what in MADE_OF.values():
        told.add_alike([getattr(body, what) for body in model.bodies])
    placed: list = []
    for c in model.constraints:
        told.names += [c.name, c.key]
        trace = c.traced()
        if trace is None:
            stated = c.equations()
            told.add(stated.position, stated.velocity, stated.coordinates, stated.rates)
            told.names += stated.directions
        else:
            told.names += [_digest(trace), c.first.name, c.second.name]
            frames = c.placed_numbers
            if frames is None:
                told.names.append("placed by expressions")
                told.add(*c.placed)
            else:
                placed.append(frames)
    told.add_alike(placed)
    for what in ("start", "start_rate"):
        told.add_alike([kept(j, what) for j in model.joints])
    told.names += [f"{j.name} cut={bool(j.cut)}" for j in model.joints if j.cut is not None]
    told.add(model.gravity)
    texts: dict = {}
    for force in model.forces:
        told.names += [force.name, force.key]
        shared = alike(force)
        if shared is None:
            told.add(force.potential(), force.dissipation(), *[x for pair in force.efforts() for x in pair])
        else:  # fields say it all
            if id(shared) not in texts:
                texts[id(shared)] = f"{shared.key!r} {np.array(shared.numbers, float).tobytes().hex()}"
            told.names += [texts[id(shared)], force.world.name, *[getattr(force, end).name for end in shared.ends]]
