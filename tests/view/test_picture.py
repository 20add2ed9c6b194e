"""Pictures without a browser: what is drawn is where the projection of the bodies is; films are files that open."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

import torsor as ts  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def ball(colour="#ff0000"):
    model = ts.Model("ball", gravity=(0, 0, -9.81))
    model.body(
        "ball",
        mass=1.0,
        inertia=(1, 1, 1),
        at=(1, 5, 2),
        velocity=(1, 0, 0),
        shape=ts.shapes.sphere(0.5, colour=colour),
    )
    model.body("other", mass=1.0, inertia=(1, 1, 1), at=(-4, 0, 0), shape=ts.shapes.box((1, 1, 1)))
    return model


def faces(axes):
    return axes.collections[0].get_paths()


def test_a_sphere_is_a_disk_around_its_centre():
    """Seen against y: x to the right, z up."""
    (axes,) = ts.picture(ball(), view="-y").axes
    corners = np.concatenate([path.vertices for path in faces(axes)])
    sphere = corners[corners[:, 0] > 0]
    assert np.allclose([sphere.min(axis=0), sphere.max(axis=0)], [(0.5, 1.5), (1.5, 2.5)], atol=0.02)


def test_what_is_nearer_is_painted_later():
    figure = ts.picture(ball("#00ff00"), view="y")
    colours = figure.axes[0].collections[0].get_facecolors()
    green = colours[:, 1] > 2 * colours[:, 0]
    assert green[-1] and not green[0]  # the ball, at y = 5, is in front


def test_panels_of_a_film_strip_are_at_their_times_in_one_scale():
    data = ts.simulate(ball(), 1.0, outputs=10)
    figure = ts.picture(data, times=[0, 0.5, 1.0], view="-y")
    middles = [
        np.concatenate([p.vertices for p in faces(a) if p.vertices[:, 0].min() > 0]).mean(axis=0) for a in figure.axes
    ]
    assert np.allclose(np.diff([m[0] for m in middles]), 0.5, atol=0.02)
    assert len({a.get_xlim() for a in figure.axes}) == 1
    assert [a.get_title() for a in figure.axes] == ["t = 0 s", "t = 0.5 s", "t = 1 s"]


def test_planar_mechanisms_are_seen_across_their_plane():
    """Each link of the four-bar shows its full length."""
    (axes,) = ts.picture(ts.cases.load("four-bar")).axes
    corners = np.concatenate([path.vertices for path in faces(axes)])
    assert np.allclose(np.ptp(corners, axis=0), (2, 1), atol=0.2)
    (axes,) = ts.picture(
        ts.cases.load("governor")
    ).axes  # its hinges are not parallel: the slider is not seen from above
    assert np.ptp(np.concatenate([path.vertices for path in faces(axes)]), axis=0).min() > 0.5


@pytest.mark.parametrize("name", ts.cases.names())
def test_every_case_is_drawn(name):
    from torsor.scene.scene import scene
    from torsor.viewer.picture import picture_of_scene

    (axes,) = picture_of_scene(scene(ts.cases.load(name))).axes
    assert len(faces(axes)) >= 6 and np.isfinite(axes.get_xlim()).all()


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda d: ts.picture(3), "give a torsor.Model or a result over time"),
        (lambda d: ts.picture(d, time=7), "time 7 s is not in the result, which is from 0 to 1 s"),
        (lambda d: ts.picture(d, time=0, times=[1]), "`time` or `times`, not both"),
        (lambda d: ts.picture(d, times=[]), "times is empty"),
        (lambda d: ts.picture(d, view="front"), "view must be one of x, y"),
        (lambda d: ts.picture(ball(), time=1), "a model has no times"),
        (lambda d: ts.movie(d, "film.avi"), "must end in .gif, .mp4, .webm"),
        (lambda d: ts.movie(d, "film.gif", frames=1), "frames must be a whole number from 2"),
        (lambda d: ts.movie(d, "film.gif", speed=0), "speed must be positive"),
    ],
)
def test_what_cannot_be_drawn_is_refused(wrong, words):
    with pytest.raises(ts.OptionError) as error:
        wrong(ts.simulate(ball(), 1.0, outputs=2))
    assert words in str(error.value)


def test_pictures_are_vectors_and_films_are_films(tmp_path):
    data = ts.simulate(ball(), 1.0, outputs=5)
    ts.picture(data, time=1.0).savefig(tmp_path / "ball.svg")
    assert "<path" in (tmp_path / "ball.svg").read_text() and "<image" not in (tmp_path / "ball.svg").read_text()
    ts.movie(data, tmp_path / "ball.gif", frames=4)
    from PIL import Image

    with Image.open(tmp_path / "ball.gif") as film:
        assert film.n_frames == 4


def test_a_notebook_shows_a_model_with_its_picture_and_escapes_names():
    model = ball()
    shown = model._repr_html_()
    assert "data:image/png;base64," in shown and "2 bodies" in shown
    model.body("more", mass=1.0, inertia=(1, 1, 1))  # nothing was derived
    assert "<img" not in ts.Model("empty")._repr_html_()


def test_the_page_in_a_notebook_is_a_frame_without_markup_of_its_own():
    from torsor.viewer.notebook_view import frame

    shown = frame('<script>"&')
    assert 'srcdoc="&lt;script&gt;&quot;&amp;"' in shown


def test_a_notebook_shows_pictures_and_facts_of_models_results_linear_models_and_equilibria():
    from torsor.viewer.notebook_cards import result_html

    image = 'src="data:image/png;base64,'
    model = ts.cases.load("cart-pole")
    shown = model._repr_html_()
    assert image in shown and ">degrees of freedom</th><td style='text-align:left'>2<" in shown
    shown = result_html(ts.simulate(model, 0.1, outputs=3))
    assert image in shown and "energy balance, relative" in shown and "xarray" in shown
    shown = ts.linearise(model)._repr_html_()
    assert image in shown and "<th>frequency [Hz]</th>" in shown
    shown = ts.equilibrium(model)._repr_html_()
    assert image in shown and ">stability</th>" in shown and ">hinge</th>" in shown
    assert "<pre>" in ts.assemble(model, {"hinge": 0.2})._repr_html_()


def test_names_in_a_notebook_are_text():
    """Names of a model are letters and digits; those of a result of another program may be anything."""
    from torsor.viewer.notebook_cards import result_html

    odd = "<img src=x onerror=alert(2)>"
    data = ts.simulate(ball(), 0.1, outputs=2)
    scene = data.attrs["scene"].replace('"other"', f'"{odd}"')
    shown = result_html(data.assign_coords(body=["ball", odd]).assign_attrs(model="<script>", scene=scene))
    assert "<img alt" in shown and "<script>" not in shown and odd not in shown


def test_results_in_a_notebook_have_a_picture_and_other_datasets_do_not(monkeypatch):
    import sys
    import types

    import xarray as xr

    from torsor.viewer.notebook_view import show_results_in_notebook

    kept = {}
    formatter = types.SimpleNamespace(for_type_by_name=lambda module, name, write: kept.update({name: write}))
    shell = types.SimpleNamespace(display_formatter=types.SimpleNamespace(formatters={"text/html": formatter}))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    show_results_in_notebook()
    data = ts.simulate(ball(), 0.1, outputs=2)
    assert "<img" in kept["Dataset"](data) and "<img" not in kept["Dataset"](xr.Dataset())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    show_results_in_notebook()  # a program, not a notebook
