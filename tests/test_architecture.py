"""Rules of the architecture: imports point one way, packages and files stay small, importing stays quick."""

import ast
import importlib
import pathlib
import subprocess
import sys

import pytest

import torsor as ts

SOURCE = pathlib.Path(__file__).parent.parent / "src" / "torsor"
ORDER = [
    {"errors", "registry", "source_files"},
    {"lie"},
    {"elements"},
    {"lookup"},
    {"events"},
    {"fmus"},
    {"joints"},
    {"constraints"},
    {"forces"},
    {"model"},
    {"exchange"},
    {"formulations"},
    {"start"},
    {"checks"},
    {"kernels"},
    {"tables"},
    {"methods"},
    {"parallel"},
    {"prepare"},
    {"run"},
    {"store"},
    {"look"},
    {"scene"},
    {"simulation", "simulations", "stepping"},
    {"dynamics", "studies"},
    {"fmi"},
    {"analysis"},
    {"cad"},
    {"viewer"},
    {"cases"},
    {"testing"},
    {"cli", "__main__"},
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
FILES = sorted(SOURCE.rglob("*.py"))
MOST_FILES = 26  # of one package


def package_of(path):
    """The package at the top of torsor that a file belongs to."""
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imported_packages(path):
    """The packages of torsor that a file imports from, also inside functions."""
    package = ["torsor", *path.relative_to(SOURCE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text())):
        modules = []
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *(node.module.split(".") if node.module else [])]
            modules = [[*base, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [alias.name.split(".") for alias in node.names]
        for parts in modules:
            if parts[0] == "torsor" and len(parts) > 1 and parts[1] in RANK:
                yield parts[1]


@pytest.mark.parametrize("path", [f for f in FILES if f.name != "__init__.py" or f.parent != SOURCE], ids=str)
def test_imports_point_one_way(path):
    here = package_of(path)
    assert here in RANK, f"{here} is missing in ORDER"
    for other in imported_packages(path):
        assert RANK[other] <= RANK[here], f"{path.name} ({here}) imports {other}, which is to its right"


@pytest.mark.parametrize("path", FILES, ids=str)
def test_files_and_functions_stay_small(path):
    """A file has at most 400 lines, a function fits a screen."""
    text = path.read_text()
    assert len(text.splitlines()) <= 400
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    assert [f"{f.name}: {f.end_lineno - f.lineno + 1}" for f in functions if f.end_lineno - f.lineno >= 60] == []


def test_packages_stay_small():
    """No package has more files than one can survey."""
    counts = {folder: len(list(folder.glob("*.py"))) for folder in {path.parent for path in FILES}}
    assert {str(folder): count for folder, count in counts.items() if count > MOST_FILES} == {}


def test_file_names_are_unique():
    """A file is found by its name; only `base.py`, the contract of a registered kind, and `__init__.py` occur more than once."""
    names = [path.name for path in FILES if path.name not in ("__init__.py", "base.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []


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
    """Twists and wrenches are made and taken apart by `lie/se3.py`, (ẋ, ω) of a body by
    `formulations/algebra/lie_derivative.py`."""
    folders = ("joints", "constraints", "forces", "events", "elements", "model", "formulations", "start", "checks")
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
    """Other dependencies are imported by the functions that use them; the benchmarks measure the import time."""
    code = (
        "import sys; bare = set(sys.modules); import torsor;"
        "print(*{m.partition('.')[0] for m in set(sys.modules) - bare} - set(sys.stdlib_module_names))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {m for m in found.stdout.split() if not m.startswith(("_", "swig"))} == {"casadi", "numpy", "torsor"}
