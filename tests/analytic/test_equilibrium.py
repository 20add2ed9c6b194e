"""Equilibria against closed forms: where a mechanism rests, what holds it, whether it stays."""

import pickle

import numpy as np
import pytest

import torsor as ts

G = 9.81
BOTH = pytest.mark.parametrize("formulation", ["absolute", "relative"])


def rod(model, name, ends, mass=1.0):
    """A thin rod between two points."""
    a, b = (np.array(x, float) for x in ends)
    way = b - a
    angle = -np.arctan2(way[2], way[0])
    J = mass * (way @ way) / 12
    return model.body(name, mass=mass, inertia=(1e-4, J, J), at=(a + b) / 2, rotation=(0, angle, 0))


def hinged(angle, stiffness=0.0, **more):
    """A rod of length 1 on a hinge with a torsion spring, at an angle below the horizontal."""
    model = ts.Model("hinged", gravity=(0, 0, -G))
    body = rod(model, "rod", ((0, 0, 0), (np.cos(angle), 0, -np.sin(angle))), mass=2.0)
    hinge = model.add(ts.Revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.TorsionSpring("spring", hinge, stiffness=stiffness, **more))
    return model


@BOTH
def test_a_rod_on_a_torsion_spring_sags_until_moments_balance(formulation):
    """k φ = m g l/2 cos φ, and the hinge carries the weight; a damper makes it stable."""
    found = ts.equilibrium(hinged(0.0, stiffness=30.0, damping=1.0), formulation=formulation)
    phi = found.coordinates["hinge"]
    assert 30.0 * phi == pytest.approx(2.0 * G / 2 * np.cos(phi), rel=1e-12)
    force, _ = found.reactions["hinge"]
    np.testing.assert_allclose(force, (0, 0, 2.0 * G), atol=1e-10)
    assert found.residual < 1e-14 and found.stability == "stable" and found.neutral == []


def test_the_nearest_equilibrium_may_be_unstable_and_the_way_down_leads_to_a_stable_one():
    near_the_top = hinged(-np.pi / 2 + 0.2)
    up, down = ts.equilibrium(near_the_top), ts.equilibrium(near_the_top, stable=True)
    assert up.coordinates["hinge"] == pytest.approx(-0.2) and up.stability == "unstable"
    assert np.cos(down.coordinates["hinge"] - (np.pi - 0.2)) == pytest.approx(1) and down.stability == "marginal"
    np.testing.assert_allclose(down.linear.frequencies, np.sqrt(1.5 * G) / (2 * np.pi), rtol=1e-4)


@BOTH
def test_a_toggle_of_two_rods_holds_its_load_by_the_thrust_of_statics(formulation):
    """A loop: two rods meet at the top, and a spring that ties the feet together carries their thrust."""
    model = ts.Model("toggle", gravity=(0, 0, -G))
    foot, top = (0.8, 0, 0), (0, 0, 0.6)
    left = rod(model, "left", ((-0.8, 0, 0), top), 3.0)
    right = rod(model, "right", (foot, top), 3.0)
    slide = model.body("slide", mass=1.0, inertia=(0.01, 0.01, 0.01), at=foot)
    y = {"axis": (0, 1, 0)}
    model.add(ts.Revolute("base", model.ground, left, point=(-0.8, 0, 0), **y))
    model.add(ts.Revolute("knee", left, right, point=top, **y))
    model.add(ts.Revolute("foot", slide, right, point=foot, **y))
    model.add(ts.Prismatic("rail", model.ground, slide, point=foot, axis=(1, 0, 0)))
    ends = ((-0.8, 0, 0), foot)
    model.add(ts.SpringDamper("tie", model.ground, slide, points=ends, stiffness=200.0, damping=3.0, length=1.4))
    found = ts.equilibrium(model, formulation=formulation)
    half = (1.6 + found.coordinates["rail"]) / 2
    height = np.sqrt(1.0 - half**2)
    pull = 200.0 * (2 * half - 1.4)
    assert pull == pytest.approx(3.0 * G / 2 * half / height, rel=1e-11)  # moments about the knee: H h = m g/2 · b
    force, _ = found.reactions["rail"]
    assert force[2] == pytest.approx((3.0 + 1.0) * G, rel=1e-10)
    assert found.stability == "stable" and found.residual < 1e-13


