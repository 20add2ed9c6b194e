"""Compiled models (`torsor.compile`): kernels as functions of NumPy arrays, and the quantities of robot dynamics."""
