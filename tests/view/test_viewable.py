"""Everything that can be shown: bodies are where the analysis says, what cannot be shown is refused with what can."""

import numpy as np
import pytest

import torsor as ts
from torsor.lie import pose_stacks
from torsor.viewer.pack import unpack
from torsor.viewer.viewable import data_of
from torsor.viewer.viewer_page import escape


def swing():
    model = ts.Model("swing", gravity=(0, 0, -9.81))
    body = model.body("arm", inertia=ts.inertia.rod(2.0, 1.0, axis="x").move(at=(0.5, 0, 0)))
    model.add(ts.Revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 1, 0), start=0.3))
    return model


def arm_of(data):
    (body,) = data["bodies"]
    return np.array(body["p"]), pose_stacks.rotations(np.array(body["q"]))


def test_a_model_is_shown_at_its_start_and_can_still_be_changed():
    model = swing()
    p, _ = arm_of(data_of(model, "view"))
    assert np.allclose(p, (0.5 * np.cos(0.3), 0, -0.5 * np.sin(0.3)))
    model.body("more", mass=1.0, inertia=(1, 1, 1))


def test_an_equilibrium_a_simulation_and_an_assembly_are_shown_as_they_are():
    model = swing()
    p, _ = arm_of(data_of(ts.equilibrium(model, stable=True), "view"))
    assert np.allclose(p, (0, 0, -0.5), atol=1e-6)
    p, _ = arm_of(data_of(ts.assemble(model, {"hinge": -0.5}), "view", model=model))
    assert np.allclose(p, (0.5 * np.cos(0.5), 0, 0.5 * np.sin(0.5)), atol=1e-9)
    several = data_of(ts.assemble(model, {"hinge": np.linspace(0, 1, 4)}), "view", model=model)
    assert np.allclose(
        unpack(several["runs"][0]["poses"]["p"])[-1, 0], (0.5 * np.cos(1), 0, -0.5 * np.sin(1)), atol=1e-6
    )
    sim = ts.Simulation(model)
    sim.advance(0.1)
    p, _ = arm_of(data_of(sim, "view"))
    assert np.allclose(np.arctan2(-p[2], p[0]), sim.coordinates["hinge"])


def test_modes_are_shown_about_their_operating_point():
    """A rod that hangs swings with √(3g/2l)/2π; its centre moves across."""
    linear = ts.equilibrium(swing(), stable=True).linear
    (mode,) = data_of(linear, "view")["modes"]
    assert mode["frequency"] == pytest.approx(np.sqrt(1.5 * 9.81) / (2 * np.pi), rel=1e-6)
    displacement, rotation = (unpack(mode["shape"][what])[0, :, 0] for what in "pr")
    assert np.allclose(np.abs(displacement), (0.5, 0, 0), atol=1e-6) and np.allclose(
        np.abs(rotation), (0, 1, 0), atol=1e-6
    )
    assert data_of(linear.modes, "view", model=linear.model)["modes"] == [mode]


def test_sweeps_of_kinematics_and_runs_of_a_study_are_shown():
    model = swing()
    sweep = data_of(ts.kinematics(model, {"hinge": np.linspace(0, 1, 5)}), "view")
    assert sweep["runs"][0]["frames"] == 5 and sweep["joints"][0]["draw"] == "hinge"
    study = ts.study(model, 0.2, start={"hinge": [0.1, 0.2]}, outputs=3)
    shown = data_of(study, "view")
    assert [run["name"] for run in shown["runs"]] == ["run 0", "run 1"] and shown["joints"]


