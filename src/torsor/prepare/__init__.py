"""From a model to a system that is ready to run: derivation, state space, kernels, the events as tables."""
