"""Joints and constraints: one registered class each."""

from .base import Connection, Constraint, Joint
from .elementary import Distance, FixedPoint, Holonomic, Nonholonomic, NoRotation, PointOnPlane, no_rotation, on_plane
from .imposed import AngularVelocity, Drive, Motion
from .lower_pairs import Cylindrical, Fixed, Free, Planar, Prismatic, Revolute, Screw, Spherical, Universal

__all__ = [
    "AngularVelocity", "Connection", "Constraint", "Cylindrical", "Distance", "Drive", "Fixed", "FixedPoint", "Free",
    "Holonomic", "Joint", "Motion", "NoRotation", "Nonholonomic", "Planar", "PointOnPlane", "Prismatic", "Revolute",
    "Screw", "Spherical", "Universal", "no_rotation", "on_plane",
]  # fmt: skip
