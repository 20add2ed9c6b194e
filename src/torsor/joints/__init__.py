"""Joints and constraints: one registered class each."""

from .alignment import no_rotation
from .base import Connection, Constraint, Joint
from .conserved import ConservedMomentum, angular_momentum
from .elementary import Distance, FixedPoint, Holonomic, Nonholonomic, NoRotation, PointOnPlane, on_plane
from .imposed import AngularVelocity, Drive, Motion
from .lower_pairs import Cylindrical, Fixed, Free, Planar, Prismatic, Revolute, Screw, Spherical, Universal
from .onesided import Backlash, Contact, Limit, Lock, OneSided, Slot, Weld
from .rolling import DiskOnPlane, KnifeEdge, RollingDisk, RollingSphere, Wheel

__all__ = [
    "AngularVelocity", "Backlash", "Connection", "ConservedMomentum", "Constraint", "Contact", "Cylindrical", "DiskOnPlane",
    "Distance", "Drive", "Fixed", "FixedPoint", "Free", "Holonomic", "Joint", "KnifeEdge", "Limit", "Lock", "Motion",
    "NoRotation", "Nonholonomic", "OneSided", "Planar", "PointOnPlane", "Prismatic", "Revolute", "RollingDisk",
    "RollingSphere", "Screw", "Slot", "Spherical", "Universal", "Weld", "Wheel", "angular_momentum", "no_rotation", "on_plane",
]  # fmt: skip
