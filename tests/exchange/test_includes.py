"""Files that include files: found as MuJoCo finds them, and named where something is said about their elements."""

import mujoco
import numpy as np
import pytest

import torsor as ts

SCENE = """<mujoco model="scene">
  <include file="sub/robot.xml"/>
  <worldbody><geom name="floor" type="plane" size="1 1 1"/></worldbody>
</mujoco>
"""
ROBOT = """<mujoco>
  <include file="{}"/>
  <worldbody>
    <body name="arm" pos="0 0 1">
      <joint name="hinge" axis="0 1 0" range="-1 1" limited="true"/>
      <joint axis="1 0 0" armature="0.1"/>
      <geom name="link" type="capsule" size="0.1" fromto="0 0 0 0 0 1"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="motor" joint="hinge"/>
  </actuator>
</mujoco>
"""
PART = """<mujoco>

  <worldbody><body name="{}" pos="1 0 0"><freejoint/><geom name="ball" type="sphere" size="0.1"/></body></worldbody>
</mujoco>
"""
FILES = {"part.xml": "outer", "sub/part.xml": "inner", "sub/beside.xml": "beside", "sub/deep/far.xml": "far"}


def written(folder, inner):
    for name, text in {"scene.xml": SCENE, "sub/robot.xml": ROBOT.format(inner)}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for name, body in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(PART.format(body))
    return folder / "scene.xml"


@pytest.mark.parametrize(
    "inner", ["part.xml", "sub/part.xml", "../part.xml", "beside.xml", "deep/far.xml", "sub/deep/far.xml"]
)
def test_nested_includes_are_found_as_in_mujoco(inner, tmp_path):
    file = written(tmp_path, inner)
    spec = mujoco.MjSpec.from_file(str(file))
    found = ts.read(file)
    assert {b.name for b in found.model.bodies} == {b.name for b in spec.bodies if b.name != "world"}
    body = next(b.name for b in found.model.bodies if b.name != "arm")
    where = {note.element: note.where for note in found.report}
    robot, part = tmp_path / "sub/robot.xml", next(tmp_path / name for name, of in FILES.items() if of == body)
    assert where["contact of body 'arm'"] == f"{robot}:4"
    assert where["range of joint 'hinge'"] == f"{robot}:5"
    assert where["actuator 'motor'"] == f"{robot}:11"
    assert where[f"contact of body {body!r}"] == f"{part}:3"
    assert not any(place.endswith(":0") for place in where.values())


def test_an_include_that_is_nowhere_is_named(tmp_path):
    with pytest.raises(ts.ModelError, match=r"robot.xml:2: include: there is no file .*none.xml"):
        ts.read(written(tmp_path, "none.xml"))


def test_a_file_that_includes_itself_is_refused(tmp_path):
    with pytest.raises(ts.ModelError, match="includes itself|MuJoCo refuses it"):
        ts.read(written(tmp_path, "robot.xml"))


MESH = """<mujoco><compiler meshdir="meshes"{}/>
  <asset><mesh name="shell" file="shell.stl"/></asset>
  <worldbody><body name="ball" pos="0 0 2"><freejoint/>{}
    <geom type="mesh" mesh="shell"/></body></worldbody></mujoco>
"""
INERTIAL = '<inertial pos="0 0 0.1" mass="2" diaginertia="0.1 0.2 0.25"/>'


def test_an_absent_mesh_is_tolerated_where_the_inertia_is_given(tmp_path):
    (tmp_path / "robot.xml").write_text(MESH.format("", INERTIAL))
    found = ts.read(tmp_path / "robot.xml")
    assert [(n.element, n.where) for n in found.report if "mesh" in n.element] == [
        ("mesh 'shell.stl' of body 'ball'", f"{tmp_path / 'robot.xml'}:4")
    ]
    data = ts.simulate(found.model, 1.0, outputs=[1.0])
    assert data.position.sel(axis="z").item() == pytest.approx(2.1 - 9.81 / 2, abs=1e-9)
    np.testing.assert_allclose(float(found.model.bodies[0].mass), 2.0)


@pytest.mark.parametrize("compiler, inertial", [("", ""), (' inertiafromgeom="true"', INERTIAL)])
def test_an_absent_mesh_from_which_the_inertia_follows_is_refused(compiler, inertial, tmp_path):
    (tmp_path / "robot.xml").write_text(MESH.format(compiler, inertial))
    with pytest.raises(ts.ModelError, match=r"robot.xml:4: body 'ball': its inertia follows from the mesh 'shell.stl'"):
        ts.read(tmp_path / "robot.xml")
