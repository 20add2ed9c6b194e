"""The description layer: what a mechanism consists of. It knows nothing of equations."""

from .body import Body, Frame, Ground
from .model import Model, Parameter

__all__ = ["Body", "Frame", "Ground", "Model", "Parameter"]
