"""Coordinates that are driven: how they move, and a twin of a model in which they do.

    f(t) = f₀ + f₁ (t − t₀) + ½ f₂ (t − t₀)²                                                            (1)

The twin has a `ts.Drive` for each of them whose motion is (1), with t₀, f₀, f₁ and f₂ as parameters. Whatever a motion is made
of, at one instant it is three numbers: one set of kernels serves all motions, and all instants side by side.
"""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from ..describe import quantity
from ..describe.checks import smooth
from ..describe.element import fill_in
from ..describe.model import Model
from ..errors import AssemblyError, ModelError, OptionError
from ..joints.imposed import Drive, of_time
from ..start.continuity import refuse_jumps_of
from .problem import Problem
from .spline import Spline
from .targets import coordinate_of, target

ALIKE = 1e-9  # rad, or the size of the model: coordinates that are the same


class Motions:
    """Values, rates and accelerations of driven coordinates over x, which is the time or the place in a sweep.

    names   of the coordinates
    """

    def __init__(self, functions):
        self.names, self._functions = list(functions), list(functions.values())

    def __call__(self, x):
        """f, ḟ, f̈: arrays (len(x), coordinates)."""
        x = np.asarray(x, float)
        found = [function(x) for function in self._functions]
        return tuple(np.array([part[k] for part in found]).T.reshape(len(x), len(found)) for k in range(3))


def motions(model, drives, times, rates=None, accelerations=None):
    """The motions that are given for coordinates: numbers, arrays over the times, expressions or functions of time."""
    for what, given in (("rates", rates), ("accelerations", accelerations)):
        unknown = [name for name in given or {} if name not in drives]
        if unknown:
            raise OptionError(f"{what}: {unknown[0]!r} is not driven. Driven: {', '.join(drives) or 'none'}")
    functions = {}
    for name, given in drives.items():
        coordinate_of(model, name, "drives")
        more = [(other or {}).get(name) for other in (rates, accelerations)]
        functions[name] = _function(name, given, times, more)
    return Motions(functions)


def _function(name, given, times, more):
    """One motion as a function of an array of times."""
    if callable(given) or isinstance(given, ca.SX):
        if any(x is not None for x in more):
            raise OptionError(f"drives: rates and accelerations of {name!r} follow from the expression that is given")
        return _of_expression(name, given, times)
    values = _numbers(name, given, len(times), "values")
    if len(times) > 1 and not (np.diff(times) > 0).all():
        raise OptionError("times must increase")
    spline = Spline(times, values)
    if all(x is None for x in more):
        return spline
    parts = [None if x is None else _numbers(name, x, len(times), "rates and accelerations") for x in more]

    def at(x):
        found = list(spline(x))
        for k, part in enumerate(parts):
            found[k + 1] = found[k + 1] if part is None else np.interp(x, times, part)
        return tuple(found)

    return at


def _of_expression(name, given, times):
    """An expression of time with its derivatives; smooth from the first of the times to the last."""
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
        refuse_jumps_of(owner, f, *(float(times[k]) for k in (0, -1)))
    except ModelError as error:
        raise OptionError(str(error)) from None
    rate = ca.jacobian(f, quantity.time)
    all_three = ca.Function("motion", [quantity.time], [f, rate, ca.jacobian(rate, quantity.time)])

    def at(x):
        found = (
            tuple(np.array(part, float).ravel() + 0 * x for part in all_three.map(len(x))(x[None, :]))
            if len(x)
            else (x, x, x)
        )
        if not all(np.isfinite(part).all() for part in found):
            raise OptionError(f"drives: the motion of {name!r} or a derivative of it is not a number at some time")
        return found

    return at


def _numbers(name, given, count, what):
    try:
        values = quantity.reals(given)
    except Exception:  # whatever a stranger's class raises when it is asked for numbers
        values = np.array(np.nan)
    fine = (np.abs(values) <= quantity.FARTHEST).all()
    if values.ndim == 0 and fine:
        return np.full(count, float(values))
    if values.shape != (count,) or not fine:
        raise OptionError(
            f"drives: {what} of {name!r} must be {count} finite numbers, one for each time, an expression of ts.time or a function "
            f"of it, got {quantity.show(given) if values.ndim == 0 else f'an array of shape {values.shape}'}"
        )
    return values


