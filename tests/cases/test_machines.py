"""Machines of gears, cables, cams, motors and contacts against equations written by hand."""

from functools import cache

import numpy as np
import pytest

import torsor as ts
from torsor.cases.machines import atwood, gearbox, geneva, gripper, road_car, trebuchet, valve_train, winch

G = 9.81


@cache
def run(name, **options):
    """The case as recommended, with 400 outputs."""
    return ts.simulate(ts.cases.load(name, **options), **{**ts.cases.recommended(name), "outputs": 400})


def coordinate(data, joint, what="coordinate"):
    return data[what].sel(joint_coordinate=joint).values


def happened(data, name):
    """Instants of the events of a name."""
    return data.event_time.values[data.event_name.values == name]


def test_atwoods_machine_falls_with_the_inertia_of_its_pulley():
    """(m₁ + m₂ + J/r²) a = (m₂ − m₁) g, J = M r²/2."""
    a = (atwood.HEAVY - atwood.LIGHT) * G / (atwood.HEAVY + atwood.LIGHT + atwood.WHEEL / 2)
    data = run("atwood")
    np.testing.assert_allclose(coordinate(data, "light_rail"), a * data.time.values**2 / 2, atol=1e-9)
    np.testing.assert_allclose(coordinate(data, "heavy_rail"), -a * data.time.values**2 / 2, atol=1e-9)


@pytest.mark.parametrize("planets", [1, 3])
def test_the_gearbox_has_the_ratio_of_willis_and_its_further_planets_are_redundant(planets):
    """ω_sun = (1 + z_r/z_s) ω_carrier; in the end DRIVE (1 + z_r/z_s) = LOAD ω_carrier."""
    ratio = 1 + gearbox.RING / gearbox.SUN
    data = run("gearbox", planets=planets)
    np.testing.assert_allclose(coordinate(data, "input", "rate"), ratio * coordinate(data, "output", "rate"), rtol=1e-9)
    assert coordinate(data, "output", "rate")[-1] == pytest.approx(gearbox.DRIVE * ratio / gearbox.LOAD, rel=1e-6)
    redundant = ts.info(ts.cases.load("gearbox", planets=planets))["redundant"]
    assert len(redundant) == planets - 1


def test_the_motor_of_the_winch_bears_half_the_load():
    """Steady: i k I = r m g/2; the brake bears the same torque."""
    data = run("winch")
    weight = (winch.LOAD + 1.0) * G  # with its sheave
    steady = np.argmin(np.abs(data.time.values - 0.9 * winch.HOIST))
    assert data["current"].values[steady] == pytest.approx(weight * winch.DRUM / 2 / (30.0 * 0.12), rel=1e-4)
    speed = coordinate(data, "rail", "rate")
    np.testing.assert_allclose(speed[steady], abs(coordinate(data, "turn", "rate")[steady]) * winch.DRUM / 2, rtol=1e-9)
    assert abs(speed[-1]) < 1e-9 and abs(data.multiplier.sel(constraint="brake[0]").values[-1]) == pytest.approx(
        weight * winch.DRUM / 2, rel=1e-6
    )


def test_the_wheel_of_the_geneva_drive_follows_its_closed_form_without_impacts():
    data = run("geneva")
    turns = geneva.SPEED * data.time.values / (2 * np.pi)
    count = np.floor(turns + 1e-12)
    phi = 2 * np.pi * (turns - count) - np.pi / 4
    across, along = geneva.ARM * np.sin(phi), geneva.ARM * np.cos(phi) - geneva.SPACING
    engaged = np.arctan2(across, along) % (2 * np.pi) - 5 * np.pi / 4
    exact = np.where(phi < np.pi / 4, engaged, -np.pi / 2) - count * np.pi / 2
    np.testing.assert_allclose(coordinate(data, "index"), exact, atol=1e-12)
    assert np.nanmax(np.abs(data.event_impulse.values)) < 1e-12 and len(happened(data, "enter0")) == 0
    np.testing.assert_allclose([happened(data, f"leave{k}")[0] for k in range(4)], [0.25, 1.25, 2.25, 3.25], atol=1e-12)


def test_the_tappet_lifts_off_where_the_spring_cannot_follow_the_cam():
    """m s̈ + k s + c ṡ + F₀ = 0 at the first lift, and the tappet is never inside the cam."""
    data = run("valve-train")
    speed, h = 260.0, valve_train.RISE
    x = speed * happened(data, "cam.lift")[0] / 2
    s = h * np.sin(x) ** 4
    ds = 2 * h * np.sin(x) ** 3 * np.cos(x) * speed
    dds = h * np.sin(x) ** 2 * (3 - 4 * np.sin(x) ** 2) * speed**2
    assert abs(0.3 * dds + 1e4 * s + 5.0 * ds + 60.0) < 0.05  # of forces of 100 N: the lift is a spline of 361 points
    gap = coordinate(data, "slide") - h * np.sin(speed * data.time.values / 2) ** 4
    assert gap.min() > -1e-7 and gap.max() > 5e-4


