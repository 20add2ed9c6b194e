"""What events do: one registered class each, and a function of the same name that makes it."""

from .base import Action, Step

__all__ = ["Action", "Step"]
