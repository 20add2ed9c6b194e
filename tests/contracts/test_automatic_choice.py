"""`formulation="auto"`: what is taken for which kind of model, that it is said, and that nothing else depends on it."""

import inspect
import json

import numpy as np
import pytest

import torsor as ts
from torsor.cli import status_of
from torsor.formulations.relative import Relative
from torsor.prepare import cost
from torsor.prepare.auto_formulation import choose

I = (0.01, 0.013, 0.017)
PARTS = ["formulation", "formulation_reason"]


def chain(n, joint=ts.Revolute, held=True, **more):
    """n links in a row, on the ground or on a base that floats."""
    model = ts.Model("chain", gravity=(0, 0, -9.81))
    last = model.ground if held else model.body("base", mass=3.0, inertia=I, at=(-0.5, 0, 0))
    for k in range(n):
        link = model.body(f"link{k}", mass=1.0, inertia=I, at=(k + 0.5, 0, 0))
        model.add(joint(f"joint{k}", last, link, point=(k, 0, 0), **more))
        last = link
    return model


def hinges(n, **more):
    return chain(n, axis=(0, 1, 0), **more)


def ladder(n):
    """A spatial net: two legs of balls and rungs between them, n loops."""
    model = ts.Model("ladder", gravity=(0, 0, -9.81))
    ends = [model.ground, model.ground]
    for k in range(n):
        legs = [model.body(f"leg{k}{s}", mass=1.0, inertia=I, at=(s, 0, -k - 0.5)) for s in (0, 1)]
        rung = model.body(f"rung{k}", mass=0.5, inertia=I, at=(0.5, 0, -k - 1))
        for s in (0, 1):
            model.add(ts.Spherical(f"upper{k}{s}", ends[s], legs[s], point=(s, 0, -k)))
            model.add(ts.Spherical(f"lower{k}{s}", legs[s], rung, point=(s, 0, -k - 1)))
        ends = legs
    return model


def bodies(n, mass=1.0, inertia=I):
    model = ts.Model("loose")
    for k in range(n):
        model.body(f"body{k}", mass=mass, inertia=inertia, at=(k, 0, 0))
    return model


@pytest.mark.parametrize(
    "build, taken",
    [
        (lambda: hinges(1), "relative"),
        (lambda: hinges(30), "relative"),
        (lambda: hinges(5, held=False), "relative"),
        (lambda: ts.cases.load("four-bar"), "relative"),
        (lambda: ts.cases.load("four-bar", n=20), "relative"),
        (lambda: ts.cases.load("andrews"), "relative"),
        (lambda: hinges(100), "relative"),
        (lambda: chain(20, ts.Spherical), "absolute"),
        (lambda: ladder(6), "absolute"),
        (lambda: bodies(1), "absolute"),
        (lambda: bodies(7), "absolute"),
        (lambda: bodies(2, inertia=0), "absolute"),
        (lambda: ts.cases.load("booster"), "absolute"),
        (lambda: ts.cases.load("four-bar", n=100), "hierarchical"),
    ],
)
def test_each_kind_of_model_gets_the_formulation_that_suits_it(build, taken):
    """Trees and few loops: joint coordinates. Free bodies, particles, spatial nets: absolute ones. Large with loops: tables."""
    found = choose(build())
    assert found.formulation == taken, found.reason
    assert choose(build()) == found


@pytest.mark.parametrize(
    "build", [lambda: hinges(6), lambda: ladder(2), lambda: bodies(3), lambda: ts.cases.load("car")]
)
def test_estimates_are_of_the_size_of_what_is_compiled(build):
    """A factor of 3 decides between the formulations of most models; in trees, parallel axes fold to less code than is counted."""
    model, count = build(), cost.OperationCount(build())
    for key, estimate in (("absolute", count.absolute()), ("relative", count.relative())):
        compiled = ts.compile(model, formulation=key).kernels
        true = compiled["factor"].instructions + compiled["accelerations"].instructions
        most = 6 if key == "relative" and not count.closing else 3
        assert true / 3 - 100 <= estimate <= most * true + 100


def test_tables_are_taken_only_where_what_is_asked_for_can_be_called_through_them():
    model = ts.cases.load("four-bar", n=100)
    assert choose(model).formulation == "hierarchical"
    assert choose(model, {}, "plain").formulation == choose(model, tables=False).formulation == "relative"
    assert "tables" in choose(hinges(1100)).reason


