"""What each element of a URDF becomes."""

import casadi as ca
import numpy as np
import pytest
from exchange_peer import Peer

import torsor as ts
from torsor.elements.quantity import numbers
from torsor.exchange import read, read_urdf


def inertial(mass=1.0, xyz="0 0 0", rpy="0 0 0", moments=(0.01, 0.02, 0.025)):
    xx, yy, zz = moments
    return (
        f'<inertial><origin xyz="{xyz}" rpy="{rpy}"/><mass value="{mass}"/>'
        f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}"/></inertial>'
    )


def link(name, body="", **given):
    return f'<link name="{name}">{inertial(**given) if given or not body else ""}{body}</link>'


def joint(name, kind, parent, child, extra=""):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{extra}</joint>'


@pytest.fixture
def robot(tmp_path):
    """Writes elements, one per line from line 2, to a file and reads it."""

    def build(*elements, **options):
        file = tmp_path / "robot.urdf"
        file.write_text('<robot name="robot">\n' + "\n".join(elements) + "\n</robot>\n")
        return read_urdf(file, **options)

    return build


def notes(read, kind):
    return {note.element: note.message for note in read.report if note.kind == kind}


def vector(x):
    return numbers(x).ravel()


def test_bodies_are_placed_in_the_world_by_the_chain_of_origins(robot):
    read = robot(
        link("base"),
        link("upper", xyz="0.1 0 0"),
        link("lower", xyz="0 0 0.2", rpy="0 0 1.5707963267948966", moments=(0.01, 0.02, 0.025)),
        joint("a", "revolute", "base", "upper", '<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>'),
        joint("b", "prismatic", "upper", "lower", '<origin xyz="1 0 0"/><axis xyz="0 2 0"/>'),
    )
    upper, lower = read.model["upper"], read.model["lower"]
    assert np.allclose(vector(upper.start_position), (1, 2.1, 3), atol=1e-15)
    assert np.allclose(vector(lower.start_position), (1, 3, 3.2), atol=1e-15)
    assert np.allclose(numbers(lower.start_rotation), [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    assert np.allclose(numbers(lower.inertia), np.diag([0.02, 0.01, 0.025]), atol=1e-17)  # turned with its own frame
    assert isinstance(read.model["a"], ts.Revolute) and isinstance(read.model["b"], ts.Prismatic)
    assert np.allclose(read.model["a"].axis, (0, 1, 0), atol=1e-15)  # the default axis x, turned
    assert np.allclose(read.model["b"].axis, (-1, 0, 0), atol=1e-15)
    assert read.links["lower"].body == "lower" and not read.links["lower"].at.any()


def test_signals_of_points_are_in_the_axes_of_the_link(robot):
    """`body.point` counts from the link's origin, though the body's position is its centre of mass."""
    read = robot(link("base"), link("arm", xyz="0 0 0.4"), joint("a", "revolute", "base", "arm", '<axis xyz="0 1 0"/>'),
                 start={"a": np.pi / 2})  # fmt: skip
    read.model.signal("tip", read.model["arm"].point((0, 0, 1))[0])
    data = ts.simulate(read.model, 0.01, outputs=1)
    assert data.tip.values[0] == pytest.approx(1.0, abs=1e-12)
    assert data.position.values[0, 0] == pytest.approx((0.4, 0, 0), abs=1e-12)


def test_links_on_fixed_joints_are_composed_or_kept(robot):
    parts = [
        link("base"), link("arm", mass=2), link("tool", mass=1), link("frame", body="<visual/>"),
        joint("a", "revolute", "base", "arm"),
        joint("f", "fixed", "arm", "tool", '<origin xyz="0.3 0 0"/>'),
        joint("g", "fixed", "tool", "frame", '<origin xyz="0 0.1 0"/>'),
    ]  # fmt: skip
    merged, kept = robot(*parts), robot(*parts, merge_fixed=False)
    assert [b.name for b in merged.model.bodies] == ["arm"]
    assert float(merged.model["arm"].mass) == 3
    assert np.allclose(vector(merged.model["arm"].start_position), (0.1, 0, 0))
    steiner = 2 * 0.1**2 + 1 * 0.2**2
    assert np.allclose(numbers(merged.model["arm"].inertia), np.diag([0.02, 0.04 + steiner, 0.05 + steiner]))
    assert merged.links["frame"].body == "arm" and np.allclose(merged.links["frame"].at, (0.3, 0.1, 0))
    assert [b.name for b in kept.model.bodies] == ["arm", "tool"] and isinstance(kept.model["f"], ts.Fixed)
    assert kept.links["frame"].body == "tool"
    a, b = (ts.compile(r.model, formulation="absolute").accelerations().reshape(-1, 6)[0] for r in (merged, kept))
    assert np.allclose(a[3:], b[3:], rtol=1e-10)


def test_a_free_base_moves_freely_and_starts_where_it_is_told(robot):
    """Rates of the base are those of the link's frame, in its own axes: v of the centre is that of the origin plus ω × r."""
    rate = (0, 0, 2, 0.5, 0, 0)
    read = robot(
        link("body", xyz="1 0 0"), base="free", start={"base": (0, 0, np.pi / 2, 0, 0, 5)}, start_rate={"base": rate}
    )
    dynamics = ts.compile(read.model, formulation="absolute")
    assert np.allclose(dynamics.q[:3], (0, 1, 5))
    assert np.allclose(dynamics.v, (-2, 0.5, 0, 0, 0, 2), atol=1e-14)


def test_planar_and_floating_joints(robot):
    read = robot(link("base"), link("slab"), link("stone"), joint("p", "planar", "base", "slab", '<axis xyz="0 0 1"/>'),
                 joint("f", "floating", "slab", "stone", '<origin xyz="0 0 1"/>'), start={"p": (0.1, 0.2, 0.3)})  # fmt: skip
    assert isinstance(read.model["p"], ts.Planar) and isinstance(read.model["f"], ts.Free)
    assert np.allclose(
        ts.compile(read.model, formulation="absolute").accelerations(), [0] * 8 + [-9.81, 0, 0, 0], atol=1e-12
    )


def test_damping_acts_and_friction_and_limits_are_told(robot):
    read = robot(
        link("base"), link("arm"),
        joint("a", "revolute", "base", "arm", '<axis xyz="0 0 1"/><dynamics damping="0.5" friction="0.1" k="2"/>'
              '<limit lower="-1" upper="2" effort="30" velocity="inf"/><safety_controller k_position="1"/>'),
        start_rate={"a": 3.0},
    )  # fmt: skip
    assert read.limits == {"a": {"lower": -1, "upper": 2, "effort": 30, "velocity": np.inf}}
    assert ts.compile(read.model, formulation="absolute").accelerations()[5] == pytest.approx(-0.5 * 3 / 0.025)
    told = notes(read, "ignored")
    assert {"friction of joint 'a'", "k of joint 'a'", "limit of joint 'a'", "safety_controller of joint 'a'"} <= set(
        told
    )


def test_mimic_joints_follow_also_through_each_other(robot):
    axis = '<origin xyz="1 0 0"/><axis xyz="0 0 1"/>'
    follow = '<mimic joint="{}" multiplier="{}" offset="{}"/>'
    read = robot(
        link("base"), link("a", xyz="0.5 0 0"), link("b", xyz="0.5 0 0"), link("c", xyz="0.5 0 0"),
        joint("c", "revolute", "b", "c", axis + follow.format("b", -1, 0)),
        joint("a", "revolute", "base", "a", axis),
        joint("b", "revolute", "a", "b", axis + follow.format("a", 2, 0.3)),
        start={"a": 0.2}, start_rate={"a": 1.0}, gravity=(0, -9.81, 0),
    )  # fmt: skip
    data = ts.simulate(read.model, 1.0, outputs=5, tolerance=1e-10)
    q = {name: data.coordinate.sel(joint_coordinate=entry.joint.name).values for name, entry in read.joints.items()}
    assert q["a"][0] == pytest.approx(0.2) and np.ptp(q["a"]) > 0.1
    assert np.allclose(q["b"], 2 * q["a"] + 0.3, atol=1e-9) and np.allclose(q["c"], -q["b"], atol=1e-9)


def test_massless_links_between_hinges_become_one_joint(robot):
    """A shoulder of three hinges, and one of two, with nothing between them: MuJoCo has them as several joints of a body."""
    x, y, z = (f'<axis xyz="{a}"/>' for a in ("1 0 0", "0 -1 0", "0 0 1"))
    read = robot(
        link("base"), '<link name="v1"/>', '<link name="v2"/>', link("upper", xyz="0 0 -0.4"), '<link name="v3"/>',
        link("lower", xyz="0 0.1 -0.3"),
        joint("s1", "revolute", "base", "v1", z), joint("s2", "revolute", "v1", "v2", x),
        joint("s3", "revolute", "v2", "upper", y + '<dynamics damping="0.2"/>'),
        joint("e1", "revolute", "upper", "v3", '<origin xyz="0 0 -1"/>' + y + '<dynamics damping="0.3"/>'),
        joint("e2", "revolute", "v3", "lower", z),
        start=(q := {"s1": 0.3, "s2": -0.5, "s3": 0.4, "e1": 0.7, "e2": -0.2}),
        start_rate=(v := {"s1": 1, "s2": -2, "s3": 0.5, "e1": 1.5, "e2": 3}),
    )  # fmt: skip
    body = '<inertial pos="{}" mass="1" diaginertia="0.01 0.02 0.025"/>'
    hinge = '<joint name="{}" axis="{}" damping="{}"/>'
    peer = Peer(
        f"""<mujoco><worldbody><body name="upper">{hinge.format("s1", "0 0 1", 0)}{hinge.format("s2", "1 0 0", 0)}
        {hinge.format("s3", "0 -1 0", 0.2)}{body.format("0 0 -0.4")}<body name="lower" pos="0 0 -1">
        {hinge.format("e1", "0 -1 0", 0.3)}{hinge.format("e2", "0 0 1", 0)}{body.format("0 0.1 -0.3")}</body></body>
        </worldbody></mujoco>"""
    )
    peer.set(q, v)
    ours = ts.compile(read.model, formulation="absolute").accelerations().reshape(-1, 6)
    theirs = np.array([np.concatenate(peer.body(name)[2:]) for name in ("upper", "lower")])
    assert np.abs(ours - theirs).max() < 1e-11 * np.abs(theirs).max()
    assert {"joints 's1', 's2', 's3'", "joints 'e1', 'e2'"} <= set(notes(read, "renamed"))
    assert "link 'v1'" in notes(read, "approximated")


def test_without_strictness_idle_joints_are_held_and_inertias_repaired(robot):
    parts = (
        link("base"), link("arm", moments=(1, 1, 3)), '<link name="cover"/>',
        joint("a", "revolute", "base", "arm"),
        joint("c", "revolute", "arm", "cover", '<mimic joint="a"/>'),
    )  # fmt: skip
    with pytest.raises(ts.ModelError, match="link 'cover' moves"):
        robot(*parts)
    read = robot(*parts, strict=False)
    assert list(read.joints) == ["a"]
    assert np.allclose(np.linalg.eigvalsh(numbers(read.model["arm"].inertia)), (1.5, 1.5, 3))
    told = notes(read, "approximated")
    assert "held in its zero position" in told["joint 'c'"] and "impossible" in told["body 'arm'"]


def test_inertia_without_mass_is_left_out(robot):
    read = robot(link("base"), link("arm"), link("foot", mass=0), joint("a", "revolute", "base", "arm"),
                 joint("f", "fixed", "arm", "foot"))  # fmt: skip
    assert np.allclose(numbers(read.model["arm"].inertia), np.diag([0.01, 0.02, 0.025]))
    assert "inertia of link 'foot'" in notes(read, "ignored")


def test_names_that_torsor_does_not_take_are_changed_and_told(robot):
    read = robot(link("base"), link("link 1.0"), link("ground"), link("arm"), joint("joint/1", "revolute", "base", "link 1.0"),
                 joint("2", "revolute", "link 1.0", "ground"), joint("arm", "revolute", "ground", "arm"))  # fmt: skip
    assert [b.name for b in read.model.bodies] == ["link_1_0", "ground_body", "arm"]
    assert [j.name for j in read.model.joints] == ["joint_1", "_2", "arm_joint"]
    assert read.joints["joint/1"].joint is read.model["joint_1"] and read.links["ground"].body == "ground_body"
    assert len(notes(read, "renamed")) == 5


def test_everything_left_out_is_reported_with_its_line(robot):
    read = robot(
        link("base", "<collision/><contact/>"),
        '<gazebo reference="base"/>',
        '<transmission name="t"/>',
        "<ros2_control/>",
    )
    told = {str(note).split("robot.urdf:")[1] for note in read.report}
    assert told == {
        "2: ignored: contact of link 'base': not a part of the mechanism",
        "2: ignored: collision of link 'base': 1 collision shape: contact is not simulated",
        "3: ignored: gazebo: not a part of the mechanism",
        "4: ignored: transmission 't': only a SimpleTransmission of one actuator on one joint can act",
        "5: ignored: ros2_control: not a part of the mechanism",
    }


def test_transmissions_turn_inputs_into_torques(robot):
    """F = reduction · u on the joint, within its effort; without actuators=True they are reported."""
    drive = (
        '<transmission name="drive"><type>transmission_interface/SimpleTransmission</type><joint name="hinge"/>'
        '<actuator name="motor"><mechanicalReduction>{}</mechanicalReduction></actuator></transmission>'
    )
    hinge = joint("hinge", "continuous", "base", "arm", '<axis xyz="0 1 0"/><limit effort="6" velocity="9"/>')
    parts = (link("base"), link("arm"), hinge)
    read = robot(*parts, drive.format(50), actuators=True)
    force = read.model["motor_force"]
    assert list(read.model.declared_inputs) == ["motor"]
    f = ca.Function("f", [read.model.declared_inputs["motor"].symbol], [force.value])
    assert [float(f(u)) for u in (0.1, 1.0, -1.0)] == [5.0, 6.0, -6.0]
    left = robot(*parts, drive.format(50))
    assert "transmission 'drive'" in notes(left, "ignored") and not left.model.declared_inputs
    with pytest.raises(ts.ModelError, match="mechanicalReduction must be a number other than zero, got '0'"):
        robot(*parts, drive.format(0), actuators=True)
    with pytest.raises(ts.ModelError, match="drives joint 'knee', which does not exist"):
        robot(*parts, drive.format(50).replace('"hinge"', '"knee"'), actuators=True)
    assert "transmission 'drive'" in notes(robot(*parts, drive.format(50).replace('"hinge"', '"knee"')), "questionable")


def test_shapes_are_kept_for_viewing(robot, tmp_path):
    for place in ("robot_description/meshes/a.stl", "elsewhere/b.stl"):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).touch()
    visual = '<visual><origin xyz="0 0 1"/><geometry>{}</geometry>{}</visual>'
    mesh = '<mesh filename="{}" scale="2 2 2"/>'
    red = '<material name="red"><color rgba="1 0 0 1"/></material>'
    shapes = [
        visual.format(mesh.format("package://robot_description/meshes/a.stl"), '<material name="red"/>'),
        visual.format(mesh.format("package://other/b.stl"), ""),
        visual.format(mesh.format("elsewhere/b.stl"), ""),
        visual.format(mesh.format("http://example.org/c.stl"), ""),
        visual.format('<cylinder radius="0.1" length="2"/>', red),
        visual.format('<box size="1 2 3"/>', ""),
        visual.format("<teapot/>", ""),
    ]
    parts = [red, link("base"), link("arm"), link("tool", "".join(shapes)), joint("a", "revolute", "base", "arm"),
             joint("f", "fixed", "arm", "tool", '<origin xyz="0 1 0"/>')]  # fmt: skip
    read = robot(*parts, packages={"other": tmp_path / "elsewhere"})
    found = read.visuals["arm"]
    assert [v.kind for v in found] == ["mesh"] * 4 + ["cylinder", "box"]
    assert [v.file and v.file.rsplit("/", 1)[1] for v in read.meshes["arm"]] == ["a.stl", "b.stl", "b.stl", None]
    assert found[0].colour == (1, 0, 0, 1) == found[4].colour and found[1].colour is None
    assert np.allclose(found[0].at, (0, 1, 1)) and found[0].size == (2, 2, 2) and found[0].link == "tool"
    assert "mesh 'http://example.org/c.stl' of link 'tool'" in notes(read, "missing")
    assert "teapot of link 'tool'" in notes(read, "unsupported")


def test_read_chooses_by_the_root_element(robot, tmp_path):
    robot(link("base"))
    (tmp_path / "robot.urdf").rename(tmp_path / "robot.xml")
    assert read(tmp_path / "robot.xml", base="free").model.name == "robot"
