"""Equations of motion. They know nothing of machine code."""

from .absolute import Absolute
from .base import Formulation, fused_stage
from .relative import Relative

__all__ = ["Absolute", "Formulation", "Relative", "fused_stage"]
