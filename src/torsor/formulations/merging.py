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
        self.part = list(range(bodies))  # of each body, found by following
        self.left = [0] * bodies  # constraints still to come at each body
        self.at: dict[int, list[int]] = {k: [] for k in range(bodies)}  # constraints at each body
        for c, pair in enumerate(ends):
            for body in {b for b in pair if b is not None}:
                self.left[body] += 1
                self.at[body].append(c)
        self.border = {k: ([k] if self.left[k] else []) for k in range(bodies)}
        self.name = {k: ("body", k) for k in range(bodies)}
        self.found: list[Join] = []

    def _root(self, body):
        while self.part[body] != body:
            self.part[body] = self.part[self.part[body]]
            body = self.part[body]
        return body

    def _parts(self, c):
        return list(dict.fromkeys(self._root(b) for b in self.ends[c] if b is not None))

    def _after(self, c):
        """Parts of a constraint, and the border that stays when it is gone."""
        parts, touched = self._parts(c), {b for b in self.ends[c] if b is not None}
        border = [b for part in parts for b in self.border[part] if b not in touched or self.left[b] > 1]
        return parts, border

    def run(self):
        groups: dict[str, list[int]] = {}
        for c, path in enumerate(self.paths):
            groups.setdefault(path, []).append(c)
        for path in sorted(groups, key=lambda path: (-(path.count(".") + bool(path)), groups[path][0])):
            self._reduce(groups[path])
        return self.found

    def _reduce(self, constraints):
        """All constraints of one component, the smallest border first."""
        own, done = set(constraints), set()
        heap = [(len(self._after(c)[1]), c) for c in constraints]
        heapq.heapify(heap)
        while heap:
            size, c = heapq.heappop(heap)
            if c in done:
                continue
            parts, border = self._after(c)
            if len(border) != size:  # something has changed since
                heapq.heappush(heap, (len(border), c))
                continue
            done.add(c)
            shrunk = any(len(border) < len(self.border[part]) for part in parts)
            self._join(c, parts, border)
            for other in {other for b in border if shrunk or self.left[b] == 1 for other in self.at[b]}:
                if other in own and other not in done:
                    heapq.heappush(heap, (len(self._after(other)[1]), other))

    def _join(self, c, parts, border):
        borders = tuple(tuple(self.border[part]) for part in parts)
        where = {b: (i, k) for i, several in enumerate(borders) for k, b in enumerate(several)}
        ends = tuple(None if b is None else where[b] for b in self.ends[c])
        names = tuple(self.name[part] for part in parts)
        self.found.append(Join(c, names, borders, ends, tuple(where[b] for b in border), tuple(border)))
        for b in {b for b in self.ends[c] if b is not None}:
            self.left[b] -= 1
        for part in parts[1:]:
            self.part[part] = parts[0]
            del self.border[part]
        self.border[parts[0]], self.name[parts[0]] = border, ("join", len(self.found) - 1)
