"""A pass of a schedule in which ranks tell each other numbers: each has all of them afterwards."""

import threading

import casadi as ca
import numpy as np
import pytest

from torsor.errors import OptionError
from torsor.formulations.schedules.schedule import Schedule
from torsor.kernels import build
from torsor.parallel.threads import Threads

x = ca.SX.sym("x")
SQUARE = ca.Function("square", [x], [x**2])


def squares(rank, counts):
    """The squares of all numbers of all ranks, of which each rank computes its own."""
    total, first = sum(counts), sum(counts[:rank])
    s = Schedule("k", {"x": counts[rank]}, {"y": total})
    every, own = s.reserve(total), np.arange(counts[rank])
    s.call([SQUARE], ["x", "memory"], np.zeros(len(own), int), [own, every + first + own])
    s.exchange("memory", every, counts)
    copy = ca.Function("copy", [x], [x])
    s.call([copy], ["memory", "y"], np.zeros(total, int), [every + np.arange(total), np.arange(total)])
    return s


@pytest.mark.parametrize("counts", [(3,), (2, 1), (1, 0, 4)])
def test_every_rank_has_the_numbers_of_all(counts):
    given = [np.random.default_rng(rank).standard_normal(n) for rank, n in enumerate(counts)]
    found = [None] * len(counts)

    def run(ranks):
        kernel = build({"k": squares(ranks.rank, counts)}, exchange=ranks.exchange)["k"]
        for _ in range(3):
            found[ranks.rank] = kernel(given[ranks.rank])[0]

    threads = [threading.Thread(target=run, args=(ranks,)) for ranks in Threads.create(len(counts))]
    [t.start() for t in threads], [t.join() for t in threads]
    for one in found:
        np.testing.assert_array_equal(one, np.concatenate(given) ** 2)


def test_code_depends_on_how_many_ranks_there_are_and_not_on_their_numbers():
    assert squares(0, (3, 2)).serialize() == squares(0, (1, 5)).serialize() != squares(0, (3, 2, 1)).serialize()


def test_an_exchange_needs_a_function_room_and_no_graph():
    s = squares(0, (1, 1))
    with pytest.raises(OptionError, match="'k' exchanges numbers between ranks"):
        build({"k": s})
    with pytest.raises(OptionError, match="has no graph"):
        s.unroll()
    for vector, place in (("x", 0), ("memory", 1), ("memory", -1), ("nothing", 0), ("constants", 0)):
        with pytest.raises(OptionError, match=f"'{vector}' has no space for an exchange at offsets {place} to"):
            s.exchange(vector, place, (1, 1))
