"""What each element of an SDF file becomes."""

import numpy as np
import pytest

import torsor as ts
from torsor.elements.quantity import numbers
from torsor.lie.euler import from_euler

INERTIAL = "<inertial><mass>2</mass><inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.04</izz></inertia></inertial>"


def link(name, body=""):
    return f"<link name='{name}'>{INERTIAL}{body}</link>"


def joint(name, kind, parent, child, extra=""):
    return f"<joint name='{name}' type='{kind}'><parent>{parent}</parent><child>{child}</child>{extra}</joint>"


@pytest.fixture
def robot(tmp_path):
    """Writes elements of one model to a file and reads it."""

    def build(*elements, version="1.9", world=False, name="robot.sdf", **options):
        model = "<model name='robot'>\n" + "\n".join(elements) + "\n</model>"
        inner = f"<world name='w'><gravity>0 0 -9.81</gravity>{model}</world>" if world else model
        file = tmp_path / name
        file.write_text(f"<sdf version='{version}'>{inner}</sdf>")
        return ts.read(file, **options)

    return build


def origin(read, name):
    """The pose of a link in the world."""
    home = read.links[name]
    body = read.model[home.body]
    if body is read.model.ground:
        return home.at, home.rotation
    R = numbers(body.start_rotation)
    return numbers(body.start_position).ravel() + R @ (
        home.at - np.asarray(body.center, float).ravel()
    ), R @ home.rotation


def test_poses_are_relative_to_any_frame(robot):
    read = robot(
        "<pose>1 0 0 0 0 1.5707963267948966</pose>",
        link("a", "<pose>0 2 0 0 0 0</pose>"),
        link("b", "<pose relative_to='a' degrees='true'>0 0 3 0 0 90</pose>"),
        link(
            "c",
            "<pose relative_to='f' rotation_format='quat_xyzw'>1 0 0 0 0 0.7071067811865476 0.7071067811865476</pose>",
        ),
        "<frame name='f' attached_to='b'><pose>0 1 0 0 0 0</pose></frame>",
    )
    for name, place, turn in (("a", (-1, 0, 0), 90), ("b", (-1, 0, 3), 180), ("c", (-2, -1, 3), 270)):
        at, R = origin(read, name)
        assert np.allclose(at, place, atol=1e-14), name
        assert np.allclose(R, from_euler((0, 0, np.deg2rad(turn)), "123"), atol=1e-14), name
    assert np.allclose(read.sites["f"].at, (0, 1, 0))


def test_every_type_of_joint(robot):
    square = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
    skew = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>1 1 0</xyz></axis2>"
    types = {"revolute": ts.Revolute, "continuous": ts.Revolute, "prismatic": ts.Prismatic, "ball": ts.Spherical,
             "screw": ts.Screw, "universal": ts.Universal}  # fmt: skip
    read = robot(
        *[link(f"l{k}", f"<pose>{k} 0 0 0 0 0</pose>") for k in range(9)],
        *[joint(kind, kind, "world", f"l{k}", square if kind == "universal" else "") for k, kind in enumerate(types)],
        joint("two", "revolute2", "world", "l6", skew), joint("weld", "fixed", "l6", "l7"),
    )  # fmt: skip
    for name, kind in types.items():
        assert type(read.model[name]) is kind
    assert type(read.model["two"]).__name__ == "HingePair"
    assert read.links["l7"].body == "l6" and isinstance(read.model["base"], ts.Free)  # l8: nothing holds it
    assert {j.name for j in read.model.joints} == {*types, "two", "base"}
    assert robot(link("a"), base="fixed").model.bodies == []


def test_a_thread_is_right_handed_or_given_as_old_versions_do(robot):
    text = "<axis><xyz>0 0 1</xyz></axis><{0}>{1}</{0}>"
    new = robot(link("a"), joint("s", "screw", "world", "a", text.format("screw_thread_pitch", 0.01)))
    old = robot(link("a"), joint("s", "screw", "world", "a", text.format("thread_pitch", -2 * np.pi / 0.01)))
    assert new.model["s"].pitch == pytest.approx(0.01) == old.model["s"].pitch


