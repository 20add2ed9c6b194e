"""Signals in plain Python: what works, and what is refused with what to write instead. Names where numbers are meant."""

import math
import operator

import casadi as ca
import numpy as np
import pytest

import torsor as ts

VALUES = {"a": 0.7, "b": -0.4}


def scene():
    model = ts.Model("scene")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1), velocity=(VALUES["a"], VALUES["b"], 0), at=(1, 2, 2))
    return model, body.velocity[0], body.velocity[1], body


REFUSED = {
    "max": lambda a, b: max(a, b),
    "min": lambda a, b: min(a, 0),
    "if": lambda a, b: a if a > 0 else b,
    "and": lambda a, b: a > 0 and b > 0,
    "or": lambda a, b: a > 0 or b > 0,
    "not": lambda a, b: not a > 0,
    "chain": lambda a, b: 0 < a < 1,
    "math.sin": lambda a, b: math.sin(a),
    "math.sqrt": lambda a, b: 2 * math.sqrt(a + b),
    "float": lambda a, b: float(a),
    "sorted": lambda a, b: sorted([a, b]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_ask_a_signal_for_its_value_says_what_to_write(name):
    _, a, b, _ = scene()
    with pytest.raises(ts.ModelError, match=r"casadi.fmax\(a, b\) for max.*casadi.if_else.*numpy.sin\(a\)"):
        REFUSED[name](a, b)


FUNCTIONS = ["sin", "cos", "tan", "arctan", "exp", "tanh", "abs", "sign", "floor", "sqrt", "square", "negative"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numpy_functions_of_signals_are_those_functions(name):
    model, a, _, _ = scene()
    data = ts.simulate(model, 0.1, outputs=1, signals={"s": getattr(np, name)(a)})
    np.testing.assert_allclose(data.s.values, getattr(np, name)(VALUES["a"]), rtol=1e-12)


PAIRS = {
    "maximum": (np.maximum, max),
    "minimum": (np.minimum, min),
    "fmax": (ca.fmax, max),
    "fmin": (ca.fmin, min),
    "arctan2": (np.arctan2, math.atan2),
    "hypot": (np.hypot, math.hypot),
    "if_else": (lambda a, b: ca.if_else(a > b, a, b), max),
    "where": (lambda a, b: np.where(a > b, 1.0, 2.0), lambda a, b: 1.0 if a > b else 2.0),
    "clip": (lambda a, b: np.clip(a, 0, 0.5), lambda a, b: 0.5),
    "abs": (lambda a, b: abs(b), lambda a, b: abs(b)),
    "and": (lambda a, b: ca.logic_and(a > 0, b > 0), lambda a, b: float(a > 0 and b > 0)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_functions_of_two_signals_are_those_functions(name):
    model, a, b, _ = scene()
    of_signals, of_numbers = PAIRS[name]
    data = ts.simulate(model, 0.1, outputs=1, signals={"s": of_signals(a, b)})
    np.testing.assert_allclose(data.s.values, of_numbers(*VALUES.values()), rtol=1e-12)


def test_vectors_of_signals_in_numpy():
    model, _, _, body = scene()
    x = body.position
    told = {"norm": np.linalg.norm(x), "square": np.dot(x, x), "z": np.cross(x, (0, 1, 0))[2], "total": np.sum(x)}
    data = ts.simulate(model, 0.1, outputs=[0.0], signals=told)
    np.testing.assert_allclose([data[k].item() for k in told], [3, 9, 1, 5], rtol=1e-12)


def test_a_signal_of_a_model_may_be_a_vector():
    """It is recorded by its components, and serves as an expression; also in a component."""
    part = ts.Model("part")
    body = part.body("body", mass=1.0, inertia=(1, 1, 1), at=(1, 2, 3), velocity=(0.1, 0.2, 0.3))
    place = part.signal("place", body.position)
    part.signal("pair", [body.position[0], 2 * body.position[2]])
    part.signal("far", np.linalg.norm(place))
    assert part["place"].shape == (3, 1) and list(part.signals) == [
        "place[0]",
        "place[1]",
        "place[2]",
        "pair[0]",
        "pair[1]",
        "far",
    ]
    model = ts.Model("whole")
    model.include("left", part, at=(1, 0, 0))
    for built, prefix, shift in ((part, "", 0.0), (model, "left.", 0.0)):
        data = ts.simulate(built, 1.0, outputs=[1.0])
        got = [data[f"{prefix}{name}"].item() for name in ("place[0]", "place[2]", "pair[1]")]
        np.testing.assert_allclose(got, [1.1 + shift, 3.3, 6.6], atol=1e-12)  # a component speaks of its own world
    assert model["left.place"].shape == (3, 1) and model["left"]["place"].shape == (3, 1)
    with pytest.raises(ts.ModelError, match="signal 'none'.*must be an expression"):
        part2 = ts.Model("other")
        part2.signal("none", [])


AXES = {
    "x": (1, 0, 0),
    "y": (0, 1, 0),
    "z": (0, 0, 1),
    "-x": (-1, 0, 0),
    "-y": (0, -1, 0),
    "-z": (0, 0, -1),
    "+y": (0, 1, 0),
}
NAMED = [key for key, cls in ts.registered("joint").items() if "axis" in cls.__dataclass_fields__]
NORMAL = [
    cls
    for kind in ("joint", "constraint")
    for cls in ts.registered(kind).values()
    if {"first", "normal"} <= set(cls.__dataclass_fields__)
]


def moving(cls, **options):
    """Where a body is after a push, on a connection."""
    model = ts.Model("push", gravity=(0.3, -0.5, -1.0))
    body = model.body("body", mass=1.0, inertia=(0.1, 0.2, 0.25), at=(0.2, 0.1, 0.4))
    model.add(cls("it", model.ground, body, **options))
    return ts.simulate(model, 0.2, outputs=2).position.values


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("key", NAMED)
def test_axes_may_be_named(key, axis):
    cls = ts.registered("joint")[key]
    second = {"second_axis": np.roll(AXES[axis], 1)} if key == "universal" else {}
    np.testing.assert_allclose(moving(cls, axis=axis, **second), moving(cls, axis=AXES[axis], **second), atol=1e-13)


def test_there_are_joints_with_axes_and_constraints_with_normals():
    assert {"revolute", "prismatic", "cylindrical"} <= set(NAMED) and ts.PointOnPlane in NORMAL and ts.Contact in NORMAL


def _rows(told):
    return told.velocity if told.position is None else told.position


@pytest.mark.parametrize("cls", NORMAL)
def test_normals_may_be_named(cls):
    scene = ts.Model("scene")
    body = scene.body("body", mass=1.0, inertia=(1, 1, 1))
    for name, numbers in (("z", (0, 0, 1)), ("-x", (-1, 0, 0))):
        further = {"axis": "y", "clearance": 0.1}
        wheel = {what: x for what, x in further.items() if what in cls.__dataclass_fields__}
        one, two = (cls("it", scene.ground, body, normal=n, **wheel).attach() for n in (name, numbers))
        rows = [ca.vertcat(*x.gaps()) if hasattr(x, "gaps") else _rows(x.equations()) for x in (one, two)]
        assert ca.is_equal(*rows, 50)


@pytest.mark.parametrize("wrong", ["w", "xy", "", "--x", "X "])
def test_an_axis_that_is_none_is_refused(wrong):
    model = ts.Model("m")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(ts.ModelError, match="axis must be 3 numbers, or 'x'"):
        model.add(ts.Revolute("it", model.ground, body, axis=wrong))


def test_no_rotation_takes_names_of_axes():
    scene = ts.Model("scene")
    body = scene.body("body", mass=1.0, inertia=(1, 1, 1))
    for about, vectors in (("x", [(1, 0, 0)]), (("x", "-y"), [(1, 0, 0), (0, -1, 0)])):
        found = ts.NoRotation("it", scene.ground, body, about=about).vectors()
        np.testing.assert_array_equal([np.array(ca.DM(v)).ravel() for v in found], vectors)


def test_gravity_may_be_none():
    model = ts.Model("m", gravity=None)
    model.body("body", mass=1.0, inertia=(1, 1, 1))
    assert np.abs(ts.simulate(model, 1.0, outputs=1).position.values).max() == 0.0
    model = ts.Model("m", gravity=(0, 0, -1))
    model.gravity = None
    assert ca.DM(model.gravity).is_zero()


@pytest.mark.parametrize(
    "kind",
    ["formulation", "integrator", "projection", "joint", "constraint", "force", "case", "backend", "group", "action"],
)
def test_every_kind_is_known_before_anything_is_used(kind):
    import subprocess
    import sys

    code = f"import torsor as ts; a = set(ts.registered({kind!r})); assert a and a == set(ts.registered({kind!r}));"
    code += "assert set(ts._LAZY) <= set(dir(ts)); print(sorted(a))"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert told.strip() == str(sorted(ts.registered(kind)))


def test_an_unknown_kind_is_refused():
    with pytest.raises(ts.OptionError, match="unknown kind 'joints'. Known: .*formulation"):
        ts.registered("joints")


def test_a_description_may_grow_after_it_was_looked_at():
    model, _, _, body = scene()
    ts.info(model)
    model.add(ts.PointForce("push", body, force=(1, 0, 0)))
    model.gravity = (0, 0, -1.0)
    assert len(ts.info(model)["forces"]) == 1
    data = ts.simulate(model, 1.0, outputs=[1.0])
    np.testing.assert_allclose(data.position.values[0, 0], [1 + VALUES["a"] + 0.5, 2 + VALUES["b"], 1.5], atol=1e-9)
    with pytest.raises(ts.ModelError, match="has been compiled"):
        model.body("late", mass=1.0, inertia=1.0)


OPERATORS = [getattr(operator, x) for x in ("add", "sub", "mul", "truediv", "pow", "lt", "le", "gt", "ge", "eq", "ne")]


@pytest.mark.parametrize("operation", [*OPERATORS, np.add, np.maximum, np.arctan2], ids=lambda f: f.__name__)
def test_long_doubles_are_numbers_for_signals(operation):
    """On either side, alone or in an array; CasADi by itself ends the interpreter."""
    _, a, _, _ = scene()
    at = lambda expression: ca.Function("f", [a], [expression])(0.7).full().ravel()
    for two in (np.longdouble(2), np.array([2, 3], np.longdouble)):
        np.testing.assert_allclose(at(operation(a, two)), operation(0.7, np.asarray(two, float)))
        np.testing.assert_allclose(at(operation(two, a)), operation(np.asarray(two, float), 0.7))
