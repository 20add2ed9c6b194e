"""Gears, racks, screws, differentials and couplings against equations written by hand."""

import numpy as np
import pytest

import torsor as ts


def shafts(*names, axis="z", inertia=0.2):
    """A model with wheels on parallel shafts from the ground."""
    model = ts.Model("shafts")
    for k, name in enumerate(names):
        wheel = model.body(name, 1.0, (inertia * (k + 1),) * 3, at=(0.5 * k, 0, 0))
        model.add(ts.Revolute(f"{name}_shaft", model.ground, wheel, axis=axis))
    return model


@pytest.mark.parametrize("formulation", ["absolute", "relative", "woronetz", "hierarchical"])
def test_a_planetary_set_with_planets_obeys_willis(formulation):
    """τ on the sun, the ring held: n = φ̇_c/φ̇_s = z_s/(z_s + z_r), and every part adds its inertia times its speed squared."""
    z_s, z_p, z_r = 24, 18, 60
    model = ts.Model("set")
    sun = model.body("sun", 1.0, (0.2, 0.2, 0.2))
    arm = model.body("arm", 1.0, (0.3, 0.3, 0.3))
    ring = model.body("ring", 1.0, (0.5, 0.5, 0.5))
    planet = model.body("planet", 0.7, (0.05, 0.05, 0.08), at=(0.42, 0, 0))
    on_sun = model.add(ts.Revolute("sun_shaft", model.ground, sun, axis="z"))
    on_arm = model.add(ts.Revolute("arm_shaft", model.ground, arm, axis="-z"))  # counts the other way
    on_ring = model.add(ts.Revolute("ring_shaft", ring, model.ground, axis="z"))  # and from the ring
    on_planet = model.add(ts.Revolute("pin", arm, planet, axis="z"))
    model.add(ts.Drive("held", on_ring, 0.0))
    model.add(ts.Gear("outer", on_sun, on_planet, teeth=(z_s, z_p), carrier=on_arm))
    model.add(
        ts.Gear("inner", on_planet, on_arm, ratio=z_r / z_p)
    )  # φ_p = −(z_r/z_p)(φ_r − φ_c), the arm counts backwards
    model.add(ts.JointForce("motor", on_sun, 3.0))
    n = z_s / (z_s + z_r)
    spin = n * (1 - z_r / z_p)
    inertia = 0.2 + n**2 * (0.3 + 0.7 * 0.42**2) + spin**2 * 0.08
    data = ts.simulate(model, 0.5, outputs=1, formulation=formulation)
    acceleration = dict(zip(data.joint_coordinate.values, data.coordinate_acceleration.values[-1]))
    assert acceleration["sun_shaft"] == pytest.approx(3.0 / inertia, rel=1e-9)
    assert acceleration["arm_shaft"] == pytest.approx(-n * 3.0 / inertia, rel=1e-9)


def test_a_planetary_set_without_planets():
    """Sun driven, ring free, carrier loaded: z_s φ̈_s + z_r φ̈_r = (z_s + z_r) φ̈_c, and torques in the ratios of the teeth."""
    model = shafts("sun", "ring", "arm")
    model.add(ts.Planetary("set", model["sun_shaft"], model["ring_shaft"], model["arm_shaft"], teeth=(24, 60)))
    model.add(ts.JointForce("motor", model["sun_shaft"], 3.0))
    data = ts.simulate(model, 0.5, outputs=1)
    a = data.coordinate_acceleration.values[-1]
    J, c = np.diag([0.2, 0.4, 0.6]), np.array([1, 2.5, -3.5])
    whole = np.block([[J, -c[:, None]], [c[None, :], np.zeros((1, 1))]])
    np.testing.assert_allclose(a, np.linalg.solve(whole, [3.0, 0, 0, 0])[:3], rtol=1e-9)


