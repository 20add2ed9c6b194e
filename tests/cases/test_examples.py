"""Every script in examples/ runs as a newcomer would run it, saves its picture and says what it found."""

import importlib.util
import pathlib

import pytest

SCRIPTS = sorted((pathlib.Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_runs_and_saves_its_picture(script, tmp_path, capsys):
    spec = importlib.util.spec_from_file_location(script.stem, script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    picture = tmp_path / "picture.png"
    module.main(picture)
    assert picture.stat().st_size > 20_000  # a picture with lines in it
    assert f"{picture}" in capsys.readouterr().out


def test_there_are_examples():
    assert {"satellite_comparison", "three_link_baumgarte", "first_mechanism"} <= {path.stem for path in SCRIPTS}
