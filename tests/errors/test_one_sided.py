"""One-sided elements that are wrong, or violated where they begin to act, say what is wrong, by how much and where."""

import casadi as ca
import pytest
from refusing import refused

import torsor as ts
from torsor.errors import TorsorError


def slider(**start):
    """A body on a vertical guide, its centre at the origin of the world."""
    model = ts.Model("sunk", gravity=(0, 0, -9.81))
    body = model.body("body", mass=1.0, inertia=(0.1, 0.1, 0.1))
    rail = model.add(ts.Prismatic("rail", model.ground, body, axis="z", **start))
    other = model.body("other", mass=1.0, inertia=(0.1, 0.1, 0.1))
    turn = model.add(ts.Revolute("turn", model.ground, other, axis="z", point=(0, 0, 0), start=0.5))
    return model, body, rail, turn


VIOLATED = {
    "contact": (
        lambda m, b, j, k: ts.Contact("e", m.ground, b, plane=(0, 0, 2.0)),
        "body 'body'",
        "2 m below the plane of contact 'e'",
    ),
    "sphere": (
        lambda m, b, j, k: ts.Contact("e", m.ground, b, radius=0.5, plane=(0, 0, 0)),
        "body 'body'",
        "0.5 m below the plane of contact 'e'",
    ),
    "lower": (
        lambda m, b, j, k: ts.Limit("e", j, lower=0.3),
        "prismatic 'rail'",
        "0.3 m beyond the lower limit of 'e'",
    ),
    "upper": (
        lambda m, b, j, k: ts.Limit("e", k, lower=-0.2, upper=0.3),
        "revolute 'turn'",
        "0.2 rad beyond the upper limit of 'e'",
    ),
    "slot": (
        lambda m, b, j, k: ts.Slot(
            "e", m.ground, b, frames=(m.ground.frame((0, 0, -1.0)), b.frame()), normal="z", clearance=0.5
        ),
        "body 'body'",
        "0.75 m beyond the upper plane of slot 'e'",
    ),
    "expression": (lambda m, b, j, k: ts.OneSided("e", b.position[2] >= 0.25), "one-sided 'e'", "0.25 below zero"),
    "backlash": (
        lambda m, b, j, k: ts.Backlash("e", k, j, play=0.2),
        "revolute 'turn'",
        "0.4 rad beyond the upper end of the play of backlash 'e'",
    ),
}


@pytest.mark.parametrize("key", VIOLATED)
def test_a_one_sided_element_that_is_violated_says_by_how_much_and_where(key):
    """At the start, and where it is engaged; inactive it says nothing."""
    make, whose, where = VIOLATED[key]
    model, *things = slider()
    model.add(make(model, *things))
    with pytest.raises(TorsorError, match=f"{whose} starts {where}.*active=False"):
        ts.simulate(model, 0.1)
    model, *things = slider()
    element = model.add(make(model, *things), active=False)
    model.when(ts.time >= 0.0, ts.engage(element), name="now")
    with pytest.raises(TorsorError, match=f"{whose} is {where} at t = 0 s.*Engage it"):
        ts.simulate(model, 0.1)
    model, *things = slider()
    model.add(make(model, *things), active=False)
    ts.simulate(model, 0.1)


def test_a_contact_that_others_make_redundant_is_found_violated_too():
    """The fourth foot of a table stands 5 cm too deep: its row depends on those of the other three."""
    model = ts.Model("table", gravity=(0, 0, -9.81))
    top = model.body("top", mass=1.0, inertia=(0.1, 0.1, 0.1))
    for k, (x, y) in enumerate([(1, 1), (-1, 1), (-1, -1), (1, -1)]):
        model.add(ts.Contact(f"foot{k}", model.ground, top, point=(x, y, 0), plane=(0, 0, 0.05 if k == 3 else 0)))
    with pytest.raises(TorsorError, match="body 'top' starts 0.05 m below the plane of contact 'foot3'"):
        ts.simulate(model, 0.1)


WRONG_EXPRESSIONS = {
    "nothing": (lambda b: {"expression": None}, "must be one signal"),
    "several": (lambda b: {"expression": [b.position[0], b.position[1]]}, "several surfaces are several elements"),
    "a vector": (lambda b: {"expression": b.position}, "must be one signal"),
    "a constant": (lambda b: {"expression": ca.SX(3.0)}, "must contain a body's motion"),
    "velocities": (lambda b: {"expression": b.velocity[0]}, "its equation contains 'body.velocity_0'"),
    "an equality": (lambda b: {"expression": b.position[0] == 1}, "one comparison with >= or <="),
    "restitution": (lambda b: {"expression": b.position[0], "restitution": 2}, "restitution must lie between 0 and 1"),
    "coefficient": (
        lambda b: {"expression": b.position[0], "friction": -0.1},
        "coefficient must not be negative, got -0.1",
    ),
    "static": (lambda b: {"expression": b.position[0], "friction": 0.3, "static": 0.1}, "static must not be below"),
    "static alone": (lambda b: {"expression": b.position[0], "static": 0.1}, "`static` is given without `friction`"),
    "a point": (lambda b: {"expression": b.point((1, 0, 0))[2], "friction": 0.1}, "friction needs `sliding`"),
    "a dome": (lambda b: {"expression": ca.norm_2(b.position) - 1, "friction": 0.1}, "friction needs `sliding`"),
    "three": (lambda b: {"expression": b.position[0], "friction": 0.1, "sliding": b.velocity}, "one or two velocities"),
    "a position": (
        lambda b: {"expression": b.position[0], "friction": 0.1, "sliding": b.position[1]},
        "linear in velocities",
    ),
    "a square": (
        lambda b: {"expression": b.position[0], "friction": 0.1, "sliding": b.velocity[1] ** 2},
        "linear in velocities",
    ),
}


@pytest.mark.parametrize("key", WRONG_EXPRESSIONS)
def test_a_one_sided_expression_that_makes_no_sense_is_refused_and_nothing_of_it_stays(key):
    given, why = WRONG_EXPRESSIONS[key]
    model = ts.Model("scene")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    refused(lambda: model.add(ts.OneSided("wall", **given(body))), "'wall", why)
    assert list(model._names) == ["ground", "body"] and not model.constraints and not model.events
    model.add(ts.OneSided("wall", body.position[0] + 1, friction=0.2))
    assert [c.name for c in model.constraints] == ["wall", "wall.friction"]


def test_friction_acts_on_one_sided_elements_with_a_surface_only():
    model, _, rail, _ = slider()
    stop = model.add(ts.Limit("stop", rail, lower=-1.0))
    refused(
        lambda: model.add(ts.Friction("rub", stop, coefficient=0.1)), "friction 'rub'", "on must be a joint, a contact"
    )
