"""Joints and constraints: one registered class each. A new one is one file in this folder."""

from .base import Connection, Joint
from .constraint import Constraint

__all__ = ["Connection", "Constraint", "Joint"]
