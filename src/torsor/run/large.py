"""Large trees, prepared in numbers: nothing is written in symbols but one link of each class.

What a start, a system and the kernels of a run need follows from arrays (`formulations/plain_tree.py`). A tree that joints
alone hold and gravity alone moves, whose joints start with given coordinates and rates or at rest, is prepared like that.
Everything else is derived as ever.
"""

from dataclasses import asdict

import casadi as ca
import numpy as np

from .. import kernels
from ..describe import quantity
from ..describe.quantity import time
from ..formulations import tree_schedule
from ..formulations.classes import Turned
from ..formulations.fingerprint import fingerprint
from ..formulations.group_schedule import Manifold
from ..formulations.outputs import coordinate_labels, coordinate_units, layout
from ..formulations.plain_tree import PlainTree, declared
from ..formulations.scales import scales
from ..formulations.tree_outputs import outputs_of_tree
from ..joints import Joint
from ..lie import SE3, SO3, Rn, poses, se3
from .choice import Choice
from .system import System
from .waist import Layout

CLOSED = 1e-12  # poses of joints in the reference configuration that count as the same


def tree_of(model, formulation, signals):
    """The tree of a model in numbers, where it is large and all that this file asks for; else None."""
    if formulation != "relative" or len(model.bodies) <= tree_schedule.LARGE or not _plain(model, signals):
        return None
    tree = PlainTree(model)
    if len(tree.joints) != len(model.bodies) or {id(j) for j in model.joints} - {id(j) for j in tree.joints}:
        return None
    fine = tree.numbers is not None and all(
        _fits(model, joint, group) for joint, group in zip(tree.examples, tree.groups)
    )
    return tree if fine and _start(tree) is not None else None


def _plain(model, signals):
    """Whether a model is made of bodies, joints and gravity alone, all of it numbers, and its grounds stand still."""
    other = signals or model.forces or model.rules or model.events or model.switched or model.states or model.parameters
    if other or any(g.moves for g in model.grounds) or not model.gravity.is_constant():
        return False
    return all(isinstance(c, Joint) for c in model.constraints) and not any(b.particle for b in model.bodies)


def _fits(model, joint, group):
    """Whether the coordinates of a joint are numbers that results hold as they are, or a rotation; or it is no joint of the
    model, but that of a body that nothing holds."""
    if isinstance(group, SE3):
        return joint.name not in model
    return isinstance(group, SO3) or (declared(joint) and not joint.quasi)


def _start(tree):
    """q and v of the links as given; None where they have to be found."""
    q, v = [], []
    groups, together = [tree.groups[k] for k in tree.traces], _together(tree)
    for k, (joint, body, group) in enumerate(zip(tree.joints, tree.bodies, groups)):
        if isinstance(group, SE3):
            x, u = _free(tree, k, group)
            q.append(x)
            v.append(u)
            continue
        asked = body.start_velocity is not None or body.start_angular_velocity is not None
        if asked or not (together[k] or joint.start is not None):
            return None
        at, rate = (
            np.zeros(group.dimension) if given is None else quantity.numbers(given).ravel()
            for given in (joint.start, joint.start_rate)
        )
        q.append(at if isinstance(group, Rn) else np.array(group.exp(at)).ravel())
        v.append(rate)
    return np.concatenate(q), np.concatenate(v)


def _free(tree, k, group):
    """Pose and velocity of a body that nothing holds, in its own frame."""
    body, H = tree.bodies[k], poses.inverted(tree.ends[0][k]) @ tree.ends[1][k]
    given = lambda x: np.zeros(3) if x is None else quantity.numbers(x).ravel()
    speed = quantity.numbers(body.start_rotation).T @ given(body.start_velocity)
    twist = se3.twist(ca.SX(given(body.start_angular_velocity)), ca.SX(speed))
    return np.array(group.from_matrix(H)).ravel(), quantity.numbers(twist).ravel()


def _together(tree):
    """Whether the two frames of each joint are one in the reference configuration."""
    on_parent, on_body = tree.ends
    size = 1.0 + np.abs(on_parent).max(axis=(1, 2))
    return np.abs(on_parent - on_body).max(axis=(1, 2)) <= CLOSED * size


def prepared(tree, map, baumgarte, t):
    """The system of a tree, and its kernels."""
    model, (q, v), (mass, J) = tree.model, _start(tree), tree.weights
    state = Layout(len(q), len(v), 0)
    parts = layout(model, 0, [])
    turned, sizes = Turned(tree), scales(model, *tree.measured())
    joints = [j for j in model.joints if j.dof]
    names = [(joint.name, group) for joint, group in zip(tree.joints, (tree.groups[k] for k in tree.traces))]
    coordinates = [f"{name}[{k}]" if g.dimension > 1 else name for name, g in names for k in range(g.dimension)]
    nothing = lambda name, *inputs: ca.Function(name, [ca.SX.sym("x", n) for n in inputs], [ca.SX(0, 1)])
    built = kernels.build(
        {
            "factor": ca.Function("factor", [time, ca.SX.sym("x", state.x), ca.SX(0, 1)], [ca.SX(1)]),
            "rate": tree_schedule.Recursion(turned, state).schedule,
            **Manifold(tree.groups, tree.traces, state).kernels(map),
            "turns": nothing("turns", 1, state.x, 0),
            "spin": nothing("spin", 1, state.x, 0),
            "outputs": outputs_of_tree(turned, state, parts),
        },
        seldom=("outputs",),
    )
    system = System(
        sizes={"q": state.q, "v": state.v, "parameters": 0, "turns": 0, "multipliers": 0},
        bodies=[b.name for b in model.bodies],
        coordinates=coordinates,
        states=[],
        joint_coordinates=coordinate_labels(joints),
        coordinate_units=[unit for j in joints for unit in coordinate_units(j)],
        connections=[j.name for j in model.joints],
        layout=parts,
        signals=[],
        rows=[],
        choice=Choice(map, baumgarte, (), (), (), "mass", sizes.unit, ()),
        watches=0.0,
        redundant=[],
        shared=[],
        freedom=state.v,
        start_freedom=state.v,
        partition={},
        linear=_linear(tree),
        length=sizes.length,
        scales=asdict(sizes),
        mass=float(mass.sum()),
        inertia=float(np.trace(J, axis1=1, axis2=2).sum()),
        t=t,
        q=q.tolist(),
        v=v.tolist(),
        p=[],
        changes=[],
        fingerprint=fingerprint(model, {}),
    )
    return system, built


def _linear(tree):
    """1 for every velocity that is a length per time, 0 for an angular one."""
    kinds = []
    for joint, group in zip(tree.examples, tree.groups):
        if isinstance(group, SE3):
            S = ca.SX.eye(6)
        else:
            S = joint.motion(ca.SX.zeros(group.dimension))
        turning = se3.split(S)[0]
        kinds.append([0 if ca.sparsify(turning[:, k]).nnz() else 1 for k in range(group.dimension)])
    return [x for k in tree.traces for x in kinds[k]]
