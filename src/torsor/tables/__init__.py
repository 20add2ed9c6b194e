"""Functions that are given by points."""

from .reading import read_table
from .table import Table, table

__all__ = ["Table", "read_table", "table"]
