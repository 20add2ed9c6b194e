"""Products of small matrices and poses, for numbers and for expressions.

Numbers are summed from left to right, as CasADi does, so that results have the same bits with numbers and with expressions.
"""

from typing import Any

import numpy as np

from ..lie import pose_stacks, se3
from .conversion import constant, is_number

EYE, ZERO, FRAMES = np.eye(3), np.zeros(3), np.array([np.eye(4), np.eye(4)])
for _shared in (EYE, ZERO, FRAMES):
    _shared.setflags(write=False)


def product(A, B) -> Any:
    """Return the product A B of a 3x3 matrix and a column or a matrix."""
    if A is EYE:
        return B
    if not (is_number(A) and is_number(B)):
        return constant(A) @ constant(B)
    outer = np.multiply.outer
    return outer(A[:, 0], B[0]) + outer(A[:, 1], B[1]) + outer(A[:, 2], B[2]) + 0.0


def total(a, b) -> Any:
    """Return a + b."""
    if a is ZERO:
        return b
    if b is ZERO:
        return a
    return a + b + 0.0 if is_number(a) and is_number(b) else constant(a) + constant(b)


def distance(a, b) -> Any:
    """Return the distance |b − a| of two points."""
    d = b - a if is_number(a) and is_number(b) else constant(b) - constant(a)
    return (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) ** 0.5


def diagonal(moments):
    """Return the 3x3 matrix with these numbers on its diagonal."""
    matrix = np.zeros((3, 3))
    matrix.flat[::4] = moments
    return matrix


def local_frames(bodies, points) -> Any:
    """Return the poses, in two bodies, of frames at world points with world axes in the reference configuration:
    (R₀ᵀ, R₀ᵀ (p − x₀)), measured from the centre of mass."""
    (x1, R1), (x2, R2) = bodies[0].reference, bodies[1].reference
    p1, p2 = points
    if any(type(x) is not np.ndarray for x in (x1, R1, p1, x2, R2, p2)):
        return _local_frame(x1, R1, p1), _local_frame(x2, R2, p2)
    frames = FRAMES.copy()
    _place(frames[0], R1, p1 - x1)
    _place(frames[1], R2, p2 - x2)
    return frames


def local_place(body, point) -> Any:
    """Return a world point of the reference configuration in the axes of a body, from its centre of mass: R₀ᵀ (p − x₀)."""
    x, R = body.reference
    if type(x) is np.ndarray and type(R) is np.ndarray and type(point) is np.ndarray:
        return point - x if R is EYE else product(R.T, point - x)
    return constant(R).T @ (constant(point) - constant(x))


def _place(H, R, arm):
    """Write (R₀ᵀ, R₀ᵀ arm) into an identity pose."""
    if R is not EYE:
        H[:3, :3], arm = R.T, product(R.T, arm)
    H[:3, 3] = arm


def _local_frame(x, R, point):
    back = constant(R).T
    return se3.pose(back, back @ (constant(point) - constant(x)))


def are_poses(frames):
    """True if an array of 4x4 matrices contains poses, to six digits."""
    R, p = pose_stacks.split(frames)
    turned = np.abs(np.swapaxes(R, -1, -2) @ R - EYE).max() <= 1e-6 and np.all(np.linalg.det(R) > 0)
    return bool(turned and np.isfinite(p).all() and np.array_equal(frames[:, 3], FRAMES[:, 3]))


def pose(R, p) -> Any:
    """Return the pose (R, p) as a 4x4 matrix."""
    if is_number(R) and is_number(p):
        H = FRAMES[0].copy()
        H[:3, :3], H[:3, 3] = R, p
        return H
    return se3.pose(constant(R), constant(p))
