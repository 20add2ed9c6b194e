"""Shares of a large system: all belongs to one of them or to the trunk, and they depend on each other by known bodies only."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torsor.errors import OptionError
from torsor.formulations.tables import elimination_order
from torsor.formulations.tables.elimination_order import Sort
from torsor.formulations.tables.shares import TRUNK, shares


def random_system(seed, n):
    """A random tree on a ground with some loops, forces and free bodies."""
    random = np.random.default_rng(seed)
    parents = np.array([random.integers(-1, k) if k else -1 for k in range(n)])
    free = (parents < 0) & (random.random(n) < 0.5)
    ends = [(int(p), k) for k, p in enumerate(parents) if not free[k]]
    pair = lambda: tuple(int(b) for b in random.integers(0, n, 2))
    ends += [(a, b) for a, b in (pair() for _ in range(n // 10)) if a != b]
    forces = [(a, b) for a, b in (pair() for _ in range(n // 8)) if a != b] + [(-1, int(random.integers(n)))]
    return parents, elimination_order.joins(n, ends, [""] * len(ends)), forces


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(2, 120), st.integers(1, 4))
def test_shares_depend_on_each_other_by_known_bodies_only(seed, n, count):
    parents, joins, forces = random_system(seed, n)
    try:
        found = shares(count, parents, joins, forces)
    except OptionError:
        assert count > 1 or not joins.size
        return
    place = {k for k in range(count)} | {TRUNK}
    assert set(found.bodies.tolist()) | set(found.joins.tolist()) | set(found.forces.tolist()) <= place
    assert np.all(found.known[found.bodies == TRUNK]) and len(found.bodies) == n
    for j in range(joins.size):  # a join finds what it needs in its share, or at the borders of others
        assert found.constraints[joins.constraint[j]] == found.joins[j]
        for sort, k in zip(joins.sorts[j], joins.parts[j]):
            if sort != Sort.NONE:
                share = found.bodies[k] if sort == Sort.BODY else found.joins[k]
                assert share == found.joins[j] or (found.joins[j] == TRUNK and sort == Sort.JOIN and k in found.roots)
        gone = set(joins.borders_of(j)) - set(joins.border_of(j))
        if found.joins[j] != TRUNK:  # accelerations of known bodies follow from the trunk alone
            assert not any(found.known[b] for b in gone)
    for j in found.roots:
        assert all(found.known[b] for b in joins.border_of(j))
    for b, parent in enumerate(parents):  # a motion is counted from what is known, or from the same share
        if parent >= 0:
            assert found.known[parent] or (found.bodies[parent] == found.bodies[b] and not found.known[b])
    for share, ends in zip(found.forces, forces):
        bodies = [b for b in ends if b >= 0]
        assert all(found.known[b] if share == TRUNK else found.bodies[b] == share for b in bodies)


def branched(trunk, branches, length):
    """A chain on a ground with chains hung on it."""
    parents = [-1, *range(trunk - 1)]
    for k in range(branches):
        first = len(parents)
        parents += [k * trunk // branches, *range(first, first + length - 1)]
    ends = [(p, k) for k, p in enumerate(parents)]
    return parents, elimination_order.joins(len(parents), ends, [""] * len(ends))


@pytest.mark.parametrize("count", [2, 3, 7])
def test_branches_are_shared_out_evenly(count):
    found = shares(count, *branched(50, 100, 50))
    work, trunk = found.work[:count], found.work[-1]
    assert work.max() < 1.1 * work.mean() and trunk < 0.05 * work.sum()


def test_one_share_has_nothing_above_it():
    found = shares(1, *branched(5, 3, 4))
    assert found.work[-1] == 0 and set(found.bodies) == {0}


def test_forces_between_shares_make_their_bodies_known():
    parents, joins = branched(4, 8, 30)
    apart = shares(2, parents, joins)
    inner = [int(np.flatnonzero((apart.bodies == k) & ~apart.known)[3]) for k in (0, 1)]
    found = shares(2, parents, joins, [tuple(inner), (-1, inner[0])])
    assert found.forces[0] == TRUNK and found.known[inner].all()


@pytest.mark.parametrize("count", [2, 9])
def test_what_cannot_be_shared_out_is_refused(count):
    with pytest.raises(OptionError, match=f"model 'rod' cannot be shared out among {count}"):
        shares(count, *branched(2, 0, 0), owner="model 'rod'")
