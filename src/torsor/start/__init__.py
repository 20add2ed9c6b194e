"""From a model to a consistent start: given values, assembly, diagnosis, the choice of dependent coordinates."""
