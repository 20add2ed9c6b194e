"""Files that the documentation names are there."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BASES = (ROOT, ROOT / "src" / "torsor", ROOT / "examples")
NAMED = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|md)|(?:[\w-]+/)+)`")
OWN = {"FILE.py", "model.py", "out/three-link/"}  # files and folders of a user


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page):
    named = set(NAMED.findall(page.read_text())) - OWN
    missing = [name for name in named if not any((base / name).exists() for base in BASES)]
    assert missing == []


def test_the_architecture_page_lists_every_package():
    """Every package, and every module beside them but the plainest, is on the page."""
    packages = [path for path in (ROOT / "src" / "torsor").iterdir() if path.suffix == ".py" or path.is_dir()]
    plain = ("__init__.py", "__main__.py", "__pycache__", "errors.py")
    text = (ROOT / "docs" / "architecture.md").read_text()
    for path in packages:
        if path.name not in plain and (path.is_file() or any(path.glob("*.py"))):
            assert f"`{path.name}{'/' if path.is_dir() else ''}`" in text, path.name
