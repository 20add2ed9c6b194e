"""Every script of examples/ runs as it stands, in a folder of its own, and tells so; those of everyday work are short."""

import ast
import os
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

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


@pytest.mark.parametrize("script", ["cart_pole", "robot_arm"])
def test_environments_are_as_gymnasium_wants_them_and_independent(script):
    """Also of each other: what one does does not move another."""
    said = runpy.run_path(str(ROOT / "examples" / f"{script}_environment.py"))
    (made,) = [x for x in said.values() if isinstance(x, type) and issubclass(x, gymnasium.Env)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that observations have no bounds
        check_env(made(), skip_render_check=True)
    env, other = made(), made()
    (seen, _), _ = env.reset(seed=1), other.reset(seed=1)
    other.step(other.action_space.high)
    np.testing.assert_array_equal(seen, env.reset(seed=1)[0])
    assert env.sim.time == 0.0 and other.sim.time > 0.0


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_it_says_how_to_run_it(script):
    assert f"python examples/{script.name}" in ast.get_docstring(ast.parse(script.read_text()))


@pytest.mark.parametrize("page", EVERYDAY)
def test_everyday_work_has_examples_of_at_most_30_lines(page):
    assert EVERYDAY[page]
    for name in EVERYDAY[page]:
        lines = (ROOT / "examples" / name).read_text().splitlines()
        assert len([line for line in lines if line.strip()]) <= 30, name
