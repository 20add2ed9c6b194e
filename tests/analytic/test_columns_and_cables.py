"""Columns, cables, trusses and prisms of rigid links against closed forms of the theory of structures."""

import numpy as np
import pytest

import torsor as ts

G = 9.81


def column(links, load_of):
    """A column of length, mass and stiffness E I of 1, clamped at its foot: links with springs between them."""
    model = ts.Model("column")
    load, step, before = model.parameter("load", 0.0), 1 / links, model.ground
    for k in range(links):
        J = step**3 / 12
        link = model.body(f"link{k}", mass=step, inertia=(1e-9, J, J), at=((k + 0.5) * step, 0, 0))
        hinge = model.add(ts.Revolute(f"hinge{k}", before, link, point=(k * step, 0, 0), axis="y"))
        model.add(ts.TorsionSpring(f"spring{k}", hinge, stiffness=(1 if k else 2) / step))
        before = link
    load_of(model, before, load, step)
    return model


def follows(model, tip, load, step):
    """Beck's: the force turns with the tip."""
    model.add(ts.PointForce("force", tip, force=(-load, 0, 0), point=(1, 0, 0), axes="body"))


def stays(model, tip, load, step):
    """Reut's: the force stays on its line, so that it has a moment about the tip."""
    height = (tip.position + tip.rotation @ np.array([step / 2, 0, 0]))[2]
    model.add(ts.PointForce("force", tip, force=(-load, 0, 0), point=(1, 0, 0)))
    model.add(ts.Torque("moment", tip, torque=(0, height * load, 0), axes="world"))


def flutter(model):
    low, high = 15.0, 25.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        grows = ts.linearise(model, parameters={"load": middle}).stability == "unstable"
        low, high = (low, middle) if grows else (middle, high)
    return low


def test_becks_and_reuts_columns_flutter_at_the_same_load():
    """20.05 E I/L², which finer columns come to as the square of the length of their links [beck1952]."""
    coarse, fine = (flutter(column(links, follows)) for links in (8, 16))
    assert (4 * fine - coarse) / 3 == pytest.approx(20.05, rel=1e-3)
    assert flutter(column(8, stays)) == pytest.approx(coarse, abs=1e-4)


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_a_chain_between_unequal_supports_pulls_along_its_links(formulation, links=8, total=3.0):
    """A funicular polygon: every link points along (H, V − w (k + ½)), and the last one ends at its support."""
    end, step = np.array([1.5, 0.5]), total / links
    weight, across = step * G, np.array([0.5, -1.5]) / np.hypot(1.5, 0.5)
    knee = end / 2 + across * np.sqrt(total**2 - end @ end) / 2  # it starts as two straight halves
    parts = np.arange(links + 1)[:, None] * 2 / links
    points = np.where(parts <= 1, knee * parts, knee + (end - knee) * (parts - 1))
    model = ts.Model("chain", gravity=(0, 0, -G))
    before, place = model.ground, lambda x: (x[0], 0, x[1])
    for k, (a, b) in enumerate(zip(points, points[1:])):
        J, turn = step**3 / 12, -np.arctan2(*(b - a)[::-1])
        link = model.body(f"link{k}", mass=step, inertia=(1e-6, J, J), at=place((a + b) / 2), rotation=(0, turn, 0))
        model.add(ts.Revolute(f"hinge{k}", before, link, point=place(a), axis="y"))
        before = link
    model.add(ts.Revolute("end", before, model.ground, point=place(end), axis="y"))
    found = ts.equilibrium(model, formulation=formulation, stable=True)
    H, V = -found.reactions["hinge0"][0][0], found.reactions["hinge0"][0][2]
    ways = np.array([np.full(links, H), -(V - weight * (np.arange(links) + 0.5))]).T
    told = np.cumsum(step * ways / np.linalg.norm(ways, axis=1)[:, None], axis=0)
    np.testing.assert_allclose(told[-1], end, atol=1e-9)
    middles = found.data["position"].sel(axis=["x", "z"]).values
    np.testing.assert_allclose(middles, told - step / 2 * ways / np.linalg.norm(ways, axis=1)[:, None], atol=1e-9)


def test_a_flat_truss_snaps_through_at_its_limit_load(half=1.0, height=0.3, stiffness=900.0):
    """P = 2 k (l₀ − l) z/l of two bars is greatest where l³ = l₀ b²; just above, the apex hangs below its supports."""
    model, free = ts.Model("truss"), np.hypot(half, height)
    load = model.parameter("load", 0.0)
    apex = model.body("apex", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, height))
    model.add(ts.Prismatic("rail", model.ground, apex, axis="z"))
    for name, x in (("left", -half), ("right", half)):
        ends = ((x, 0, 0), (0, 0, height))
        model.add(ts.SpringDamper(name, model.ground, apex, points=ends, stiffness=stiffness, length=free, damping=1.0))
    model.add(ts.PointForce("load_on_it", apex, force=(0, 0, -load)))
    z = np.sqrt((free * half**2) ** (2 / 3) - half**2)
    most = 2 * stiffness * (free - np.hypot(half, z)) * z / np.hypot(half, z)
    below, above = (ts.equilibrium(model, inputs={"load": part * most}) for part in (0.9999, 1.0001))
    assert z < height + below.coordinates["rail"] < z + 0.01 and below.stable
    assert height + above.coordinates["rail"] < -height and above.stable


@pytest.mark.parametrize("twist", [110, 170])
def test_a_prism_of_struts_and_cables_twists_by_150_degrees(twist, radius=0.5, height=1.0):
    """Whatever its cables are; it floats, and its struts spin freely. Prestress alone resists some of its motions."""
    turns = np.radians(120) * np.arange(3)
    ring = lambda turned, z: [np.array([*(radius * np.array([np.cos(a), np.sin(a)])), z]) for a in turns + turned]
    feet, tops = ring(0.0, 0.0), ring(np.radians(twist), height)
    model, ends = ts.Model("prism"), {}
    for k, (a, b) in enumerate(zip(feet, tops)):
        strut = model.body(f"strut{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(a + b) / 2)
        ends |= {("foot", k): (strut, a), ("top", k): (strut, b)}
    pairs = [(one, other, k) for one, other in (("foot", "foot"), ("top", "top"), ("top", "foot")) for k in range(3)]
    for number, (one, other, k) in enumerate(pairs):
        (first, a), (second, b) = ends[one, k], ends[other, (k + 1) % 3]
        cable = {"stiffness": 500.0, "length": 0.9 * np.linalg.norm(a - b), "damping": 5.0}
        model.add(ts.SpringDamper(f"cable{number}", first, second, points=(a, b), **cable))
    found = ts.equilibrium(model)
    x, R = found.data["position"].values, found.data["rotation"].values
    down, up = ([p + Q @ (e - (a + b) / 2) for p, Q, a, b, e in zip(x, R, feet, tops, which)] for which in (feet, tops))
    normal = np.cross(down[1] - down[0], down[2] - down[0])
    first, second = down[0] - np.mean(down, axis=0), up[0] - np.mean(up, axis=0)
    sine = np.cross(first, second) @ normal / np.linalg.norm(normal)
    assert np.degrees(np.arctan2(sine, first @ second)) == pytest.approx(150, abs=1e-7)
    assert len(found.neutral) == 9 and found.stability == "marginal"
