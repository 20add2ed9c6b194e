"""A browser for tests: one that is installed, without a window, with rendering in software."""

import glob
import os
import shutil
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE = 120_000  # milliseconds, on a machine that is busy
OPTIONS = [  # as Chromium draws on a machine without graphics hardware: WebGL by SwiftShader, the page itself without WebGL
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",
    "--no-sandbox",
    "--disable-dev-shm-usage",
]


def executable():
    """The path of a browser: Chromium or Chrome in the PATH, or the one that playwright has installed."""
    own = sorted(glob.glob(os.path.expanduser("~/.cache/ms-playwright/chromium*/*/*chrome*")))
    found = [path for path in map(shutil.which, NAMES) if path] + [path for path in own if os.access(path, os.X_OK)]
    return found[0] if found else None


@contextmanager
def opened():
    """A browser; tests are skipped, with the reason, where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: pages are not tested in a browser")
    path = executable()
    if path is None:
        pytest.skip("no Chromium and no Chrome on this machine: pages are not tested in a browser")
    with sync_api.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=path, args=OPTIONS)
        yield browser
        browser.close()


class Watched:
    """A page of the browser, with everything that goes wrong in it and everything that it asks the network for."""

    def __init__(self, browser):
        self.page = browser.new_page(viewport={"width": 480, "height": 320})
        self.page.set_default_timeout(PATIENCE)
        self.errors, self.requests = [], []
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, address):
        """Open an address and wait until the viewer is ready."""
        self.errors.clear()
        self.requests.clear()
        self.page.goto(address)
        self.page.evaluate("() => window.torsor.ready.then(() => true)")

    def __call__(self, script, argument=None):
        return self.page.evaluate(script, argument)

    def sound(self):
        """Nothing went wrong, and no other host was asked for anything."""
        own = ("file:", "data:", "blob:", "http://127.0.0.1:")
        foreign = [url for url in self.requests if not url.startswith(own)]
        return not self.errors and not foreign and self("() => window.torsor.errors.length") == 0