@pytest.mark.parametrize("over_time", [True, False])
def test_singular_positions_are_noted_and_marked_on_the_time_line(over_time):
    """A parallelogram is singular where its cranks lie in one line with its coupler, after a quarter of a turn."""
    model = ts.Model("parallelogram")
    parts = {"a": ((0, 0, 0), (0, 0, 1)), "c": ((0, 0, 1), (2, 0, 1)), "b": ((2, 0, 1), (2, 0, 0))}
    a, c, b = (
        model.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), at=tuple(np.mean(ends, axis=0)))
        for name, ends in parts.items()
    )
    for name, one, two, at in (
        ("A", model.ground, a, (0, 0, 0)), ("B", a, c, (0, 0, 1)), ("C", c, b, (2, 0, 1)), ("D", model.ground, b, (2, 0, 0))
    ):  # fmt: skip
        model.add(ts.Revolute(name, one, two, point=at, axis="y"))
    values = np.linspace(0, 2, 21)
    if over_time:
        model.add(ts.Drive("turn", model["A"], 0.5 * ts.time))
    found = data_of(
        ts.kinematics(model, times=2 * values) if over_time else ts.kinematics(model, {"A": values}), "view"
    )
    (event,) = found["runs"][0]["events"]
    where = np.pi if over_time else 10 * np.pi / 2  # [s]; of the sweep: in its positions from 0 on
    assert event["time"] == pytest.approx(where, abs=1e-6) and "singular position" in event["name"]
    (note,) = (note for note in found["info"]["notes"] if "singular" in note)
    assert ("t = 3.14159 s" if over_time else "A = 1.5708") in note


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda m, d: data_of(3, "view"), "view: give a torsor.Model, a result, a linear model or its modes"),
        (lambda m, d: data_of(m, "view", compare=d), "compare= needs a result to compare with"),
        (lambda m, d: data_of(d, "view", compare=3), "compare must be a result"),
        (lambda m, d: data_of(d, "view", model=3), "model must be a torsor.Model"),
        (lambda m, d: data_of(d, "view", model=ts.cases.load("pendulum")), "the model has no body 'arm'"),
        (lambda m, d: data_of(d.drop_vars("position"), "view"), "this result has no position"),
        (lambda m, d: data_of(ts.linearise(m).modes, "view"), "give it too (model=…)"),
        (lambda m, d: data_of(ts.assemble(m, {"hinge": 0.1}), "view"), "give it too (model=…)"),
    ],
)
def test_what_cannot_be_shown_is_refused(wrong, words):
    model = swing()
    with pytest.raises(ts.OptionError) as error:
        wrong(model, ts.simulate(model, 0.1, outputs=1))
    assert words in str(error.value)


def test_a_result_without_scene_is_shown_as_boxes_and_says_so():
    data = ts.simulate(swing(), 0.1, outputs=2)
    del data.attrs["scene"]
    shown = data_of(data.assign_attrs(torsor="0.1.0"), "view")
    assert [b["name"] for b in shown["bodies"]] == ["arm"] and shown["bodies"][0]["shapes"]
    assert "has no scene" in shown["info"]["notes"][0] and "torsor 0.1.0" in shown["info"]["notes"][1]


def test_a_model_that_cannot_be_assembled_is_shown_as_described_with_the_reason():
    model = swing()
    model.add(ts.Holonomic("far", model["arm"].position[2] - 7.0))
    shown = data_of(model, "view")
    assert np.allclose(shown["bodies"][0]["p"], (0.5, 0, 0)) and "far" in shown["info"]["warning"]


def test_a_missing_mesh_is_a_box_and_is_reported_once(tmp_path):
    model = ts.Model("m")
    gone = ts.shapes.mesh(tmp_path / "gone.stl", scale=0.001)
    model.body("b", mass=1.0, inertia=(1, 1, 1), shape=[gone, gone])
    torn = tmp_path / "torn.stl"
    torn.write_text("solid torn\nouter loop\nvertex 0 0\nendloop\n")
    model.body("c", mass=1.0, inertia=(1, 1, 1), shape=ts.shapes.mesh(torn))
    shown = data_of(model, "view")
    assert [s["kind"] for s in shown["bodies"][0]["shapes"]] == ["box", "box"] and not shown["meshes"]
    assert len([n for n in shown["info"]["notes"] if "gone.stl" in n]) == 1
    assert len([n for n in shown["info"]["notes"] if "torn.stl" in n]) == 1


