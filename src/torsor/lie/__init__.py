"""Rotations, rigid motions and Lie groups, for symbols and numbers alike."""

from . import se3, so3
from .axis_rotation import Turning
from .groups import MAPS, SE3, SO3, Group, Rn
from .product import Product

__all__ = ["MAPS", "SE3", "SO3", "Group", "Product", "Rn", "Turning", "se3", "so3"]
