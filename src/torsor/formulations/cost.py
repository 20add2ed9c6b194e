"""What one evaluation of the equations of motion costs in each formulation, estimated from counting: nothing is derived.

    absolute     50 n + 16 Σ r (r + f)                     over the constraints, in an order of little fill       (1)
    tree         Σ c,  c = 110 for a free body, 30 for another first link, 60 for one that is fixed to its
                 parent, else 200 (1 + d), half of it on a first link that is held                                (2)
    relative     tree, or with rows besides those of its joints  ½ tree + 4 Σ r s²                                (3)

n   bodies;  r: rows of a constraint that acts at the start;  f: rows of those that are coupled to it when it is eliminated
d   degrees of freedom of the joint that carries a link;  s: those of all joints between the root and what a constraint touches

Units are arithmetic operations. Coefficients are fitted to counts of compiled kernels, of the cases and of chains, stars, ladders,
arches and nets with joints of all kinds; (1) and (3) are then right to a factor of 2, most of all in planar mechanisms, which are
cheaper in joint coordinates than (2) says. `bench/formulations.py` shows what the choice is worth.

A run does more than evaluate: constraints are projected on after every step, which costs about as much as an evaluation, and a free
body takes up to twice as many steps on SE(3) as on R³ × SO(3):

    run   ∝ e (1 + 0.15 where there are rows) (1 + 0.6 × part of the bodies that are free, in joint coordinates)  (4)

Woronetz's equations have fewer operations than those of joint coordinates, but their projections more, and a run looks at its
velocities anew where they become poor: a millisecond each time, whether others are better or not. Runs without such looks took 0.87
to 1.0 of the time in joint coordinates, runs with them 3 to 30 times as long. The hierarchical form costs more than the better of
the two others, unless it is run through tables. Both are never taken by (4).
"""

import heapq

from ..describe.topology import spanning_tree
from ..joints.base import Connection
from ..joints.free import Free
from ..joints.imposed import Drive

CLOSE = 1.1  # what is less than so many times cheaper is not worth the less simple formulation


def cheapest(model):
    """The formulation that is cheapest to run by (4), how many operations an evaluation has in it, and why it is taken."""
    count = Count(model)
    absolute, relative = count.absolute(), count.relative()
    ahead = count.run(absolute, bool(count.rows)), count.run(relative, bool(count.besides)) * count.drag()
    key = "relative" if ahead[0] > CLOSE * ahead[1] else "absolute"
    shown = lambda x: f"{float(f'{max(x, 1):.2g}'):,.0f}"
    one, two = (relative, absolute) if key == "relative" else (absolute, relative)
    other = "absolute" if key == "relative" else "joint"
    return (
        key,
        one,
        f"{count.words()}: about {shown(one)} operations an evaluation, {shown(two)} in {other} coordinates",
    )


class Count:
    """What is counted of a model.

    rows      of every constraint that acts at the start and has any, by its place
    touching  the same constraints by what they touch: body → places
    besides   those that carry no link of the spanning tree
    """

    def __init__(self, model):
        self.model, self.tree = model, spanning_tree(model)
        self.acting = [c for c in model.constraints if c.acts is not False]
        counted = {k: _rows(c) for k, c in enumerate(self.acting)}
        self.rows = {k: r for k, r in counted.items() if r}
        carrying = {id(branch.joint) for branch in self.tree.branches}
        self.besides = [k for k in self.rows if id(self.acting[k]) not in carrying]
        self.touching: dict = {}
        for k in self.rows:
            for body in _touched(self.acting[k], model):
                self.touching.setdefault(id(body), []).append(k)

    def absolute(self):
        """(1)"""
        ground = {id(g) for g in self.model.grounds}
        together = [places for body, places in self.touching.items() if body not in ground]
        return 50 * len(self.model.bodies) + 16 * sum(r * (r + f) for r, f in eliminated(self.rows, together))

    def relative(self):
        """(3)"""
        held = {id(b.body) for b in self.tree.branches if b.parent is None and not isinstance(b.joint, Free)}
        links = sum(_link(branch) * (0.5 if id(branch.parent) in held else 1) for branch in self.tree.branches)  # (2)
        if not self.besides:
            return links
        return 0.5 * links + 4 * sum(self.rows[k] * self._between(self.acting[k]) ** 2 for k in self.besides)

    def run(self, operations, rows):
        """(4), but for what a free body adds."""
        return operations * (1.15 if rows else 1.0)

    def drag(self):
        """Steps in joint coordinates over those in absolute ones: (4)."""
        return 1 + 0.6 * len(self._free()) / len(self.model.bodies)

    def words(self):
        """What the model is."""
        free, n = len(self._free()), len(self.model.bodies)
        if free == n and not self.rows:
            return "a body that nothing holds" if n == 1 else f"{n} bodies that no joint holds"
        if not self.besides:
            return f"a tree of {n} {'body' if n == 1 else 'bodies'}"
        joints = sum(branch.joint.dof for branch in self.tree.branches)
        closing = sum(self.rows[k] for k in self.besides)
        rows = "1 row" if closing == 1 else f"{closing} rows"
        return f"a tree with {joints} velocities, and {rows} of constraints besides its joints"

    def _free(self):
        return [branch for branch in self.tree.branches if isinstance(branch.joint, Free)]

    def _between(self, constraint):
        """s of a constraint."""
        if isinstance(constraint, Drive) and any(b.joint is constraint.joint for b in self.tree.branches):
            return constraint.joint.dof
        paths = [self.tree.path(body) for body in _touched(constraint, self.model)]
        return sum({id(joint): joint.dof for path in paths for joint in path}.values())


def _link(branch):
    """c of a link: (2)."""
    if branch.parent is None:
        return 110 if isinstance(branch.joint, Free) else 30
    return 200 * (1 + branch.joint.dof) if branch.joint.dof else 60


def _rows(constraint):
    """How many rows a constraint has: those of its class, where constraints that are alike share their equations."""
    trace = constraint.traced() if isinstance(constraint, Connection) else None
    return len((constraint.equations() if trace is None else trace).directions)


def _touched(constraint, model):
    """The bodies and grounds that a constraint is about; all bodies, where it does not say so."""
    if isinstance(constraint, Connection):
        return constraint.first, constraint.second
    if isinstance(constraint, Drive):
        return constraint.joint.first, constraint.joint.second
    if hasattr(constraint, "body"):
        return (constraint.body,)
    return tuple(getattr(constraint, "bodies", ()) or model.bodies)


def eliminated(sizes, together):
    """Blocks eliminated one by one, the one with the least fill first: pairs of its size and of what it is coupled to then.

    together   places of blocks that are coupled to each other, for each thing that couples them
    """
    coupled: dict = {k: set() for k in sizes}
    for places in together:
        for k in places:
            coupled[k].update(places)
    for k in coupled:
        coupled[k].discard(k)
    fill = lambda k: sum(sizes[other] for other in coupled[k])
    waiting = [(fill(k), k) for k in sizes]
    heapq.heapify(waiting)
    while waiting:
        f, k = heapq.heappop(waiting)
        if k not in coupled or f != fill(k):  # it is gone, or waits with another fill
            continue
        yield sizes[k], f
        others = coupled.pop(k)
        for other in others:
            coupled[other] |= others
            coupled[other] -= {other, k}
            heapq.heappush(waiting, (fill(other), other))
