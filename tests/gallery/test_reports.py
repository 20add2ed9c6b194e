"""What is told about a model and about a run, and how its progress is shown."""

import json
import time

import casadi as ca
import pytest

import torsor as ts
from torsor.look import progress
from torsor.look.report import loops
from torsor.look.summary import summary


def ring(count):
    """Bodies in a row between two grounds: one loop."""
    model = ts.Model("ring")
    other = model.add(ts.Ground("wall", at=(count + 1, 0, 0)))
    things = [
        model.ground,
        *[model.body(f"b{k}", mass=2.0, inertia=(1, 1, 1), at=(k + 0.5, 0, 0)) for k in range(count)],
        other,
    ]
    for k, (a, b) in enumerate(zip(things, things[1:])):
        model.add(ts.Spherical(f"ball{k}", a, b, point=(k, 0, 0)))
    return model


def test_loops_are_counted_over_all_grounds():
    assert loops(ring(3)) == 1
    assert loops(ts.cases.load("four-bar", n=5)) == 5
    assert loops(ts.cases.load("free-body")) == loops(ts.cases.load("pendulum")) == 0


def test_a_joint_composed_of_elementary_constraints_closes_no_loop():
    model = ts.Model("composed")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    model.add(ts.FixedPoint("pin", model.ground, body, point=(0, 0, 1)))
    model.add(ts.NoRotation("guide", model.ground, body, about=(0, 0, 1)))
    model.add(ts.Free("named", model.ground, body))
    assert loops(model) == 0
    assert ts.info(model)["degrees_of_freedom"]["generic"] == 2


def test_info_is_plain_data_and_text():
    info = ts.info(ts.cases.load("four-bar", n=2))
    assert info["degrees_of_freedom"] == {"gruebler": 5 * 6 - 7 * 5, "generic": 1, "start": 1}
    assert info["loops"] == 2 and len(info["redundant"]) == 6
    assert all(set(row) == {"constraint", "direction"} for row in info["redundant"])
    assert info["instructions"]["rate"] > 0
    assert json.loads(json.dumps(info)) == info
    for part in ("5 bodies", "redundant constraints", "translation along z", "reactions that are not unique"):
        assert part in str(info)
    with pytest.raises(ts.OptionError, match="give a torsor.Model"):
        ts.info("four-bar")


def test_info_tells_tree_loops_and_the_level_of_constraints():
    model = ring(3)
    loose = model.body("loose", mass=1.0, inertia=(1, 1, 1), at=(0, 5, 0))
    tail = model.body("tail", mass=1.0, inertia=(1, 1, 1), at=(0, 6, 0))
    model.add(ts.KnifeEdge("blade", loose, tail))
    info = ts.info(model)
    (loop,) = info["topology"]["loops"]
    assert sorted(loop) == ["ball0", "ball1", "ball2", "ball3"]
    assert info["velocity_level"] == [
        {"constraint": "blade", "rows": 1, "integrable": False, "meaning": "nonholonomic"}
    ]
    text = str(info)
    for part in (
        "by ball0",
        "on wall (reversed)",
        "(cut)",
        "2 separate parts",
        "floating",
        "blade  1 row  nonholonomic",
    ):
        assert part in text, part
    assert json.loads(json.dumps(info)) == info


def test_counted_freedom_does_not_depend_on_the_formulation():
    """Rows of tree joints are no constraints in joint coordinates; Grübler counts them all the same."""
    counts = [ts.info(ring(2), formulation=f)["degrees_of_freedom"]["gruebler"] for f in ("absolute", "relative")]
    assert counts == [12 - 9, 12 - 9]


def test_the_graph_has_every_body_and_every_joint_and_dashes_what_is_cut():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    model = ring(3)
    figure = ts.plot_graph(model)
    (axes,) = figure.axes
    written = {t.get_text() for t in axes.texts}
    assert {"ground", "wall", "b0", "b1", "b2", *(f"ball{k}" for k in range(4))} <= written
    arrows = [t.arrow_patch for t in axes.texts if getattr(t, "arrow_patch", None) is not None]
    assert sum(arrow.get_linestyle() == "solid" or arrow.get_linestyle() == "-" for arrow in arrows) == 3
    assert len(arrows) == 4
    plt.close(figure)
    with pytest.raises(ts.OptionError, match="give a torsor.Model"):
        ts.plot_graph("ring")


def test_the_graph_is_drawn_from_the_command_line(tmp_path, capsys):
    from torsor.cli import status_of

    path = tmp_path / "graph.png"
    assert status_of(["info", "four-bar", "--set", "n=1", "--plot", str(path)]) == 0
    assert path.read_bytes()[:4] == b"\x89PNG" and "loop: " in capsys.readouterr().out
    for wrong in (tmp_path / "none" / "graph.png", tmp_path / "graph.nonsense"):
        assert status_of(["info", "four-bar", "--set", "n=1", "--plot", str(wrong)]) == 2
        assert "cannot write" in capsys.readouterr().err


def test_bodies_stand_below_what_carries_them_and_beside_each_other():
    from torsor.look.topology_plot import layout
    from torsor.model.topology import outline

    model = ts.cases.load("four-bar", n=3)
    tree = outline(model)["tree"]
    place = layout(tree, ["ground"])
    assert all(place[row["body"]][1] == place[row["parent"]][1] + 1 for row in tree)
    assert len(set(place.values())) == len(place) == len(model.bodies) + 1


