"""A run is prepared once: one start, one diagnosis of each structure, one lowering of the events."""

import sys
from pathlib import Path

import models
import pytest

import torsor as ts
from torsor.prepare import event_lowering, prepare
from torsor.run.runner import Runner
from torsor.start import diagnosis

SOURCE = Path(ts.__file__).parent


def swinging_on_a_floor():
    """A pendulum whose bob falls on a floor and stays there."""
    model = models.pendulum()
    model.add(ts.Contact("floor", model.ground, model["bob"], plane=(0, 0, -0.5)))
    return model


def count_calls(monkeypatch, module, name, counts):
    function = getattr(module, name)

    def counted(*arguments, **options):
        counts[name] = counts.get(name, 0) + 1
        return function(*arguments, **options)

    monkeypatch.setattr(module, name, counted)


@pytest.mark.parametrize("formulation", ["absolute", "relative"])
def test_a_run_is_prepared_once(formulation, monkeypatch, tmp_path):
    """The constraints of the start are diagnosed in absolute coordinates, and in those of the formulation if these are others."""
    monkeypatch.setenv("TORSOR_CACHE", str(tmp_path))
    counts = {}
    for module, name in ((prepare, "_consistent_start"), (event_lowering, "_lower_all"), (diagnosis, "diagnose")):
        count_calls(monkeypatch, module, name, counts)
    model = swinging_on_a_floor()
    data = ts.simulate(model, 1.0, outputs=2, formulation=formulation)
    assert data.attrs["structures"] == 2  # the contact is open, and closed
    assert counts == {"_consistent_start": 1, "_lower_all": 1, "diagnose": 2 + (formulation != "absolute")}
    counts.clear()
    ts.simulate(model, 1.0, outputs=2, formulation=formulation)
    assert "_consistent_start" not in counts and "_lower_all" not in counts


def test_each_package_on_the_way_to_the_first_step_is_entered_once(monkeypatch):
    """The stack of calls from `simulate` to the compiled loop."""
    packages = []
    advance = Runner._advance

    def look_at_stack(self, budget):
        frame = sys._getframe(1)
        while frame and not packages.count("simulation"):
            file = Path(frame.f_code.co_filename)
            package = file.relative_to(SOURCE).with_suffix("").parts[0] if SOURCE in file.parents else None
            if package and packages[-1:] != [package]:
                packages.append(package)
            frame = frame.f_back
        return advance(self, budget)

    monkeypatch.setattr(Runner, "_advance", look_at_stack)
    ts.simulate(swinging_on_a_floor(), 0.01, outputs=1)
    assert packages == ["run", "simulation"]
