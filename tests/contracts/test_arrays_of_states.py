"""Functions of a compiled model take arrays of states: each row is what the state alone gives, to the last bit."""

import numpy as np
import pytest

import torsor as ts

MODELS = [("manipulator", "relative"), ("four-bar", "relative"), ("four-bar", "absolute"), ("platform", "relative")]
OF_STATES = ("accelerations", "multipliers", "momenta", "body_accelerations", "coriolis")
OF_PLACES = ("mass_matrix", "gravity", "poses")
IN_JOINTS = {"coriolis", "mass_matrix", "gravity", "inverse_dynamics", "forward_dynamics"}
_KNOWN: dict = {}


def compiled(case, formulation):
    if (case, formulation) not in _KNOWN:
        _KNOWN[case, formulation] = ts.compile(ts.cases.load(case), formulation=formulation)
    return _KNOWN[case, formulation]


def states(found, *shape):
    random = np.random.default_rng(3)
    n = found.v.size
    q = [found.kernels["retract"](found.q, 0.1 * random.standard_normal(n))[0] for _ in range(int(np.prod(shape)))]
    return np.array(q).reshape(*shape, -1), random.standard_normal((*shape, n)), random


@pytest.mark.parametrize("case, formulation", MODELS)
def test_each_row_is_what_its_state_alone_gives(case, formulation):
    found = compiled(case, formulation)
    q, v, _ = states(found, 2, 3)
    for name in OF_STATES + OF_PLACES:
        if name in IN_JOINTS and formulation == "absolute":
            continue
        given = (q, v) if name in OF_STATES else (q,)
        many = getattr(found, name)(*given)
        alone = [[getattr(found, name)(*[x[i, k] for x in given]) for k in range(3)] for i in range(2)]
        assert many.shape[:2] == (2, 3), name
        np.testing.assert_array_equal(many, alone, err_msg=name)
    for many, alone in zip(found.residuals(q, v), found.residuals(q[1, 2], v[1, 2])):
        np.testing.assert_array_equal(many[1, 2], alone)


@pytest.mark.parametrize("case, formulation", [m for m in MODELS if m[1] == "relative"])
def test_leading_dimensions_are_broadcast(case, formulation):
    """M v̇ + C v + g of an array of positions, beside arrays of velocities and accelerations, is what inverse dynamics asks for."""
    found = compiled(case, formulation)
    q, v, random = states(found, 4)
    a = random.standard_normal((5, 1, found.v.size))
    need = found.inverse_dynamics(q, v, a)
    assert need.shape == (5, 4, found.v.size)
    np.testing.assert_array_equal(need[3, 1], found.inverse_dynamics(q[1], v[1], a[3, 0]))
    if case != "four-bar":
        np.testing.assert_allclose(found.forward_dynamics(q, v, need), a + 0 * v, atol=1e-8)
    still = found.inverse_dynamics(q, 0 * v, 0 * v, t=np.zeros((2, 1)))
    assert still.shape == (2, 4, found.v.size)


def test_times_are_broadcast_also_where_nothing_depends_on_them():
    found = compiled("manipulator", "relative")
    times = np.zeros((2, 3))
    for name in (*OF_PLACES, "coriolis", "inverse_dynamics", "accelerations"):
        one, many = (getattr(found, name)(t=t) for t in (0.0, times))
        np.testing.assert_array_equal(many, np.broadcast_to(one, (2, 3, *one.shape)), err_msg=name)
    assert [x.shape[:2] for x in found.jacobian_derivative(found.system.bodies[0], t=times)] == [(2, 3)] * 2
    assert found.mass_matrix(t=[]).shape == (0, 3, 3)


@pytest.mark.parametrize("case, formulation", MODELS)
def test_a_jacobian_is_the_derivative_of_its_point(case, formulation):
    found = compiled(case, formulation)
    q, v, random = states(found, 3)
    body, points, h = found.system.bodies[-1], random.standard_normal((2, 1, 3)), 1e-6
    J = found.point_jacobian(body, points, q)
    assert J.shape == (2, 3, 3, v.shape[-1])
    moved = [np.array([found.kernels["retract"](x, s * h * u)[0] for x, u in zip(q, v)]) for s in (1, -1)]
    ahead, behind = (found.point(body, points, x) for x in moved)
    np.testing.assert_allclose(np.einsum("ijkl,jl->ijk", J, v), (ahead - behind) / (2 * h), atol=1e-7)


