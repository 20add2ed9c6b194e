"""Ranks that run a system together take the steps of one that runs it alone, and fail together."""

import json

import numpy as np
import pytest
from hierarchies import hierarchy
from together import bush, in_threads

import torsor as ts
from torsor.errors import ModelError, OptionError, RunError
from torsor.look.dataset import UNIQUE

SHORT = {"until": 0.2, "outputs": 3, "formulation": "hierarchical"}


@pytest.fixture(autouse=True)
def every_size(monkeypatch):
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "0")


def by_ranks(count, model, **options):
    """What each of so many ranks returns or raises."""

    def run(ranks):
        try:
            return ts.simulate(model(), **{**SHORT, **options}, ranks=ranks, progress=False)
        except ts.errors.TorsorError as error:
            return error

    return in_threads(count, run)


EIGHT = {"map": "cayley", "method": "dop853", "outputs": 40}
FIXED = {"method": "rkmk4", "step": 0.01, "projection": "baumgarte"}


@pytest.mark.parametrize(
    "model, count, options", [(bush, 2, {"outputs": 40}), (bush, 2, FIXED), (lambda: hierarchy(3), 2, EIGHT)]
)
def test_ranks_give_what_one_process_gives(model, count, options):
    alone = ts.simulate(model(), **{**SHORT, **options})
    data, *others = by_ranks(count, model, **options)
    assert others == [None] * (count - 1)
    for what in (
        "steps",
        "rejections",
        "evaluations",
        "degrees_of_freedom",
        "redundant_constraints",
        "status",
        "model_hash",
    ):
        assert data.attrs[what] == alone.attrs[what], what
    assert data.attrs["threads"] == count and len(json.loads(data.attrs["thread_shares"])) == count + 1
    for name in UNIQUE:
        assert (data[name].values == alone[name].values).all()
    for name in set(alone.data_vars) - set(UNIQUE):
        one, two = data[name].values, alone[name].values
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-12 * (1 + np.abs(two).max(initial=0.0)), err_msg=name)


def test_turns_and_given_velocities_are_those_of_one_process():
    """A hinge that closes a loop on one rank only, and turns so fast that steps are shortened; a velocity given to one body."""

    def model():
        model = bush()
        four = [
            model.body(
                f"bar{k}",
                mass=1.0,
                inertia=(0.1, 0.1, 0.1),
                at=(k, 5, 0.5 + 0.5 * (k == 1)),
                velocity=(0, 0, 0) if k == 1 else None,
            )
            for k in range(3)
        ]
        turned = {"axis": (0, 1, 0)}
        model.add(ts.Revolute("h0", model["stem0"], four[0], point=(0, 5, 0), **turned))
        model.add(ts.Revolute("h1", four[0], four[1], point=(0, 5, 1), **turned))
        model.add(ts.Revolute("h2", four[1], four[2], point=(2, 5, 1), **turned))
        model.add(ts.Revolute("h3", four[2], model["stem0"], point=(2, 5, 0), **turned))
        model.add(ts.Torque("motor", four[0], torque=(0, 400.0, 0)))
        return model

    fixed = {"method": "rkmk4", "step": 0.002}
    alone, data = ts.simulate(model(), **SHORT, **fixed), by_ranks(2, model, **fixed)[0]
    assert data.attrs["steps"] == alone.attrs["steps"] > 100
    np.testing.assert_allclose(data["coordinate"], alone["coordinate"], rtol=0, atol=1e-11)


def test_an_error_on_one_rank_ends_all_of_them(monkeypatch):
    from torsor.run.rank_runner import RankRunner

    catch_up = RankRunner._evaluate_new_outputs

    def fails(self):
        catch_up(self)
        if self.ranks.rank == 1 and self.outputs_evaluated > 1:
            raise ModelError("no more")

    monkeypatch.setattr(RankRunner, "_evaluate_new_outputs", fails)
    first, second = by_ranks(2, bush, until=3.0, outputs=300)
    assert isinstance(second, ModelError) and isinstance(first, RunError)
    assert "thread 1 (" in str(first) and "bodies of" in str(first) and "has ended: no more" in str(first)
    assert 1 < first.data.sizes["time"] < 300 and np.isfinite(first.data["position"]).all()


def test_divergence_is_told_on_all_ranks():
    """A step that is far too long for a stiff spring."""

    def model():
        model = bush()
        model.add(ts.SpringDamper("stiff", model["b1_0"], model["b1_2"], stiffness=1e9, damping=1e5, length=0.1))
        return model

    first, second = by_ranks(2, model, method="rkmk4", step=0.01)
    assert "fastest is" in str(first) and "of thread" in str(first) and first.data is not None
    assert str(first).split("stopped")[1].split(".")[0] in str(second)


@pytest.mark.parametrize(
    "count, options, told",
    [
        (9, {}, "model 'bush' cannot be shared out among 9"),
        (2, {"formulation": "absolute"}, "formulation 'absolute' is not supported with threads; use 'hierarchical'"),
        (
            2,
            {"method": "implicit-midpoint", "step": 0.01},
            "method 'implicit-midpoint' is not supported with threads; use one of",
        ),
        (2, {"checkpoint": "run"}, "not together with a checkpoint"),
    ],
)
def test_what_ranks_cannot_run_is_refused(count, options, told):
    for error in by_ranks(count, bush, **options):
        assert isinstance(error, OptionError) and told in str(error)


def test_models_that_are_small_or_not_made_of_numbers_are_refused(monkeypatch):
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "64")
    for error in by_ranks(2, bush):
        assert "model 'bush' cannot be run by threads: threads need a model of more than 64 bodies" in str(error)
    with pytest.raises(OptionError, match="ranks must be True or False, got 3"):
        ts.simulate(bush(), **SHORT, ranks=3)
