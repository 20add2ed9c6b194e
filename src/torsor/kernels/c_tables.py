"""Tables in C code: their breaks and rows as constants, and the search of a row, by `lookup/interval_search.py`."""

from typing import Any

import numpy as np

from ..errors import OptionError
from ..lookup.interval_search import stored_table

MOST_NUMBERS = 1_000_000  # of a table in C code
SEARCH = """\
/* Number of breaks up to u; one more than there are pieces if u is not a number. */
static int table_place(const double *breaks, int count, double u)
{
  int low = 0, high = count;
  if (u != u) {
    return count + 1;
  }
  while (low < high) {
    const int middle = (low + high) / 2;
    if (breaks[middle] <= u) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
"""


class CTables:
    """The tables that C code uses. Each gets a number in the order of its first use."""

    def __init__(self, prefix: str, caller: str):
        self.prefix = prefix
        self.caller = caller
        self.indices: dict[float, int] = {}

    def lookup(self, number: float, arguments: list[str]) -> str:
        """An expression in C: the row of a table at these arguments."""
        index = self.indices.setdefault(number, len(self.indices))
        return f"{self.prefix}table_{index}({', '.join(arguments)})"

    def text(self, write_number: Any) -> str:
        """C code of all tables, to be placed before the functions that use them."""
        parts = [SEARCH.replace("table_place", f"{self.prefix}table_place")] if self.indices else []
        return "\n".join(parts + [self._table(number, k, write_number) for number, k in self.indices.items()])

    def _table(self, number, index, write_number):
        table = stored_table(number)
        name = f"{self.prefix}table_{index}"
        axes = [axis.breaks for axis in table.axes]
        rows = np.asarray(table.rows, float)
        if rows.size > MOST_NUMBERS:
            raise OptionError(
                f"{self.caller}: a table has {rows.size} numbers, more than {MOST_NUMBERS}: thin it out for C code"
            )

        def array(label, values):
            return f"static const double {label}[{len(values)}] = {{{', '.join(map(write_number, values))}}};"

        lines = [array(f"{name}_breaks{k}", breaks.tolist()) for k, breaks in enumerate(axes)]
        lines.append(array(f"{name}_rows", rows.ravel().tolist()))
        place = [f"{self.prefix}table_place({name}_breaks{k}, {len(breaks)}, u{k})" for k, breaks in enumerate(axes)]
        at = place[0] if len(axes) == 1 else f"{place[0]} * {table.axes[1].pieces} + {place[1]}"
        arguments = ", ".join(f"double u{k}" for k in range(len(axes)))
        body = f"  return {name}_rows + {rows.shape[1]} * ({at});"
        return "\n".join([*lines, f"static const double *{name}({arguments})\n{{\n{body}\n}}\n"])
