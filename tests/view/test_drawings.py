"""Elements are drawn as what they are: wheels of gears mesh, ropes run over their pulleys, followers touch their cams."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.lie import pose_stacks
from torsor.scene.scene import scene
from torsor.viewer.rope_lines import rope_lines
from torsor.viewer.surfaces import faces_of


def entry(model, name):
    found = scene(model)
    return next(x for x in (*found["joints"], *found["forces"]) if x["name"] == name)


def wheel(model, name, at, radius=0.1, axis=(0, 1, 0), carrier=None):
    body = model.body(name, mass=1.0, inertia=(0.01, 0.01, 0.01), at=at)
    return model.add(ts.Revolute(f"{name}_axle", carrier or model.ground, body, point=at, axis=axis))


def reference(model, body):
    return (np.array(model.bodies[body].reference[0]) if body >= 0 else np.zeros(3)), np.eye(3)


def pitch_radius(outline):
    return np.mean([min(r := np.hypot(*np.transpose(outline))), max(r)])


@pytest.mark.parametrize(
    "teeth, internal, apart", [((15, 45), False, 0.2), ((20, 60), True, 0.2), ((30, 30), False, 0.5)]
)
def test_wheels_of_a_pair_touch_with_the_ratio_of_their_teeth(teeth, internal, apart):
    model = ts.Model("pair")
    one, two = wheel(model, "one", (0, 0, 0)), wheel(model, "two", (apart * 0.6, 0, apart * 0.8))
    model.add(ts.Gear("mesh", one, two, teeth=teeth, internal=internal))
    a, b = entry(model, "mesh")["solids"]
    assert (a["body"], b["body"]) == (0, 1)
    ra, rb = pitch_radius(a["outline"]), pitch_radius(b["holes"][0] if internal else b["outline"])
    assert ra / rb == pytest.approx(teeth[0] / teeth[1], rel=0.03)
    assert (rb - ra if internal else ra + rb) == pytest.approx(apart, rel=0.03)
    for solid in (a, b):
        assert np.abs(pose_stacks.rotations(np.array(solid["q"]))[:, 2]) @ (0, 1, 0) == pytest.approx(1)


def test_wheels_on_a_carrier_touch_with_the_ratio_of_their_teeth():
    model = ts.Model("planet")
    sun, arm = wheel(model, "sun", (0, 0, 0)), wheel(model, "arm", (0, 0, 0))
    planet = wheel(model, "planet", (0.3, 0, 0), carrier=model["arm"])
    model.add(ts.Gear("mesh", sun, planet, teeth=(24, 18), carrier=arm))
    a, b = entry(model, "mesh")["solids"]
    assert (a["body"], b["body"]) == (0, 2)
    ra, rb = (pitch_radius(solid["outline"]) for solid in (a, b))
    assert ra / rb == pytest.approx(24 / 18, rel=0.03) and ra + rb == pytest.approx(0.3, rel=0.03)


def test_a_rack_passes_its_pinion_with_the_speed_of_the_rim():
    """About y with the speed ω the rim has the velocity ω r towards +x where z = +r."""
    model = ts.Model("rack")
    turn = wheel(model, "pinion", (0, 0, 0))
    bar = model.body("bar", mass=1.0, inertia=(1, 1, 1), at=(0.5, 0, 0))
    slide = model.add(ts.Prismatic("slide", model.ground, bar, point=(0.5, 0, 0), axis=(1, 0, 0)))
    model.add(ts.Rack("up", slide, turn, radius=0.1))
    model.add(ts.Rack("down", slide, turn, radius=-0.1), active=False)
    for name, side in (("up", 1), ("down", -1)):
        toothed = entry(model, name)["solids"][-1]
        assert toothed["body"] == 1 and np.allclose(toothed["p"], (-0.5, 0, 0.1 * side))


def test_a_rope_is_drawn_as_long_as_it_is():
    model = ts.Model("hoist")
    top, low = wheel(model, "top", (0, 0, 1)), wheel(model, "low", (0.3, 0, 0.2))
    rope = model.add(
        ts.Cable("rope", [(-0.4, 0, 0), ts.Pulley(top, 0.1), ts.Pulley(low, 0.05), (0.35, 0, 1)], stiffness=10.0)
    )
    (line,) = rope_lines(entry(model, "rope"), lambda body: reference(model, body))
    drawn = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
    path = rope.lay()
    wraps = sum(abs(path.rho[k]) * path.wrap(k) for k in (1, 2))
    straight = sum(
        np.sqrt(D @ D - (path.rho[j] - path.rho[i]) ** 2)
        for (i, j), (D, _) in zip(path.pairs, map(path._numbers, range(3)))
    )
    assert drawn == pytest.approx(straight + wraps, rel=1e-3)


def test_a_belt_is_closed_and_has_its_pulleys():
    model = ts.Model("belt")
    a, b = wheel(model, "a", (0, 0, 0)), wheel(model, "b", (0.5, 0, 0))
    model.add(ts.Belt("belt", [ts.Pulley(a, 0.1), ts.Pulley(b, 0.2)], stiffness=1e4))
    found = entry(model, "belt")
    assert found["closed"] and [x["body"] for x in found["solids"]] == [0, 1]
    (line,) = rope_lines(found, lambda body: reference(model, body))
    assert np.allclose(line[0], line[-1])
    away = np.linalg.norm(line[:-1] - np.where(line[:-1, :1] < 0.2, 0, 0.5) * (1, 0, 0), axis=1)
    assert np.allclose(np.sort(away), [0.1] * 17 + [0.2] * 17)


@pytest.mark.parametrize("axis", [(0, 1, 0), (0, -1, 0)])
def test_the_edge_of_a_follower_touches_the_drawn_cam(axis):
    """At every angle φ, where the follower has the lift s(φ)."""
    lift = lambda a: 0.05 - 0.05 * np.cos(a) + 0.02 * np.sin(2 * a)
    model = ts.Model("cam")
    shaft = wheel(model, "shaft", (0, 0, 0), axis=axis)
    valve = model.body("valve", mass=1.0, inertia=(1, 1, 1), at=(0, 0, 0.4))
    slide = model.add(ts.Prismatic("guide", model.ground, valve, point=(0, 0, 0.4), axis=(0, 0, 1)))
    model.add(ts.Cam("cam", shaft, slide, lift=lambda a: 0.05 - 0.05 * ca.cos(a) + 0.02 * ca.sin(2 * a)))
    disc, cone, _ = entry(model, "cam")["solids"]
    turn = pose_stacks.rotations(np.array(disc["q"]))
    outline = np.array(disc["outline"])
    angles, radii = np.arctan2(outline[:, 1], outline[:, 0]), np.hypot(*outline.T)
    order = np.argsort(angles)
    for phi in np.linspace(0, 6, 20):
        c, s = np.cos(phi), np.sin(phi) * axis[1]
        R = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        tip = np.array([0, 0, 0.4 + lift(phi) - cone["size"][1] / 2]) + cone["p"]
        local = (R @ turn).T @ tip
        r = np.interp(np.arctan2(local[1], local[0]), angles[order], radii[order], period=2 * np.pi)
        assert np.hypot(local[0], local[1]) == pytest.approx(r, abs=3e-4) and abs(local[2]) < 1e-9


def test_shapes_of_a_contact_are_drawn_where_bodies_have_none():
    model = ts.Model("drop", gravity=(0, 0, -9.81))
    ball = model.body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01), at=(0, 0, 1.0))
    model.add(
        ts.CompliantContact(
            "floor", model.ground, ball, shapes=(ts.shapes.plane((1, 1)), ts.shapes.sphere(0.1)), stiffness=1e5
        )
    )
    found = scene(model)
    assert [s["kind"] for s in found["bodies"][0]["shapes"]] == ["sphere"]
    assert [s["kind"] for s in found["ground"]] == ["plane"]


def test_a_liquid_has_one_surface_at_its_level():
    model = ts.Model("sea", gravity=(0, 0, -9.81))
    for k in range(2):
        body = model.body(
            f"float{k}", mass=1.0, inertia=(1, 1, 1), at=(k, 0, 0.3), shape=ts.shapes.box((0.2, 0.2, 0.2))
        )
        model.add(ts.Buoyancy(f"water{k}", body, level=0.25))
    (surface,) = [s for s in scene(model)["ground"] if s["kind"] == "plane"]
    assert surface["p"][2] == pytest.approx(0.25)


def test_damping_of_a_joint_is_not_drawn_as_a_spring():
    model = ts.Model("rubs")
    hinge = wheel(model, "wheel", (0, 0, 0))
    model.add(ts.Spring("soft", hinge, stiffness=1.0))
    model.add(ts.Spring("oil", hinge, damping=0.1))
    assert (entry(model, "soft")["draw"], entry(model, "oil")["draw"]) == ("torsion", "joint-damper")


def test_a_spring_on_a_slider_is_a_coil_and_on_a_hinge_a_spiral():
    model = ts.Model("springs")
    turn = wheel(model, "disc", (0, 0, 0))
    bar = model.body("bar", mass=1.0, inertia=(1, 1, 1), at=(0.5, 0, 0))
    slide = model.add(ts.Prismatic("slide", model.ground, bar, point=(0.5, 0, 0), axis=(1, 0, 0)))
    for joint in (turn, slide):
        model.add(ts.Spring(f"{joint.name}_spring", joint, stiffness=1.0))
        model.add(ts.JointForce(f"{joint.name}_load", joint, 1.0))
    drawn = {x["name"]: x["draw"] for x in scene(model)["forces"]}
    assert drawn == {
        "disc_axle_spring": "torsion",
        "disc_axle_load": "torque",
        "slide_spring": "slide-coil",
        "slide_load": "thrust",
    }


@pytest.mark.parametrize(
    "kind, size, volume", [("cylinder", [0.5, 2.0], 0.5), ("cone", [0.5, 2.0], 1 / 6), ("extrusion", [2.0], 1.5)]
)
def test_faces_of_solids_enclose_their_volume(kind, size, volume):
    """∫ x·n dA/3 over all faces; of 18 corners around 2 % are missing."""
    square = lambda a: [[-a, -a], [a, -a], [a, a], [-a, a]]
    shape = {"kind": kind, "size": size, "outline": square(0.5), "holes": [square(0.25)]}
    total = 0.0
    for face in faces_of(shape, 1.0):
        cross = np.cross(face - face[0], np.roll(face, -1, axis=0) - face[0])
        total += abs(cross.sum(axis=0) @ face[0]) / 6 * (-1 if kind == "extrusion" and _inner(face) else 1)
    assert total == pytest.approx(volume * (np.pi if kind != "extrusion" else 1), rel=0.025)


def _inner(face):
    """A side of the hole faces the axis."""
    return len(face) == 4 and np.abs(face[:, :2]).max() < 0.3