@pytest.mark.parametrize("damping", [0.0, 1e-4])
def test_a_column_under_a_force_that_follows_it_flutters_beyond_zieglers_load(damping):
    """P l/k = 7/2 − √2 of two links with masses 2 : 1; dampers, however small, lower it to 41/28. It never buckles."""
    model = ts.Model("column")
    load, before = model.parameter("load", 0.0), model.ground
    for k, mass in enumerate((2.0, 1.0)):
        body = model.body(f"link{k}", mass=mass, inertia=(1e-12, 1e-12, 1e-12), at=(k + 1, 0, 0))
        hinge = model.add(ts.Revolute(f"hinge{k}", before, body, point=(k, 0, 0), axis="y"))
        model.add(ts.TorsionSpring(f"spring{k}", hinge, stiffness=1.0, damping=damping))
        before = body
    model.add(ts.PointForce("follower", before, force=(-load, 0, 0), axes="body"))
    critical = 41 / 28 if damping else 3.5 - np.sqrt(2)
    told = [ts.equilibrium(model, parameters={"load": part * critical}).stability for part in (0.999, 1.001)]
    assert told == ["stable" if damping else "marginal", "unstable"]


@BOTH
@pytest.mark.parametrize(("stiffness", "mass"), [(1e6, 1e-2), (1e11, 1e-6)])
def test_a_feather_on_a_stiff_machine_finds_its_place_too(formulation, stiffness, mass):
    """A pendulum of almost no weight on a ton that stands on a stiff spring: both hang as each would alone."""
    model = ts.Model("machine", gravity=(0, 0, -G))
    ton = model.body("ton", mass=1e3, inertia=(100.0, 100.0, 100.0))
    foot = model.add(ts.Prismatic("foot", model.ground, ton, axis="z"))
    model.add(ts.TorsionSpring("spring", foot, stiffness=stiffness))
    bob = model.body("bob", mass=mass, inertia=(mass * 1e-3,) * 3, at=(0.2, 0, -0.1))
    model.add(ts.Revolute("hinge", ton, bob, point=(0, 0, 0), axis="y"))
    found = ts.equilibrium(model, formulation=formulation)
    assert found.coordinates["hinge"] == pytest.approx(np.arctan2(0.2, 0.1), rel=1e-9) and found.neutral == []
    assert found.coordinates["foot"] == pytest.approx(-(1e3 + mass) * G / stiffness, rel=1e-9)
    assert found.linear.frequencies[0] == pytest.approx(np.sqrt(G * np.sqrt(0.05) / 0.051) / (2 * np.pi), rel=1e-4)


@BOTH
def test_an_arm_that_a_spring_balances_everywhere_stays_anywhere(formulation):
    """A spring of no length with k a h = m g l; forces cancel, and so do stiffnesses."""
    arm, height, reach, mass = 0.5, 0.4, 0.3, 2.0
    way = np.array([np.cos(0.4), 0, np.sin(0.4)])
    model = ts.Model("lamp", gravity=(0, 0, -G))
    body = model.body("arm", mass=mass, inertia=(0.01, 0.05, 0.05), at=arm * way, rotation=(0, -0.4, 0))
    model.add(ts.Revolute("hinge", model.ground, body, point=(0, 0, 0), axis="y"))
    ends, stiffness = ((0, 0, height), tuple(reach * way)), mass * G * arm / (reach * height)
    model.add(ts.SpringDamper("spring", model.ground, body, points=ends, stiffness=stiffness, length=0.0))
    found = ts.equilibrium(model, formulation=formulation)
    assert abs(found.coordinates["hinge"]) < 1e-12 and len(found.neutral) == 1 and found.stability == "marginal"


