"""Large systems: class kernels that are called through tables."""
