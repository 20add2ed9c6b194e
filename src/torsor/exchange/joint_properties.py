"""Armature, stops and dry friction of the joints of a file, on the joints of the model that they became."""

import numpy as np

from ..constraints.limit import Limit
from ..forces.friction import Friction
from .free_names import free_name, legal

OFF_DIAGONAL_BELOW = 1e-12  # relative size of an inertia between two coordinates that counts as none


def armature(motions, found, tree):
    """The armature of the model's joint as an argument: Lᵀ diag(a) L, where coordinates of the file are L q."""
    given = np.concatenate([np.full(m.dof, m.armature) for m in motions])
    if not given.any():
        return {}
    if found.L is None:
        for m in motions:
            message = f"armature {m.armature:g}: the joint has no angle of its own in the model"
            tree.note("ignored", f"armature of joint {m.name!r}", message, m.where)
        return {}
    if len(motions) == 1:
        return {"armature": float(given[0])}
    A = found.L.T @ np.diag(given) @ found.L
    if np.abs(A - np.diag(np.diag(A))).max() > OFF_DIAGONAL_BELOW * np.abs(A).max():
        for m in motions:
            message = f"armature {m.armature:g} differs between slides that became one joint"
            tree.note("ignored", f"armature of joint {m.name!r}", message, m.where)
        return {}
    return {"armature": tuple(float(x) for x in np.diag(A))}


def add_properties(assembly, motion, joint, L, k):
    """Stops and dry friction of one joint of the file; notes where they are left out."""
    options, tree = assembly.options, assembly.tree
    place = coordinate_of(motion, joint, L, k)
    bounds = {side: x for side, x in motion.stops.items() if np.isfinite(x)}
    element, where = motion.words.get("stops", ("", ""))
    if element and not options.limits:
        tree.note("ignored", element, "kept in `limits`, not simulated unless limits=True", where)
    elif bounds and (place is None or bounds.get("lower", -np.inf) >= bounds.get("upper", np.inf)):
        tree.note("ignored", element, "not simulated: no interval of one coordinate of the model", where)
    elif bounds:
        index, sign = place
        low, high = (bounds.get(side) for side in (("lower", "upper") if sign > 0 else ("upper", "lower")))
        low, high = (None if x is None else sign * x for x in (low, high))
        name = free_name(assembly.model, f"{legal(motion.name)}_limit", "limit")
        assembly.add(Limit(name, joint, lower=low, upper=high, index=index), motion.where)
    if not motion.friction:
        return
    element, where = motion.words["friction"]
    if not options.friction:
        message = f"friction {motion.friction:g} is not simulated unless friction=True"
        tree.note("ignored", element, message, where)
    elif place is None:
        tree.note("ignored", element, "not simulated: no coordinate of the model", where)
    else:
        index, _ = place
        name = free_name(assembly.model, f"{legal(motion.name)}_friction", "friction")
        radius = 1.0 if joint.angular[index] else None
        assembly.add(Friction(name, joint, 1.0, normal=motion.friction, radius=radius, index=index), motion.where)


def coordinate_of(motion, joint, L, k):
    """Index of the model's coordinate that a coordinate of the file is, and its sign; None if it is none of them alone."""
    if motion.dof != 1:
        return None
    if L is None:
        return (0, 1.0) if joint.dof == 1 else None
    entries = np.flatnonzero(np.abs(L[k]) > OFF_DIAGONAL_BELOW)
    return (int(entries[0]), float(L[k][entries[0]])) if len(entries) == 1 else None
