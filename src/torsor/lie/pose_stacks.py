"""Stacks of poses in NumPy, for many bodies at once: arrays of shape (n, 4, 4)."""

import numpy as np


def stacked(R, p):
    """Poses from rotations (n, 3, 3) and places (n, 3); or one of each."""
    poses = np.zeros((*np.shape(R)[:-2], 4, 4))
    poses[..., :3, :3], poses[..., :3, 3], poses[..., 3, 3] = R, p, 1.0
    return poses


def split(poses):
    """Rotations and places of poses."""
    return poses[..., :3, :3], poses[..., :3, 3]


def inverted(poses):
    """Inverses of poses."""
    R, p = split(poses)
    back = np.swapaxes(R, -1, -2)
    return stacked(back, -applied(back, p))


def applied(matrices, columns):
    """Each matrix times its column."""
    return np.einsum("...ij,...j->...i", matrices, columns)
