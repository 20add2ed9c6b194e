"""Rotations, rigid motions and Lie groups, for symbols and numbers alike."""

from . import se3, so3
from .groups import MAPS, SE3, SO3, Group, Rn
from .product import Product
from .turning import Turning

__all__ = ["MAPS", "SE3", "SO3", "Group", "Product", "Rn", "Turning", "se3", "so3"]
