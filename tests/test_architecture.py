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
PACKAGES: dict[str, list[pathlib.Path]] = {}  # files by package, without the one that gives the public names
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
FILES = sorted(SOURCE.rglob("*.py"))
MOST_FILES = 26  # of one package
for _path in FILES:
    if _path != SOURCE / "__init__.py":
        PACKAGES.setdefault(_path.relative_to(SOURCE).with_suffix("").parts[0], []).append(_path)


def is_function(node):
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


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


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_imports_point_one_way(package):
    assert package in RANK, f"{package} is missing in ORDER"
    wrong = [
        f"{path.relative_to(SOURCE)} imports {other}, which is to its right"
        for path in PACKAGES[package]
        for other in imported_packages(path)
        if RANK[other] > RANK[package]
    ]
    assert wrong == []


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_files_and_functions_stay_small(package):
    """A file has at most 400 lines, a function fits a screen."""
    files = {str(path.relative_to(SOURCE)): path.read_text() for path in PACKAGES[package]}
    assert {name: count for name, text in files.items() if (count := len(text.splitlines())) > 400} == {}
    functions = [
        (name, node) for name, text in files.items() for node in ast.walk(ast.parse(text)) if is_function(node)
    ]
    lengths = {f"{name}: {f.name}": f.end_lineno - f.lineno + 1 for name, f in functions}
    assert {name: length for name, length in lengths.items() if length > 60} == {}


def test_packages_stay_small():
    """No package has more files than one can survey."""
    counts = {folder: len(list(folder.glob("*.py"))) for folder in {path.parent for path in FILES}}
    assert {str(folder): count for folder, count in counts.items() if count > MOST_FILES} == {}


def test_file_names_are_unique():
    """A file is found by its name; only `base.py`, the contract of a registered kind, and `__init__.py` occur more than once."""
    names = [path.name for path in FILES if path.name not in ("__init__.py", "base.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_files_of_tests_stay_small():
    lengths = {str(path): len(path.read_text().splitlines()) for path in pathlib.Path(__file__).parent.rglob("*.py")}
    assert {name: length for name, length in lengths.items() if length > 400} == {}


@pytest.fixture(scope="module")
def definitions():
    """The file in which each registered joint, constraint, force, group and action is defined, by the name of its class."""
    kinds = ("joint", "constraint", "force", "group", "action")
    classes = [cls for kind in kinds for cls in ts.registered(kind).values() if cls.__module__.startswith("torsor.")]
    return {cls.__name__: pathlib.Path(sys.modules[cls.__module__].__file__) for cls in classes}


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_nobody_asks_for_the_class_of_an_element(package, definitions):
    """Elements, groups and actions say what they are by attributes and methods, so that a new one is one file. Only files that
    define them, and the files that write and read models, know their classes."""
    found = []
    for path in PACKAGES[package]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
                names = {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
                known = [name for name in names & set(definitions) if definitions[name] != path]
                found += [f"{path.relative_to(SOURCE)}:{node.lineno}: {ast.unparse(node)}" for _ in known]
    assert found == []


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