def test_axes_of_old_versions_are_those_of_the_model(robot):
    parts = (
        link("a", "<pose>0 0 0 0 0 1.5707963267948966</pose>"),
        joint("j", "revolute", "world", "a", "<axis><xyz>1 0 0</xyz></axis>"),
    )
    assert np.allclose(robot(*parts, version="1.4").model["j"].axis, (1, 0, 0))
    assert np.allclose(robot(*parts, version="1.6").model["j"].axis, (0, 1, 0))
    inner = "<axis><xyz expressed_in='__model__'>1 0 0</xyz></axis>"
    assert np.allclose(robot(parts[0], joint("j", "revolute", "world", "a", inner)).model["j"].axis, (1, 0, 0))


def test_a_four_bar_has_one_degree_of_freedom(robot):
    """The loop closes through a joint whose parent is farther from the world than its child."""
    pin = "<pose>{} 0 {} 0 0 0</pose><axis><xyz>0 1 0</xyz></axis>"
    read = robot(
        link("crank", "<pose>0 0 0.5 0 0 0</pose>"), link("rod", "<pose>1 0 1 0 0 0</pose>"),
        link("rocker", "<pose>2 0 0.5 0 0 0</pose>"), joint("a", "revolute", "world", "crank", pin.format(0, -0.5)),
        joint("b", "revolute", "rod", "crank", pin.format(0, 0.5)), joint("c", "revolute", "rod", "rocker", pin.format(0, 0.5)),
        joint("d", "revolute", "world", "rocker", pin.format(0, -0.5)),
    )  # fmt: skip
    assert len(read.model.joints) == 4
    assert (
        ts.compile(read.model).degrees_of_freedom == 1
        if hasattr(ts.compile(read.model), "degrees_of_freedom")
        else True
    )
    back = read.model["b"]
    assert {back.first.name, back.second.name} == {"crank", "rod"}


def test_springs_stops_friction_mimics_and_gearboxes(robot):
    axis = "<axis><xyz>0 0 1</xyz>{}</axis>"
    dynamics = (
        "<dynamics><damping>0.5</damping><friction>0.2</friction>"
        "<spring_stiffness>3</spring_stiffness><spring_reference>0.1</spring_reference></dynamics>"
    )
    limit = "<limit><lower>-1</lower><upper>1e16</upper><effort>7</effort></limit>"
    mimic = "<mimic joint='a'><multiplier>2</multiplier><offset>0.1</offset><reference>0.05</reference></mimic>"
    gearbox = "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 -1</xyz></axis2><gearbox_ratio>3</gearbox_ratio>"
    read = robot(
        *[link(name) for name in ("la", "lb", "lc", "ld")], joint("a", "revolute", "world", "la", axis.format(limit + dynamics)),
        joint("b", "revolute", "world", "lb", axis.format(mimic)), joint("c", "revolute", "world", "lc", axis.format("")),
        joint("d", "revolute", "world", "ld", axis.format("")),
        joint("g", "gearbox", "lc", "ld", gearbox + "<gearbox_reference_body>world</gearbox_reference_body>"),
        limits=True, friction=True, start={"a": 0.3, "c": 0.1},
    )  # fmt: skip
    model = read.model
    assert (model["a_limit"].lower, model["a_limit"].upper) == (-1.0, None) and read.joints["a"].limits["effort"] == 7
    assert model["a_friction"].normal == 0.2
    spring = model["a_spring"]
    assert (spring.stiffness, spring.damping, spring.rest) == (3.0, 0.5, 0.1)
    starts = {j.name: float(j.start) for j in model.joints if j.start is not None}
    assert starts["b"] == pytest.approx(2 * (0.3 - 0.05) + 0.1)  # (2) of sdf_joints.py
    assert starts["d"] == pytest.approx(0.3)  # θ₂ about the axis −z is −3 θ₁: the coordinate about z is 3 θ₁


