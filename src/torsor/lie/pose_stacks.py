"""Stacks of poses in NumPy, for many bodies at once: arrays of shape (n, 4, 4)."""

import numpy as np


def stack_poses(R, p):
    """Return poses of rotations (n, 3, 3) and positions (n, 3), or of one of each."""
    poses = np.zeros((*np.shape(R)[:-2], 4, 4))
    poses[..., :3, :3], poses[..., :3, 3], poses[..., 3, 3] = R, p, 1.0
    return poses


def split(poses):
    """Return the rotations and the positions of poses."""
    return poses[..., :3, :3], poses[..., :3, 3]


def invert(poses):
    """Inverses of poses."""
    R, p = split(poses)
    back = np.swapaxes(R, -1, -2)
    return stack_poses(back, -multiply(back, p))


def multiply(matrices, columns):
    """Each matrix times its column."""
    return np.einsum("...ij,...j->...i", matrices, columns)


def quaternions(R: np.ndarray) -> np.ndarray:
    """Unit quaternions (…, 4), scalar first, of rotations (…, 3, 3).

    Each row of the symmetric matrix 4 q qᵀ is a multiple of q; the one with the largest diagonal entry has no cancellation.
    """
    R = np.asarray(R, float)
    a, b, c = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    x, y, z = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    u, v, w = R[..., 1, 2] + R[..., 2, 1], R[..., 0, 2] + R[..., 2, 0], R[..., 0, 1] + R[..., 1, 0]
    rows = [(1 + a + b + c, x, y, z), (x, 1 + a - b - c, w, v), (y, w, 1 - a + b - c, u), (z, v, u, 1 - a - b + c)]
    four = np.stack([np.stack(row, -1) for row in rows], -2)
    largest = np.argmax(np.nan_to_num(np.diagonal(four, axis1=-2, axis2=-1)), -1)
    q = np.take_along_axis(four, largest[..., None, None], -2)[..., 0, :]
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def rotations(q: np.ndarray) -> np.ndarray:
    """Rotations (…, 3, 3) of unit quaternions (…, 4), scalar first."""
    w, x, y, z = np.moveaxis(np.asarray(q, float), -1, 0)
    rows = [
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    ]
    return np.stack([np.stack(row, -1) for row in rows], -2)
