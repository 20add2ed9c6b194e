"""Targets of an assembly: joint coordinates, positions and orientations of bodies, signals of positions.

    r = s(q) − y                        a coordinate, a point, a signal                                  (1)
    r = log(Rᵀ(y) R(q))                 an orientation: the remaining rotation vector                    (2)
    r = coordinates(H(y)⁻¹ H(q))        a joint whose coordinates contain a rotation vector              (3)

y   the target values, which are inputs of the kernels: other values need no new kernels
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import casadi as ca
import numpy as np

from ...elements import quantity
from ...errors import OptionError
from ...formulations.graphs.outputs import coordinate_labels, coordinate_units
from ...joints import Joint
from ...lie import pose_stacks, se3, so3
from ...model.body import Frame, Placed

# units of residual rows
LENGTH = "m"  # divided by the size of the model
ANGLE = "rad"
SIGNAL = ""  # divided by the norm of its derivative at the start
BODY_QUANTITIES = ("position", "point", "rotation", "pose")
FILE_LIMIT_KEYS = {"lower", "upper", "effort", "velocity"}  # keys of a joint limit in robot files
INDEXED_NAME = re.compile(r"(.+)\[(\d+)\]\Z")


@dataclass(frozen=True)
class Target:
    """One target.

    column                  expression of positions as a column, or None
    rotation                expression of a rotation matrix, or None
    units                   units of the residual rows
    joint_coordinate        (joint, index) if the target is one coordinate of a joint
    rotation_vector_joint   the joint, if the target is all of its coordinates and they contain a rotation vector
    """

    name: str
    column: ca.SX | None
    rotation: ca.SX | None
    units: tuple[str, ...]
    joint_coordinate: tuple[Any, int] | None = None
    rotation_vector_joint: Any = None

    @property
    def size(self):
        """Number of target values."""
        return (0 if self.column is None else self.column.shape[0]) + (0 if self.rotation is None else 9)

    def residual(self, y):
        """The residual (1), (2) or (3) for target values y."""
        if self.rotation_vector_joint is not None:
            joint = self.rotation_vector_joint
            return joint.coordinates(se3.inverse(joint.pose(y)) @ joint.relative_pose())  # (3)
        column = ca.SX(0, 1) if self.column is None else self.column
        requested, R = quantity.split_column(y, column.shape[0])
        turn = ca.SX(0, 1) if self.rotation is None else so3.log(ca.reshape(R, 3, 3).T @ self.rotation)  # (2)
        return ca.vertcat(column - requested, turn)  # (1)

    def numbers(self, value):
        """Target values as an array with `size` numbers in its last dimension; it may have leading dimensions."""
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
        R, x = pose_stacks.split(H)
        return np.concatenate([x, _flat(rotations(R, self.name))], axis=-1)


def _array(value, name):
    """The value as an array of finite numbers."""
    try:
        array = quantity.reals(value)
    except Exception:  # the conversion calls code of the user's class
        array = np.array(np.nan)
    if not (np.abs(array) <= quantity.LARGEST_ANGLE).all():
        raise OptionError(
            f"target {name!r}: finite numbers are needed, up to {quantity.LARGEST_ANGLE:g}, got {quantity.show(value)}"
        )
    return array


def _homogeneous(H):
    """True if the last rows of 4x4 matrices are (0, 0, 0, 1)."""
    return bool((np.abs(H[..., 3, :] - (0, 0, 0, 1)) <= 1e-9).all())


def _flat(R):
    """Rotation matrices as vectors of 9 numbers, column by column."""
    return np.swapaxes(R, -1, -2).reshape(*R.shape[:-2], 9)


def rotations(value, name):
    """Rotation matrices from matrices, quaternions or one rotation vector."""
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


def targets_of(model, values, signals=None, what="targets"):
    """The targets, and their values as arrays by name."""
    if not isinstance(values, Mapping):
        raise OptionError(f"{what} must be a dictionary of names and values, got {quantity.show(values)}")
    result = {name: target(model, name, signals or {}) for name in values}
    return list(result.values()), {name: result[name].numbers(value) for name, value in values.items()}


def target(model, name, signals):
    """The target with a name; OptionError if the model has none."""
    if isinstance(name, str):
        if name in signals:
            return _of_signal(name, signals[name])
        path, _, last = name.rpartition(".")
        if last in BODY_QUANTITIES and path in model and isinstance(model[path], Placed):
            return _of_body(name, model[path], last)
        indexed = INDEXED_NAME.match(name)
        joint, index = (indexed[1], int(indexed[2])) if indexed else (name, None)
        if joint in model and isinstance(model[joint], Joint):
            return _of_joint(name, model[joint], index)
        if name in model.signals:
            return _of_signal(name, model.signals[name])
        if name in model and isinstance(model[name], ca.SX):
            return _of_signal(name, model[name])
    bodies = [f"{body.name}.{what}" for body in model.bodies for what in BODY_QUANTITIES]
    known_names = [*(j.name for j in model.joints if j.dof), *model.signals, *signals, *bodies]
    close = get_close_matches(name, known_names, n=1) if isinstance(name, str) else []
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise OptionError(
        f"model {model.name!r} has nothing called {quantity.show(name)} to aim at.{hint} Known: coordinates of joints "
        f"({', '.join(j.name for j in model.joints if j.dof) or 'none'}), signals "
        f"({', '.join([*model.signals, *signals]) or 'none'}), and .position, .point, .rotation, .pose of bodies "
        f"({', '.join(body.name for body in model.bodies)})"
    )


def _of_body(name, body, what):
    """`position`: centre of mass, as in results; `point`: origin of the body frame; `pose`: pose of the body frame."""
    if what in ("rotation", "pose") and getattr(body, "particle", False):
        raise OptionError(f"target {name!r}: {body.name!r} is a particle and has no orientation")
    columns = {"position": body.position, "point": body.point(), "pose": body.point()}
    column, rotation = columns.get(what), body.rotation if what in ("rotation", "pose") else None
    units = (LENGTH,) * (0 if column is None else 3) + (ANGLE,) * (0 if rotation is None else 3)
    return Target(name, column, rotation, units)


def _of_joint(name, joint, index):
    """One coordinate of a joint, or all of them (index None)."""
    if not joint.dof or index is not None and index >= joint.dof:
        raise OptionError(f"target {name!r}: joint {joint.name!r} has {joint.dof} coordinates")
    units = tuple(LENGTH if unit == "m" else ANGLE for unit in coordinate_units(joint))
    if index is None and joint.dof > 1:
        return Target(name, joint.coordinate, None, units, rotation_vector_joint=joint if joint.quasi else None)
    k = index or 0
    return Target(name, joint.coordinate[k], None, (units[k],), (joint, k))


def _of_signal(name, expression):
    """A frame of a body, or an expression of positions."""
    if isinstance(expression, Frame):
        R, x = se3.split_pose(expression.pose)
        body = expression.body
        return Target(name, body.position + body.rotation @ x, body.rotation @ R, (LENGTH,) * 3 + (ANGLE,) * 3)
    column = quantity.column(expression, "expression", f"signal {name!r}")
    return Target(name, column, None, (SIGNAL,) * column.shape[0])


def weights_of(goals, weights):
    """Weights of all residual rows."""
    names = [w.name for w in goals]
    if not isinstance(weights, Mapping) or any(name not in names for name in weights):
        raise OptionError(
            f"weights must be numbers by the names of targets ({', '.join(names)}), got {quantity.show(weights)}"
        )
    rows = []
    for w in goals:
        try:
            value = np.broadcast_to(quantity.reals(weights.get(w.name, 1.0)), (len(w.units),))
        except (TypeError, ValueError):
            value = np.array([np.nan])
        if not ((value > 0) & (value <= quantity.LARGEST_ANGLE)).all():
            raise OptionError(
                f"weight of {w.name!r} must be positive, one or {len(w.units)} numbers, got {quantity.show(weights[w.name])}"
            )
        rows.append(value)
    return np.concatenate([*rows, np.zeros(0)])


def coordinate_of(model, name, what):
    """The target that is a single joint coordinate; OptionError if the name means anything else.

    what   name of the argument, for messages
    """
    known_names = coordinate_labels(model.joints)
    try:
        one = target(model, name, {})
    except OptionError:
        one = None
    if one is None or one.joint_coordinate is None:
        close = get_close_matches(name, known_names, n=1) if isinstance(name, str) else []
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise OptionError(
            f"{what}: {quantity.show(name)} is not the coordinate of a joint of model {model.name!r}.{hint} Known: "
            f"{', '.join(known_names) or 'none'}."
        )
    return one


def limits_of(model, limits):
    """Limits as pairs ((joint, index), (lower, upper))."""
    result = []
    for name, pair in limits.items():
        one = coordinate_of(model, name, "limits")
        if isinstance(pair, Mapping) and not {*pair} - FILE_LIMIT_KEYS:
            pair = pair.get("lower", -np.inf), pair.get("upper", np.inf)
        try:
            lower, upper = (float(x) for x in pair)
        except (TypeError, ValueError):
            lower = upper = np.nan
        if not lower < upper:
            raise OptionError(
                f"limits of {name!r}: two numbers, the lower one first, are needed, got {quantity.show(pair)}"
            )
        result.append((one.joint_coordinate, (lower, upper)))
    return result
