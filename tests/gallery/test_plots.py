"""Every view of a result is drawn, with units on its axes, for few joints and for many."""

import matplotlib
import numpy as np
import pytest

import torsor as ts
from torsor.look.plots import GROUP, ROWS, VIEWS, available
from torsor.look.rotation_plots import euler_angles

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
def changing():
    """A model with events."""
    model = ts.Model("ball", gravity=(0, 0, -9.81))
    body = model.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, 1))
    model.add(ts.Contact("floor", model.ground, body, plane=(0, 0, 0), restitution=0.3))
    model.when(ts.time >= 0.9, ts.record("height", body.position[2]), name="look")
    return ts.simulate(model, 1.5, outputs=60)


def hinged():
    model = ts.Model("door", gravity=(0, 0, -9.81))
    leaf = model.body("leaf", mass=2.0, inertia=(0.1, 0.2, 0.2), at=(0.5, 0, 0))
    model.add(ts.Revolute("hinge", model.ground, leaf, point=(0, 0, 0), axis="y"))
    return model


@pytest.fixture(scope="module")
def driven():
    """A prescribed motion."""
    return ts.kinematics(hinged(), {"hinge": ts.time**2}, np.linspace(0, 1, 30))


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
def test_every_axis_names_its_unit(loop, changing, driven, what, tmp_path):
    figure = ts.plot({"events": changing, "drives": driven}.get(what, loop), what)
    figure.savefig(tmp_path / "picture.png")
    bottom = [ax for ax in figure.axes if ax.axison and ax.get_subplotspec().is_last_row()]
    shown = [ax for ax in figure.axes if ax.axison]
    for label in [ax.get_ylabel() for ax in shown] + [ax.get_xlabel() for ax in bottom]:
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
        ts.OptionError, match="unknown plot 'heat'. Known: energy, drift, coordinates, reactions, paths, events"
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
    assert available(loose) == ["energy", "drift", "paths", "rotation", "euler", "determinant"]
    with pytest.raises(ts.ResultError, match="holds no joints"):
        ts.plot(loose, "reactions")


def test_sweeps_are_drawn_over_what_is_driven(driven, tmp_path):
    """2 kg at 0.5 m are held by m g l cos q; a sweep that comes back, and big steps, leave no gaps."""
    angles = np.array([0.0, 1.0, 2.0, 3.0, 1.5, 0.0])
    swept = ts.kinematics(hinged(), {"hinge": angles})
    assert (
        available(swept)
        == available(driven)
        == ["drift", "coordinates", "reactions", "paths", "drives", "rotation", "euler", "determinant"]
    )
    top, low = ts.plot(swept, "drives").axes
    assert low.get_xlabel() == "hinge [rad]" and low.get_xlim() == (0.0, 3.0)
    (held,) = top.get_lines()
    np.testing.assert_array_equal(held.get_xdata(), angles)
    np.testing.assert_allclose(held.get_ydata(), -9.81 * np.cos(angles), atol=1e-12)
    figure = ts.plot(swept, "coordinates")
    np.testing.assert_array_equal(figure.axes[0].get_lines()[0].get_ydata(), angles)
    ts.plot(swept, "paths").savefig(tmp_path / "picture.png")


def test_of_a_study_one_run_is_drawn(loop):
    study = loop.expand_dims(run=3)
    assert available(study) == []
    with pytest.raises(ts.OptionError, match=r"a study has 3 runs: give one of them, as data.isel\(run=0\)"):
        ts.plot(study, "energy")
    assert ts.plot(study.isel(run=1), "energy").axes


def test_values_beyond_any_scale_are_left_out(loop, tmp_path):
    blown = loop.copy(deep=True)
    for name in ("energy", "position", "coordinate", "position_drift", "reaction_force"):
        blown[name][-3:] = np.array([1e150, np.inf, np.nan]).reshape(-1, *[1] * (blown[name].ndim - 1))
    for what in available(blown):
        ts.plot(blown, what).savefig(tmp_path / "picture.png")


def test_one_output_is_drawn_too(loop, changing, tmp_path):
    for data in (loop, changing):
        for what in available(data):
            ts.plot(data.isel(time=[0]), what).savefig(tmp_path / "picture.png")