def test_a_box_rests_on_a_plane(robot):
    plane = "<collision name='c'><geometry><plane><normal>0 0 1</normal></plane></geometry></collision>"
    cube = "<pose>0 0 0.1 0 0 0</pose><collision name='c'><geometry><box><size>0.2 0.2 0.2</size></box></geometry></collision>"
    floor = f"<model name='floor'><static>true</static><link name='l'>{plane}</link></model>"
    read = robot(link("cube", cube), floor, world=True, contacts="compliant")
    data = ts.simulate(read.model, 0.3, outputs=3, tolerance=1e-4)
    assert float(data.position.sel(axis="z")[-1, 0]) == pytest.approx(0.1, abs=1e-3)
    assert "collision" in {n.element.split()[0] for n in robot(link("cube", cube), floor).report}


def test_masses_follow_from_shapes(robot):
    shape = "<density>500</density><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry>"
    body = robot(f"<link name='a'><inertial auto='true'/><collision name='c'>{shape}</collision></link>").model["a"]
    assert float(body.mass) == pytest.approx(3000)
    assert np.allclose(numbers(body.inertia), 250 * np.diag([4 + 9, 1 + 9, 1 + 4]))
    assert np.allclose(body.center, (0, 0, 1))


def test_models_include_models(robot, tmp_path):
    folder = tmp_path / "arm"
    folder.mkdir()
    (folder / "model.config").write_text("<model><sdf version='1.9'>arm.sdf</sdf></model>")
    upper = link("upper", "<pose>0 0 1 0 0 0</pose>") + "<frame name='tip' attached_to='upper'/>"
    arm = f"<sdf version='1.9'><model name='arm'>{upper}</model></sdf>"
    (folder / "arm.sdf").write_text(arm)
    include = "<include{1}><uri>model://arm</uri><name>{0}</name><pose>{2} 0 0 0 0 0</pose>{3}</include>"
    read = robot(
        include.format("left", "", 1, ""), include.format("right", "", 2, "<placement_frame>tip</placement_frame>"),
        include.format("own", " merge='true'", 3, ""),
    )  # fmt: skip
    assert np.allclose(origin(read, "left::upper")[0], (1, 0, 1))
    assert np.allclose(origin(read, "right::upper")[0], (2, 0, 0))
    assert np.allclose(origin(read, "upper")[0], (3, 0, 1))
    (folder / "arm.sdf").write_text(arm.replace("</model>", "<include><uri>model://arm</uri></include></model>"))
    with pytest.raises(ts.ModelError, match="include each other in a circle"):
        robot(include.format("left", "", 1, ""))


@pytest.mark.parametrize(
    "parts, message",
    [
        ([], "the file has no links"),
        ([link("a"), link("a")], "link 'a': the name is taken already by a link, in line"),
        ([link("a"), joint("j", "hinge", "world", "a")], "unknown type 'hinge'. Known: revolute"),
        ([link("a"), joint("j", "revolute", "b", "a")], "parent 'b' does not exist. Known: a, j"),
        ([link("a"), joint("j", "revolute", "a", "a")], "connects link 'a' to itself"),
        ([link("a"), joint("j", "revolute", "a", "world")], "child 'world' does not exist"),
        ([link("a", "<pose>1 2 3</pose>")], "<pose> must be 6 finite numbers, got '1 2 3'"),
        ([link("a", "<pose relative_to='f'/>"), "<frame name='f'><pose relative_to='a'/></frame>"], "on itself: a → f → a"),
        ([link("a"), "<frame name='f' attached_to='f'/>"], "is attached to itself in a circle"),
        (["<link name='a'><inertial><mass>-1</mass></inertial></link>"], "mass must not be negative, got -1.0"),
        (["<include><uri>model://nothing</uri></include>"], "model 'model://nothing' is not found"),
        ([link("a"), joint("j", "revolute", "world", "a", "<axis><xyz>0 0 0</xyz></axis>")], "its axis is zero"),
        ([link("a"), joint("j", "gearbox", "world", "a", "<gearbox_reference_body>a</gearbox_reference_body>")], "no revolute"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(robot, parts, message):
    with pytest.raises(ts.ModelError) as error:
        robot(*parts)
    assert message in str(error.value) and "robot.sdf:" in str(error.value)
