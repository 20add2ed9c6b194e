"""The momentum that is conjugate to a joint's velocity, in the symbols of the bodies.

A joint of the spanning tree carries all bodies beyond it. With V = S v its twist, in the axes R and about the origin p of its
second frame, all of them move by S δv where v does, so that

    π = ∂T/∂v = Sᵀ (Rᵀ L, Rᵀ P),     P = Σ m ẋ,     L = Σ (x − p) × m ẋ + R J ω                       (1)

over these bodies, in every formulation; with the opposite sign where the tree leads from the joint's second body to its first.
"""

from ..describe.topology import spanning_tree
from ..errors import ModelError
from ..joints.conserved import angular_momentum
from ..lie import se3


def momentum_of(joint, model):
    """π of a joint: (1). Refused where the joint carries nothing in the tree: its velocity follows from others."""
    topology = spanning_tree(model)
    branch = next((branch for branch in topology.branches if branch.joint is joint), None)
    if branch is None:
        known = {id(j) for j in model.joints}
        names = (
            ", ".join(repr(b.joint.name) for b in topology.branches if id(b.joint) in known and b.joint.dof) or "none"
        )
        raise ModelError(
            f"{joint.owner}: it closes a loop, or events engage and release it, so that no momentum belongs to its velocity "
            f"alone; signals of momentum can be those of joints that carry the tree: {names}"
        )
    beyond = [b.body for b in topology.branches if any(j is joint for j in topology.path(b.body))]
    (_, _), (R, p) = joint.ends()
    S_w, S_v = se3.split(joint.motion(joint.coordinates(joint.relative_pose())))
    P = sum(body.momentum for body in beyond)
    found = S_w.T @ (R.T @ angular_momentum(beyond, about=p)) + S_v.T @ (R.T @ P)  # (1)
    return -found if branch.reversed else found
