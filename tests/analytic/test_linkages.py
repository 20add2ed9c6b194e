"""Linkages of the textbooks: straight lines, axes that meet in a point, shafts at an angle; and how many assemblies they have."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import torsor as ts


def planar(name, points, bars, ground):
    """Rods in the plane z = 0, each through two points, pinned to each other and to the ground where they share points."""
    model, rods = ts.Model(name, gravity=(0, -9.81, 0)), {}
    place = lambda point: np.array([*points[point], 0.0])
    for a, b in bars:
        rods[a + b] = model.body(a + b, mass=1.0, inertia=(0.05, 0.05, 0.1), at=(place(a) + place(b)) / 2)
    for point in points:
        sharing = [model.ground] * (point in ground) + [rod for name, rod in rods.items() if point in name]
        for k, other in enumerate(sharing[1:]):
            model.add(ts.Revolute(f"{point}{k}", sharing[0], other, point=place(point), axis="z"))
    return model, rods


def test_the_cell_of_peaucellier_draws_a_straight_line():
    """|OC| |OD| = L² − l² inverts the circle of C through O into a line. With A and B in one place D is free to move."""
    long, short, crank, first = 2.0, 0.8, 0.7, 0.3
    C = crank * np.array([1 + np.cos(first), np.sin(first)])
    far = np.linalg.norm(C)
    along = (long**2 - short**2 + far**2) / (2 * far)
    height, e = np.sqrt(long**2 - along**2), C / far
    across = height * np.array([-e[1], e[0]])
    D = 2 * along * e - C
    points = {"O": (0, 0), "Q": (crank, 0), "C": C, "A": along * e + across, "B": along * e - across, "D": D}
    model, rods = planar("cell", points, ("QC", "OA", "OB", "AC", "BC", "AD", "BD"), "OQ")
    sweep = np.linspace(-0.9, 0.3, 9)
    data = ts.kinematics(model, {"Q0": sweep}, signals={"D": rods["AD"].point((*(D - points["A"]) / 2, 0))})
    line = (long**2 - short**2) / (2 * crank)
    np.testing.assert_allclose(data["D[0]"], line, atol=1e-11)
    np.testing.assert_allclose(data["D[1]"], line * np.tan((first + sweep) / 2), atol=1e-11)
    found, end = ts.range_of_motion(model, "Q0"), 2 * np.arccos((long - short) / (2 * crank))
    assert [found.lower, found.upper] == pytest.approx([-end - first, end - first], abs=1e-8)
    with pytest.warns(UserWarning, match="4 assemblies stand alone. Others are left out"):
        every = ts.assemble(model, {"Q0": 0.1}, modes=True, starts=40)
    assert len(every.residual) == 4 and every.freedom.max() == 0


def test_a_spherical_four_bar_has_two_assemblies():
    """Axes that meet in a point, with arcs between them: the third is where two cones meet. An axis that points the other way would
    satisfy the equations of the hinge that closes the loop, and is none."""
    arcs, first = np.deg2rad([30, 70, 60, 80]), 0.7
    turned = lambda axis, angle: Rotation.from_rotvec(np.array(axis) * angle).apply
    last = turned((1, 0, 0), arcs[3])((0, 0, 1))

    def axes(angle):
        """Of crank and coupler, and both of coupler and rocker."""
        a = turned((0, 0, 1), angle)(turned((1, 0, 0), arcs[0])((0, 0, 1)))
        part = np.linalg.solve([[1, a @ last], [a @ last, 1]], np.cos(arcs[1:3]))
        inside, normal = part[0] * a + part[1] * last, np.cross(a, last)
        reach = np.sqrt((1 - inside @ inside) / (normal @ normal)) * normal
        return a, inside + reach, inside - reach

    a, b, _ = axes(first)
    model, every = ts.Model("spherical"), [np.array((0, 0, 1.0)), a, b, last]
    before = model.ground
    for k in range(3):
        body = model.body(f"rod{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(every[k] + every[k + 1]) / 2)
        model.add(ts.Revolute(f"hinge{k}", before, body, point=(0, 0, 0), axis=every[k]))
        before = body
    model.add(ts.Revolute("last", before, model.ground, point=(0, 0, 0), axis=last))
    sweep = np.linspace(0, 6.2, 15)
    data = ts.kinematics(model, {"hinge0": sweep}, signals={"pin": before.direction(b)})
    for k, angle in enumerate(sweep):
        there = [data[f"pin[{i}]"][k] for i in range(3)]
        np.testing.assert_allclose(there, axes(first + angle)[1], atol=1e-11)
    found = ts.assemble(model, {"hinge0": 0.3}, modes=True)
    expected = axes(first + 0.3)[1:]
    assert len(found.residual) == 2
    for H in found.poses["rod2"]:
        assert min(np.abs(H[:3, :3] @ b - other).max() for other in expected) < 1e-9


def test_a_universal_joint_turns_unevenly():
    """ω₂/ω₁ = cos β / (1 − sin²β sin²φ), over several turns."""
    bend, times = np.deg2rad(35), np.linspace(0, 5, 21)
    model, axis = ts.Model("cardan"), np.array([np.cos(bend), np.sin(bend), 0])
    shafts = [
        model.body(f"shaft{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=x) for k, x in enumerate(((-0.5, 0, 0), axis))
    ]
    model.add(ts.Revolute("first", model.ground, shafts[0], point=(-1, 0, 0), axis="x"))
    model.add(ts.Universal("cross", *shafts, point=(0, 0, 0), axis="z", second_axis=np.cross(axis, (0, 0, 1))))
    model.add(ts.Cylindrical("second", model.ground, shafts[1], point=axis, axis=axis))
    data = ts.kinematics(model, {"first": 3 * ts.time}, times)
    ratio = np.cos(bend) / (1 - (np.sin(bend) * np.sin(3 * times)) ** 2)
    np.testing.assert_allclose(data.rate.sel(joint_coordinate="second[0]"), 3 * ratio, atol=1e-11)


@pytest.mark.parametrize("crank, base", [(0.98, 2.0), (1.0, 2.02)])
def test_a_linkage_that_is_nearly_a_parallelogram_stays_on_its_assembly(crank, base):
    """Where it nearly lies flat both assemblies are close to each other, and the one that goes straight on is the other one."""
    coupler, rocker, first = 2.0, 1.0, 1.0

    def places(angle):
        A = crank * np.array([np.cos(angle), np.sin(angle)])
        far = np.array([base, 0.0]) - A
        s = np.linalg.norm(far)
        along = (coupler**2 - rocker**2 + s**2) / (2 * s)
        return A, A + (along * far + np.sqrt(coupler**2 - along**2) * np.array([-far[1], far[0]])) / s

    B, C = places(first)
    points = {"A": (0, 0), "B": B, "C": C, "D": (base, 0)}
    model, rods = planar("four-bar", points, ("AB", "BC", "CD"), "AD")
    turns = crank < 1
    end = np.inf if turns else np.arccos((crank**2 + base**2 - (coupler + rocker) ** 2) / (2 * crank * base))
    found = ts.range_of_motion(model, "A0")
    assert found.turns == turns and [found.lower, found.upper] == pytest.approx([-end - first, end - first], abs=1e-8)
    sweep = np.linspace(0, 6.0, 7) if turns else np.linspace(0, -3.5, 5)
    data = ts.kinematics(model, {"A0": sweep}, signals={"C": rods["CD"].point((*(C - points["D"]) / 2, 0))})
    expected = np.array([places(first + angle)[1] for angle in sweep])
    np.testing.assert_allclose(np.stack([data["C[0]"], data["C[1]"]], 1), expected, atol=1e-10)


def test_a_range_may_be_longer_than_a_turn():
    """Seven hinges in space: an angle that comes back to its value with other angles of the rest goes on to its own ends."""
    random, model = np.random.default_rng(8), ts.Model("seven")
    points, before = random.normal(size=(7, 3)), model.ground
    for k in range(7):
        last = k == 6
        mass, at = (None, None) if last else (random.uniform(-2, 3), random.normal(size=3))
        body = model.ground if last else model.body(f"rod{k}", mass=10**mass, inertia=(0.1, 0.12, 0.15), at=at)
        model.add(ts.Revolute(f"hinge{k}", before, body, point=points[k], axis=random.normal(size=3)))
        before = body
    found = ts.range_of_motion(model, "hinge0")
    ends = [
        -11.425483415,
        2.159604379,
    ]  # by steps along the arc of products of exponentials, turning points by bisection
    assert not found.turns and [found.lower, found.upper] == pytest.approx(ends, abs=1e-8)


@pytest.mark.parametrize("start", [None, 0.4])
def test_parts_that_have_to_be_moved_to_fit_together_start_as_in_a_run(start):
    """A four-bar whose parts are described by their own frames, in places where it is not assembled."""
    model = ts.Model("four-bar")
    at = {"crank": {}, "coupler": {"at": (0.25, 0.2, 0)}, "rocker": {"at": (0.9, 0, 0), "rotation": (0, 0, 2)}}
    crank, coupler, rocker = (model.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), **x) for name, x in at.items())
    of_ground = lambda x: model.ground.frame((x, 0, 0))
    model.add(ts.Revolute("O", model.ground, crank, frames=(of_ground(0), crank.frame()), axis="z", start=start))
    model.add(ts.Revolute("A", crank, coupler, frames=(crank.frame((0.3, 0, 0)), coupler.frame()), axis="z"))
    model.add(
        ts.Revolute("B", coupler, rocker, frames=(coupler.frame((0.8, 0, 0)), rocker.frame((0.6, 0, 0))), axis="z")
    )
    model.add(ts.Revolute("D", model.ground, rocker, frames=(of_ground(0.9), rocker.frame()), axis="z"))
    begin = ts.simulate(model, 1e-3, outputs=1).coordinate.sel(joint_coordinate="D")[0].item()
    found = ts.range_of_motion(model, "D")
    assert found.start == pytest.approx(begin, abs=1e-9)
    ends = sorted(
        np.pi - np.arccos((0.81 + 0.36 - x**2) / (2 * 0.9 * 0.6)) for x in (0.5, 1.1)
    )  # crank and coupler in line
    side = np.sign(begin)
    np.testing.assert_allclose(sorted([side * found.lower, side * found.upper]), ends, atol=1e-9)
    assert ts.kinematics(model, {"D": [begin, begin + 0.01 * side]}).sizes["sweep"] == 2
