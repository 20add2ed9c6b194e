"""Ctrl-C and SIGTERM: none is lost, what was computed is kept, and no process is left behind."""

import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import warnings

import pytest

import torsor as ts
from torsor.kernels import worker
from torsor.run import runner
from torsor.run.interrupt_signals import (
    Terminated,
    defer_signals,
    raise_signals_at_once,
    reraise_signals,
    stop_requested,
)

BENCH = pathlib.Path(__file__).parents[2] / "bench" / "interrupt.py"
_spec = importlib.util.spec_from_file_location("interrupt", BENCH)
interrupt = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(interrupt)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
PATIENCE = 20.0  # seconds that a machine with much else to do may take; the bench measures what a free one takes


def send(number=signal.SIGINT):
    os.kill(os.getpid(), number)


def swallowing(times):
    """Code that catches what a signal raises, several times, as libraries do in their callbacks."""
    for _ in range(times):
        try:
            until = time.monotonic() + 2.0
            while time.monotonic() < until:
                time.sleep(0.01)
        except KeyboardInterrupt:
            continue


# none is lost


def test_an_interruption_that_is_swallowed_is_raised_again_until_it_gets_out():
    with pytest.raises(KeyboardInterrupt), reraise_signals():
        threading.Timer(0.05, send).start()
        swallowing(3)
        raise AssertionError("it was lost")


def test_an_interruption_that_was_turned_into_another_error_comes_out_as_itself():
    with pytest.raises(KeyboardInterrupt), reraise_signals():
        try:
            send()
            time.sleep(1)
        except KeyboardInterrupt:
            raise TypeError("Wrong number or type of arguments") from None


def test_an_interruption_at_the_very_end_is_raised_there():
    with pytest.raises(KeyboardInterrupt), reraise_signals():
        try:
            send()
            time.sleep(1)
        except KeyboardInterrupt:
            pass


def test_handlers_of_a_user_are_called_and_restored():
    calls = []
    before = signal.signal(signal.SIGINT, lambda *_: calls.append(1))
    try:
        with reraise_signals():
            send()
        with defer_signals() as note:
            send()
            assert note.signal == signal.SIGINT and stop_requested()
        send()
    finally:
        mine = signal.signal(signal.SIGINT, before)
    assert calls == [1, 1] and mine.__name__ == "<lambda>" and not stop_requested()


def test_a_run_takes_note_of_a_signal_and_ends_at_once_while_it_derives_equations():
    with defer_signals() as note:
        send(signal.SIGTERM)
        assert note.signal == signal.SIGTERM
        with pytest.raises(KeyboardInterrupt), raise_signals_at_once():
            raise AssertionError("it was asked to end before")
    with defer_signals() as note, pytest.raises(KeyboardInterrupt), raise_signals_at_once():
        send()
        time.sleep(1)
    with defer_signals(), pytest.raises(KeyboardInterrupt):
        send()
        send()  # the second one
        time.sleep(1)


def test_other_threads_are_left_alone():
    found = []

    def job():
        with defer_signals() as note, reraise_signals(), raise_signals_at_once():
            found.append(note.signal)

    thread = threading.Thread(target=job)
    thread.start()
    thread.join()
    assert found == [None]


def test_a_signal_that_comes_too_late_to_stop_a_run_is_told(monkeypatch):
    collect = runner.Runner.collect

    def late(self, message):
        send()
        return collect(self, message)

    monkeypatch.setattr(runner.Runner, "collect", late)
    with pytest.warns(UserWarning, match="interrupted after the end of the run"):
        data = ts.simulate(ts.cases.load("pendulum"), 0.1)
    assert data.attrs["status"] == "finished" and data.attrs["interrupted_by"] == "SIGINT"


# soon


@pytest.mark.parametrize("model, formulation", [("four-bar", "absolute"), ("governor", "woronetz")])
def test_slices_of_a_run_are_short(model, formulation, monkeypatch):
    """Whatever a step costs: the loop comes back soon, with its outputs evaluated. All steps would take hours."""
    taken, advance = [], runner.Runner._advance

    def timed(self, budget):
        start = time.process_time()
        status = advance(self, budget)
        if budget:
            taken.append(time.process_time() - start)
            if sum(taken) > 1.5 and not stop_requested():
                send()
        return status

    monkeypatch.setattr(runner.Runner, "_advance", timed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = ts.simulate(ts.cases.load(model), 1e5, outputs=100_000, formulation=formulation)
    assert data.attrs["status"] == "interrupted" and data.sizes["time"] > 1
    assert max(taken) < PATIENCE


@pytest.mark.parametrize(
    "name, number, after",
    [
        ("Python, deriving", signal.SIGINT, 1.5),
        ("Python, deriving", signal.SIGKILL, 2.0),
        ("command line, deriving", signal.SIGTERM, 2.0),
        ("command line, running", signal.SIGTERM, 3.0),
        ("command line, in a folder", signal.SIGINT, 3.0),
    ],
)
def test_a_process_ends_with_the_usual_status_and_leaves_nothing_behind(name, number, after, monkeypatch):
    monkeypatch.setattr(interrupt, "LIMIT", PATIENCE)
    status, _, text, problems = interrupt.session(*interrupt.SESSIONS[name], number, after)
    assert not problems, text


ORPHAN = """
import sys, time
from torsor.kernels import worker
sleep = "from torsor.kernels import worker; worker.end_with_parent(); import time; time.sleep(60)"
with worker.start_worker(["-c", sleep], b"") as p:
    print(p.pid, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_worker_ends_with_its_parent_however_that_ends(number):
    parent = subprocess.Popen(
        [sys.executable, "-c", ORPHAN],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    child = int(parent.stdout.readline())
    parent.send_signal(number)
    parent.wait(PATIENCE)
    parent.stdout.close()
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and pathlib.Path(f"/proc/{child}").exists():
        time.sleep(0.02)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_workers_do_not_outlive_an_interruption():
    with pytest.raises(Terminated), worker.start_worker(["-c", "import time; time.sleep(60)"], b"") as process:
        raise Terminated
    assert process.poll() is not None
