"""The elimination order of the constraints of a large system.

Initially every body is a part. A constraint joins the parts that contain its ends into one part. The border of a part consists of
its bodies that are ends of constraints which are not yet eliminated. Borders must stay small: inside a component the next
constraint is the one that leaves the smallest border. Components are reduced from the innermost outwards, so that a component
is one part before constraints outside of it are eliminated. An order of elimination given by the
user makes groups, which are components, too (`formulations/component_paths.py`). A chain is eliminated from its
ends, which is the articulated-body
recursion; components inside components are the hierarchy of Vlasenko, sec. 2.6 [vlasenko2006].
"""

import heapq
from array import array
from enum import IntEnum
from typing import NamedTuple

import numpy as np


class Sort(IntEnum):
    """What a part of a join is."""

    NONE = 0  # there is no second one
    BODY = 1
    JOIN = 2
    SHARE = 3  # a subtree of some rank (`rank_system.py`)


BODY, JOIN = int(Sort.BODY), int(Sort.JOIN)


class Form(NamedTuple):
    """The form of a join: joins of one form have parts of the same sort and size, connected at the same positions.

    alone   for each part True if it is a single body
    sizes   number of bodies in the border of each part
    ends    for each end of the constraint the part and the position in its border; None for a ground
    kept    the border of the join: part and position of each body
    """

    alone: tuple
    sizes: tuple
    ends: tuple
    kept: tuple


class Joins(NamedTuple):
    """All joins in the order of elimination, as arrays with one row per join.

    constraint     index of the constraint
    sorts, parts   two columns each: the sort of each part, and its index among parts of this sort
    kinds          index of the form in `forms`
    first, border  offset of the border in `border`, and the bodies of all borders
    """

    constraint: np.ndarray
    sorts: np.ndarray
    parts: np.ndarray
    kinds: np.ndarray
    forms: list
    first: np.ndarray
    border: np.ndarray

    @property
    def size(self):
        """Number of joins."""
        return len(self.constraint)

    def border_of(self, join):
        """Bodies in the border of a join."""
        return self.border[self.first[join] : self.first[join + 1]].tolist()

    def borders_of(self, join):
        """Bodies in the borders of the parts of a join."""
        found: list = []
        for sort, part in zip(self.sorts[join].tolist(), self.parts[join].tolist()):
            found += [part] if sort == Sort.BODY else self.border_of(part) if sort == Sort.JOIN else []
        return found


def joins(bodies, ends, paths):
    """The joins of all constraints in the order of elimination.

    bodies   number of bodies
    ends     numbers of the two bodies of each constraint, negative for grounds
    paths    path of the component to which each constraint belongs
    """
    return _Merging(bodies, ends, paths).run()


class _Merging:
    def __init__(self, bodies, ends, paths):
        self.ends, self.paths = ends, paths
        self.touched = [[b for b in ((x,) if x == y else (x, y)) if b >= 0] for x, y in ends]
        self.part = list(range(bodies))  # the part of each body, by union-find
        self.left = [0] * bodies  # number of constraints of each body that are not yet eliminated
        self.at: list[list[int]] = [[] for _ in range(bodies)]  # constraints of each body
        for c, several in enumerate(self.touched):
            for body in several:
                self.left[body] += 1
                self.at[body].append(c)
        self.border = [[k] if left else [] for k, left in enumerate(self.left)]
        self.join = [-1] * bodies  # index of the join that created each part, −1 for a body
        self.forms: dict = {}
        self.constraint, self.kinds, self.sorts, self.parts, self.kept = (array("i") for _ in range(5))
        self.ended = array("q", [0])

    def _root(self, body):
        part = self.part
        while part[body] != body:
            part[body] = part[part[body]]
            body = part[body]
        return body

    def _parts(self, c):
        """The parts that contain the ends of a constraint."""
        parts = [self._root(b) for b in self.touched[c]]
        return parts if len(parts) < 2 or parts[0] != parts[1] else parts[:1]

    def _after(self, c, parts):
        """The border that remains after the elimination of a constraint."""
        left, touched = self.left, self.touched[c]
        return [b for part in parts for b in self.border[part] if left[b] > 1 or b not in touched]

    def run(self):
        groups: dict[str, list[int]] = {}
        for c, path in enumerate(self.paths):
            groups.setdefault(path, []).append(c)
        for path in sorted(groups, key=lambda path: (-(path.count(".") + bool(path)), groups[path][0])):
            if len(groups[path]) > 1:
                self._reduce(groups[path])
            else:
                (c,) = groups[path]
                parts = self._parts(c)
                self._join(c, parts, self._after(c, parts))
        return self._columns()

    def _columns(self):
        pairs = lambda column: np.array(column).reshape(-1, 2)
        return Joins(
            np.array(self.constraint), pairs(self.sorts).astype(np.int8), pairs(self.parts), np.array(self.kinds),
            [Form(*form) for form in self.forms], np.array(self.ended), np.array(self.kept),
        )  # fmt: skip

    def _reduce(self, constraints):
        """Eliminate all constraints of one component, the one with the smallest remaining border first."""
        own, done = set(constraints), set()
        size_of = lambda c: len(self._after(c, self._parts(c)))
        heap = [(size_of(c), c) for c in constraints]
        heapq.heapify(heap)
        while heap:
            size, c = heapq.heappop(heap)
            if c in done:
                continue
            parts = self._parts(c)
            border = self._after(c, parts)
            if len(border) != size:  # the entry is outdated
                heapq.heappush(heap, (len(border), c))
                continue
            done.add(c)
            shrunk = len(border) < max([len(self.border[part]) for part in parts], default=0)
            self._join(c, parts, border)
            if len(done) == len(own):
                return
            for other in {other for b in border if shrunk or self.left[b] == 1 for other in self.at[b]}:
                if other in own and other not in done:
                    heapq.heappush(heap, (size_of(other), other))

    def _join(self, c, parts, border):
        where = {b: (i, k) for i, part in enumerate(parts) for k, b in enumerate(self.border[part])}
        ends = tuple([where.get(b) for b in self.ends[c]])
        names = [self.join[part] for part in parts]
        alone, sizes = tuple([name < 0 for name in names]), tuple([len(self.border[part]) for part in parts])
        form = alone, sizes, ends, tuple([where[b] for b in border])
        self.kinds.append(self.forms.setdefault(form, len(self.forms)))
        self.sorts.extend([BODY if own else JOIN for own in alone])
        self.parts.extend([part if name < 0 else name for part, name in zip(parts, names)])
        if len(parts) < 2:
            self.sorts.append(Sort.NONE)
            self.parts.append(-1)
        self.kept.extend(border)
        self.ended.append(len(self.kept))
        for b in self.touched[c]:
            self.left[b] -= 1
        for part in parts[1:]:
            self.part[part] = parts[0]
            self.border[part] = []
        self.border[parts[0]], self.join[parts[0]] = border, len(self.constraint)
        self.constraint.append(c)
