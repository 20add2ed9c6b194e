"""Model files that follow an import, and named configurations."""

from pathlib import Path

import pytest

import torsor as ts
from torsor.cli import status_of

ARM = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
<link name="lower"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>{extra}
<joint name="a" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<dynamics damping="{damping}"/></joint>
<joint name="b" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="0 0 {length}"/><axis xyz="0 1 0"/></joint>
</robot>"""
TOOL = """<link name="tool"><inertial><mass value="0.5"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
<joint name="c" type="continuous"><parent link="lower"/><child link="tool"/><axis xyz="1 0 0"/></joint>"""


@pytest.fixture
def arm(tmp_path, monkeypatch):
    """Writes a robot, and merges it into arm.yaml."""
    monkeypatch.chdir(tmp_path)

    def update(damping=0.1, length=0.5, extra=""):
        Path("arm.urdf").write_text(ARM.format(damping=damping, length=length, extra=extra))
        return ts.update_model(ts.read("arm.urdf").model, "arm.yaml")

    return update


def edit(old, new):
    text = Path("arm.yaml").read_text()
    assert text.count(old) >= 1
    Path("arm.yaml").write_text(text.replace(old, new, 1))


def test_what_changed_is_taken_over_and_what_was_edited_stays(arm):
    arm()
    assert arm() == []
    edit("mass: 2.0", "mass: 2500 g")
    edit("  lower:", "  # weighed\n  lower:")
    text = Path("arm.yaml").read_text()
    Path("arm.yaml").write_text(text + "signals:\n  height: lower.position[2]\n")
    notes = arm(damping=0.3, length=0.7, extra=TOOL)
    model = ts.read("arm.yaml").model
    assert model["a_damper"].damping == 0.3 and float(model["lower"].start_position[2]) == 0.7  # (1)
    assert model["upper"].mass == 2.5 and "# weighed" in Path("arm.yaml").read_text()  # (2)
    assert "height" in model.signals and {b.name for b in model.bodies} == {"upper", "lower", "tool"}
    assert {"added: bodies.tool", "added: elements.c", "changed: elements.a_damper.damping"} < {*notes}
    edit("damping: 0.3", "damping: 0.9")
    notes = arm(damping=0.4, length=0.7)
    model = ts.read("arm.yaml").model
    assert model["a_damper"].damping == 0.9  # (3)
    assert "kept: elements.a_damper.damping was edited by hand; the import changed it, too" in notes
    assert "removed: bodies.tool" in notes and len(model.bodies) == 2


def test_names_may_be_changed_and_entries_deleted(arm):
    arm()
    text = (
        Path("arm.yaml")
        .read_text()
        .replace("  lower: {id", "  forearm: {id")
        .replace("second: lower", "second: forearm")
    )
    Path("arm.yaml").write_text("\n".join(x for x in text.split("\n") if not x.startswith("  a_damper:")))
    notes = arm(length=0.6, extra=TOOL)
    model = ts.read("arm.yaml").model
    assert [b.name for b in model.bodies] == ["upper", "forearm", "tool"]
    assert model["c"].first is model["forearm"] and float(model["forearm"].start_position[2]) == 0.6
    assert "a_damper" not in model and "kept away: elements.a_damper was deleted by hand" in notes


def test_wrong_files_are_refused_and_stay_as_they_are(arm, capsys):
    arm()
    edit("id: lower", "id: upper")
    before = Path("arm.yaml").read_text()
    with pytest.raises(ts.ModelError, match="the id 'upper' is given twice"):
        arm()
    ts.save_model(ts.read("arm.urdf").model, "plain.yaml")
    with pytest.raises(ts.ModelError, match="plain.yaml: has no section `imported`"):
        ts.update_model(ts.read("arm.urdf").model, "plain.yaml")
    assert Path("arm.yaml").read_text() == before
    assert status_of(["convert", "arm.urdf", "new.yaml", "--update"]) == 0
    assert status_of(["convert", "arm.urdf", "new.sdf", "--update"]) != 0
    assert "ids" in capsys.readouterr().out


def test_configurations_have_names(arm):
    arm()
    model = ts.read("arm.urdf").model
    ts.save_model(model, "two.yaml", {"home": {"a": 0.5, "b.rate": -1.0}, "zero": {}})
    edit_two = Path("two.yaml").read_text() + "run: {until: 0.01, start: home}\n"
    Path("two.yaml").write_text(edit_two.replace("a: 0.5", "a: 0.5 rad"))
    found = ts.read("two.yaml")
    assert dict(found.keyframes["home"]) == {"a": 0.5, "b.rate": -1.0} and not found.keyframes["zero"]
    data = ts.simulate(found.model, outputs=1, **found.run)
    assert float(data.coordinate[0, 0]) == pytest.approx(0.5)
    assert status_of(["run", "two.yaml", "--quiet"]) in (0, 2)
    Path("two.yaml").write_text(edit_two.replace("start: home", "start: hame").replace("b.rate: -1.0", "q.rate: 1"))
    with pytest.raises(ts.ModelError) as error:
        ts.read("two.yaml")
    assert "unknown configuration 'hame'. Did you mean 'home'?" in str(error.value)
    assert "configurations.home: unknown key 'q.rate'" in str(error.value)