def marks(ax):
    """Times of the vertical lines of a panel."""
    return sorted({float(line.get_xdata()[0]) for line in ax.get_lines() if list(line.get_ydata()) == [0, 1]})


@pytest.mark.parametrize("what", ["energy", "drift", "reactions"])
def test_events_are_marked_in_views_over_time(changing, what, tmp_path):
    figure = ts.plot(changing, what)
    figure.savefig(tmp_path / "picture.png")
    for ax in figure.axes:
        assert marks(ax) == sorted(set(changing.event_time.values.tolist()))


def test_events_that_are_close_to_each_other_share_one_text():
    data = ts.simulate(ts.cases.load("booster"), 4.0, outputs=40)
    texts = {text.get_text() for text in ts.plot(data, "reactions").axes[0].texts}
    assert {"slide", "nozzle, separation"} <= texts


def test_the_energy_that_events_take_is_part_of_the_balance(changing):
    top, low = ts.plot(changing, "energy").axes
    assert changing.attrs["energy_of_events"] < -1
    assert "start + work done + events" in [line.get_label() for line in top.get_lines()]
    (curve,) = (line for line in low.get_lines() if len(line.get_xdata()) > 2)
    assert np.nanmax(curve.get_ydata()) < 1e-9 and "events" in low.get_ylabel()


def test_a_result_without_events_has_no_picture_of_them(loop, changing):
    assert "events" not in available(loop) and "events" in available(changing)
    with pytest.raises(ts.ResultError, match="holds no events"):
        ts.plot(loop, "events")
    (ax,) = ts.plot(changing, "events", only="look").axes  # it costs no energy: nothing to draw below
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["look"]
    assert len(ts.plot(changing, "events").axes) == 2
    with pytest.raises(ts.OptionError, match="nothing called 'bang'. Known: floor.touch"):
        ts.plot(changing, "events", only="bang")


# rotations


def test_euler_angles_give_the_rotations_they_are_taken_from():
    """R_z(ψ) R_x(θ) R_z(φ) by SciPy's quaternions, also where θ is 0 or π."""
    Rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    R = Rotation.random(200, random_state=4).as_matrix()
    R[0], R[1], R[2] = np.eye(3), np.diag((1.0, -1.0, -1.0)), Rotation.from_euler("Z", 0.7).as_matrix()
    found = euler_angles(R)
    np.testing.assert_allclose(Rotation.from_euler("ZXZ", found).as_matrix(), R, atol=1e-7)
    assert np.all((found[:, 1] >= 0) & (found[:, 1] <= np.pi))


def test_rotations_are_drawn_body_by_body(tmp_path):
    data = ts.simulate(ts.cases.load("satellite", motion=3), 6.0, outputs=60, formulation="absolute")
    figure = ts.plot(data, "rotation")
    figure.savefig(tmp_path / "picture.png")
    assert [ax.get_title() for ax in figure.axes] == list(data.body.values)
    np.testing.assert_array_equal(figure.axes[2].get_lines()[5].get_ydata(), data.rotation.values[:, 2, 1, 2])
    angles = ts.plot(data, "euler", only=["hull"]).axes[0].get_lines()[1].get_ydata()
    np.testing.assert_allclose(angles, np.arccos(data.rotation.values[:, 0, 2, 2]), atol=1e-7)
    off = ts.plot(data, "determinant").axes[0].get_lines()[0].get_ydata()
    assert np.nanmax(off) < 1e-14  # exponentials, not sums: they stay rotations


def test_many_bodies_are_drawn_in_part_and_particles_not_at_all():
    many = ts.simulate(ts.cases.load("chain", n=10), 0.1, outputs=2)
    assert len(ts.plot(many, "euler").axes) == GROUP
    assert "first 8 of 10" in ts.plot(many, "rotation").axes[0].get_title(loc="right")
    particle = ts.simulate(ts.cases.load("pendulum"), 0.1, outputs=2)
    assert ("rotation" in available(particle)) == bool(np.isfinite(particle.rotation.values).all())