def test_directions_without_resistance_are_named_and_left_where_they_were():
    model = ts.Model("cart", gravity=(0, 0, -G))
    cart = model.body("cart", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add(ts.Prismatic("track", model.ground, cart, axis=(1, 0, 0), start=0.7))
    bob = model.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), at=(0.3, 0, -1))
    model.add(ts.Revolute("hinge", cart, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    found = ts.equilibrium(model, formulation="relative")
    assert found.neutral == ["track"]
    assert found.coordinates["hinge"] == pytest.approx(np.arctan(0.3))
    assert found.stability == "marginal"


def ball(height=0.0, slope=0.0, coefficient=None, spring=0.0):
    model = ts.Model("ball", gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    body = model.body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, height))
    floor = model.add(ts.Contact("floor", model.ground, body, plane=(0, 0, 0)))
    if coefficient is not None:
        model.add(ts.Friction("grip", floor, coefficient=coefficient))
    if spring:
        points = ((-1, 0, height), (0, 0, height))
        model.add(ts.SpringDamper("spring", model.ground, body, points=points, stiffness=spring, length=1.0))
    return model


def test_a_contact_closes_on_the_way_down_and_carries_the_weight():
    found = ts.equilibrium(ball(height=0.5))
    assert found.contacts == {"floor": "closed"}
    assert float(found.data["position"].sel(body="ball", axis="z")) == pytest.approx(0, abs=1e-12)
    assert found.reactions["floor"][0][2] == pytest.approx(2 * G)


@pytest.mark.parametrize("depth", [0.06, 0.04])
def test_of_two_floors_that_a_rod_cannot_lie_on_at_once_it_meets_the_first(depth):
    """A rod on a hinge falls on a floor under its end, at 0.1, or on one under its middle."""
    model = hinged(0.0)
    for name, x, z in (("end", 1.0, 0.1), ("middle", 0.5, depth)):
        model.add(ts.Contact(name, model.ground, model["rod"], point=(x, 0, 0), plane=(0, 0, -z)))
    found = ts.equilibrium(model)
    first = "end" if depth > 0.05 else "middle"
    assert [name for name, told in found.contacts.items() if told == "closed"] == [first]
    assert found.coordinates["hinge"] == pytest.approx(np.arcsin(0.1 if first == "end" else 2 * depth))
    assert found.reactions[first][0][2] == pytest.approx(2.0 * G / 2 if first == "end" else 2.0 * G)


def test_a_contact_that_would_pull_opens():
    model = ts.Model("lifted", gravity=(0, 0, -G))
    body = model.body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
    model.add(ts.Contact("floor", model.ground, body, plane=(0, 0, 0)))
    points = ((0, 0, 2), (0, 0, 0))
    model.add(ts.SpringDamper("spring", model.ground, body, points=points, stiffness=50.0, length=1.0))
    found = ts.equilibrium(model)
    assert found.contacts == {"floor": "open"}
    assert float(found.data["position"].sel(body="ball", axis="z")) == pytest.approx(1 - 2 * G / 50)


def test_a_light_contact_opens_beside_a_heavy_one_in_any_units():
    """A bead that a spring lifts by a part of its weight, beside a block on the floor; friction holds it by its weight, too."""
    model = ts.Model("bead")
    heavy, light, size, gravity, lift, pull = (
        model.parameter(name, 1.0) for name in ("heavy", "light", "size", "gravity", "lift", "pull")
    )
    for name, mass, x in (("block", heavy, 0.0), ("bead", light, 1.0)):
        body = model.body(name, mass=mass, inertia=0, at=(x * size, 0, 0))
        floor = model.add(ts.Contact(f"under_{name}", model.ground, body, plane=(0, 0, 0)))
        model.add(ts.PointForce(f"weight_of_{name}", body, force=(0, 0, -mass * gravity)))
    model.add(ts.Friction("grip", floor, coefficient=0.5))
    model.add(ts.PointForce("hand", body, force=(pull * light * gravity, 0, 0)))
    ends, spring = ((1.0 * size, 0, 3 * size), (1.0 * size, 0, 0)), light * gravity / size
    model.add(ts.SpringDamper("spring", model.ground, body, points=ends, stiffness=spring, length=(3 - lift) * size))
    for values in ((1e5, 1e-6, 1.0, 9.81), (1e-3, 1e5, 1e3, 1600.0)):
        given, unit = dict(zip(("heavy", "light", "size", "gravity"), values)), values[2]
        up = ts.equilibrium(model, parameters=given | {"lift": 1.001, "pull": 0.0})
        assert up.contacts == {"under_block": "closed", "under_bead": "open", "grip": "slides"}
        assert float(up.data["position"].sel(body="bead", axis="z")) == pytest.approx(0.001 * unit)
        down = ts.equilibrium(model, parameters=given | {"lift": 0.8, "pull": 0.0999})
        assert down.contacts == {"under_block": "closed", "under_bead": "closed", "grip": "holds"}
        aside = ts.equilibrium(model, parameters=given | {"lift": 0.8, "pull": 0.1001})
        assert float(aside.data["position"].sel(body="bead", axis="x")) > 1.05 * unit


def test_friction_holds_on_a_slope_up_to_its_angle_and_names_what_it_cannot_hold():
    held = ts.equilibrium(ball(slope=0.3, coefficient=np.tan(0.3) * 1.01))
    assert held.contacts == {"floor": "closed", "grip": "holds"}
    with pytest.raises(ts.ModelError, match=r"no equilibrium.*ball x 5\.798.*'grip' would have to hold 5\.798"):
        ts.equilibrium(ball(slope=0.3, coefficient=np.tan(0.3) * 0.99))
    sprung = ts.equilibrium(ball(slope=0.3, coefficient=0.1, spring=40.0))
    assert float(sprung.data["position"].sel(body="ball", axis="x")) == pytest.approx(2 * G * np.sin(0.3) / 40)


@pytest.mark.parametrize("at", [(0.3, 0.1), (-0.6, 0.7), (-0.9, 0.9)])
def test_a_table_on_four_legs_rests_on_legs_that_push(at):
    """Reactions are not unique; those told push, and balance forces and moments."""
    model = ts.Model("table", gravity=(0, 0, -G))
    top = model.body("top", mass=10, inertia=(0.5, 0.5, 1), at=(*at, 1.0))
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    for k, corner in enumerate(corners):
        model.add(ts.Contact(f"leg{k}", model.ground, top, point=(*corner, 0.0), plane=(0, 0, 0)))
    found = ts.equilibrium(model)
    push = np.array([found.reactions[f"leg{k}"][0][2] for k in range(4)])
    assert push.min() >= 0 and len(found.neutral) == 3
    np.testing.assert_allclose([push.sum(), *(push @ np.array(corners))], 10 * G * np.array([1, *at]), atol=1e-9)


def pushed_box(way):
    """A box on four feet with friction, pushed at half its height."""
    model = ts.Model("box", gravity=(0, 0, -G))
    box = model.body("box", mass=5.0, inertia=(0.2, 0.2, 0.2), at=(0, 0, 0.5))
    for k, (x, y) in enumerate(FEET):
        foot = model.add(ts.Contact(f"foot{k}", model.ground, box, point=(x, y, 0.0), plane=(0, 0, 0)))
        model.add(ts.Friction(f"grip{k}", foot, coefficient=0.5))
    push = model.parameter("push", 0.0)
    model.add(ts.PointForce("hand", box, force=(push * np.cos(way), push * np.sin(way), 0)))
    return model


FEET = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]


