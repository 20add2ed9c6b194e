"""The momentum that is conjugate to a joint's velocity, in the symbols of the bodies.

With V = S v the twist of a joint of the spanning tree, in the axes R and about the origin p of its second frame, a change δv
moves all bodies beyond the joint by S δv, so that

    π = ∂T/∂v = Sᵀ (Rᵀ L, Rᵀ P),     P = Σ m ẋ,     L = Σ (x − p) × m ẋ + R J ω                       (1)

summed over these bodies, in every formulation. The sign is opposite if the tree leads from the joint's second body to its first.
"""

from ...constraints.conserved import angular_momentum
from ...errors import ModelError
from ...lie import se3
from ...model.topology import spanning_tree


def momentum_of(joint, model):
    """π of a joint: (1). Raises a ModelError if the joint is not in the tree, since its velocity depends on others."""
    topology = spanning_tree(model)
    branch = next((branch for branch in topology.branches if branch.joint is joint), None)
    if branch is None:
        declared = {id(j) for j in model.joints}
        tree_joints = [b.joint for b in topology.branches if id(b.joint) in declared and b.joint.dof]
        names = ", ".join(repr(j.name) for j in tree_joints) or "none"
        raise ModelError(
            f"{joint.owner}: it closes a loop, or events engage and release it, so that no momentum belongs to its velocity "
            f"alone; signals of momentum can be those of joints that carry the tree: {names}"
        )
    beyond = [b.body for b in topology.branches if any(j is joint for j in topology.path(b.body))]
    (_, _), (R, p) = joint.ends()
    S_w, S_v = se3.split(joint.motion(joint.coordinates(joint.relative_pose())))
    P = sum(body.momentum for body in beyond)
    momentum = S_w.T @ (R.T @ angular_momentum(beyond, about=p)) + S_v.T @ (R.T @ P)  # (1)
    return -momentum if branch.reversed else momentum
