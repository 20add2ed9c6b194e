"""Whatever is wrong with a description is refused when it is given, by a message that names the element."""

from dataclasses import dataclass, fields, replace

import pytest
from refusing import refused

import torsor as ts
from torsor.errors import ModelError, TorsorError

NAN = float("nan")


def scene(name="scene", joints=1):
    model = ts.Model(name)
    first = model.body("first", mass=2.0, inertia=(0.3, 0.4, 0.5), at=(0.1, 0.2, 0.3))
    second = model.body("second", mass=1.0, inertia=(0.2, 0.3, 0.25), at=(1.0, -0.4, 0.6))
    joint = model.add(ts.Revolute("joint", first, second, point=(0.4, 0, 0), axis=(0, 1, 1)))
    found = {"first": first, "second": second, "body": second, "joint": joint, "point": (0, 0, 0)}
    if joints == 2:
        found["other"] = model.add(ts.Revolute("other", model.ground, first, point=(0, 0.3, -0.3), axis=(0, 1, 1)))
    return model, found


def body(**given):
    return lambda: ts.Model("m").body(**{"name": "rod", "mass": 1.0, "inertia": (1, 1, 1), **given})


# names


def test_names_are_unique_and_known():
    model, s = scene()
    for add in (
        lambda: model.body("first", mass=1, inertia=(1, 1, 1)),
        lambda: model.add(ts.Revolute("first", model.ground, s["second"], axis=(0, 0, 1))),
        lambda: model.parameter("joint", 1.0),
        lambda: model.signal("ground", s["first"].position[0]),
        lambda: model.add(ts.Ground("second")),
        lambda: model.parameter("time", 1.0),
    ):
        refused(add, "names must differ")
    refused(lambda: model["frist"], "model 'scene' has nothing called 'frist'", "Did you mean 'first'", "Known:")


@pytest.mark.parametrize("name", ["", "two words", "a.b", "1st", None, 3, "ä b"])
def test_names_are_plain_words(name):
    model, s = scene()
    for add in (
        lambda: model.body(name, mass=1, inertia=(1, 1, 1)),
        lambda: model.add(ts.Fixed(name, model.ground, s["first"])),
        lambda: ts.Model(name),
        lambda: model.parameter(name, 1.0),
        lambda: model.expose(name, s["first"]),
        lambda: model.include(name, ts.Model("other")),
    ):
        refused(add, repr(name), "a name is letters")


# elements


ELEMENTS = [
    pytest.param((cls, f.name), id=f"{key}-{f.name}")
    for kind in ("joint", "constraint", "force", "rule")
    for key, cls in ts.registered(kind).items()
    for f in fields(cls)
    if f.name not in ("placed", "arm", "arms", "height", "trusted", "kinds", "sizes", "places", "counts", "directions")
    and not (key == "gravity")
    and cls.variants
]


@pytest.mark.parametrize("case", ELEMENTS)
def test_every_argument_of_every_element_is_checked_when_it_is_added(case):
    """Not a number, a string, a wrong number of components, an object: each is refused by `add`, with the owner's name."""
    cls, field = case
    for wrong in (NAN, "nonsense", (1.0, NAN, 0.0), (1, 2, 3, 4, 5), object(), ((0, NAN, 0), (1, 1, 1)), [["x"]]):
        model, offered = scene(joints=2)
        element = cls.examples(offered)[0]
        if field == "index" and isinstance(wrong, str) or field == "name" and wrong == "nonsense":
            continue
        if field in ("point", "points", "frames"):  # alternatives exclude each other
            element = replace(element, **{f: None for f in ("point", "points", "frames") if hasattr(element, f)})
        with pytest.raises(TorsorError) as caught:
            model.add(replace(element, **{field: wrong}))
        assert "example" in str(caught.value) or field == "name"
        assert len(model.constraints) == 2 and model.forces == [] and "example" not in model