def test_a_differential_shares_the_torque():
    model = shafts("case", "left", "right")
    model.add(ts.Differential("axle", model["case_shaft"], model["left_shaft"], model["right_shaft"]))
    model.add(ts.JointForce("motor", model["case_shaft"], 2.0))
    model.add(ts.JointForce("brake", model["left_shaft"], -0.3))
    data = ts.simulate(model, 0.5, outputs=1)
    J, c = np.diag([0.2, 0.4, 0.6]), np.array([1, -0.5, -0.5])
    whole = np.block([[J, -c[:, None]], [c[None, :], np.zeros((1, 1))]])
    expected = np.linalg.solve(whole, [2.0, -0.3, 0, 0])[:3]
    np.testing.assert_allclose(data.coordinate_acceleration.values[-1], expected, rtol=1e-9)


def slide_and_wheel():
    model = ts.Model("slide")
    cart = model.body("cart", 2.0, (0.1, 0.1, 0.1))
    wheel = model.body("wheel", 1.0, (0.3, 0.3, 0.3), at=(0, 0, 0.2))
    x = model.add(ts.Prismatic("x", model.ground, cart, axis="x"))
    return model, x, model.add(ts.Revolute("turn", model.ground, wheel, axis="y"))


@pytest.mark.parametrize("formulation", ["absolute", "relative", "hamiltonian", "hierarchical"])
def test_a_rack_and_its_pinion(formulation):
    """(m + J/r²) ẍ = F."""
    model, x, turn = slide_and_wheel()
    model.add(ts.Rack("rack", x, turn, radius=0.1))
    model.add(ts.JointForce("push", x, 4.0))
    data = ts.simulate(model, 0.5, outputs=1, formulation=formulation)
    np.testing.assert_allclose(
        data.coordinate_acceleration[-1], np.array([1, 10]) * 4.0 / (2.0 + 0.3 / 0.01), rtol=1e-9
    )


def test_a_coupling_by_a_function():
    """q₁ = q₂²: at q₂ = 0.5 and rest J₁ (2 q₂)² + J₂ is the inertia that a torque on the second shaft meets."""
    model = ts.Model("shafts")
    wheels = [model.body(name, 1.0, (J,) * 3, at=(k, 0, 0)) for k, (name, J) in enumerate((("a", 0.2), ("b", 0.4)))]
    starts = (0.25, 0.5)
    joints = [
        model.add(ts.Revolute(f"{b.name}_shaft", model.ground, b, axis="z", start=s)) for b, s in zip(wheels, starts)
    ]
    model.add(ts.Coupling("cam", joints, function=lambda q: q**2))
    model.add(ts.JointForce("motor", joints[1], 1.0))
    data = ts.simulate(model, 0.01, outputs=1)
    assert data.coordinate_acceleration.values[0, 1] == pytest.approx(1.0 / (0.2 * 1.0 + 0.4), rel=1e-9)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda a, b, x: ts.Gear("g", a, b, ratio=0), "ratio must not be zero"),
        (lambda a, b, x: ts.Gear("g", a, a, ratio=2.0), "connects joint 'a_shaft' with itself"),
        (lambda a, b, x: ts.Gear("g", a, b), "give either teeth or ratio"),
        (lambda a, b, x: ts.Gear("g", a, b, teeth=(24, -18)), "teeth must be 2 positive whole numbers"),
        (lambda a, b, x: ts.Gear("g", a, b, teeth=24), "teeth must be 2 positive whole numbers"),
        (lambda a, b, x: ts.Gear("g", a, b, ratio=2.0, other_index=1), "has 1 coordinates, index must be 0 to 0"),
        (lambda a, b, x: ts.Gear("g", a, b, ratio=2.0, damping=3.0), "give stiffness as well"),
        (lambda a, b, x: ts.Gear("g", a, b, ratio=2.0, stiffness=-1.0), "stiffness must be positive"),
        (lambda a, b, x: ts.Gear("g", a, b, ratio=2.0, efficiency=1.2), "efficiency must lie above 0"),
        (lambda a, b, x: ts.Rack("r", x, a, radius=0.0), "radius must not be zero"),
        (lambda a, b, x: ts.Coupling("c", [a], coefficients=(1,)), "list of at least two"),
        (lambda a, b, x: ts.Coupling("c", [a, b], coefficients=(1, 0)), "coefficients must not be zero"),
        (lambda a, b, x: ts.Planetary("p", a, teeth=(24, 60)), "at least two of sun, ring and carrier"),
        (lambda a, b, x: ts.HarmonicDrive("h", a, b, teeth=(200, 100)), "more teeth than the flexspline"),
    ],
)
def test_transmissions_without_meaning_are_refused(make, words):
    model = shafts("a", "b")
    cart = model.body("cart", 2.0, (0.1, 0.1, 0.1))
    x = model.add(ts.Prismatic("x", model.ground, cart, axis="x"))
    with pytest.raises(ts.ModelError, match=words):
        model.add(make(model["a_shaft"], model["b_shaft"], x))


