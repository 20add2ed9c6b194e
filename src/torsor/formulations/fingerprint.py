"""The fingerprint of a model: a hash of everything that its equations depend on, computed before they are derived."""

import hashlib
import pathlib
from functools import cache

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.lazy_attributes import storage_of
from ..forces.force_data import shared_data
from ..lookup.interval_search import has_tables
from ..lookup.lookup_calls import calls, lookups_in
from ..model.body import MADE_OF
from ..model.include import owners_in
from ..registry import registered
from ..source_files import class_digest, imported_files
from .algebra.rotor_inertia import armature_of


@cache
def source_digest():
    """Digest of the code that derives equations from a model. A fingerprint is valid for one version of this code."""
    root = pathlib.Path(__file__).parent.parent
    files = [path for package in ("formulations", "start", "checks") for path in (root / package).rglob("*.py")]
    digest = hashlib.sha256()
    for path, text in imported_files(files).items():
        digest.update(f"{path}\0{text}\0".encode())
    return digest.hexdigest()


def _user_formulations():
    """Digests of the source code of formulations that are defined outside this package."""
    own_packages = (__package__.partition(".")[0], "abc")
    digests = []
    for key, formulation in registered("formulation").items():
        for cls in formulation.__mro__:
            if cls is not object and cls.__module__.partition(".")[0] not in own_packages:
                digests.append(f"{key} {class_digest(cls)}")
    return digests


_DIGESTS: dict = {}  # (trace, its hash) by the identity of the trace


def _trace_digest(trace):
    """Hash of a trace, computed once."""
    if id(trace) not in _DIGESTS:
        text = "\n".join([trace.function.serialize(), str(trace.holonomic), *trace.directions])
        _DIGESTS[id(trace)] = (trace, hashlib.sha256(text.encode()).hexdigest())
    return _DIGESTS[id(trace)][1]


def _runtime_changes(model):
    """Names and expressions of everything that may change during a run: memories, states, events and their steps."""
    yield ["switched", *[element.name for element in model.switched_elements]], []
    yield ["memories", *[f"{m.name}={m.value!r}" for m in model.memories]], []
    yield ["states", *[state.name for state in model.states]], [state.rate for state in model.states]
    for event in model.events:
        w = event.watch
        during = [f"{memory.name}={value!r}" for memory, value in event.during]
        yield (
            [
                "event",
                event.name,
                str((w.state, w.strict, w.both, event.undecided_near_zero)),
                *during,
                event.accumulate,
            ],
            [w.phi],
        )
        for step in [step for action in event.actions for step in action.steps(model)]:
            target = getattr(step.target, "name", step.target)
            yield ["step", step.kind, str(target), str(len(step.values))], list(step.values)


class _Contents:
    """The contents of a model in a fixed order, from which its digest is computed.

    names         names and other text
    numbers       values of every quantity as bytes, or a mark for a missing one or an expression
    expressions   expressions of the model's symbols
    """

    def __init__(self, model, *names):
        self.model = model
        self.names = list(names)
        self.numbers = []
        self.expressions = []

    def add(self, *values):
        """Add quantities of any kind; None stands for a missing one."""
        for x in values:
            x = quantity.numbers_or(x) if isinstance(x, ca.SX) else x
            if x is None:
                self.numbers.append(b"none:")
            elif isinstance(x, ca.SX):
                self.numbers.append(b"expression:")
                self.expressions.append(x)
            else:
                x = x if type(x) is np.ndarray else np.asarray(x, float)
                self.numbers.append(b"%d:" % x.nbytes + x.tobytes())  # the length separates quantities

    def add_arrays_of_one_size(self, values):
        """Add the same quantity of many elements, as one array if all are numbers of one shape or all are None."""
        x = _common_array(values)
        if x is None:
            self.add(*values)
        else:
            self.numbers.append(b"%d times %d:" % (len(values), x.nbytes) + x.tobytes())

    def function(self):
        """All expressions as a function of their symbols, the symbols, and the expressions as one column."""
        column = ca.vertcat(ca.SX(0, 1), *[ca.vec(ca.densify(x)) for x in self.expressions])
        symbols = ca.symvar(column)
        return ca.Function("definition", [ca.vertcat(*symbols, ca.SX(0, 1))], [column]), symbols, column

    def digest(self):
        f, symbols, column = self.function()
        label_of = labels(self.model, column)
        names = [label_of.get(s.element_hash(), s.name()) for s in symbols]  # time belongs to no element
        digest = hashlib.sha256("\n".join([*self.names, "symbols", *names, f.serialize()]).encode())
        digest.update(b"".join(self.numbers))
        return digest.hexdigest()


def _common_array(values):
    """Values as one array, empty if all are None; None if they are not numbers of one shape."""
    types = set(map(type, values))
    if types == {type(None)}:
        return np.zeros(0)
    if types == {np.ndarray} and len({x.shape for x in values}) == 1:
        x = np.array(values)
        return x if x.dtype == float else None
    return np.array(values) if types and types <= {float, np.float64} else None


def labels(model, expression):
    """Labels of the symbols of an expression, by symbol: class and name of the element, attribute and index."""
    return {
        s.element_hash(): f"{type(element).__name__} {element.name} {name} {k}"
        for element, name in owners_in(model, expression)
        for k, s in enumerate(ca.symvar(getattr(element, name)))
    }