@pytest.mark.parametrize(
    ("cls", "given"),
    [
        (ts.Revolute, {"axis": (0, 0, 0)}), (ts.Prismatic, {"axis": (0, 0, 0)}), (ts.Planar, {"axis": (0, 0, 0)}),
        (ts.Cylindrical, {"axis": (0, 0, 0)}), (ts.Screw, {"axis": (0, 0, 0)}), (ts.Screw, {"pitch": 0}),
        (ts.Universal, {"second_axis": (0, 0, 0)}), (ts.Universal, {"second_axis": (1, 1, 0)}),
        (ts.PointOnPlane, {"normal": (0, 0, 0)}), (ts.NoRotation, {"about": (0, 0, 0)}),
        (ts.NoRotation, {"about": ((1, 0, 0), (2, 0, 0))}), (ts.Distance, {"length": -1.0}), (ts.Distance, {"length": 0}),
        (ts.SpringDamper, {"stiffness": -1}), (ts.SpringDamper, {"damping": -1}), (ts.SpringDamper, {"length": -1}),
    ],
)  # fmt: skip
def test_impossible_geometry_is_refused_at_once(cls, given):
    model, s = scene()
    word = next(iter(given))
    words = {"second_axis": "axis"}
    refused(lambda: model.add(cls("bad", s["first"], s["second"], **given)), f"{cls.key} 'bad'", words.get(word, word))


def test_an_element_connects_two_different_bodies_of_its_model():
    model, s = scene()
    stranger = scene("other")[1]
    wall = model.add(ts.Ground("wall", at=(5, 0, 0)))
    for cls in (ts.Revolute, ts.Distance, ts.PointOnPlane, ts.SpringDamper):
        add = lambda a, b: lambda: model.add(cls("bad", a, b))  # noqa: B023
        refused(add(s["first"], s["first"]), "'bad'", "'first' with itself", "two different bodies")
        refused(add(s["first"], stranger["second"]), "'bad'", "body 'second' does not belong to model 'scene'")
        refused(add("frst", s["second"]), "'bad'", "first must be a body of model 'scene'", "'frst'")
        refused(add(s["first"], None), "'bad'", "second must be a body")
        refused(add(model.ground, wall), "'bad'", "both grounds")
    refused(lambda: model.add(ts.Drive("bad", stranger["joint"], value=1.0)), "joint 'joint' does not belong")
    refused(lambda: model.add(ts.TorsionSpring("bad", s["first"])), "'bad'", "joint must be a joint of model 'scene'")
    refused(lambda: model.add(ts.PointForce("bad", stranger["body"])), "does not belong to model 'scene'")
    refused(lambda: model.add("hinge"), "cannot add 'hinge'", "a joint, a constraint, a force, a rule or a Ground")
    frame = s["first"].frame()
    refused(
        lambda: model.add(ts.Fixed("bad", s["first"], s["second"], frames=(frame, frame))), "'bad'", "frames must be"
    )
    refused(lambda: model.expose("port", stranger["first"]), "port 'port'", "model 'scene'")


@pytest.mark.parametrize("index", [1, -1, 0.0, True, "0", None])
def test_a_coordinate_is_one_that_the_joint_has(index):
    model, s = scene()
    for cls in (ts.Drive, ts.JointForce, ts.CosineTorque, ts.TorsionSpring):
        refused(lambda: model.add(cls("bad", s["joint"], index=index)), "'bad'", "'joint' has 1 coordinates", "0 to 0")  # noqa: B023


def test_signals_of_other_models_and_of_the_wrong_kind_are_refused():
    model, s = scene()
    b, stranger = s["first"], scene("other")[1]["first"]  # equal names, other symbols
    refused(lambda: model.add(ts.Holonomic("bad", stranger.position[0])), "'bad'", "does not belong to model 'scene'")
    refused(lambda: model.add(ts.PointForce("bad", b, force=stranger.velocity)), "'bad'", "does not belong")
    refused(lambda: model.signal("bad", stranger.position[0]), "signal 'bad'", "does not belong")
    refused(lambda: model.add(ts.Holonomic("bad", b.velocity[0])), "'bad'", "'first.velocity_0'")
    refused(lambda: model.add(ts.EnergyForce("bad", energy=b.velocity[0] ** 2)), "'bad'", "potential", "velocity_0")
    refused(lambda: model.add(ts.EnergyForce("bad", dissipated=b.acceleration[0] ** 2)), "'bad'", "acceleration_0")
    refused(lambda: model.add(ts.Nonholonomic("bad", s["joint"].reaction_force[0])), "'bad'", "reaction_force_0")
    refused(lambda: model.add(ts.Drive("bad", s["joint"], value=b.position[0])), "'bad'", "value", "time")
    refused(lambda: model.add(ts.Revolute("bad", b, s["second"], axis=(0, ts.time, 1))), "'bad'", "'time'")
    model.signal("fine", s["joint"].reaction_force[0] + b.acceleration[2])
    acceleration = model.parameter("acceleration_x", 1.0)  # a name, not an acceleration
    model.add(ts.PointForce("fine-too", b, force=(acceleration, 0, 0)))


