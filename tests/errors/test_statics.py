"""Statics and linear models: what is refused, with which words, and what the commands print."""

import re
import sys

import numpy as np
import pytest

import torsor as ts
from torsor.cli import status_of

ARM = """
import torsor as ts

model = ts.Model("arm", gravity=(0, 0, -9.81))
stiffness = model.parameter("stiffness", 30.0)
rod = model.body("rod", mass=2.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
hinge = model.add(ts.Revolute("hinge", model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
model.add(ts.TorsionSpring("spring", hinge, stiffness=stiffness, damping=1.0))
model.signal("height", rod.position[2])
until = 1.0
"""


def arm():
    space: dict = {}
    exec(ARM, space)
    return space["model"]


def rock():
    model = ts.Model("rock", gravity=(0, 0, -9.81))
    model.body("rock", mass=1.0, inertia=(0.1, 0.1, 0.1))
    return model


@pytest.mark.parametrize("ask", [ts.equilibrium, ts.linearise])
def test_what_is_no_model_is_refused(ask):
    with pytest.raises(ts.OptionError, match="give a torsor.Model, got 3"):
        ask(3)
    with pytest.raises(ts.OptionError, match="time must be a finite number"):
        ask(arm(), time=np.nan)
    with pytest.raises(ts.OptionError, match="unknown formulation"):
        ask(arm(), formulation="absolut")
    with pytest.raises(ts.ModelError, match="unknown parameter 'mass'"):
        ask(arm(), parameters={"mass": 1.0})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"inputs": ["stifness"]}, "unknown input 'stifness'. Did you mean 'stiffness'"),
        ({"inputs": 3}, "inputs must be names, got 3"),
        ({"outputs": ["hinge.angle"]}, "unknown output 'hinge.angle'.*Known: .*hinge.rate"),
        ({"outputs": ["rod.position[3]"]}, r"unknown output 'rod.position\[3\]'.*components as in 'bob.position\[2\]'"),
        ({"outputs": [3]}, "unknown output 3"),
        ({"outputs": [""]}, "unknown output ''"),
        ({"outputs": {"x": rock().bodies[0].position}}, "does not belong to model 'arm'"),
        ({"at": 7}, "`at` must be values by name.*an equilibrium, got 7"),
        ({"at": {"elbow": 1.0}}, "at: unknown 'elbow'"),
        ({"coordinates": ["rod"], "formulation": "relative"}, "unknown coordinate 'rod'. Known: hinge"),
        ({"coordinates": 3}, "coordinates must be names, got 3"),
        ({"coordinates": [], "formulation": "relative"}, "1 independent coordinates are needed, got 0"),
    ],
)
def test_what_a_linear_model_cannot_be_asked_for_is_told(given, words):
    with pytest.raises(ts.OptionError, match=words):
        ts.linearise(arm(), **given)


def test_a_result_is_taken_at_one_time_and_of_the_same_model():
    model = arm()
    rest = ts.equilibrium(model)
    several = rest.data.expand_dims(time=[0.0, 1.0])
    with pytest.raises(ts.OptionError, match="at: give a result at one time"):
        ts.linearise(model, at=several)
    with pytest.raises(ts.OptionError, match="belongs to a model with other bodies"):
        ts.linearise(rock(), at=rest.data)
    with pytest.raises(ts.OptionError, match="equilibrium of another model, 'arm'"):
        ts.linearise(rock(), at=rest, parameters={})
    same = ts.linearise(model, at=rest.data)
    np.testing.assert_allclose(same.eigenvalues, rest.linear.eigenvalues, rtol=1e-12)


def test_an_input_that_moves_a_constraint_is_refused():
    model = ts.Model("rail")
    length = model.parameter("length", 1.0)
    bob = model.body("bob", mass=1.0, inertia=0, at=(0, 0, -1))
    model.add(ts.Distance("rod", model.ground, bob, length=length))
    with pytest.raises(ts.OptionError, match="input 'length' occurs in constraint 'rod'"):
        ts.linearise(model, inputs=["length"])


def test_where_nothing_holds_the_forces_that_are_left_and_the_nearest_point_are_told():
    with pytest.raises(
        ts.ModelError, match=r"model 'rock': no equilibrium.*rock x = 0.*not in balance: rock z -9\.81 N"
    ):
        ts.equilibrium(rock())
    with pytest.raises(ts.OptionError, match="stable must be True or False, got 1"):
        ts.equilibrium(arm(), stable=1)
    with pytest.raises(ts.OptionError, match=r"inputs must be numbers by name, in a dictionary, got \['stiffness'\]"):
        ts.equilibrium(arm(), inputs=["stiffness"])