def fingerprint(model, signals):
    """Hash of a model and of recorded signals, which are expressions of the model's symbols."""
    cache = model.derived
    if "declared" not in cache:
        cache["declared"] = _model_contents(model).digest()
    user_formulations = _user_formulations()
    if not signals and not user_formulations:
        return cache["declared"]
    contents = _Contents(model, cache["declared"], *user_formulations, *signals)
    contents.add(*[ca.SX(x) for x in signals.values()])
    return contents.digest()


def time_dependent_expressions(model):
    """Expressions of the equations of motion that contain time."""
    cache = model.derived
    if "declared expressions" not in cache:
        _model_contents(model)
    if "time_dependent" not in cache:
        traces = {id(c.trace()): c for c in model.constraints}
        timed = {mark for mark, c in traces.items() if c.trace() is not None and not is_time_independent(c.trace())}
        equations = [c.equations() for c in model.constraints if id(c.trace()) in timed] if timed else []
        rows = [x for x in (e.velocity if e.position is None else e.position for e in equations) if x is not None]
        expressions = [*cache.pop("declared expressions"), *rows, *[state.rate for state in model.states]]
        cache["declared expressions"] = []
        column = ca.vertcat(ca.SX(0, 1), *[ca.vec(ca.densify(x)) for x in expressions])
        any_timed = ca.depends_on(column, quantity.time)
        cache["time_dependent"] = [x for x in expressions if ca.depends_on(x, quantity.time)] if any_timed else []
    return cache["time_dependent"]


def is_time_independent(trace):
    """True if the equations of a kind of connection do not contain time."""
    return not trace.function.jac_sparsity(0, trace.function.n_in() - 1).nnz()


def table_lookups(model):
    """The tables that a model looks up, each with its numbers and its argument as an expression of the model's symbols."""
    if "looked_up" not in model.derived:
        f, symbols, _ = _model_contents(model).function() if has_tables() else (None, [], None)
        model.derived["looked_up"] = lookups_in(f, [symbols]) if f is not None and calls(f) else []
    return model.derived["looked_up"]


def _model_contents(model):
    """The names, declared equations, given start and runtime changes of a model."""
    contents = _Contents(model, source_digest(), ca.CasadiMeta.version(), model.name)
    contents.names += ["inputs", *model.parameters, *[m.name for m in model.memories]]
    _add_bodies(model, contents)
    _add_constraints(model, contents)
    _add_forces(model, contents)
    model.derived["declared expressions"] = list(contents.expressions)
    for names, values in _runtime_changes(model):
        contents.names += names
        contents.add(*[quantity.constant(x) for x in values])
    return contents


def _add_bodies(model, contents):
    """Add the grounds and bodies of a model."""
    for ground in model.grounds:
        contents.names.append(ground.name)
        if not ground.is_fixed:
            contents.names.append("moves")
            contents.add(*ground.path)
    for values in zip(*[ground.reference for ground in model.grounds if ground.is_fixed]):
        contents.add_arrays_of_one_size(values)
    contents.names += [body.name for body in model.bodies]
    for attribute in MADE_OF.values():
        contents.add_arrays_of_one_size([getattr(body, attribute) for body in model.bodies])


def _add_constraints(model, contents):
    """Add the constraints of a model, and the given start of its joints."""
    all_frames: list = []
    for c in model.constraints:
        contents.names += [c.name, c.key]
        trace = c.trace()
        if trace is None:
            equations = c.equations()
            contents.add(equations.position, equations.velocity, equations.coordinates, equations.rates)
            contents.names += equations.directions
        else:
            contents.names += [_trace_digest(trace), c.first.name, c.second.name]
            frames = c.placed_numbers
            if frames is None:
                contents.names.append("placed by expressions")
                contents.add(*c.placed)
            else:
                all_frames.append(frames)
    contents.add_arrays_of_one_size(all_frames)
    for attribute in ("start", "start_rate"):
        contents.add_arrays_of_one_size([storage_of(j, attribute) for j in model.joints])
    for j in model.joints:
        if (A := armature_of(j)) is not None:
            contents.names.append(f"{j.name} armature")
            contents.add(A)
    contents.names += [f"{j.name} cut={bool(j.cut)}" for j in model.joints if j.cut is not None]
    contents.names += [f"eliminate {level!r}: {order!r}" for level, order in model.eliminations.items()]


def _add_forces(model, contents):
    """Add the gravity and the forces of a model."""
    contents.add(model.gravity)
    texts: dict = {}
    for force in model.forces:
        contents.names += [force.name, force.key]
        shared = shared_data(force)
        if shared is None:
            efforts = force.typical_efforts()
            contents.add(force.potential(), force.dissipation(), *[x for pair in efforts for x in pair])
            contents.names += force.contents()
        else:  # the fields determine the force
            if id(shared) not in texts:
                texts[id(shared)] = f"{shared.key!r} {np.array(shared.numbers, float).tobytes().hex()}"
            contents.names += [texts[id(shared)], force.world.name, *[getattr(force, end).name for end in shared.ends]]
