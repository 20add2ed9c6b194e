"""Results: datasets, plots, files. Sees results only."""
