"""Equations of motion. They know nothing of machine code."""

from .absolute import Absolute
from .base import Formulation, fused_stage

__all__ = ["Absolute", "Formulation", "fused_stage"]
