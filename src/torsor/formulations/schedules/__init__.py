"""Kernels as tables of calls."""
