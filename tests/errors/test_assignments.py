"""What is assigned to a model, or to a part of it, acts on every later run or is refused; it is never ignored."""

import copy
import pickle
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import torsor as ts

sys.path.insert(0, str(Path(__file__).parent.parent / "contracts"))
from scenes import scene

ELEMENTS = [cls for kind in ("joint", "constraint", "force", "rule") for cls in ts.registered(kind).values()]
PARTS = ("bodies", "constraints", "forces", "rules", "grounds", "events", "joints", "states")
NAMED = ("parameters", "signals", "memory", "machines", "ports")


def pendulum(mass=1.0, stiffness=5.0):
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=mass, inertia=(0.01, 0.01, 0.01), at=[1, 0, 0])
    pin = model.add(ts.Revolute("pin", model.ground, bob, point=[0, 0, 0], axis=np.array([0.0, 1.0, 0.0])))
    model.add(ts.TorsionSpring("spring", pin, stiffness=stiffness))
    return model


def last(model, **options):
    return float(ts.simulate(model, 0.5, outputs=1, **options).coordinate[-1, 0])


def refuses(change, *parts):
    with pytest.raises(ts.ModelError) as caught:
        change()
    assert isinstance(caught.value, AttributeError)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("run_before", [False, True])
@pytest.mark.parametrize(
    "what, name, value",
    [
        ("bob", "mass", 10.0), ("bob", "inertia", (1, 1, 1)), ("bob", "at", (2, 0, 0)), ("bob", "rotation", (0, 1, 0)),
        ("bob", "velocity", (0, 0, 1)), ("bob", "position", (0, 0, 1)), ("bob", "start_position", (0, 0, 1)), ("bob", "name", "x"),
        ("pin", "axis", "x"), ("pin", "point", (1, 0, 0)), ("pin", "start", 1.0), ("pin", "coordinate", 1.0),
        ("pin", "second", None),
        ("spring", "stiffness", 50.0), ("spring", "joint", None), ("spring", "active", False), ("ground", "at", (1, 0, 0)),
    ],
)  # fmt: skip
def test_what_a_part_was_made_of_cannot_be_assigned(what, name, value, run_before):
    model = pendulum()
    before = last(model) if run_before else None
    refuses(lambda: setattr(model[what], name, value), repr(what), name, "cannot be assigned")
    refuses(lambda: delattr(model[what], name), repr(what), name)
    if run_before:
        assert last(model) == before


@pytest.mark.parametrize("what, name, meant", [("bob", "massa", "mass"), ("spring", "stifness", "stiffness")])
def test_attributes_that_do_not_exist_are_refused_with_a_suggestion(what, name, meant):
    refuses(lambda: setattr(pendulum()[what], name, 1.0), f"has no attribute {name!r}. Did you mean {meant!r}?")


def test_a_model_has_no_other_attributes_than_its_own():
    model = pendulum()
    refuses(
        lambda: setattr(model, "dampng", 3), "model 'pendulum' has no attribute 'dampng'. 'damping' is an argument of"
    )
    refuses(lambda: setattr(model, "gravty", 3), "Did you mean 'gravity'?")
    for name in ("name", "ground", "time", "joints", *PARTS, *NAMED):
        refuses(lambda name=name: setattr(model, name, None), name)
    refuses(lambda: delattr(model, "gravity"))


def test_a_class_derived_from_model_may_keep_what_it_likes():
    class Arm(ts.Model):
        def __init__(self):
            super().__init__("arm")
            self.bone = self.body("bone", mass=1.0, inertia=(1, 1, 1))

    arm = Arm()
    assert copy.deepcopy(arm).bone.name == "bone"
    refuses(lambda: setattr(arm, "bodies", []))


@pytest.mark.parametrize("cls", ELEMENTS, ids=lambda cls: cls.key)
def test_no_argument_of_any_element_can_be_assigned(cls):
    """Fields and attributes of every registered element, before it belongs to a model and after."""
    for k in range(len(cls.variants)):
        model, offered = scene()
        element = cls.examples(offered)[k]
        with pytest.raises(AttributeError):
            element.name = "other"
        try:
            model.add(element)
        except ts.ModelError:
            continue  # an example for one body alone
        for name in element._arguments():
            refuses(lambda name=name, element=element: setattr(element, name, 1.0), repr(element.name), name)
        refuses(lambda element=element: setattr(element, "no_such_thing", 1.0), "has no attribute 'no_such_thing'")


@pytest.mark.parametrize("part", PARTS)
def test_lists_of_a_model_cannot_be_changed(part):
    model = pendulum()
    found = getattr(model, part)
    before = list(found)
    changes = [
        lambda: found.append(1), lambda: found.extend([1]), lambda: found.insert(0, 1), lambda: found.remove(1),
        lambda: found.pop(), found.clear, found.sort, found.reverse, lambda: found.__setitem__(0, 1),
        lambda: found.__delitem__(slice(None)), lambda: found.__iadd__([1]), lambda: found.__imul__(2),
    ]  # fmt: skip
    for change in changes:
        refuses(change, "cannot be changed", "model.")
    assert list(getattr(model, part)) == before


