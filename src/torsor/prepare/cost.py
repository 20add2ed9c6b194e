"""Cost of one evaluation of the equations of motion in each formulation, estimated by counting: nothing is derived.

    absolute     50 n + 16 Σ r (r + f)                     over the constraints, in an order of little fill       (1)
    tree         Σ c,  c = 110 for a free body, 30 for another first link, 60 for a link that is fixed to its
                 parent, else 200 (1 + d), half of it if the parent is a first link that is not free              (2)
    relative     tree, or with constraint rows that close loops  ½ tree + 4 Σ r s²                                (3)

n   bodies;  r: rows of a constraint that acts at the start;  f: rows of those that are coupled to it when it is eliminated
d   degrees of freedom of the joint that carries a link;  s: those of all joints between the root and the bodies of a constraint

Units are arithmetic operations. Coefficients are fitted to counts of compiled kernels, of the cases and of chains, stars, ladders,
arches and nets with joints of all kinds. With them (1) and (3) are right to a factor of 2. The largest errors occur for planar
mechanisms, which are cheaper in joint coordinates than (2) says. `bench/formulations.py` measures the benefit of the choice.

A run does more than evaluate: the projection onto the constraints after every step costs about as much as an evaluation, and a free
body takes up to twice as many steps on SE(3) as on R³ × SO(3):

    run   ∝ e (1 + 0.15 if there are rows) (1 + 0.6 × fraction of the bodies that are free, in joint coordinates) (4)

e   operations of an evaluation, (1) or (3)

Woronetz's equations have fewer operations than those of joint coordinates, but their projections have more, and a run checks its
partition of velocities wherever its conditioning becomes poor: a millisecond each time, also if no other partition is better. Runs
without such checks took 0.87 to 1.0 of the time in joint coordinates, runs with them 3 to 30 times as long. The hierarchical form
costs more than the better of the two others, unless it is run through tables. Neither is ever chosen by (4).
"""

import heapq

from ..model.topology import spanning_tree
from ..registry import registered

SIMPLEST = "absolute"  # the simpler formulation
MIN_COST_RATIO = 1.1  # cost of absolute / cost of joint coordinates: below this the simpler formulation is chosen


def cheapest_formulation(model):
    """The formulation that is cheapest to run by (4), its operations in an evaluation, and the reason for the choice."""
    count = OperationCount(model)
    declared = {key: cls for key, cls in registered("formulation").items() if cls.declares("estimated_cost")}
    estimates = {key: cls.estimated_cost(count) for key, cls in declared.items()}
    cheapest = min((key for key in declared if key != SIMPLEST), key=lambda key: estimates[key][1])
    key, other = SIMPLEST, cheapest
    if estimates[SIMPLEST][1] > MIN_COST_RATIO * estimates[cheapest][1]:
        key, other = cheapest, SIMPLEST
    operations = estimates[key][0]
    where = declared[other].coordinates
    numbers = f"about {_two_digits(operations)} operations an evaluation, {_two_digits(estimates[other][0])} in {where} coordinates"
    return key, operations, f"{count.description()}: {numbers}"


def _two_digits(x):
    """A count of operations, rounded to two significant digits, as text."""
    return f"{float(f'{max(x, 1):.2g}'):,.0f}"


