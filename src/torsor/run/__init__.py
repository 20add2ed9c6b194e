"""Integrators, projections and the compiled time loop. They see functions of flat vectors only."""

from . import integrators, projections

__all__ = ["integrators", "projections"]