def test_a_result_does_not_tell_what_is_closed():
    model = arm()
    model.add(ts.Limit("stop", model["hinge"], upper=0.1))
    rest = ts.equilibrium(model)
    assert rest.contacts == {"stop": "closed"} and ts.linearise(model, at=rest).states == []
    for at in (rest.data, ts.Simulation(model).state):
        with pytest.raises(
            ts.OptionError, match="a result does not contain which contacts .*; give `at` an equilibrium"
        ):
            ts.linearise(model, at=at)
    assert ts.linearise(model, at={"hinge": 0.05}).states == ["hinge", "hinge.rate"]


def test_forces_and_slopes_that_are_no_numbers_are_told_with_the_place():
    """A root has no slope at zero, and a table that ends has no value beyond."""
    model = arm()
    hinge = model["hinge"].coordinate[0]
    model.add(ts.JointForce("root", model["hinge"], np.sqrt(hinge)))
    model.add(ts.JointForce("map", model["hinge"], ts.table([-1, 1], [0, 1], outside="error")(hinge)))
    for ask in (ts.equilibrium, lambda model, at: ts.linearise(model, at=at)):
        with pytest.raises(ts.ModelError, match=r"slopes.* are not numbers at this state \(hinge = 0\)"):
            ask(model, {"hinge": 0.0})
        with pytest.raises(ts.ModelError, match=r"are not numbers at this state \(hinge = 2\)"):
            ask(model, {"hinge": 2.0})


def test_velocities_that_nothing_imposes_are_refused():
    """A start at rest may say so, and one that is driven may say how fast."""
    model = arm()
    with pytest.raises(
        ts.OptionError, match=r"start: hinge\.rate cannot be 2\.0 where nothing imposes it.*torsor\.Drive"
    ):
        ts.equilibrium(model, start={"hinge": 0.1, "hinge.rate": 2.0})
    with pytest.raises(ts.OptionError, match=r"start: rod\.velocity cannot be .*where nothing imposes it"):
        ts.equilibrium(model, start={"rod.velocity": (0, 0, 1.0)})
    assert ts.equilibrium(model, start={"hinge": 0.1, "hinge.rate": 0.0}).stable
    driven = ts.Model("shaft")
    body = driven.body("shaft", mass=1.0, inertia=(0.1, 0.1, 0.1))
    driven.add(ts.Drive("motor", driven.add(ts.Revolute("spin", driven.ground, body, axis=(0, 0, 1))), 5.0 * ts.time))
    found = ts.equilibrium(driven, start={"spin.rate": 5.0}, formulation="relative")
    assert float(found.data["rate"][0]) == pytest.approx(5.0)


def test_the_nearest_point_is_not_where_the_search_was_carried_away_to():
    """A sled that nothing resists; the load that it carries finds its place."""
    model = ts.Model("sled", gravity=(0, 0, -9.81))
    sled = model.body("sled", mass=2.0, inertia=(0.1, 0.1, 0.1))
    rail = model.add(ts.Prismatic("rail", model.ground, sled, axis="x"))
    load = model.body("load", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 0.3))
    seat = model.add(ts.Prismatic("seat", sled, load, axis="z"))
    model.add(ts.TorsionSpring("spring", seat, stiffness=98.1))
    model.add(ts.JointForce("thrust", rail, value=7.0))
    with pytest.raises(ts.ModelError, match=r"rail = (\S+), seat = -0\.1, .* not in balance: rail 7 N\. Add") as told:
        ts.equilibrium(model, formulation="relative")
    assert abs(float(re.search(r"rail = (\S+),", str(told.value))[1])) < 2


@pytest.mark.parametrize("formulation", ["relative", "absolute"])
def test_the_nearest_point_of_an_arm_whose_motor_is_too_strong_is_where_its_weight_helps_most(formulation):
    """Level, on the side where it hangs back: 30 N m − m g l/2; a table that turns below it is not carried away."""
    model = ts.Model("strong", gravity=(0, 0, -9.81))
    table = model.body("table", mass=5.0, inertia=(1.0, 1.0, 1.0))
    spin = model.add(ts.Revolute("spin", model.ground, table, axis="z"))
    rod = model.body("rod", mass=2.0, inertia=(1e-3, 0.2, 0.2), at=(0.5, 0, 0))
    hinge = model.add(ts.Revolute("hinge", table, rod, point=(0, 0, 0), axis="y", start=2.0))
    model.add(ts.JointForce("motor", hinge, value=30.0))
    model.add(ts.JointForce("whirl", spin, value=1.0))
    with pytest.raises(ts.ModelError, match="no equilibrium") as told:
        ts.equilibrium(model, formulation=formulation)
    turned, angle = (float(re.search(rf"{name} = ([^\s,]+)", str(told.value))[1]) for name in ("spin", "hinge"))
    assert angle == pytest.approx(np.pi, abs=1e-2) and abs(turned) < 0.1
    if formulation == "relative":
        assert re.search(r"not in balance: hinge 20\.19\d* N m, spin (1|0\.99\d*) N m", str(told.value))


