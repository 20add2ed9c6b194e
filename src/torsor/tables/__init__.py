"""Functions that are given by points."""

from .table import Table, table

__all__ = ["Table", "table"]
