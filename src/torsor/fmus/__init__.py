"""FMUs of other tools as elements of a model: files, calls into their binaries, co-simulation and model exchange."""
