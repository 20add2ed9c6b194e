"""STEP assemblies: mass properties against closed forms, freedom, and motion equal to the same mechanism described by hand."""

import numpy as np
import pytest
from step_files import A, B, C, D, bar, box, cut, cylinder, four_bar, placed, write_step

import torsor as ts

STEEL = 7850.0
TABLE = {
    "ground": ["base"],
    "weld": [["base", "pin_a", "pin_b"], ["crank", "pin_c"], ["rocker", "pin_d"]],
    "joints": {
        "a": {"type": "revolute", "first": "ground", "at": "cylinder d=8 on crank nearest pin_a"},
        "b": {"type": "revolute", "first": "ground", "at": "cylinder d=8 on rocker nearest pin_b"},
        "c": {"type": "revolute", "first": "crank", "at": "cylinder d=8 on coupler nearest pin_c"},
        "d": {
            "type": "revolute",
            "first": "coupler",
            "second": "rocker",
            "at": "cylinder d=8 on coupler nearest pin_d",
        },
    },
}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return write_step(tmp_path_factory.mktemp("step") / "four bar.step", four_bar(), {"crank": (1, 0, 0)})


@pytest.fixture(scope="module")
def imported(file):
    return ts.read(file, densities=STEEL, joints=TABLE, gravity=(0, -9.81, 0))


def flat_bar(length):
    """A bar of `tests/cad/step_files.py` from closed forms: a cuboid without two cylinders, about its own frame."""
    plate = ts.inertia.box(STEEL * (length + 0.02) * 0.02 * 0.006, length + 0.02, 0.02, 0.006)
    hole = ts.inertia.cylinder(STEEL * np.pi * 0.004**2 * 0.006, 0.004, 0.006)
    mass = plate.mass - 2 * hole.mass
    about = lambda part, d: part.tensor + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    half = np.array([length / 2, 0, 0])
    return mass, about(plate, np.zeros(3)) - about(hole, half) - about(hole, -half)


def length_of(p, q):
    return float(np.linalg.norm(q - p)) * 1e-3


def expected(length, pin_at=None):
    """Mass, tensor and centre of a bar with or without a pin, by Steiner's formula."""
    mass, tensor = flat_bar(length)
    found = ts.inertia.Inertia(mass, tensor, (length / 2, 0, 0.003))
    if pin_at is None:
        return found
    pin = ts.inertia.cylinder(STEEL * np.pi * 0.004**2 * 0.012, 0.004, 0.012)
    return found + pin.move((pin_at, 0, 0.006))


def test_mass_properties_are_those_of_the_solids_to_rounding(imported):
    bodies = {"crank": expected(length_of(A, C), length_of(A, C)), "rocker": expected(length_of(B, D), length_of(B, D))}
    bodies["coupler"] = expected(length_of(C, D))
    for name, wanted in bodies.items():
        body = imported.model[name]
        assert float(body.mass) == pytest.approx(wanted.mass, rel=1e-12)
        given = np.array(body._inertia)
        assert np.abs(given - wanted.tensor).max() <= 1e-12 * np.abs(wanted.tensor).max()


def by_hand():
    """The same four-bar in Python."""
    model = ts.Model("hand", gravity=(0, -9.81, 0))
    bodies = {}
    for name, p, q, z, pin in (
        ("crank", A, C, 0.0, True),
        ("coupler", C, D, 0.006, False),
        ("rocker", B, D, 0.0, True),
    ):
        length, angle = length_of(p, q), np.arctan2(*(q - p)[::-1])
        inertia = expected(length, length if pin else None)
        bodies[name] = model.body(name, inertia=inertia, at=(*(1e-3 * p), z), rotation=(0, 0, angle))
    point = lambda p, z: (*(1e-3 * p), z)
    model.add(ts.Revolute("a", model.ground, bodies["crank"], point=point(A, 0), axis="z"))
    model.add(ts.Revolute("b", model.ground, bodies["rocker"], point=point(B, 0), axis="z"))
    model.add(ts.Revolute("c", bodies["crank"], bodies["coupler"], point=point(C, 0), axis="z"))
    model.add(ts.Revolute("d", bodies["coupler"], bodies["rocker"], point=point(D, 0), axis="z"))
    return model


