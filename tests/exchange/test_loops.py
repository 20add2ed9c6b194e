"""Robots with closed loops: closures of files that agree to a few digits, and legs of rods on thin inertias."""

import numpy as np
import pytest

import torsor as ts

FORMULATIONS = ["absolute", "relative", "woronetz"]
FOUR_BAR = """<mujoco><worldbody><site name="end" pos="1 {off} 0"/>
  <body name="a"><joint name="ja" axis="0 1 0"/><inertial pos="0 0 0.2" mass="1" diaginertia="0.01 0.01 0.001"/>
    <body name="b" pos="0 0 0.4"><joint name="jb" axis="0 1 0"/><inertial pos="0.5 0 0" mass="1" diaginertia="0.001 0.1 0.1"/>
      <body name="c" pos="1 0 0"><joint name="jc" axis="0 1 0"/><inertial pos="0 0 -0.2" mass="1" diaginertia="0.01 0.01 0.001"/>
        <site name="tip" pos="0 0 -0.4"/></body></body></body></worldbody>
  <equality><connect name="close" site1="tip" site2="end"/></equality></mujoco>
"""


def written(tmp_path, text):
    (tmp_path / "robot.xml").write_text(text)
    return ts.read(tmp_path / "robot.xml").model


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_closure_that_disagrees_a_little_is_assembled_and_told(formulation, tmp_path):
    """3e-8 m across the plane of a loop, where nothing can give way; the same loop without it moves alike."""
    one, two = (
        ts.simulate(written(tmp_path, FOUR_BAR.format(off=off)), 0.3, outputs=3, formulation=formulation)
        for off in (3e-8, 0.0)
    )
    assert one.attrs["degrees_of_freedom"] == two.attrs["degrees_of_freedom"] == 1
    assert "disagree by up to" in one.attrs["start_changes"] and "disagree" not in two.attrs["start_changes"]
    np.testing.assert_allclose(one.position.values, two.position.values, atol=1e-6)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_closure_that_disagrees_by_more_is_refused(formulation, tmp_path):
    with pytest.raises(ts.AssemblyError, match="close: translation along y"):
        ts.simulate(written(tmp_path, FOUR_BAR.format(off=1e-4)), 0.1, formulation=formulation)


def leg(side, sign):
    """Hip, knee, shin, tarsus, foot; a rod from the hip to the heel, and one from a crank to the foot."""
    j = lambda name, rest="": f'<joint name="{side}{name}" axis="0 1 0" {rest}/>'
    m = lambda pos, mass, inertia: f'<inertial pos="{pos}" mass="{mass}" diaginertia="{inertia}"/>'
    body = lambda name, pos, inside: f'<body name="{side}_{name}" pos="{pos}">{inside}</body>'
    rod = body(
        "rod", "0 0 0", f'<joint name="{side}ball" type="ball"/>' + m("0.2 0 -0.1", 0.157, "0.0037 0.0037 0.0000047")
    )
    heel = body("heel", "-0.01 0 -0.03", j("heel", 'stiffness="1250"') + m("0.004 0 -0.02", 0.126, "4e-5 1e-4 8e-5"))
    plantar = body("plantar", "0.055 0 0", j("plantar") + m("0.178 0 0", 0.119, "1.2e-6 0.0022 0.0022"))
    crank = body("crank", "0.058 0 -0.034", j("crank") + m("0 0 0", 0.119, "3e-5 3e-5 3e-5") + plantar)
    foot = body("foot", "0.408 0 -0.04", j("foot") + m("0 0 0", 0.15, "5e-4 2e-4 7e-4"))
    tarsus = body(
        "tarsus", "0.434 0 0.01", j("tarsus") + m("0.1 0 -0.03", 0.78, "2e-4 0.017 0.017") + heel + crank + foot
    )
    shin = body(
        "shin", "0.06 0 -0.07", j("shin", 'stiffness="1500"') + m("0.17 0 0", 0.577, "3.6e-4 0.014 0.014") + tarsus
    )
    knee = body("knee", "0.12 0 -0.05", j("knee") + m("0.02 0 -0.01", 0.76, "0.0012 0.0022 0.0016") + shin)
    return body("hip", f"0 {0.135 * sign} 0", j("hip") + m("0 0 -0.06", 5.5, "0.05 0.055 0.03") + rod + knee)


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_legs_of_rods_fall_without_losing_energy(formulation, tmp_path):
    """A pelvis on two legs of eight bodies and two loops each: few steps, energy kept, and the centre of mass falls freely."""
    closed = "".join(
        f'<connect body1="{s}_plantar" body2="{s}_foot" anchor="0.35 0 0"/><connect body1="{s}_rod" body2="{s}_heel" '
        'anchor="0.5 0 -0.1"/>' for s in "lr"
    )  # fmt: skip
    pelvis = (
        '<freejoint/><inertial pos="0.05 0 0.02" mass="10" diaginertia="0.086 0.05 0.096"/>'
        + leg("l", 1)
        + leg("r", -1)
    )
    text = f'<mujoco><worldbody><body name="pelvis" pos="0 0 1">{pelvis}</body></worldbody><equality>{closed}</equality></mujoco>'
    model = written(tmp_path, text)
    data = ts.simulate(model, 0.3, outputs=10, formulation=formulation)
    assert data.attrs["steps"] < 2000 and data.attrs["energy_balance_error"] < 1e-6
    masses = np.array([float(b.mass) for b in model.bodies])
    height = data.position.sel(axis="z").values @ masses / masses.sum()
    np.testing.assert_allclose(height - height[0], -0.5 * 9.81 * data.time.values**2, atol=1e-8)
