"""Studies: many runs of one model, by threads, processes or the workers of a cluster."""
