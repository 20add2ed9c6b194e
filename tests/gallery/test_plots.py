"""Every view of a result is drawn, with units on its axes, for few joints and for many."""

import matplotlib
import numpy as np
import pytest

import torsor as ts
from torsor.look.plots import GROUP, ROWS, VIEWS, available

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="module")
def loop():
    """A four-bar linkage in the plane, with redundant constraints."""
    return ts.simulate(ts.cases.load("four-bar", n=1), 0.3, outputs=30)


@pytest.fixture(scope="module")
def many(loop):
    """The same with many joints."""
    import xarray as xr

    copies = xr.concat([loop] * 20, "joint", data_vars="minimal", coords="minimal", compat="override", join="override")
    copies = copies.drop_vars(["coordinate", "rate", "coordinate_acceleration", "joint_coordinate", "coordinate_unit"])
    wide = [loop[["coordinate", "rate"]]] * 20
    return copies.merge(
        xr.concat(wide, "joint_coordinate", data_vars="minimal", coords="minimal", compat="override", join="override")
    )


def lines(figure):
    return [line for ax in figure.axes for line in ax.get_lines()]


@pytest.mark.parametrize("what", VIEWS)
def test_every_axis_names_its_unit(loop, what, tmp_path):
    figure = ts.plot(loop, what)
    figure.savefig(tmp_path / "picture.png")
    bottom = [ax for ax in figure.axes if ax.get_subplotspec().is_last_row()]
    for label in [ax.get_ylabel() for ax in figure.axes] + [ax.get_xlabel() for ax in bottom]:
        assert "[" in label and "]" in label, label


def test_reactions_that_are_not_unique_are_dashed(loop):
    assert not loop["reaction_unique"].all()
    assert {line.get_linestyle() for line in lines(ts.plot(loop, "reactions"))} == {"--"}


@pytest.mark.parametrize("what", ["coordinates", "reactions"])
def test_many_joints_are_drawn_in_groups_with_short_legends(many, what, tmp_path):
    figure = ts.plot(many, what)
    figure.savefig(tmp_path / "picture.png")
    assert len(figure.axes) == 2 * ROWS
    legends = [ax.get_legend() for ax in figure.axes if ax.get_legend()]
    assert len(legends) == ROWS
    assert all(len(legend.get_texts()) <= GROUP for legend in legends)


def test_planar_motion_is_drawn_in_its_plane(loop):
    (ax,) = ts.plot(loop, "paths").axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x [m]", "y [m]")


def test_spatial_motion_is_drawn_in_space(tmp_path):
    data = ts.simulate(ts.cases.load("three-link"), 0.5, outputs=20)
    figure = ts.plot(data, "paths")
    figure.savefig(tmp_path / "picture.png")
    assert figure.axes[0].get_zlabel() == "z [m]"


def test_a_choice_is_drawn_and_an_unknown_one_refused(loop):
    name = str(loop["joint"].values[1])
    assert [line.get_label() for line in lines(ts.plot(loop, "reactions", only=name))] == [name, name]
    with pytest.raises(ts.OptionError, match="nothing called 'knee'. Known: "):
        ts.plot(loop, "reactions", only=["knee"])
    with pytest.raises(
        ts.OptionError, match="unknown plot 'heat'. Known: energy, drift, coordinates, reactions, paths"
    ):
        ts.plot(loop, "heat")


def test_a_figure_of_the_user_is_used(loop):
    from matplotlib.figure import Figure

    mine = Figure()
    assert ts.plot(loop, "energy", figure=mine) is mine and mine.axes


def test_what_a_result_does_not_hold_is_not_drawn(loop):
    nothing = loop.isel(time=slice(0, 0))
    assert available(nothing) == []
    with pytest.raises(ts.ResultError, match="no output times"):
        ts.plot(nothing, "energy")
    loose = loop.isel(joint=[], joint_coordinate=[])
    assert available(loose) == ["energy", "drift", "paths"]
    with pytest.raises(ts.ResultError, match="holds no joints"):
        ts.plot(loose, "reactions")


def test_values_beyond_any_scale_are_left_out(loop, tmp_path):
    blown = loop.copy(deep=True)
    for name in ("energy", "position", "coordinate", "position_drift", "reaction_force"):
        blown[name][-3:] = np.array([1e150, np.inf, np.nan]).reshape(-1, *[1] * (blown[name].ndim - 1))
    for what in VIEWS:
        ts.plot(blown, what).savefig(tmp_path / "picture.png")


def test_one_output_is_drawn_too(loop, tmp_path):
    for what in VIEWS:
        ts.plot(loop.isel(time=[0]), what).savefig(tmp_path / "picture.png")