def test_elimination_counts_the_fill_of_a_star_and_of_a_ring():
    """Tips of a star are eliminated first and couple to its middle alone; a ring of n closes more and more, two at a time."""
    star = list(cost.elimination_fill({0: 2, 1: 3, 2: 3, 3: 3}, [[0, 1], [0, 2], [0, 3]]))
    assert star == [(3, 2), (3, 2), (3, 2), (2, 0)]
    ring = list(cost.elimination_fill(dict.fromkeys(range(6), 1), [[k, (k + 1) % 6] for k in range(6)]))
    assert ring == [(1, 2)] * 4 + [(1, 1), (1, 0)]


def test_auto_is_the_default_everywhere():
    for function in (ts.simulate, ts.compile, ts.info):
        assert inspect.signature(function).parameters["formulation"].default == "auto"


def test_the_choice_is_said_and_gives_what_its_formulation_gives():
    for model in (hinges(2), bodies(2)):
        auto = ts.simulate(model, 0.2, outputs=4, formulation="auto")
        found = choose(model)
        assert [auto.attrs[part] for part in PARTS] == list(found)
        named = ts.simulate(model, 0.2, outputs=4, formulation=found.formulation)
        assert named.attrs["formulation_reason"] == "it was requested"
        assert all(np.array_equal(auto[name], named[name]) for name in named.variables)
        told = ts.info(model, formulation="auto")
        assert [told[part] for part in PARTS] == list(found) and found.reason.split(":")[0] in str(told)
        compiled = ts.compile(model, formulation="auto")
        assert (compiled.formulation, compiled.formulation_reason) == found
        assert json.loads(auto.attrs["options"])["formulation"] == found.formulation


def test_a_partition_that_names_coordinates_of_bodies_has_them():
    model = hinges(2)
    for names, key in ((("link0 x",), "absolute"), (None, "relative")):
        assert choose(model, {}, [names, None]).formulation == key
    dependent = ("link0 x", "link0 y", "link0 z", "link0 about x", "link0 about z")
    data = ts.simulate(hinges(1), 0.1, outputs=1, projection=ts.Partition(velocities=dependent, positions=dependent))
    assert (
        data.attrs["formulation"] == "absolute"
        and "'link0 x', a coordinate of a body" in data.attrs["formulation_reason"]
    )
    assert json.loads(data.attrs["dependent"])["velocities"] == list(dependent)


def test_a_model_that_a_formulation_refuses_is_run_in_absolute_coordinates(monkeypatch):
    def refuse(self, model):
        raise ts.ModelError("no tree today")

    monkeypatch.setattr(Relative, "__init__", refuse)
    model = hinges(3, held=False)
    data = ts.simulate(model, 0.1, outputs=1, formulation="auto")
    assert data.attrs["formulation"] == "absolute"
    assert (
        data.attrs["formulation_reason"] == "'relative' would be cheaper, but does not support the model: no tree today"
    )
    assert ts.info(model, formulation="auto")["formulation"] == "absolute"


def test_a_model_that_no_formulation_takes_is_refused_as_it_is_elsewhere():
    with pytest.raises(ts.ModelError, match="no bodies"):
        ts.simulate(ts.Model("empty"), 1.0, formulation="auto")
    model = hinges(2)
    model.add(ts.Distance("stay", model.ground, model["link1"], length=50.0))
    said = []
    for key in ("auto", "absolute"):
        with pytest.raises(ts.AssemblyError) as refused:
            ts.simulate(model, 1.0, formulation=key)
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_a_checkpoint_remembers_what_was_taken(tmp_path):
    model = hinges(2)
    whole = ts.simulate(model, 0.2, outputs=4, formulation="auto", checkpoint=tmp_path / "run")
    again = ts.resume(tmp_path / "run", model)
    assert [again.attrs[part] for part in PARTS] == [whole.attrs[part] for part in PARTS] == list(choose(model))
    assert json.loads(again.attrs["options"])["formulation"] == "relative"


def test_the_command_line_says_what_was_taken(capsys):
    for given in ([], ["--formulation", "auto"]):
        assert status_of(["run", "heavy-top", "--until", "0.01", *given]) == 0
        assert "relative: a tree of 1 body" in capsys.readouterr().out
    assert status_of(["info", "heavy-top"]) == 0
    assert "formulation\n" in capsys.readouterr().out


def test_unknown_formulations_are_refused_with_what_is_allowed():
    for ask in (ts.compile, ts.info, lambda model, formulation: ts.simulate(model, 1.0, formulation=formulation)):
        with pytest.raises(
            ts.OptionError, match="unknown formulation 'automatic'.*'auto'.*absolute, auto, .*hierarchical"
        ):
            ask(hinges(1), formulation="automatic")
        with pytest.raises(ts.OptionError, match="unknown formulation None"):
            ask(hinges(1), formulation=None)
