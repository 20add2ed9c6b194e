"""The partition of a large system among ranks or threads: shares, which are sets of subtrees of the tree of joins, and the trunk.

A join reduces the parts below it to its border (`elimination_order.py`), so that subtrees of the tree of joins depend on each
other only through their borders. A share is a set of subtrees; the joins above all of them are the trunk. Each element belongs
to one share or to the trunk:

    a join         to the share that contains its subtree
    a constraint   with its join
    a body         and its mass, with the join of which it is a part
    a force        to the share of all its bodies, or to the trunk if they belong to several

The motion of some bodies is `known`, which means that all ranks compute it: bodies in borders, bodies on which forces of the trunk
act, and all their ancestors in the spanning tree. Accelerations of known bodies must follow from the trunk alone. If a known body
is eliminated inside a subtree, the joins above it become part of the trunk.
"""

import heapq
from typing import NamedTuple

import numpy as np

from ...errors import OptionError
from .elimination_order import Sort

TRUNK = -1
BODY_WORK = 4  # work of a body; that of a join of two bodies is 9
FINE = 16  # approximate number of subtrees in a share, so that shares have similar work
EVERY = 1.1  # growth of the trunk between two evaluations of the partition


class Shares(NamedTuple):
    """The share of each body, constraint, force and join; TRUNK for the trunk.

    known   for each body True if all ranks compute its motion
    roots   joins at the roots of subtrees, in the order of shares
    work    work of every share, and last of the trunk, in arbitrary units
    """

    bodies: np.ndarray
    known: np.ndarray
    constraints: np.ndarray
    forces: np.ndarray
    joins: np.ndarray
    roots: list
    work: np.ndarray


def shares(count, parents, joins, forces=(), owner="the system"):
    """Partition a system into `count` shares with about the same work and a small trunk.

    parents   parent of each body in the spanning tree, −1 for a ground; parents come first
    joins     joins in the order of elimination (`elimination_order.Joins`)
    forces    for each force the bodies on which it acts; negative numbers for grounds
    """
    if not joins.size:
        raise OptionError(f"{owner} cannot be shared out among {count}: it has no joints or other constraints")
    tree = _Tree(len(parents), joins)
    best = None
    for pieces in _assignments(tree, count):
        found = _complete_partition(
            tree, np.asarray(parents), [[b for b in f if b >= 0] for f in forces], count, pieces
        )
        if np.all(found.work[:count] > 0) and (best is None or _cost(found) < _cost(best)):
            best = found
    if best is None:
        raise OptionError(
            f"{owner} cannot be shared out among {count}: it has too few parts that depend on others by few bodies"
        )
    return best


def _cost(found):
    return found.work[-1] + found.work[:-1].max()


class _Tree:
    """The tree of joins: for each join the joins and bodies below it and their work. Bodies that are in no join stand alone."""

    def __init__(self, bodies, joins):
        self.bodies, self.joins, count = bodies, joins, joins.size
        self.above = np.full(count, -1)
        self.below: list = [[] for _ in range(count)]
        self.leaves: list = [[] for _ in range(count)]
        for sort, found in ((Sort.JOIN, self.below), (Sort.BODY, self.leaves)):
            own = joins.sorts == sort
            for j, part in zip(np.nonzero(own)[0].tolist(), joins.parts[own].tolist()):
                found[j].append(part)
        self.gone = np.full(bodies, -1)  # the last join that has a body in the border of a part
        sizes = np.array([sum(form.sizes) for form in joins.forms], int)[joins.kinds]
        self.own = (1.0 + sizes) ** 2 + BODY_WORK * np.count_nonzero(joins.sorts == Sort.BODY, axis=1)
        self.total, self.first = np.zeros(count), np.zeros(count, int)
        for j in range(count):
            self.above[self.below[j]] = j
            self.gone[list(set(joins.borders_of(j)) - set(joins.border_of(j)))] = j
            self.total[j] = self.own[j] + self.total[self.below[j]].sum()
            self.first[j] = min([*self.leaves[j], *self.first[self.below[j]]])
        self.alone = sorted(set(range(bodies)) - {b for several in self.leaves for b in several})