def test_a_box_on_four_feet_is_held_by_forces_inside_the_cones_of_friction(way=0.3):
    """They are not unique: those told balance the push and its moment. Beyond μ m g it slides, whichever way it is pushed."""
    model, push, most = pushed_box(way), 0.9999 * 0.5 * 5.0 * G, 1.0001 * 0.5 * 5.0 * G
    found = ts.equilibrium(model, inputs={"push": push})
    load = np.array([found.reactions[f"foot{k}"][0][2] for k in range(4)])
    lam = found.data["multiplier"].to_series()
    grip = np.array([[lam.get(f"grip{k}[{i}]", 0.0) for i in range(2)] for k in range(4)])
    assert np.all(np.linalg.norm(grip, axis=1) <= 0.5 * load + 1e-9)
    moments = [5 * G, push * 0.5 * np.cos(way), push * 0.5 * np.sin(way)]
    np.testing.assert_allclose([load.sum(), *(load @ np.array(FEET))], moments, atol=1e-9)
    assert np.linalg.norm(grip.sum(axis=0)) == pytest.approx(push)
    told = rf"no equilibrium.*box x = 0, box y = 0.*box x {most * np.cos(way):.6g} N.*Friction cannot hold that"
    with pytest.raises(ts.ModelError, match=told):
        ts.equilibrium(model, inputs={"push": most})


@BOTH
def test_friction_in_a_bearing_holds_an_arm_up_to_its_torque(formulation):
    """m g l/2 = 9.81 N m against μ N r, where N is the reaction itself; an arm that slips hangs down."""
    for coefficient, angle in ((6.0, 0.0), (4.0, np.pi / 2)):
        model = hinged(0.0)
        model.add(ts.Friction("rub", model["hinge"], coefficient=coefficient, radius=0.1))
        found = ts.equilibrium(model, formulation=formulation)
        assert found.coordinates["hinge"] == pytest.approx(angle, abs=1e-9) and found.contacts == {"rub": "holds"}
        assert found.reactions["hinge"][0][2] == pytest.approx(2 * G)


