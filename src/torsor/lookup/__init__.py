"""Piecewise polynomials: interval search, interpolation, and calls of them in expressions."""
