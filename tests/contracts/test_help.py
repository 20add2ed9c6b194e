"""What a newcomer asks for: help, names, and how things print."""

import inspect
import subprocess
import sys

import numpy as np
import pytest
from scenes import scene

import torsor as ts
from torsor.formulations.fingerprint import fingerprint

ELEMENTS = {cls.key: cls for kind in ("joint", "constraint", "force", "rule") for cls in ts.registered(kind).values()}
ELEMENTS = {key: cls for key, cls in ELEMENTS.items() if cls.__module__.startswith("torsor.")}
PUBLIC = [name for name in dir(ts) if not name.startswith("_")]
NAMED = ("first", "second", "body", "joint", "other", "on", "connection")


@pytest.mark.parametrize("key", ELEMENTS)
def test_help_explains_every_argument_of_an_element(key):
    text = inspect.getdoc(ELEMENTS[key])
    for name in inspect.signature(ELEMENTS[key]).parameters:
        beginnings = [line.split("  ")[0] for line in text.splitlines()]
        assert any(name in line.replace("`", "").replace(",", " ").split() for line in beginnings), name


@pytest.mark.parametrize("name", [name for name in PUBLIC if inspect.isfunction(getattr(ts, name))])
def test_help_explains_every_argument_of_a_function(name):
    text = inspect.getdoc(getattr(ts, name)) or ""
    assert text
    for argument, kind in inspect.signature(getattr(ts, name)).parameters.items():
        assert argument in text or kind.kind is inspect.Parameter.VAR_POSITIONAL, argument


@pytest.mark.parametrize("name", [name for name in PUBLIC if inspect.isclass(getattr(ts, name))])
def test_every_public_class_has_help(name):
    assert inspect.getdoc(getattr(ts, name))


def test_internal_modules_are_not_public():
    """Whatever has been imported by then."""
    code = (
        "import torsor as ts, types\n"
        "try: ts.run\n"
        "except AttributeError as error: print(error)\n"
        "m = ts.cases.load('pendulum'); m = getattr(m, 'model', m)\n"
        "ts.simulate(m, 0.01)\n"
        "print(*[n for n in dir(ts) if isinstance(getattr(ts, n), types.ModuleType) and not n.startswith('_')])\n"
        "try: ts.run(m)\n"
        "except TypeError as error: print(error)\n"
        "import torsor.run.task, torsor.kernels as k\n"
        "from torsor import lie\n"
        "from torsor.lie import so3\n"
        "print(k.__name__, lie.__name__, so3.__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    before, modules, message, imported = done.stdout.splitlines()
    assert before.startswith("module 'torsor' has no attribute 'run'. ts.simulate(model, until) runs a model")
    assert set(modules.split()) == {"actions", "cases", "inertia", "shapes", "testing"}
    assert message.startswith("torsor.run is an internal module, no function. ts.simulate(model, until) runs a model")
    assert imported == "torsor.kernels torsor.lie torsor.lie.so3"


@pytest.mark.parametrize("name, meant", [("Revolut", "Revolute"), ("simulat", "simulate"), ("Sping", "Spring")])
def test_a_name_that_does_not_exist_is_refused_with_the_nearest(name, meant):
    with pytest.raises(AttributeError, match=f"Did you mean '{meant}'"):
        getattr(ts, name)


@pytest.mark.parametrize("key", ELEMENTS)
def test_elements_take_names_where_they_take_elements(key):
    """The model is the same, to the last bit, as with the elements themselves."""
    cls, marks = ELEMENTS[key], []
    for k in range(len(cls.variants)):
        for by_name in (False, True):
            model, offered = scene()
            made = cls.examples(offered, "made")[k]
            if by_name:
                for field in NAMED:
                    if hasattr(getattr(made, field, None), "name"):
                        object.__setattr__(made, field, getattr(made, field).name)
            model.add(made)
            marks.append(fingerprint(model, {}))
    assert marks[::2] == marks[1::2]


def test_actions_take_names_too():
    for spring in ("spring", None):
        model = ts.Model("pendulum", gravity=(0, 0, -9.81))
        model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
        model.add(ts.Revolute("pin", "ground", "bob", point=(0, 0, 0), axis="y"))
        made = model.add(ts.Spring("spring", "pin", stiffness=3.0))
        model.add(ts.Limit("stop", "pin", upper=1.0))
        model.when(ts.time >= 0.2, ts.release(spring or made), name="off")
        marks = float(ts.simulate(model, 0.4).coordinate[-1, 0])
        assert marks == pytest.approx(0.6725, abs=0.05)


@pytest.mark.parametrize("given", ["bib", "", "pin"])
def test_a_name_of_nothing_is_refused(given):
    model = ts.Model("pendulum")
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add(ts.Revolute("pin", model.ground, bob, axis="y"))
    with pytest.raises(ts.ModelError):
        model.add(ts.Revolute("other", model.ground, given, axis="y"))


def test_a_spring_on_a_rail_oscillates_as_its_closed_form_says():
    """x = rest + (x₀ − rest) exp(−δt) (cos ωt + δ/ω sin ωt), with the force in a chosen coordinate of a joint."""
    k, c, mass, rest, t = 40.0, 0.6, 2.0, 0.3, np.linspace(0, 3, 31)
    for joint, index in ((ts.Prismatic, 0), (ts.Cylindrical, 1)):
        model = ts.Model("rail")
        cart = model.body("cart", mass=mass, inertia=(0.1, 0.1, 0.1))
        rail = model.add(joint("rail", model.ground, cart, axis="x"))
        model.add(ts.Spring("spring", rail, stiffness=k, damping=c, rest=rest, index=index))
        data = ts.simulate(model, 3.0, outputs=t)
        delta = c / (2 * mass)
        omega = np.sqrt(k / mass - delta**2)
        wanted = rest - rest * np.exp(-delta * t) * (np.cos(omega * t) + delta / omega * np.sin(omega * t))
        np.testing.assert_allclose(data.coordinate.values[:, index], wanted, atol=1e-6)


def test_models_and_what_is_made_of_them_print_well():
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    assert repr(model) == "<Model 'pendulum': 1 body>"
    model.add(ts.Revolute("pin", model.ground, bob, point=(0, 0, 0), axis="y"))
    assert repr(model) == "<Model 'pendulum': 1 body, 1 joint>"
    assert "<table>" in model._repr_html_() and "bob" in model._repr_html_()
    info, dynamics = ts.info(model), ts.compile(model)
    assert repr(info) == str(info) and repr(info).startswith("pendulum: 1 body")
    assert info._repr_html_().startswith("<pre>pendulum: 1 body")
    assert "relative" in repr(dynamics) and "pin" in repr(dynamics) and "<pre>" in dynamics._repr_html_()