@BOTH
def test_a_disk_that_a_spring_holds_leans_on_the_plane_that_it_rolls_on(formulation, radius=0.5, mass=2.0):
    """It tips about its point of contact: 0 = d/dφ of m g r cos φ + k/2 (|c − a| − l)², c = r (−sin φ, cos φ) across its way."""
    model, anchor, stiffness, length = ts.Model("disk", gravity=(0, 0, -G)), np.array([0.9, 1.0]), 40.0, 0.4
    centre = lambda phi: radius * np.array([-np.sin(phi), np.cos(phi)])
    J = mass * radius**2 / 4
    disk = model.body("disk", mass=mass, inertia=(J, 2 * J, J), at=(0, *centre(0.3)), rotation=(0.3, 0, 0))
    model.add(ts.RollingDisk("road", model.ground, disk, axis=(0, np.cos(0.3), np.sin(0.3)), radius=radius))
    ends = (0, *anchor), (0, *centre(0.3))
    model.add(
        ts.SpringDamper("spring", model.ground, disk, points=ends, stiffness=stiffness, length=length, damping=1.0)
    )
    found = ts.equilibrium(model, formulation=formulation, stable=True)
    y, z = found.data["position"].sel(body="disk").values[1:]
    phi = np.arctan2(-y, z)
    way, pull = centre(phi) - anchor, np.array([-z, y])  # dc/dφ
    moment = -mass * G * radius * np.sin(phi) + stiffness * (1 - length / np.hypot(*way)) * (way @ pull)
    assert np.hypot(y, z) == pytest.approx(radius, rel=1e-9) and abs(moment) < 1e-7 and phi < 0
    assert not any("disk z" in told for told in found.neutral)


def test_a_ball_on_a_plane_may_roll_two_ways_and_spin():
    model = ts.Model("ball", gravity=(0, 0, -G))
    body = model.body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 0.4))
    model.add(ts.RollingSphere("road", model.ground, body, radius=0.4))
    found = ts.equilibrium(model)
    assert len(found.neutral) == 3 and not any("ball z" in told for told in found.neutral)
    assert found.stability == "marginal"


