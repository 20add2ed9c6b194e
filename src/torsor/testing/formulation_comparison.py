"""The same mechanism described in two ways moves in the same way: in other formulations, and at another place."""

from typing import Any

import casadi as ca
import numpy as np

from .. import formulations as _formulations  # noqa: F401  (they register themselves)
from ..elements import quantity
from ..elements.quantity import Rotation, Vector
from ..errors import OptionError, TorsorError
from ..model.model import Model
from ..registry import registered
from .results_of import fraction, model_of, run_of, scales, where
from .test_bench import _gravity


class NothingToCompare(AssertionError):
    """Only one formulation can carry a model."""


def assert_same_motion(one: Any, two: Any, within: float = 1e-6, words: str = "two runs"):
    """Two results show the same motion of the same bodies: positions to a fraction `within` of the size of the model, rotations
    to that angle [rad], velocities to that fraction of the largest speed; and the same events at the same times."""
    allowed = fraction(within)
    bodies, times = [str(x) for x in one.body.values], one.time.values
    if bodies != [str(x) for x in two.body.values]:
        raise AssertionError(
            f"{words}: they have other bodies: {', '.join(bodies)} and {', '.join(map(str, two.body.values))}"
        )
    if times.shape != two.time.shape or not np.array_equal(times, two.time.values):
        raise AssertionError(
            f"{words}: they have other output times; the last ones are {times[-1]} and {two.time.values[-1]} s"
        )
    happened = [list(map(str, x.event_name.values)) if "event_name" in x else [] for x in (one, two)]
    if happened[0] != happened[1]:
        raise AssertionError(f"{words}: other events happen: {_list_names(happened[0])} and {_list_names(happened[1])}")
    for what, off, bound, unit in _differences(one, two):
        worst, time, (body,) = where(off, times, bodies)
        if not worst <= allowed * bound:
            raise AssertionError(
                f"{words}: {what} of body {body!r} differs by {worst:.3g} {unit} at t = {time:.4g} s, {worst / bound:.1e} of what "
                f"it is measured against ({bound:.3g} {unit}); allowed {allowed:.0e}"
            )
    if happened[0]:
        off = np.abs(one.event_time.values - two.event_time.values)
        k = int(np.argmax(off))
        if not off[k] <= allowed * times[-1]:
            raise AssertionError(
                f"{words}: event {happened[0][k]!r} happens {off[k]:.3g} s apart, allowed {allowed * times[-1]:.0e} s"
            )
    return one


def _list_names(names, most=6):
    return (", ".join(names[:most]) + (" …" if len(names) > most else "")) or "none"


def _differences(one, two):
    """What is compared: name, differences (time, body), what they are measured against, unit."""
    length, speed, spin = (max(a, b) for a, b in zip(scales(one)[:3], scales(two)[:3]))
    apart = lambda name: np.linalg.norm(one[name].values - two[name].values, axis=-1)
    turned = np.linalg.norm(one.rotation.values - two.rotation.values, axis=(-2, -1))
    yield "position", apart("position"), length, "m"
    yield "orientation", 2 * np.arcsin(np.minimum(1.0, turned / np.sqrt(8.0))), 1.0, "rad"
    yield "velocity", apart("velocity"), speed, "m/s"
    yield "angular velocity", apart("angular_velocity"), spin, "rad/s"


