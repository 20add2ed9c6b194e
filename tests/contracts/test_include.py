"""A component keeps its meaning wherever it is placed: the included model equals the same thing written flat."""

import casadi as ca
import numpy as np
import pytest

import torsor as ts
from torsor.errors import ModelError
from torsor.lie import so3

TURN, SHIFT = (0.4, -0.3, 0.8), (1.0, -2.0, 0.5)
R = so3.exp(TURN)
ROUNDING = 1e-11  # equal equations in another order of operations, and 0.5 s of integration


def arm(gravity=(0, 0, 0)):
    """A component with everything that speaks of world axes or of the ground."""
    model = ts.Model("arm", gravity=gravity)
    k, m = model.parameter("k", 30.0, positive=True), model.parameter("m", 1.5, positive=True)
    spin = model.parameter("spin", 0.4)
    link = model.body(
        "link", mass=m, inertia=(0.1, 0.2, 0.15), at=(0.5, 0, 0), rotation=(0.1, 0, 0), angular_velocity=(0, spin, 0)
    )
    tip = model.body("tip", mass=0.5, inertia=ts.inertia.box(0.5, 1, 0.2, 0.3).move(at=(0.1, 0, 0)), at=(1, 0, 0.2))
    hinge = model.add(ts.Revolute("hinge", model.ground, link, point=(0, 0, 0), axis=(0, 1, 0.2)))
    model.add(ts.Spherical("ball", link, tip, point=(1, 0, 0)))
    model.add(ts.TorsionSpring("spring", hinge, stiffness=k, damping=0.1))
    model.add(ts.PointForce("wind", tip, force=(0, 0.3, 0.1 * tip.position[2]), point=(1.2, 0, 0.2)))
    model.add(ts.PointForce("drag", tip, force=-0.2 * tip.velocity))
    model.add(ts.Torque("twist", tip, torque=(0.05, 0, 0.02)))
    model.add(ts.SpringDamper("tie", model.ground, tip, points=((0, 0, 1), (1, 0, 0.2)), stiffness=4.0))
    model.add(ts.EnergyForce("field", energy=0.5 * tip.position[0] ** 2))
    model.signal("height", tip.position[2])
    model.signal("push", hinge.reaction_force[0])
    model.expose("end", tip)
    model.expose("frame", tip.frame((0.1, 0, 0)))
    model.expose("angle", hinge.coordinate)
    model.expose("hinge", hinge)
    return model


def included(levels=1, **parameters):
    component = arm()
    if levels == 2:
        outer = ts.Model("outer")
        outer.include("inner", component, at=SHIFT, rotation=TURN)
        component, parameters = outer, {f"inner.{k}": v for k, v in parameters.items()}
    parent = ts.Model("parent")
    placed = {} if levels == 2 else {"at": SHIFT, "rotation": TURN}
    return parent, parent.include("left", component, **placed, **parameters)


def run(model, **options):
    return ts.simulate(model, 0.5, outputs=5, tolerance=1e-10, **options)


@pytest.fixture(scope="module")
def alone():
    return run(arm())


def assert_moved(data, alone, at=0):
    """The same motion, seen in a frame that was moved by (R, SHIFT)."""
    pick = slice(at, at + alone.sizes["body"])
    close = lambda a, b: np.testing.assert_allclose(a, b, atol=ROUNDING)
    close(data["position"].values[:, pick], alone["position"].values @ R.T + SHIFT)
    close(data["rotation"].values[:, pick], R @ alone["rotation"].values)
    close(data["velocity"].values[:, pick], alone["velocity"].values @ R.T)
    close(data["angular_velocity"].values[:, pick], alone["angular_velocity"].values)
    close(data["coordinate"], alone["coordinate"])
    close(data["reaction_force"].values, alone["reaction_force"].values @ R.T)
    close(data["energy"], alone["energy"])


@pytest.mark.parametrize("levels", [1, 2])
def test_an_included_component_moves_as_it_does_alone(levels, alone):
    """Placement turns and shifts everything, world-axes forces and expressions of positions included."""
    parent, _ = included(levels)
    data = run(parent)
    assert_moved(data, alone)
    prefix = "left." if levels == 1 else "left.inner."
    np.testing.assert_allclose(data[prefix + "height"], alone["height"], atol=ROUNDING)
    np.testing.assert_allclose(data[prefix + "push"], alone["push"], atol=1e-10)


def test_names_are_paths():
    parent, left = included(2)
    assert [b.name for b in parent.bodies] == ["left.inner.link", "left.inner.tip"]
    tip = parent["left.inner.tip"]
    assert tip is left["inner.tip"] is parent["left.inner"]["tip"] is parent["left.inner"].end
    assert tip in parent.bodies and parent["left.inner.hinge"] in parent.constraints
    assert parent["left.inner"].hinge is parent["left.inner.hinge"]
    assert "left.inner.k" in parent.parameters and parent["left.inner.k"] is parent.parameters["left.inner.k"]
    with pytest.raises(ModelError, match="Did you mean 'left.inner.link'"):
        parent["left.inner.lnk"]
    with pytest.raises(ModelError, match="no port 'elbow'. Ports: end, frame, angle, hinge"):
        getattr(parent["left.inner"], "elbow")  # noqa: B009
    with pytest.raises(ModelError, match="nothing called 'bolt'"):
        left["bolt"]