class OperationCount:
    """Estimated operations of a model.

    rows      number of rows of every constraint that acts at the start and has any, by its place in `acting`
    touching  places of these constraints, by the identity of the bodies that they act on
    closing   places of the constraints that do not carry a link of the spanning tree
    """

    def __init__(self, model):
        self.model = model
        self.tree = spanning_tree(model)
        self.acting = [c for c in model.constraints if c.acts is not False]
        counts = {k: _row_count(c) for k, c in enumerate(self.acting)}
        self.rows = {k: r for k, r in counts.items() if r}
        carrying = {id(branch.joint) for branch in self.tree.branches}
        self.closing = [k for k in self.rows if id(self.acting[k]) not in carrying]
        self.touching: dict = {}
        for k in self.rows:
            for body in _bodies_of(self.acting[k], model):
                self.touching.setdefault(id(body), []).append(k)

    def absolute(self):
        """Operations of an evaluation in absolute coordinates: (1)."""
        ground = {id(g) for g in self.model.grounds}
        coupled = [places for body, places in self.touching.items() if body not in ground]
        return 50 * len(self.model.bodies) + 16 * sum(r * (r + f) for r, f in elimination_fill(self.rows, coupled))

    def relative(self):
        """Operations of an evaluation in joint coordinates: (3)."""
        first = {id(b.body) for b in self.tree.branches if b.parent is None and b.joint.dof < 6}
        links = sum(_link(branch) * (0.5 if id(branch.parent) in first else 1) for branch in self.tree.branches)  # (2)
        if not self.closing:
            return links
        return 0.5 * links + 4 * sum(self.rows[k] * self._path_freedom(self.acting[k]) ** 2 for k in self.closing)

    def run_cost(self, operations, has_rows):
        """Cost of a run by (4), without the factor of free bodies."""
        return operations * (1.15 if has_rows else 1.0)

    def step_ratio(self):
        """Number of steps in joint coordinates over that in absolute ones: last factor of (4)."""
        return 1 + 0.6 * len(self._free()) / len(self.model.bodies)

    def description(self):
        """The kind of the model, as text."""
        free = len(self._free())
        n = len(self.model.bodies)
        if free == n and not self.rows:
            return "a free body" if n == 1 else f"{n} free bodies"
        if not self.closing:
            return f"a tree of {n} {'body' if n == 1 else 'bodies'}"
        velocities = sum(branch.joint.dof for branch in self.tree.branches)
        closing = sum(self.rows[k] for k in self.closing)
        rows = "1 constraint row" if closing == 1 else f"{closing} constraint rows"
        return f"a tree with {velocities} velocities, and {rows} in addition to its joints"

    def _free(self):
        """Branches of free bodies."""
        return [branch for branch in self.tree.branches if branch.joint.dof == 6]

    def _path_freedom(self, constraint):
        """s of a constraint: degrees of freedom of the joints between the root and its bodies."""
        if constraint.driven_coordinate:
            joint, _ = constraint.driven_coordinate
            if any(b.joint is joint for b in self.tree.branches):
                return joint.dof
        paths = [self.tree.path(body) for body in _bodies_of(constraint, self.model)]
        return sum({id(joint): joint.dof for path in paths for joint in path}.values())


def _link(branch):
    """c of a link: (2)."""
    if branch.parent is None:
        return 110 if branch.joint.dof == 6 else 30
    return 200 * (1 + branch.joint.dof) if branch.joint.dof else 60


def _row_count(constraint):
    """Number of rows of a constraint, from the equations of its class if those are shared."""
    trace = constraint.trace() if constraint.connects_bodies else None
    return len((constraint.equations() if trace is None else trace).directions)


def _bodies_of(constraint, model):
    """The bodies and grounds that a constraint acts on; all bodies if it does not declare them."""
    if constraint.connects_bodies:
        return constraint.first, constraint.second
    if constraint.driven_coordinate:
        joint, _ = constraint.driven_coordinate
        return joint.first, joint.second
    if hasattr(constraint, "body"):
        return (constraint.body,)
    return tuple(getattr(constraint, "bodies", ()) or model.bodies)


def elimination_fill(sizes, groups):
    """Eliminate blocks one by one, always the one with the least fill. Yields the size of each block and its fill, which is the
    size of all blocks coupled to it at that moment.

    sizes    size of each block, by key
    groups   lists of blocks that are coupled to each other
    """
    coupled: dict = {k: set() for k in sizes}
    for blocks in groups:
        for k in blocks:
            coupled[k].update(blocks)
    for k in coupled:
        coupled[k].discard(k)

    def fill(k):
        return sum(sizes[other] for other in coupled[k])

    queue = [(fill(k), k) for k in sizes]
    heapq.heapify(queue)
    while queue:
        f, k = heapq.heappop(queue)
        if k not in coupled or f != fill(k):  # already eliminated, or an outdated entry
            continue
        yield sizes[k], f
        others = coupled.pop(k)
        for other in others:
            coupled[other] |= others
            coupled[other] -= {other, k}
            heapq.heappush(queue, (fill(other), other))
