"""What is wrong with an assembly or its table is said in one message with the place and what is allowed."""

import pytest
from step_files import box, cut, cylinder, placed, write_step

import torsor as ts


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    plate = cut(box(60, 20, 5), cylinder(4, 5, (10, 10, 0)), cylinder(4, 5, (50, 10, 0)))
    pin = cylinder(4, 12)
    tree = {"plate": plate, "pin": (pin, placed((10, 10, 0))), "left": {"knob": (box(1, 1, 1), placed((0, 0, 50)))}}
    tree["right"] = {"knob": (box(2, 2, 2), placed((50, 0, 50)))}
    return write_step(tmp_path_factory.mktemp("step") / "plate.step", tree)


def joint(**given):
    return {"pivot": {"type": "revolute", **given}}


WRONG = {
    "two faces fit": (
        joint(at="cylinder d=8 on plate", second="pin"),
        "2 faces of 'plate' fit: cylinder d=8 mm at (10, 10, 2.5) mm.* and cylinder",
    ),
    "no face fits": (joint(at="cylinder d=9 on plate", second="pin"), "no such face; 'plate' has cylinder d=8 mm"),
    "unknown part": (joint(at="cylinder d=8 on plat nearest pin"), "unknown part 'plat'. Did you mean 'plate'"),
    "names twice": (
        joint(first="knob", second="pin", point=[0, 0, 0], axis="z"),
        "2 parts are called 'knob': left/knob, right/knob; write more of the path",
    ),
    "unknown kind of face": (joint(at="cone on plate"), "unknown kind of face 'cone'"),
    "unknown word": (joint(at="cylinder d=8 on plate beside pin"), "unknown word 'beside'"),
    "unknown size": (joint(at="cylinder q=8 on plate"), "unknown size 'q'"),
    "unknown unit": (joint(at="cylinder d=8furlong on plate"), "unknown unit 'furlong'"),
    "no part": (joint(at="cylinder d=8"), "says not on which part"),
    "unknown type": (
        {"pivot": {"type": "revolut", "at": "cylinder d=8 on pin"}},
        "unknown type 'revolut'. Did you mean 'revolute'",
    ),
    "unknown key": (joint(at="cylinder d=8 on pin", ax="z"), "unknown key 'ax'"),
    "one end": (joint(at="cylinder d=8 on pin"), "give `first` and `second`"),
    "no axis": (joint(first="ground", second="pin", point=[0, 0, 0]), "give `axis`"),
    "no place": (joint(first="ground", second="pin", axis="z"), "give `point`, or `at` with a face"),
    "one body": (
        {"joints": joint(first="plate", second="pin", point=[0, 0, 0], axis="z"), "weld": [["plate", "pin"]]},
        "both parts are in body 'plate'",
    ),
    "no type": ({"pivot": {"at": "cylinder on pin"}}, "`type` is missing"),
    "unknown section": ({"joints": {}, "densitys": 1}, "unknown key 'densitys'. Did you mean 'densities'"),
    "a number": (7, "joints must be the name of a YAML or CSV file"),
}  # fmt: skip


@pytest.mark.parametrize("given, message", WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_a_table_is_said(given, message, file):
    pattern = message.replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(ts.ModelError, match=pattern) as error:
        ts.read(file, joints=given, densities=1000)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "given, message",
    [
        ({"*": -1}, "a density such as 7850"), ({"*": "3 mm"}, "a density such as 7850"), ("heavy", "a density such as 7850"),
        ({"plat": 1}, "unknown part 'plat'"), ({"x*": 1}, "no part matches"),
    ],
)  # fmt: skip
def test_densities_that_are_none_are_refused(given, message, file):
    with pytest.raises(ts.ModelError, match=message):
        ts.read(file, densities=given)


def test_a_file_of_joints_is_quoted_with_its_line(file, tmp_path):
    (tmp_path / "j.yaml").write_text("joints:\n  pivot: {type: revolute, at: cylinder on nothing}\n")
    with pytest.raises(ts.ModelError, match=r"j\.yaml:2:3: joint 'pivot'.*unknown part 'nothing'"):
        ts.read(file, joints=tmp_path / "j.yaml")
    (tmp_path / "j.csv").write_text("name;type;at\npivot;revolute;cylinder on nothing\n")
    with pytest.raises(ts.ModelError, match=r"j\.csv:2: joint 'pivot'.*unknown part 'nothing'"):
        ts.read(file, joints=tmp_path / "j.csv")


def test_step_files_without_solids_or_with_unknown_units_are_refused(file, tmp_path):
    from OCP.BRepBuilderAPI import BRepBuilderAPI_MakeFace
    from OCP.gp import gp_Pln

    face = BRepBuilderAPI_MakeFace(gp_Pln(), 0, 10, 0, 10).Face()
    with pytest.raises(ts.ModelError, match="has no solids, only .*sheet"):
        ts.read(write_step(tmp_path / "sheet.step", {"sheet": face}))
    text = file.read_text()
    assert "SI_UNIT(.MILLI.,.METRE.)" in text
    (tmp_path / "unit.step").write_text(text.replace("SI_UNIT(.MILLI.,.METRE.)", "SI_UNIT($,.KELVIN.)"))
    with pytest.raises(ts.ModelError, match="its unit of length is not known"):
        ts.read(tmp_path / "unit.step")
    (tmp_path / "half.step").write_text(text[: len(text) // 3])
    with pytest.raises(ts.ModelError, match="half.step"):
        ts.read(tmp_path / "half.step")


def test_lengths_in_other_units_are_converted(file, tmp_path):
    metres = file.read_text().replace("SI_UNIT(.MILLI.,.METRE.)", "SI_UNIT($,.METRE.)")
    (tmp_path / "metres.step").write_text(metres)
    small, large = ts.read(file, densities=1000), ts.read(tmp_path / "metres.step", densities=1000)
    assert large.masses["pin"] == pytest.approx(1e9 * small.masses["pin"], rel=1e-12)


def test_parts_of_one_name_become_bodies_of_different_names(file):
    found = ts.read(file, densities=1000)
    assert [b.name for b in found.model.bodies] == ["plate", "pin", "left_knob", "right_knob"]
    assert [n.element for n in found.report if n.kind == "renamed"] == ["part 'left/knob'", "part 'right/knob'"]


def test_a_point_far_away_is_questionable(file):
    row = joint(first="ground", second="pin", point=[0, 0, "12 m"], axis="z")
    (note,) = [n for n in ts.read(file, joints=row, densities=1000).report if "pivot" in n.element]
    assert note.kind == "questionable" and "is its unit right?" in note.message
