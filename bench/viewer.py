"""The viewer in a browser: time to the first picture, pictures per second, memory, and thousands of odd results.

python bench/viewer.py [cases] [robots] [large] [long] [odd [COUNT]]     all of them, if none is named; --smoke: small sizes

A browser that is installed, without a window; the scene is rendered by the processor.

cases     each seed case: size of its page, first picture [s]
robots    first picture of three robots with their meshes [s]
large     60 bodies and 10,000 frames, 2,000 bodies and 1,000 frames: first picture [s], pictures per second while it plays,
          and what each takes of the processor, which says more on a machine with other work
long      100,000 frames of 60 bodies: the same, and the largest memory of the page [MB] while it seeks through the whole run
odd       results with odd names and numbers (tests/view/odd_results.py): nothing in them is executed, nothing fails
"""

import contextlib
import json
import os
import pathlib
import sys
import tempfile
import time
import warnings

import numpy as np
import xarray as xr

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "view"))
from browser import Watched, opened
from exchange_robots import robot_file
from odd_results import odd_result

import torsor as ts
from torsor.lie import pose_stacks
from torsor.scene.scene import scene_attributes
from torsor.viewer.viewable import data_of
from torsor.viewer.viewer_page import escape

ROBOTS = ("panda_description/urdf/panda.urdf", "so_arm_description", "talos_data")
WINDOW = {"width": 1280, "height": 720}
TRIES = 3  # of which the best counts: the machine may have more to do
PLAYED = 4.0  # seconds


def chain(bodies, frames):
    """A result of a chain whose links turn on circles, without integration."""
    model = ts.cases.load("chain", n=bodies)
    t = np.linspace(0.0, 10.0, frames)
    phase = 0.2 * np.arange(bodies)
    angle = 0.3 * np.sin(t[:, None] + phase)
    start = np.array([body.reference[0] for body in model.bodies], float).reshape(bodies, 3)
    reach = 0.2 * np.ptp(start, axis=0).max()
    p = start + reach * np.stack([np.sin(t[:, None] + phase), np.cos(t[:, None] + phase), 0 * angle], axis=-1)
    half = angle / 2
    q = np.stack([np.cos(half), np.sin(half), 0 * half, 0 * half], axis=-1)
    R = pose_stacks.rotations(q.reshape(-1, 4)).reshape(frames, bodies, 3, 3)
    variables = {"position": (("time", "body", "axis"), p), "rotation": (("time", "body", "row", "column"), R)}
    attributes = {"model": model.name} | scene_attributes(model)
    return xr.Dataset(variables, {"time": t, "body": [body.name for body in model.bodies]}, attributes)


def first_picture(page, file):
    """Seconds from the start of loading to the first picture, the best of several, and seconds of the processor."""
    found = []
    for _ in range(TRIES):
        before = processor_seconds()
        page.open(file.as_uri())
        spent = processor_seconds() - before
        assert page.sound(), page.errors
        found.append((page("() => window.torsor.stats.firstPictureMs") / 1000, spent))
    wall, spent = min(found)
    return f"first picture {wall:.2f} s (the whole page {spent:.1f} s of the processor)"


def pace(page):
    """While the run plays: pictures per second, and seconds of the processor for each of them."""
    page("() => { window.torsor.seek(0); window.torsor.play(); }")
    page.page.wait_for_timeout(1500)  # until the number of pixels has adapted
    before, spent = page("() => window.torsor.stats.pictures"), processor_seconds()
    rates = []
    for _ in range(TRIES):
        page.page.wait_for_timeout(1000 * PLAYED / TRIES)
        rates.append(page("() => window.torsor.stats.fps"))
    drawn = page("() => window.torsor.stats.pictures") - before
    spent = processor_seconds() - spent
    page("() => window.torsor.pause()")
    return f"{max(rates):.0f} a second, {1000 * spent / max(drawn, 1):.0f} ms of the processor each"


def children():
    """Fields of /proc/PID/stat of all processes that this one started, by number."""
    parents, fields = {}, {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                found = pathlib.Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)], fields[int(entry.name)] = int(found[1]), found

    def ours(pid):
        while pid > 1 and pid != os.getpid():
            pid = parents.get(pid, 0)
        return pid == os.getpid()

    return {pid: found for pid, found in fields.items() if pid != os.getpid() and ours(pid)}


