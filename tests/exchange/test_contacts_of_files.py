"""Collision shapes of MJCF files as contacts: what rests, holds and rolls."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts

TABLE = """<mujoco model="scene"><option gravity="0 0 -9.81"/><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body name="cart" pos="0 0 0.06"><freejoint/><geom name="box" type="box" size="0.1 0.08 0.05" mass="2"/>
    <body name="mast" pos="0 0 0.05"><joint name="mast" axis="0 1 0" damping="0.1" stiffness="50"/>
      <geom name="stick" type="capsule" fromto="0 0 0 0 0 0.2" size="0.02" mass="0.2" contype="0" conaffinity="0"/></body></body>
  <body name="ball" pos="0.5 0 0.05"><freejoint/><geom name="ball" size="0.05" mass="0.3"/></body>{more}</worldbody>
  <contact><exclude body1="cart" body2="ball"/></contact></mujoco>"""


@pytest.fixture
def scene(tmp_path):
    def read(more="", **options):
        file = tmp_path / "scene.xml"
        file.write_text(TABLE.format(more=more))
        return ts.read(file, **options)

    return read


def test_robots_stand_and_balls_rest(scene):
    robot = scene(contacts="compliant")
    assert [type(e).__name__ for e in robot.model.forces].count("CompliantContact") == 2
    data = ts.simulate(robot.model, 1.5, outputs=3, tolerance=1e-5)
    z = data.position.sel(axis="z", body=["cart", "ball"]).values
    assert np.abs(z[-1] - 0.05).max() < 1.1e-3 and np.abs(z[-1] - z[-2]).max() < 1e-4
    assert np.abs(data.position.sel(axis="x", body="cart").values[-1]) < 1e-4


def test_exact_contacts_are_those_of_spheres_on_planes(tmp_path):
    """A ball that is thrown onto a floor slides, then rolls with 5/7 of its speed, whatever the friction."""
    file = tmp_path / "ball.xml"
    file.write_text("""<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="ball" pos="0 0 0.05"><freejoint/>
      <geom size="0.05" mass="0.3"/></body></worldbody><keyframe><key name="throw" qvel="0.7 0 0 0 0 0"/></keyframe></mujoco>""")
    robot = ts.read(file, contacts="exact")
    data = ts.simulate(robot.model, 0.3, outputs=1, start=robot.keyframes["throw"])
    assert abs(float(data.velocity.sel(axis="x")[-1, 0]) - 0.5) < 1e-6
    assert abs(float(data.angular_velocity.sel(axis="y")[-1, 0]) - 10.0) < 1e-5


def test_exact_contacts_of_files_are_those_of_shapes(scene):
    """A box and balls on the floor, a ball above both; pairs without an exact contact are named."""
    more = '<body name="top" pos="0.5 0.001 0.16"><freejoint/><geom name="top" size="0.05" mass="0.1"/></body>'
    robot = scene(more, contacts="exact")
    assert {e.name: len(e.companions()) for e in robot.model.forces if isinstance(e, ts.ExactContact)} == {
        "floor_box": 8, "floor_ball": 1, "floor_top": 1, "top_box": 1, "top_ball": 1
    }  # fmt: skip
    more = '<body name="second" pos="0 0 1"><freejoint/><geom name="second" type="box" size="0.1 0.08 0.05"/></body>'
    notes = [n.message for n in scene(more, contacts="exact").report if n.element.startswith("contact of geom")]
    assert notes == ["there is no exact contact of a box and a box, take contacts='compliant'"]


def test_shapes_without_a_law_are_named(scene):
    found = scene(
        '<body pos="1 0 1"><freejoint/><geom name="egg" type="ellipsoid" size="0.1 0.2 0.3"/></body>',
        contacts="compliant",
    )
    notes = {n.element: n for n in found.report if n.kind == "unsupported" and "contact" in n.element}
    assert list(notes) == ["contact of geom 'egg'"] and notes["contact of geom 'egg'"].where.endswith("scene.xml:5")
    with pytest.raises(ts.ModelError, match="contacts must be 'compliant', 'exact' or None, got 'soft'"):
        scene(contacts="soft")


GRIPPER = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body name="lift" pos="0 0 0.1"><joint name="lift" type="slide" axis="0 0 1" damping="5"/>
    <inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>
    <body name="left" pos="0 0.045 -0.05"><joint name="left" type="slide" axis="0 -1 0" damping="2"/>
      <geom name="left" type="box" size="0.02 0.01 0.03" mass="0.2"/></body>
    <body name="right" pos="0 -0.045 -0.05"><joint name="right" type="slide" axis="0 1 0" damping="2"/>
      <geom name="right" type="box" size="0.02 0.01 0.03" mass="0.2"/></body></body>
  <body name="cube" pos="0 0 0.03"><freejoint/>
    <geom name="cube" type="box" size="0.03 0.03 0.03" mass="0.1"/></body></worldbody>
  <actuator><position name="lift" joint="lift" kp="2000" kv="100"/>
    <motor name="left" joint="left"/><motor name="right" joint="right"/></actuator></mujoco>"""


def test_a_gripper_lifts_a_box_and_holds_it(tmp_path):
    """Both fingers press with 10 N each; the box weighs 1 N and creeps by less than 0.1 mm in a second."""
    file = tmp_path / "gripper.xml"
    file.write_text(GRIPPER)
    robot = ts.read(file, contacts="compliant", actuators=True)
    names = list(robot.model.declared_inputs)
    sim = ts.Simulation(robot.model, tolerance=1e-4, method="radau5")
    sim.advance(0.2, **dict(zip(names, (0.0, 10.0, 10.0))))
    sim.advance(0.5, **{names[0]: 0.1})
    lifted = sim["cube.position"][2]
    sim.advance(1.0)
    assert lifted > 0.08 and abs(sim["cube.position"][2] - lifted) < 1e-4


def test_meshes_touch_with_their_hulls(tmp_path):
    """A wedge as a mesh presses with the corners that are below the floor, wherever its file has its origin and axes."""
    corners = "0 0 0  0.4 0 0  0 0.3 0  0.4 0.3 0  0 0 0.2  0 0.3 0.2"
    file = tmp_path / "wedge.xml"
    file.write_text(f"""<mujoco><asset><mesh name="wedge" vertex="{corners}"/></asset><worldbody><geom type="plane" size="1 1 1"/>
      <body name="wedge" pos="0.1 0.2 -0.01" euler="0 0 30"><freejoint/><geom type="mesh" mesh="wedge" mass="2"/></body>
      </worldbody></mujoco>""")
    robot = ts.read(file, contacts="compliant")
    (contact,) = [e for e in robot.model.forces if type(e).__name__ == "CompliantContact"]
    assert contact.kinds == ("plane", "polyhedron")
    lowest = sorted(touch.depth for touch in depths(contact, robot.model))
    np.testing.assert_allclose(
        lowest, [-0.19, -0.19, 0.01, 0.01, 0.01, 0.01], atol=1e-6
    )  # numbers of meshes are single


def depths(contact, model):
    """The touches of a contact in the reference configuration, with depths as numbers."""
    poses = [
        tuple(ca.SX(ca.DM(np.asarray(x, float))) for x in body.reference) for body in (contact.first, contact.second)
    ]
    return [touch._replace(depth=float(touch.depth)) for touch in contact.touches(poses)]
