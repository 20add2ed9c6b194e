"""What keeps a run on its constraints, one registered class each."""

from .after_steps import Independent, LeastSquares, Partition, Post
from .base import Projection, projection_of
from .without_projection import Baumgarte, NoProjection

__all__ = [
    "Baumgarte",
    "Independent",
    "LeastSquares",
    "NoProjection",
    "Partition",
    "Post",
    "Projection",
    "projection_of",
]