def _assignments(tree, count):
    """Candidate partitions: for each the share of the roots of subtrees, and of bodies that stand alone.

    The root of the heaviest subtree is moved to the trunk until subtrees are small compared with a share."""
    heap = [(-tree.total[j], j) for j in np.flatnonzero(tree.above < 0)]
    heapq.heapify(heap)
    trunk, opened, look = 0.0, 0, 0.0
    rest = tree.total[tree.above < 0].sum() + BODY_WORK * len(tree.alone)
    best: dict = {}
    while True:
        heaviest = -heap[0][0] if heap else 0.0
        last = heaviest * FINE * count <= rest
        if opened >= look or last:
            look = max(opened + 1, EVERY * opened)
            for way in (_in_order, _by_weight):
                pieces = [(tree.first[j], -w, j) for w, j in heap] + [(b, BODY_WORK, ~b) for b in tree.alone]
                loads, found = way(sorted(pieces), count)
                if way not in best or trunk + max(loads) < best[way][0]:
                    best[way] = trunk + max(loads), found
        if last:
            return [found for _, found in best.values()]
        j = heapq.heappop(heap)[1]
        trunk, rest, opened = trunk + tree.own[j], rest - tree.own[j], opened + 1
        for k in tree.below[j]:
            heapq.heappush(heap, (-tree.total[k], k))


def _in_order(pieces, count):
    """Assign contiguous runs of pieces to the shares, so that neighbours stay together."""
    total, done, loads, found = sum(w for _, w, _ in pieces), 0.0, [0.0] * count, {}
    for _, w, what in pieces:
        share = min(int((done + w / 2) * count / total), count - 1)
        loads[share], found[what], done = loads[share] + w, share, done + w
    return loads, found


def _by_weight(pieces, count):
    """Assign the heaviest piece first, each to the share with the least work."""
    heap, loads, found = [(0.0, k) for k in range(count)], [0.0] * count, {}
    for _, w, what in sorted(pieces, key=lambda piece: (-piece[1], piece[0])):
        load, share = heapq.heappop(heap)
        heapq.heappush(heap, (load + w, share))
        loads[share], found[what] = load + w, share
    return loads, found


def _complete_partition(tree, parents, forces, count, pieces):
    """The complete partition from the shares of some subtrees; joins that known bodies require are moved to the trunk."""
    of = np.full(tree.joins.size, TRUNK)
    for j in range(tree.joins.size - 1, -1, -1):
        of[j] = pieces.get(j, of[tree.above[j]] if tree.above[j] >= 0 else TRUNK)
    known = np.zeros(tree.bodies, bool)
    while True:
        bodies = _owners(tree, of, pieces, known)
        before = known.copy()
        roots = [j for j in range(len(of)) if of[j] != TRUNK and (tree.above[j] < 0 or of[tree.above[j]] == TRUNK)]
        known |= bodies == TRUNK
        for j in roots:
            known[tree.joins.border_of(j)] = True
        for ends in forces:
            if len({bodies[b] for b in ends}) > 1:
                known[ends] = True
        for b in range(tree.bodies - 1, -1, -1):
            if parents[b] >= 0 and (known[b] or bodies[b] != bodies[parents[b]]):
                known[parents[b]] = True
        opened = _open(tree, of, known)
        if not opened and np.array_equal(before, known):
            break
    acting = np.array([bodies[ends[0]] if len({bodies[b] for b in ends}) == 1 else TRUNK for ends in forces], int)
    constraints = np.full(tree.joins.constraint.max(initial=-1) + 1, TRUNK)
    constraints[tree.joins.constraint] = of
    work = np.bincount(np.where(of < 0, count, of), tree.own, count + 1)
    work += np.bincount(np.where(bodies[tree.alone] < 0, count, bodies[tree.alone]), minlength=count + 1) * BODY_WORK
    return Shares(bodies, known, constraints, acting, of, sorted(roots, key=lambda j: (of[j], j)), work)


def _owners(tree, of, pieces, known):
    """The share of every body; known bodies that stand alone belong to the trunk."""
    bodies = np.full(tree.bodies, TRUNK)
    for j, several in enumerate(tree.leaves):
        bodies[several] = of[j]
    for b in tree.alone:
        bodies[b] = TRUNK if known[b] else pieces[~b]
    return bodies


def _open(tree, of, known):
    """Move joins to the trunk in which a known body is eliminated. Returns True if there were any."""
    opened = False
    for b in np.flatnonzero(known):
        j = tree.gone[b]
        while j >= 0 and of[j] != TRUNK:
            of[j], j, opened = TRUNK, tree.above[j], True
    return opened
