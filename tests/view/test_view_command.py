"""`torsor view` and `--html`: files, bad input, changes of a model's file, a machine without a browser."""

import json
import sys
import threading
import time
import webbrowser

import pytest

import torsor as ts
from torsor.cli import status_of
from torsor.errors import OptionError
from torsor.viewer.viewer_page import SLOT, viewer_page

MODEL = """
import torsor as ts
model = ts.Model("mine", gravity=(0, 0, -9.81))
model.body("bob", mass=1.0, inertia=(1, 1, 1), at=(HEIGHT, 0, 0))
until = 0.1
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    try:
        viewer_page()
    except OptionError as error:
        pytest.skip(str(error))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine.py").write_text(MODEL.replace("HEIGHT", "1.0"))
    return tmp_path


def data_in(path):
    text = path.read_text()
    start = SLOT.partition("null")[0]
    return json.loads(text.partition(start)[2].partition("</script>")[0])


def test_models_and_results_become_files(folder, capsys):
    assert status_of(["view", "mine.py", "--html", "model.html"]) == 0
    assert data_in(folder / "model.html")["bodies"][0]["name"] == "bob"
    assert status_of(["view", "pendulum", "--html", "case.html"]) == 0
    assert "pendulum" in data_in(folder / "case.html")["subtitle"]
    assert status_of(["run", "mine.py", "--out", "r.nc", "--html", "run.html"]) == 0
    assert status_of(["view", "r.nc", "--compare", "r.nc", "--html", "both.html"]) == 0
    one, two = data_in(folder / "run.html"), data_in(folder / "both.html")
    assert len(one["runs"]) == 1 and len(two["runs"]) == 2 and one["runs"][0]["poses"] == two["runs"][1]["poses"]
    assert "run.html" in capsys.readouterr().out


@pytest.mark.parametrize(
    "line, words",
    [
        ("view none.nc --html x.html", "there is no such file"),
        ("view mine.py --html x.txt", "must end in .html"),
        ("run mine.py --html missing/x.html", "there is no folder"),
        ("view mine.py --compare mine.py --html x.html", "cannot read 'mine.py'"),
        ("view mine.py --set g=1 --html x.html", "has nothing of that name to set"),
        ("view nothing --html x.html", "neither a case nor a file"),
    ],
)
def test_bad_input_is_one_message(line, words, capsys):
    assert status_of(line.split()) == 2
    error = capsys.readouterr().err.strip()
    assert words in error and len(error.splitlines()) == 1


def test_a_page_follows_its_file_and_says_what_is_wrong_with_it(folder, monkeypatch, capsys):
    """The file is changed twice, the second time into nonsense: the page keeps what it shows, with the reason."""
    from torsor.cli import view_command
    from torsor.viewer.page_server import PageServer

    monkeypatch.setattr(view_command, "PERIOD", 0.02)
    again = lambda: view_command._data_of("mine.py", None, None)[0]
    with PageServer(again()) as server:
        threading.Thread(target=view_command._wait, args=(server, "mine.py", again), daemon=True).start()

        def within(condition):
            return any(condition() or time.sleep(0.02) for _ in range(1000))

        time.sleep(0.1)
        (folder / "mine.py").write_text(MODEL.replace("HEIGHT", "22.0"))
        assert within(lambda: server.data["bodies"][0]["p"][0] == 22.0)
        (folder / "mine.py").write_text(MODEL.replace("HEIGHT", "nonsense"))
        assert within(lambda: "nonsense" in server.data["info"].get("warning", ""))
        assert server.data["bodies"][0]["p"][0] == 22.0
        assert [json.loads(x) for x in server.news] == [{"reload": True}] * 2
        (folder / "mine.py").unlink()  # the thread goes on in silence


def test_without_a_browser_the_address_is_told(monkeypatch, capsys):
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    with ts.view(ts.cases.load("pendulum")) as page:
        shown = capsys.readouterr().out
    assert page.address in shown and "no browser could be started: open this address in one" in shown


def test_a_run_that_goes_on_is_shown_as_far_as_it_came(folder):
    """Another process runs a case into a folder, which is read and not changed."""
    import os
    import signal
    import subprocess

    from torsor.cli.view_command import _data_of
    from torsor.viewer.pack import unpack

    line = "run pendulum --until 1e4 --outputs 1000000 --method rkmk4 --step 1e-3 --checkpoint kept --checkpoint-interval 5"
    process = subprocess.Popen(
        [sys.executable, "-m", "torsor", *line.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        ends: list = []
        for _ in range(600):
            time.sleep(0.1)
            if process.poll() is not None or len(ends) == 2:
                break
            if not (folder / "kept" / "state").is_file():
                continue
            data, watched = _data_of("kept", None, None)
            assert watched == os.path.join("kept", "state") and data["joints"][0]["name"] == "rod"
            times = unpack(data["runs"][0]["times"])
            if len(times) > 1 and (not ends or times[-1] > ends[-1]):
                ends.append(times[-1])
        assert len(ends) == 2
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
