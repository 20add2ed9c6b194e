"""Results as flat tables, and as files for other programs: the same numbers as in the dataset, under names with units."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.io
import xarray as xr

import torsor as ts
from torsor.cli import status_of
from torsor.store import export_formats


@pytest.fixture(scope="module")
def result():
    model = ts.Model("cart", gravity=(0, 0, -9.81))
    cart = model.body("cart", mass=2.0, inertia=(1, 1, 1))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1, 0, 0))
    model.add(ts.Prismatic("rail", model.ground, cart, axis=(1, 0, 0)))
    model.add(ts.Revolute("hinge", cart, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    model.signal("height-of-it", bob.position[2])
    model.when(ts.falling(bob.position[2] + 0.5), ts.record("x", bob.position[0]), name="low")
    return ts.simulate(model, 1.0, outputs=20)


def test_every_number_over_time_has_a_column_of_its_own(result):
    table = ts.to_pandas(result)
    assert len(table) == 21 and list(table)[0] == "time [s]"
    over_time = [x for x in result.data_vars.values() if "time" in x.dims]
    assert table.shape[1] == 1 + sum(x.size // 21 for x in over_time)
    same = lambda column, values: np.testing.assert_array_equal(table[column], values)
    same("time [s]", result.time)
    same("bob.position.z [m]", result.position.sel(body="bob", axis="z"))
    same("bob.rotation.xz", result.rotation.sel(body="bob", row="x", column="z"))
    same("rail.rate [m/s]", result.rate.sel(joint_coordinate="rail"))
    same("hinge.coordinate_acceleration [rad/s2]", result.coordinate_acceleration.sel(joint_coordinate="hinge"))
    same("hinge.reaction_torque.x [N m]", result.reaction_torque.sel(joint="hinge", axis="x"))
    same("energy [J]", result.energy)
    same("height-of-it", result["height-of-it"])
    assert table.attrs["model"] == "cart"


def test_one_variable_is_a_table_and_no_column_hides_another(result):
    assert ts.to_pandas(result.time).to_dict("list") == {"time [s]": result.time.values.tolist()}
    table = ts.to_pandas(result.energy)
    assert list(table) == ["time [s]", "energy [J]"]
    np.testing.assert_array_equal(table["energy [J]"], result.energy)
    both = ts.to_pandas(result.assign({"bob.position.z [m]": ("time", 2 * result.energy.values)}))
    np.testing.assert_array_equal(both["bob.position.z [m]"], result.position.sel(body="bob", axis="z"))
    np.testing.assert_array_equal(both["bob.position.z [m] (2)"], 2 * result.energy)


def test_events_have_a_table_of_their_own(result):
    events = ts.to_pandas(result, per="event")
    assert list(events["event_name"]) == ["low"] and len(events) == result.sizes["event"]
    np.testing.assert_array_equal(events["event_time [s]"], result.event_time)
    np.testing.assert_array_equal(events["x"], result["x"])


def test_events_of_a_study_are_rows_with_their_run(result):
    events = {
        "event_time": (("run", "event"), [[0.1, 0.2], [0.3, np.nan]], {"units": "s"}),
        "energy": (("run", "time"), np.ones((2, 3))),
    }
    data = xr.Dataset(events, {"time": [0.0, 1.0, 2.0], "k": ("run", [5.0, 6.0])})
    table = ts.to_pandas(data, per="event")
    assert table.to_dict("list") == {
        "run": [0, 0, 1],
        "event": [0, 1, 0],
        "k": [5, 5, 6],
        "event_time [s]": [0.1, 0.2, 0.3],
    }
    assert list(ts.to_pandas(data)) == ["run", "time", "k", "energy"]
    assert "event_time[1] [s]" in ts.to_pandas(data.drop_dims("time"))


def test_runs_and_times_are_rows_with_the_parameters_of_their_run(result):
    result = result.drop_dims("event")
    several = xr.concat([result, 2 * result], "run").assign_coords(k=("run", [3.0, 4.0], {"units": "N/m"}))
    table = ts.to_pandas(several)
    assert list(table)[:3] == ["run", "time [s]", "k [N/m]"] and len(table) == 42
    np.testing.assert_array_equal(table["run"], np.repeat([0, 1], 21))
    np.testing.assert_array_equal(table["k [N/m]"], np.repeat([3.0, 4.0], 21))
    np.testing.assert_array_equal(table["energy [J]"], np.concatenate([result.energy, 2 * result.energy]))
    last = ts.to_pandas(several[["energy", "position"]].isel(time=-1, drop=True))
    assert len(last) == 2 and "bob.position.x [m]" in last


def test_a_study_that_was_made_a_grid_has_the_rows_of_its_runs(result):
    """The parameters become dimensions of their own, and columns as before; labels of a function's results stay beside names."""
    runs = {"k": ("run", [1.0, 1.0, 11.0, 11.0]), "m": ("run", [1.0, 11.0, 1.0, 11.0])}
    several = xr.concat([k * result[["energy", "event_time"]] for k in range(4)], "run").assign_coords(runs)
    several["power"] = ("run", "hertz"), np.arange(8.0).reshape(4, 2)
    several = several.assign_coords(hertz=[0.5, 1.5])
    grid = several.set_index(run=["k", "m"]).unstack("run")
    for per in ("time", "event"):
        pd.testing.assert_frame_equal(
            ts.to_pandas(grid, per), ts.to_pandas(several, per).drop(columns="run"), check_like=True
        )
    one = ts.to_pandas(several.isel(run=1).drop_dims(["time", "event"]).assign(top=3.0))
    assert one.to_dict("list") == {"k": [1.0], "m": [11.0], "power.0.5": [2.0], "power.1.5": [3.0], "top": [3.0]}