def test_a_singular_position_has_no_linear_model():
    """A parallelogram in a line: the loop does not tell which way it goes on."""
    model = ts.Model("folded")
    z = {"axis": (0, 0, 1)}
    bodies = [
        model.body(f"bar{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(x, 0, 0)) for k, x in enumerate((0.5, 2.0, 1.5))
    ]
    model.add(ts.Revolute("a", model.ground, bodies[0], point=(0, 0, 0), **z))
    model.add(ts.Revolute("b", bodies[0], bodies[1], point=(1, 0, 0), **z))
    model.add(ts.Revolute("c", bodies[1], bodies[2], point=(3, 0, 0), **z))
    model.add(ts.Revolute("d", bodies[2], model.ground, point=(2, 0, 0), **z))
    with pytest.raises(ts.ModelError, match="singular position"):
        ts.linearise(model)


def test_outputs_of_a_vector_are_its_components_or_one_of_them():
    model = arm()
    model.signal("tip", model["rod"].point((0.5, 0, 0)))
    whole = ts.linearise(model, [], ["rod.position", "tip"])
    assert whole.outputs == [f"{name}[{k}]" for name in ("rod.position", "tip") for k in range(3)]
    parts = ts.linearise(model, [], ["rod.position[2]", "tip[2]", "hinge"])
    assert parts.outputs == ["rod.position[2]", "tip[2]", "hinge"]
    np.testing.assert_array_equal(parts.C[:2], whole.C[[2, 5]])
    assert parts.C[1, parts.states.index("hinge")] == pytest.approx(-1.0)  # the tip goes down by 1 m a radian


def test_linear_models_become_objects_of_other_packages():
    import control
    from scipy.signal import StateSpace

    found = ts.linearise(arm(), inputs=["stiffness"], outputs=["hinge"])
    theirs = found.control()
    assert isinstance(theirs, control.StateSpace) and theirs.state_labels == found.states
    np.testing.assert_allclose(np.sort_complex(theirs.poles()), np.sort_complex(found.eigenvalues))
    assert isinstance(found.scipy(), StateSpace)
    data = found.dataset()
    assert float(data.A.sel(rate_of="hinge", state="hinge.rate")) == 1.0


def test_modes_that_are_asked_for_are_drawn_and_others_refused():
    import matplotlib.pyplot as plt

    linear = ts.linearise(arm(), [], [])
    drawn = linear.plot([0] * 7)
    assert len(drawn.axes) == 7 and linear != ts.linearise(arm(), [], []) and linear in {linear}
    plt.close(drawn)
    mode = linear.modes[0]
    for ask, words in {
        lambda: linear.plot(2): "only must be places among 1 modes, from 0 on, got 2",
        lambda: linear.plot("first"): "only must be places",
        lambda: linear.plot(amplitude="small"): "amplitude must be a finite number, got 'small'",
        lambda: mode.motion(np.nan): "amplitude must be a finite number",
        lambda: mode.motion(frames=-1): "frames must be a whole number that is not negative, got -1",
    }.items():
        with pytest.raises(ts.OptionError, match=words):
            ask()


@pytest.fixture
def torsor(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "arm.py").write_text(ARM)

    def command(line):
        status = status_of(line.split())
        return status, *capsys.readouterr()

    return command


def test_the_commands_tell_an_equilibrium_and_its_modes(torsor, tmp_path):
    status, text, trouble = torsor("equilibrium arm.py --set stiffness=40 --out rest.nc")
    assert (status, trouble) == (0, "")
    assert "equilibrium, stable" in text and "reaction of hinge: force (0, 0, 19.62) N" in text
    assert float(ts.load_result("rest.nc")["coordinate"][0]) == pytest.approx(0.2383, abs=1e-3)
    status, text, trouble = torsor("modes arm.py --plot shapes.png")
    assert (status, trouble) == (0, "") and "Hz, damping" in text and (tmp_path / "shapes.png").exists()
    status, text, _ = torsor("modes arm.py --at rest.nc@0 --set stiffness=40")
    assert status == 0 and "at rest" in text
    status, text, _ = torsor("modes arm.py --at hinge=0.5 --at hinge.rate=1")
    assert status == 0 and "about a motion" in text
    for line, words in {
        "modes arm.py --at rest.nc@soon": "--at rest.nc@soon: 'soon' is no time",
        "modes arm.py --at rest.nc@3": "no output at that time",
        "modes arm.py --at hinges=3": "unknown 'hinges'. Did you mean 'hinge'",
        "modes arm.py --at start --stable": "not together with --at",
    }.items():
        status, _, trouble = torsor(line)
        assert status == 2 and words in trouble
