"""Combination of the outputs of all ranks to those of the whole system."""

import numpy as np

from ..graphs.outputs import layout
from ..output_layout import OutputLayout
from .expression_passes import OUTPUT_SIZES
from .shares import TRUNK
from .tree_schedule import block_indices, block_offsets

COORDINATES = ("coordinate", "rate", "coordinate_acceleration")
REACTIONS = ("reaction_force", "reaction_torque")
SUMS = ("kinetic_energy", "potential_energy")
DRIFTS = ("position_drift", "velocity_drift")


class Gathering:
    """Indices of the outputs of one rank in those of the whole system. Outputs that all ranks compute are taken from rank 0.

    source, target   indices in the outputs of the rank, and in those of the whole
    sums             indices, in both, of outputs that are summed over ranks
    largest          indices, in both, of outputs whose largest value is taken
    """

    def __init__(self, part):
        in_part, in_whole = (OutputLayout(layout(x.shown, x.loop_rows, [])) for x in (part, part.whole))
        self.size = in_whole.size
        pairs = _index_pairs(part)
        self.source = np.concatenate([in_part.first(name) + pair[0] for name, pair in pairs.items()]).astype(int)
        self.target = np.concatenate([in_whole.first(name) + pair[1] for name, pair in pairs.items()]).astype(int)
        self.sums, self.largest = (
            np.array([[x.first(n) for n in names] for x in (in_part, in_whole)]) for names in (SUMS, DRIFTS)
        )

    def own(self, outputs):
        """The outputs that this rank contributes: its own, terms of sums, candidates for largest values."""
        return outputs[..., self.source], outputs[..., self.sums[0]], outputs[..., self.largest[0]]

    def into(self, whole, contribution, target):
        """Put the contribution of a rank into the outputs of the whole, which are initially zero.

        target   that of the rank's own gathering
        """
        own, sums, largest = contribution
        whole[..., target] = own
        whole[..., self.sums[1]] += sums
        whole[..., self.largest[1]] = np.maximum(whole[..., self.largest[1]], largest)


def _index_pairs(part):
    """By name: indices of the outputs that a rank contributes, in its own quantity and in that of the whole."""
    whole = part.whole
    shares = part.shares

    def contributes(owner):
        return owner == part.cut.rank or (owner == TRUNK and part.cut.rank == 0)

    links = part.links_of_whole.tolist()
    loops = part.rows_of_whole[part.first_loop :].tolist()
    bodies = {id(b) for b, k in zip(part.tree.bodies, links) if contributes(shares.bodies[k])}
    joints = {id(j) for j, k in zip(part.tree.joints, links) if not shares.known[k] or part.cut.rank == 0}
    own_loops = [bool(contributes(shares.constraints[k])) for k in loops]
    joints |= {id(c) for c, own in zip(part.loops, own_loops) if own}
    rows = part.rows_of(np.flatnonzero(own_loops))

    def positions(kind, chosen):
        return _positions(getattr(part.shown, kind), getattr(whole.shown, kind), chosen)

    def sizes(kind, size):
        return [np.full(len(getattr(x.shown, kind)), size) for x in (part, whole)]

    dofs = [np.array([joint.dof for joint in x.shown.joints], int) for x in (part, whole)]
    body_positions = positions("bodies", bodies)
    constraint_positions = positions("constraints", joints)
    joint_positions = positions("joints", joints)
    pairs = {name: _indices(body_positions, sizes("bodies", size)) for name, size in OUTPUT_SIZES.items()}
    pairs |= dict.fromkeys(COORDINATES, _indices(joint_positions, dofs))
    pairs |= dict.fromkeys(REACTIONS, _indices(constraint_positions, sizes("constraints", 3)))
    return pairs | {"multiplier": (rows, rows)}


def _positions(in_part, in_whole, chosen):
    """Positions of chosen elements in two lists of elements."""
    number = {id(x): k for k, x in enumerate(in_whole)}
    own = [k for k, x in enumerate(in_part) if id(x) in chosen]
    return np.array(own, int), np.array([number[id(in_part[k])] for k in own], int)


def _indices(positions, sizes):
    """Indices of all numbers of elements at some positions, in two lists whose elements have the given sizes."""
    return tuple(block_indices(block_offsets(size)[own], size[own]) for own, size in zip(positions, sizes))
