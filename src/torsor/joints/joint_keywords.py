"""Properties of a joint along its coordinates: inertia of a rotor, stops, spring, damper and dry friction.

The armature is part of the kinetic energy. Each other property is an element that is added together with the joint, and has a
name of its own: `joint.limit`, `joint.spring`, `joint.friction`; with the index of the coordinate where there are several.
"""

from typing import Any

import casadi as ca
import numpy as np

from ..elements import quantity
from ..errors import ModelError
from ..registry import lookup

WHOLE_ROTATIONS = (3, 6)  # coordinates of joints whose velocities are those of a rotation or a rigid motion


def check_armature(joint):
    """The armature as an expression with one entry for each coordinate; None if there is none."""
    if joint.armature is None:
        return None
    if not joint.dof:
        raise ModelError(f"{joint.owner}: has no coordinate, so that armature means nothing; leave it out")
    shape = quantity.shape_of(joint.armature)
    if shape not in ((1, 1), (joint.dof, 1)):
        allowed = "one number" if joint.dof == 1 else f"one number or {joint.dof}, one for each coordinate"
        raise ModelError(f"{joint.owner}: armature must be {allowed}, got {quantity.show(joint.armature)}")
    if joint.quasi and (shape != (1, 1) or joint.dof not in WHOLE_ROTATIONS):
        raise ModelError(
            f"{joint.owner}: its velocities are not rates of coordinates, so that armature must be one number for all of them, "
            f"got {quantity.show(joint.armature)}"
        )
    value = quantity.expression(joint.armature, shape[0], shape[1], "armature", joint.owner)
    for x in ca.vertsplit(value):
        if x.is_constant() and float(x) < 0:
            raise ModelError(f"{joint.owner}: armature must not be negative, got {quantity.show(joint.armature)}")
    return value


def companions(joint):
    """The elements that the properties of a joint stand for."""
    found = []
    for k in range(joint.dof):
        suffix = "" if joint.dof == 1 else str(k)
        found += _limit(joint, k, suffix) + _spring(joint, k, suffix) + _friction(joint, k, suffix)
    if not joint.dof and any(getattr(joint, x) is not None for x in ("limits", "spring", "damping", "friction")):
        raise ModelError(f"{joint.owner}: has no coordinate that limits, a spring, damping or friction could act on")
    return found


def _entry(joint, what, k):
    """The value for coordinate k: an entry of a list, or the common value."""
    given = getattr(joint, what)
    if isinstance(given, np.ndarray) and given.ndim:
        given = list(given)
    if not isinstance(given, (list, tuple)):
        return given
    if len(given) != joint.dof:
        raise ModelError(
            f"{joint.owner}: {what} must be one value or {joint.dof}, one for each coordinate, got {quantity.show(given)}"
        )
    return given[k]


def _limit(joint, k, suffix) -> list[Any]:
    given = joint.limits
    if given is None:
        return []
    pairs = isinstance(given, (list, tuple)) and any(isinstance(x, (list, tuple)) for x in given)
    pair = _entry(joint, "limits", k) if pairs else given
    if pair is None:
        return []
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise ModelError(
            f"{joint.owner}: limits must be a pair (lower, upper), None for no stop on a side, "
            f"{'or a list of such pairs, one for each coordinate, ' if joint.dof > 1 else ''}got {quantity.show(given)}"
        )
    if pair[0] is None and pair[1] is None:
        return []
    limit = lookup("constraint", "limit")
    return [limit(f"{joint.name}.limit{suffix}", joint, lower=pair[0], upper=pair[1], index=k)]


def _spring(joint, k, suffix) -> list[Any]:
    stiffness, damping = (_entry(joint, what, k) for what in ("spring", "damping"))
    name = f"{joint.name}.spring{suffix}"
    found = []
    if callable(stiffness) and not isinstance(stiffness, ca.SX):  # a law of the user or a table: coordinate → force
        found.append(lookup("force", "joint-force")(name, joint, -stiffness(joint.coordinate[k]), index=k))
        stiffness, name = None, f"{joint.name}.damper{suffix}"
    if callable(damping) and not isinstance(damping, ca.SX):
        law = -damping(joint.rate[k])
        found.append(lookup("force", "joint-force")(f"{joint.name}.damper{suffix}", joint, law, index=k))
        damping = None
    if stiffness is not None or damping is not None:
        given = {"stiffness": stiffness, "damping": damping}
        parts = {what: 0.0 if value is None else value for what, value in given.items()}
        found.append(lookup("force", "spring")(name, joint, index=k, **parts))
    return found


def _friction(joint, k, suffix) -> list[Any]:
    given = _entry(joint, "friction", k)
    if given is None:
        return []
    value = quantity.scalar(given, "friction", joint.owner)
    if value.is_constant() and float(value) < 0:
        raise ModelError(f"{joint.owner}: friction must not be negative, got {quantity.show(given)}")
    radius = 1.0 if joint.angular[k] else None
    friction = lookup("constraint", "friction")
    return [friction(f"{joint.name}.friction{suffix}", joint, 1.0, normal=given, radius=radius, index=k)]