@dataclass
class Driven:
    """A twin of a model in which coordinates are driven.

    names     of the coordinates that are driven, those that the model drives itself included
    rows      labels of the rows whose multipliers are the forces of the drives
    """

    model: Model
    names: list[str]
    rows: list[str]
    problem: Any
    _places: dict = field(default_factory=dict)

    def inputs(self, t, f, f1, f2):
        """p for each instant: arrays (instants, coordinates)."""
        p = np.repeat(self.problem.dynamics.p[None, :], len(t), axis=0)
        p[:, self._places["instant"]] = t[:, None]
        for what, values in (("value", f), ("rate", f1), ("acceleration", f2)):
            p[:, self._places[what]] = values
        return p

    def described(self, values):
        """Whether it starts with the coordinates that its joints are described with."""
        found = np.array([*self.problem.started().values()])
        told = [_start(joint, k, values) for joint in self.model.joints for k in range(joint.dof)]
        return bool((np.abs(found - told) <= ALIKE * min(1.0, self.problem.length)).all())

    @property
    def turns(self):
        """Where the angles stand in p that turns are counted of."""
        return slice(len(self.model.inputs), None)


def driven(model, names, signals=None, parameters=None, formulation=None, at=None):
    """The twin in which these coordinates are driven, kept with the model where it is as plain as that.

    signals   to record besides, as `look/recorded.py` has them
    at        coordinates of joints at which it starts, by name; None: as the model does
    """
    if signals or at:
        return _begun(model, names, signals, parameters, formulation, at)
    known, key = model.derived.setdefault("driven", {}), (*names, *model.values(parameters).items(), formulation)
    if key not in known:
        known[key] = _begun(model, names, signals, parameters, formulation, at)
    return known[key]


def _begun(model, names, signals, parameters, formulation, at):
    """The twin where it shall start. A model whose parts have to be moved to fit together starts with other coordinates than they
    are described with, of which its own assembly tells."""
    if not at:
        try:
            twin = _twin(model, names, signals, parameters, formulation, None)
            if twin.described(model.values(parameters)):
                return twin
        except AssemblyError:
            pass  # with the driven coordinates as they are described, which need not be those of the start
        at = Problem(model, [], (), parameters, formulation).started()
    return _twin(model, names, signals, parameters, formulation, at)


def _twin(model, names, signals, parameters, formulation, at):
    own = [c for c in model.constraints if isinstance(c, Drive) and c.acts is not False]
    label = lambda joint, k: joint.name if joint.dof == 1 else f"{joint.name}[{k}]"
    known = {label(c.joint, c.index): c.name for c in own}
    for name in names:
        if name in known:
            raise OptionError(f"drives: {name!r} is driven by {known[name]!r} of the model already")
    twin = deepcopy(model)
    dict.update(twin.signals, signals or {})
    values = model.values(parameters)
    for joint in twin.joints if at else ():
        if joint.dof:
            fill_in(joint, start=np.array([at[label(joint, k)] for k in range(joint.dof)]))
    instant = _parameter(twin, "instant", 0.0)
    places: dict[str, list[int]] = {"instant": [len(twin.parameters) - 1], "value": [], "rate": [], "acceleration": []}
    since, rows = quantity.time - instant, [f"{c.name}[0]" for c in own]
    for name in names:
        joint, k = target(twin, name, {}).turns
        parts = []
        for what, first in (("value", _start(joint, k, values)), ("rate", 0.0), ("acceleration", 0.0)):
            parts.append(_parameter(twin, f"{what}-of-{_plain(name)}", first))
            places[what].append(len(twin.parameters) - 1)
        f, f1, f2 = parts
        drive = twin.add(
            Drive(_free(twin, f"drive-of-{_plain(name)}"), joint, f + since * (f1 + since * f2 / 2), k)
        )  # (1)
        rows.append(f"{drive.name}[0]")
    problem = Problem(twin, [], (), parameters, formulation)
    return Driven(twin, [*known, *names], rows, problem, places)


def _start(joint, k, values):
    """The coordinate with which a joint starts."""
    return 0.0 if joint.start is None else float(quantity.numbers(joint.start[k], values).ravel()[0])


def _plain(name):
    return "".join(c if c.isalnum() or c in "_-" else "-" for c in name)


def _free(model, name):
    """A name that nothing has."""
    while name in model:
        name += "-"
    return name


def _parameter(model, name, value):
    return model.parameter(_free(model, name), value)