def test_a_four_bar_moves_as_the_one_described_by_hand(imported):
    options = dict(outputs=20, tolerance=1e-10)
    found, wanted = ts.simulate(imported.model, 0.3, **options), ts.simulate(by_hand(), 0.3, **options)
    bodies = ["crank", "coupler", "rocker"]
    difference = found.position.sel(body=bodies) - wanted.position.sel(body=bodies)
    assert float(np.abs(difference.sel(axis=["x", "y"])).max()) < 1e-9
    assert float(np.abs(found.coordinate - found.coordinate[0]).max()) > 0.5  # it has moved


def test_the_report_has_freedom_redundant_rows_gaps_and_masses(imported):
    text = imported.summary()
    assert "8 parts, 3 bodies, 4 joints" in text and "degrees of freedom: 1\n" in text
    assert "redundant: d: translation along z" in text
    assert [gap.joint for gap in imported.gaps] == ["a", "b", "c", "d"]
    assert all(gap.distance < 1e-12 and gap.angle < 1e-12 and gap.clearance < 1e-12 for gap in imported.gaps)
    assert imported.masses["pin_c"] == pytest.approx(STEEL * np.pi * 0.004**2 * 0.012, rel=1e-13)


def test_names_places_and_colours_are_those_of_the_assembly(imported):
    assert list(imported.links)[:4] == ["frame/base", "frame/pin_a", "frame/pin_b", "crank"]
    place = imported.links["pin_c"]
    assert place.body == "crank" and np.allclose(place.at, (0.04, 0, 0), atol=1e-15)
    (crank, _) = imported.visuals["crank"]
    assert crank.colour[:3] == pytest.approx((1, 0, 0)) and imported.visuals["coupler"][0].colour is None
    assert ts.simulate(imported.model, 0.01).attrs["status"] == "finished"


def test_triangles_enclose_the_volume_of_the_solid(imported):
    from torsor.cad.solids import triangles_of

    part = imported.parts.one("crank", "test")
    p = triangles_of(part.shape)[0][triangles_of(part.shape)[1]]
    volume = np.einsum("ij,ij->", p[:, 0], np.cross(p[:, 1], p[:, 2])) / 6
    assert volume == pytest.approx(part.geometry.volume, rel=2e-3)  # holes are polygons


def test_proposed_mates_are_the_joints_and_none_is_taken(file):
    free = ts.read(file, joints={"ground": ["base"], "weld": TABLE["weld"]}, densities=STEEL)
    assert free.joints == {} and len(free.model.bodies) == 3
    assert {(m.type, m.first, m.second) for m in free.mates} == {
        ("revolute", "ground", "crank"), ("revolute", "ground", "rocker"), ("revolute", "crank", "coupler"),
        ("revolute", "coupler", "rocker"),
    }  # fmt: skip
    assert all(0 < m.confidence <= 1 for m in free.mates)


def test_a_table_of_proposed_mates_is_a_table_of_joints(file, tmp_path):
    free = ts.read(file, joints={"ground": ["base"], "weld": TABLE["weld"]}, densities=STEEL)
    free.save_mates(tmp_path / "joints.yaml")
    text = (tmp_path / "joints.yaml").read_text()
    (tmp_path / "joints.yaml").write_text(
        f"{text}ground: [base]\nweld: {TABLE['weld']}\ndensities: 7850\n".replace("'", "")
    )
    again = ts.read(file, joints=tmp_path / "joints.yaml")
    assert len(again.joints) == 4 and ts.info(again.model)["degrees_of_freedom"]["generic"] == 1
    assert float(again.model["coupler"].mass) == pytest.approx(expected(length_of(C, D)).mass)


