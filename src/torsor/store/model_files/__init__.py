"""Model files: a mechanism as YAML text that a person can read, write and compare."""