def test_a_stop_carries_what_leans_on_it():
    model = ts.Model("arm", gravity=(0, 0, -G))
    body = rod(model, "rod", ((0, 0, 0), (1, 0, 0)), 2.0)
    hinge = model.add(ts.Revolute("hinge", model.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Limit("stop", hinge, lower=-0.5, upper=0.7))
    found = ts.equilibrium(model)
    assert found.coordinates["hinge"] == pytest.approx(0.7) and found.contacts == {"stop": "closed"}
    assert float(found.data["multiplier"].sel(constraint="stop[0]")) == pytest.approx(2 * G / 2 * np.cos(0.7))


def test_a_governor_at_constant_speed_has_its_angle_of_steady_motion():
    """cos φ = g/(ω² l) of a conical pendulum, with its frequency ω sin φ; hanging straight it is unstable beyond ω² = g/l."""
    model = ts.Model("governor", gravity=(0, 0, -G))
    shaft = model.body("shaft", mass=1, inertia=(0.1, 0.1, 0.1))
    spin = model.add(ts.Revolute("spin", model.ground, shaft, point=(0, 0, 0), axis=(0, 0, 1)))
    bob = model.body("bob", mass=1, inertia=(1e-9, 1e-9, 1e-9), at=(0.3, 0, -0.9))
    model.add(ts.Revolute("hinge", shaft, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    speed, length = model.parameter("speed", 5.0), np.hypot(0.3, 0.9)
    model.add(ts.Drive("motor", spin, speed * ts.time))
    found = ts.equilibrium(model, formulation="relative", stable=True)
    x, z = (float(found.data["position"].sel(body="bob", axis=axis)) for axis in "xz")
    phi = np.arctan2(abs(x), -z)
    assert np.cos(phi) == pytest.approx(G / (25 * length), rel=1e-8)
    assert found.linear.frequencies[0] == pytest.approx(5 * np.sin(phi) / (2 * np.pi), rel=1e-8)
    assert ts.equilibrium(model, formulation="relative").stability == "unstable"
    slow = ts.equilibrium(model, formulation="relative", parameters={"speed": 0.9 * np.sqrt(G / length)})
    assert slow.coordinates["hinge"] == pytest.approx(np.arctan2(0.3, 0.9)) and slow.stability == "marginal"
    with pytest.raises(ts.ModelError, match="does not move steadily"):
        ts.equilibrium(model, formulation="absolute")


def test_in_a_lift_that_speeds_up_things_weigh_more():
    """Joint coordinates rest in it; coordinates of the bodies do not, and this is told."""
    model = ts.Model("lift", gravity=(0, 0, -G))
    cab = model.add(ts.Ground("cab", at=(0, 0, ts.time**2)))
    body = rod(model, "rod", ((0, 0, 0), (1, 0, 0)), mass=2.0)
    hinge = model.add(ts.Revolute("hinge", cab, body, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.TorsionSpring("spring", hinge, stiffness=30.0))
    phi = ts.equilibrium(model, formulation="relative").coordinates["hinge"]
    assert 30.0 * phi == pytest.approx((G + 2.0) * np.cos(phi), rel=1e-12)
    with pytest.raises(ts.ModelError, match="does not move steadily"):
        ts.equilibrium(model, formulation="absolute")


def test_what_cannot_move_is_held_by_its_supports():
    model = ts.Model("beam", gravity=(0, 0, -G))
    beam = rod(model, "beam", ((0, 0, 0), (1, 0, 0)), mass=2.0)
    model.add(ts.Revolute("pin", model.ground, beam, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.PointOnPlane("roller", model.ground, beam, point=(1, 0, 0), normal=(0, 0, 1)))
    found = ts.equilibrium(model)
    assert [found.reactions[name][0][2] for name in ("pin", "roller")] == pytest.approx([G, G])
    assert found.linear.A.shape == (0, 0) and found.stability == "stable"
    again = pickle.loads(pickle.dumps(found))
    assert again.reactions["pin"][0][2] == pytest.approx(G)


def test_states_of_the_user_come_to_rest_too():
    """An integrator holds a cart at 1 m against a push of 7 N: 5 z − 3 + 7 = 0."""
    model = ts.Model("held")
    cart = model.body("cart", mass=2.0, inertia=(0.1, 0.1, 0.1))
    rail = model.add(ts.Prismatic("rail", model.ground, cart, axis=(1, 0, 0)))
    x, v = rail.coordinate[0], rail.rate[0]
    z = model.state("integral", rate=1.0 - x)
    push = model.input("push", 0.0)
    model.add(ts.JointForce("motor", rail, value=5 * z - 3 * x - 4 * v + push))
    found = ts.equilibrium(model, inputs={"push": 7.0})
    assert found.coordinates["rail"] == pytest.approx(1) and found.signals["integral"] == pytest.approx(-0.8)
    roots = np.roots([2, 4, 3, 5])
    np.testing.assert_allclose(np.sort_complex(found.linear.eigenvalues), np.sort_complex(roots), rtol=1e-10)


@BOTH
@pytest.mark.parametrize(("case", "neutral"), [("governor", 2), ("chain", 4)])
def test_neutral_directions_are_no_instabilities_in_any_coordinates(case, neutral, formulation):
    """A shaft that spins freely, links that turn about a vertical; springs beside them are stiff."""
    found = ts.equilibrium(ts.cases.load(case), formulation=formulation)
    assert found.stability == "marginal" and 2 * len(found.neutral) == neutral
    assert sum(2 if mode.eigenvalue.imag > 0 else 1 for mode in found.linear.modes if mode.neutral) == neutral


@BOTH
def test_parameters_of_an_equilibrium_stay_unless_others_are_given(formulation):
    model = hinged(0.0, stiffness=30.0)
    hinge = model["hinge"]
    damping, more = model.parameter("damping", 0.5), model.parameter("more", 0.0)
    model.add(ts.JointForce("brake", hinge, value=-damping * hinge.rate[0] - more * hinge.coordinate[0]))
    found = ts.equilibrium(model, parameters={"more": 5.0}, formulation="relative")
    phi, inertia = found.coordinates["hinge"], 2.0 / 3
    assert 35.0 * phi == pytest.approx(G * np.cos(phi))
    for at, value in ((found, 0.5), (found.data, 0.0)):
        linear = ts.linearise(model, [], [], at, formulation, {"damping": value})
        roots = np.roots([inertia, value, 35.0 + G * np.sin(phi)])
        np.testing.assert_allclose(np.sort_complex(linear.eigenvalues), np.sort_complex(roots), rtol=1e-9, atol=1e-9)


@BOTH
def test_an_equilibrium_is_one_in_every_formulation_and_a_run_stays_there(formulation):
    model = ts.cases.load("four-bar")
    found = ts.equilibrium(model, formulation="relative", stable=True)
    linear = ts.linearise(model, at=found, formulation=formulation)
    np.testing.assert_allclose(linear.eigenvalues, found.linear.eigenvalues, rtol=1e-7, atol=1e-7)
    assert linear.steady
