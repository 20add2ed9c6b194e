"""Independent coordinates alone are integrated: the method applied to the reduced equation of motion, to rounding."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts

R, L, G = 0.4, 1.1, 9.81
MASSES = {"crank": 2.0, "rod": 1.5, "slider": 0.8}
START, RATE = 0.7, 3.0


def slider_crank():
    """In the plane z, x: a crank about the origin, a rod, a slider along x; the rod's head is the cut joint."""
    model = ts.Model("slider-crank", gravity=(0, 0, -G))
    crank_end = np.array([R * np.cos(START), 0, R * np.sin(START)])
    head = np.array([crank_end[0] + np.sqrt(L**2 - crank_end[2] ** 2), 0, 0])
    inertia = (0.05, 0.06, 0.05)
    crank = model.body("crank", mass=MASSES["crank"], inertia=inertia, at=crank_end / 2)
    rod = model.body("rod", mass=MASSES["rod"], inertia=inertia, at=(crank_end + head) / 2)
    slider = model.body("slider", mass=MASSES["slider"], inertia=inertia, at=head)
    model.add(ts.Revolute("A", model.ground, crank, point=(0, 0, 0), axis=(0, -1, 0), start_rate=RATE))
    model.add(ts.Revolute("B", crank, rod, point=crank_end, axis=(0, -1, 0)))
    model.add(ts.Prismatic("slide", model.ground, slider, axis="x"))
    model.add(ts.Revolute("head", rod, slider, point=head, axis=(0, -1, 0), cut=True))
    return model


def reduced():
    """φ̈ of the crank angle by Lagrange's equation for one coordinate, T = ½ I(φ) φ̇²."""
    phi, rate = ca.SX.sym("phi"), ca.SX.sym("rate")
    crank_end = R * ca.vertcat(ca.cos(phi), ca.sin(phi))
    head = ca.vertcat(crank_end[0] + ca.sqrt(L**2 - crank_end[1] ** 2), 0)
    centres = {"crank": crank_end / 2, "rod": (crank_end + head) / 2, "slider": head}
    slope = ca.asin(-crank_end[1] / L)
    moment = sum(m * ca.sumsqr(ca.jacobian(centres[k], phi)) for k, m in MASSES.items())
    moment += 0.06 * (1 + ca.jacobian(slope, phi) ** 2)
    potential = sum(m * G * centres[k][1] for k, m in MASSES.items())
    forces = -ca.jacobian(moment, phi) * rate**2 / 2 - ca.jacobian(potential, phi)
    return ca.Function("f", [phi, rate], [forces / moment])


def runge_kutta(h, count):
    """The classical method of order 4 for (φ, φ̇)."""
    f = reduced()
    rates = lambda y: np.array([y[1], float(f(*y))])
    y, found = np.array([START, RATE]), [START]
    for _ in range(count):
        k1 = rates(y)
        k2 = rates(y + h / 2 * k1)
        k3 = rates(y + h / 2 * k2)
        k4 = rates(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        found.append(y[0])
    return np.array(found)


@pytest.mark.parametrize("form", ["relative", "woronetz", "hierarchical"])
def test_the_run_is_the_method_applied_to_the_reduced_equation(form):
    h, count = 0.02, 40
    dependent = {"positions": ("B", "slide"), "velocities": ("B", "slide")}
    given = {"outputs": count, "method": "rkmk4", "step": h, "formulation": form}
    crank = lambda way: ts.simulate(slider_crank(), h * count, projection=way, **given).coordinate.sel(
        joint_coordinate="A"
    )
    expected = runge_kutta(h, count) - START
    assert np.abs(crank(ts.Independent(**dependent)) - expected).max() < 1e-12  # rounding alone
    assert (
        np.abs(crank(ts.Partition(**dependent)) - expected).max() > 1e-9
    )  # stages off the constraints: another motion


def test_the_order_is_that_of_the_method():
    until = 0.6
    last = lambda **way: float(
        ts.simulate(slider_crank(), until, outputs=1, formulation="relative", **way)
        .coordinate[-1]
        .sel(joint_coordinate="A")
    )
    exact = last(tolerance=1e-13)
    errors = [abs(last(method="rkmk4", step=until / n, projection="independent") - exact) for n in (30, 60)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.3)


def test_adaptive_steps_hold_their_tolerance_past_dead_points():
    """Two turns of the crank: coordinates are chosen anew where they become poor ones."""
    until = 4.0
    run = lambda **way: ts.simulate(slider_crank(), until, outputs=20, formulation="relative", **way)
    exact, found = run(tolerance=1e-12), run(projection="independent")
    assert np.abs(found.position - exact.position).max() < 1e-6
    assert float(found.position_drift.max()) < 1e-13


@pytest.mark.parametrize("case", ["three-link", "heavy-top"])
def test_rotations_as_coordinates_are_refused(case):
    for form in ("absolute", "relative"):
        with pytest.raises(ts.OptionError, match="'independent' integrates joint coordinates"):
            ts.simulate(ts.cases.load(case), 0.1, projection="independent", formulation=form)


@pytest.mark.parametrize("method", ["abm4", "radau5", "implicit-midpoint", "auto"])
def test_methods_without_explicit_stages_are_refused(method):
    with pytest.raises(ts.OptionError, match="in every stage of an explicit"):
        ts.simulate(slider_crank(), 0.1, step=0.01, method=method, projection="independent")


def test_a_threshold_is_refused():
    with pytest.raises(ts.OptionError, match="has no threshold"):
        ts.Independent(threshold=1e-3)
