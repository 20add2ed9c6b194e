"""Rules of the language (CONTRIBUTING.md): names that say what a thing does or is, plain words, one home for each constant."""

import ast
import pathlib
import re
from collections import defaultdict

import pytest

ROOT = pathlib.Path(__file__).parent.parent
SOURCE = ROOT / "src" / "torsor"
FILES = sorted(SOURCE.rglob("*.py"))
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING")),
]
MOST_PARTICIPLES = 0.02  # of all functions
MOST_HOMES = 3  # files that define a constant of one name

PARTICIPLE = re.compile(
    r"_?\w*(?:[a-z]ed|(?:^|_)_?(?:told|held|kept|led|shut|lost|taken|chosen|drawn|found|made|met|begun|gone|written|given|known|shown"
    r"|built|sent|left|bound|seen|worn|torn|born|grown|hidden|broken|brought|bought|caught|thought|meant|felt|dealt|said|paid|laid"
    r"|spent|lent|bent|wound|struck|stuck|hung|borne|spun|swept|driven|risen|fallen|ridden|sunk|beaten))"
)
DIALECT = re.compile(
    r"\b(?:told|tells|beside|elsewhere|anew|settles?|settled|doubts?|asked for|stands? (?:beside|there)"
    r"|what (?:is|was) (?:given|told|asked))\b"
)
MATHEMATICS = re.compile(r" {2,}elsewhere|\b0 elsewhere")  # "otherwise", in a definition by cases
MOODS = re.compile(
    r"(?:^|_)(?:told|tells?|beside|elsewhere|anew|settles?|settled|doubts?|asked|rooms?|house|waist|journey|abreast|parted|genuine)(?:_|$)"
)


@pytest.fixture(scope="module")
def trees():
    return {path: ast.parse(path.read_text()) for path in FILES}


def test_functions_are_not_named_by_participles(trees):
    """Fewer than 2 % of all functions, those of `is_defined` and `find_released` included."""
    names = [node.name for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    participles = [name for name in names if PARTICIPLE.fullmatch(name)]
    assert len(participles) < MOST_PARTICIPLES * len(names), sorted(participles)


@pytest.mark.parametrize("files", [FILES, PAGES], ids=["source", "pages"])
def test_text_is_in_plain_words(files):
    found = [
        f"{path.relative_to(ROOT)}:{k}: {line.strip()}"
        for path in files
        for k, line in enumerate(path.read_text().splitlines(), 1)
        if DIALECT.search(MATHEMATICS.sub("", line))
    ]
    assert found == []


def test_names_are_plain_words(trees):
    """No function, class, argument or variable is named by a metaphor."""
    found = set()
    for path, tree in trees.items():
        for node in ast.walk(tree):
            name = getattr(node, "name", None) or getattr(node, "arg", None) or getattr(node, "id", None)
            if isinstance(name, str) and MOODS.search(name.lower()):
                found.add(f"{path.relative_to(SOURCE)}: {name}")
    assert sorted(found) == []


def test_constants_have_one_home(trees):
    """A constant is defined in one file and imported by others; a short name may serve three subjects at most."""
    homes = defaultdict(set)
    for path, tree in trees.items():
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            for name in (
                n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name) and n.id.isupper()
            ):
                homes[name].add(str(path.relative_to(SOURCE)))
    assert {name: sorted(files) for name, files in homes.items() if len(files) > MOST_HOMES} == {}
