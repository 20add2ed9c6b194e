"""Draws the animated picture at the head of the README with the viewer, in a browser: python docs/pictures/film.py"""

import base64
import io
import pathlib
import sys
import tempfile

import numpy as np
from PIL import Image

import torsor as ts

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "view"))
from browser import OPTIONS, executable  # noqa: E402  the browser of the tests

PANELS = [("governor", 0.0, 1.0), ("snakeboard", 2.0, 3.0), ("manipulator", 0.0, 1.0)]  # case, from, until [s]
WIDTH, HEIGHT = 280, 240  # of a panel
FRAMES, PERIOD = 24, 60  # pictures, and milliseconds between two
COLOURS = 56


def frames_of(page, name, first, last, folder):
    """Pictures of one case at equal intervals."""
    options = dict(ts.cases.recommended(name)) | {"outputs": 600, "progress": False}
    file = folder / f"{name}.html"
    ts.save_html(ts.simulate(ts.cases.load(name), **options), file)
    page.goto(file.as_uri())
    page.evaluate("() => window.torsor.ready.then(() => { window.torsor.setDark(false); window.torsor.look('iso'); })")
    drawn = []
    for t in first + (last - first) * np.arange(FRAMES) / FRAMES:
        address = page.evaluate(
            "([t, w, h]) => { window.torsor.seek(t); return window.torsor.picture(w, h); }",
            [float(t), 2 * WIDTH, 2 * HEIGHT],
        )
        picture = Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))).convert("RGB")
        drawn.append(picture.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS))
    return drawn


def palette_of(picture):
    """Colours of a picture: one half for the many shades of the background, the other for what is small and bright."""
    palette = Image.new("P", (1, 1))
    kinds = (Image.Quantize.MEDIANCUT, Image.Quantize.MAXCOVERAGE)
    halves = [picture.quantize(COLOURS // 2, kind).getpalette()[: 3 * (COLOURS // 2)] for kind in kinds]
    palette.putpalette(halves[0] + halves[1])
    return palette


def main():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player, tempfile.TemporaryDirectory() as folder:
        browser = player.chromium.launch(executable_path=executable(), args=OPTIONS)
        page = browser.new_page(viewport={"width": 700, "height": 700})
        panels = [frames_of(page, *panel, pathlib.Path(folder)) for panel in PANELS]
        browser.close()
    film = []
    for pictures in zip(*panels):
        whole = Image.new("RGB", (WIDTH * len(panels), HEIGHT))
        for k, picture in enumerate(pictures):
            whole.paste(picture, (k * WIDTH, 0))
        film.append(whole)
    palette = palette_of(film[0])
    flat = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in film]
    file = HERE / "mechanisms.gif"
    flat[0].save(file, save_all=True, append_images=flat[1:], duration=PERIOD, loop=0, optimize=True)
    print(f"{file.name}: {file.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
