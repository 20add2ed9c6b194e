"""The oriented graph of a model: bodies are vertices, joints are edges, all grounds are one root.

A spanning tree carries the joint coordinates; the joints that are left close loops ("cut joints"). The tree is grown level
by level from the root, so that loops stay short, and within a level joints with few free motions come first, so that what
is cut has few constraints. A body that no joint holds hangs on the root by a free joint. Müller and Terze, sec. 2.1
[mueller2009].
"""

from dataclasses import dataclass

from ..joints import Free, Joint


@dataclass(frozen=True, eq=False)
class Branch:
    """One body in the tree: the joint that carries it, and the body it hangs on (None: the root)."""

    body: object
    joint: Joint
    parent: object
    reversed: bool  # the body is the joint's first one


@dataclass(frozen=True, eq=False)
class Topology:
    """Branches in an order in which parents come first, and the joints that close loops."""

    branches: list
    cut: list

    def path(self, body):
        """Joints from the root to a body."""
        by_body = {id(b.body): b for b in self.branches}
        found = []
        while body is not None and id(body) in by_body:
            found.append(by_body[id(body)].joint)
            body = by_body[id(body)].parent
        return found[::-1]

    def loops(self):
        """For each cut joint, the joints of its fundamental loop, the cut one last."""
        found = []
        for joint in self.cut:
            one, two = self.path(joint.first), self.path(joint.second)
            apart = [j for j in one if j not in two] + [j for j in two if j not in one]
            found.append([*apart, joint])
        return found


def spanning_tree(model):
    """The topology of a model; free joints that it adds belong to no model and have no rows."""
    grounds = {id(g) for g in model.grounds}
    inside = lambda body: id(body) in grounds
    branches, used, reached, level = [], set(), set(), [None]
    ends = lambda j: ((j.first, j.second, False), (j.second, j.first, True))
    while True:
        grown = []
        for joint in sorted(model.joints, key=lambda j: j.dof):
            if id(joint) in used:
                continue
            for near, far, backward in ends(joint):
                here = inside(near) if level == [None] else any(near is b for b in level)
                if here and not inside(far) and id(far) not in reached:
                    branches.append(Branch(far, joint, None if inside(near) else near, backward))
                    used.add(id(joint))
                    reached.add(id(far))
                    grown.append(far)
                    break
        level = grown
        if not level:
            loose = next((b for b in _heaviest_first(model) if id(b) not in reached), None)
            if loose is None:
                break
            branches.append(Branch(loose, Free(f"{loose.name}.free", model.ground, loose).located(), None, False))
            reached.add(id(loose))
            level = [loose]
    cut = [j for j in model.joints if id(j) not in used and not (inside(j.first) and inside(j.second))]
    return Topology(branches, cut)


def _heaviest_first(model):
    """Bodies in the order in which a floating tree would take its root: most joints first."""
    return sorted(model.bodies, key=lambda b: -sum(b in (j.first, j.second) for j in model.joints))
