"""Equations of motion. They know nothing of machine code."""

from .absolute import Absolute
from .base import Formulation, fused_stage
from .relative import Relative
from .woronetz import Woronetz

__all__ = ["Absolute", "Formulation", "Relative", "Woronetz", "fused_stage"]
