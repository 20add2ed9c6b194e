"""Pages in a real browser: they load, seek and play, and every body is where the data say it is."""

import json

import numpy as np
import pytest
from browser import PATIENCE, Watched, opened
from odd_results import odd_result

import torsor as ts
from torsor.errors import OptionError
from torsor.lie import pose_stacks
from torsor.scene.scene import scene
from torsor.viewer.page_data import page_data
from torsor.viewer.viewable import data_of
from torsor.viewer.viewer_page import escape, viewer_page


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """One page for all tests, which is opened as the file of a model."""
    try:
        viewer_page()
    except OptionError as error:
        pytest.skip(str(error))
    file = tmp_path_factory.mktemp("pages") / "pendulum.html"
    ts.save_html(ts.cases.load("pendulum"), file)
    with opened() as browser:
        watched = Watched(browser)
        watched.open(file.as_uri())
        assert watched("() => window.torsor.pose('bob').p") == [1, 0, 0]
        yield watched


def short_run(name):
    """A case, run for a short time with few outputs."""
    options = dict(ts.cases.recommended(name)) | {"outputs": 4, "progress": False}
    options["until"] = 0.02 * ts.cases.until(name)
    return ts.simulate(ts.cases.load(name), **options)


def deviation(page, data, frame):
    """The largest distance of a body of the scene from the data / size, and the largest deviation of an orientation."""
    names = [str(name) for name in data["body"].values]
    t = float(data["time"].values[frame])
    shown = page(
        "([t, names]) => { window.torsor.pause(); window.torsor.seek(t); return names.map((n) => window.torsor.pose(n)); }",
        [t, names],
    )
    p, q = np.array([x["p"] for x in shown]), np.array([x["q"] for x in shown])
    size = max(float(np.ptp(data["position"].values.reshape(-1, 3), axis=0).max()), 1e-3)
    far = np.abs(p - data["position"].values[frame]).max() / size
    R = pose_stacks.rotations(q / np.linalg.norm(q, axis=1, keepdims=True))
    assert page("() => window.torsor.cursorTime()") == pytest.approx(t, abs=1e-9)
    return max(far, np.abs(R - data["rotation"].values[frame]).max())


SHOW = """(data) => window.torsor.open(data).then(
    () => { window.torsor.seek(0.1); window.torsor.seek(1e9); return ""; }, (error) => error.message)"""


def show(page, what):
    """Show something in the open page, with the text that a saved page has; returns the size of the text and what the page says."""
    text = escape(data_of(what, "view"))
    return len(text), page(SHOW, json.loads(text))


def test_bodies_of_every_case_are_where_the_data_say(page):
    for name in ts.cases.names():
        if name == "satellite":  # the same as satellite-1
            continue
        data = short_run(name)
        size, said = show(page, data)
        assert size + len(viewer_page()) < 2_000_000 and said == "", name
        for frame in (data.sizes["time"] - 1, 1):
            assert deviation(page, data, frame) < 1e-6, name
        assert page.sound(), (name, page.errors, page.requests)


@pytest.mark.parametrize("name", ["panda_description/urdf/panda.urdf", "so_arm_description", "talos_data"])
def test_robots_are_shown_with_their_meshes(page, name):
    from exchange_robots import robot_file

    model = ts.read(robot_file(name)).model
    assert show(page, model)[1] == ""
    state = ts.Simulation(model).state.motion
    for body, p in list(zip(model.bodies, state["position"]))[:6]:
        assert np.allclose(page("(n) => window.torsor.pose(n).p", body.name), p, atol=1e-6)
    assert page.sound(), (page.errors, page.requests)


def test_a_run_plays_and_its_time_line_says_when_a_ball_rests(page):
    model = ts.Model("ball", gravity=(0, 0, -9.81))
    ball = model.body("ball", inertia=ts.inertia.sphere(1.0, 0.1), at=(0, 0, 1.0))
    model.add(ts.Contact("floor", model.ground, ball, radius=0.1, plane=(0, 0, 0), restitution=0.5))
    data = ts.simulate(model, 4.0, outputs=40)
    assert show(page, data)[1] == ""
    engaged = "(t) => { window.torsor.seek(t); return window.torsor.rows(); }"
    for t, rests in ((0.2, False), (1.0, False), (2.0, True)):
        (row,) = page(engaged, t)
        assert row["name"] == "floor" and row["engagedAtCursor"] is rests
    page("() => { window.torsor.seek(0); window.torsor.play(); }")
    page.page.wait_for_function("() => window.torsor.cursorTime() > 0.05", timeout=PATIENCE)
    page("() => window.torsor.pause()")
    assert page.sound(), page.errors


def test_every_way_to_draw_an_element_is_shown(page):
    """One element for each word of `drawing`; all of its numbers are finite, and what is drawn can be selected."""
    from test_scene import OURS, model_with

    chosen = {cls.drawing: cls for _, cls in sorted(OURS.items()) if cls.drawing != "none"}
    for word, cls in chosen.items():
        model, (made, *_) = model_with(cls)
        assert page(SHOW, json.loads(escape(page_data(scene(model), [])))) == "", word
        selected = page(
            "(name) => { window.torsor.select(name); return document.querySelector('.card b').textContent; }", made.name
        )
        assert selected == made.name and page.sound(), (word, selected, page.errors)