def test_the_stone_of_the_trebuchet_flies_on_a_parabola_with_the_energy_of_the_counterweight():
    data = run("trebuchet")
    (leave,) = happened(data, "leave")
    landing = happened(data, "field.touch")[-1]
    t = data.time.values
    flies = (t > leave) & (t < landing)
    stone = data.position.sel(body="stone").values[flies]
    line = np.polyfit(t[flies], stone[:, 0], 1)
    np.testing.assert_allclose(stone[:, 0], np.polyval(line, t[flies]), atol=1e-7)
    parabola = np.polyfit(t[flies], stone[:, 2], 2)
    assert parabola[0] == pytest.approx(-G / 2, rel=1e-7) and line[0] > 5
    taut = data["multiplier"].sel(constraint="sling.part0[0]").values[t < leave]
    assert np.nanmin(taut) > -1e-9
    assert np.linalg.norm(stone[0] - data.position.sel(body="arm").values[flies][0]) < 2.5 + trebuchet.SLING + 1.0


def test_the_gripper_lifts_the_cube_by_friction_and_holds_it():
    data = run("gripper")
    cube = data.position.sel(body="cube").values
    assert cube[-1, 2] - cube[0, 2] == pytest.approx(gripper.RISE, abs=1e-4)
    hold = data.time.values > 1.5
    assert np.ptp(cube[hold] - data.position.sel(body="hand").values[hold], axis=0).max() < 1e-9
    contacts = [c for c in data.constraint.values if "corner" in c or "pad" in c]
    assert data.multiplier.sel(constraint=contacts).min() > -1e-9


def test_the_feet_of_a_standing_quadruped_bear_its_weight():
    """Σ λ = Σ m (g + z̈)."""
    data = run("quadruped", gait="stand")
    feet = [c for c in data.constraint.values if "_foot" in c]
    parts = {"trunk": 6.0, "hip": 0.6, "thigh": 0.9, "calf": 0.15}
    mass = np.array([parts[body.split("_")[-1]] for body in data.body.values])
    force = data.multiplier.sel(constraint=feet).sum("constraint").values[200:]
    np.testing.assert_allclose(force, (G + data.acceleration.values[200:, :, 2]) @ mass, rtol=1e-9)
    assert force[-1] == pytest.approx(12.6 * G, rel=0.02)
    assert data.position.sel(body="trunk").values[-1, 2] > 0.25


def test_the_trotting_quadruped_lifts_both_diagonals():
    data = run("quadruped")
    for leg in ("FR", "FL", "RR", "RL"):
        assert len(happened(data, f"{leg}_foot.lift")) >= 1


def axles(car):
    """Mass, distances of both axles from the common centre of mass, and wheelbase."""
    unsprung = 2 * (car.WHEEL + car.KNUCKLE)
    mass = car.CHASSIS + 2 * unsprung
    ahead = unsprung * (car.FRONT - car.REAR) / mass
    return mass, car.FRONT - ahead, car.REAR + ahead, car.FRONT + car.REAR


def test_the_car_turns_steadily_as_the_bicycle_model():
    """r = V δ/(l + K V²), K = m/l (b/C_f − a/C_r), for small angles: 0.004 rad leave 2e-4."""
    data = run("road-car", steer=0.004)
    mass, a, b, length = axles(road_car)
    C = 2 * road_car.TYRE["cornering_stiffness"]
    V = data.speed.values[-1]
    expected = V * 0.004 / (length + mass / length * (b / C - a / C) * V**2)
    assert data.yaw_rate.values[-1] == pytest.approx(expected, rel=5e-4)
    np.testing.assert_allclose(data.yaw_rate.values[-20:], data.yaw_rate.values[-1], rtol=1e-5)


def test_braking_shifts_the_load_to_the_front_wheels():
    """F_f l = m g b + |a| Σ mₖ zₖ + Σ J |ω̇|, and m |a| = Σ (T + J |ω̇|)/R with R between those of the tyre with and without load."""
    data = run("road-car", maneuver="brake").sel(time=slice(1.8, 2.5)).mean("time")
    mass, _, b, length = axles(road_car)
    load = {axle: 2 * float(data[f"{axle}_left_load"]) for axle in ("front", "rear")}
    assert load["front"] + load["rear"] == pytest.approx(mass * G, rel=1e-4)
    unsprung = 4 * (road_car.WHEEL + road_car.KNUCKLE)
    slowing = -float(data.acceleration.sel(body="body", axis="x"))
    moment = slowing * (road_car.CHASSIS * road_car.HEIGHT + unsprung * 0.29)
    wheels = [x for x in data.joint_coordinate.values if x.endswith("_hub")]
    spin = -road_car.SPIN * float(data.coordinate_acceleration.sel(joint_coordinate=wheels).sum())
    assert load["front"] * length == pytest.approx(mass * G * b + moment + spin, rel=2e-3)
    torque = 2 * sum(road_car.BRAKES.values()) - spin
    assert torque / road_car.RADIUS < mass * slowing < torque / (road_car.RADIUS - 0.02)


def test_a_lane_change_leaves_the_car_on_its_way():
    data = run("road-car", maneuver="lane-change")
    assert data.position.sel(body="body", axis="y").values[-1] > 0.5
    assert abs(data.yaw_rate.values[-1]) < 1e-3 < 0.1 < np.abs(data.yaw_rate.values).max()
