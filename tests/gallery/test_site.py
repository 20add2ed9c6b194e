"""The documentation site builds without a warning, lists every page, and loads nothing from other hosts."""

import pathlib
import re
import subprocess
import sys

import pytest

import torsor as ts

DOCS = pathlib.Path(__file__).parent.parent.parent / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "-b",
        "html",
        "-D",
        "gallery_viewers=pendulum,atwood,winch",
        "-d",
        folder / "trees",
        DOCS,
        folder / "html",
    ]
    built = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder / "html"


def test_every_page_is_listed(site):
    listed = re.findall(r"^(\w+)$", (DOCS / "index.md").read_text(), re.M)
    assert sorted(listed) == sorted(page.stem for page in DOCS.glob("*.md") if page.stem != "index")
    assert all((site / f"{page}.html").exists() for page in listed)


def test_a_page_loads_nothing_from_other_hosts(site):
    """The site is read offline: scripts, styles and pictures are files of its own."""
    sources = re.compile(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(https?:)?//', re.S)
    assert [page.name for page in site.glob("*.html") if sources.search(page.read_text())] == []


def test_search_and_lists_for_language_models_know_the_pages(site):
    """The index of the search has words of the pages; llms.txt names each of them with its first sentence."""
    assert "woronetz" in (site / "searchindex.js").read_text()
    lines = (site / "llms.txt").read_text().splitlines()
    assert sum(line.startswith("- [") for line in lines) == len(list(DOCS.glob("*.md"))) - 1
    assert all(": " in line for line in lines if line.startswith("- ["))


def test_functions_and_elements_are_explained(site):
    text = (site / "api.html").read_text()
    for name in ("simulate", "study", "Simulation", "Revolute", "SpringDamper", "Contact"):
        assert f'id="torsor.{name}"' in text


def test_the_gallery_plays_its_cases(site):
    text = (site / "gallery.html").read_text()
    assert [text.count(f"_static/viewer/{name}.html") for name in ("pendulum", "atwood", "winch")] == [1, 1, 1]
    assert '"format":"torsor-view"' in (site / "_static" / "viewer" / "pendulum.html").read_text()


def test_every_case_has_an_entry_in_the_gallery():
    """Its heading names it, so that the viewer is shown below it."""
    headings = re.findall(r"^## (.*?):", (DOCS / "gallery.md").read_text(), re.M)
    named = {name.strip() for heading in headings for name in heading.split(",")}
    assert set(ts.cases.names()) <= named
