"""Checks of a description before a run: continuity of imposed motions, integrability, breakpoints over time."""
