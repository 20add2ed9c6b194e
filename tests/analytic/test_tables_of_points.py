"""Tables: what they give, their derivatives, and motions under them, against SciPy's interpolators and closed forms."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import Akima1DInterpolator, CubicSpline, RectBivariateSpline, RegularGridInterpolator, interp1d

import torsor as ts
from torsor.kernels import build
from torsor.tables.table import MANY

KINDS = ("nearest", "linear", "akima", "cubic")
RNG = np.random.default_rng(7)


def reference(x, y, kind):
    """SciPy's function and its first two derivatives."""
    if kind in ("akima", "cubic"):
        f = Akima1DInterpolator(x, y) if kind == "akima" else CubicSpline(x, y)
        return [lambda u, k=k: f(u, nu=k) for k in range(3)]
    f, m = interp1d(x, y, kind), np.diff(y) / np.diff(x)
    slope = (lambda u: m[np.searchsorted(x, u) - 1]) if kind == "linear" else (lambda u: 0 * u)
    return [f, slope, lambda u: 0 * u]


def irregular(count):
    return np.cumsum(RNG.uniform(0.05, 1.0, count)) - 2.0, RNG.normal(size=count)


def derivatives(f, *symbols):
    """A table and its derivatives as a CasADi function."""
    column, e = ca.vertcat(*symbols), f(*symbols)
    return ca.Function("f", [column], [e, ca.gradient(e, column), ca.hessian(e, column)[0]])


def slider(force, mass=2.0):
    """A mass on a line, and its joint."""
    model = ts.Model("slider", gravity=(0, 0, 0))
    joint = model.add(ts.Prismatic("rail", model.ground, model.body("mass", mass=mass, inertia=(1, 1, 1)), axis="x"))
    model.add(ts.JointForce("push", joint, force(joint) if callable(force) else force))
    return model


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [4, 5, 30])
def test_tables_and_their_derivatives_are_those_of_scipy(kind, count):
    x, y = irregular(count)
    f, truth = ts.table(x, y, kind), reference(x, y, kind)
    u = RNG.uniform(x[0], x[-1], 40)
    assert f(u) == pytest.approx(truth[0](u), abs=1e-11)
    g = derivatives(f, ca.SX.sym("u"))
    found = np.array([[float(d) for d in g(v)] for v in u]).T
    for k, row in enumerate(found):
        size = np.abs(truth[k](u)).max() + 1.0
        assert row == pytest.approx(truth[k](u), abs=1e-10 * size)
    assert f(x) == pytest.approx(y, abs=1e-12 * np.abs(y).max() + 1e-12)


@pytest.mark.parametrize("kind", ["nearest", "linear", "cubic"])
def test_tables_of_two_arguments_are_those_of_scipy(kind):
    (x, y), z = (irregular(n)[0] for n in (9, 6)), RNG.normal(size=(9, 6))
    u, v = RNG.uniform(x[0], x[-1], 60), RNG.uniform(y[0], y[-1], 60)
    f = ts.table((x, y), z, kind)
    spline = RectBivariateSpline(x, y, z, s=0) if kind == "cubic" else None
    grid = RegularGridInterpolator((x, y), z, method="linear" if kind == "cubic" else kind)
    assert f(u, v) == pytest.approx(spline(u, v, grid=False) if spline else grid(np.c_[u, v]), abs=1e-11)
    if spline:
        g = derivatives(f, *ca.vertsplit(ca.SX.sym("u", 2)))
        for a, b in zip(u[:9], v[:9]):
            _, gradient, hessian = (np.array(d) for d in g([a, b]))
            by = lambda i, j, a=a, b=b: float(spline(a, b, dx=i, dy=j, grid=False))
            assert gradient.ravel() == pytest.approx([by(1, 0), by(0, 1)], abs=1e-9)
            assert hessian == pytest.approx(np.array([[by(2, 0), by(1, 1)], [by(1, 1), by(0, 2)]]), abs=1e-8)


