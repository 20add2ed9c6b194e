"""The order in which a large system is reduced: constraint after constraint, parts grow together and shrink to their border.

At first every body is a part of its own. A constraint joins the parts that it touches to one, whose border are the bodies that
constraints still to come touch. What matters is that borders stay small: of the constraints inside a component the one is
taken next that leaves the smallest border, and components are reduced from the innermost outwards, so that a component is
one part with its own border before anything outside touches it. A chain is eaten up from its ends, which is the
articulated-body recursion; components inside components are the hierarchy of Vlasenko, sec. 2.6 [vlasenko2006].
"""

import heapq
from typing import NamedTuple


class Join(NamedTuple):
    """A constraint that joins parts.

    constraint   its place
    parts        one or two: ("body", k) or ("join", k)
    borders      of these parts: bodies
    ends         for each end of the constraint the part and the place in its border; None for a ground
    kept         the new border: part and place of each body
    border       the same as bodies
    """

    constraint: int
    parts: tuple
    borders: tuple
    ends: tuple
    kept: tuple
    border: tuple


def joins(bodies, ends, paths):
    """All joins in their order.

    bodies   how many there are
    ends     of each constraint: two bodies, None for a ground
    paths    of the component that each constraint belongs to
    """
    return _Merging(bodies, ends, paths).run()


class _Merging:
    def __init__(self, bodies, ends, paths):
        self.ends, self.paths = ends, paths
        self.touched = [tuple(dict.fromkeys(b for b in pair if b is not None)) for pair in ends]
        self.part = list(range(bodies))  # of each body, found by following
        self.left = [0] * bodies  # constraints still to come at each body
        self.at: list[list[int]] = [[] for _ in range(bodies)]  # constraints at each body
        for c, several in enumerate(self.touched):
            for body in several:
                self.left[body] += 1
                self.at[body].append(c)
        self.border = [[k] if left else [] for k, left in enumerate(self.left)]
        self.name = [("body", k) for k in range(bodies)]
        self.found: list[Join] = []

    def _root(self, body):
        part = self.part
        while part[body] != body:
            part[body] = part[part[body]]
            body = part[body]
        return body

    def _parts(self, c):
        """The parts that a constraint touches."""
        parts = [self._root(b) for b in self.touched[c]]
        return parts if len(parts) < 2 or parts[0] != parts[1] else parts[:1]

    def _after(self, c, parts):
        """The border that stays when a constraint is gone."""
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
        return self.found

    def _reduce(self, constraints):
        """All constraints of one component, the smallest border first."""
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
            if len(border) != size:  # something has changed since
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
        borders = tuple([tuple(self.border[part]) for part in parts])
        where = {b: (i, k) for i, several in enumerate(borders) for k, b in enumerate(several)}
        ends = tuple([None if b is None else where[b] for b in self.ends[c]])
        names = tuple([self.name[part] for part in parts])
        self.found.append(Join(c, names, borders, ends, tuple([where[b] for b in border]), tuple(border)))
        for b in self.touched[c]:
            self.left[b] -= 1
        for part in parts[1:]:
            self.part[part] = parts[0]
            self.border[part] = []
        self.border[parts[0]], self.name[parts[0]] = border, ("join", len(self.found) - 1)
