"""Tyres: slopes, peaks and limits of the curves; coasting, braking and cornering wheels; files with missing sections."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.forces.tyres.magic_formula import MagicFormula
from torsor.forces.tyres.tyre_file import coefficients, read_tyre_file

G = 9.81
FILE = """[UNITS]
LENGTH = 'meter'
[MODEL]
FITTYP = {version}                       $ MF-Tyre
[DIMENSION]
UNLOADED_RADIUS = 0.3135
[VERTICAL]
FNOMIN = 4000
VERTICAL_STIFFNESS = 2.0e5
VERTICAL_DAMPING = 500
[LONGITUDINAL_COEFFICIENTS]
PCX1 = 1.6
PDX1 = 1.1
PDX2 = -0.08
PKX1 = 22
PKX2 = 0.5
PKX3 = -0.4
PEX1 = 0.1
RBX1 = 12
RBX2 = -9
RCX1 = 1.1
[LATERAL_COEFFICIENTS]
PCY1 = 1.3
PDY1 = 0.9
PDY2 = -0.06
PEY1 = -0.8
PKY1 = -15
PKY2 = 1.7
PKY4 = 2
RBY1 = 7
RBY2 = 2
RCY1 = 1.1
[ALIGNING_COEFFICIENTS]
QBZ1 = 10
QCZ1 = 1.2
QDZ1 = 0.1
QEZ1 = -1.0
[ROLLING_COEFFICIENTS]
QSY1 = 0.01
"""


@pytest.fixture(params=["61", "6"])
def file(request, tmp_path):
    path = tmp_path / "tyre.tir"
    path.write_text(FILE.format(version=request.param))
    return str(path)


def curve(file, load=4000.0):
    """Forces as a function of κ, tan α and the camber."""
    c = coefficients(read_tyre_file(file, "tyre"), file, "tyre")
    slips = [ca.SX.sym("slip") for _ in range(3)]
    found = MagicFormula(c, ca.SX(load), slips[0], slips[1], slips[2]).forces()
    f = ca.Function("f", slips, [ca.SX(x) for x in found])
    return lambda *given: np.array([float(x) for x in f(*given)])


def test_slopes_and_peaks_are_those_of_the_coefficients(file):
    """At zero the slopes are K = F_z P_KX1 e^…, P_KY1 F_z0 sin(2 atan(F_z/(P_KY2 F_z0))); the largest values are D = μ F_z."""
    for load in (2500.0, 4000.0, 5500.0):
        f, df, h = curve(file, load), load / 4000 - 1, 1e-7
        K = load * (22 + 0.5 * df) * np.exp(-0.4 * df)
        np.testing.assert_allclose((f(h, 0, 0) - f(-h, 0, 0))[0] / (2 * h), K, rtol=1e-5)
        K = -15 * 4000 * np.sin(2 * np.arctan(load / (1.7 * 4000)))
        np.testing.assert_allclose((f(0, h, 0) - f(0, -h, 0))[1] / (2 * h), K, rtol=1e-5)
        slips = np.linspace(0, 1, 1001)
        assert max(f(k, 0, 0)[0] for k in slips) == pytest.approx((1.1 - 0.08 * df) * load, rel=1e-4)
        assert min(f(0, a, 0)[1] for a in slips) == pytest.approx(-(0.9 - 0.06 * df) * load, rel=1e-4)


def test_far_away_the_curve_is_that_of_full_sliding(file):
    """x → ∞: y → D sin(π C/2)."""
    assert curve(file)(1e6, 0, 0)[0] == pytest.approx(1.1 * 4000 * np.sin(np.pi / 2 * 1.6), rel=1e-3)


def test_slip_in_one_direction_takes_force_from_the_other(file):
    f = curve(file)
    assert abs(f(0.1, 0.1, 0)[0]) < abs(f(0.1, 0, 0)[0]) and abs(f(0.1, 0.1, 0)[1]) < abs(f(0, 0.1, 0)[1])


def test_the_aligning_moment_is_force_times_trail(file):
    """Small slips: M_z = −t F_y with the trail t = R₀ Q_DZ1 cos(C atan(B α − …)) ≈ R₀ Q_DZ1."""
    found = curve(file)(0, 1e-4, 0)
    assert found[4] == pytest.approx(-0.3135 * 0.1 * found[1], rel=1e-4) and found[4] > 0


def wheel(**tyre):
    """A wheel with a heavy frame, which slides without friction above the road."""
    model = ts.Model("wheel", gravity=(0, 0, -G), hints=False)
    frame = model.body("frame", mass=300.0, inertia=(50, 50, 50), at=(0, 0, 0.3), velocity=(10, 0, 0))
    model.add(
        ts.PlanarTranslation("rails", model.ground, frame, axis="y")
        if tyre.pop("straight", True)
        else ts.SpatialTranslation("rails", model.ground, frame)
    )
    hub = model.body(
        "hub",
        mass=10.0,
        inertia=(0.5, 0.8, 0.5),
        at=(0, 0, 0.3),
        velocity=(10, 0, 0),
        angular_velocity=(0, 10 / 0.3, 0),
    )
    axle = model.add(ts.Revolute("axle", frame, hub, point=(0, 0, 0.3), axis="y"))
    return model, axle, model.add(ts.Tyre("tyre", model.ground, hub, axis="y", **tyre))


LINEAR = {
    "radius": 0.32,
    "stiffness": 2e5,
    "damping": 5e3,
    "slip_stiffness": 5e4,
    "cornering_stiffness": 4e4,
    "friction": 1.0,
}


def test_a_wheel_at_rest_on_the_road_bears_its_weight_and_a_braked_one_slows_down():
    """The deceleration of a locked-torque wheel is that of force and inertia: M_b = (m + J/R²) v̇ R, R the rolling radius."""
    model, axle, tyre = wheel(**LINEAR)
    model.add(ts.JointForce("brake", axle, -300.0))
    model.signal("weight", tyre.normal_force())
    data = ts.simulate(model, 1.5, outputs=30)
    assert float(data.weight[-1]) == pytest.approx(310 * G, rel=1e-4)
    deflection = 310 * G / 2e5
    R, d = 0.32 - deflection / 3, 0.32 - deflection
    speed = data.velocity.sel(body="frame", axis="x").values
    slope = (speed[-1] - speed[-11]) / float(data.time[-1] - data.time[-11])
    assert slope == pytest.approx(-300 / (310 * d + 0.8 / R), rel=2e-3)


def test_a_linear_tyre_has_its_slopes_and_its_limit():
    model, _, tyre = wheel(**LINEAR)
    hub, ground = model["hub"], model.ground
    several = [
        x for body in (ground, hub) for x in (body.position, body.rotation, body.velocity, body.angular_velocity)
    ]
    still = [np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3)]
    f = ca.Function("f", several, [tyre.efforts()[0][1]])
    at = lambda v, spin: f(*still, [0, 0, 0.31], np.eye(3), v, [0, spin, 0]).full().ravel()
    R = 0.32 - 0.01 / 3
    small = at([10, 0.01, 0], 10.01 / R)
    np.testing.assert_allclose(small, [5e4 * 0.001, -4e4 * 0.001, 2000], rtol=2e-3)
    far = at([10, 30, 0], 60 / R)
    assert np.hypot(*far[:2]) == pytest.approx(2000, rel=1e-3)


def test_a_road_of_heights_is_felt():
    """A ramp as heights and as an inclined plane give the same forces."""
    slope = 0.1
    forces = []
    for road in ({"height": lambda x, y: slope * x}, {"normal": (-slope, 0, 1)}):
        model, _, tyre = wheel(**LINEAR, **road)
        hub, ground = model["hub"], model.ground
        several = [
            x for body in (ground, hub) for x in (body.position, body.rotation, body.velocity, body.angular_velocity)
        ]
        f = ca.Function("f", several, [tyre.efforts()[0][1]])
        still = [np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3)]
        forces.append(f(*still, [0.4, 0, 0.35], np.eye(3), [5, 0.2, 0.3], [0, 12, 0]).full().ravel())
    np.testing.assert_allclose(*forces, rtol=1e-10)
    assert forces[0][2] > 1000


def test_incomplete_files_are_refused_by_name(tmp_path):
    model = ts.Model("m")
    hub = model.body("hub", mass=1.0, inertia=(1, 1, 1), at=(0, 0, 0.3))
    text = FILE.format(version="61")
    section = text[text.index("[LATERAL") : text.index("[ALIGNING")]
    cases = [
        (text.replace(section, ""), r"lacks the section \[LATERAL_COEFFICIENTS\]"),
        (text.replace("PCX1 = 1.6\n", ""), r"section \[LONGITUDINAL_COEFFICIENTS\] lacks the number PCX1"),
        (text.replace("FITTYP = 61", "FITTYP = 3"), "FITTYP in .MODEL. must be one of"),
        (text.replace("'meter'", "'mm'"), "unit of length must be meter, got mm"),
        (text.replace("PKY1 = -15", "PKY1 = 15"), "PKY1 must be negative"),
        (text.replace("PCY1 = 1.3", "PCY1 = inf"), "PCY1 must be a finite number"),
    ]
    for k, (content, message) in enumerate(cases):
        path = tmp_path / f"tyre{k}.tir"
        path.write_text(content)
        with pytest.raises(ts.ModelError, match=message):
            model.add(ts.Tyre("tyre", model.ground, hub, tir=str(path)))
    with pytest.raises(ts.ModelError, match="cannot be read"):
        model.add(ts.Tyre("tyre", model.ground, hub, tir=str(tmp_path / "none.tir")))
    with pytest.raises(ts.ModelError, match="give radius, stiffness, slip_stiffness, cornering_stiffness, or a file"):
        model.add(ts.Tyre("tyre", model.ground, hub))
    with pytest.raises(ts.ModelError, match="friction must be positive"):
        model.add(ts.Tyre("tyre", model.ground, hub, **{**LINEAR, "friction": -1.0}))