def assert_formulations_agree(
    source: Any,
    until: float | None = None,
    formulations: list[str] | tuple[str, ...] | None = None,
    within: float = 1e-6,
    **options: Any,
):
    """Two formulations at least give the same motion. They are derived in different ways, so that a joint whose equations do not
    fit its free motions, or a redundancy that is taken away wrongly, shows.

    formulations   keys; None: all that are registered and can carry the model, two at least
    source         a model or a case; within: as in `assert_same_motion`; options: of `simulate`

    Returns the result of the first formulation. Its attribute `compared` names those that agree.
    """
    model, ends = model_of(source)
    wanted = list(registered("formulation") if formulations is None else formulations)
    if len(wanted) < 2 or isinstance(formulations, str):
        raise OptionError(f"formulations: give two keys or more, got {quantity.show(formulations)}")
    runs, refused = {}, {}
    for key in wanted:
        try:
            runs[key] = run_of(model, ends if until is None else until, {**options, "formulation": key})
        except TorsorError as error:
            if formulations is not None or key == "absolute":
                raise
            refused[key] = str(error)
    first, *others = runs
    if not others:
        reasons = "; ".join(dict.fromkeys(refused.values()))
        raise NothingToCompare(f"formulations of {model.name!r}: nothing to compare {first!r} with. {reasons}")
    for key in others:
        assert_same_motion(runs[first], runs[key], within, f"{model.name!r} in {first!r} and in {key!r}")
    return runs[first].assign_attrs(compared=", ".join(runs))


def assert_placement(
    component: Any,
    until: float | None = None,
    at: Vector | None = None,
    rotation: Rotation = (0.4, -0.3, 0.8),
    within: float = 1e-6,
    parameters: dict | None = None,
    **options: Any,
):
    """A component means the same wherever it is: inside a larger model, two levels down, placed and turned, next to another one of
    its kind, it moves as it does alone. What it says about the world (forces, motions, signals) turns with it; so does gravity
    here. A component that speaks of anything but its own world breaks this.

    component      a model or a case
    at, rotation   where its world is; unless given, some lengths of the model away, so that no digits are lost
    within         as in `assert_same_motion`

    Returns the result of the component alone.
    """
    model, ends = model_of(component)
    until = ends if until is None else until
    alone = run_of(model, until, {**options, "parameters": parameters})
    R = np.asarray(quantity.numbers(quantity.rotation_matrix(rotation, "rotation", "placement")))
    length = float(alone.attrs["model_length"])
    at = (length, -2 * length, 0.5 * length) if at is None else at
    shift = np.asarray(quantity.numbers(quantity.vector(at, "at", "placement"))).ravel()
    # one turn inside the other, R = (R Qᵀ) Q, and likewise the shifts
    Q = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    box = Model("box", hints=False)
    box.include("part", model, at=-shift, rotation=Q)
    outer = Model("surroundings", gravity=ca.SX(R) @ _gravity(model), hints=False)
    outer.include("box", box, at=shift + R @ Q.T @ shift, rotation=R @ Q.T)
    outer.include("other", model, at=shift + 10 * length, rotation=R)
    values = {f"{place}.{name}": x for name, x in (parameters or {}).items() for place in ("box.part", "other")}
    data = run_of(outer, until, {**options, "parameters": values})
    turns = np.array([np.eye(3) if body.particle else R for body in model.bodies])
    expected, found = _turn_world(alone, R, shift, turns), _instance(data, "box.part.", alone.body.values)
    assert_same_motion(expected, found, within, f"{model.name!r} alone and inside another model")
    return alone


def _turn_world(data, R, shift, turns):
    """A result as it is seen in a world in which the model is turned and shifted; turns: of each body, since a particle has no
    orientation."""
    return data.assign(
        position=(data.position.dims, data.position.values @ R.T + shift),
        velocity=(data.velocity.dims, data.velocity.values @ R.T),
        rotation=(data.rotation.dims, turns @ data.rotation.values),
    )


def _instance(data, prefix, bodies):
    """The part of a result that belongs to one instance, under the names of its parts alone."""
    found = data.sel(body=[prefix + name for name in bodies]).assign_coords(body=bodies)
    if "event" not in data.dims:
        return found
    own = [k for k, name in enumerate(data.event_name.values) if str(name).startswith(prefix)]
    names = [str(name).removeprefix(prefix) for name in data.event_name.values[own]]
    return found.isel(event=own).assign(event_name=("event", np.array(names, str)))
