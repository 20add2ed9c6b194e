"""Motions of driven coordinates, and a copy of a model with a drive for each of them.

    f(t) = f₀ + f₁ (t − t₀) + ½ f₂ (t − t₀)²                                                            (1)

The copy has a `ts.Drive` with the motion (1) for each driven coordinate; t₀, f₀, f₁ and f₂ are parameters. At one instant every
motion is given by three numbers, so that one set of kernels serves all motions and all instants at once.
"""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from ...checks.continuity import refuse_jumps_of_expression
from ...constraints.imposed import Drive, of_time
from ...elements import quantity
from ...elements.element import fill_in
from ...errors import AssemblyError, ModelError, OptionError
from ...model.element_checks import smooth
from ...model.model import Model
from ..assembly.assembly_problem import Problem
from ..assembly.assembly_targets import coordinate_of, target
from .path_tolerances import SAME_COORDINATE
from .spline import Spline


class Motions:
    """Values, rates and accelerations of driven coordinates as functions of x, the time or the index in a sweep.

    names   names of the coordinates
    """

    def __init__(self, functions):
        self.names, self._functions = list(functions), list(functions.values())

    def __call__(self, x):
        """f, ḟ, f̈: arrays (len(x), coordinates)."""
        x = np.asarray(x, float)
        parts = [function(x) for function in self._functions]
        return tuple(np.array([part[k] for part in parts]).T.reshape(len(x), len(parts)) for k in range(3))


def motions(model, drives, times, rates=None, accelerations=None):
    """Motions of coordinates from numbers, arrays over the times, expressions or functions of time."""
    for what, given in (("rates", rates), ("accelerations", accelerations)):
        unknown = [name for name in given or {} if name not in drives]
        if unknown:
            raise OptionError(f"{what}: {unknown[0]!r} is not driven. Driven: {', '.join(drives) or 'none'}")
    functions = {}
    for name, given in drives.items():
        coordinate_of(model, name, "drives")
        derivatives = [(other or {}).get(name) for other in (rates, accelerations)]
        functions[name] = _function(name, given, times, derivatives)
    return Motions(functions)


def _function(name, given, times, derivatives):
    """One motion as a function of an array of times."""
    if callable(given) or isinstance(given, ca.SX):
        if any(x is not None for x in derivatives):
            raise OptionError(f"drives: rates and accelerations of {name!r} follow from the expression that is given")
        return _of_expression(name, given, times)
    values = _numbers(name, given, len(times), "values")
    if len(times) > 1 and not (np.diff(times) > 0).all():
        raise OptionError("times must increase")
    spline = Spline(times, values)
    if all(x is None for x in derivatives):
        return spline
    parts = [None if x is None else _numbers(name, x, len(times), "rates and accelerations") for x in derivatives]

    def at(x):
        result = list(spline(x))
        for k, part in enumerate(parts):
            result[k + 1] = result[k + 1] if part is None else np.interp(x, times, part)
        return tuple(result)

    return at


def _of_expression(name, given, times):
    """An expression of time with two derivatives; OptionError if it is not smooth between the first and the last time."""
    owner = f"drive of {name!r}"
    try:
        f = quantity.scalar(of_time(given, "motion", owner), "motion", owner)
        smooth(owner, f, 2)
    except ModelError as error:
        raise OptionError(str(error)) from None
    other = [s.name() for s in ca.symvar(f) if s.element_hash() != quantity.time.element_hash()]
    if other:
        raise OptionError(
            f"drives: the motion of {name!r} must be an expression of time alone, it has {', '.join(other[:3])}"
        )
    try:
        refuse_jumps_of_expression(owner, f, *(float(times[k]) for k in (0, -1)))
    except ModelError as error:
        raise OptionError(str(error)) from None
    rate = ca.jacobian(f, quantity.time)
    all_three = ca.Function("motion", [quantity.time], [f, rate, ca.jacobian(rate, quantity.time)])

    def at(x):
        result = (
            tuple(np.array(part, float).ravel() + 0 * x for part in all_three.map(len(x))(x[None, :]))
            if len(x)
            else (x, x, x)
        )
        if not all(np.isfinite(part).all() for part in result):
            raise OptionError(f"drives: the motion of {name!r} or a derivative of it is not a number at some time")
        return result

    return at


def _numbers(name, given, count, what):
    """`count` finite numbers; a single number is repeated."""
    try:
        values = quantity.reals(given)
    except Exception:  # the conversion calls code of the user's class
        values = np.array(np.nan)
    finite = (np.abs(values) <= quantity.LARGEST_ANGLE).all()
    if values.ndim == 0 and finite:
        return np.full(count, float(values))
    if values.shape != (count,) or not finite:
        raise OptionError(
            f"drives: {what} of {name!r} must be {count} finite numbers, one for each time, an expression of ts.time or a function "
            f"of it, got {quantity.show(given) if values.ndim == 0 else f'an array of shape {values.shape}'}"
        )
    return values


