"""A run that begins again: whatever was run before, the same bits as of a run that is the first."""

import models
import numpy as np
import pytest
from models import four_bar

import torsor as ts
from torsor.look.dataset import dataset
from torsor.methods.projections import projection_of
from torsor.prepare.velocity_block import motion_of
from torsor.run.output_times import check_method_options
from torsor.run.reusable_run import PreparedRun
from torsor.run.task import Task

pytestmark = pytest.mark.filterwarnings("ignore::torsor.AccuracyWarning")  # some methods are for drafts
METHODS, FORMULATIONS = ts.registered("integrator"), ts.registered("formulation")
UNTIL, TIMES = 0.4, np.linspace(0, 0.4, 9)


def task(model, method="rkmk54", formulation="relative", step=None, projection="least-squares", **parameters):
    chosen = projection_of(projection)
    tolerance = check_method_options(model, method, step, None, "exp", chosen)
    return Task(model, UNTIL, step, method, formulation, chosen, tolerance, "exp", {}, parameters)


def driven(limit=False):
    """A closed loop with a motor, which stands on an input; its crank may hit a stop."""
    model = four_bar()
    model.add(ts.JointForce("motor", model["A"], value=model.input("torque", 0.3)))
    if limit:
        model.add(ts.Limit("stop", model["A"], upper=0.1, restitution=0.5))
    return model


def rods():
    """Two rods, a state that pushes them."""
    model = ts.Model("rods", gravity=(0, 0, -9.81))
    upper = model.body("upper", mass=1.0, inertia=(0.1, 0.1, 0.02), at=(0.5, 0, 0))
    lower = model.body("lower", mass=0.7, inertia=(0.05, 0.06, 0.02), at=(1.3, 0, 0))
    top = model.add(ts.Revolute("top", model.ground, upper, point=(0, 0, 0), axis=(0, 1, 0), start_rate=1.0))
    model.add(ts.Revolute("knee", upper, lower, point=(1, 0, 0), axis=(0, 1, 0.2)))
    heat = model.state("heat", rate=lambda x: 2.0 - x, start=0.5)
    model.add(ts.JointForce("push", top, value=heat * model.input("gain", 1.0)))
    return model


def ball():
    return models.ball(0.1, 0.3, angular_velocity=(1, 2, 3))


def belt():
    """Sticks and slips on a belt."""
    model = ts.Model("belt", gravity=(0, 0, -9.81))
    moving = model.add(ts.Ground("moving", at=(0.4 * ts.time, 0, 0)))
    block = model.body("block", mass=1.2, inertia=(0.1, 0.1, 0.1), velocity=(0.4, 0, 0))
    rail = model.add(ts.Prismatic("rail", moving, block, axis=(1, 0, 0)))
    model.add(ts.EnergyForce("spring", energy=250 * block.position[0] ** 2))
    model.add(ts.Friction("rub", rail, coefficient=0.05, static=0.1))
    return model


def same(one, other):
    assert one.status == other.status == "finished"
    for what in ("outputs", "p", "work", "events_energy"):
        assert np.array_equal(getattr(one, what), getattr(other, what), equal_nan=True), what
    assert one.counts == other.counts
    for what in ("time", "energy", "impulse") if one.events else ():
        assert np.array_equal(one.events[what], other.events[what], equal_nan=True), what
    assert list(one.events.get("name", ())) == list(other.events.get("name", ()))


def begins_again(given, at=4):
    """From its own start, from where it was in the middle, and from its own start again; each as of a run that is the first."""
    prepared, fresh = PreparedRun(given), PreparedRun(given)
    whole = prepared.run(TIMES)
    runner = prepared.runner
    q, v = motion_of(runner.built, prepared.own.state, TIMES[at], runner.out.x[at], runner.out.p[at])
    middle = {"t": TIMES[2], "q": q.copy(), "v": v.copy(), "p": runner.out.p[at].copy()}
    middle["p"][list(prepared.own.state.states)] = runner.out.x[at][len(q) + len(v) + 1 :]
    found = []
    for one in (prepared, fresh):
        one.reset(**middle)
        found.append(one.run(TIMES[2:]))
    same(*found)
    prepared.reset()
    same(prepared.run(TIMES), whole)
    assert not np.array_equal(found[0].outputs, whole.outputs[2:])
    return whole


@pytest.mark.parametrize("method", METHODS)
def test_a_method_begins_again_bit_for_bit(method):
    begins_again(task(driven(), method, step=0.01))
    if METHODS[method].adaptive():
        begins_again(task(rods(), method))


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_formulation_begins_again_bit_for_bit(formulation):
    begins_again(task(rods(), formulation=formulation))


@pytest.mark.parametrize("projection", ["partition", "baumgarte:alpha=20,beta=20"])
def test_a_projection_begins_again_bit_for_bit(projection):
    begins_again(task(driven(), projection=projection))


@pytest.mark.parametrize("method", ["rkmk54", "radau5", "abm4"])
@pytest.mark.parametrize("model", [lambda: driven(True), ball, belt], ids=["four-bar", "ball", "belt"])
def test_events_happen_again_bit_for_bit(model, method):
    step = 0.002 if method == "abm4" else None
    whole = begins_again(task(model(), method, "woronetz" if method == "radau5" else "relative", step))
    assert len(whole.events["time"]) > 0


def test_what_is_prepared_once_runs_as_simulate_does():
    """To the last bit, from the start of the model and from that of other parameters."""
    model = rods()
    prepared = PreparedRun(task(model))
    for values in ({}, {"gain": 3.0}):
        other = PreparedRun(task(model, **values)).own
        prepared.reset(system=other)
        data = dataset(prepared.system, prepared.run(TIMES), prepared.task.options())
        direct = ts.simulate(model, UNTIL, TIMES, formulation="relative", parameters=values)
        for name in direct.data_vars:
            assert np.array_equal(direct[name], data[name]), name