def test_the_queries_of_a_csv_table_find_points_and_axes(tmp_path):
    base = cut(box(200, 60, 20), box(200, 20, 10, (0, 20, 10)))  # a block with a groove along x
    slider = box(40, 20, 15, (0, 0, 0))
    wheel = cut(cylinder(15, 10), cylinder(5, 10))
    tree = {"base": base, "slider": (slider, placed((80, 20, 10))), "wheel": (wheel, placed((100, 30, 40)))}
    file = write_step(tmp_path / "guide.stp", tree)
    (tmp_path / "joints.csv").write_text(
        "name,type,first,second,point,axis,at,start,limits\n"
        "ground,fixed,ground,base,,,,,\n"
        "guide,prismatic,,,,x,plane of base touching slider facing z,10 mm,\n"
        "turn,revolute,slider,wheel,,,cylinder hole on wheel,30 deg,-90 deg  90 deg\n".replace(
            "-90 deg  90 deg", '"[-90 deg, 90 deg]"'
        )
    )
    found = ts.read(file, joints=tmp_path / "joints.csv", densities=1000)
    guide, turn = found.joints["guide"].joint, found.joints["turn"].joint
    assert np.allclose(guide.point, (0.1, 0.03, 0.01)) and guide.first is found.model.ground
    assert np.allclose(turn.point, (0.1, 0.03, 0.045)) and np.allclose(np.abs(turn.axis), (0, 0, 1))
    assert np.allclose(found.joints["turn"].limits["upper"], np.pi / 2)
    assert ts.info(found.model)["degrees_of_freedom"]["generic"] == 2
    (mate,) = [m for m in found.mates if m.type == "prismatic"]
    assert np.allclose(np.abs(mate.axis), (1, 0, 0)) and {mate.first, mate.second} == {"ground", "slider"}


def test_fasteners_are_welded_to_what_they_hold(tmp_path):
    plate = cut(box(50, 50, 10), cylinder(3, 10, (25, 25, 0)))
    tree = {"plate": plate, "M6 bolt": cylinder(3, 14, (25, 25, 0)), "far": box(5, 5, 5, (200, 0, 0))}
    found = ts.read(
        write_step(tmp_path / "a.step", tree), densities={"*": 2700, "M6 bolt": "7.85 g/cm^3", "far": "0.25 kg"}
    )
    assert [b.name for b in found.model.bodies] == ["plate", "far"]
    volume = 50 * 50 * 10 - np.pi * 9 * 10
    mass = 1e-9 * (2700 * volume + 7850 * np.pi * 9 * 14)
    assert float(found.model["plate"].mass) == pytest.approx(mass, rel=1e-12)
    assert float(found.model["far"].mass) == pytest.approx(0.25, rel=1e-14)
    assert any(note.kind == "welded" and "M6 bolt" in note.element for note in found.report)


def test_a_bar_of_the_helper_has_the_volume_that_it_says():
    from torsor.cad.solids import geometry_of

    mass, _ = flat_bar(0.1)
    assert geometry_of(bar(100.0, 0)).volume * STEEL == pytest.approx(mass, rel=1e-13)


def test_the_command_line_proposes_mates_and_reads_them_again(file, tmp_path, capsys):
    from torsor.cli import status_of

    table = tmp_path / "joints.yaml"
    assert status_of(["mates", str(file), "--set", "densities=7850", "--out", str(table)]) == 0
    out = capsys.readouterr().out
    assert "degrees of freedom: 48" in out and "proposed joints, none of which is in the model" in out
    assert "revolute    crank – coupler" in out
    table.write_text(table.read_text() + "ground: [base]\n")
    assert status_of(["mates", str(file), "--set", f"joints={table}", "--set", "densities=7850"]) == 0
    assert "degrees of freedom: 9\n" in capsys.readouterr().out  # each of the four pins turns and slides
