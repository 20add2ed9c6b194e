"""Every script of examples/ runs as it stands, in a folder of its own, and tells so; those of everyday work are short."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
EVERYDAY = {  # page of the docs -> scripts that it names
    page: set(re.findall(r"(?<!bench/)\b\w+\.py", (ROOT / "docs" / f"{page}.md").read_text()))
    & {path.name for path in EXAMPLES}
    for page in ("studies", "stepping", "controllers", "tables", "statics", "kinematics")
}


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:torsor", script],
        cwd=tmp_path, env={**os.environ, "MPLBACKEND": "Agg"}, capture_output=True, text=True, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_it_says_how_to_run_it(script):
    assert f"python examples/{script.name}" in ast.get_docstring(ast.parse(script.read_text()))


@pytest.mark.parametrize("page", EVERYDAY)
def test_everyday_work_has_examples_of_at_most_30_lines(page):
    assert EVERYDAY[page]
    for name in EVERYDAY[page]:
        lines = (ROOT / "examples" / name).read_text().splitlines()
        assert len([line for line in lines if line.strip()]) <= 30, name