@pytest.mark.parametrize("case, formulation", MODELS)
def test_points_are_carried_by_the_poses_of_their_bodies(case, formulation):
    found = compiled(case, formulation)
    q, _, random = states(found, 3)
    H, r = found.poses(q), random.standard_normal(3)
    for k, body in enumerate(found.system.bodies):
        expected = (H[:, k] @ np.array([*r, 1.0]))[:, :3]
        np.testing.assert_allclose(found.point(body, r, q), expected, atol=1e-13)


def test_a_frame_is_where_the_body_was_described():
    """Not at the centre of mass, where the inertia says that this is elsewhere."""
    model = ts.Model("m")
    beam = model.body("beam", inertia=ts.inertia.box(2.0, 1, 0.1, 0.1).move((0.5, 0, 0)), at=(1, 2, 3))
    model.add(ts.Revolute("hinge", model.ground, beam, point=(1, 2, 3), axis=(0, 0, 1)))
    found = ts.compile(model, "relative")
    np.testing.assert_allclose(found.poses()[0], [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]], atol=1e-15)
    np.testing.assert_allclose(found.point("beam", (1, 0, 0), q=[np.pi / 2]), [1, 3, 3], atol=1e-15)
    np.testing.assert_allclose(found.point_jacobian("beam", (1, 0, 0))[:, 0], [0, 1, 0], atol=1e-15)


def test_arrays_are_projected_as_single_states_are():
    found = compiled("four-bar", "relative")
    q, v, _ = states(found, 5)
    places, speeds = found.projected(q, v)
    assert max(np.abs(x).max() for x in found.residuals(places, speeds)) < 1e-11
    one = found.projected(q[2], v[2])
    np.testing.assert_array_equal(places[2], one[0])
    np.testing.assert_array_equal(speeds[2], one[1])


def test_what_cannot_be_projected_is_refused():
    model = ts.Model("rod")
    bob = model.body("bob", mass=1.0, inertia=(1, 1, 1), at=(1, 0, 0))
    model.add(ts.Distance("rod", model.ground, bob, points=((0, 0, 0), (1, 0, 0))))
    found = ts.compile(model, "absolute")
    q = np.repeat(found.q[None, :], 3, axis=0)
    q[:, 0] = 2.0, 0.5, 0.0  # the last on the centre, from which no way leads
    np.testing.assert_allclose(found.projected(q[:2])[0][:, 0], 1.0, atol=1e-14)
    with pytest.raises(ts.AssemblyError, match="from 1 of 3 states, the first of them number 2"):
        found.projected(q)


def test_no_states_give_no_results():
    found = compiled("manipulator", "relative")
    assert found.accelerations(np.zeros((0, 3))).shape == (0, 3)
    assert found.poses(np.zeros((2, 0, 3))).shape == (2, 0, len(found.system.bodies), 4, 4)


@pytest.mark.parametrize(
    "given, told",
    [
        ({"q": np.zeros((3, 2))}, r"q must have 3 finite numbers.*got shape \(3, 2\)"),
        ({"q": [0.0, np.nan, 0.0]}, "q must have 3 finite numbers"),
        ({"q": np.zeros((4, 3)), "v": np.zeros((5, 3))}, r"do not fit together: q \(4,\), v \(5,\)"),
        ({"q": np.zeros((4, 3)) + 1j}, "q must have 3 finite numbers"),
        ({"t": "soon"}, "t must have 1 finite numbers"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(given, told):
    with pytest.raises(ts.OptionError, match=told):
        compiled("manipulator", "relative").accelerations(**given)


def test_unknown_bodies_and_points_are_refused():
    with pytest.raises(ts.OptionError, match="unknown map"):
        ts.compile(ts.cases.load("pendulum"), map=["exp"])
    found = compiled("manipulator", "relative")
    with pytest.raises(ts.OptionError, match="unknown body 'hand'. Known: "):
        found.point("hand")
    with pytest.raises(ts.OptionError, match="point must have 3 finite numbers"):
        found.point_jacobian(found.system.bodies[0], (1, 2))
