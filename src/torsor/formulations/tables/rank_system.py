"""The part of a large system that one rank computes: its share, and the trunk, which every rank computes.

Bodies whose motion all ranks compute come first, then those of the share. Joins of the share come first, then those of the trunk.
For the joins of the trunk, a subtree of any share is a part whose D and r come from its rank by an exchange (`join_passes.py`).
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from .elimination_order import Sort
from .numeric_system import NumericSystem, OutputElements
from .numeric_tree import NumericTree
from .row_classes import connections_among
from .shares import TRUNK
from .tree_schedule import block_indices, block_offsets


class Cut(NamedTuple):
    """The partition of a system among ranks, as one rank sees it.

    rank, ranks   index of this rank, and number of ranks
    known         number of bodies whose motion all ranks compute: the first ones
    massive       bodies whose mass belongs to this rank or to the trunk
    own           which bodies, constraints, loops, forces and efforts belong to this rank
    counted       bodies whose energies this rank sums up: its own, and on rank 0 also those of the trunk
    touched       for each rank: known bodies that belong to it or are parents of other bodies of its share
    joins         number of joins of this rank: the first ones
    owners        rank of each subtree
    roots         for each subtree the index of its root among the joins of this rank, −1 for subtrees of other ranks
    borders       for each subtree the bodies of its border
    """

    rank: int
    ranks: int
    known: int
    massive: np.ndarray
    own: "Owned"
    counted: np.ndarray
    touched: list
    joins: int
    owners: np.ndarray
    roots: np.ndarray
    borders: list

    def message(self, sizes):
        """The layout of an exchange with `sizes` numbers of each subtree, and one more of every rank."""
        return Message(self, np.asarray(sizes, int))


class Owned(NamedTuple):
    """For each body, constraint, loop, force and effort of dry friction whether it belongs to this rank."""

    bodies: np.ndarray
    constraints: np.ndarray
    loops: np.ndarray
    forces: np.ndarray
    efforts: np.ndarray


class Message:
    """The layout of an exchange: numbers of each subtree, and one more of each rank.

    counts   number of numbers that each rank sends
    at       offset of the numbers of each subtree
    extra    offset of the additional number of each rank, which is its last one
    """

    def __init__(self, cut, sizes):
        by_rank = [sizes[cut.owners == rank] for rank in range(cut.ranks)]
        self.counts = [int(own.sum()) + 1 for own in by_rank]
        first = block_offsets(self.counts)
        self.at = np.concatenate([at + block_offsets(own) for at, own in zip(first, by_rank)]).astype(int)
        self.extra = first + np.array(self.counts) - 1
        self.size = sum(self.counts)


class PartSystem(NumericSystem):
    """The part of a whole system that one rank computes.

    links_of_whole    indices of its links in the whole system
    rows_of_whole     of its constraints
    forces_of_whole   of its forces
    efforts_of_whole  of its efforts of dry friction
    """

    def __init__(self, whole, shares, rank, count):
        self.model = whole.model
        self.whole = whole
        self.shares = shares

        def select_own(owners):
            return np.flatnonzero((owners == rank) | (owners == TRUNK))

        own = np.flatnonzero(~shares.known & (shares.bodies == rank))
        self.links_of_whole = np.concatenate([np.flatnonzero(shares.known), own])
        self.tree = NumericTree(whole.model, [whole.tree.branches[k] for k in self.links_of_whole.tolist()])
        self.rows_of_whole = select_own(shares.constraints)
        count_of_forces = len(whole.forces)  # forces and efforts are shared out alike
        self.forces_of_whole = select_own(shares.forces[:count_of_forces])
        self.efforts_of_whole = select_own(shares.forces[count_of_forces:])
        self.owners_of_efforts = shares.forces[count_of_forces:][self.efforts_of_whole]
        self.constraints = [whole.constraints[k] for k in self.rows_of_whole.tolist()]
        self.first_loop = int(np.count_nonzero(self.rows_of_whole < whole.first_loop))
        self.loops = self.constraints[self.first_loop :]
        self.forces = [whole.forces[k] for k in self.forces_of_whole.tolist()]
        self.frictions = [whole.frictions[k] for k in self.efforts_of_whole.tolist()]
        self.groups = []
        self._trace_constraints()
        self.shown = self._output_elements()
        self.cut = self._cut(rank, count)

    def _output_elements(self):
        """Elements of this part that occur in the results."""
        here = {id(x) for x in (*self.tree.bodies, *self.tree.joints, *self.constraints)}
        model = self.model
        return OutputElements(
            *(
                [x for x in group if id(x) in here]
                for group in (model.bodies, model.joints, connections_among(model.constraints))
            )
        )

    def _cut(self, rank, count):
        shares = self.shares
        joins = self.whole.join_order
        owners = shares.bodies[self.links_of_whole]
        own = Owned(
            owners == rank,
            shares.constraints[self.rows_of_whole] == rank,
            shares.constraints[self.rows_of_whole[self.first_loop :]] == rank,
            shares.forces[self.forces_of_whole] == rank,
            self.owners_of_efforts == rank,
        )
        local = {int(k): i for i, k in enumerate(self.links_of_whole)}
        counted = own.bodies | ((owners == TRUNK) & (rank == 0))
        touched: list = [
            {local[k] for k in np.flatnonzero(shares.known & (shares.bodies == r)).tolist()} for r in range(count)
        ]
        for k in np.flatnonzero(~shares.known).tolist():
            parent = self.whole.tree.parents[k]
            if parent >= 0 and shares.known[parent]:
                touched[shares.bodies[k]].add(local[parent])
        self.own_joins = np.flatnonzero(shares.joins == rank)
        return Cut(
            rank, count, int(shares.known.sum()), np.flatnonzero((owners == rank) | (owners == TRUNK)), own, counted,
            [sorted(bodies) for bodies in touched], len(self.own_joins),
            shares.joins[shares.roots].astype(int),
            np.array([np.searchsorted(self.own_joins, j) if shares.joins[j] == rank else -1 for j in shares.roots], int),
            [[local[b] for b in joins.border_of(j)] for j in shares.roots],
        )  # fmt: skip

    def rank_of(self, element):
        """The rank that computes the motion of a body, or motion and reaction of a constraint; None if all ranks do."""
        whole, shares = self.whole, self.shares
        link = whole.link_of_joint.get(id(element), whole.link_of_body.get(id(element)))
        if link is not None:
            return None if shares.known[link] else int(shares.bodies[link])
        constraint = self.whole.index_of_constraint(element)
        if constraint is None or shares.constraints[constraint] == TRUNK:  # None: a ground
            return None
        return int(shares.constraints[constraint])

    def rank_of_reaction(self, connection):
        """The rank that computes the multipliers of a connection; None if all ranks do."""
        owner = self.shares.constraints[self.whole.index_of_constraint(connection)]
        return None if owner == TRUNK else int(owner)

    @property
    def join_order(self):
        """The joins of this rank, then those of the trunk."""
        whole = self.whole.join_order
        roots = np.array(self.shares.roots, int)
        order = np.concatenate([self.own_joins, np.flatnonzero(self.shares.joins == TRUNK)])
        sorts = whole.sorts[order]
        old = whole.parts[order]
        body = sorts == Sort.BODY
        join = sorts == Sort.JOIN
        share = np.isin(old, roots) & join
        parts = np.full(old.shape, -1)
        parts[body] = inverse_index(self.links_of_whole, self.whole.tree.n)[old[body]]
        parts[join] = inverse_index(order, whole.size)[old[join]]
        parts[share] = inverse_index(roots, whole.size)[old[share]]
        sorts = np.where(share, Sort.SHARE, sorts)
        constraint = inverse_index(self.rows_of_whole, len(self.whole.constraints))[whole.constraint[order]]
        return whole._replace(
            constraint=constraint, sorts=sorts, parts=parts, kinds=whole.kinds[order], first=None, border=None
        )

    @property
    def parts(self):
        """Parts of the forces of this rank."""
        return [self.whole.parts[k] for k in self.forces_of_whole.tolist()]

    @property
    def efforts(self):
        """Efforts of the dry friction of this rank."""
        return [self.whole.efforts[k] for k in self.efforts_of_whole.tolist()]

    # indices in the whole system

    def state_of_whole(self):
        """Indices of the state of this part in the state of the whole system."""
        tree = self.whole.tree
        q, v = (self.indices_of_links(tree.sizes(what)) for what in ("size", "dimension"))
        q_size, v_size = (int(tree.sizes(what).sum()) for what in ("size", "dimension"))
        return np.concatenate([q, q_size + v, [q_size + v_size]])

    def rate_of_whole(self):
        """Indices of the rate of the state of this part in that of the whole system."""
        sizes = self.whole.tree.sizes("dimension")
        v = self.indices_of_links(sizes)
        n = int(sizes.sum())
        return np.concatenate([v, n + v, [2 * n]])

    def indices_of_links(self, sizes):
        return block_indices(block_offsets(sizes)[self.links_of_whole], sizes[self.links_of_whole])

    @cached_property
    def velocities_of_whole(self):
        """Index of each velocity of this part among those of the whole system."""
        return self.indices_of_links(self.whole.tree.sizes("dimension"))

    # rows of loops: every rank numbers those of the whole system, and computes those of its part

    @property
    def loop_rows(self):
        """Number of rows of all loops of the whole system."""
        return self.whole.loop_rows

    @cached_property
    def loop_offsets(self):
        """Offset of the rows of each loop of this part among those of all loops."""
        return self.whole.loop_offsets[self.rows_of_whole[self.first_loop :] - self.whole.first_loop]

    def rows_of(self, loops):
        """Indices of the rows of some loops of this part among those of all loops."""
        return block_indices(self.loop_offsets[loops], self.loop_sizes[loops])

    @cached_property
    def shares_rows(self):
        """True if time loops read residuals of rows, because events may switch constraints."""
        return bool(self.model.events or self.model.switched_elements)

    @cached_property
    def shares_multipliers(self):
        """True if time loops read multipliers: steps of events with their own code may."""
        actions = [action for event in self.model.events for action in event.actions]
        return any(step.loop is not None for action in actions for step in action.steps(self.model))

    @cached_property
    def owners_of_rows(self):
        """The rank that computes each row of all loops for the others; rank 0 for the trunk."""
        owners = self.shares.constraints[self.whole.first_loop :]
        return np.repeat(np.where(owners == TRUNK, 0, owners), self.whole.loop_sizes)


def inverse_index(chosen, count):
    """For each of `count` elements its position in `chosen`; −1 if it is not in it."""
    positions = np.full(count, -1)
    positions[chosen] = np.arange(len(chosen))
    return positions