def test_a_result_at_one_time_is_one_row_and_none_is_an_empty_table(result):
    last, whole = ts.to_pandas(result.isel(time=-1)), ts.to_pandas(result)
    assert len(last) == 1 and set(whole) <= set(last) and "event_time [s]" not in last
    np.testing.assert_array_equal(last[list(whole)].iloc[0], whole.iloc[-1])
    nothing = ts.to_pandas(result.isel(time=slice(0, 0)))
    assert len(nothing) == 0 and set(nothing) == set(whole)


def test_numbers_without_labels_and_complex_ones_have_columns(tmp_path):
    variables = {"v": (("run", "v_0"), [[1.0, 2.0], [3.0, 4.0]]), "z": ("run", [1 + 2j, 3 - 4j], {"units": "1/s"})}
    data = xr.Dataset(variables, {"k": ("run", [5.0, 6.0])}, {"model_hash": ""})
    table = ts.to_pandas(data)
    assert table.to_dict("list") == {
        "run": [0, 1], "k": [5.0, 6.0], "v[0]": [1.0, 3.0], "v[1]": [2.0, 4.0],
        "z.real [1/s]": [1.0, 3.0], "z.imag [1/s]": [2.0, -4.0],
    }  # fmt: skip
    ts.save_result(data, tmp_path / "run.mat")
    read = scipy.io.loadmat(tmp_path / "run.mat", simplify_cells=True)["z"]
    assert read.dtype.kind == "c" and read.tolist() == [1 + 2j, 3 - 4j]
    (tmp_path / "run.mat").unlink()
    grid = ts.to_pandas(data.swap_dims(run="k"))
    assert list(grid["k"]) == [5.0, 6.0] and list(grid["v[1]"]) == [2.0, 4.0]
    with pytest.raises(ts.ResultError, match="variable 'z' is complex.*write FILE.csv, FILE.parquet or FILE.mat"):
        ts.save_result(data, tmp_path / "run.nc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix, read", [(".csv", pd.read_csv), (".parquet", pd.read_parquet)])
def test_tables_come_back_from_their_files_with_all_digits(result, suffix, read, tmp_path):
    ts.save_result(result, tmp_path / f"run{suffix}")
    again = read(tmp_path / f"run{suffix}")
    pd.testing.assert_frame_equal(again, ts.to_pandas(result), check_exact=True)
    if suffix == ".parquet":
        assert again.attrs["model_hash"] == result.attrs["model_hash"]


def test_matlab_gets_arrays_with_labels_and_units(result, tmp_path):
    ts.save_result(result, tmp_path / "run.mat")
    read = scipy.io.loadmat(tmp_path / "run.mat", simplify_cells=True)
    np.testing.assert_array_equal(read["position"], result.position)
    np.testing.assert_array_equal(read["height_of_it"], result["height-of-it"])
    assert list(read["labels"]["body"]) == ["cart", "bob"] and read["units"]["position"] == "m"
    assert json.loads(read["attributes"]["options"])["method"] == "rkmk54"


def test_names_for_matlab_are_legal_and_different():
    names = export_formats._matlab_names(["a b", "a-b", "1st", "é", "units", "long" * 30, "long" * 31])
    assert len(set(names.values())) == 7
    assert all(word.isascii() and word.isidentifier() and len(word) <= 63 for word in names.values())


def test_the_command_line_writes_tables(tmp_path, capsys):
    files = [str(tmp_path / name) for name in ("run.csv", "run.parquet")]
    assert status_of(["run", "pendulum", "--until", "0.1", "--csv", files[0], "--out", files[1]]) == 0
    said = capsys.readouterr().out
    assert all(file in said for file in files)
    pd.testing.assert_frame_equal(*map(lambda read, file: read(file), [pd.read_csv, pd.read_parquet], files))
    assert status_of(["run", "pendulum", "--csv", str(tmp_path / "run.txt")]) == 2
    assert "must end in .csv" in capsys.readouterr().err


def test_what_cannot_be_a_table_is_refused_and_a_package_that_is_missing_is_named(result, tmp_path, monkeypatch):
    with pytest.raises(ts.OptionError, match="give a result.*got a dict"):
        ts.to_pandas({})
    for function in (ts.to_pandas, lambda data: ts.save_result(data, tmp_path / "x.csv")):
        with pytest.raises(ts.OptionError, match="got a SimpleNamespace; its `data` is one"):
            function(SimpleNamespace(data=result))
    with pytest.raises(ts.OptionError, match="unknown per='body'. Known: 'time', 'event'"):
        ts.to_pandas(result, per="body")
    with pytest.raises(ts.OptionError, match="nothing per event"):
        ts.to_pandas(result[["energy"]], per="event")
    monkeypatch.setitem(export_formats.FORMATS, ".parquet", export_formats.Format(None, "no_such_package"))
    with pytest.raises(ts.ResultError, match=r"run.parquet.*needs no_such_package.*pip install 'torsor\[files\]'"):
        ts.save_result(result, tmp_path / "run.parquet")
    assert list(tmp_path.iterdir()) == []
