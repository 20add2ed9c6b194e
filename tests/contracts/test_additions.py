"""What is added to the package is one file: it is found by itself, and has its place in the interface and the reference."""

import importlib
import importlib.util
import re
import sys

import pytest
from documented import PAGE

import torsor as ts
from torsor import registry

KINDS = sorted(registry._HOMES)
PLAIN = ("case", "group")  # written like those that are there, without a recipe of their own
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M)
RECIPES = {  # place and name of the file -> its text, and how it is used
    match.groups(): (block, use)
    for block, use in zip(BLOCKS, BLOCKS[1:])
    if (match := re.match(r"# ([\w/]+)/(\w+)\.py\n", block))
}


def reference():
    """docs/reference.py, which writes the page of everything that is registered."""
    spec = importlib.util.spec_from_file_location("reference", PAGE.parent / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def add(tmp_path, monkeypatch):
    """A function that puts a file into a folder of the package, as if it stood there; taken back at the end."""
    before = {kind: ts.registered(kind) for kind in KINDS}
    added = []

    def put(place, name, text):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(text)
        home = importlib.import_module(f"torsor.{place.replace('/', '.')}")
        monkeypatch.setattr(home, "__path__", [*home.__path__, str(folder)])
        added.append(f"{home.__name__}.{name}")
        registry.discover.cache_clear()
        now = {kind: ts.registered(kind) for kind in KINDS}
        new = [(kind, key) for kind in KINDS for key in now[kind] if key not in before[kind]]
        return sys.modules[added[-1]], new

    yield put
    registry._TABLE.clear()
    registry._TABLE.update(before)
    registry.discover.cache_clear()
    for name in added:
        sys.modules.pop(name, None)
        home, _, own = name.rpartition(".")
        vars(sys.modules[home]).pop(own, None)
        for public in [key for key, value in vars(ts).items() if getattr(value, "__module__", None) == name]:
            delattr(ts, public)


@pytest.mark.parametrize(("place", "name"), RECIPES, ids=lambda x: x)
def test_a_recipe_is_one_file_in_the_package(place, name, add, tmp_path, monkeypatch):
    """The file alone, in its folder: registered, public where classes of its kind are, in the reference; and it works."""
    text, use = RECIPES[place, name]
    module, ((kind, key),) = add(place, name, text)
    cls = ts.registered(kind)[key]
    if kind in ts._BY_CLASS:
        assert getattr(ts, cls.__name__) is cls and cls.__name__ in dir(ts)
    if kind == "action":
        assert getattr(ts, key) is getattr(module, key) and key in dir(ts)
    assert f"`{key}`" in reference().page()
    monkeypatch.chdir(tmp_path)
    names = {"ca": importlib.import_module("casadi"), "ts": ts, **vars(module)}
    exec(compile(use, str(PAGE), "exec"), names)


def test_every_kind_that_has_a_folder_has_a_recipe():
    homes = {place.replace("/", ".") for place, _ in RECIPES}
    homes_of_kinds = {home for kind, found in registry._HOMES.items() for home in found if kind not in PLAIN}
    folders = {home for home in homes_of_kinds if hasattr(importlib.import_module(f"torsor.{home}"), "__path__")}
    assert folders <= homes


def test_the_reference_is_not_stale():
    """docs/reference.md is what `./dev python docs/reference.py` writes."""
    assert reference().PAGE.read_text() == reference().page()
