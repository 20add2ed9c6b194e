"""Formulations of the equations of motion: one registered class each. They do not depend on code generation."""

from .base import Formulation

__all__ = ["Formulation"]
