"""Equations of motion: one registered class each. They know nothing of machine code."""

from .base import Formulation
from .graphs import fused_stage

__all__ = ["Formulation", "fused_stage"]
