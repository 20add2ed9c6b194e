"""The order of elimination that a user gives: components are joined as it says, and accelerate as in any other order."""

import pickle
import random

import numpy as np
import pytest
from hierarchies import hierarchy

import torsor as ts
from torsor.formulations.component_paths import ComponentPaths
from torsor.formulations.tables.numeric_system import NumericSystem
from torsor.model.instance import Instance
from torsor.prepare import large_systems


def link():
    """Two bodies on a hinge."""
    model = ts.Model("link")
    rod = model.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    tip = model.body("tip", mass=0.3, inertia=(0.05, 0.06, 0.07), at=(0.9, 0, 0))
    model.add(ts.Revolute("elbow", rod, tip, point=(0.8, 0, 0), axis="y"))
    model.expose("rod", rod)
    model.expose("tip", tip)
    return model


def chain(names, order=None, part=None):
    """Links in a row on a base, one joint after the other."""
    model = ts.Model("chain", gravity=(0, 0, -9.81))
    last = base = model.body("base", mass=2.0, inertia=(0.2, 0.2, 0.2))
    model.add(ts.Revolute("foot", model.ground, base, axis="z", start_rate=0.3))
    for k, name in enumerate(names):
        one = model.include(name, part or link(), at=(k, 0, 0))
        model.add(ts.Revolute(f"joint{k}", last, one.rod, point=(k, 0, 0), axis=(0, 1, 0.1 * k), start=0.2))
        last = one.tip
    if order is not None:
        model.eliminate(order)
    return model


def names_of(model):
    """Components and bodies of the model itself."""
    return [name for name, x in model._names.items() if isinstance(x, (Instance, ts.Body)) and "." not in name]


def any_order(names, rng):
    """A random order, with random groups in it, of all these names."""
    names = rng.sample(names, len(names))
    order = []
    while names:
        count = rng.choice([1, 1, 2, 3])
        some, names = names[:count], names[count:]
        order.append(some[0] if len(some) == 1 else any_order(some, rng) if rng.random() < 0.7 else some)
    return order


def accelerations(model, choice, q, v, p):
    """Of the hierarchical form, without compiling it."""
    f = ts.registered("formulation")["hierarchical"](model).with_choice(choice).functions()
    return np.array(f["accelerations"](0.0, q, v, p, f["factor"](0.0, q, p))[0]).ravel()


@pytest.mark.parametrize("seed, loops", [(1, False), (2, True)])
def test_accelerations_do_not_depend_on_the_order(seed, loops):
    """Random hierarchies, random orders with groups in groups at every level: to rounding those of the relative form."""
    rng, plain = random.Random(seed), ts.compile(hierarchy(seed, loops), formulation="relative")
    q, v = plain.projected(plain.q, np.random.default_rng(seed).standard_normal(len(plain.v)))
    expected = plain.accelerations(q, v)
    for _ in range(2):
        model = hierarchy(seed, loops, lambda one: one.eliminate(any_order(names_of(one), rng)))
        found = accelerations(model, plain.system.choice, q, v, plain.p)
        assert np.abs(found - expected).max() < 1e-11 * max(1.0, np.abs(expected).max())


def test_runs_and_reactions_do_not_depend_on_the_order():
    given = {"outputs": 5, "formulation": "hierarchical", "method": "rkmk4", "step": 0.01}
    one, two = (ts.simulate(chain("ab", order), 0.5, **given) for order in (None, ["b", ["base", "a"]]))
    for name in ("position", "reaction_force", "reaction_torque"):
        assert np.abs(one[name].values - two[name].values).max() < 1e-10


def test_groups_are_joined_as_the_order_says():
    """Every element with all before it; a joint is eliminated as soon as both of its bodies are there."""
    model = chain("abcd", ["base", "d", "a", ["b", "c"]])
    paths = ComponentPaths(model)
    homes = {
        c.name: paths.of_constraint(c, [b for b in (c.first, c.second) if b is not model.ground]) for c in model.joints
    }
    assert homes["foot"] == "(4).(3).(2)" and homes["joint0"] == "(4).(3)" and homes["joint2"] == "(4).(4/2)"
    assert homes["joint1"] == homes["joint3"] == "(4)" and homes["d.elbow"] == "(4).(3).(2).d"


def test_joins_of_large_systems_follow_the_order():
    names = [f"l{k}" for k in range(6)]
    for order, expected in ((names[::-1], [5, 4, 3, 2, 1, 0]), (names[::2] + names[1::2], [1, 2, 3, 4, 5, 0])):
        plain = NumericSystem(chain(names, order))
        joined = [plain.constraints[c].name for c in plain.join_order.constraint]
        assert sorted(joined) == sorted(c.name for c in plain.constraints)
        assert [name for name in joined if name.startswith("joint")] == [f"joint{k}" for k in expected]


def test_large_systems_move_alike_in_any_order(monkeypatch):
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "0")
    names = [f"l{k}" for k in range(4)]
    assert large_systems.system_of(chain(names), "hierarchical", {}) is not None
    given = {"outputs": 2, "formulation": "hierarchical", "method": "rkmk4", "step": 0.01}
    one, two = (ts.simulate(chain(names, order), 0.2, **given) for order in (None, names[::2] + names[1::2]))
    assert np.abs(one.position.values - two.position.values).max() < 1e-11


def test_an_order_travels_with_its_component():
    """Into models that include it, several levels deep, and by pickle."""
    inner = chain("ab", ["b", "base", "a"])
    outer = ts.Model("outer")
    outer.include("left", inner)
    outer.include("right", inner)
    outer.eliminate([outer["right"], outer["left"]])
    machine = ts.Model("machine")
    machine.include("arm", outer)
    expected = {"arm": ("right", "left"), "arm.left": ("b", "base", "a"), "arm.right": ("b", "base", "a")}
    assert dict(machine.eliminations) == expected == dict(pickle.loads(pickle.dumps(machine)).eliminations)
    assert ComponentPaths(machine).of_body(machine["arm.left.b.rod"]) == "arm.(2).left.(3).(2).b"


@pytest.mark.parametrize(
    "order, message",
    [
        (["a", "b"], "does not contain the component 'c'; give every component of the model once: a, b, c"),
        (["a", "b", "c", "a"], "'a' is given twice"),
        (["a", ["b", "base"], "c", "base"], "'base' is given twice"),
        (["a", "b", "cc"], "'cc' is no component or body of the model. Did you mean 'c'"),
        (["a", "b", "c", "joint0"], "'joint0' is no component or body"),
        (
            ["a.rod", "b", "c"],
            "'a.rod' is inside the component 'a'; give the order inside a component in its own model",
        ),
        ("abc", "give a list of names"),
        (["a", [], "b", "c"], "is empty"),
        ([1.5], "1.5 is no component or body"),
    ],
)
def test_wrong_orders_are_refused(order, message):
    model = chain("abc")
    with pytest.raises(ts.ModelError) as refused:
        model.eliminate(order)
    assert message in str(refused.value) and not model.eliminations


def test_components_that_come_later_and_compiled_models_are_refused():
    model = chain("ab", ["a", "b"])
    model.include("late", link())
    with pytest.raises(
        ts.ModelError, match="'late', which was included later: call `eliminate` after the last `include`"
    ):
        ts.compile(model, formulation="hierarchical")
    model = chain("ab")
    ts.compile(model, formulation="relative")
    with pytest.raises(ts.ModelError, match="has been compiled"):
        model.eliminate(["a", "b"])
    with pytest.raises(ts.ModelError, match=r"model.eliminate\(…\) gives an order"):
        model.eliminations["x"] = ()
