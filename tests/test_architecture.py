"""The house rules that a machine can check: imports point one way, files stay small, importing stays quick."""

import ast
import importlib
import pathlib
import subprocess
import sys

import pytest

import torsor as ts

SOURCE = pathlib.Path(__file__).parent.parent / "src" / "torsor"
ORDER = [
    {"errors", "registry"},
    {"lie"},
    {
        f"describe.{name}"
        for name in (
            "names",
            "given",
            "quantity",
            "assignments",
            "lazy",
            "placing",
            "inertia",
            "owned",
            "explaining",
            "element",
        )
    },  # what elements are made of
    {"tables"},
    {"events"},
    {"joints"},
    {"forces"},
    {"describe"},  # what is made of elements
    {"exchange"},
    {"formulations"},
    {"start"},
    {"kernels"},
    {"tables.table", "tables.reading"},  # which are functions to be called with many numbers
    {"methods"},
    {"run"},
    {"store"},
    {"look"},
    {"simulation", "stepping"},
    {"studies"},
    {"analysis"},
    {"cases"},
    {"testing"},
    {"cli", "__main__"},
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
FILES = sorted(SOURCE.rglob("*.py"))


def part(found):
    """The part of torsor that a module belongs to: itself, where it has a place of its own, or its room."""
    own = ".".join(found[:2])
    return own if own in RANK else found[0]


def part_of(path):
    return part(path.relative_to(SOURCE).with_suffix("").parts)


def imported_parts(path):
    """The parts of torsor that a file imports, also inside functions."""
    package = ["torsor", *path.relative_to(SOURCE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            full = [*base, *(node.module.split(".") if node.module else [])]
            for alias in node.names:
                found = [*full, alias.name]
                if found[0] == "torsor" and len(found) > 1 and part(found[1:]) in RANK:
                    yield part(found[1:])
        elif isinstance(node, ast.Import):
            for alias in node.names:
                found = alias.name.split(".")
                if found[0] == "torsor" and len(found) > 1 and part(found[1:]) in RANK:
                    yield part(found[1:])


@pytest.mark.parametrize("path", [f for f in FILES if f.name != "__init__.py" or f.parent != SOURCE], ids=str)
def test_imports_point_one_way(path):
    here = part_of(path)
    assert here in RANK, f"{here} has no place in the order of the house"
    for other in imported_parts(path):
        assert RANK[other] <= RANK[here], f"{path.name} ({here}) imports {other}, which is to its right"


@pytest.mark.parametrize("path", FILES, ids=str)
def test_files_and_functions_stay_small(path):
    """A file has at most 400 lines, a function fits a screen."""
    text = path.read_text()
    assert len(text.splitlines()) <= 400
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    assert [f"{f.name}: {f.end_lineno - f.lineno + 1}" for f in functions if f.end_lineno - f.lineno >= 60] == []


@pytest.mark.parametrize("path", sorted(pathlib.Path(__file__).parent.rglob("*.py")), ids=str)
def test_files_of_tests_stay_small(path):
    assert len(path.read_text().splitlines()) <= 400


def halves(path):
    """Lines on which something is cut after its first three entries: x[:3], x[3:], x[:3, :] …"""
    is_three = lambda node: isinstance(node, ast.Constant) and node.value == 3
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Subscript):
            cuts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            cuts = [cut for cut in cuts if isinstance(cut, ast.Slice)]
            half = [cut for cut in cuts if (is_three(cut.upper) and cut.lower is None) or is_three(cut.lower)]
            whole = [cut for cut in cuts if cut.lower is None and cut.upper is None]
            if half and len(half) + len(whole) == len(cuts) and ast.unparse(node.value) not in ("rows", "H", "x"):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}: {ast.unparse(node)}"


def test_the_order_of_a_twist_is_known_in_one_place():
    """Twists and wrenches are made and taken apart by `lie/se3.py`, (ẋ, ω) of a body by `formulations/lie_derivative.py`."""
    folders = ("joints", "forces", "events", "describe", "formulations", "start")
    found = [line for folder in folders for path in sorted((SOURCE / folder).rglob("*.py")) for line in halves(path)]
    assert found == []


def test_what_editors_see_is_what_there_is():
    """Names that torsor imports for type checkers alone are those that it gives, from the same places."""
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {}
    for node in block.body:
        for alias in node.names:
            home = importlib.import_module(f"torsor.{node.module}" if node.module else f"torsor.{alias.name}")
            seen[alias.asname or alias.name] = getattr(home, alias.name) if node.module else home
    assert set(ts._LAZY) <= set(seen) <= set(dir(ts))
    assert all(getattr(ts, name) is found for name, found in seen.items())


def test_importing_loads_nothing_but_numbers_and_graphs():
    """What else the house stands on is loaded by whoever uses it; the bench measures what importing takes."""
    code = (
        "import sys; bare = set(sys.modules); import torsor;"
        "print(*{m.partition('.')[0] for m in set(sys.modules) - bare} - set(sys.stdlib_module_names))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {m for m in found.stdout.split() if not m.startswith(("_", "swig"))} == {"casadi", "numpy", "torsor"}
