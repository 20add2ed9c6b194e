"""What an assembly is asked for: coordinates of joints, places and orientations of bodies, any signal of positions.

    r = s(q) − y                        a coordinate, a point, a signal                                  (1)
    r = log(Rᵀ(y) R(q))                 an orientation: the rotation vector that is missing              (2)
    r = coordinates(H(y)⁻¹ H(q))        all of a joint whose coordinates hold a rotation vector          (3)

y   the numbers that are asked for, inputs of the kernels: other numbers need no other kernels
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import casadi as ca
import numpy as np

from ..describe import quantity
from ..describe.body import Frame, Placed
from ..errors import OptionError
from ..formulations.outputs import coordinate_labels, coordinate_units
from ..joints import Joint
from ..lie import poses, se3, so3

# what a row is measured in: the size of the model, 1, or how much its target changes
LENGTH, ANGLE, OWN = "m", "rad", ""
OF_BODIES = ("position", "point", "rotation", "pose")
OF_FILES = {"lower", "upper", "effort", "velocity"}  # limits, as files of robots tell them
INDEXED = re.compile(r"(.+)\[(\d+)\]\Z")


@dataclass(frozen=True)
class Target:
    """One thing that is asked for.

    signals   expressions of positions: a column, a rotation, or both
    units     of the rows of the residual
    turns     (joint, place) where it is the coordinate of a joint
    turned    the joint, where it is all of the coordinates of one that hold a rotation vector
    """

    name: str
    column: ca.SX | None
    rotation: ca.SX | None
    units: tuple[str, ...]
    turns: tuple[Any, int] | None = None
    turned: Any = None

    @property
    def size(self):
        """How many numbers are asked for."""
        return (0 if self.column is None else self.column.shape[0]) + (0 if self.rotation is None else 9)

    def residual(self, y):
        """(1), (2), (3)."""
        if self.turned is not None:
            return self.turned.coordinates(se3.inverse(self.turned.pose(y)) @ self.turned.relative_pose())  # (3)
        column = ca.SX(0, 1) if self.column is None else self.column
        asked, R = quantity.parted(y, column.shape[0])
        turn = ca.SX(0, 1) if self.rotation is None else so3.log(ca.reshape(R, 3, 3).T @ self.rotation)  # (2)
        return ca.vertcat(column - asked, turn)  # (1)

    def numbers(self, value):
        """What is asked for as an array whose last dimension holds `size` numbers; it may have leading dimensions."""
        if self.rotation is None:
            array = _array(value, self.name)
            n = self.size
            array = array[..., None] if n == 1 and (array.ndim < 2 or array.shape[-1] != 1) else array
            if array.ndim == 0 or array.shape[-1] != n:
                raise OptionError(
                    f"target {self.name!r}: {n} numbers are needed, in the last dimension of an array, got shape {array.shape}"
                )
            return array
        if self.column is None:
            return _flat(rotations(value, self.name))
        H = _array(value, self.name)
        if H.shape[-2:] != (4, 4):
            raise OptionError(f"target {self.name!r}: a pose is a 4x4 matrix, or an array of them, got shape {H.shape}")
        if not _homogeneous(H):
            raise OptionError(f"target {self.name!r}: the last row of a pose is 0, 0, 0, 1, got {quantity.show(value)}")
        R, x = poses.split(H)
        return np.concatenate([x, _flat(rotations(R, self.name))], axis=-1)


def _array(value, name):
    try:
        array = quantity.reals(value)
    except Exception:  # whatever a stranger's class raises when it is asked for numbers
        array = np.array(np.nan)
    if not (np.abs(array) <= quantity.FARTHEST).all():
        raise OptionError(
            f"target {name!r}: finite numbers are needed, up to {quantity.FARTHEST:g}, got {quantity.show(value)}"
        )
    return array


def _homogeneous(H):
    """Whether 4x4 matrices are poses as far as their last rows tell."""
    return bool((np.abs(H[..., 3, :] - (0, 0, 0, 1)) <= 1e-9).all())


def _flat(R):
    """Matrices column by column."""
    return np.swapaxes(R, -1, -2).reshape(*R.shape[:-2], 9)


def rotations(value, name):
    """Rotation matrices, from such, from quaternions, or from one rotation vector."""
    R = _array(value, name)
    if R.shape == (3,):
        return np.array(so3.exp(R))
    if R.ndim and R.shape[-1] == 4 and not (R.shape[-2:] == (4, 4) and _homogeneous(R)):
        R = np.array([so3.from_quaternion(e) for e in R.reshape(-1, 4)]).reshape(*R.shape[:-1], 3, 3)
    if R.shape[-2:] != (3, 3):
        raise OptionError(
            f"target {name!r}: a rotation is a 3x3 matrix, a quaternion (4 numbers, scalar first), an array of them, or a "
            f"rotation vector, got shape {R.shape}"
        )
    off = np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(initial=0.0)
    if not off <= 1e-6 or (np.linalg.det(R) < 0).any():
        raise OptionError(f"target {name!r}: not a rotation (orthogonal, determinant +1): {quantity.show(value)}")
    return R


def targets_of(model, given, signals=None, what="targets"):
    """Targets by the names under which they are given, and their numbers."""
    if not isinstance(given, Mapping):
        raise OptionError(f"{what} must be a dictionary of names and values, got {quantity.show(given)}")
    found = {name: target(model, name, signals or {}) for name in given}
    return list(found.values()), {name: found[name].numbers(value) for name, value in given.items()}


def target(model, name, signals):
    """What a name stands for."""
    if isinstance(name, str):
        if name in signals:
            return _of_signal(name, signals[name])
        path, _, last = name.rpartition(".")
        if last in OF_BODIES and path in model and isinstance(model[path], Placed):
            return _of_body(name, model[path], last)
        indexed = INDEXED.match(name)
        joint, place = (indexed[1], int(indexed[2])) if indexed else (name, None)
        if joint in model and isinstance(model[joint], Joint):
            return _of_joint(name, model[joint], place)
        if name in model.signals:
            return _of_signal(name, model.signals[name])
        if name in model and isinstance(model[name], ca.SX):
            return _of_signal(name, model[name])
    bodies = [f"{body.name}.{what}" for body in model.bodies for what in OF_BODIES]
    known = [*(j.name for j in model.joints if j.dof), *model.signals, *signals, *bodies]
    close = get_close_matches(name, known, n=1) if isinstance(name, str) else []
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise OptionError(
        f"model {model.name!r} has nothing called {quantity.show(name)} to aim at.{hint} Known: coordinates of joints "
        f"({', '.join(j.name for j in model.joints if j.dof) or 'none'}), signals "
        f"({', '.join([*model.signals, *signals]) or 'none'}), and .position, .point, .rotation, .pose of bodies "
        f"({', '.join(body.name for body in model.bodies)})"
    )


def _of_body(name, body, what):
    """`position`: of the centre of mass, as in results; `point`: of the origin of its frame; `pose`: of that frame."""
    if what in ("rotation", "pose") and getattr(body, "particle", False):
        raise OptionError(f"target {name!r}: {body.name!r} is a particle and has no orientation")
    columns = {"position": body.position, "point": body.point(), "pose": body.point()}
    column, rotation = columns.get(what), body.rotation if what in ("rotation", "pose") else None
    units = (LENGTH,) * (0 if column is None else 3) + (ANGLE,) * (0 if rotation is None else 3)
    return Target(name, column, rotation, units)


def _of_joint(name, joint, place):
    if not joint.dof or place is not None and place >= joint.dof:
        raise OptionError(f"target {name!r}: joint {joint.name!r} has {joint.dof} coordinates")
    units = tuple(LENGTH if unit == "m" else ANGLE for unit in coordinate_units(joint))
    if place is None and joint.dof > 1:
        return Target(name, joint.coordinate, None, units, turned=joint if joint.quasi else None)
    k = place or 0
    return Target(name, joint.coordinate[k], None, (units[k],), (joint, k))


def _of_signal(name, given):
    if isinstance(given, Frame):
        R, x = se3.split_pose(given.pose)
        body = given.body
        return Target(name, body.position + body.rotation @ x, body.rotation @ R, (LENGTH,) * 3 + (ANGLE,) * 3)
    column = quantity.column(given, "expression", f"signal {name!r}")
    return Target(name, column, None, (OWN,) * column.shape[0])


def weights_of(wanted, given):
    """One weight for each row of a residual."""
    names = [w.name for w in wanted]
    if not isinstance(given, Mapping) or any(name not in names for name in given):
        raise OptionError(
            f"weights must be numbers by the names of targets ({', '.join(names)}), got {quantity.show(given)}"
        )
    rows = []
    for w in wanted:
        try:
            value = np.broadcast_to(quantity.reals(given.get(w.name, 1.0)), (len(w.units),))
        except (TypeError, ValueError):
            value = np.array([np.nan])
        if not ((value > 0) & (value <= quantity.FARTHEST)).all():
            raise OptionError(
                f"weight of {w.name!r} must be positive, one or {len(w.units)} numbers, got {quantity.show(given[w.name])}"
            )
        rows.append(value)
    return np.concatenate([*rows, np.zeros(0)])


def coordinate_of(model, name, what):
    """The target that a single coordinate of a joint is; what: where it was given, for messages."""
    known = coordinate_labels(model.joints)
    try:
        one = target(model, name, {})
    except OptionError:
        one = None
    if one is None or one.turns is None:
        close = get_close_matches(name, known, n=1) if isinstance(name, str) else []
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise OptionError(
            f"{what}: {quantity.show(name)} is not the coordinate of a joint of model {model.name!r}.{hint} Known: "
            f"{', '.join(known) or 'none'}."
        )
    return one


def limits_of(model, given):
    """Pairs of a coordinate, (joint, place), and its stops."""
    found = []
    for name, pair in given.items():
        one = coordinate_of(model, name, "limits")
        if isinstance(pair, Mapping) and not {*pair} - OF_FILES:
            pair = pair.get("lower", -np.inf), pair.get("upper", np.inf)
        try:
            lower, upper = (float(x) for x in pair)
        except (TypeError, ValueError):
            lower = upper = np.nan
        if not lower < upper:
            raise OptionError(
                f"limits of {name!r}: two numbers, the lower one first, are needed, got {quantity.show(pair)}"
            )
        found.append((one.turns, (lower, upper)))
    return found
