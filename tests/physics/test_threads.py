"""Threads that run a system together give what one gives, fail together, and never wait in vain."""

import threading

import numpy as np
import pytest
from together import bush

import torsor as ts
from torsor.errors import OptionError, RunError
from torsor.kernels.thread_exchange import Team
from torsor.look.dataset import UNIQUE

SHORT = {"until": 0.2, "outputs": 3, "formulation": "hierarchical"}


@pytest.fixture(autouse=True)
def every_size(monkeypatch):
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "0")
    monkeypatch.setattr("os.cpu_count", lambda: 4)


def test_threads_give_what_one_gives():
    alone, data = (ts.simulate(bush(), **SHORT, threads=n) for n in (1, 2))
    assert data.attrs["threads"] == 2 and data.attrs["steps"] == alone.attrs["steps"]
    for name in set(alone.data_vars) - set(UNIQUE):
        one, two = data[name].values, alone[name].values
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-12 * (1 + np.abs(two).max(initial=0.0)), err_msg=name)


def test_a_run_that_fails_is_told_and_kept():
    """Steps that are far too long make everything fly away; all threads end."""
    before = threading.active_count()
    with pytest.raises(RunError) as caught:
        ts.simulate(bush(), 5.0, outputs=30, formulation="hierarchical", method="rkmk4", step=0.25, threads=2)
    assert caught.value.data.sizes["time"] >= 1
    assert threading.active_count() == before


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "two", None, 64])
def test_what_is_no_number_of_threads(threads):
    with pytest.raises(OptionError, match="threads must"):
        ts.simulate(bush(), **SHORT, threads=threads)


def test_what_threads_cannot_run(monkeypatch):
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "64")
    with pytest.raises(OptionError, match="more than 64 bodies"):
        ts.simulate(bush(), **SHORT, threads=2)
    monkeypatch.setenv("TORSOR_TABLES_ABOVE", "0")
    with pytest.raises(OptionError, match="projection .* is not supported with threads"):
        ts.simulate(bush(), **SHORT, threads=2, projection="post")
    with pytest.raises(OptionError, match="not together with"):
        ts.simulate(bush(), **SHORT, threads=2, checkpoint="run")


def test_numbers_that_threads_tell_each_other():
    team, counts, failed = Team(3), np.array([2, 0, 1], np.int32), []

    def run(rank):
        for k in range(300):
            x = np.full(3, -1.0)
            x[[slice(0, 2), slice(0), slice(2, 3)][rank]] = k + rank
            team.exchange[rank](x.ctypes.data, counts.ctypes.data)
            y = np.array([rank, -rank, np.nan if rank == 1 else 0.0])
            team.agree[rank](y.ctypes.data, 3, 0)
            z = np.array([10.0 + rank])
            team.agree[rank](z.ctypes.data, 1, 1)
            if not (x == [k, k, k + 2]).all() or y[0] != 2 or y[1] != 0 or y[2] == y[2] or z[0] != 10:
                failed.append((rank, k, x, y, z))

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(3)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not failed


def test_nobody_waits_for_one_who_has_ended():
    team, x = Team(2), np.ones(2)
    waiting = threading.Thread(target=lambda: team.agree[0](x.ctypes.data, 2, 0))
    waiting.start()
    team.end()
    waiting.join(300)
    assert not waiting.is_alive() and np.isnan(x).all() and team.over
