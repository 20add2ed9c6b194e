"""Algebra that the formulations share: constraint rows, recursions, factorisations, loads."""