@pytest.mark.parametrize("levels", [1, 2])
def test_parameters_are_overridden_by_numbers_and_by_expressions(levels):
    component = arm()
    expected = run(component, parameters={"k": 50.0, "m": 3.0, "spin": -0.2})
    by_number, _ = included(levels, k=50.0, m=3.0, spin=-0.2)
    assert by_number.parameters == {}
    assert_moved(run(by_number), expected)
    parent = ts.Model("parent")
    half = parent.parameter("half", 25.0)
    inner = arm()
    parent.include("left", inner, at=SHIFT, rotation=TURN, k=2 * half, m=3.0, spin=-half / 125)
    assert list(parent.parameters) == ["half"]
    assert_moved(run(parent), expected)
    other, _ = included(levels)
    prefix = "left." if levels == 1 else "left.inner."
    assert_moved(run(other, parameters={prefix + "k": 50.0, prefix + "m": 3.0, prefix + "spin": -0.2}), expected)


def chain(how):
    """Two pendulums hung one below the other: written flat, or as two instances joined at a port."""
    model = ts.Model("chain", gravity=(0, 0, -9.81))
    if how == "flat":
        bodies = [model.body(f"rod{k}", mass=1.0, inertia=(0.1, 0.1, 0.01), at=(0, 0, -0.5 - k)) for k in range(2)]
    else:
        rod = ts.Model("rod", gravity=(5, 5, 5))  # does not come along
        rod.expose("rod", rod.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.01), at=(0, 0, -0.5)))
        bodies = [model.include(f"part{k}", rod, at=(0, 0, -k)).rod for k in range(2)]
    above = model.ground
    for k, body in enumerate(bodies):
        model.add(ts.Revolute(f"hinge{k}", above, body, point=(0, 0, -k), axis=(1, 0, 0), start_rate=1.0))
        above = body
    return run(model)


def test_components_join_at_ports_and_feel_the_gravity_of_the_parent():
    flat, joined = chain("flat"), chain("included")
    assert list(joined["body"].values) == ["part0.rod", "part1.rod"]
    for name in ("position", "rotation", "velocity", "coordinate", "reaction_force", "energy"):
        np.testing.assert_allclose(joined[name], flat[name], atol=ROUNDING)


def test_a_port_may_be_a_frame_or_a_signal():
    parent, left = included()
    beam = parent.body("beam", mass=1.0, inertia=(1, 1, 1), at=(3, 0, 0))
    spring = parent.add(ts.SpringDamper("s", beam, left.end, frames=(beam.frame(), left.frame), stiffness=1.0))
    assert left.frame.body is parent["left.tip"] is left.end is spring.second
    parent.signal("angle", 2 * left.angle)
    assert run(parent)["angle"].dtype == float


def test_imposed_motions_turn_with_the_component():
    """A drive of the angular velocity and of the whole motion, in world axes of the component."""
    component = ts.Model("table")
    top = component.body("top", mass=1.0, inertia=(1, 1, 1))
    rider = component.body("rider", mass=1.0, inertia=(1, 1, 1), at=(0, 0, 1))
    component.add(ts.AngularVelocity("turn", top, value=(0, 0, 2 * ts.time)))
    component.add(ts.Motion("path", rider, at=(ts.time, 0, 1), rotation=(0, 0, 0.5)))
    component.add(ts.Holonomic("level", top.position))
    parent = ts.Model("parent")
    parent.include("table", component, at=SHIFT, rotation=TURN)
    data, alone = run(parent), run(component)
    np.testing.assert_allclose(data["position"], alone["position"].values @ R.T + SHIFT, atol=ROUNDING)
    np.testing.assert_allclose(data["rotation"], R @ alone["rotation"].values, atol=ROUNDING)
    np.testing.assert_allclose(
        data["angular_velocity"].values[:, 0], 2 * data["time"].values[:, None] * [0, 0, 1], atol=ROUNDING
    )


def test_a_moving_ground_of_a_component_moves_from_where_it_is_placed():
    component = ts.Model("cart")
    wagon = component.add(ts.Ground("wagon", at=(ts.time**2, 0, 0)))
    load = component.body("load", mass=1.0, inertia=(1, 1, 1), at=(0, 0, 1))
    component.add(ts.Fixed("bolts", wagon, load, point=(0, 0, 0)))
    parent = ts.Model("parent")
    parent.include("cart", component, at=SHIFT, rotation=TURN)
    x = run(parent)["position"].values[:, 0]
    path = np.linspace(0, 0.5, 6)[:, None] ** 2 * [1, 0, 0] + [0, 0, 1]
    np.testing.assert_allclose(x, path @ R.T + SHIFT, atol=ROUNDING)


