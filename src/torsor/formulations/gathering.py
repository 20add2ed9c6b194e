"""Outputs of the parts of a system that ranks have, put together to those of the whole."""

import numpy as np

from .outputs import layout
from .part_system import several
from .shares import TRUNK
from .tree_outputs import BODY
from .tree_schedule import starts

COORDINATES = ("coordinate", "rate", "coordinate_acceleration")
REACTIONS = ("reaction_force", "reaction_torque")
SUMS = ("kinetic_energy", "potential_energy")
LARGEST = ("position_drift", "velocity_drift")


class Gathering:
    """Which outputs of a rank are its own, and where they belong in those of the whole. Rank 0 tells what everybody knows.

    taken, target   places here and there;   sums, largest: places here and there of what is summed up or compared
    """

    def __init__(self, part):
        here, there = (layout(x.shown, x.loop_rows, []) for x in (part, part.whole))
        at, to = (dict(zip([name for name, _ in x], starts([size for _, size in x]))) for x in (here, there))
        self.size = sum(size for _, size in there)
        pairs = _pairs(part)
        self.taken = np.concatenate([at[name] + pair[0] for name, pair in pairs.items()]).astype(int)
        self.target = np.concatenate([to[name] + pair[1] for name, pair in pairs.items()]).astype(int)
        self.sums, self.largest = (np.array([[x[n] for n in names] for x in (at, to)]) for names in (SUMS, LARGEST))

    def own(self, outputs):
        """What a rank tells of its outputs."""
        return outputs[..., self.taken], outputs[..., self.sums[0]], outputs[..., self.largest[0]]

    def into(self, whole, told, target):
        """Put what a rank tells into the outputs of the whole, which are zero at first; target: that of its own gathering."""
        own, sums, largest = told
        whole[..., target] = own
        whole[..., self.sums[1]] += sums
        whole[..., self.largest[1]] = np.maximum(whole[..., self.largest[1]], largest)


def _pairs(part):
    """Places here and there of the outputs that are mine, by name."""
    whole, shares, known = part.whole, part.shares, part.shares.known
    ours = lambda owner: owner == part.cut.rank or (owner == TRUNK and part.cut.rank == 0)
    links, loops = part.links_of_whole.tolist(), part.rows_of_whole[part.first_loop :].tolist()
    bodies = {id(b) for b, k in zip(part.tree.bodies, links) if ours(shares.bodies[k])}
    joints = {id(j) for j, k in zip(part.tree.joints, links) if not known[k] or part.cut.rank == 0}
    closing = [bool(ours(shares.constraints[k])) for k in loops]
    joints |= {id(c) for c, own in zip(part.loops, closing) if own}
    rows = np.repeat(np.array(closing, bool), part.sizes[part.first_loop :])
    both = lambda what, chosen: _matched(getattr(part.shown, what), getattr(whole.shown, what), chosen)
    own, held, turning = both("bodies", bodies), both("constraints", joints), both("joints", joints)
    dofs = [np.array([joint.dof for joint in x.shown.joints], int) for x in (part, whole)]
    each = lambda what, size: [np.full(len(getattr(x.shown, what)), size) for x in (part, whole)]
    found = {name: _places(own, each("bodies", size)) for name, size in BODY.items()}
    found |= dict.fromkeys(COORDINATES, _places(turning, dofs))
    found |= dict.fromkeys(REACTIONS, _places(held, each("constraints", 3)))
    return found | {"multiplier": (np.flatnonzero(rows), part.rows_of_loops()[rows])}


def _matched(here, there, chosen):
    """Where chosen things stand in two lists of them."""
    number = {id(x): k for k, x in enumerate(there)}
    own = [k for k, x in enumerate(here) if id(x) in chosen]
    return np.array(own, int), np.array([number[id(here[k])] for k in own], int)


def _places(matched, sizes):
    """Places of all numbers of things that are matched, in two lists in each of which every thing takes so many."""
    return tuple(several(starts(size)[own], size[own]) for own, size in zip(matched, sizes))
