"""Properties of joints: the armature in every formulation, and limits, springs, dampers and friction given as arguments."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts

FORMULATIONS = ("absolute", "relative", "woronetz", "hamiltonian", "hamiltonian-absolute", "hierarchical", "kane")
SAME = 1e-9  # one second at a tolerance of 1e-11; results of the size of 10


def arm(armature=(0.1, 0.2, 0.05), **start):
    """Three links on hinges about z, y and x; the last joint is drawn from the body to its parent."""
    model = ts.Model("arm", gravity=(0, 0, -9.81))
    last = model.ground
    for k, axis in enumerate("zyx"):
        link = model.body(f"l{k}", mass=1.0 + k, inertia=(0.02, 0.03, 0.04), at=(0.3 * k + 0.15, 0.1 * k, 0.05))
        ends = (link, last) if k == 2 else (last, link)
        model.add(ts.Revolute(f"j{k}", *ends, point=(0.3 * k, 0, 0), axis=axis, armature=armature[k], **start))
        last = link
    return model


def loop():
    """A four-bar with an armature in every joint, one of which closes the loop."""
    model = ts.Model("loop", gravity=(0, 0, -9.81))
    A = model.parameter("A", 0.3)
    crank = model.body("crank", inertia=ts.inertia.rod(1, 0.5, axis="z"), at=(0, 0, 0.25))
    rod = model.body("rod", inertia=ts.inertia.rod(2, 1, axis="x"), at=(0.5, 0, 0.5))
    rocker = model.body("rocker", inertia=ts.inertia.rod(1, 0.5, axis="z"), at=(1, 0, 0.25))
    model.add(ts.Revolute("a", model.ground, crank, point=(0, 0, 0), axis="y", armature=A, start_rate=1.0))
    model.add(ts.Revolute("b", crank, rod, point=(0, 0, 0.5), axis="y", armature=0.1))
    model.add(ts.Revolute("c", model.ground, rocker, point=(1, 0, 0), axis="y", armature=0.2))
    model.add(ts.Revolute("d", rocker, rod, point=(1, 0, 0.5), axis="y", armature=0.15))
    return model


def several():
    """Joints of several coordinates: free, spherical, cylindrical, and a slider."""
    model = ts.Model("several", gravity=(0, 0, -9.81))
    a = model.body("a", 1, (0.1, 0.2, 0.25), at=(0.1, 0.2, 0.3), velocity=(1, 0, 0.3), angular_velocity=(1, 2, 3))
    b = model.body("b", 1.5, (0.1, 0.3, 0.25), at=(0.5, 0.2, 0.3))
    c = model.body("c", 0.5, (0.05, 0.06, 0.07), at=(0.9, 0.1, 0.3))
    d = model.body("d", 0.7, (0.05, 0.06, 0.07), at=(1.3, 0.1, 0.3))
    model.add(ts.Free("free", model.ground, a, point=(0.3, 0, 0), armature=0.4))
    model.add(ts.Spherical("ball", b, a, point=(0.3, 0.2, 0.3), armature=0.2, start_rate=(1, -1, 2)))
    rates = {"start_rate": (1.0, 0.4)}
    model.add(ts.Cylindrical("tube", b, c, point=(0.7, 0.1, 0.3), axis=(1, 1, 0), armature=(0.1, 0.5), **rates))
    model.add(ts.Prismatic("slide", c, d, point=(1, 0, 0), axis=(0, 1, 1), armature=0.8, start_rate=-1.0))
    return model


def on_moving_ground():
    model = ts.Model("moving", gravity=(0, 0, -9.81))
    turns = ts.Ground("turns", at=(0, 0, ca.sin(3 * ts.time)), rotation=ca.vertcat(0, 0, ts.time**2))
    body = model.body("body", mass=1, inertia=(0.1, 0.2, 0.25), at=(0.5, 0, 0))
    model.add(ts.Revolute("hinge", model.add(turns), body, point=(0, 0, 0), axis="z", armature=0.7))
    return model


@pytest.mark.parametrize("build", [arm, loop, several, on_moving_ground])
def test_every_formulation_has_the_same_motion_reactions_and_energy(build):
    runs = [ts.simulate(build(), 0.3, outputs=3, tolerance=1e-11, formulation=f) for f in FORMULATIONS]
    for run in runs:
        for what in ("position", "acceleration", "reaction_force", "reaction_torque", "kinetic_energy"):
            np.testing.assert_allclose(run[what], runs[0][what], atol=SAME)
        energy = run.energy - (run.work if "work" in run else 0)
        np.testing.assert_allclose(energy, energy[0], atol=SAME)


def test_a_rotor_is_a_body_that_turns_faster():
    """A geared rotor as a body of its own, on the axis of the joint and driven by it, has the armature i² J."""
    ratio, J = 20.0, 0.003
    runs = []
    for own_body in (False, True):
        model = ts.Model("geared", gravity=(0, 0, -9.81))
        bob = model.body("bob", mass=2.0, inertia=(0.1, 0.2, 0.1), at=(0.5, 0, 0))
        hinge = {} if own_body else {"armature": ratio**2 * J}
        joint = model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis="y", **hinge))
        if own_body:
            rotor = model.body("rotor", mass=1e-3, inertia=(J, J, J), at=(0, 0.3, 0))
            shaft = model.add(ts.Revolute("shaft", model.ground, rotor, axis="y"))
            model.add(ts.Holonomic("gear", shaft.coordinate - ratio * joint.coordinate))
        runs.append(ts.simulate(model, 1.0, outputs=5, tolerance=1e-11))
    np.testing.assert_allclose(runs[0].coordinate[:, 0], runs[1].coordinate[:, 0], atol=SAME)
    np.testing.assert_allclose(runs[0].kinetic_energy, runs[1].kinetic_energy, atol=10 * SAME)


def test_robot_dynamics_contain_the_armature():
    with_rotors, without = (ts.compile(arm(A), "relative") for A in ((0.1, 0.2, 0.05), (None, None, None)))
    random = np.random.default_rng(0)
    q, v, a = random.standard_normal((3, 3))
    A = np.array([0.1, 0.2, 0.05])
    np.testing.assert_allclose(with_rotors.mass_matrix(q) - without.mass_matrix(q), np.diag(A), atol=1e-14)
    tau = with_rotors.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(tau, without.inverse_dynamics(q, v, a) + A * a, atol=1e-13)
    np.testing.assert_allclose(with_rotors.forward_dynamics(q, v, tau), a, atol=1e-12)
    np.testing.assert_allclose(with_rotors.coriolis(q, v), without.coriolis(q, v), atol=1e-14)


def test_coriolis_matrix_with_a_rotor_in_a_loop_joint_and_in_a_free_joint():
    """C(q, v) v = M v̇ + bias − gravity at v̇ = 0, and Ṁ − 2 C is skew."""
    for build in (several, loop):
        d = ts.compile(build(), "relative")
        q, v = d.q.copy(), d.v + 0.3
        bias = d.inverse_dynamics(q, v, 0 * v) - d.inverse_dynamics(q, 0 * v, 0 * v)
        np.testing.assert_allclose(d.coriolis(q, v) @ v, bias, atol=1e-11)


def test_large_trees_through_tables(monkeypatch):
    """Class kernels, and one graph: the same motion, reactions and energy."""

    def chain():
        model = ts.Model("chain", gravity=(0, 0, -9.81))
        last = model.ground
        for k in range(6):
            link = model.body(f"l{k}", 1.0 + k % 3, (0.02, 0.03, 0.04), at=(0.3 * k + 0.15, 0.02 * k, 0.05))
            ends = (last, link) if k % 3 else (link, last)
            cls, A = ((ts.Revolute, 0.1), (ts.Prismatic, 0.2), (ts.Cylindrical, (0.1, 0.3)))[k % 3]
            axis = "z" if k % 3 == 0 else "x"
            model.add(cls(f"j{k}", *ends, point=(0.3 * k, 0, 0), axis=axis, armature=None if k == 3 else A))
            last = link
        return model

    runs = []
    for above in ("2", "64"):
        monkeypatch.setenv("TORSOR_TABLES_ABOVE", above)
        runs.append(ts.simulate(chain(), 0.2, outputs=2, tolerance=1e-10, formulation="relative"))
    for what in ("position", "coordinate_acceleration", "reaction_force", "reaction_torque", "kinetic_energy"):
        np.testing.assert_allclose(runs[0][what], runs[1][what], atol=SAME)


def test_an_armature_survives_components_and_copies(tmp_path):
    outer = ts.Model("outer", gravity=(0, 0, -9.81))
    outer.include("inner", arm())
    ts.save_component(arm(), tmp_path / "arm.torsor")
    loaded = ts.Model("loaded", gravity=(0, 0, -9.81))
    loaded.include("inner", ts.load_component(tmp_path / "arm.torsor"))
    runs = [ts.simulate(m, 0.2, outputs=2, tolerance=1e-10, formulation="relative") for m in (arm(), outer, loaded)]
    for run in runs[1:]:
        np.testing.assert_allclose(run.coordinate.values, runs[0].coordinate.values, atol=SAME)


def hinge(**properties):
    model = ts.Model("wheel")
    disk = model.body("disk", mass=1.0, inertia=(0.3, 0.3, 0.5))
    return model, model.add(ts.Revolute("hinge", model.ground, disk, axis="z", **properties))


def test_spring_and_damper_of_a_joint():
    """J q̈ = −k q − c q̇: a damped oscillation."""
    model, joint = hinge(spring=8.0, damping=0.4, start=0.3)
    data = ts.simulate(model, 2.0, outputs=8, tolerance=1e-11)
    decay, w = 0.4 / 2 / 0.5, np.sqrt(8.0 / 0.5 - (0.4 / 2 / 0.5) ** 2)
    t = data.time.values
    exact = 0.3 * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))
    np.testing.assert_allclose(data.coordinate.values[:, 0], exact, atol=1e-9)


def test_spring_and_damper_by_tables():
    law = ts.table([-1, 0, 1], [-4.0, 0.0, 4.0])
    model, _ = hinge(spring=law, damping=lambda rate: 0.2 * rate, start=0.3)
    plain, _ = hinge(spring=4.0, damping=0.2, start=0.3)
    runs = [ts.simulate(m, 1.0, outputs=4, tolerance=1e-11) for m in (model, plain)]
    np.testing.assert_allclose(runs[0].coordinate, runs[1].coordinate, atol=1e-8)


def test_stops_and_dry_friction_of_a_joint():
    """q̇² = 4 − 2 (c/J) q until it stops at J/(2 c) q̇₀², short of the stop; without friction it reaches the stop."""
    model, _ = hinge(friction=1.0, start_rate=2.0, limits=(-2.0, 2.0))
    data = ts.simulate(model, 2.0, outputs=4)
    np.testing.assert_allclose(data.coordinate.values[-1, 0], 0.5 / 2 * 2.0**2, atol=1e-8)
    model, _ = hinge(start_rate=2.0, limits=(None, 0.7))
    data = ts.simulate(model, 1.0, outputs=4)
    np.testing.assert_allclose(data.coordinate.values[-1, 0], 0.7, atol=1e-8)


def test_properties_of_each_coordinate():
    model = ts.Model("tube")
    body = model.body("body", mass=2.0, inertia=(0.3, 0.3, 0.5))
    joint = ts.Cylindrical(
        "tube", model.ground, body, axis="z", limits=[None, (-1, 1)], spring=(0.0, 18.0), start=(0, 0.2)
    )
    model.add(joint)
    data = ts.simulate(model, 1.0, outputs=4, tolerance=1e-10)
    np.testing.assert_allclose(data.coordinate.values[:, 1], 0.2 * np.cos(3 * data.time.values), atol=1e-8)
    assert {"tube.limit1", "tube.spring1"} <= set(model._names)


@pytest.mark.parametrize(
    "properties, words",
    [
        ({"armature": -1.0}, "armature must not be negative"),
        ({"armature": (1.0, 2.0)}, "armature must be one number"),
        ({"armature": float("nan")}, "armature must be finite"),
        ({"limits": (1.0, -1.0)}, "lower must be below upper"),
        ({"limits": 3.0}, "limits must be a pair"),
        ({"spring": -2.0}, "stiffness must not be negative"),
        ({"damping": (1.0, 2.0)}, "damping must be one value or 1"),
        ({"friction": -1.0}, "friction must not be negative"),
    ],
)
def test_properties_without_meaning_are_refused(properties, words):
    with pytest.raises(ts.ModelError, match=words):
        hinge(**properties)


def test_an_armature_needs_a_joint_that_always_holds():
    model, joint = hinge(armature=0.1)
    model.when(ts.time >= 0.1, ts.release(joint))
    with pytest.raises(ts.ModelError, match="nothing would carry the rotor"):
        ts.simulate(model, 0.2)


def test_an_armature_of_a_ball_is_one_number():
    model = ts.Model("ball")
    body = model.body("body", mass=1.0, inertia=(0.3, 0.3, 0.5))
    with pytest.raises(ts.ModelError, match="must be one number for all of them"):
        model.add(ts.Spherical("ball", model.ground, body, armature=(1, 2, 3)))
