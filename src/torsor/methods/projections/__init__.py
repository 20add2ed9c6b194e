"""What keeps a run on its constraints, one registered class each."""

from .after_steps import LeastSquares, Partition, Post
from .base import Projection, projection_of
from .drifting import Baumgarte, NoProjection

__all__ = ["Baumgarte", "LeastSquares", "NoProjection", "Partition", "Post", "Projection", "projection_of"]
