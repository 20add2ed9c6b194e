"""Tyres: linear, and by the Magic Formula with the coefficients of a file."""