def wheel_in_play(**options):
    """A wheel that turns with 0.5 rad/s in the middle of a play of 0.1 rad against a wheel that does not turn."""
    model = ts.Model("play")
    wheel = model.body("wheel", 1.0, (0.2, 0.2, 0.2), angular_velocity=(0, 0, 0.5))
    held = model.body("held", 1.0, (0.2, 0.2, 0.2), at=(1, 0, 0))
    turn = model.add(ts.Revolute("turn", model.ground, wheel, axis="z"))
    still = model.add(ts.Revolute("still", model.ground, held, point=(1, 0, 0), axis="z"))
    model.add(ts.Drive("motor", still, 0.0))
    model.add(ts.Gear("mesh", turn, still, ratio=1.0, backlash=0.1, **options))
    return model, turn


def test_an_elastic_gear_with_play_swings_between_its_flanks():
    """From reversal to reversal: the time b/v in the play, and half an oscillation π/ω on a flank, ω² = k/J."""
    model, turn = wheel_in_play(stiffness=80.0)
    model.when(ts.crossing(turn.rate[0]), ts.record("angle", turn.coordinate[0]), name="reverses")
    data = ts.simulate(model, 1.0, outputs=4, tolerance=1e-10)
    reversals = data.event_time.values[data.event_name.values == "reverses"]
    omega = np.sqrt(80.0 / 0.2)
    np.testing.assert_allclose(reversals, 0.1 + np.pi / (2 * omega) + (0.2 + np.pi / omega) * np.arange(3), atol=1e-8)
    np.testing.assert_allclose(data.energy, data.energy[0], atol=1e-9)


def test_rigid_gears_with_play_hit_each_other():
    """The flanks are struck after b/2 at v, then after b at e v, and so on."""
    model, turn = wheel_in_play(restitution=0.5)
    data = ts.simulate(model, 1.0, outputs=20)
    np.testing.assert_allclose(data.event_time, [0.1, 0.5], atol=1e-9)
    assert data.rate.sel(joint_coordinate="turn").values[-1] == pytest.approx(0.125, abs=1e-9)
    assert abs(data.coordinate.sel(joint_coordinate="turn")).max() <= 0.05 + 1e-9


def test_a_screw_with_losses():
    """J φ̈ = τ − λ (1 + c), m ẍ = λ i, φ̈ = i ẍ with i = 2π/h and c = 1/η − 1, where the spindle drives."""
    h, eta, tau = 0.02, 0.4, 5.0
    model, slide, turn = slide_and_wheel()
    model.add(ts.ScrewDrive("screw", turn, slide, lead=h, efficiency=eta))
    model.add(ts.JointForce("motor", turn, tau))
    data = ts.simulate(model, 0.1, outputs=2)
    i = 2 * np.pi / h
    assert data.coordinate_acceleration.values[-1, 0] == pytest.approx(tau / (0.3 * i + 2.0 / (eta * i)), rel=1e-6)


@pytest.mark.parametrize("options", [{"stiffness": 80.0, "backlash": 0.0}, {"backlash": 0.1}])
def test_parts_are_released_instead_of_a_transmission_that_acts_by_them(options):
    model = shafts("a", "b")
    gear = model.add(ts.Gear("mesh", model["a_shaft"], model["b_shaft"], ratio=2.0, **options))
    part = "mesh.mesh" if "stiffness" in options else "mesh.forward"
    with pytest.raises(ts.ModelError, match=f"'release': gear 'mesh' acts by its parts; give these: '{part}'"):
        model.when(ts.time >= 0.1, ts.release(gear))
    with pytest.raises(ts.ModelError, match="it always acts; leave out active=False"):
        model.add(ts.Gear("other", model["a_shaft"], model["b_shaft"], ratio=3.0, **options), active=False)
