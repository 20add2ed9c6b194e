"""The public names of the package."""

import inspect

import pytest

import torsor as ts


def test_all_lists_what_dir_shows():
    """`__all__` is written out for editors; nothing that is registered in the package is missing in it."""
    assert sorted(ts.__all__) == [name for name in dir(ts) if not name.startswith("_")]
    assert all(getattr(ts, name) is not None for name in ts.__all__)


def test_actions_have_a_namespace_of_their_own():
    made = [name for name in dir(ts.actions) if name[0].islower()]
    assert sorted(made) == sorted(key for key in ts.registered("action") if hasattr(ts, key))
    assert all(getattr(ts, name) is getattr(ts.actions, name) for name in made)


def test_own_files_are_saved_and_loaded_in_pairs():
    """`save_x` and `load_x` for files of torsor, `read…` for model files."""
    others = {"html", "model"}  # one is only shown, `ts.read` reads the other
    kinds = {name.removeprefix("save_") for name in ts.__all__ if name.startswith("save_")} - others
    assert kinds == {name.removeprefix("load_") for name in ts.__all__ if name.startswith("load_")}
    assert {"result", "state", "component"} <= kinds


def test_former_names_of_results_work():
    assert ts.save is ts.save_result and ts.load is ts.load_result


@pytest.mark.parametrize("name", ["simulate", "study", "Simulation", "compile", "info", "equilibrium", "linearise"])
def test_formulation_has_one_default(name):
    assert inspect.signature(getattr(ts, name)).parameters["formulation"].default == "auto"


@pytest.mark.parametrize("name", ["kinematics", "assemble", "range_of_motion"])
def test_analyses_in_joint_coordinates_have_the_same_default(name):
    assert inspect.signature(getattr(ts, name)).parameters["formulation"].default == "auto"


def test_states_are_saved_by_function(tmp_path):
    model = ts.cases.load("pendulum")
    sim = ts.Simulation(model)
    sim.advance(0.1)
    ts.save_state(sim, tmp_path / "a.state")
    ts.save_state(sim.state, tmp_path / "b.state")
    other = ts.Simulation(model)
    other.state = ts.load_state(tmp_path / "a.state")
    assert other.time == sim.time and dict(other.coordinates) == dict(sim.coordinates)
    assert (tmp_path / "a.state").read_bytes() == (tmp_path / "b.state").read_bytes()
    with pytest.raises(ts.OptionError, match="save_state: give a Simulation, or its `state`, got 3"):
        ts.save_state(3, tmp_path / "c.state")