def test_a_body_is_followed_by_all_that_hangs_on_it():
    from torsor.model.topology import outline

    model = ts.Model("arms")
    bodies = {"": model.ground}
    for name in ("a", "b", "aa", "ba", "ab", "aaa"):
        bodies[name] = model.body(name, mass=1.0, inertia=(1, 1, 1))
        model.add(ts.Revolute(f"to-{name}", bodies[name[:-1]], bodies[name], point=(0, 0, 0), axis=(0, 0, 1)))
    tree = outline(model)["tree"]
    assert [row["body"] for row in tree] == ["a", "aa", "aaa", "ab", "b", "ba"]
    assert [row["depth"] for row in tree] == [1, 2, 3, 2, 1, 2]


def test_a_changed_start_is_reported_by_info_and_summary():
    model = ts.Model("thrown", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(1, 1, 1), at=(1, 0, 0), velocity=(1, 0, 1))
    model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    (change,) = ts.info(model)["start_changes"]
    assert "bob.velocity[0]: 1 became 0" in change
    assert change in summary(ts.simulate(model, 0.1))


def hatch():
    """A lid with a stop, a latch that is released, a wind that is switched on, and modes."""
    model = ts.Model("hatch", gravity=(0, 0, -9.81))
    lid = model.body("lid", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, lid, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.Limit("stop", hinge, upper=1.0, restitution=0.5))
    latch = model.add(ts.Lock("latch", hinge))
    wind = model.add(ts.PointForce("wind", lid, force=(0, 0, 1)), active=False)
    rate = model.parameter("rate", 0.0)
    state = model.modes("state", "shut", "open")
    opening = (ts.release(latch), ts.enter(state["open"]), ts.switch(wind), ts.assign(rate, 1.0))
    model.when(ts.time >= 0.1, *opening, ts.record("angle", hinge.coordinate), name="unlatch", during=state["shut"])
    model.when(ts.crossing(hinge.rate), ts.switch(wind, on=False), name="turn")
    return model


def test_info_lists_events_modes_and_what_is_switched():
    info = ts.info(hatch())
    assert json.loads(json.dumps(info)) == info
    events = {event["name"]: event for event in info["events"]}
    assert list(events) == ["stop.upper", "stop.lift", "unlatch", "turn"]
    assert events["stop.upper"]["source"] == "stop" and events["unlatch"]["source"] is None
    assert events["unlatch"]["during"] == ["state: shut"] and events["turn"]["during"] == []
    told = ["release latch", "enter state: open", "switch wind", "assign rate", "record angle"]
    assert events["unlatch"]["actions"] == told and events["turn"]["actions"] == ["switch wind off"]
    assert events["turn"]["when"].endswith("crosses 0") and events["unlatch"]["when"].endswith("<= 0")
    assert info["modes"] == [{"name": "state", "modes": ["shut", "open"]}]
    active = {element["name"]: element["active"] for element in info["switched"]}
    assert active == {"stop": False, "latch": True, "wind": False}
    for part in (
        "during state: shut",
        "of stop",
        "does not act at the start",
        "state  shut, open",
        "release latch; enter",
    ):
        assert part in str(info), part


def test_what_does_not_act_closes_no_loop_and_takes_no_freedom():
    model = ts.Model("apart")
    a, b = (model.body(name, mass=1.0, inertia=(1, 1, 1), at=(k, 0, 0)) for k, name in enumerate("ab"))
    for name, body in (("A", a), ("B", b)):
        model.add(ts.Spherical(name, model.ground, body, point=(0, 1, 0)))
    model.add(ts.Weld("weld", a, b), active=False)
    assert loops(model) == 0
    assert ts.info(model)["degrees_of_freedom"] == {"gruebler": 6, "generic": 6, "start": 6}


def test_the_summary_lists_the_first_events():
    data = ts.simulate(hatch(), 3.0)
    text = summary(data)
    assert f"{data.sizes['event']}, energy changed by -" in text and "structures" in text
    assert "0.1          s  unlatch" in text and f"and {data.sizes['event'] - 8} more" in text
    assert "events" not in summary(ts.simulate(ts.cases.load("pendulum"), 0.1))


@pytest.fixture
def patient(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.02)


def shown(capsys, forced, spins=False):
    """What is written in a tenth of a second, or until something spins, which takes longer on a busy machine."""
    bar = progress.Progress(0.0, 10.0, "model", forced)
    bar.waiting("compiling")
    until = time.perf_counter() + (300.0 if spins else 0.1)
    while time.perf_counter() < until and not (spins and bar.status):
        time.sleep(0.02)
    bar(5.0, [123])
    bar.close()
    out, text = capsys.readouterr()
    assert out == ""
    return text


def test_progress_goes_to_standard_error(capsys, patient):
    text = shown(capsys, True, spins=True)
    assert "compiling" in text and "123 steps" in text and "t = 5 s" in text


def test_progress_is_silent_where_there_is_no_terminal(capsys, patient):
    assert shown(capsys, None) == shown(capsys, False) == ""


def test_short_work_shows_no_progress(capsys):
    assert shown(capsys, True) == ""


def test_halves_of_a_condition_are_not_events_of_their_own():
    model = ts.Model("window")
    body = model.body("body", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0))
    inside = ca.logic_and(body.position[0] >= 0.2, body.position[0] <= 0.21)
    model.when(inside, ts.record("x", body.position[0]), name="seen")
    assert [event["name"] for event in ts.info(model)["events"]] == ["seen"]
    assert ts.simulate(model, 1.0, outputs=2).event_name.values.tolist() == ["seen"]