def test_the_same_component_twice_shares_nothing():
    parent, component = ts.Model("twins"), arm()
    one, two = parent.include("one", component), parent.include("two", component, at=(0, 5, 0), k=1.0)
    assert one.end is not two.end
    a, b = (run(parent)["position"].values[:, k] for k in (1, 3))
    assert np.abs(a + [0, 5, 0] - b).max() > 1e-3  # another spring
    assert component.bodies[0].name == "link" and "one.k" in parent.parameters and "two.k" not in parent.parameters


def wrong(match, **given):
    parent = ts.Model("parent")
    p = parent.parameter("p", 1.0)
    before = list(parent._names), list(parent.parameters), list(parent._symbols)
    given = {k: (v(parent) if callable(v) else v) for k, v in given.items()}
    with pytest.raises(ModelError, match=match):
        parent.include("left", arm(), **given)
    assert (list(parent._names), list(parent.parameters), list(parent._symbols)) == before  # nothing of it stays
    assert parent.bodies == [] and p.name() == "p"


def test_a_wrong_instance_is_refused_whole():
    wrong("instance 'left': unknown parameter 'kk' of 'arm'. Known: k, m, spin", kk=1)
    wrong("parameter 'left.k': must be positive", k=-1.0)
    wrong("instance 'left': k must be a number", k="soft")
    wrong("instance 'left': k must be finite", k=float("nan"))
    wrong("instance 'left': at must be 3 numbers", at=(1, 2))
    wrong("instance 'left': at contains 'time'", at=(ts.time, 0, 0))
    wrong("instance 'left': rotation is not a rotation", rotation=np.diag([1, 1, -1]))
    wrong("instance 'left': k contains 'stranger', which does not belong to model 'parent'", k=ca.SX.sym("stranger"))
    parent = ts.Model("parent")
    with pytest.raises(ModelError, match="a model cannot include itself"):
        parent.include("again", parent)
    with pytest.raises(ModelError, match="give a model to include"):
        parent.include("left", "arm")
    parent.include("left", arm())
    with pytest.raises(ModelError, match="names must differ|of that name already"):
        parent.include("left", arm())


def thrown():
    """A component with all that changes: a contact with friction, a mode, an event, a breakable joint, a stop."""
    model = ts.Model("thrown")
    pull = model.parameter("pull", 9.0)
    ball = model.body("ball", mass=1.0, inertia=(0.02, 0.02, 0.02), at=(0, 0, 0.3), velocity=(1.0, 0.4, 0))
    floor = model.add(ts.Contact("floor", model.ground, ball, radius=0.1, plane=(0, 0, 0), restitution=0.3))
    model.add(ts.Friction("rub", floor, coefficient=0.2))
    model.add(ts.PointForce("down", ball, force=(0, 0, -pull)))
    arm = model.body("arm", mass=0.5, inertia=(0.1, 0.1, 0.1), at=(0.5, 3, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, arm, point=(0, 3, 0), axis=(0, 1, 0), start_rate=2.0))
    model.add(ts.Limit("stop", hinge, upper=0.3, restitution=0.5))
    model.add(ts.Breakable("pin", hinge, force=20.0))
    machine = model.modes("machine", "fly", "lie")
    model.when(ball.position[2] <= 0.2, ts.enter(machine["lie"]), during=machine["fly"], name="low")
    model.when(
        ts.time >= 0.4, ts.assign(pull, 3.0), ts.record("height", ball.position[2]), during=machine["lie"], name="calm"
    )
    model.signal("mode", machine.number)
    return model


def test_components_with_events_behave_as_they_do_alone_wherever_they_are_placed():
    """Twice in one model, one of them turned: the same events at the same times, the same motion in its own axes."""
    alone = run(thrown())
    parent = ts.Model("parent")
    parent.include("one", thrown())
    parent.include("two", thrown(), at=SHIFT, rotation=TURN)
    data = run(parent)
    assert {"floor.touch", "rub.stick", "stop.upper", "low", "calm"} <= set(alone.event_name.values)
    for prefix, turn, shift, at in (("one.", np.eye(3), np.zeros(3), 0), ("two.", R, np.array(SHIFT), 2)):
        for name in set(alone.event_name.values):
            times = data.event_time.values[data.event_name.values == prefix + name]
            exact = alone.event_time.values[alone.event_name.values == name]
            some = slice(4 if name == "floor.touch" else None)  # the model's size decides how many bounces are resolved
            np.testing.assert_allclose(times[some], exact[some], rtol=0, atol=1e-9, err_msg=prefix + name)
        np.testing.assert_allclose(
            data.position.values[:, at : at + 2], alone.position.values @ turn.T + shift, atol=1e-8
        )
        np.testing.assert_array_equal(data[prefix + "mode"], alone["mode"])
