"""Every Python block of the documentation runs, in the order in which a reader meets it."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.S | re.M)


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text())], ids=lambda p: p.name)
def test_every_python_block_runs(page, tmp_path, monkeypatch):
    import torsor as ts
    from torsor import registry, simulation  # noqa: F401  (registers integrators, projections, formulations)

    ts.cases.names()  # and the cases: what is registered late must not be taken back below
    monkeypatch.chdir(tmp_path)
    kept = {kind: dict(table) for kind, table in registry._TABLE.items()}
    names: dict = {"__name__": "docs"}
    try:
        for block in BLOCK.findall(page.read_text()):
            exec(compile(block, str(page), "exec"), names)
    finally:
        registry._TABLE.clear()
        registry._TABLE.update(kept)


def test_the_recipes_are_short():
    blocks = BLOCK.findall((ROOT / "docs" / "extend.md").read_text())
    assert len(blocks) == 5
    assert max(len(block.splitlines()) for block in blocks) < 40
