"""Tableaus satisfy the conditions of their order: one for each rooted tree, whatever the equations are.

Φ(τ) = b · φ(τ) = 1/γ(τ),   φᵢ(τ) = Π (A φ(τₖ))ᵢ,   γ(τ) = |τ| Π γ(τₖ),   over the branches τₖ of τ   [hairer1993, sec. II.2]
"""

from functools import cache
from itertools import combinations_with_replacement
from math import prod

import numpy as np
import pytest
from scipy.integrate import DOP853

import torsor as ts
from torsor.methods.integrators.tableaus import Tableau

TABLEAUS = {key: cls for key, cls in ts.registered("integrator").items() if issubclass(cls, Tableau)}
TREES = (1, 1, 2, 4, 9, 20, 48, 115, 286)  # how many there are of each size


@cache
def trees(size):
    """All rooted trees with so many vertices, each as the sorted tuple of its branches."""
    return sorted({tuple(sorted(branches)) for branches in forests(size - 1, size - 1)}, key=repr)


def forests(size, largest):
    """All collections of trees with so many vertices together, none larger than `largest`."""
    if size == 0:
        yield ()
    for k in range(1, min(size, largest) + 1):
        for count in range(1, size // k + 1):
            for some in combinations_with_replacement(trees(k), count):
                yield from ((*some, *rest) for rest in forests(size - k * count, k - 1))


def vertices(tree):
    return 1 + sum(map(vertices, tree))


def density(tree):
    return vertices(tree) * prod(map(density, tree))


def stages(A, tree):
    return prod((A @ stages(A, branch) for branch in tree), start=np.ones(len(A)))


def misses(A, b, size):
    """How far the conditions of trees of this size are from satisfied, at most."""
    return max(abs(b @ stages(A, tree) - 1 / density(tree)) for tree in trees(size))


def order(A, b):
    """The order of a result with the weights b."""
    return next(size for size in range(1, 10) if misses(A, b, size) > 1e-13) - 1


def test_all_trees_are_there():
    assert [len(trees(k)) for k in range(1, 10)] == list(TREES)


@pytest.mark.parametrize("method", TABLEAUS)
def test_a_tableau_has_the_order_that_it_claims(method):
    A, b, _ = TABLEAUS[method].tableau()
    assert order(A, b) == TABLEAUS[method].order


@pytest.mark.parametrize(("method", "orders"), [("rkmk54", (4,)), ("dop853", (5, 3))])
def test_results_that_estimate_the_error_have_lower_orders(method, orders):
    cls = TABLEAUS[method]
    weights = [np.array(w, float) for w in (cls.embedded, cls.rough) if w is not None]
    assert tuple(order(cls.tableau()[0], w) for w in weights) == orders


def test_the_method_of_order_8_is_that_of_its_authors():
    tables, n = TABLEAUS["dop853"].tables(), DOP853.n_stages
    for ours, theirs in (
        ("A", DOP853.A),
        ("b", DOP853.B),
        ("c", DOP853.C),
        ("estimate", DOP853.E5[:n]),
        ("rough", DOP853.E3[:n]),
    ):
        assert np.abs(tables[ours] - theirs).max() < 1e-14
