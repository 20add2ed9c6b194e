"""Equations of motion: one registered class each. They know nothing of machine code."""

from .base import Formulation

__all__ = ["Formulation"]
