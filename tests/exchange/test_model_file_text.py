"""Model files that people write: units, solids, expressions, includes, references in any order, values that are expected."""

import numpy as np
import pytest

import torsor as ts
from torsor.cli import status_of
from torsor.cli.check_command import compare_with_expected
from torsor.cli.model_source import load
from torsor.store.model_files.read_model import read_text

HEAD = "torsor: 1\nmodel: m\n"
ROD = "  rod: {inertia: {solid: rod, mass: 2, length: 500 mm, axis: x}, at: [25 cm, 0, 0]}\n"
SWING = f"""{HEAD}gravity: [0, 0, -9.81]
run: {{until: 0.2 s}}
elements:
  motor: {{type: joint-force, joint: hinge, value: "torque(time) - c * hinge.rate + lead"}}   # named before they are described
  hinge: {{type: revolute, first: ground, second: rod, point: [0, 0, 0], axis: y, start: 30 deg, start_rate: 60 rpm}}
bodies:
{ROD}
tables:
  torque: {{points: [0, 1], values: [0, 2]}}
parameters: {{c: 0.3 N*m*s/rad}}
let: {{lead: 2 * e, e: sin(time)}}
expect:
  - {{time: 0, values: {{hinge.coordinate: 30 deg, "hinge.rate": 2 * pi}}}}
"""


def test_units_solids_tables_and_definitions():
    model = read_text(SWING)
    assert model["rod"].mass == 2.0 and model["rod"].start_position[0] == 0.25
    hinge = model["hinge"]
    assert float(hinge.start) == pytest.approx(np.pi / 6, rel=1e-15)
    assert float(hinge.start_rate) == pytest.approx(2 * np.pi, rel=1e-15)
    assert model.parameters["c"].value == 0.3
    by_hand = ts.Model("m", gravity=(0, 0, -9.81))
    rod = by_hand.body("rod", inertia=ts.inertia.rod(2, 0.5, axis="x"), at=(0.25, 0, 0))
    ours = by_hand.add(ts.Revolute("hinge", by_hand.ground, rod, point=(0, 0, 0), axis="y", start=np.pi / 6))
    assert np.array_equal(np.array(model["hinge"].placed_numbers), np.array(ours.placed_numbers))


def test_expressions_mean_what_they_say():
    text = HEAD + "bodies:\n" + ROD + "signals:\n"
    cases = {
        "2 + 3 * 4**2 / 8 - -1": 9.0,
        "-2**2": -4.0,
        "(1 < 2) + (2 >= 2) + (3 != 3) + (not 0)": 3.0,
        "max(1, min(5, 3)) + abs(-2) + if_else(1 > 2, 10, 20)": 25.0,
        "norm([3, 4, 0]) + dot([1, 2, 3], [1, 1, 1])": 11.0,
        "[[1, 2], [3, 4]][1, 0] + cross([1, 0, 0], [0, 1, 0])[2]": 4.0,
        "180 deg / pi + 1e-3 km": 2.0,
        "2 * rod.position[0] * 0 + hypot(3, 4)": 5.0,
    }
    model = read_text(text + "".join(f'  s{k}: "{e}"\n' for k, e in enumerate(cases)))
    assert [float(x) for x in model.signals.values()] == pytest.approx(list(cases.values()), rel=1e-15)


def test_files_include_files(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "leg.yaml").write_text(
        SWING.replace("model: m", "model: leg") + "ports: {foot: {body: rod, at: [1, 0, 0]}}\n"
    )
    text = (
        HEAD
        + "include:\n  left: {file: parts/leg.yaml, at: [0, 1, 0], rotation: [0, 0, 90 deg], parameters: {c: 2 * stiff}}\n"
    )
    text += "  row: {file: parts/leg.yaml, count: 2, pitch: [1, 0, 0]}\nparameters: {stiff: 1}\n"
    text += "elements:\n  tie: {type: distance, first: left.rod, second: row1.rod}\n"
    (tmp_path / "all.yaml").write_text(text)
    model = ts.read(tmp_path / "all.yaml").model
    assert [b.name for b in model.bodies] == ["left.rod", "row0.rod", "row1.rod"]
    assert np.allclose(model["left.rod"].reference[0], [0, 1.25, 0], atol=1e-15)
    assert [*model.parameters] == ["stiff", "row0.c", "row1.c"] and model["left"].foot.body is model["left.rod"]


def test_expected_values_are_checked(tmp_path):
    """What `torsor check` says of them; it checks the laws of mechanics besides."""
    (tmp_path / "swing.yaml").write_text(SWING)
    findings = compare_with_expected(load(str(tmp_path / "swing.yaml"), {}), {})
    assert [finding.holds for finding in findings] == [True, True]
    (tmp_path / "swing.yaml").write_text(SWING.replace("2 * pi}", "6.2}"))
    findings = compare_with_expected(load(str(tmp_path / "swing.yaml"), {}), {})
    assert [finding.holds for finding in findings] == [True, False] and "instead of 6.2" in findings[1].words


def test_convert_writes_a_model_file(tmp_path, capsys):
    assert status_of(["convert", "four-bar", str(tmp_path / "bar.yaml")]) == 0
    assert len(ts.read(tmp_path / "bar.yaml").model.bodies) == len(ts.cases.load("four-bar").bodies)
    assert status_of(["convert", "four-bar", str(tmp_path / "bar.doc")]) == 2
