"""A formulation is derived once and never changed: kernels of a choice come from a copy."""

from dataclasses import replace

import pytest
from models import pendulum

import torsor as ts
from torsor.prepare.prepare import prepare

CHOSEN = ("keep", "released", "dependent", "metric", "scales", "shares")


def chosen(f):
    return [repr(getattr(f, name)) for name in CHOSEN]


@pytest.mark.parametrize("key", sorted(ts.registered("formulation")))
def test_a_choice_leaves_the_formulation_as_it_is(key):
    model = pendulum()
    choice = replace(prepare(model, key)[0].choice, metric="plain", unit=4.0)
    f = ts.registered("formulation")[key](model)
    parts = [f, f.all_rows]
    before = [chosen(each) for each in parts]
    twin = f.with_choice(choice)
    twin.functions()
    assert (twin.metric, twin.scales.length, twin.all_rows.scales.length) == ("plain", 4.0, 4.0)
    assert [chosen(each) for each in parts] == before
    assert f.all_rows is parts[1]
