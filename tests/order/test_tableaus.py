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


class BogackiShampine(Tableau):
    """A pair of order 3(2) whose last stage is the end of the step."""

    order = 3
    A = ((), (1 / 2,), (0, 3 / 4), (2 / 9, 1 / 3, 4 / 9))
    b = (2 / 9, 1 / 3, 4 / 9, 0)
    embedded = (7 / 24, 1 / 4, 1 / 3, 1 / 8)


class HeunEuler(Tableau):
    """A pair of order 2(1) without such a stage."""

    order = 2
    A = ((), (1,))
    b = (1 / 2, 1 / 2)
    embedded = (1, 0)


class Spare(TABLEAUS["dop853"]):
    """What is left of an extension without further stages."""

    extra, dense = TABLEAUS["dop853"].extra[:1], TABLEAUS["dop853"].spare


EXTENDED = ((TABLEAUS["rkmk54"], 4), (Spare, 6), (TABLEAUS["dop853"], 7), (BogackiShampine, 3), (HeunEuler, 2))


def extended(cls, theta):
    """A of the extension of a pair, and its weights at a place within the step."""
    A, B = cls.extension()
    factors = [theta if j % 2 == 0 else 1 - theta for j in range(B.shape[1])]
    return A, B @ np.cumprod(factors)


@pytest.mark.parametrize(("cls", "within"), EXTENDED)
def test_extensions_have_their_order_everywhere_in_a_step(cls, within):
    """Φ(τ, θ) = θⁿ/γ(τ) for all trees of n vertices, up to this order and not beyond; the end of a step is the step."""
    for theta in (0.15, 0.5, 0.77):
        A, b = extended(cls, theta)
        off = [
            max(abs(b @ stages(A, tree) - theta**n / density(tree)) for tree in trees(n)) for n in range(1, within + 2)
        ]
        assert max(off[:-1]) < 1e-12 < 1e-6 < off[-1]
    A, b = extended(cls, 1.0)
    assert np.array_equal(b[: len(cls.b)], cls.b) and not b[len(cls.b) :].any()


def test_methods_without_an_estimate_and_high_orders_without_weights_have_no_extension():
    class Bare(TABLEAUS["rkmk54"]):
        dense = ()

    assert not TABLEAUS["rkmk4"].extension()[1].size and not Bare.extension()[1].size


def test_the_method_of_order_8_is_that_of_its_authors():
    tables, n = TABLEAUS["dop853"].tables(), DOP853.n_stages
    A = tables["A"]
    for ours, theirs in (
        (A[:n, :n], DOP853.A), (A[n + 1 :], DOP853.A_EXTRA), (tables["b"], DOP853.B), (tables["c"][:n], DOP853.C),
        (tables["estimate"], DOP853.E5[:n]), (tables["rough"], DOP853.E3[:n]), (tables["dense"][:, 3:].T, DOP853.D),
    ):  # fmt: skip
        assert np.abs(ours - theirs).max() < 1e-13
