"""What functions of a run may return, and what a study keeps of runs that differ, whoever carries them out."""

from functools import partial

import numpy as np
import pytest
import xarray as xr

import torsor as ts
from torsor.studies import job_dispatch

STIFF = [1.0, 2.0, 3.0, 4.0]
FACTOR = [1.0]


@pytest.fixture(scope="module")
def model():
    model = ts.Model("swing", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), at=(0.5, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add(ts.TorsionSpring("spring", hinge, stiffness=model.parameter("k", 1.0), damping=0))
    model.signal("place", bob.position)
    return model


def asked(model, reduce, **more):
    return ts.study(model, 0.1, {"k": STIFF}, outputs=4, reduce=reduce, **more)


@pytest.mark.parametrize("threads", [1, 2])
def test_runs_may_give_other_names_and_sizes(model, threads):
    """With room for the largest; in one portion and in several."""
    several = asked(model, lambda run: np.arange(run.parameters["k"]), executor=threads)["lambda"]
    for row, k in zip(several.values, STIFF):
        np.testing.assert_array_equal(row[: int(k)], np.arange(k))
        assert np.isnan(row[int(k) :]).all()
    names = asked(model, lambda run: {"low": 1} if run.parameters["k"] < 3 else {"high": "yes"}, executor=threads)
    np.testing.assert_array_equal(names.low, [1, 1, np.nan, np.nan])
    assert names.high.values.tolist() == ["", "", "yes", "yes"] and names.attrs["failed"] == 0


@pytest.mark.parametrize("few", [0, 100], ids=["one portion", "several"])
def test_runs_may_give_other_labels_dimensions_and_kinds(model, few, monkeypatch):
    """There is room for all labels, numbers in their order; in one portion and in several."""
    monkeypatch.setattr(job_dispatch, "SMALL_STUDY_RUNS", few)

    def found(run):
        k = int(run.parameters["k"])
        late = xr.DataArray([k, 10.0 * k], {"k": [k, -k]}, "k", attrs={"units": "Hz"})
        words = xr.DataArray(["up", "down"][: k % 2 + 1], {"way": ["a", "b"][: k % 2 + 1]}, "way")
        other = xr.DataArray([1.0], {"way": ["c"]}, "way")
        none = {"none": None} if k == 2 else {"none": k}
        return none | {
            "late": late,
            "words": words,
            "other": other,
            "more": [k] * k if k > 1 else k,
            "told": k if k > 1 else "-",
        }

    data = asked(model, found, executor=2)
    assert data.attrs["failed"] == 0 and data.late.units == "Hz" and data.late.dims == ("run", "k")
    assert data.k.values.tolist() == [-4, -3, -2, -1, 1, 2, 3, 4] and data["parameter.k"].values.tolist() == STIFF
    for run, k in enumerate([1, 2, 3, 4]):
        one = data.late[run].dropna("k")
        assert one.k.values.tolist() == [-k, k] and one.values.tolist() == [10.0 * k, k]
        assert data.more[run, :k].values.tolist() == [k] * k and np.isnan(data.more[run, k:]).all()
    assert data.way.values.tolist() == ["a", "b", "c"] and data.words[1].values.tolist() == ["up", "", ""]
    np.testing.assert_array_equal(data.other[0], [np.nan, np.nan, 1.0])
    np.testing.assert_array_equal(data.none, [1, np.nan, 3, 4])
    assert data.told.values.tolist() == ["-", "2.0", "3.0", "4.0"]


def test_a_run_of_which_a_function_tells_nothing_is_marked(model):
    data = asked(model, lambda run: None if run.parameters["k"] == 2 else 1.0)
    assert data["lambda"].values[[0, 2, 3]].tolist() == [1.0] * 3 and data.attrs["failed"] == 1
    assert data.message[1] == "reduce: 'lambda' must give numbers or text, got None; return nan for a missing value"
    data = asked(model, lambda run: xr.DataArray([1.0], {"w": [np.nan if run.parameters["k"] == 2 else 1.0]}, "w"))
    assert data.message[1].item().startswith("reduce: labels of 'w' in 'lambda' must be numbers or text, got")
    np.testing.assert_array_equal(data["lambda"][:, 0], [1.0, np.nan, 1.0, 1.0])
    masked = asked(model, lambda run: np.ma.masked_greater([1, 9], 5))
    np.testing.assert_array_equal(masked["lambda"], [[1.0, np.nan]] * 4)
    with pytest.raises(
        ts.RunError, match="all 4 runs of the study failed; the first: reduce: 'lambda' must give numbers"
    ):
        asked(model, lambda run: None)


def test_labels_units_and_times_of_what_a_function_returns_are_kept(model):
    one = lambda run: xr.DataArray(
        [run.parameters["k"], 2.0], dims="mode", coords={"mode": ["a", "b"]}, attrs={"units": "Hz"}
    )
    data = asked(model, {"frequency": one})
    assert data.frequency.sel(mode="a").values.tolist() == STIFF and data.frequency.units == "Hz"
    assert list(data.mode.values) == ["a", "b"]
    whole, late = asked(model, None), asked(model, lambda run: run.dataset[["energy"]].isel(time=slice(3, None)))
    np.testing.assert_array_equal(late.energy, whole.energy[:, 3:])
    np.testing.assert_array_equal(late.energy_time, whole.time[3:])
    every = asked(model, lambda run: run.dataset[["position"]].sel(axis=["z"]))
    np.testing.assert_array_equal(every.position[..., 0], whole.position.sel(axis="z"))
    assert list(every.position_axis.values) == ["z"] and every.time.identical(whole.time)


def test_units_are_those_of_what_words_reduce_and_not_guessed_from_names(model):
    """A ratio that a function calls energy_ratio has no unit; the largest energy has that of energies, whatever it is called."""
    data = asked(
        model, {"top": ("energy", "max"), "energy": "last", "energy_ratio": lambda run: 0.5, "rate": lambda run: 2.0}
    )
    assert [data[name].attrs.get("units") for name in ("top", "energy", "energy_ratio", "rate")] == [
        "J",
        "J",
        None,
        None,
    ]
    assert asked(model, lambda run: {"energy": 0.5}).energy.attrs == {}
    assert asked(model, ["min", "max"]).energy_max.units == "J"


@pytest.mark.parametrize("method", ["rkmk54", "auto"])  # many runs at once, and one by one
def test_a_run_is_told_to_a_function_as_simulate_tells_it(model, method):
    seen = []
    asked(model, lambda run: seen.append((run.attrs, {*run}, run["reaction_unique"])) or 0.0, method=method, executor=1)
    alone = ts.simulate(model, 0.1, outputs=4, method=method, parameters={"k": STIFF[0]})
    attributes, names, unique = seen[0]
    assert names == {*alone.data_vars} and unique.tolist() == alone.reaction_unique.values.tolist()
    same = ("status", "events", "steps", "evaluations", "model_length", "energy_balance_error")
    assert [attributes.get(name) for name in same] == [alone.attrs.get(name) for name in same]
    kept = asked(model, None, keep=["reaction_unique"], method=method)
    assert kept.reaction_unique.values.all() and kept.reaction_unique.dims == ("run", "joint", "axis")


def test_a_run_that_stops_keeps_what_it_reached(model):
    options = {"step": 0.01, "method": "rkmk4", "outputs": 5}
    data = ts.study(model, 0.2, {"k": [1.0, 1e30]}, **options)
    with pytest.raises(ts.RunError) as error:
        ts.simulate(model, 0.2, parameters={"k": 1e30}, **options)
    alone = error.value.data
    reached = alone.sizes["time"]
    assert 1 < reached < 6 and data.message[1].item().endswith("or the motion unstable.")
    np.testing.assert_array_equal(data.energy[1, :reached], alone.energy)
    assert np.isnan(data.energy[1, reached:]).all()
    assert data.time_reached[1] == alone.time_reached > 0 and data.steps[1] == alone.steps > 0
    assert np.isnan(ts.study(model, 0.2, {"k": [1.0, 1e30]}, reduce="last", **options).energy[1])


def test_multipliers_keep_their_names_where_other_constraints_are_redundant(monkeypatch):
    """A four-bar in space, in which the rows that are left out depend on its proportions; all runs in one portion."""
    model = ts.Model("four-bar", gravity=(0, 0, -9.81))
    length = model.parameter("length", 1.0)
    places = [(0, 0, 0.5), (length / 2, 0, 1), (length, 0, 0.5)]
    links = [model.body(f"link{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=at) for k, at in enumerate(places)]
    chain, points = [model.ground, *links, model.ground], [(0, 0, 0), (0, 0, 1), (length, 0, 1), (length, 0, 0)]
    for k, point in enumerate(points):
        model.add(ts.Revolute(f"joint{k}", chain[k], chain[k + 1], point=point, axis=(0, 1, 0)))
    monkeypatch.setattr(job_dispatch, "SMALL_STUDY_RUNS", 0)
    asked = {"outputs": 1, "formulation": "absolute"}
    data = ts.study(model, 0.05, {"length": [1.0, 0.01]}, keep="multiplier", executor=1, **asked)
    for k, value in enumerate(data.length.values.tolist()):
        alone = ts.simulate(model, 0.05, parameters={"length": value}, **asked)
        both = [name for name in alone.constraint.values if name in data.constraint.values]
        found = data.multiplier.isel(run=k).sel(constraint=both)
        np.testing.assert_array_equal(found, alone.multiplier.sel(constraint=both))
    assert len(both) < data.sizes["constraint"]


def test_what_torsor_refuses_within_a_function_fails_its_run_alone(model):
    ends = lambda run: ts.simulate(model, run.parameters["k"] - 2).sizes["time"]
    data = asked(model, {"outputs": ends})
    assert [bool(message) for message in data.message.values] == [True, True, False, False]
    assert data.message[0].item().startswith("reduce: OptionError: until must be a positive number")


def scaled(run, by=1.0):
    return FACTOR[0] * by


def test_a_folder_belongs_to_what_a_function_refers_to(model, tmp_path):
    """Its defaults, what surrounds it, what it names: otherwise numbers of another study would be returned."""
    within = lambda by: lambda run: by
    for place, (one, other) in enumerate(
        ((within(1.0), within(2.0)), (partial(scaled, by=1.0), partial(scaled, by=2.0)))
    ):
        first = asked(model, one, store=tmp_path / str(place))
        xr.testing.assert_identical(asked(model, one, store=tmp_path / str(place)), first)
        with pytest.raises(ts.ResultError, match="belongs to another study"):
            asked(model, other, store=tmp_path / str(place))
    asked(model, scaled, store=tmp_path / "named")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(ts.ResultError, match="belongs to another study"):
        patch.setitem(globals(), "FACTOR", [2.0])
        asked(model, scaled, store=tmp_path / "named")
    with pytest.raises(ts.OptionError, match="store must be the path of a folder, got 3"):
        asked(model, scaled, store=3)


def test_a_folder_belongs_to_the_same_call_made_again(model, tmp_path):
    """Whatever clocks tell of a result that it begins with or refers to, and in whatever order a set is walked."""
    results = [ts.simulate(model, 0.1, outputs=2).isel(time=-1) for _ in range(2)]
    assert results[0].attrs["wall_seconds"] != results[1].attrs["wall_seconds"]
    within = lambda result: lambda run: run["energy"][-1] - result["energy"].item()
    for place, (one, other) in enumerate(
        [
            [{"reduce": "last", "keep": "energy", "start": result} for result in results],
            [{"reduce": within(result)} for result in results],
            [{"reduce": eval(f"lambda run: float(len(run) in {order})")} for order in ("{0, 8}", "{8, 0}")],
        ]
    ):
        first = ts.study(model, 0.1, {"k": [1.0, 2.0]}, store=tmp_path / str(place), **one)
        again = ts.study(model, 0.1, {"k": [1.0, 2.0]}, store=tmp_path / str(place), **other)
        xr.testing.assert_identical(first, again)
    with pytest.raises(ts.ResultError, match="belongs to another study"):
        results[0]["velocity"] = results[0]["velocity"] + 1.0
        ts.study(model, 0.1, {"k": [1.0, 2.0]}, reduce="last", keep="energy", start=results[0], store=tmp_path / "0")


def test_a_folder_belongs_to_the_laws_of_controllers(tmp_path):
    def steered(gain):
        model = ts.Model("steered")
        block = model.body("block", mass=model.parameter("m", 1.0), inertia=(1, 1, 1))
        rail = model.add(ts.Prismatic("rail", model.ground, block, axis=(1, 0, 0)))
        law = lambda t, u: gain * (1 - u[0])
        pilot = model.add(ts.Controller("pilot", period=0.1, inputs=[rail.coordinate], outputs=["force"], function=law))
        model.add(ts.JointForce("motor", rail, pilot["force"]))
        return ts.study(model, 0.2, {"m": [1.0, 2.0]}, reduce="last", keep="coordinate", store=tmp_path)

    xr.testing.assert_identical(steered(1.0), steered(1.0))
    with pytest.raises(ts.ResultError, match="belongs to another study"):
        steered(2.0)


@pytest.mark.parametrize(
    "reduce, message",
    [
        (lambda run: xr.DataArray([1.0], dims="ab"[run.parameters["k"] < 3]), r"dimensions \('a',\) in some runs and"),
        (lambda run: xr.DataArray(np.ones(501), {"w": np.arange(501) + 501 * run.parameters["k"]}, "w"), "2004 in all"),
        (lambda run: xr.DataArray([1.0, 2.0], {"w": [run.parameters["k"]] * 2}, "w"), "a label of 'w' is there twice"),
        (lambda run: {"message": 1.0}, "cannot have a variable 'message': a study has another variable of that name"),
        (
            {"axis": ("energy", "max"), "place": ("position", "last")},
            "'axis' is a variable and a dimension of the result",
        ),
        (lambda run: {"x": [1.0, 2.0], "x_0": 3.0}, "'x_0' is a variable and a dimension of the result"),
        (lambda run: {"w": xr.DataArray([1.0], {"w": [2.0]}, "w")}, "'w' is a variable and a dimension of the result"),
        ({"a": lambda run: {"top": 1.0}, "b": lambda run: {"top": 2.0}}, "several results are called 'top'"),
        (lambda run: {"a": {"top": 1.0}, "b": {"top": 2.0}}, "several results are called 'top'"),
        ({"a/b": lambda run: 1.0}, "cannot have a variable 'a/b': it contains a slash"),
        ({"x": ("energy", ["max"])}, r"reduce\['x'\] must be one of"),
    ],
)
def test_what_cannot_be_kept_is_refused(model, reduce, message):
    with pytest.raises(ts.OptionError, match=message):
        asked(model, reduce, executor=2)


def test_signals_that_are_called_like_something_of_a_study_are_refused_and_may_be_reduced(model):
    signals = {"message": model["hinge"].rate}
    for reduce in (None, "last"):
        with pytest.raises(ts.OptionError, match="cannot have a variable 'message': a study has another variable"):
            asked(model, reduce, signals=signals)
    assert asked(model, {"fastest": ("message", "max")}, signals=signals).fastest.values.max() > 0
    assert asked(model, None, signals=signals, keep="energy").message.values.tolist() == [""] * 4


def test_events_of_runs_are_kept_and_not_reduced_by_words():
    """A ball that falls from several heights and strikes the floor at √(2 h/g), or not at all."""
    model = ts.Model("ball", gravity=(0, 0, -9.81))
    ball = model.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, model.parameter("h", 1.0)))
    model.add(ts.Prismatic("rail", model.ground, ball, axis=(0, 0, 1)))
    model.add(ts.Contact("floor", model.ground, ball, plane=(0, 0, 0), restitution=0.5))
    heights = np.array([0.3, 1.0, 20.0])
    data = ts.study(model, 0.6, {"h": heights}, outputs=2, keep=["event_time", "event_name"], executor=2)
    np.testing.assert_allclose(data.event_time[:2, 0], np.sqrt(2 * heights[:2] / 9.81), rtol=1e-12)
    assert np.isnan(data.event_time[2]).all() and set(data.event_name.values[2]) == {""} and data.sizes["event"] > 1
    assert len(ts.to_pandas(data, per="event")) == int(data.event_time.notnull().sum())
    with pytest.raises(ts.OptionError, match="nothing per event .*; a study keeps events that `keep` names"):
        ts.to_pandas(data[["steps"]], per="event")
    with pytest.raises(ts.OptionError, match="'event_time' is not over time; a function of the run can reduce it"):
        ts.study(model, 0.6, {"h": heights}, keep="event_time", reduce="last")


def test_the_name_of_a_vector_keeps_all_of_its_components(model):
    data = asked(model, "last", keep=["place"])
    whole = asked(model, "last")
    for k in range(3):
        np.testing.assert_array_equal(data[f"place[{k}]"], whole.position.values[:, 0, k])
    assert "position" not in data and "place[1]" not in asked(model, "last", keep=["place[0]"])
    with pytest.raises(ts.OptionError, match="keep: there is no variable 'plac'"):
        asked(model, "last", keep=["plac"])


@pytest.mark.parametrize("outputs", [None, 7])
def test_what_an_event_ends_is_reduced_up_to_there(outputs):
    """Balls that fall from several heights onto a sensor, at √(2 h/g) with √(2 g h), and one that does not reach it."""
    model = ts.Model("drop", gravity=(0, 0, -9.81))
    ball = model.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0, 0, model.parameter("h", 1.0)))
    model.add(ts.Prismatic("rail", model.ground, ball, axis=(0, 0, 1)))
    model.signal("height", ball.position[2])
    model.when(ts.falling(ball.position[2]), ts.end(), name="landed")
    h, g = np.array([0.5, 1.0, 5.0]), 9.81
    fallen = np.minimum(np.sqrt(2 * h / g), 0.7)
    end = {"height": h - g * fallen**2 / 2, "speed": -g * fallen}
    last = ts.study(model, 0.7, {"h": h}, outputs=outputs, reduce="last", executor=2)
    np.testing.assert_allclose(last.time_reached, fallen, rtol=1e-12)
    np.testing.assert_allclose(last.height, end["height"], atol=1e-12)
    np.testing.assert_allclose(last.rate[:, 0], end["speed"], rtol=1e-12)
    np.testing.assert_allclose(last.kinetic_energy, end["speed"] ** 2 / 2, rtol=1e-12)
    mixed = {"low": ("height", "min"), "high": ("height", "max"), "v": lambda run: run.end["rate"][0]}
    data = ts.study(model, 0.7, {"h": h}, outputs=outputs, reduce=mixed)
    np.testing.assert_array_equal(data.low, last.height)
    np.testing.assert_array_equal(data.high, h)
    np.testing.assert_array_equal(data.v, last.rate[:, 0])