def test_a_step_leaves_akima_as_it_is_elsewhere():
    """A jump as two points that are close together is steep; beyond two points from it, slopes are those without it."""
    x, y = np.arange(21.0), np.random.default_rng(3).normal(size=21)
    x, y = np.insert(x, 11, x[10] + 1e-12), np.insert(y, 11, y[10] + 5)
    u = np.linspace(0, 8, 50)
    np.testing.assert_allclose(ts.table(x, y, "akima")(u), Akima1DInterpolator(x[:11], y[:11])(u), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_outside_a_table_holds_goes_on_or_is_nothing(kind):
    x, y = irregular(12)
    far = np.array([x[0] - 0.7, x[-1] + 0.3])
    assert ts.table(x, y, kind, "hold")(far) == pytest.approx(y[[0, -1]])
    assert np.isnan(ts.table(x, y, kind, "error")(far)).all()
    for away in (0.0, 1.7e9, -1e15):  # clocks that count from long ago
        points = away + np.round(64 * x)
        assert ts.table(points, y, kind, "error")(points[[0, -1]]) == pytest.approx(y[[0, -1]])  # the ends are inside
    went_on = {"nearest": y[[0, -1]], "cubic": CubicSpline(x, y)(far)}
    went_on["akima"] = Akima1DInterpolator(x, y)(far, extrapolate=True)
    went_on["linear"] = interp1d(x, y, fill_value="extrapolate")(far)
    assert ts.table(x, y, kind, "extrapolate")(far) == pytest.approx(went_on[kind])
    assert np.isnan(ts.table(x, y, kind)(np.nan))


@pytest.mark.parametrize("kind", KINDS)
def test_a_mass_under_a_force_over_time_has_the_impulse_of_that_force(kind):
    """m v = ∫ F dt, to rounding where the pieces are polynomials that the method integrates exactly."""
    f = ts.table([0, 0.3, 0.7, 1.1, 2], [0, 1, -2, 5, 0], kind)
    data = ts.simulate(slider(f(1.5 * ts.time - 0.2)), 1.2, outputs=12)
    u = lambda t: 1.5 * t - 0.2
    breaks = (np.sort([0.15, 0.5, 0.9, 1.55, 0.3, 0.7, 1.1]) + 0.2) / 1.5
    impulse = [
        quad(lambda t: f(u(t)), 0, end, points=breaks[breaks < end], epsabs=1e-12)[0] for end in data.time.values
    ]
    assert 2.0 * data.rate.values[:, 0] == pytest.approx(impulse, abs=1e-8)


def test_a_force_that_begins_sets_what_rests_in_motion():
    """Nothing moves until then: an error there is large against everything, were it rounding alone."""
    for start, scale in ((0.2, 1.0), (0.1 + 0.2, 1.5), (1000.1, 0.7)):
        f = ts.table([start - 1, start, start + 2], [0, 0, 4])
        data = ts.simulate(slider(f(scale * ts.time + start - 0.1 * scale)), 1.1, outputs=11)
        assert data.rate.values[:, 0] == pytest.approx(
            0.5 * scale * np.maximum(data.time.values - 0.1, 0) ** 2, abs=1e-9
        )


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_native_code_finds_the_piece_that_bisection_finds(backend):
    """Among points that crowd together over twelve decades, at them and between, with derivatives, in one and two arguments."""
    x = np.unique(np.concatenate([np.geomspace(1e-9, 1e3, 300), np.linspace(0, 1e3, 50)]))
    f = ts.table(x, np.sin(np.arange(len(x))), "nearest")
    g = ts.table((x, [0.0, 1.0, 1.5, 4.0]), np.cos(np.arange(4 * len(x))).reshape(-1, 4), "linear", "extrapolate")
    u = ca.SX.sym("u", 2)
    even = np.linspace(-1, 5, 400) + RNG.uniform(-0.2, 0.2, 400) * 6 / 400  # nearly equally spaced
    h = ts.table(even, np.arange(400.0), "nearest")
    both = ca.vertcat(f(u[0]), g(u[0], u[1]), h(u[1]))
    function = ca.Function("both", [u], [both, ca.densify(ca.jacobian(both, u))])
    kernel = build({"both": function}, backend=backend)["both"]
    for a in [-1.0, *x[::7], *np.nextafter(x[::9], 0), *(0.5 * (x[1:] + x[:-1]))[::11], 2e3, np.nan]:
        at = np.array([a, RNG.choice([RNG.uniform(-2, 6), *even[:4], *even[-4:], *0.5 * (even[1:9] + even[:8])])])
        (values, slopes), (v, s) = kernel(at), function(at)
        assert values == pytest.approx(np.array(v).ravel(), rel=1e-9, abs=1e-9, nan_ok=True)
        assert slopes == pytest.approx(np.array(s).ravel(order="F"), rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("outside", ["hold", "extrapolate", "error"])
@pytest.mark.parametrize("kind", KINDS)
def test_many_numbers_at_once_are_those_of_each_alone(kind, outside):
    """Native code finds them, which rounds otherwise; shapes are kept, and what is no number stays none."""
    f = ts.table(np.sort(RNG.uniform(-1, 1, 50)), RNG.normal(size=50), kind, outside)
    u = np.append(RNG.uniform(-1.2, 1.2, MANY - 1), np.nan).reshape(2, -1)
    few = np.array([f(part) for part in u.reshape(10, -1)]).reshape(u.shape)
    np.testing.assert_allclose(f(u), few, rtol=1e-12, atol=1e-12)
    if kind != "akima":
        g = ts.table((np.arange(7.0), np.arange(5.0) ** 2), RNG.normal(size=(7, 5)), kind, outside)
        v = RNG.uniform(-1, 17, u.shape)
        few = np.array([g(*part) for part in zip(3 * u.reshape(10, -1), v.reshape(10, -1))]).reshape(u.shape)
        np.testing.assert_allclose(g(3 * u, v), few, rtol=1e-11, atol=1e-11)