def processor_seconds():
    """Seconds that the browser has used of the processor."""
    return sum(int(found[11]) + int(found[12]) for found in children().values()) / os.sysconf("SC_CLK_TCK")


def renderer_memory():
    """Resident memory of the largest renderer of the browser [MB]."""
    sizes = [0.0]
    for pid, found in children().items():
        with contextlib.suppress(OSError):
            if b"--type=renderer" in pathlib.Path("/proc", str(pid), "cmdline").read_bytes():
                sizes.append(int(found[21]) * os.sysconf("SC_PAGE_SIZE") / 1e6)
    return max(sizes)


def cases(page, folder, smoke):
    for name in ts.cases.names()[: 2 if smoke else None]:
        data = ts.simulate(ts.cases.load(name), **ts.cases.recommended(name), progress=False)
        file = folder / f"{name}.html"
        ts.save_html(data, file)
        print(f"{name:<14} {os.path.getsize(file) / 1e6:.2f} MB, {first_picture(page, file)}", flush=True)


def robots(page, folder, smoke):
    for name in ROBOTS[: 1 if smoke else None]:
        file = folder / "robot.html"
        ts.save_html(ts.read(robot_file(name)).model, file)
        print(f"{name:<36} {first_picture(page, file)}", flush=True)


def large(page, folder, smoke):
    for bodies, frames in [(5, 20)] if smoke else [(60, 10_000), (2000, 1000)]:
        file = folder / "large.html"
        ts.save_html(chain(bodies, frames), file)
        picture = first_picture(page, file)
        size = os.path.getsize(file) / 1e6
        print(f"{bodies} bodies, {frames} frames: {size:.1f} MB, {picture}, {pace(page)}", flush=True)


def long(page, folder, smoke):
    bodies, frames = (5, 3000) if smoke else (60, 100_000)
    file = folder / "long.html"
    ts.save_html(chain(bodies, frames), file)
    picture, most = first_picture(page, file), 0.0
    for t in np.linspace(0, 10, 5 if smoke else 100):
        page("(t) => window.torsor.seek(t)", float(t))
        page.page.wait_for_timeout(30)
        most = max(most, renderer_memory())
    size = os.path.getsize(file) / 1e6
    print(f"{bodies} bodies, {frames} frames: {size:.0f} MB, {picture}, {pace(page)}, at most {most:.0f} MB")


SHOWN = """(text) => window.torsor.open(JSON.parse(text)).then(
    () => { window.torsor.seek(0.1); window.torsor.seek(1e9); return ""; }, (error) => error.message)"""
UNTOUCHED = "() => window.hacked === undefined && document.querySelectorAll('#app img, #app script').length === 0"


def odd(page, folder, smoke, count=1000):
    plain = ts.simulate(ts.cases.load("pendulum"), 0.5, outputs=4, progress=False)
    ts.save_html(odd_result(plain, 0), folder / "odd.html")
    page.open((folder / "odd.html").as_uri())
    wrong = []
    for seed in range(1, 4 if smoke else count):
        said = page(SHOWN, json.dumps(json.loads(escape(data_of(odd_result(plain, seed), "view")))))
        if said or page.errors or not page(UNTOUCHED):
            wrong.append((seed, said, list(page.errors)))
            page.errors.clear()
    print(f"odd results: {len(wrong)} of {3 if smoke else count} failed or did something: {wrong[:5]}")
    assert page.sound() and not wrong


def main(words):
    smoke = "--smoke" in words
    numbers = [int(word) for word in words if word.isdigit()]
    parts = {part.__name__: part for part in (cases, robots, large, long, odd)}
    chosen = [word for word in words if word in parts] or list(parts)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            with opened() as browser:  # each part with a browser of its own, whose memory is that of the part
                page = Watched(browser)
                page.page.set_viewport_size(WINDOW)
                more = numbers if name == "odd" else []
                began = time.perf_counter()
                parts[name](page, pathlib.Path(folder), smoke, *more)
                print(f"  [{name}: {time.perf_counter() - began:.0f} s]", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