@dataclass
class DrivenModel:
    """A copy of a model in which coordinates are driven.

    names     driven coordinates, including those that the model drives itself
    rows      labels of the constraint rows whose multipliers are the drive forces
    problem   the assembly problem of the copy
    """

    model: Model
    names: list[str]
    rows: list[str]
    problem: Any
    _input_indices: dict = field(default_factory=dict)

    def inputs(self, t, f, f1, f2):
        """Inputs p at times t, with values f, rates f1 and accelerations f2 of shape (times, coordinates)."""
        p = np.repeat(self.problem.dynamics.p[None, :], len(t), axis=0)
        p[:, self._input_indices["instant"]] = t[:, None]
        for what, values in (("value", f), ("rate", f1), ("acceleration", f2)):
            p[:, self._input_indices[what]] = values
        return p

    def starts_as_described(self, values):
        """True if the assembled start has the coordinates with which the joints are described."""
        start = np.array([*self.problem.start_coordinates().values()])
        described = [_start_value(joint, k, values) for joint in self.model.joints for k in range(joint.dof)]
        return bool((np.abs(start - described) <= SAME_COORDINATE * min(1.0, self.problem.length)).all())

    @property
    def turns(self):
        """Indices in p of the angles that are counted over full turns."""
        return self.model.input_layout.turns


def drive_model(model, names, signals=None, parameters=None, formulation=None, at=None):
    """A copy of the model in which these coordinates are driven; cached with the model if `signals` and `at` are not given.

    signals   further signals to record, as in `look/recorded_signals.py`
    at        joint coordinates of its start, by name; None: the start of the model
    """
    if signals or at:
        return _driven_at_start(model, names, signals, parameters, formulation, at)
    cache = model.derived.setdefault("driven", {})
    key = (*names, *model.values(parameters).items(), formulation)
    if key not in cache:
        cache[key] = _driven_at_start(model, names, signals, parameters, formulation, at)
    return cache[key]


def _driven_at_start(model, names, signals, parameters, formulation, at):
    """The driven copy at the requested start.

    A model whose parts must be moved to fit together starts with other coordinates than its joints are described with. Then the
    copy starts with the coordinates of the assembled model.
    """
    if not at:
        try:
            driven = _copy_with_drives(model, names, signals, parameters, formulation, None)
            if driven.starts_as_described(model.values(parameters)):
                return driven
        except AssemblyError:
            pass  # the described coordinates may not fit together; those of the assembled model do
        at = Problem(model, [], (), parameters, formulation).start_coordinates()
    return _copy_with_drives(model, names, signals, parameters, formulation, at)


def _copy_with_drives(model, names, signals, parameters, formulation, at):
    """A copy of the model with a drive (1) for each name, and its assembly problem."""
    own = [c for c in model.constraints if c.driven_coordinate and c.acts is not False]

    def label(joint, k):
        return joint.name if joint.dof == 1 else f"{joint.name}[{k}]"

    own_drives = {label(*c.driven_coordinate): c.name for c in own}
    for name in names:
        if name in own_drives:
            raise OptionError(f"drives: {name!r} is driven by {own_drives[name]!r} of the model already")
    copy = deepcopy(model)
    dict.update(copy.signals, signals or {})
    values = model.values(parameters)
    for joint in copy.joints if at else ():
        if joint.dof:
            fill_in(joint, start=np.array([at[label(joint, k)] for k in range(joint.dof)]))
    instant = _parameter(copy, "instant", 0.0)
    indices: dict[str, list[int]] = {"instant": [len(copy.parameters) - 1], "value": [], "rate": [], "acceleration": []}
    since, rows = quantity.time - instant, [f"{c.name}[0]" for c in own]
    for name in names:
        joint, k = target(copy, name, {}).joint_coordinate
        parts = []
        for what, first in (("value", _start_value(joint, k, values)), ("rate", 0.0), ("acceleration", 0.0)):
            parts.append(_parameter(copy, f"{what}-of-{_identifier(name)}", first))
            indices[what].append(len(copy.parameters) - 1)
        f, f1, f2 = parts
        drive = copy.add(
            Drive(_unused_name(copy, f"drive-of-{_identifier(name)}"), joint, f + since * (f1 + since * f2 / 2), k)
        )  # (1)
        rows.append(f"{drive.name}[0]")
    problem = Problem(copy, [], (), parameters, formulation)
    return DrivenModel(copy, [*own_drives, *names], rows, problem, indices)


def _start_value(joint, k, values):
    """The coordinate with which a joint starts."""
    return 0.0 if joint.start is None else float(quantity.numbers(joint.start[k], values).ravel()[0])


def _identifier(name):
    """The name with all characters that names must not have replaced by "-"."""
    return "".join(c if c.isalnum() or c in "_-" else "-" for c in name)


def _unused_name(model, name):
    """The name, extended by "-" until no element of the model has it."""
    while name in model:
        name += "-"
    return name


def _parameter(model, name, value):
    """A new parameter of the model."""
    return model.parameter(_unused_name(model, name), value)
