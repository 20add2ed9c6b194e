"""Numbers of every kind that Python knows, wherever a number is expected: taken as what they are, or refused."""

import datetime
import decimal
import fractions
from dataclasses import fields

import casadi as ca
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import torsor as ts
from torsor.elements import quantity


class Stranger:
    """A class that fails in every way when it is asked for numbers."""

    def __array__(self, *_, **__):
        raise KeyError("no numbers here")

    __float__ = __repr__ = __array__


def endless():
    inside = []
    inside.append(inside)
    return inside


REAL = {
    "long double": np.longdouble(1.5),
    "half": np.float16(1.5),
    "byte": np.uint8(1),
    "zero-dimensional": np.array(1.5),
    "decimal": decimal.Decimal("1.5"),
    "fraction": fractions.Fraction(3, 2),
    "long doubles": np.array([1.5, 0, 0], np.longdouble),
    "series": pd.Series([1.5, 0, 0]),
    "labelled": xr.DataArray([1.5, 0, 0]),
    "objects": np.array([1.5, np.longdouble(0), 0], object),
    "unmasked": np.ma.array([1.5, 0, 0]),
    "list of long doubles": [np.longdouble(1.5), 0, 0],
}
NONE = {
    "complex": 1j,
    "long complex": np.clongdouble(1),
    "complex array": np.array([1j, 0, 0]),
    "date": np.datetime64("2020-01-01"),
    "dates": np.array([1, 2, 3], "datetime64[s]"),
    "span": np.timedelta64(3, "s"),
    "datetime": datetime.datetime(2020, 1, 1),
    "text": "1.0",
    "texts": np.array(["1", "2", "3"]),
    "bytes": b"1",
    "huge": 10**400,
    "huge long double": np.longdouble("1e4000"),
    "masked": np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]),
    "nothing": [None, None, None],
    "missing": pd.NA,
    "no time": pd.NaT,
    "truth": np.bool_(True),
    "truths": np.array([True, False, True]),
    "mapping": {},
    "set": {1, 2, 3},
    "generator": (x for x in (1, 2, 3)),
    "record": np.zeros(3, [("a", float)]),
    "cube": np.zeros((2, 2, 2)),
    "matrix expression": ca.MX.sym("x"),
    "infinite": float("inf"),
    "stranger": Stranger(),
    "endless": endless(),
    "type": float,
}


def scene():
    model = ts.Model("scene", hints=False)
    first = model.body("first", mass=1, inertia=(1, 1, 1))
    second = model.body("second", mass=1, inertia=(1, 1, 1), at=(1, 0, 0))
    joint = model.add(ts.Revolute("joint", model.ground, first, axis=(0, 1, 0)))
    named = {"first": first, "second": second, "body": first, "joint": joint}
    return model, named | dict.fromkeys(("other", "on", "connection"), joint)


def entrances(odd):
    """Calls that give `odd` where a number, or three, are expected."""
    model, things = scene()
    body = lambda **given: ts.Model("m").body("b", **{"mass": 1, "inertia": (1, 1, 1), **given})
    for name in ("mass", "inertia", "at", "rotation", "velocity", "angular_velocity"):
        yield f"body {name}", lambda name=name: body(**{name: odd})
    yield "gravity", lambda: ts.Model("m", gravity=odd)
    yield "parameter", lambda: ts.Model("m").parameter("p", odd)
    yield "signal", lambda: ts.Model("m").signal("s", odd)
    yield "ground", lambda: ts.Ground("g", at=odd)
    yield "point", lambda: things["first"].point(odd)
    yield "record", lambda: model.when(model.time >= 1, ts.record("r", odd))
    yield "restitution", lambda: model.when(model.time >= 1, ts.strike(things["joint"], restitution=odd))
    yield "rising", lambda: ts.rising(odd)
    yield "sphere", lambda: ts.inertia.sphere(odd, odd)
    yield "include", lambda: model.include("i", ts.Model("k"), at=odd)
    for name in ("until", "outputs", "step", "tolerance"):
        yield name, lambda name=name: ts.simulate(ts.Model("m"), **{"until": 1.0, name: odd})
    yield "simulated signal", lambda: ts.simulate(ts.Model("m"), 1.0, signals={"s": odd})
    yield "value of a parameter", lambda: ts.simulate(ts.Model("m"), 1.0, parameters={"p": odd})


@pytest.mark.parametrize("odd", [*REAL.values(), *NONE.values()], ids=[*REAL, *NONE])
def test_an_odd_number_is_taken_or_refused_and_never_ends_in_a_raw_error(odd):
    for what, call in entrances(odd):
        try:
            call()
        except ts.TorsorError:
            continue
        assert any(odd is real for real in REAL.values()), f"{what} takes it"


SOME = ("long double", "long doubles", "complex array", "date", "stranger")


@pytest.mark.parametrize("odd", [(REAL | NONE)[name] for name in SOME], ids=SOME)
def test_elements_take_or_refuse_odd_numbers_in_every_field(odd):
    for kind in ("joint", "constraint", "force", "rule"):
        for cls in filter(lambda cls: cls.variants, ts.registered(kind).values()):
            for field in fields(cls)[1:]:  # all but the name
                model, things = scene()
                variant = cls.variants[0]
                given = {f.name: things[f.name] for f in fields(cls) if f.name in things}
                given |= variant(things) if callable(variant) else variant
                try:
                    model.add(cls(**{**given, "name": "x", field.name: odd}))
                except ts.TorsorError:
                    pass


@pytest.mark.parametrize("value", REAL.values(), ids=REAL)
def test_real_numbers_of_any_kind_mean_the_same(value):
    plain = [float(x) for x in np.ravel(np.asarray(value, float))]
    assert quantity.numbers(quantity.matrix(value)).ravel().tolist() == plain
    model = ts.Model("m")
    body = model.body(
        "b", mass=value if len(plain) == 1 else 1.0, inertia=(1, 1, 1), at=value if len(plain) == 3 else (0, 0, 0)
    )
    assert quantity.numbers(body.mass).item() == (plain[0] if len(plain) == 1 else 1.0)
    data = ts.simulate(model, 0.1, outputs=1, signals={"s": value})
    assert [float(data[name][0]) for name in data.data_vars if name[0] == "s" and name[1:2] in ("", "[")] == plain
