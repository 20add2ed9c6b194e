"""Equations of motion. They know nothing of machine code."""
from .absolute import Absolute
from .base import Formulation
__all__ = ["Absolute", "Formulation"]
