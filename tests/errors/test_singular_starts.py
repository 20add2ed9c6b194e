"""A run that fails since it starts in a singular position says so, and names the elements that make it singular."""

import numpy as np
import pytest

import torsor as ts
from torsor.formulations.absolute import Absolute
from torsor.start.constraints import Examiner
from torsor.start.model_start import given_start
from torsor.start.singular_positions import singular_elements


def taut_row(n=4):
    """Particles on rods in a straight line between two fixed points, each with another one that hangs on it."""
    model = ts.Model("row", gravity=(0, 0, -9.81))
    row = [model.body(f"b{k}", mass=0.1, inertia=0, at=(k, 0, 0)) for k in range(n)]
    for k in range(n - 1):
        model.add(ts.Distance(f"x{k}", row[k], row[k + 1]))
    for k in range(n):
        model.add(ts.Distance(f"y{k}", row[k], model.body(f"h{k}", mass=0.1, inertia=0, at=(k, 0, -1))))
    for name, body, x in (("c0", row[0], 0), ("c1", row[-1], n - 1)):
        model.add(ts.Spherical(name, model.ground, body, point=(x, 0, 0)))
    return model


def bars(n=3, lift=0.0):
    """Bars between two hinges that stand as far apart as the bars are long, or closer by a bend."""
    model = ts.Model("bars", gravity=(0, 0, -9.81))
    points = [np.array((k, 0.0, lift * (k == 1))) for k in range(n + 1)]
    last = model.ground
    for k in range(n):
        body = model.body(f"b{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(points[k] + points[k + 1]) / 2)
        model.add(ts.Revolute(f"h{k}", last, body, point=points[k], axis="y"))
        last = body
    model.add(ts.Revolute("end", last, model.ground, point=points[n], axis="y"))
    return model


def elements(model):
    f = Absolute(model)
    start = given_start(f, 0.0, model.values({}))
    return singular_elements(Examiner(f, start.scales), 0.0, start.q, start.p)


def test_positions_are_singular_where_constraints_depend_on_each_other_to_first_order_only():
    """Redundant ones depend on each other for good: those of plane loops, of Bricard's mechanism, and twins."""
    assert elements(taut_row(4)) == ["x0", "x1", "x2", "c0", "c1"]
    assert elements(bars(2)) == ["h0", "h1", "end"] and elements(bars(3)) == ["h0", "h1", "h2", "end"]
    assert elements(bars(2, lift=0.3)) == [] and elements(bars(3, lift=0.3)) == []
    for case in ("bricard", "four-bar", "slider-crank"):
        assert elements(ts.cases.load(case)) == [], case
    twins = bars(3, lift=0.3)
    twins.add(ts.Revolute("twin", twins.ground, twins["b0"], point=(0, 0, 0), axis="y"))
    assert elements(twins) == []


def test_a_taut_row_says_that_it_is_singular_and_where():
    for run in (lambda: ts.simulate(taut_row(), 0.02), lambda: ts.Simulation(taut_row()).advance(0.02)):
        with pytest.raises(ts.RunError, match="the start is singular: x0, x1, x2, c0, c1 permit motions"):
            run()


@pytest.mark.parametrize("formulation", ["relative", "woronetz", "hierarchical", "hamiltonian"])
def test_taut_bars_say_so_in_every_form(formulation):
    with pytest.raises(ts.RunError, match="the start is singular: h0, h1, end permit motions") as caught:
        ts.simulate(bars(2), 0.02, outputs=2, formulation=formulation)
    assert "prescribed" not in str(caught.value)


def test_a_singular_start_is_told_beside_a_lost_energy_balance():
    with pytest.warns(ts.AccuracyWarning, match="energy balance is lost .* the start is singular: h0, h1, h2, end"):
        ts.simulate(bars(3), 0.001, outputs=2, formulation="absolute")


def test_constraints_that_contradict_each_other_are_still_called_so():
    model = ts.Model("driven")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    hinge = model.add(ts.Revolute("hinge", model.ground, body, axis="z"))
    model.add(ts.Drive("one", hinge, value=ts.time**2))
    model.add(ts.Drive("two", hinge, value=ts.time**3))
    with pytest.raises(ts.TorsorError, match="contradictory") as caught:
        ts.simulate(model, 1.0)
    assert "singular" not in str(caught.value)