@pytest.mark.parametrize("part", NAMED)
def test_dictionaries_of_a_model_cannot_be_changed(part):
    model = pendulum(stiffness=5.0)
    model.parameter("k", 1.0)
    found = getattr(model, part)
    before = dict(found)
    changes = [
        lambda: found.__setitem__("k", 5), lambda: found.update(k=5), lambda: found.pop("k"), found.popitem, found.clear,
        lambda: found.setdefault("x", 5), lambda: found.__delitem__("k"), lambda: found.__ior__({"k": 5}),
    ]  # fmt: skip
    for change in changes:
        refuses(change, f"model.{part}", "cannot be changed")
    assert dict(getattr(model, part)) == before


def test_a_parameter_gets_another_value_from_a_run():
    """As the messages say; checked against a model that was built with the value."""
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    mass, k = model.parameter("bob_mass", 1.0), model.parameter("k", 5.0)
    bob = model.body("bob", mass=mass, inertia=(0.01, 0.01, 0.01), at=(1, 0, 0))
    pin = model.add(ts.Revolute("pin", model.ground, bob, point=(0, 0, 0), axis="y"))
    model.add(ts.TorsionSpring("spring", pin, stiffness=k))
    refuses(lambda: setattr(model["k"], "value", 7.0), "parameters={'k': …}")
    refuses(lambda: model.parameters.__setitem__("k", 7.0), "parameters={name: value} of ts.simulate")
    assert last(model) == pytest.approx(last(pendulum()), abs=1e-9)
    given = {"bob_mass": 10.0, "k": 7.0}
    assert last(model, parameters=given) == pytest.approx(last(pendulum(10.0, 7.0)), abs=1e-9)


def test_entries_of_expressions_of_a_model_cannot_be_assigned():
    model = pendulum()
    bob, pin = model["bob"], model["pin"]
    for x in (model.gravity, bob.position, bob.velocity, bob.inertia, bob.start_position, pin.coordinate):
        refuses(lambda x=x: x.__setitem__(0, 5.0), "cannot be assigned")
    own = ca.SX(model.gravity)
    own[2] = -1.0
    model.gravity = own
    assert float(model.gravity[2]) == -1.0
    for field in (pin.axis, pin.point):
        with pytest.raises(TypeError):
            field[0] = 5.0


def test_what_was_given_as_an_array_may_change_afterwards():
    """The model has a copy of it."""
    axis, point, at = np.array([0.0, 1.0, 0.0]), [0.0, 0.0, 0.0], np.array([1.0, 0.0, 0.0])
    model = ts.Model("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), at=at)
    pin = model.add(ts.Revolute("pin", model.ground, bob, point=point, axis=axis))
    model.add(ts.TorsionSpring("spring", pin, stiffness=5.0))
    axis[:], point[0], at[:] = (1, 0, 0), 7.0, 3.0
    assert last(model) == last(pendulum())


def test_gravity_is_set_again_before_the_first_run_alone():
    model, other = pendulum(), pendulum()
    model.gravity = (0, 0, -1.6)
    assert abs(last(model)) < 0.5 * abs(last(other))
    with pytest.raises(ts.ModelError, match=r"compiled and cannot change.*model\.parameter\('g', 9\.81\)"):
        model.gravity = (0, 0, -9.81)


@pytest.mark.parametrize("twin", [copy.deepcopy, copy.copy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_of_a_model_refuse_as_well_and_can_be_added_to(twin):
    model = twin(pendulum())
    for change in (lambda: model.forces.clear(), lambda: model.bodies.append(None)):
        refuses(change)
    with pytest.raises(AttributeError):
        model["spring"].stiffness = 3.0
    model.add(ts.TorsionSpring("second", model["pin"], stiffness=5.0))
    assert last(model) == pytest.approx(last(pendulum(stiffness=10.0)), abs=1e-9)


def test_instances_and_simulations_refuse_what_they_would_ignore():
    whole = ts.Model("whole")
    left = whole.include("left", pendulum())
    refuses(lambda: setattr(left, "mass", 3.0), "instance 'left'", "model.include('left', …")
    refuses(lambda: delattr(left, "mass"))
    refuses(lambda: setattr(whole["left.bob"], "mass", 3.0), "body 'left.bob'", "left_bob_mass")
    refuses(lambda: setattr(whole["left.spring"], "stiffness", 3.0), "left.spring")
    refuses(lambda: setattr(whole["left.bob"].frame(), "pose", 3.0), "body.frame")
    sim = ts.Simulation(pendulum())
    for name in ("tolerance", "time", "coordinates", "tme"):
        refuses(lambda name=name: setattr(sim, name, 1.0), name)
