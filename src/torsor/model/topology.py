"""The oriented graph of a model: bodies are vertices, joints are edges, all grounds are one root.

A spanning tree carries the joint coordinates; the joints that are left close loops ("cut joints"). The tree is grown level
by level from the root, so that loops stay short, and within a level joints with few free motions come first, so that what
is cut has few constraints. A body that no joint holds hangs on the root by a free joint. A joint that events engage or
release carries no coordinates and is cut, so that the coordinates never change. Müller and Terze, sec. 2.1 [mueller2009].

A user chooses with `cut` of a joint: True, it closes a loop; False, it is in the tree. What cannot be is refused: tree joints
that form a loop, and cut joints without which nothing connects a body to the root.
"""

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..errors import ModelError
from ..joints import Joint
from ..joints.free import Free

ROOT = -1  # the number of all grounds, where bodies have theirs


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

    @cached_property
    def by_body(self):
        """The branch of each body, by its identity."""
        return {id(branch.body): branch for branch in self.branches}

    def path(self, body):
        """Joints from the root to a body."""
        found = []
        while body is not None and id(body) in self.by_body:
            found.append(self.by_body[id(body)].joint)
            body = self.by_body[id(body)].parent
        return found[::-1]

    def loops(self):
        """For each cut joint, the joints of its fundamental loop in the order round it, the cut one last."""
        found = []
        for joint in self.cut:
            one, two = self.path(joint.first), self.path(joint.second)
            shared = {id(j) for j in one} & {id(j) for j in two}
            found.append([*[j for j in [*two[::-1], *one] if id(j) not in shared], joint])
        return found


def spanning_tree(model):
    """The topology of a model; free joints that it adds belong to no model and have no rows."""
    if "topology" not in model.derived:
        model.derived["topology"] = _spanning_tree(model)
    return model.derived["topology"]


def _spanning_tree(model):
    bodies, joints = model.bodies, model.joints
    number = {id(body): k for k, body in enumerate(bodies)}
    ends = [(number.get(id(j.first), ROOT), number.get(id(j.second), ROOT)) for j in joints]
    touching = _touching(model, ends)
    pulled = _chosen_joints(model, ends)
    few = np.argsort([joint.dof for joint in joints], kind="stable")  # joints with few free motions come first
    rank = np.empty(len(joints), int)
    rank[few] = np.arange(len(joints))
    turn = rank.tolist().__getitem__
    branches, level = [], [ROOT]
    used: set[int] = set()
    reached = {ROOT}
    loose = iter(sorted(range(len(bodies)), key=lambda k: -len(touching[k])))  # most joints first

    def carry(j, here, far, backward):
        branches.append(Branch(bodies[far], joints[j], None if here == ROOT else bodies[here], backward))
        used.add(j)
        reached.add(far)
        grown.append(far)

    def follow(start):
        """Carry all bodies that joints of the tree by choice connect to one that is reached."""
        left = [start]
        while left and pulled:
            here = left.pop()
            for j in pulled.get(here, ()):
                if j not in used:
                    backward = ends[j][0] != here
                    carry(j, here, ends[j][0 if backward else 1], backward)
                    left.append(grown[-1])

    grown: list[int] = []
    follow(ROOT)
    level += grown
    while level:
        grown, current = [], set(level)
        for j in sorted({j for at in level for j in touching[at]} - used, key=turn):
            first, second = ends[j]
            for here, far, backward in ((first, second, False), (second, first, True)):
                if here in current and far not in reached:
                    carry(j, here, far, backward)
                    follow(far)
                    break
        level = grown
        if not level:
            root = next((k for k in loose if k not in reached), None)
            if root is not None:
                body = bodies[root]
                branches.append(Branch(body, Free(f"{body.name}.free", model.ground, body).attach(), None, False))
                reached.add(root)
                follow(root)
                level = [root, *grown]
    return Topology(branches, [j for k, j in enumerate(joints) if k not in used and ends[k] != (ROOT, ROOT)])


def _touching(model, ends):
    """Numbers of the joints at each body, and last at the root, that hold for good."""
    switched = {id(element) for element in model.switched_elements}
    found: list[list[int]] = [[] for _ in [*model.bodies, None]]
    for k, joint in enumerate(model.joints):
        for at in set(ends[k]) if id(joint) not in switched and not joint.cut else ():
            found[at].append(k)
    return found


def _chosen_joints(model, ends):
    """Numbers of the joints that are in the tree by choice (`cut=False`) at each body and at the root; refuses choices of
    which no spanning tree can be made."""
    chosen = [k for k, joint in enumerate(model.joints) if joint.cut is not None]
    if not chosen:
        return {}
    joints, switched = model.joints, {id(element) for element in model.switched_elements}
    found: dict[int, list[int]] = {}
    parts = Parts(len(model.bodies))
    for k in chosen:
        if joints[k].cut:
            continue
        if id(joints[k]) in switched:
            raise ModelError(f"{joints[k].owner}: cut=False, but events engage or release it: such joints are cut")
        if not parts.join(*ends[k]):
            raise ModelError(f"{joints[k].owner}: cut=False, but joints with cut=False form a loop: cut one of them")
        for at in ends[k]:
            found.setdefault(at, []).append(k)
    for k, joint in enumerate(joints):
        if not joint.cut and id(joint) not in switched:
            parts.join(*ends[k])
    for k in chosen:
        if joints[k].cut and id(joints[k]) not in switched and parts.find(ends[k][0]) != parts.find(ends[k][1]):
            raise ModelError(
                f"{joints[k].owner}: cut=True, but no loop of joints is left that it closes: nothing else connects "
                f"{joints[k].first.name!r} and {joints[k].second.name!r}. Leave it in the tree, or add a joint between "
                "them, such as ts.Free"
            )
    return found


