"""The parts of the page that need no browser are tested where they are written, by Node.js."""

import os
import subprocess
from pathlib import Path

import pytest

from torsor.errors import OptionError
from torsor.viewer.viewer_page import SOURCES, node_and_npm, viewer_page


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
