"""The page about the five documents names tests, names and files that exist, and leaves out no chapter, figure or table."""

import ast
import pathlib
import re

import pytest

import torsor as ts

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "documents.md").read_text()
# figures and tables of each document, by their numbers
FIGURES = {
    "000": [*[f"1.{k}" for k in range(1, 8)], *[f"3.{k}" for k in range(1, 5)], *[f"4.{k}" for k in range(1, 27)], "5.1"],
    "001": [str(k) for k in range(1, 9)],
    "002": [str(k) for k in range(1, 10)],
    "003": [str(k) for k in range(1, 10)],
    "004": [
        "1.1", *[f"2.{k}" for k in range(1, 7)], "5.1", *[f"6.{k}" for k in range(1, 6)], *[f"7.{k}" for k in range(1, 16)],
        *[f"8.{k}" for k in range(1, 15)],
    ],
}  # fmt: skip
TABLES = {"000": ["4.1"], "001": ["1", "2"]}


def section(number):
    return re.split(r"^## ", PAGE.partition(f"## {number}:")[2], flags=re.M)[0]


def numbers(text, what):
    """Numbers of figures or tables that a text names: "figures 4.1 to 4.5, 4.8"."""
    found = set()
    for listed in re.findall(rf"{what}s? ((?:\d+(?:\.\d+)?(?:, | to | and )?)+)", text):
        last = before = ""
        for word in re.findall(r"\d+(?:\.\d+)?|to", listed):
            if before == "to":
                chapter, _, first = last.rpartition(".")
                end = word.rpartition(".")[2]
                found |= {f"{chapter}.{k}".lstrip(".") for k in range(int(first), int(end) + 1)}
            before = word
            if word != "to":
                last = word
                found.add(word)
    return found


def test_every_test_on_the_page_exists():
    defined = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        defined |= {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert len(named) > 80 and named - defined == set()


def test_every_name_on_the_page_exists():
    named = set(re.findall(r"`ts\.(\w+)", PAGE))
    assert [name for name in sorted(named) if not hasattr(ts, name)] == []
    dynamics = ts.compile(ts.cases.load("platform"), formulation="relative")
    for name in re.findall(r"(?<!projection )(?<!formulation )`(\w+)(?:\(.*?\))?`(?=[^|]*of `ts\.compile`)", PAGE):
        assert hasattr(dynamics, name), name


def test_every_key_on_the_page_is_registered():
    words = {"formulation": "formulations?", "integrator": "methods?", "projection": "projections?", "case": "cases?"}
    for kind, word in words.items():
        named = set(re.findall(rf"\b{word} `([\w-]+)`", PAGE))
        known = {*ts.registered(kind), *(ts.cases.names() if kind == "case" else ())}
        assert named and named - known == set()


@pytest.mark.parametrize("number", FIGURES)
def test_every_figure_and_table_is_mentioned(number):
    text = section(number)
    assert set(FIGURES[number]) - numbers(text, "figure") == set()
    assert set(TABLES.get(number, ())) - numbers(text, "table") == set()


@pytest.mark.parametrize("number", FIGURES)
def test_every_row_is_checked_or_said_to_be_background(number):
    for row in re.findall(r"^\| .* \|$", section(number), flags=re.M):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        if len(cells) == 4 and cells[0] != "in the document":
            assert "`test_" in cells[2] or cells[2] == "the same" or cells[1].startswith("–"), cells[0]
