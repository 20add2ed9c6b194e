"""The part of a large system that one rank computes: its share, and the trunk, which every rank computes alike.

Bodies that are known to everybody come first, then those of the share. Joins of the share come first, then those of the trunk; to
these, a subtree of any share is a part whose D and r somebody has told (`system_schedule.py`).
"""

from typing import NamedTuple

import numpy as np

from .merging import Sort
from .plain_system import PlainSystem, Shown
from .plain_tree import PlainTree
from .shares import TRUNK
from .tree_schedule import starts


class Cut(NamedTuple):
    """Where the parts of a system that ranks have are cut from each other.

    rank, ranks   mine, and how many there are
    known         bodies that everybody knows: the first ones
    massive       bodies whose mass is mine or of the trunk
    mine          which bodies, loops and forces are mine
    counted       bodies whose energies I count: my own, and on rank 0 those of the trunk
    touched       of each rank: known bodies that are its own, or that further bodies of its share hang on
    joins         how many joins are mine: the first ones
    owners        of the subtrees, in their order: ranks
    roots         my join at the root of each, −1 for those of others
    borders       of the subtrees: bodies
    """

    rank: int
    ranks: int
    known: int
    massive: np.ndarray
    mine: "Mine"
    counted: np.ndarray
    touched: list
    joins: int
    owners: np.ndarray
    roots: np.ndarray
    borders: list

    def message(self, sizes):
        """What ranks tell each other about subtrees: so many numbers of each, and one more of every rank."""
        return Message(self, np.asarray(sizes, int))


class Mine(NamedTuple):
    bodies: np.ndarray
    loops: np.ndarray
    forces: np.ndarray


class Message:
    """Numbers of subtrees that ranks tell each other, and of each rank one more.

    counts   of numbers that each rank tells;   at, more: places of those of each subtree, and of each rank's last one
    """

    def __init__(self, cut, sizes):
        own = [sizes[cut.owners == rank] for rank in range(cut.ranks)]
        self.counts = [int(several.sum()) + 1 for several in own]
        first = starts(self.counts)
        self.at = np.concatenate([at + starts(several) for at, several in zip(first, own)]).astype(int)
        self.more = first + np.array(self.counts) - 1
        self.size = sum(self.counts)


class PartSystem(PlainSystem):
    """What a rank has of a whole system."""

    def __init__(self, whole, shares, rank, count):
        self.model, self.whole, self.shares = whole.model, whole, shares
        here = lambda owners: np.flatnonzero((owners == rank) | (owners == TRUNK))
        own = np.flatnonzero(~shares.known & (shares.bodies == rank))
        self.links_of_whole = np.concatenate([np.flatnonzero(shares.known), own])
        self.tree = PlainTree(whole.model, [whole.tree.branches[k] for k in self.links_of_whole.tolist()])
        self.rows_of_whole, self.forces_of_whole = here(shares.constraints), here(shares.forces)
        self.constraints = [whole.constraints[k] for k in self.rows_of_whole.tolist()]
        self.first_loop = int(np.count_nonzero(self.rows_of_whole < whole.first_loop))
        self.loops = self.constraints[self.first_loop :]
        self.acting = [whole.acting[k] for k in self.forces_of_whole.tolist()]
        self._traced()
        self.shown = self._shown()
        self.cut = self._cut(rank, count)

    def _shown(self):
        """Of what results hold, all that is here."""
        here = {id(x) for x in (*self.tree.bodies, *self.tree.joints, *self.constraints)}
        model = self.model
        return Shown(
            *([x for x in several if id(x) in here] for several in (model.bodies, model.joints, model.constraints))
        )

    def _cut(self, rank, count):
        shares, joins = self.shares, self.whole.merged
        owners = shares.bodies[self.links_of_whole]
        mine = Mine(
            owners == rank,
            shares.constraints[self.rows_of_whole[self.first_loop :]] == rank,
            shares.forces[self.forces_of_whole] == rank,
        )
        local = {int(k): i for i, k in enumerate(self.links_of_whole)}
        counted = mine.bodies | ((owners == TRUNK) & (rank == 0))
        touched: list = [
            {local[k] for k in np.flatnonzero(shares.known & (shares.bodies == r)).tolist()} for r in range(count)
        ]
        for k in np.flatnonzero(~shares.known).tolist():
            parent = self.whole.tree.parents[k]
            if parent >= 0 and shares.known[parent]:
                touched[shares.bodies[k]].add(local[parent])
        self.own = np.flatnonzero(shares.joins == rank)
        return Cut(
            rank, count, int(shares.known.sum()), np.flatnonzero((owners == rank) | (owners == TRUNK)), mine, counted,
            [sorted(bodies) for bodies in touched], len(self.own),
            shares.joins[shares.roots].astype(int),
            np.array([np.searchsorted(self.own, j) if shares.joins[j] == rank else -1 for j in shares.roots], int),
            [[local[b] for b in joins.border_of(j)] for j in shares.roots],
        )  # fmt: skip

    @property
    def merged(self):
        """My joins, then those of the trunk."""
        whole, roots = self.whole.merged, np.array(self.shares.roots, int)
        order = np.concatenate([self.own, np.flatnonzero(self.shares.joins == TRUNK)])
        sorts, old = whole.sorts[order], whole.parts[order]
        body, join, share = sorts == Sort.BODY, sorts == Sort.JOIN, np.isin(old, roots) & (sorts == Sort.JOIN)
        parts = np.full(old.shape, -1)
        parts[body] = places(self.links_of_whole, self.whole.tree.n)[old[body]]
        parts[join] = places(order, whole.size)[old[join]]
        parts[share], sorts = places(roots, whole.size)[old[share]], np.where(share, Sort.SHARE, sorts)
        constraint = places(self.rows_of_whole, len(self.whole.constraints))[whole.constraint[order]]
        return whole._replace(
            constraint=constraint, sorts=sorts, parts=parts, kinds=whole.kinds[order], first=None, border=None
        )

    @property
    def parts(self):
        """Parts of my forces."""
        return [self.whole.parts[k] for k in self.forces_of_whole.tolist()]

    # places in the whole

    def state_of_whole(self):
        """Where my state is in that of the whole."""
        tree = self.whole.tree
        q, v = (self._of_links(tree.sizes(what)) for what in ("size", "dimension"))
        size, speed = (int(tree.sizes(what).sum()) for what in ("size", "dimension"))
        return np.concatenate([q, size + v, [size + speed]])

    def rate_of_whole(self):
        """Where the rate of my state is in that of the whole."""
        sizes = self.whole.tree.sizes("dimension")
        v, n = self._of_links(sizes), int(sizes.sum())
        return np.concatenate([v, n + v, [2 * n]])

    def _of_links(self, sizes):
        return several(starts(sizes)[self.links_of_whole], sizes[self.links_of_whole])

    def rows_of_loops(self):
        """Where the rows of my loops are among those of all loops."""
        sizes = self.whole.loop_sizes
        own = self.rows_of_whole[self.first_loop :] - self.whole.first_loop
        return several(starts(sizes)[own], sizes[own])


def places(chosen, count):
    """The place of each of so many things among chosen ones; −1 for all others."""
    found = np.full(count, -1)
    found[chosen] = np.arange(len(chosen))
    return found


def several(first, sizes):
    """All places of blocks that begin at `first`."""
    return np.repeat(first - starts(sizes), sizes) + np.arange(int(np.sum(sizes)))