class Parts:
    """Bodies and the root in connected parts."""

    def __init__(self, bodies):
        self.leader = [*range(bodies), ROOT]

    def find(self, k):
        while self.leader[k] not in (k, ROOT):
            k = self.leader[k]
        return self.leader[k]

    def join(self, one, two):
        """Connect two parts; False where they are one already."""
        one, two = self.find(one), self.find(two)
        if one == two:
            return False
        one, two = (two, one) if one == ROOT else (one, two)
        self.leader[one] = two
        return True


def outline(model):
    """The graph of a model as plain data: names only.

    joints    each with the bodies it leads from and to, and whether it is in the tree or closes a loop ("cut")
    tree      each body with the body or ground that it hangs on, the joint that carries it (None: nothing does, it is free),
              whether that joint counts from the body to its parent, and its depth; a body is followed by all that hangs on it
    loops     the joints of each fundamental loop, the cut one last
    trees     the connected parts: their bodies, the grounds that hold them (none: floating), and their cut joints
    unheld    bodies that no joint and no constraint touches
    """
    topology, names = spanning_tree(model), {id(j) for j in model.joints}
    depth: dict = {}
    cut, rows = {id(j) for j in topology.cut}, []
    for branch in topology.branches:
        known = id(branch.joint) in names
        near = branch.joint.second if branch.reversed else branch.joint.first
        depth[id(branch.body)] = 1 + depth.get(id(branch.parent), 0)
        rows.append({
            "body": branch.body.name, "parent": near.name if known else None,
            "joint": branch.joint.name if known else None, "reversed": branch.reversed, "depth": depth[id(branch.body)],
        })  # fmt: skip
    return {
        "joints": [
            {"name": j.name, "type": j.key, "from": j.first.name, "to": j.second.name, "cut": id(j) in cut}
            for j in model.joints
        ],
        "tree": _nested_order(rows),
        "loops": [[j.name for j in loop] for loop in topology.loops()],
        "trees": _parts(model, topology),
        "unheld": _bodies_without_equations(model),
    }


def _nested_order(rows):
    """Bodies of a tree, each followed by all that hangs on it."""
    carried: dict = {}
    for row in rows:
        carried.setdefault(row["parent"] if row["depth"] > 1 else None, []).append(row)
    found, left = [], carried.get(None, [])[::-1]
    while left:
        found.append(left.pop())
        left += carried.get(found[-1]["body"], [])[::-1]
    return found


def _parts(model, topology):
    """Bodies that hang together by joints or by constraints between two bodies, and what holds them."""
    links = [c for c in model.constraints if c.connects_bodies and c.directions()]
    links += [j for j in model.joints if not j.directions()]
    grounds, leader = {id(g) for g in model.grounds}, {id(b): id(b) for b in model.bodies}

    def find(k):
        while leader[k] != k:
            leader[k] = k = leader[leader[k]]
        return k

    for link in links:
        ends = [id(b) for b in (link.first, link.second)]
        if not grounds & set(ends):
            leader[find(ends[0])] = find(ends[1])
    parts: dict = {}
    for body in model.bodies:
        parts.setdefault(find(id(body)), {"bodies": [], "grounds": [], "cut": []})["bodies"].append(body.name)
    for link in links:
        inner = [id(b) for b in (link.first, link.second) if id(b) not in grounds]
        part = parts[find(inner[0])]
        held = [b.name for b in (link.first, link.second) if id(b) in grounds and link.directions()]
        part["grounds"] += [name for name in held if name not in part["grounds"]]
        part["cut"] += [link.name] if any(link is j for j in topology.cut) else []
    return list(parts.values())


def _bodies_without_equations(model):
    """Names of bodies that no equation contains."""
    held, rest = set(), []
    for c in model.constraints:
        if not c.connects_bodies:
            stated = c.equations()
            rest.append(stated.velocity if stated.position is None else stated.position)
        elif c.directions():
            held |= {id(c.first), id(c.second)}
    symbols = {s.element_hash() for rows in rest for s in ca.symvar(rows)}
    occurs = lambda blocks: any(s.element_hash() in symbols for block in blocks for s in ca.symvar(block))
    for joint in model.joints if symbols else ():
        if occurs([joint.coordinate, joint.rate]):
            held |= {id(joint.first), id(joint.second)}
    return [b.name for b in model.bodies if id(b) not in held and not (symbols and occurs(b.symbols))]