@pytest.mark.parametrize("kind", ["stl", "stl_ascii", "obj"])
def test_meshes_of_files_come_with_their_scale(tmp_path, kind):
    trimesh = pytest.importorskip("trimesh")
    file = tmp_path / f"box.{kind[:3]}"
    trimesh.creation.box((1.0, 2.0, 3.0)).export(file, file_type=kind)
    model = ts.Model("m")
    model.body("b", mass=1.0, inertia=(1, 1, 1), shape=ts.shapes.mesh(file, scale=(2, 1, -1)))
    (mesh,) = data_of(model, "view")["meshes"]
    corners, faces = unpack(mesh["positions"]), unpack(mesh["indices"])
    assert np.allclose(np.ptp(corners, axis=0), (2, 2, 3), atol=1e-3) and len(faces) == 12
    a, b, c = (corners[faces[:, k]] for k in range(3))
    assert np.sum(np.cross(b - a, c - a) * a) / 6 == pytest.approx(12.0, rel=1e-3)  # volume: faces look outwards


def test_a_mesh_of_several_colours_is_drawn_in_them(tmp_path):
    """A glTF file: a red box, and a half transparent green one that its node moves; a colour that is given replaces both."""
    trimesh = pytest.importorskip("trimesh")
    whole = trimesh.Scene()
    for name, colour, x in (("a", (255, 0, 0, 255), 0.0), ("b", (0, 255, 0, 128), 5.0)):
        box = trimesh.creation.box((1.0, 1.0, 1.0))
        box.visual = trimesh.visual.TextureVisuals(material=trimesh.visual.material.PBRMaterial(baseColorFactor=colour))
        whole.add_geometry(box, node_name=name, transform=trimesh.transformations.translation_matrix((x, 0, 0)))
    file = tmp_path / "two.glb"
    whole.export(file)
    model = ts.Model("m")
    model.body("b", mass=1.0, inertia=(1, 1, 1), shape=ts.shapes.mesh(file))
    model.body("c", mass=1.0, inertia=(1, 1, 1), shape=ts.shapes.mesh(file, colour="blue"))
    shown = data_of(model, "view")
    one, two = (body["shapes"] for body in shown["bodies"])
    assert sorted(shape["colour"] for shape in one) == [[0, 1, 0, 0.502], [1, 0, 0, 1]]
    assert [shape["mesh"] for shape in one] == [shape["mesh"] for shape in two] == [0, 1]
    assert len({tuple(shape["colour"]) for shape in two}) == 1
    green = next(shape["mesh"] for shape in one if shape["colour"][1] == 1)
    assert unpack(shown["meshes"][green]["positions"])[:, 0].min() == pytest.approx(4.5, abs=1e-3)


def test_odd_names_stay_inside_their_script_element():
    """A thousand random texts: nothing that an HTML parser takes for markup is left, and JSON gives them back."""
    import json

    rng = np.random.default_rng(7)
    alphabet = [*"<>&\"'/\\!-a \n\t\x00", "\u2028", "\u2029", "😀", "\u202e", "</script>", "<!--", "]]>"]
    for _ in range(1000):
        name = "".join(rng.choice(alphabet, size=rng.integers(1, 12)))
        text = escape({name: [name, float("nan")]})
        assert not set("<>&\u2028\u2029") & set(text)
        assert json.loads(text) == {name: [name, None]}


@pytest.mark.parametrize("frames", [0, 1])
def test_results_with_no_or_one_output_and_no_body_are_shown(frames):
    data = ts.simulate(swing(), 0.1, outputs=2).isel(time=slice(0, frames))
    assert data_of(data, "view")["runs"][0]["frames"] == frames
    empty = ts.Model("empty")
    assert data_of(empty, "view")["bodies"] == []
