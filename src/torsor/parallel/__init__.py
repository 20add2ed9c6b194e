"""Ranks: threads or MPI processes that run one system together."""
