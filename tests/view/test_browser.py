"""Pages in a real browser: they load, seek and play, and every body is where the data say it is."""

import os

import numpy as np
import pytest
from browser import Watched, opened

import torsor as ts
from torsor.errors import OptionError
from torsor.lie import pose_stacks
from torsor.viewer.viewer_page import viewer_page

ODD = [
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror='window.hacked=2'>",
    "a\"b'c&d",
    "‮right to left",
    "😀",
    " ",
]


@pytest.fixture(scope="module")
def page():
    try:
        viewer_page()
    except OptionError as error:
        pytest.skip(str(error))
    with opened() as browser:
        yield Watched(browser)


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


def test_bodies_of_every_case_are_where_the_data_say(page, tmp_path):
    for name in ts.cases.names():
        if name == "satellite":  # the same as satellite-1
            continue
        data, file = short_run(name), tmp_path / f"{name}.html"
        ts.save_html(data, file)
        assert os.path.getsize(file) < 2_000_000, name
        page.open(file.as_uri())
        for frame in (data.sizes["time"] - 1, 1):
            assert deviation(page, data, frame) < 1e-6, name
        assert page.sound(), (name, page.errors, page.requests)


@pytest.mark.parametrize("name", ["panda_description/urdf/panda.urdf", "so_arm_description", "talos_data"])
def test_robots_are_shown_with_their_meshes(page, tmp_path, name):
    from exchange_robots import robot_file

    model = ts.read(robot_file(name)).model
    ts.save_html(model, tmp_path / "robot.html")
    page.open((tmp_path / "robot.html").as_uri())
    state = ts.Simulation(model).state.motion
    for body, p in list(zip(model.bodies, state["position"]))[:6]:
        assert np.allclose(page("(n) => window.torsor.pose(n).p", body.name), p, atol=1e-6)
    assert page.sound(), (page.errors, page.requests)


def test_a_run_plays_and_its_time_line_says_when_a_ball_rests(page, tmp_path):
    model = ts.Model("ball", gravity=(0, 0, -9.81))
    ball = model.body("ball", inertia=ts.inertia.sphere(1.0, 0.1), at=(0, 0, 1.0))
    model.add(ts.Contact("floor", model.ground, ball, radius=0.1, plane=(0, 0, 0), restitution=0.5))
    data = ts.simulate(model, 4.0, outputs=40)
    ts.save_html(data, tmp_path / "ball.html")
    page.open((tmp_path / "ball.html").as_uri())
    engaged = "(t) => { window.torsor.seek(t); return window.torsor.rows(); }"
    for t, rests in ((0.2, False), (1.0, False), (2.0, True)):
        (row,) = page(engaged, t)
        assert row["name"] == "floor" and row["engagedAtCursor"] is rests
    page("() => { window.torsor.seek(0); window.torsor.play(); }")
    page.page.wait_for_function("() => window.torsor.cursorTime() > 0.05", timeout=20_000)
    page("() => window.torsor.pause()")
    assert page.sound(), page.errors


def test_names_are_text_and_never_markup(page, tmp_path):
    """A result whose every name is odd, with numbers that are none and thousands of events."""
    data = short_run("pendulum")
    data = data.assign_coords(body=[ODD[0]]).assign_attrs(model=ODD[1])
    scene = data.attrs["scene"].replace('"bob"', '"' + ODD[0].replace('"', '\\"') + '"')
    data.attrs["scene"] = scene.replace('"rod"', '"' + ODD[1] + '"').replace('"pendulum"', '"' + ODD[0] + '"')
    data["position"].values[2] = np.nan
    events = 5000
    data["event_time"] = ("event", np.linspace(0, float(data.time[-1]), events))
    data["event_name"] = ("event", np.array([ODD[k % len(ODD)] for k in range(events)]))
    for name in ODD[:5]:
        data[name] = ("time", np.full(data.sizes["time"], np.nan))
    ts.save_html(data, tmp_path / "odd.html")
    page.open((tmp_path / "odd.html").as_uri())
    page("(t) => window.torsor.seek(t)", float(data.time[2]))
    assert page("() => window.hacked === undefined")
    assert page.sound(), (page.errors, page.requests)


def test_the_server_shows_news_and_refuses_strangers(page):
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    from torsor.viewer.page_server import PageServer
    from torsor.viewer.viewable import data_of

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
        page.page.wait_for_function("() => Math.abs(window.torsor.pose('bob').p[2] - 0.3) < 1e-6", timeout=20_000)
        server.show(data_of(ts.cases.load("four-bar"), "view"))
        page.page.wait_for_function("() => window.torsor.pose('crank0') !== null", timeout=20_000)
        assert page.sound(), (page.errors, page.requests)
    page.page.goto("about:blank")
