"""What is added to the package is one file: it is found by itself, and has its name in the interface."""

import importlib
import sys

import pytest

import torsor as ts
from torsor import registry

KNOB = """
from dataclasses import dataclass

from torsor.joints.lower_pairs import Revolute
from torsor.registry import register


@register("knob")
@dataclass(frozen=True, eq=False)
class Knob(Revolute):
    \"\"\"A hinge by another name.\"\"\"
"""


@pytest.fixture
def add(tmp_path, monkeypatch):
    """A function that puts a file into a folder of the package, as if it stood there; taken back at the end."""
    before = {kind: dict(table) for kind, table in registry._TABLE.items()}
    added = []

    def put(place, name, text):
        folder = tmp_path / place
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.py").write_text(text)
        home = importlib.import_module(f"torsor.{place}")
        monkeypatch.setattr(home, "__path__", [*home.__path__, str(folder)])
        added.append((home, name))
        registry.discover.cache_clear()

    yield put
    registry._TABLE.clear()
    registry._TABLE.update(before)
    registry.discover.cache_clear()
    for home, name in added:
        module = sys.modules.pop(f"{home.__name__}.{name}", None)
        vars(home).pop(name, None)
        for public in [key for key, value in vars(ts).items() if getattr(value, "__module__", None) == module.__name__]:
            delattr(ts, public)


def test_a_file_in_a_folder_is_found(add):
    assert "knob" not in ts.registered("joint") and not hasattr(ts, "Knob")
    add("joints", "knob", KNOB)
    assert ts.registered("joint")["knob"] is ts.Knob and "Knob" in dir(ts)


def test_what_was_found_is_gone_again():
    assert "knob" not in ts.registered("joint") and not hasattr(ts, "Knob")