def test_what_travels_stays_in_the_picture(page):
    """A body that falls 500 times its size is in the picture all the time, also where the camera is fitted on its way."""
    model = ts.Model("stone", gravity=(0, 0, -9.81))
    model.body("stone", inertia=ts.inertia.box(1.0, 0.1, 0.2, 0.3), at=(0, 0, 1.0), angular_velocity=(3, 1, 2))
    assert show(page, ts.simulate(model, 4.0, outputs=20, progress=False))[1] == ""
    for t, key in ((0.0, "1"), (2.0, ""), (2.0, "f"), (4.0, ""), (4.0, "3"), (1.0, "")):
        page("(t) => window.torsor.seek(t)", t)
        page.page.wait_for_timeout(150)  # until it is drawn: the camera follows then
        if key:
            page.page.keyboard.press(key)
        x, y = page("() => window.torsor.inPicture('stone')")
        assert abs(x) < 0.9 and abs(y) < 0.9, (t, key, x, y)
    assert page.sound(), page.errors


def test_the_camera_stays_with_a_machine_that_throws_a_stone(page):
    """The counterweight, which is the heaviest body, stays; the stone flies 100 times as far as it is long."""
    model = ts.Model("thrower", gravity=(0, 0, -9.81))
    weight = model.body("weight", inertia=ts.inertia.box(100.0, 1, 1, 1), at=(0, 0, 0))
    model.add(ts.Revolute("pivot", model.ground, weight, point=(0, 0, 0), axis=(0, 1, 0), start_rate=1.0))
    model.body("stone", inertia=ts.inertia.sphere(1.0, 0.1), at=(1, 0, 0), velocity=(30, 0, 20))
    assert show(page, ts.simulate(model, 4.0, outputs=20, progress=False))[1] == ""
    page("() => window.torsor.seek(4)")
    page.page.wait_for_timeout(150)
    assert max(map(abs, page("() => window.torsor.inPicture('weight')"))) < 0.7
    assert page.page.locator("[data-does=follow].on").count() == 0 and page.sound()


def test_clicks_and_keys_move_through_time_and_curves_are_saved(page, tmp_path):
    """In a saved page that is opened in a larger window, where plots are visible from the start."""
    data = short_run("four-bar")
    ts.save_html(data, tmp_path / "four-bar.html")
    page.page.set_viewport_size({"width": 1000, "height": 600})
    page.open((tmp_path / "four-bar.html").as_uri())
    end, mouse, keyboard = float(data.time[-1]), page.page.mouse, page.page.keyboard
    line = page.page.locator(".timeline-canvas").bounding_box()
    mouse.click(line["x"] + 150 + (line["width"] - 164) / 2, line["y"] + 20)
    assert page("() => window.torsor.state.time") == pytest.approx(end / 2, rel=0.02)
    plot = page.page.locator(".u-over").first.bounding_box()
    mouse.click(plot["x"] + plot["width"] / 4, plot["y"] + plot["height"] / 2)
    assert page("() => window.torsor.state.time") == pytest.approx(end / 4, rel=0.05)
    for key, frame in (("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("End", data.sizes["time"] - 1)):
        keyboard.press(key)
        assert page("() => window.torsor.state.frame") == frame
    page.page.get_by_title("Save pictures, videos, tables").click()
    with page.page.expect_download() as table:
        page.page.get_by_title("Plotted curves (CSV)").click()
    lines = table.value.path().read_text().splitlines()
    assert len(lines) == data.sizes["time"] + 1 and lines[0].startswith("time [s],")
    page.page.set_viewport_size({"width": 480, "height": 320})
    assert page.sound(), (page.errors, page.requests)


def test_odd_results_are_shown_or_refused_and_nothing_in_them_is_executed(page, tmp_path):
    """The first is opened as a file, others in the same page; `bench/viewer.py odd` tries a thousand."""
    plain = short_run("pendulum")
    ts.save_html(odd_result(plain, 0), tmp_path / "odd.html")
    page.open((tmp_path / "odd.html").as_uri())
    for seed in range(1, 12):
        _, said = show(page, odd_result(plain, seed))
        assert said == "" and not page.errors, (seed, said, page.errors)
    assert page("() => window.hacked === undefined && document.querySelectorAll('#app img, #app script').length === 0")
    assert page.sound(), (page.errors, page.requests)


def test_the_server_shows_news_and_refuses_strangers(page):
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    from torsor.viewer.page_server import PageServer

    model = ts.cases.load("pendulum")
    with PageServer(data_of(model, "view")) as server:
        for address, headers in (
            (server.address + "x", {}), (server.address, {"Host": "evil.example"}),
            (server.address.replace("/?", "/data?token=&x"), {}),
        ):  # fmt: skip
            with pytest.raises(HTTPError) as refused:
                urlopen(Request(address, headers=headers))
            assert refused.value.code == 403
        page.open(server.address)
        server.send({"time": 0.5, "poses": [[0.1, 0.2, 0.3, 1, 0, 0, 0]]})
        page.page.wait_for_function("() => Math.abs(window.torsor.pose('bob').p[2] - 0.3) < 1e-6", timeout=PATIENCE)
        server.show(data_of(ts.cases.load("four-bar"), "view"))
        page.page.wait_for_function("() => window.torsor.pose('crank0') !== null", timeout=PATIENCE)
        assert page.sound(), (page.errors, page.requests)
    page.page.goto("about:blank")
