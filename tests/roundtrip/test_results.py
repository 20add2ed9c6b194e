"""Results survive the way to a file and back; what cannot be written or read is said clearly."""

import errno
import os
import subprocess
import sys

import models
import pytest
import xarray as xr

import torsor as ts


def pendulum():
    model = models.pendulum()
    model.signal("height", model["bob"].position[2])
    return model


def loose_body():
    model = ts.Model("loose")
    model.body("stone", mass=1.0, inertia=(1, 2, 2.5), velocity=(1, 0, 0), angular_velocity=(0, 3, 0.1))
    return model


@pytest.fixture(scope="module")
def result():
    return ts.simulate(pendulum(), 1.0, outputs=50)


@pytest.mark.parametrize("build", [pendulum, loose_body])
def test_a_result_comes_back_from_its_file_bit_for_bit(build, tmp_path):
    before = ts.simulate(build(), 1.0, outputs=50)
    ts.save_result(before, tmp_path / "result.nc")
    after = ts.load_result(tmp_path / "result.nc")
    xr.testing.assert_identical(before, after)
    assert list(before.attrs) == list(after.attrs)
    for name, variable in before.variables.items():
        assert variable.dtype == after[name].dtype, name
        assert variable.values.tobytes() == after[name].values.tobytes(), name
        assert variable.attrs == after[name].attrs, name


def test_every_quantity_with_a_dimension_has_a_unit(result):
    without = {
        "coordinate_unit",
        "reaction_unique",
        "reaction_torque_unique",
        "multiplier_unique",
        "height",
        "body",
        "axis",
        "row",
        "column",
        "joint",
        "joint_coordinate",
        "constraint",
    }
    assert {name for name, x in result.variables.items() if "units" not in x.attrs} == without


def test_plain_xarray_reads_a_result(result, tmp_path):
    ts.save_result(result, tmp_path / "result.nc")
    with xr.open_dataset(tmp_path / "result.nc") as data:
        assert float(data["energy"].sel(time=1.0)) == float(result["energy"][-1])
        assert data["position"].sel(body="bob", axis="z").attrs["units"] == "m"
        assert data.attrs["steps"] == result.attrs["steps"]


def test_a_result_replaces_an_older_one_of_the_same_name(result, tmp_path):
    path = tmp_path / "result.nc"
    path.write_text("something else")
    ts.save_result(result, path)
    assert ts.load_result(path).sizes == result.sizes
    assert os.listdir(tmp_path) == ["result.nc"]


def test_a_missing_folder_is_named(result, tmp_path):
    with pytest.raises(ts.ResultError, match="there is no folder .*nowhere"):
        ts.save_result(result, tmp_path / "nowhere" / "result.nc")


def test_something_that_is_no_file_is_not_replaced(result, tmp_path):
    for path in (tmp_path, "/dev/full"):
        with pytest.raises(ts.ResultError, match="not a regular file"):
            ts.save_result(result, path)


def test_an_unwritable_folder_is_named(result, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # the tests may run as root, whom no folder refuses
    with pytest.raises(ts.ResultError, match=f"cannot write .*{tmp_path.name}.* is not writable"):
        ts.save_result(result, tmp_path / "result.nc")


def test_a_full_disk_leaves_the_older_file_and_no_fragment(result, tmp_path, monkeypatch):
    path = tmp_path / "result.nc"
    ts.save_result(result, path)
    before = path.read_bytes()

    def no_space(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(xr.Dataset, "to_netcdf", no_space)
    with pytest.raises(ts.ResultError, match="No space left on device"):
        ts.save_result(result, path)
    assert os.listdir(tmp_path) == ["result.nc"] and path.read_bytes() == before


LIMITED = """
import resource, sys
import torsor as ts
data = ts.load_result(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    ts.save_result(data, sys.argv[2])
except ts.ResultError as error:
    print(error)
"""


def test_a_file_that_cannot_grow_leaves_no_fragment(result, tmp_path):
    """The system refuses the write in the middle of the file, as a full disk does."""
    pytest.importorskip("resource")
    ts.save_result(result, tmp_path / "whole.nc")
    (tmp_path / "out").mkdir()
    arguments = [sys.executable, "-c", LIMITED, tmp_path / "whole.nc", tmp_path / "out" / "result.nc"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "cannot write" in done.stdout and "result.nc" in done.stdout
    assert os.listdir(tmp_path / "out") == []


def test_what_is_no_result_is_refused(result, tmp_path):
    text, other = tmp_path / "text.nc", tmp_path / "other.nc"
    text.write_text("time,position\n0,1\n")
    xr.Dataset({"rain": ("day", [1.0, 2.0])}).to_netcdf(other)
    missing = tmp_path / "none.nc"
    for path, why in [(text, "not a NetCDF"), (other, "not a result of torsor"), (missing, "no such file")]:
        with pytest.raises(ts.ResultError, match=f"cannot read .*{path.name}.*{why}"):
            ts.load_result(path)


@pytest.mark.parametrize("part", [0.0, 0.01, 0.3, 0.7, 0.99])
def test_a_truncated_file_is_refused(result, part, tmp_path):
    path = tmp_path / "result.nc"
    ts.save_result(result, path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(ts.ResultError, match="cannot read"):
        ts.load_result(path)