def test_a_function_of_time_that_cannot_be_traced_says_why():
    import math

    model, s = scene()
    refused(
        lambda: model.add(ts.Drive("bad", s["joint"], value=lambda t: math.sin(t))),
        "'bad'",
        "value",
        "torsor.time failed",
    )


def test_a_particle_has_no_orientation():
    model = ts.Model("m")
    grain = model.body("grain", mass=1.0, inertia=0, at=(1, 0, 0))
    rod = model.body("rod", mass=1.0, inertia=(1, 1, 1))
    refused(body(inertia=0, angular_velocity=(1, 0, 0)), "particle (inertia 0) has no angular velocity")
    for bad in (
        ts.Revolute("bad", model.ground, grain, axis="z"), ts.Fixed("bad", rod, grain), ts.Torque("bad", grain, torque=(1, 0, 0)),
        ts.Spherical("bad", rod, grain, point=(0, 0, 0)), ts.PointForce("bad", grain, point=(0, 0, 0), force=(1, 0, 0)),
        ts.PointForce("bad", grain, force=(1, 0, 0), axes="body"), ts.PointOnPlane("bad", grain, rod),
        ts.SpringDamper("bad", rod, grain, points=((0, 0, 0), (0, 0, 0)), stiffness=1.0),
        ts.AngularVelocity("bad", grain), ts.Motion("bad", grain, rotation=(0, 0, 0)),
    ):  # fmt: skip
        refused(lambda: model.add(bad), "'bad'", "particle (inertia 0) has no orientation")  # noqa: B023
    for fine in (
        ts.Spherical("a", rod, grain), ts.Distance("b", grain, rod, points=((1, 0, 0), (0, 0, 1))),
        ts.PointForce("c", grain, force=(1, 0, 0)), ts.SpringDamper("d", grain, rod, stiffness=1.0),
        ts.PointOnPlane("e", model.ground, grain), ts.Motion("f", grain, at=(1, ts.time, 0)),
    ):  # fmt: skip
        model.add(fine)


# models


def test_an_empty_model_cannot_run_and_a_compiled_one_cannot_change():
    empty = ts.Model("empty")
    refused(lambda: ts.simulate(empty, 1.0), "model 'empty' has no bodies")
    model, s = scene()
    ts.simulate(model, 0.01, outputs=1)
    for change in (
        lambda: model.body("new", mass=1, inertia=(1, 1, 1)),
        lambda: model.add(ts.Fixed("new", model.ground, s["first"])),
        lambda: model.add(ts.Ground("new")),
        lambda: model.parameter("new", 1.0),
        lambda: model.signal("new", s["first"].position[0]),
        lambda: model.include("new", ts.Model("other")),
    ):
        refused(change, "model 'scene' has been compiled and cannot change", "'new' was not added")
    with pytest.raises(ModelError, match="compiled"):
        model.gravity = (0, 0, -1)


@pytest.mark.parametrize("gravity", [(0, 0), "down", (0, 0, NAN), 9.81])
def test_gravity_is_a_vector(gravity):
    refused(lambda: ts.Model("m", gravity=gravity), "model 'm'", "gravity")


def test_an_element_that_cannot_write_its_equations_is_named():
    @dataclass(frozen=True, eq=False)
    class Broken(ts.Joint):
        dof, angular = 1, (True,)

    @dataclass(frozen=True, eq=False)
    class Unequal(ts.Constraint):
        body: object = None

        def position(self):
            return self.body.position

        def directions(self):
            return ["one"]

    @dataclass(frozen=True, eq=False)
    class Listed(Unequal):
        def position(self):
            return [self.body.position[0]]

    model, s = scene()
    refused(lambda: model.add(Broken("bad", s["first"], s["second"])), "joint 'bad'", "cannot be written")
    refused(lambda: model.add(Unequal("bad", s["first"])), "constraint 'bad'", "3 rows and 1 directions")
    refused(lambda: model.add(Listed("bad", s["first"])), "constraint 'bad'", "no column of equations")
