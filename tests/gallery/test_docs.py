"""Every Python block of the documentation runs, in the order in which a reader meets it."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.S | re.M)


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text())], ids=lambda p: p.name)
def test_every_python_block_runs(page, tmp_path, monkeypatch):
    from torsor import registry

    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "docs"}
    try:
        for block in BLOCK.findall(page.read_text()):
            exec(compile(block, str(page), "exec"), names)
    finally:  # take back what the page registered, and nothing else
        for table in registry._TABLE.values():
            for key in [key for key, cls in table.items() if cls.__module__ == "docs"]:
                del table[key]


def test_the_recipes_are_short():
    blocks = BLOCK.findall((ROOT / "docs" / "extend.md").read_text())
    assert len(blocks) == 20
    assert max(len(block.splitlines()) for block in blocks) < 40
