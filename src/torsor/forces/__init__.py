"""Forces: one registered class each. A new one is one file in this folder."""

from .base import Force

__all__ = ["Force"]
