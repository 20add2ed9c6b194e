"""Every Python block of the documentation runs, in the order in which a reader meets it."""

import importlib
import pathlib
import re
import shlex
import sys

import pytest

from torsor.cli import status_of
from torsor.errors import OptionError

ROOT = pathlib.Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FILE = re.compile(r"# [\w/]+/(\w+)\.py\n")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.S | re.M)
COMMAND = re.compile(r"^ *torsor (.*)$", re.M)
SHELL = re.compile(r"^```(?:sh|bash)\n(.*?)^```|((?:^    torsor .*\n)+)", re.S | re.M)
INLINE = re.compile(r"`torsor ([a-z]+)\b([^`]*)`")


def need_viewer():
    """Skip a test where the page of the viewer can neither be found nor built."""
    from torsor.viewer.viewer_page import viewer_page

    try:
        viewer_page()
    except OptionError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text())], ids=lambda p: p.name)
def test_every_python_block_runs(page, tmp_path, monkeypatch):
    from torsor import registry

    if "ts.save_html(" in "".join(BLOCK.findall(page.read_text())):
        need_viewer()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    names: dict = {"__name__": "docs"}
    files = []
    try:
        for block in BLOCK.findall(page.read_text()):
            if found := FILE.match(block):  # a file of the reader's own
                files.append(found.group(1))
                (tmp_path / f"{files[-1]}.py").write_text(block)
                names |= vars(importlib.import_module(files[-1]))
            else:
                exec(compile(block, str(page), "exec"), names)
    finally:  # take back what the page registered, and nothing else
        for table in registry._TABLE.values():
            for key in [key for key, cls in table.items() if cls.__module__ in ("docs", *files)]:
                del table[key]
        for name in files:
            sys.modules.pop(name, None)


@pytest.mark.parametrize("page", ["studies", "stepping"])
def test_every_command_of_everyday_work_runs(page, tmp_path, monkeypatch, capsys):
    """As it is written, with the first model of the page in the file that is named."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / f"{page}.md").read_text()
    pathlib.Path("pendulum.py").write_text(BLOCK.findall(text)[0].partition("\ndata =")[0])
    pathlib.Path("drawn.csv").write_text("length,damping\n0.5,0.1\n1.5,0.2\n")
    lines = [line.partition("#")[0].split() for line in COMMAND.findall(text)]
    assert len(lines) > 1
    for words in lines:
        assert status_of(words) == 0, (words, capsys.readouterr())


@pytest.fixture(scope="module")
def commands():
    """Those of the command line, by name."""
    import typer

    from torsor.cli.commands import app

    return typer.main.get_command(app).commands


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_is_understood(page, commands):
    """Commands of the docs as the command line reads them: nothing is run. Of those within a sentence the options are looked at."""
    text = page.read_text()
    blocks = "".join(block or lines for block, lines in SHELL.findall(text))
    for line in re.findall(r"^ *(?:\./dev |env/bin/)?torsor (.*)$", blocks, re.M):
        name, *words = shlex.split(line, comments=True)
        commands[name].make_context(name, words)  # or an error that tells what is wrong
    for name, words in INLINE.findall(text):
        known = {option for parameter in commands[name].params for option in parameter.opts} | {"--help"}
        assert set(re.findall(r"--[a-z-]+", words)) <= known, f"torsor {name}{words}"


def test_the_recipes_are_short():
    blocks = BLOCK.findall((ROOT / "docs" / "extend.md").read_text())
    assert len(blocks) == 36
    assert max(len(block.splitlines()) for block in blocks if "@entry" not in block) < 40
    assert max(len(block.splitlines()) for block in blocks) < 90  # compiled steps of methods
