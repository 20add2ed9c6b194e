"""A study that is interrupted ends soon, also in the middle of a long run, and wherever its runs are carried out."""

import concurrent.futures
import os
import pickle

import numpy as np
import pytest

import torsor as ts
from torsor.run.events.event_runner import EventRunner
from torsor.studies import job_dispatch
from torsor.studies.cancellation import Stop
from torsor.studies.run_request_batch import version
from torsor.studies.run_session import INTERRUPTED, Session

LONG = 1e7  # seconds of a run that would take minutes


@pytest.fixture(scope="module")
def session():
    """Of a pendulum that is driven by a clock, so that its runs are carried out one by one."""
    model = ts.Model("driven", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=model.parameter("m", 1.0), inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    hinge = model.add(ts.Revolute("hinge", model.ground, bob, axis=(0, 1, 0)))
    push = ts.Controller("push", 0.1, [hinge.rate], ["torque"], lambda t, u: [-0.1 * u[0]], compiled=True)
    model.add(ts.JointForce("motor", hinge, model.add(push)["torque"]))
    held = []
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Session, "carry_out", lambda self, *given: held.append(self) or stopped())
        ts.study(model, LONG, {"m": [1.0, 2.0, 3.0]}, reduce="last", executor=1)
    return held[0]


def stopped():
    raise KeyboardInterrupt


def after(count):
    """What says so when it is asked for the last of so many times."""
    asked = []
    return lambda: asked.append(1) or len(asked) >= count


VALUES = np.array([[1.0], [2.0], [3.0]])


def test_a_long_run_is_left_in_the_middle(session):
    portion = session.carry_out(0, VALUES, (), after(4))
    assert portion.messages == [INTERRUPTED] * 3
    assert portion.counts["steps"][0] > 0 and 0 < portion.counts["time_reached"][0] < LONG
    assert list(portion.counts["steps"][1:]) == [0, 0]


def test_ctrl_c_in_a_process_of_a_pool_ends_all_runs_that_it_has(session, monkeypatch):
    monkeypatch.setattr(EventRunner, "_advance", lambda self, budget: stopped())
    with pytest.raises(KeyboardInterrupt):
        session.carry_out(0, VALUES)


def test_other_processes_see_a_file_until_they_are_done(session):
    stop, future = Stop(), concurrent.futures.Future()
    mark = pickle.loads(pickle.dumps(stop.file))
    assert not stop() and not mark()
    stop.set([future])
    assert stop() and mark()
    portion = pickle.loads(job_dispatch.run_in_worker_process(version(), session.request.pack(), mark, 0, VALUES, ()))
    assert portion.messages == [INTERRUPTED] * 3 and not portion.counts["steps"].any()
    future.set_result(None)
    assert stop() and not mark() and not os.path.exists(mark.path)


def test_what_was_left_in_the_middle_is_not_kept_as_done(session, tmp_path, monkeypatch):
    """The first portion is whole, the second breaks off after its first run."""
    model, carry_out, count = session.request.model, Session.carry_out, []

    def carried(self, first, values, pushes, stop):
        count.append(first)
        return carry_out(self, first, values, pushes, stop if len(count) < 2 else after(4))

    asked = {"parameters": {"m": np.linspace(1, 2, 12)}, "reduce": "last", "store": tmp_path, "executor": 1}
    monkeypatch.setattr(job_dispatch, "SMALL_STUDY_RUNS", 0)
    monkeypatch.setattr(Session, "carry_out", carried)
    data = ts.study(model, 1.0, **asked)
    left = (data.message == INTERRUPTED).values
    assert left.any() and not left.all() and not left[: job_dispatch.FIRST_PORTION_RUNS].any()
    monkeypatch.undo()
    whole = ts.study(model, 1.0, **asked)
    assert whole.attrs["failed"] == 0
    np.testing.assert_array_equal(whole.energy.values[~left], data.energy.values[~left])
